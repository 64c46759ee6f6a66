"""The command line: arguments, progress and exit codes only."""

import atexit
import contextlib
import os
import sys
from typing import NoReturn

from sureleaf.errors import is_interrupt

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: import `sureleaf.cli.application` here, so that Ctrl-C is handled."""
    try:
        from sureleaf.cli import application

        application.main(arguments)
    except SystemExit as stop:
        if arguments is None and isinstance(stop.code, int):
            _exit_at_once(stop.code)
        raise
    except BaseException as problem:
        if not is_interrupt(problem):
            raise
        sys.stderr.write("sureleaf: interrupted\n")
        if arguments is None:
            _exit_at_once(130)
        sys.exit(130)


def _exit_at_once(code: int) -> NoReturn:
    """Exit without the end of the interpreter, and without waiting for threads of Arrow.

    They may wait for rows that never arrive; and if one of them asks for Python's lock while the
    interpreter ends, the process is aborted. Files are complete or removed at this point.
    """
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001 - the only name that it has
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)

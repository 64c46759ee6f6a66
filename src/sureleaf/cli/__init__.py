"""The command line: arguments, progress and exit codes only."""

import contextlib
import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: import `sureleaf.cli.application` here, so that Ctrl-C is handled."""
    try:
        from sureleaf.cli import application
    except KeyboardInterrupt:
        sys.stderr.write("sureleaf: interrupted\n")
        sys.exit(130)
    try:
        application.main(arguments)
    except SystemExit as stop:
        if arguments is None and stop.code in (application.INTERRUPTED, application.TERMINATED):
            _exit_at_once(int(stop.code))
        raise


def _exit_at_once(code: int) -> NoReturn:
    """Exit without waiting for threads of Arrow, which may wait for rows that never arrive.

    Files are complete or removed at this point.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)

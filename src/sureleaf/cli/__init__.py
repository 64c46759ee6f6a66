"""The command line: arguments, progress and exit codes only."""

import contextlib
import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: see `sureleaf.cli.application.main`, which takes a while to import.

    Examples
    --------
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as stop:
    ...     print(stop.code)
    sureleaf 0.1.0
    0
    """
    try:
        from sureleaf.cli import application
    except KeyboardInterrupt:
        sys.stderr.write("sureleaf: interrupted\n")
        sys.exit(130)
    try:
        application.main(arguments)
    except SystemExit as stop:
        if arguments is None and stop.code in (application.INTERRUPTED, application.TERMINATED):
            _leave_at_once(int(stop.code))
        raise


def _leave_at_once(code: int) -> NoReturn:
    """End a program whose files are in order, without waiting for libraries' threads.

    Arrow's may wait for rows that nobody will send.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)

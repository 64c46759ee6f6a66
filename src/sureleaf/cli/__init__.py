"""The command line: arguments, progress and exit codes only."""

import sys

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
    application.main(arguments)

"""The command line: arguments, progress and exit codes only."""

from sureleaf.cli.application import main

__all__ = ["main"]

"""What the shell may complete: names of columns from the file, and words that an option takes."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

__all__ = ["column", "words"]


def column(incomplete: str) -> list[str]:
    """Give the columns of the file on the line that start with what is typed.

    Examples
    --------
    >>> column("cl")
    []
    """
    for word in _typed():
        if Path(word).is_file():
            names = _columns(word)
            if names:
                return [name for name in names if name.startswith(incomplete)]
    return []


def words(*choices: str) -> Callable[[str], list[str]]:
    """Give the choices that start with what is typed.

    Examples
    --------
    >>> words("gini", "entropy")("g")
    ['gini']
    """

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _typed() -> list[str]:
    """Words on the line, as the shell's completion hands them over in the environment.

    The parsed arguments would not do: a line that ends in ``--target`` is not parsed to its end.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        return shlex.split(line)
    except ValueError:  # a quote is open
        return line.split()


def _columns(path: str) -> tuple[str, ...]:
    from sureleaf.table import column_names

    try:
        return column_names(path)
    except Exception:  # a model, perhaps; and nothing may disturb somebody who is typing
        return ()

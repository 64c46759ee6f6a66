"""What the shell may complete: names of columns from the file, and words that an option takes."""

from collections.abc import Callable
from typing import Any

import typer

__all__ = ["column", "words"]


def column(context: typer.Context, incomplete: str) -> list[str]:
    """Give the columns of the file named so far that start with what is typed.

    Examples
    --------
    >>> column(typer.Context(typer.main.get_command(typer.Typer(callback=print))), "cl")
    []
    """
    from sureleaf.table import CsvFormat, column_names

    given: dict[str, Any] = context.params
    paths = given.get("paths") or [given.get("data")]
    if paths[0] is None or str(paths[0]) == "-":
        return []
    try:
        known = CsvFormat(given.get("delimiter"), given.get("encoding"))
        names = column_names(paths[0], known)
    except Exception:  # nothing may disturb somebody who is typing
        return []
    return [name for name in names if name.startswith(incomplete)]


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

"""Tables of numbers on a terminal: one look for every command."""

from typing import Any

from rich import box
from rich.table import Table

__all__ = ["number_table"]


def number_table(*columns: str, tight: bool = False, **options: Any) -> Table:
    """Return an empty table whose first column names what the others count.

    Parameters
    ----------
    *columns : str
        Headings; the first is set to the left, the others to the right.
    tight : bool
        Leave less room between columns, where there are many.
    **options
        Of every column, as rich takes them: ``no_wrap``, ``overflow``.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> [column.justify for column in number_table("leaf", "rows", "utility").columns]
    ['left', 'right', 'right']
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, collapse_padding=tight)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left", **options)
    return table

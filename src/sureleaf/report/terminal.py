"""Tables of numbers on a terminal: one look for every command."""

import math
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table

__all__ = ["interval_bar", "number_table", "sparkline"]


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


# Small plots of text: a line of blocks, and an interval on a scale.

BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """Return one block a value, as high as it is among them; a space for what is no number.

    Examples
    --------
    >>> sparkline([0.5, 0.7, 0.8, 0.85, 0.86])
    '▁▅▇██'
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return " " * len(values)
    low, high = min(known), max(known)
    span = high - low or 1.0

    def block(value: float) -> str:
        if not math.isfinite(value):
            return " "
        return BLOCKS[round((value - low) / span * (len(BLOCKS) - 1))]

    return "".join(block(value) for value in values)


def interval_bar(
    low: float, value: float, high: float, *, scale: tuple[float, float], width: int = 24
) -> str:
    """Return an interval with its value on a scale; ends beyond it are cut.

    Examples
    --------
    >>> interval_bar(0.7, 0.8, 0.9, scale=(0.5, 1.0), width=11)
    '    ├─●─┤  '
    """
    left, right = scale
    if not all(map(math.isfinite, (low, value, high, left, right))) or right <= left:
        return " " * width

    def place(x: float) -> int:
        return min(width - 1, max(0, round((x - left) / (right - left) * (width - 1))))

    bar = [" "] * width
    start, stop = place(low), place(high)
    bar[start : stop + 1] = "─" * (stop + 1 - start)
    bar[start], bar[stop] = "├", "┤"
    bar[place(value)] = "●"
    return "".join(bar)

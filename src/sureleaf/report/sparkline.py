"""Small plots of text: a line of blocks, and an interval on a scale."""

import math
from collections.abc import Sequence

__all__ = ["interval_bar", "sparkline"]

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

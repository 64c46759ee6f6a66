"""Search by halving: where a condition on numbers, or on numbers of rows, begins to hold."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.errors import UnreachableLevelError

_MOST_ROWS = 2**53
"""From here on, adding 1 does not change a float."""


def halved(
    is_below: Callable[[Any], Any], low: Any, high: Any, steps: int, *, whole: bool = False
) -> tuple[Any, Any]:
    """Halve intervals around the places where `is_below` turns false, and return their ends.

    It is true at the lower ends and false at the upper ones, before and after. With `whole`, the
    ends are whole numbers, and so are the results.
    """
    for _ in range(steps):
        middle = (low + high) / 2
        middle = np.floor(middle) if whole else middle
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low, high


def smallest_count(enough: Callable[[int], bool]) -> int:
    """Return the smallest count from 1 on that is enough; more than enough stays enough."""
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST_ROWS:
            raise UnreachableLevelError("No number of rows is enough. Use a wider interval.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


Reached = Callable[[FloatArray, NDArray[np.intp]], NDArray[np.bool_]]
"""Numbers of rows and the indices of their nodes -> whether the rows are enough."""

_UNREACHABLE_ROWS = 2**20
"""From this many rows on, a level counts as out of reach."""


def min_rows(reached: Reached, n_nodes: int, *, guess: FloatArray | None = None) -> FloatArray:
    """Return the smallest sufficient number of rows of each node, by bisection; NaN if none.

    The search begins at a guess, by default one row, because levels of many rows take long. It
    doubles the rows until they are enough, and halves them while the lower end is 0.
    """
    low, high, rows = np.zeros(n_nodes), np.full(n_nodes, np.inf), np.ones(n_nodes)
    if guess is not None:
        rows = np.clip(np.ceil(guess), 1.0, _UNREACHABLE_ROWS)
    active = np.arange(n_nodes)
    while len(active):
        tried = rows[active]
        is_enough = reached(tried, active)
        high[active] = np.where(is_enough, tried, high[active])
        low[active] = np.where(is_enough, low[active], tried)
        middle = np.where(np.isinf(high), 2 * low, np.floor((low + high) / 2))
        rows = np.minimum(middle, _UNREACHABLE_ROWS)
        active = active[(high - low > 1)[active] & (low[active] < _UNREACHABLE_ROWS)]
    return np.where(low < _UNREACHABLE_ROWS, high, np.nan)

"""From how many rows on something holds that holds for ever after."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sureleaf.levels.arguments import FloatArray

__all__ = ["Reached", "fewest_rows"]

Reached = Callable[[FloatArray, NDArray[np.intp]], NDArray[np.bool_]]
"""From numbers of rows and the places they are for to whether that is enough."""

_MOST_ROWS = 2**20
"""Beyond so many rows a level counts as out of reach."""


def fewest_rows(reached: Reached, n_places: int) -> FloatArray:
    """Return the smallest number of rows of each place, by doubling and halving; NaN if none.

    Examples
    --------
    >>> enough = np.array([1.0, 37.0, np.inf])
    >>> fewest_rows(lambda n, places: n >= enough[places], 3)
    array([ 1., 37., nan])
    """
    low, high = np.zeros(n_places), np.ones(n_places)
    open_ = np.arange(n_places)
    while len(open_) and high[open_[0]] <= _MOST_ROWS:
        open_ = open_[~reached(high[open_], open_)]
        low[open_], high[open_] = high[open_], 2 * high[open_]
    found = np.setdiff1d(np.arange(n_places), open_)
    while len(active := found[high[found] - low[found] > 1]):
        middle = np.floor((low[active] + high[active]) / 2)
        there = reached(middle, active)
        high[active] = np.where(there, middle, high[active])
        low[active] = np.where(there, low[active], middle)
    high[open_] = np.nan
    return high

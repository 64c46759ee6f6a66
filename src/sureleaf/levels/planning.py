"""How many rows a node needs to reach a level of confidence or utility."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_p_max,
    check_range,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError, UnreachableLevelError
from sureleaf.levels.nodes import confidence as confidence_of

__all__ = ["Reached", "min_rows", "range_of", "sample_size", "smallest_of_range"]


# What range of p_max is meant: a tuple (a, b), or one value.


def range_of(name: str, given: ArrayLike) -> tuple[float, float]:
    """Return the ends of a range of p_max; one number is a range of its own.

    Examples
    --------
    >>> range_of("p_range", (0.6, 0.9))
    (0.6, 0.9)
    >>> range_of("p_range", 0.7)
    (0.7, 0.7)
    """
    ends = [given] if np.ndim(given) == 0 else list(np.asarray(given))
    if len(ends) not in (1, 2):
        raise InvalidArgumentError(
            f"{name} must be one number or a range (a, b); got {len(ends)} numbers."
        )
    low, high = (float(check_p_max(end, name)) for end in (ends[0], ends[-1]))
    if low > high:
        raise InvalidArgumentError(
            f"{name} must be a range (a, b) with a <= b; got ({low:.17g}, {high:.17g}). "
            "Swap its ends."
        )
    return low, high


def smallest_of_range(name: str, given: ArrayLike) -> ArrayLike:
    """Return the lower end where a tuple (a, b) was given, and anything else as it is.

    Examples
    --------
    >>> smallest_of_range("p_max", (0.6, 0.9))
    0.6
    """
    return range_of(name, given)[0] if isinstance(given, tuple) else given


_ROUNDING = 1e-15
"""Levels are computed to this error; a level missed by less counts as reached."""

_MOST_ROWS = 2.0**53 - 1
"""From here on, not every whole number is a float."""


def sample_size(
    p_max: ArrayLike, *, confidence: ArrayLike | None = None, utility: ArrayLike | None = None
) -> Numbers:
    """Return the smallest number of rows from which on a node has every level given.

    Both levels grow with n, confidence in steps: an even n is as good as n - 1, so the answer
    is odd, or 0 where a coin will do. The utility is never above p_max, its limit for many rows.

    Parameters
    ----------
    p_max : array_like or tuple
        Probability of the more probable class, from 0.5 to 1. A tuple ``(a, b)`` is a range that
        p_max is judged to lie in (the paper's recommendation 1); a counts, the worst case.
    confidence : array_like, optional
        Wanted probability to find the true majority class, (5).
    utility : array_like, optional
        Wanted probability to be right about the next row, (6).

    Returns
    -------
    int or ndarray
        Rows; for arrays float64 of the broadcast shape, NaN where no n reaches the levels.

    Raises
    ------
    InvalidArgumentError
        If neither level is given, or an argument cannot be used.
    UnreachableLevelError
        If no n reaches the levels; the message says how high they can be.

    Examples
    --------
    >>> sample_size(0.75, confidence=0.95)
    9
    >>> sample_size((0.6, 0.9), confidence=0.95, utility=0.58)
    67
    """
    if confidence is None and utility is None:
        raise InvalidArgumentError(
            "confidence or utility must be given; got neither. Say which level the node shall have."
        )
    p = check_p_max(smallest_of_range("p_max", p_max))
    sure, useful = _wanted("confidence", confidence), _wanted("utility", utility)
    p, sure, useful = broadcast(p_max=p, confidence=sure, utility=useful)
    if p.ndim == 0:
        _require_reachable(float(p), float(sure), float(useful))
    needed = _fewest_rows(p, sure, useful)
    if p.ndim == 0:
        if np.isnan(needed):
            raise UnreachableLevelError(
                f"more than {_MOST_ROWS:.0f} rows are needed at p_max = {float(p)!r}; "
                "ask for less, or for a p_max further from 0.5."
            )
        return int(needed)
    return scalar_or_array(needed)


def _wanted(name: str, level: ArrayLike | None) -> FloatArray:
    """Check a level; one that is not asked for is 0, which every node has."""
    return check_range(
        name,
        0.0 if level is None else level,
        lambda level: (level >= 0) & (level <= 1),
        "from 0 to 1",
        lambda level: f" Did you mean {level / 100:.6g}?" if 1 < level <= 100 else "",
    )


def _require_reachable(p: float, sure: float, useful: float) -> None:
    """Decide by the limits, not by sums that floats round up to them."""
    if sure > 0.5 and p == 0.5:
        raise UnreachableLevelError(
            f"confidence must be at most 0.5 where p_max = 0.5; got {sure!r}. "
            "Between equally probable classes every choice is a guess."
        )
    if sure == 1 and p < 1:
        raise UnreachableLevelError(
            f"confidence must be below 1 where p_max = {p!r}; got 1. "
            "It comes as near as you like but is never certain: ask for 0.99, say."
        )
    if useful > p:
        raise UnreachableLevelError(
            f"utility must be below p_max = {p!r}, its ceiling; got {useful!r}. "
            "No number of rows predicts better than the class probability itself."
        )
    if useful == p and 0.5 < p < 1:
        raise UnreachableLevelError(
            f"utility must be below p_max = {p!r}, its ceiling; got {useful!r}. "
            "It comes as near as you like but never gets there: ask for a little less."
        )


def _fewest_rows(p: FloatArray, sure: FloatArray, useful: FloatArray) -> FloatArray:
    """Return the answer by bisection over odd n, NaN where there is none."""
    ceiling = np.where(p == 0.5, 0.5, 1.0)
    reachable = (sure < ceiling) | (sure == ceiling) & ((p == 1) | (p == 0.5))
    reachable &= (useful < p) | (useful == p) & ((p == 1) | (p == 0.5))
    high = np.full(p.shape, (_MOST_ROWS - 1) / 2)  # n = 2 half + 1
    reachable &= _reached(2 * high + 1, p, sure, useful)
    low = np.zeros(p.shape)
    for _ in range(53):
        half = np.floor((low + high) / 2)
        there = _reached(2 * half + 1, p, sure, useful)
        low, high = np.where(there, low, np.minimum(half + 1, high)), np.where(there, half, high)
    needed = np.where(_reached(np.zeros(p.shape), p, sure, useful), 0.0, 2 * high + 1)
    return np.where(reachable, needed, np.nan)


def _reached(n: FloatArray, p: FloatArray, sure: FloatArray, useful: FloatArray) -> FloatArray:
    found = np.asarray(confidence_of(n, np.where(np.isnan(p), 0.5, p)))
    enough = (found >= sure - _ROUNDING) & ((1 - p) + (2 * p - 1) * found >= useful - _ROUNDING)
    return np.asarray(enough)


# From how many rows on something holds that holds for ever after.

Reached = Callable[[FloatArray, NDArray[np.intp]], NDArray[np.bool_]]
"""From numbers of rows and the places they are for to whether that is enough."""

_MOST_ROWS_fewest = 2**20
"""Beyond so many rows a level counts as out of reach."""


def min_rows(reached: Reached, n_places: int) -> FloatArray:
    """Return the smallest number of rows of each place, by doubling and halving; NaN if none.

    Examples
    --------
    >>> enough = np.array([1.0, 37.0, np.inf])
    >>> min_rows(lambda n, places: n >= enough[places], 3)
    array([ 1., 37., nan])
    """
    every = np.arange(n_places)
    found = every[reached(np.full(n_places, float(_MOST_ROWS_fewest)), every)]
    low, high = np.zeros(n_places), np.ones(n_places)
    open_ = found
    while len(open_ := open_[~reached(high[open_], open_)]):
        low[open_], high[open_] = high[open_], 2 * high[open_]
    while len(active := found[high[found] - low[found] > 1]):
        middle = np.floor((low[active] + high[active]) / 2)
        there = reached(middle, active)
        high[active] = np.where(there, middle, high[active])
        low[active] = np.where(there, low[active], middle)
    fewest = np.full(n_places, np.nan)
    fewest[found] = high[found]
    return fewest

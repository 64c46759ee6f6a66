"""Between which bounds p_max, confidence and utility lie, with guaranteed coverage.

The bounds of Clopper and Pearson (1934) hold p with at least the probability asked for. Folding
them, p -> max(p, 1 - p), keeps that promise for p_max: with y_max the larger count, the upper
bound is theirs for y_max, and so is the lower one, but for 1/2 where that is larger. Confidence
and utility at a given n grow with p_max, so their bounds are those at the bounds of p_max.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from sureleaf.levels.arguments import (
    FloatArray,
    Numbers,
    as_given,
    broadcast,
    finite_rows,
    require_pairs,
    within,
)
from sureleaf.levels.node import confidence, utility

__all__ = ["Interval", "LevelIntervals", "level_intervals", "p_max_interval"]


class Interval(NamedTuple):
    """Lower and upper bound.

    Examples
    --------
    >>> low, high = Interval(0.5, 0.9)
    """

    low: Numbers
    high: Numbers


class LevelIntervals(NamedTuple):
    """Bounds of a node's confidence and of its utility.

    Examples
    --------
    >>> level_intervals(30, 40).utility.high > 0.8
    True
    """

    confidence: Interval
    utility: Interval


def p_max_interval(y: ArrayLike, n: ArrayLike, *, level: ArrayLike = 0.95) -> Interval:
    """Return bounds that hold p_max with probability ``level`` or more, whatever p_max is.

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n.
    n : array_like
        Rows in the node. Without rows (n = 0) the bounds are 0.5 and 1.
    level : array_like
        Least probability, over samples of n rows, that the bounds hold p_max; in (0, 1).

    Returns
    -------
    Interval
        Named tuple ``(low, high)``, floats or arrays of the broadcast shape, from 0.5 to 1.

    Notes
    -----
    The guarantee is for whole counts. Weighted rows give fractional counts, for which the beta
    quantiles are read between whole counts: bounds that move smoothly and meet the guaranteed
    ones at every whole y and n.

    Examples
    --------
    >>> low, high = p_max_interval(32, 40)
    >>> round(low, 4), round(high, 4)
    (0.6435, 0.9095)
    >>> p_max_interval(10, 20).low
    0.5
    """
    return _interval(*_bounds(y, n, level)[1:])


def level_intervals(y: ArrayLike, n: ArrayLike, *, level: ArrayLike = 0.95) -> LevelIntervals:
    """Return the bounds of (5) and (6) that the bounds of p_max imply.

    Each holds the level of a node of n rows with probability ``level`` or more, and both do so
    together with `p_max_interval`, since they are the same event.

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n.
    n : array_like
        Rows in the node.
    level : array_like
        Least probability, over samples of n rows, that the bounds hold; in (0, 1).

    Returns
    -------
    LevelIntervals
        Named tuple ``(confidence, utility)`` of named tuples ``(low, high)``.

    Examples
    --------
    >>> low, high = level_intervals(32, 40).utility
    >>> round(low, 4), round(high, 4)
    (0.6341, 0.9095)
    """
    n_rows, low, high = _bounds(y, n, level)
    return LevelIntervals(
        confidence=_interval(confidence(n_rows, low), confidence(n_rows, high)),
        utility=_interval(utility(n_rows, low), utility(n_rows, high)),
    )


def _bounds(
    y: ArrayLike, n: ArrayLike, level: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return n and the bounds of p_max in the broadcast shape."""
    counts, n_rows, wanted = broadcast(
        y=finite_rows("y", y), n=finite_rows("n", n), level=_level(level)
    )
    scalars = counts.ndim == 0
    counts = require_pairs("y", counts, ~(counts > n_rows), "at most n", scalars=scalars)
    y_max = np.maximum(counts, n_rows - counts)
    tail = (1 - wanted) / 2
    empty, pure = n_rows == 0, y_max == n_rows
    low = betaincinv(np.where(empty, 1.0, y_max), n_rows - y_max + 1, tail)
    high = betainccinv(y_max + 1, np.where(pure, 1.0, n_rows - y_max), tail)
    low = np.where(empty, 0.5, np.maximum(low, 0.5))
    return n_rows, low + 0 * tail, np.where(pure, 1.0, high) + 0 * low


def _level(level: ArrayLike) -> FloatArray:
    return within(
        "level",
        level,
        lambda level: (level > 0) & (level < 1),
        "between 0 and 1",
        lambda level: f" Did you mean {level / 100:.6g}?" if 1 < level < 100 else "",
    )


def _interval(low: ArrayLike, high: ArrayLike) -> Interval:
    return Interval(as_given(np.asarray(low)), as_given(np.asarray(high)))

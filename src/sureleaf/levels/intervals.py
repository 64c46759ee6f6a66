"""Intervals for a probability, and for p_max, confidence and utility.

`wilson` and `clopper_pearson` are the only implementations of these intervals in the
project. Each is a function of ``(successes, n, *, level)`` that broadcasts and takes fractional
counts.

The interval of Clopper and Pearson holds p with at least its level. Folding it,
p -> max(p, 1 - p), keeps that guarantee for p_max. Confidence and utility at a given n grow with
p_max, so their bounds are those at the bounds of p_max.
"""

from typing import Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import (
    betainc,
    betainccinv,
    betaincinv,
    erf,
    gammainc,
    gammainccinv,
    gammaincinv,
    ndtr,
    ndtri,
)

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_finite_rows,
    check_level,
    check_pairs,
    check_range,
    scalar_or_array,
)
from sureleaf.levels.nodes import confidence, utility

Bound = TypeVar("Bound", covariant=True)


class Interval(NamedTuple, Generic[Bound]):
    """Lower and upper end: floats for scalar arguments, arrays otherwise."""

    low: Bound
    high: Bound


# A probability, from the successes among n rows


def normal_reach(level: float) -> float:
    """Return how many standard errors a normal interval of this level reaches to each side."""
    return float(ndtri((1 + level) / 2))


@overload
def wilson(successes: float, n: float, *, level: float = ...) -> Interval[float]: ...
@overload
def wilson(successes: ArrayLike, n: ArrayLike, *, level: float = ...) -> Interval[Numbers]: ...
def wilson(successes: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> Interval[Numbers]:
    """Return Wilson's interval: the p with |successes / n - p| <= z sqrt(p (1 - p) / n).

    It lies within 0 and 1 and has a positive width at 0 and n successes. Its coverage is close
    to the level on average over p, but not at least the level for every p. Counts may be
    fractional. Without rows the interval is [0, 1].

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> low, high = wilson(80, 100)
    >>> round(low, 4), round(high, 4)
    (0.7112, 0.8666)
    """
    k, rows = _counts(successes, n)
    z = normal_reach(check_level(level))
    some = np.where(rows > 0, rows, 1.0)
    rate = k / some
    centre = rate + z * z / (2 * some)
    half = z * np.sqrt(rate * (1 - rate) / some + (z / (2 * some)) ** 2)
    scale = 1 + z * z / some
    return _closed((centre - half) / scale, (centre + half) / scale, k, rows)


@overload
def clopper_pearson(successes: float, n: float, *, level: float = ...) -> Interval[float]: ...
@overload
def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, *, level: float = ...
) -> Interval[Numbers]: ...
def clopper_pearson(
    successes: ArrayLike, n: ArrayLike, *, level: float = 0.95
) -> Interval[Numbers]:
    """Return the interval of Clopper and Pearson, whose coverage is at least the level.

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(80, 100)
    >>> round(low, 4), round(high, 4)
    (0.7082, 0.8733)
    """
    k, rows = _counts(successes, n)
    low, high = clopper_pearson_limits(k, rows, np.asarray((1 - check_level(level)) / 2))
    return _closed(low, high, k, rows)


def clopper_pearson_limits(
    successes: FloatArray, n: FloatArray, tail: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of Clopper and Pearson for arrays that are known to be valid.

    ``tail`` is the probability beyond each limit. At 0 successes the lower limit is 0, at n
    successes the upper limit is 1.
    """
    failures = n - successes
    none, every = successes <= 0, failures <= 0
    low = betaincinv(np.where(none, 1.0, successes), failures + 1.0, tail)
    high = betainccinv(successes + 1.0, np.where(every, 1.0, failures), tail)
    return np.where(none, 0.0, low), np.where(every, 1.0, high)


def _counts(successes: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    k, rows = broadcast(
        successes=check_finite_rows("successes", successes), n=check_finite_rows("n", n)
    )
    scalars = np.ndim(successes) == 0 and np.ndim(n) == 0
    expected = "at most n (give counts, not rates)"
    return check_pairs("successes", k, ~(k > rows), expected, scalars=scalars), rows


def _closed(
    low: FloatArray, high: FloatArray, k: FloatArray, rows: FloatArray
) -> Interval[Numbers]:
    """Close the interval at 0 and at n successes, and give NaN where counts were bad."""
    bad = np.isnan(k) | np.isnan(rows)
    low = np.where(bad, np.nan, np.where(k == 0, 0.0, low))
    high = np.where(bad, np.nan, np.where(k == rows, 1.0, high))
    return Interval(scalar_or_array(low), scalar_or_array(high))


# p_max, confidence and utility, from the class counts of a node


class LevelIntervals(NamedTuple):
    """Intervals of the confidence and of the utility of a node."""

    confidence: Interval[Numbers]
    utility: Interval[Numbers]


def p_max_interval(y: ArrayLike, n: ArrayLike, *, level: ArrayLike = 0.95) -> Interval[Numbers]:
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
    The guarantee is for whole counts. Weighted rows give fractional counts. For these, the beta
    quantiles interpolate smoothly between the bounds at whole counts.

    Examples
    --------
    >>> low, high = p_max_interval(32, 40)
    >>> round(low, 4), round(high, 4)
    (0.6435, 0.9095)
    >>> p_max_interval(10, 20).low
    0.5
    """
    return _interval(*_p_max_bounds(y, n, level)[1:])


def level_intervals(y: ArrayLike, n: ArrayLike, *, level: ArrayLike = 0.95) -> LevelIntervals:
    """Return the bounds of (5) and (6) that the bounds of p_max imply.

    The intervals of p_max, confidence and utility hold their true values in the same samples, so
    all three hold together with probability ``level`` or more. Parameters as for `p_max_interval`.

    Examples
    --------
    >>> low, high = level_intervals(32, 40).utility
    >>> round(low, 4), round(high, 4)
    (0.6341, 0.9095)
    """
    n_rows, low, high = _p_max_bounds(y, n, level)
    return LevelIntervals(
        confidence=_interval(confidence(n_rows, low), confidence(n_rows, high)),
        utility=_interval(utility(n_rows, low), utility(n_rows, high)),
    )


def _p_max_bounds(
    y: ArrayLike, n: ArrayLike, level: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return n and the bounds of p_max in the broadcast shape."""
    wanted = check_range(
        "level",
        level,
        lambda level: (level > 0) & (level < 1),
        "between 0 and 1",
        lambda level: f" Did you mean {level / 100:.6g}?" if 1 < level < 100 else "",
    )
    counts, n_rows, wanted = broadcast(
        y=check_finite_rows("y", y), n=check_finite_rows("n", n), level=wanted
    )
    scalars = counts.ndim == 0
    counts = check_pairs("y", counts, ~(counts > n_rows), "at most n", scalars=scalars)
    y_max = np.maximum(counts, n_rows - counts)
    low, high = clopper_pearson_limits(y_max, n_rows, (1 - wanted) / 2)
    unknown = np.isnan(y_max) | np.isnan(wanted)
    return (
        n_rows,
        np.where(unknown, np.nan, np.maximum(low, 0.5)),
        np.where(unknown, np.nan, high),
    )


def _interval(low: ArrayLike, high: ArrayLike) -> Interval[Numbers]:
    return Interval(scalar_or_array(np.asarray(low)), scalar_or_array(np.asarray(high)))


# The probability that a class is the most probable one, given counted rows.
#
# (5) is the probability, before the rows are seen, that their majority is the right class. Here the
# class was named beforehand, for instance by a model that has not seen these rows, and the rows
# test it. With half a row of every class added (Jeffreys' prior), the posterior of the class
# probabilities is a Dirichlet distribution: independent gamma variables G_j of shape
# count_j + 1/2, divided by their sum. Class c is the most probable one if G_c is the largest.

PRIOR_ROWS = 0.5
_STEP = 0.2
_REACH = 8.5
"""The probability beyond this many standard deviations of a normal variable is below 1e-16."""

_NODES_PER_CHUNK = 2048
"""Nodes that are integrated at a time, which bounds the memory."""


def majority_probability(counts: FloatArray, named: NDArray[np.intp]) -> FloatArray:
    """Return for each node the probability that the named class is its most probable one.

    For two classes this is P(p > 1/2) of a beta distribution. For more classes it is the mean over
    G_c of the product of the distribution functions of the other classes, integrated by the
    trapezoidal rule over the normal variable with the same quantile as G_c. The absolute error is
    below 1e-9. Counts may be fractional; without rows the probability is 1 / K.

    If another class is at least as probable, the result is 0.95 or more in about 5 % of the
    samples, and likewise for other levels: Jeffreys' prior matches one-sided tests.
    """
    n_nodes, n_classes = counts.shape
    node = np.arange(n_nodes)
    own = counts[node, named] + PRIOR_ROWS
    kept = np.ones(counts.shape, dtype=bool)
    kept[node, named] = False
    others = counts[kept].reshape(n_nodes, n_classes - 1) + PRIOR_ROWS
    if n_classes == 1:
        return np.ones(n_nodes)
    if n_classes == 2:
        probability: FloatArray = betainc(others[:, 0], own, 0.5)
        return probability
    # Many small leaves have equal counts, and the order of the other classes does not matter.
    shapes, back = np.unique(
        np.column_stack([own, np.sort(others, axis=1)]), axis=0, return_inverse=True
    )
    parts = [
        _largest(shapes[start : start + _NODES_PER_CHUNK])
        for start in range(0, len(shapes), _NODES_PER_CHUNK)
    ]
    return np.concatenate([np.empty(0), *parts])[back.reshape(-1)]


def _largest(shapes: FloatArray) -> FloatArray:
    """Return P(the first gamma variable of each row is the largest)."""
    z = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    weights = np.exp(-z * z / 2)
    first = shapes[:, :1]
    # Each tail is computed from its own side, where its small probability is exact.
    value = np.where(z < 0, gammaincinv(first, ndtr(z)), gammainccinv(first, ndtr(-z)))
    # There may be many classes without rows: for shape 1/2, P(G < x) = erf(sqrt(x)).
    others = shapes[:, 1:]
    below = erf(np.sqrt(value)) ** (others == PRIOR_ROWS).sum(axis=1, keepdims=True)
    for other in others.T:
        some = np.flatnonzero(other != PRIOR_ROWS)
        below[some] *= gammainc(other[some, np.newaxis], value[some])
    probability: FloatArray = below @ (weights / weights.sum())
    return np.clip(probability, 0.0, 1.0)

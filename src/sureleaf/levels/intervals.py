"""Between which bounds p_max, confidence and utility lie, with guaranteed coverage.

The bounds of Clopper and Pearson (1934) hold p with at least the probability asked for. Folding
them, p -> max(p, 1 - p), keeps that promise for p_max: with y_max the larger count, the upper
bound is theirs for y_max, and so is the lower one, but for 1/2 where that is larger. Confidence
and utility at a given n grow with p_max, so their bounds are those at the bounds of p_max.
"""

from collections.abc import Callable
from typing import NamedTuple

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
    gammaln,
    ndtr,
    ndtri,
    xlog1py,
    xlogy,
)

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_finite_rows,
    check_pairs,
    check_range,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.nodes import confidence, utility

__all__ = [
    "INTERVALS",
    "Interval",
    "LevelIntervals",
    "ProportionInterval",
    "clopper_pearson",
    "exact_coverage",
    "jeffreys",
    "level_intervals",
    "majority_probability",
    "p_max_interval",
    "wilson",
]


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
        y=check_finite_rows("y", y), n=check_finite_rows("n", n), level=_level(level)
    )
    scalars = counts.ndim == 0
    counts = check_pairs("y", counts, ~(counts > n_rows), "at most n", scalars=scalars)
    y_max = np.maximum(counts, n_rows - counts)
    tail = (1 - wanted) / 2
    empty, pure = n_rows == 0, y_max == n_rows
    low = betaincinv(np.where(empty, 1.0, y_max), n_rows - y_max + 1, tail)
    high = betainccinv(y_max + 1, np.where(pure, 1.0, n_rows - y_max), tail)
    low = np.where(empty, 0.5, np.maximum(low, 0.5))
    return n_rows, low + 0 * tail, np.where(pure, 1.0, high) + 0 * low


def _level(level: ArrayLike) -> FloatArray:
    return check_range(
        "level",
        level,
        lambda level: (level > 0) & (level < 1),
        "between 0 and 1",
        lambda level: f" Did you mean {level / 100:.6g}?" if 1 < level < 100 else "",
    )


def _interval(low: ArrayLike, high: ArrayLike) -> Interval:
    return Interval(scalar_or_array(np.asarray(low)), scalar_or_array(np.asarray(high)))


# Intervals for a probability from k hits of n rows: Wilson, Clopper-Pearson, Jeffreys.
#
# Each is a function of ``(hits, n, *, level)`` that broadcasts and takes fractional counts; how
# often it covers the true probability is computed exactly by `exact_coverage`, not simulated.


class ProportionInterval(NamedTuple):
    """Lower and upper end of an interval for a probability.

    Examples
    --------
    >>> ProportionInterval(0.2, 0.6).high
    0.6
    """

    low: Numbers
    high: Numbers


def wilson(hits: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> ProportionInterval:
    """Return Wilson's interval: the p with |hits/n - p| <= z sqrt(p (1 - p) / n).

    Its coverage is near the level on average over p, not at least the level for every p.

    Parameters
    ----------
    hits, n : array_like
        Rows counted and rows in all, fractions allowed. Without rows the interval is [0, 1].
    level : float
        Level of confidence, between 0 and 1.

    Returns
    -------
    ProportionInterval
        ``(low, high)``, floats for scalars, arrays of the broadcast shape otherwise.

    Raises
    ------
    InvalidArgumentError
        If a scalar count is negative or NaN, or hits exceed n (bad elements of arrays give NaN);
        if the level is not between 0 and 1.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. JASA 22, 209-212.

    Examples
    --------
    >>> low, high = wilson(80, 100)
    >>> round(low, 4), round(high, 4)
    (0.7112, 0.8666)
    """
    k, rows = _counts(hits, n)
    z = float(ndtri(0.5 + _checked(level) / 2))
    some = np.where(rows > 0, rows, 1.0)
    rate = k / some
    centre = rate + z * z / (2 * some)
    half = z * np.sqrt(rate * (1 - rate) / some + (z / (2 * some)) ** 2)
    scale = 1 + z * z / some
    return _interval_proportions((centre - half) / scale, (centre + half) / scale, k, rows)


def clopper_pearson(hits: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> ProportionInterval:
    """Return the interval of Clopper and Pearson, which covers every p with at least the level.

    Parameters
    ----------
    hits, n : array_like
        Rows counted and rows in all, fractions allowed. Without rows the interval is [0, 1].
    level : float
        Level of confidence, between 0 and 1.

    Returns
    -------
    ProportionInterval
        ``(low, high)``, floats for scalars, arrays of the broadcast shape otherwise.

    Raises
    ------
    InvalidArgumentError
        As for `wilson`.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(80, 100)
    >>> round(low, 4), round(high, 4)
    (0.7082, 0.8733)
    """
    k, rows = _counts(hits, n)
    tail = (1 - _checked(level)) / 2
    low = betaincinv(np.maximum(k, 1e-300), rows - k + 1, tail)
    high = betainccinv(k + 1, np.maximum(rows - k, 1e-300), tail)
    return _interval_proportions(low, high, k, rows)


def jeffreys(hits: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> ProportionInterval:
    """Return the equal-tailed interval of the posterior under Jeffreys' prior, Beta(1/2, 1/2).

    As is usual the lower end is 0 where nothing was hit, and the upper end 1 where all were.

    Parameters
    ----------
    hits, n : array_like
        Rows counted and rows in all, fractions allowed. Without rows the interval is [0, 1].
    level : float
        Level of confidence, between 0 and 1.

    Returns
    -------
    ProportionInterval
        ``(low, high)``, floats for scalars, arrays of the broadcast shape otherwise.

    Raises
    ------
    InvalidArgumentError
        As for `wilson`.

    References
    ----------
    .. [1] Brown, L. D., Cai, T. T., DasGupta, A. (2001). Interval estimation for a binomial
       proportion. Statistical Science 16, 101-133.

    Examples
    --------
    >>> low, high = jeffreys(80, 100)
    >>> round(low, 4), round(high, 4)
    (0.7137, 0.8692)
    """
    k, rows = _counts(hits, n)
    tail = (1 - _checked(level)) / 2
    low = betaincinv(k + 0.5, rows - k + 0.5, tail)
    high = betainccinv(k + 0.5, rows - k + 0.5, tail)
    return _interval_proportions(low, high, k, rows)


IntervalFunction = Callable[..., ProportionInterval]

INTERVALS: dict[str, IntervalFunction] = {
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
    "jeffreys": jeffreys,
}
"""Name of an interval -> function of (hits, n, *, level)."""


def exact_coverage(n: int, p: ArrayLike, *, method: str = "wilson", level: float = 0.95) -> Numbers:
    """Return the probability that an interval from n rows holds the true p: a sum over all counts.

    Parameters
    ----------
    n : int
        Rows, at least 1.
    p : array_like
        True probabilities.
    method : {"wilson", "clopper_pearson", "jeffreys"}
        The interval.
    level : float
        Its level.

    Returns
    -------
    float or ndarray
        Of the shape of p.

    Raises
    ------
    InvalidArgumentError
        If n is not a whole number above 0, p is outside [0, 1] or the method is unknown.

    Examples
    --------
    >>> round(exact_coverage(10, 0.3, method="clopper_pearson"), 4)
    0.9894
    >>> round(exact_coverage(10, 0.3, method="wilson"), 4)
    0.9244
    """
    if method not in INTERVALS:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(map(repr, INTERVALS))}; got {method!r}."
        )
    if n != int(n) or n < 1:
        raise InvalidArgumentError(f"n must be a whole number of at least 1; got {n!r}.")
    chances = check_unit_interval("p", p)
    k = np.arange(int(n) + 1.0)
    low, high = INTERVALS[method](k, n, level=level)
    inside = (low <= chances[..., np.newaxis]) & (chances[..., np.newaxis] <= high)
    log_choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_mass = (
        log_choices + xlogy(k, chances[..., np.newaxis]) + xlog1py(n - k, -chances[..., np.newaxis])
    )
    return scalar_or_array(np.asarray((np.exp(log_mass) * inside).sum(axis=-1)))


def _counts(hits: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    k, rows = broadcast(hits=check_finite_rows("hits", hits), n=check_finite_rows("n", n))
    scalars = np.ndim(hits) == 0 and np.ndim(n) == 0
    expected = "at most n; counts are wanted, not rates"
    return check_pairs("hits", k, ~(k > rows), expected, scalars=scalars), rows


def _checked(level: float) -> float:
    if not 0 < level < 1:
        hint = f" Did you mean {level / 100:g}?" if 1 < level < 100 else ""
        raise InvalidArgumentError(f"level must be between 0 and 1; got {level!r}.{hint}")
    return float(level)


def _interval_proportions(
    low: FloatArray, high: FloatArray, k: FloatArray, rows: FloatArray
) -> ProportionInterval:
    """Close the interval where every or no row was hit, and leave NaN where counts were bad."""
    bad = np.isnan(k) | np.isnan(rows)
    low = np.where(bad, np.nan, np.where(k == 0, 0.0, low))
    high = np.where(bad, np.nan, np.where(k == rows, 1.0, high))
    return ProportionInterval(scalar_or_array(low), scalar_or_array(high))


# The probability that a class is the most probable one, given counted rows.
#
# (5) is the probability, before the rows are seen, that their majority is the right class. Here the
# class was named beforehand, for instance by a model that has not seen these rows, and the rows
# test it. With half a row of every class added (Jeffreys' prior), the posterior of the class
# probabilities is a Dirichlet distribution: independent gamma variables G_j of shape
# count_j + 1/2, divided by their sum. Class c is the most probable one if G_c is the largest.

_PRIOR_ROWS = 0.5
_STEP = 0.2
_REACH = 8.5
"""Beyond so many standard deviations of the standard normal lies less than 1e-16."""

_LINES = 2048
"""So many nodes are integrated at a time, to bound the memory."""


def majority_probability(counts: FloatArray, named: NDArray[np.intp]) -> FloatArray:
    """Return for each node the probability that the class named is its most probable one.

    Two classes: P(p > 1/2) of a beta distribution. More: the mean over G_c of the product of the
    other classes' distribution functions, by the trapezoidal rule over the normal variable that
    has G_c's quantile; the absolute error is below 1e-9.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_nodes, n_classes)
        Rows by class, fractions allowed. Without rows every class is as probable: 1 / K.
    named : ndarray of int, shape (n_nodes,)
        The class in question.

    Returns
    -------
    ndarray of float64, shape (n_nodes,)

    Notes
    -----
    If the class is no more probable than another, a probability of 1 - a or more turns up in about
    a share a of the samples: Jeffreys' prior matches one-sided tests.

    Examples
    --------
    >>> counts = np.array([[5.0, 2.0], [2.0, 5.0], [0.0, 0.0]])
    >>> majority_probability(counts, np.zeros(3, dtype=np.intp)).round(4)
    array([0.8719, 0.1281, 0.5   ])
    >>> majority_probability(np.array([[5.0, 2.0, 0.0]]), np.array([0])).round(4)
    array([0.8681])
    """
    n_nodes, n_classes = counts.shape
    line = np.arange(n_nodes)
    own = counts[line, named] + _PRIOR_ROWS
    kept = np.ones(counts.shape, dtype=bool)
    kept[line, named] = False
    others = counts[kept].reshape(n_nodes, n_classes - 1) + _PRIOR_ROWS
    if n_classes == 1:
        return np.ones(n_nodes)
    if n_classes == 2:
        found: FloatArray = betainc(others[:, 0], own, 0.5)
        return found
    # Small leaves have the same counts over and over; which other class is which does not matter.
    shapes, back = np.unique(
        np.column_stack([own, np.sort(others, axis=1)]), axis=0, return_inverse=True
    )
    parts = [_largest(shapes[start : start + _LINES]) for start in range(0, len(shapes), _LINES)]
    return np.concatenate([np.empty(0), *parts])[back.reshape(-1)]


def _largest(shapes: FloatArray) -> FloatArray:
    """P(the first gamma variable of each line is the largest)."""
    z = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    weights = np.exp(-z * z / 2)
    first = shapes[:, :1]
    # Each tail from its own side, where its small probability is exact.
    value = np.where(z < 0, gammaincinv(first, ndtr(z)), gammainccinv(first, ndtr(-z)))
    # Classes without rows are all alike, and many: P(G < x) = erf(sqrt(x)) for shape 1/2.
    others = shapes[:, 1:]
    below = erf(np.sqrt(value)) ** (others == _PRIOR_ROWS).sum(axis=1, keepdims=True)
    for other in others.T:
        some = np.flatnonzero(other != _PRIOR_ROWS)
        below[some] *= gammainc(other[some, np.newaxis], value[some])
    found: FloatArray = below @ (weights / weights.sum())
    return np.clip(found, 0.0, 1.0)

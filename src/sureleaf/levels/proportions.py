"""Intervals for a probability from k hits of n rows: Wilson, Clopper-Pearson, Jeffreys.

Each is a function of ``(hits, n, *, level)`` that broadcasts and takes fractional counts; how often
it covers the true probability is computed exactly by `exact_coverage`, not simulated.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, gammaln, ndtri, xlog1py, xlogy

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import (
    FloatArray,
    Numbers,
    as_given,
    broadcast,
    chance,
    finite_rows,
    require_pairs,
)

__all__ = [
    "INTERVALS",
    "ProportionInterval",
    "clopper_pearson",
    "exact_coverage",
    "jeffreys",
    "wilson",
]


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
    return _interval((centre - half) / scale, (centre + half) / scale, k, rows)


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
    return _interval(low, high, k, rows)


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
    return _interval(low, high, k, rows)


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
    chances = chance("p", p)
    k = np.arange(int(n) + 1.0)
    low, high = INTERVALS[method](k, n, level=level)
    inside = (low <= chances[..., np.newaxis]) & (chances[..., np.newaxis] <= high)
    log_choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_mass = (
        log_choices + xlogy(k, chances[..., np.newaxis]) + xlog1py(n - k, -chances[..., np.newaxis])
    )
    return as_given(np.asarray((np.exp(log_mass) * inside).sum(axis=-1)))


def _counts(hits: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    k, rows = broadcast(hits=finite_rows("hits", hits), n=finite_rows("n", n))
    scalars = np.ndim(hits) == 0 and np.ndim(n) == 0
    expected = "at most n; counts are wanted, not rates"
    return require_pairs("hits", k, ~(k > rows), expected, scalars=scalars), rows


def _checked(level: float) -> float:
    if not 0 < level < 1:
        hint = f" Did you mean {level / 100:g}?" if 1 < level < 100 else ""
        raise InvalidArgumentError(f"level must be between 0 and 1; got {level!r}.{hint}")
    return float(level)


def _interval(
    low: FloatArray, high: FloatArray, k: FloatArray, rows: FloatArray
) -> ProportionInterval:
    """Close the interval where every or no row was hit, and leave NaN where counts were bad."""
    bad = np.isnan(k) | np.isnan(rows)
    low = np.where(bad, np.nan, np.where(k == 0, 0.0, low))
    high = np.where(bad, np.nan, np.where(k == rows, 1.0, high))
    return ProportionInterval(as_given(low), as_given(high))

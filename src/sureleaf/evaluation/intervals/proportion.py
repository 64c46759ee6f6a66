"""Intervals of a rate counted on n rows."""

import math

from sureleaf.arguments import check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals.estimate import Interval
from sureleaf.levels import intervals

__all__ = ["clopper_pearson", "wilson"]


def wilson(hits: float, n: float, *, level: float = 0.95) -> Interval:
    """Interval of Wilson for a rate, the lecture's interval for an accuracy.

    The rates p with ``|hits/n - p| <= z sqrt(p (1 - p) / n)``: never outside 0 and 1, and never
    empty at 0 or n hits. Its coverage is near the level on average, not at least the level.

    Parameters
    ----------
    hits, n : float
        Rows counted and rows in all; both may be fractional (weighted rows). No rows at all give
        the interval from 0 to 1.
    level : float
        Level of confidence.

    Returns
    -------
    Interval
        ``(low, high)``.

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
    _check_hits(hits, n)
    low, high = intervals.wilson(hits, n, level=check_level(level))
    return Interval(float(low), float(high))


def clopper_pearson(hits: float, n: float, *, level: float = 0.95) -> Interval:
    """Interval of Clopper and Pearson for a rate: covers with at least the level, always.

    Parameters
    ----------
    hits, n : float
        Rows counted and rows in all. No rows at all give the interval from 0 to 1.
    level : float
        Level of confidence.

    Returns
    -------
    Interval
        ``(low, high)``.

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
    _check_hits(hits, n)
    low, high = intervals.clopper_pearson(hits, n, level=check_level(level))
    return Interval(float(low), float(high))


def _check_hits(hits: float, n: float) -> None:
    if not 0 <= hits <= n or not math.isfinite(n):
        raise InvalidArgumentError(
            f"hits must be between 0 and n; got {hits} of {n}. Give counts, not rates."
        )

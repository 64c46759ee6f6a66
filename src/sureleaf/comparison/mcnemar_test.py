"""Two models on the same rows: which of them is right where they disagree.

Only the rows on which exactly one model is right say anything about the difference. The p-value
is McNemar's, exact (binomial) or mid-p; the interval is Tango's score interval, which inverts
McNemar's own statistic and so stays inside [-1, 1] and keeps its width when the models never
disagree.
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import bdtr, ndtri

from sureleaf.arguments import check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError

__all__ = ["invert_score", "mcnemar"]


def mcnemar(
    only_first: int, only_second: int, n: int, *, exact: bool = False, level: float = 0.95
) -> DifferenceTest:
    """Test two models on the same n rows, by the rows that only one of them gets right.

    Parameters
    ----------
    only_first, only_second : int
        Rows that only the first (second) model predicts right.
    n : int
        All rows, those on which the models agree included.
    exact : bool, default=False
        The exact p-value, never too small and often too large; otherwise mid-p, which Fagerland,
        Lydersen and Laake (2013) recommend.
    level : float, default=0.95
        Level of Tango's (1998) score interval for the difference in accuracy.

    Returns
    -------
    DifferenceTest
        ``difference`` is the first model's accuracy minus the second's.

    Examples
    --------
    >>> test = mcnemar(12, 4, 100)
    >>> round(test.difference, 2), round(test.p_value, 4)
    (0.08, 0.049)
    >>> round(mcnemar(12, 4, 100, exact=True).p_value, 4)
    0.0768
    """
    check_level(level)
    discordant = only_first + only_second
    if min(only_first, only_second) < 0 or n < 1 or discordant > n:
        raise InvalidArgumentError(
            "only_first and only_second must be counts with a sum of at most n; "
            f"got {only_first}, {only_second} and n = {n}."
        )
    difference = (only_first - only_second) / n

    def score(delta: float) -> float:
        return _tango_score(only_first, only_second, n, delta)

    low, high = invert_score(score, difference, level)
    return DifferenceTest(
        difference=difference,
        low=low,
        high=high,
        p_value=_binomial_p(min(only_first, only_second), discordant, exact),
        statistic=(only_first - only_second) / math.sqrt(discordant) if discordant else 0.0,
        standard_error=math.sqrt(discordant) / n,
        method=f"McNemar, {'exact' if exact else 'mid-p'}; Tango's interval",
        level=level,
        assumption="the rows are independent; it speaks of these two models, not of what grew them",
    )


def _binomial_p(smaller: int, discordant: int, exact: bool) -> float:
    """Two-sided p of ``smaller`` successes in ``discordant`` tosses of a fair coin."""
    if discordant == 0:
        return 1.0
    upto = float(bdtr(smaller, discordant, 0.5))
    below = float(bdtr(smaller - 1, discordant, 0.5)) if smaller else 0.0
    return min(1.0, 2 * upto if exact else upto + below)


def _tango_score(b: int, c: int, n: int, delta: float) -> float:
    """Score statistic of "the accuracies differ by delta" (Tango 1998, equation 6)."""
    linear = (2 * n - b + c) * delta - b - c
    root = math.sqrt(linear * linear + 8 * n * c * delta * (1 - delta))
    only_second = max(0.0, (root - linear) / (4 * n))  # its most likely share given delta
    variance = n * (2 * only_second + delta * (1 - delta))
    top = b - c - n * delta
    if variance <= 0:
        return 0.0 if top == 0 else math.copysign(math.inf, top)
    return top / math.sqrt(variance)


def invert_score(
    score: Callable[[float], float], estimate: float, level: float
) -> tuple[float, float]:
    """Find the ends of the interval of differences in [-1, 1] that a score test does not reject.

    Parameters
    ----------
    score : callable
        Falling in the difference, 0 at the estimate.
    estimate : float
        The observed difference.
    level : float
        Level of the interval.

    Examples
    --------
    >>> low, high = invert_score(lambda delta: (0.1 - delta) / 0.05, 0.1, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.002, 0.198)
    """
    z = float(ndtri((1 + level) / 2))

    def end(bound: float) -> float:
        target = math.copysign(z, -bound)
        if abs(estimate - bound) < 1e-12 or abs(score(bound)) <= z:
            return bound
        # An infinite score is only a sign to a root finder.
        return float(
            brentq(lambda d: max(-1e9, min(1e9, score(d))) - target, bound, estimate, xtol=1e-12)
        )

    return end(-1.0), end(1.0)

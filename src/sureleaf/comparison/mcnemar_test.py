"""McNemar's test of two models on the same rows, with Tango's interval.

Only the discordant rows, which exactly one model predicts correctly, carry information about the
difference. The p-value is exact (binomial) or mid-p. Tango's score interval inverts McNemar's
statistic, so it stays inside [-1, 1] and has a positive width when the models never disagree.
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import bdtr, ndtri

from sureleaf.arguments import check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError

__all__ = ["THESE_MODELS", "invert_score", "mcnemar"]

THESE_MODELS = (
    "the rows are independent; it is about these two fitted models, not about their algorithms"
)


def mcnemar(
    only_first: int, only_second: int, n: int, *, exact: bool = False, level: float = 0.95
) -> DifferenceTest:
    """Test two models on the same n rows, by the rows that only one of them predicts correctly.

    Parameters
    ----------
    only_first, only_second : int
        Rows that only the first (second) model predicts correctly.
    n : int
        All rows, including those on which the models agree.
    exact : bool, default=False
        Whether to use the exact p-value, which is never too small and often too large. By
        default mid-p, as recommended in [1]_.
    level : float, default=0.95
        Level of the score interval [2]_ for the difference in accuracy.

    Returns
    -------
    DifferenceTest
        ``difference`` is the accuracy of the first model minus that of the second.

    References
    ----------
    .. [1] Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC Medical
       Research Methodology 13, 91.
    .. [2] Tango, T. (1998). Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design. Statistics in Medicine 17, 891-908.

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
        assumption=THESE_MODELS,
    )


def _binomial_p(smaller: int, discordant: int, exact: bool) -> float:
    """Return the two-sided p-value of ``smaller`` successes in ``discordant`` fair tosses."""
    if discordant == 0:
        return 1.0
    upto = float(bdtr(smaller, discordant, 0.5))
    below = float(bdtr(smaller - 1, discordant, 0.5)) if smaller else 0.0
    return min(1.0, 2 * upto if exact else upto + below)


def _tango_score(b: int, c: int, n: int, delta: float) -> float:
    """Return the score statistic of "the accuracies differ by delta" (Tango, equation 6)."""
    linear = (2 * n - b + c) * delta - b - c
    root = math.sqrt(linear * linear + 8 * n * c * delta * (1 - delta))
    only_second = max(0.0, (root - linear) / (4 * n))  # the most likely share, given delta
    variance = n * (2 * only_second + delta * (1 - delta))
    top = b - c - n * delta
    if variance <= 0:
        return 0.0 if top == 0 else math.copysign(math.inf, top)
    return top / math.sqrt(variance)


def invert_score(
    score: Callable[[float], float], estimate: float, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of differences in [-1, 1] that a score test accepts.

    ``score`` falls in the difference and is 0 at the estimate.
    """
    z = float(ndtri((1 + level) / 2))

    def end(bound: float) -> float:
        target = math.copysign(z, -bound)
        if abs(estimate - bound) < 1e-12 or abs(score(bound)) <= z:
            return bound
        # The root finder needs finite values; only the sign of an infinite score matters.
        return float(
            brentq(lambda d: max(-1e9, min(1e9, score(d))) - target, bound, estimate, xtol=1e-12)
        )

    return end(-1.0), end(1.0)

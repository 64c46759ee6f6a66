"""Intervals and tests from plain numbers: of rates, and of means of differences.

In McNemar's test of two models on the same rows, only the discordant rows, which exactly one model
predicts correctly, carry information about the difference. Tango's score interval inverts its
statistic, so it stays inside [-1, 1] and has a positive width when the models never disagree.

The splits of a cross-validation share training rows, so their differences are correlated and the
plain t test has too many false positives: see `corrected_resampled`.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import bdtr, ndtr, ndtri, stdtr, stdtrit

from sureleaf.arguments import FloatArray, check_choice, check_count, check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import (
    Estimate,
    MeanOverSplits,
    corrected_resampled,
    of_drawn_units,
)
from sureleaf.evaluation.measures.ranking import delong_covariance, delong_interval
from sureleaf.levels.intervals import Interval, clopper_pearson, normal_reach, wilson
from sureleaf.levels.search import halved, smallest_count

_OF_MODELS = (
    "are independent; the result is about these two fitted models, not about their algorithms"
)
THESE_MODELS, THESE_GROUPS = f"the rows {_OF_MODELS}", f"the groups {_OF_MODELS}"

RATE_INTERVALS = {
    "wilson": ("Wilson", wilson),
    "clopper_pearson": ("Clopper-Pearson", clopper_pearson),
}


def rate_interval(rate: float, n: int, *, method: str = "wilson", level: float = 0.95) -> Estimate:
    """Return the interval of a rate (an accuracy, an error, a share) measured on n rows.

    Wilson's interval (``method="wilson"``) is close to its level on average; that of Clopper and
    Pearson (``"clopper_pearson"``) is never below its level and wider. See
    `sureleaf.levels.intervals` for references.

    Examples
    --------
    >>> print(rate_interval(0.8, 100))
    0.8000 (95 % interval 0.7112 to 0.8666; Wilson)
    """
    _check_rate(rate, n, "rate", "n")
    check_choice("method", method, tuple(RATE_INTERVALS))
    name, interval = RATE_INTERVALS[method]
    low, high = interval(min(rate * n, n), n, level=level)
    return Estimate(rate, low, high, level, name)


def compare_rates(
    e1: float, n1: int, e2: float, n2: int, *, pooled: bool = False, level: float = 0.95
) -> DifferenceTest:
    """Compare two error rates (or accuracies) measured on independent sets of n1 and n2 rows.

    Parameters
    ----------
    pooled : bool, default=False
        False: z with the variance e1(1-e1)/n1 + e2(1-e2)/n2 and the interval d ± z σ, which is
        too narrow for few rows and rates near 0 or 1. True: z with the variance of one common
        rate, and the score interval [1]_, which inverts that test for every difference. A rate
        of exactly 0 or 1 has no variance of its own; the pooled test is then used in any case,
        and ``method`` reports it.

    References
    ----------
    .. [1] Mee, R. W. (1984). Confidence bounds for the difference between two probabilities.
       Biometrics 40, 1175-1176.

    Examples
    --------
    One model has an error of 15 % on 30 rows, another 25 % on 5,000:

    >>> test = compare_rates(0.15, 30, 0.25, 5000)
    >>> round(test.standard_error**2, 7), round(-test.statistic, 4), round(1 - test.p_value, 3)
    (0.0042875, 1.5272, 0.873)
    >>> round(compare_rates(0.10, 100, 0.20, 100, pooled=True).p_value, 4)
    0.0477

    Without errors in 10 and in 20 rows, the interval is wide:

    >>> compare_rates(0, 10, 0, 20)
    difference 0.0000 (-0.1611 to 0.2775 at level 0.95), p = 1
      by z, pooled, with score interval, since a rate of 0 or 1 has no variance; the two sets of \
rows are independent
    """
    check_level(level)
    _check_rate(e1, n1, "e1", "n1")
    _check_rate(e2, n2, "e2", "n2")
    difference = e1 - e2
    unpooled = not pooled and 0 < e1 < 1 and 0 < e2 < 1
    assumption = "the two sets of rows are independent"
    if unpooled:
        variance = e1 * (1 - e1) / n1 + e2 * (1 - e2) / n2
        assumption += " and both rates are far from 0 and 1"
        return z_test(difference, math.sqrt(variance), level, "z, unpooled", assumption)
    common = (n1 * e1 + n2 * e2) / (n1 + n2)
    variance = common * (1 - common) * (1 / n1 + 1 / n2)
    ends = _invert_score(lambda delta: _mee_score(e1, n1, e2, n2, delta), difference, level)
    reason = "" if pooled else ", since a rate of 0 or 1 has no variance"
    method = f"z, pooled, with score interval{reason}"
    return z_test(difference, math.sqrt(variance), level, method, assumption, ends)


def z_test(
    difference: float,
    standard_error: float,
    level: float,
    method: str,
    assumption: str,
    ends: tuple[float, float] | None = None,
) -> DifferenceTest:
    """Return the test of a difference that is normal; its interval may have other ends."""
    reach = normal_reach(level) * standard_error
    low, high = (difference - reach, difference + reach) if ends is None else ends
    statistic = _over(difference, standard_error)
    return DifferenceTest(
        difference=difference,
        low=max(low, -1.0),
        high=min(high, 1.0),
        p_value=2 * float(ndtr(-abs(statistic))),
        statistic=statistic,
        standard_error=standard_error,
        method=method,
        level=level,
        assumption=assumption,
    )


def _mee_score(e1: float, n1: int, e2: float, n2: int, delta: float) -> float:
    """Return the score statistic of "the rates differ by delta" (Mee 1984).

    The most likely rates that differ by delta are the root of a cubic equation.
    """
    theta = n2 / n1
    a = 1 + theta
    b = -(1 + theta + e1 + theta * e2 + delta * (theta + 2))
    c = delta * delta + delta * (2 * e1 + theta + 1) + e1 + theta * e2
    d = -e1 * delta * (1 + delta)
    v = (b / (3 * a)) ** 3 - b * c / (6 * a * a) + d / (2 * a)
    radius = math.sqrt(max((b / (3 * a)) ** 2 - c / (3 * a), 0.0))
    u = math.copysign(radius, v)
    cosine = v / u**3 if u else 0.0
    w = (math.pi + math.acos(max(-1.0, min(1.0, cosine)))) / 3
    first = min(max(2 * u * math.cos(w) - b / (3 * a), 0.0, delta), 1.0, 1 + delta)
    second = first - delta
    variance = first * (1 - first) / n1 + second * (1 - second) / n2
    return _over(e1 - e2 - delta, math.sqrt(max(variance, 0.0)))


def _invert_score(
    score: Callable[[float], float], estimate: float, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of differences in [-1, 1] that a score test accepts.

    ``score`` falls in the difference and is 0 at the estimate.
    """
    z = normal_reach(level)

    def end(bound: float) -> float:
        target = math.copysign(z, -bound)
        if abs(estimate - bound) < 1e-12 or abs(score(bound)) <= z:
            return bound
        # The root finder needs finite values; only the sign of an infinite score matters.
        return float(
            brentq(lambda d: max(-1e9, min(1e9, score(d))) - target, bound, estimate, xtol=1e-12)
        )

    return end(-1.0), end(1.0)


def _over(top: float, bottom: float) -> float:
    if bottom == 0:
        return 0.0 if abs(top) < 1e-15 else math.copysign(math.inf, top)
    return top / bottom


def _check_rate(rate: float, n: int, rate_name: str, n_name: str) -> None:
    if not 0 <= rate <= 1:
        hint = f" Did you mean {rate / 100:g}?" if 1 < rate <= 100 else ""
        raise InvalidArgumentError(f"{rate_name} must be between 0 and 1; got {rate!r}.{hint}")
    if n < 1:
        raise InvalidArgumentError(f"{n_name} must be at least 1; got {n!r}.")


def mcnemar(
    only_first: int, only_second: int, n: int, *, exact: bool = False, level: float = 0.95
) -> DifferenceTest:
    """Test two models on the same n rows, by the rows that only one of them predicts correctly.

    The ``difference`` is the accuracy of the first model minus that of the second, with a score
    interval [2]_. The p-value is mid-p, as recommended in [1]_, or the exact one, which is never
    too small and often too large.

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
    for name, count in (("only_first", only_first), ("only_second", only_second), ("n", n)):
        check_count(name, count, least=int(name == "n"))
    discordant = only_first + only_second
    if discordant > n:
        raise InvalidArgumentError(
            "only_first and only_second must be counts with a sum of at most n; "
            f"got {only_first}, {only_second} and n = {n}."
        )
    difference = (only_first - only_second) / n
    low, high = _invert_score(
        lambda delta: _tango_score(only_first, only_second, n, delta), difference, level
    )
    smaller = min(only_first, only_second)  # among so many fair tosses
    upto = float(bdtr(smaller, discordant, 0.5)) if discordant else 1.0
    below = float(bdtr(smaller - 1, discordant, 0.5)) if smaller else 0.0
    return DifferenceTest(
        difference=difference,
        low=low,
        high=high,
        p_value=min(1.0, 2 * upto if exact else upto + below),
        statistic=(only_first - only_second) / math.sqrt(discordant) if discordant else 0.0,
        standard_error=math.sqrt(discordant) / n,
        method=f"McNemar, {'exact' if exact else 'mid-p'}; Tango's interval",
        level=level,
        assumption=THESE_MODELS,
    )


def _tango_score(b: int, c: int, n: int, delta: float) -> float:
    """Return the score statistic of "the accuracies differ by delta" (Tango, equation 6)."""
    linear = (2 * n - b + c) * delta - b - c
    root = math.sqrt(linear * linear + 8 * n * c * delta * (1 - delta))
    only_second = max(0.0, (root - linear) / (4 * n))  # the most likely share, given delta
    variance = n * (2 * only_second + delta * (1 - delta))
    top = b - c - n * delta
    return _over(top, math.sqrt(max(variance, 0.0)))


def rows_for_width(
    half_width: float, *, rate: float = 0.5, method: str = "clopper_pearson", level: float = 0.95
) -> int:
    """Return the rows until the interval of a rate is no wider than twice ``half_width``.

    A rate of .5 needs the most rows; far from it, the interval extends a little further towards .5.
    The method is one of `rate_interval`, by default that of `Evaluation.estimate`.

    Examples
    --------
    >>> rows_for_width(0.03)
    1098
    >>> rows_for_width(0.02, rate=0.9)
    914
    """
    if not 0 < half_width < 0.5:
        raise InvalidArgumentError(
            f"half_width must be between 0 and 0.5, e.g. 0.02; got {half_width!r}."
        )

    def is_narrow(n: int) -> bool:
        interval = rate_interval(rate, n, method=method, level=level)
        return interval.high - interval.low <= 2 * half_width

    return smallest_count(is_narrow)


def rows_to_detect(
    difference: float,
    *,
    rate: float,
    paired: bool = True,
    discordance: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """Return the rows until a test finds a difference of two error rates with a given power.

    By the normal approximation [1]_ [2]_.

    Parameters
    ----------
    difference : float
        The smallest difference of interest.
    rate : float
        Lower of the two error rates; the other is ``rate + difference``.
    paired : bool, default=True
        Whether both models are tested on the same rows (McNemar). False: each on its own rows
        (z, pooled); the result is then the number of rows for each.
    discordance : float, optional
        Share of rows that exactly one of two paired models predicts correctly. By default that
        of two models with independent errors; models with similar errors need fewer rows.
    power, level : float
        Probability that the two-sided test at this level finds the difference.

    References
    ----------
    .. [1] Connor, R. J. (1987). Sample size for testing differences in proportions for the
       paired-sample design. Biometrics 43, 207-211.
    .. [2] Fleiss, J. L., Levin, B. and Paik, M. C. (2003). Statistical methods for rates and
       proportions, 3rd edition. Wiley.

    Examples
    --------
    >>> rows_to_detect(0.02, rate=0.10, discordance=0.06)
    1175
    >>> rows_to_detect(0.02, rate=0.10, paired=False)
    3841
    """
    check_level(level)
    if not 0 < power < 1:
        raise InvalidArgumentError(f"power must be between 0 and 1, e.g. 0.8; got {power!r}.")
    other = rate + difference
    if not (difference > 0 and rate >= 0 and other <= 1):
        raise InvalidArgumentError(
            "difference must be above 0, and rate and rate + difference between 0 and 1; "
            f"got difference {difference!r} and rate {rate!r}."
        )
    under_null, under_difference = _standard_deviations(rate, other, paired, discordance)
    z_level, z_power = normal_reach(level), float(ndtri(power))
    reach = z_level * under_null + z_power * under_difference  # below 0, one row is enough
    return max(math.ceil((max(reach, 0.0) / difference) ** 2), 1)


def _standard_deviations(
    rate: float, other: float, paired: bool, discordance: float | None
) -> tuple[float, float]:
    """Return the standard deviation per row, without and with a true difference."""
    if not paired:
        if discordance is not None:
            raise InvalidArgumentError(
                "discordance is for models on the same rows. Leave it out with paired=False."
            )
        mean, apart = (rate + other) / 2, rate * (1 - rate) + other * (1 - other)
        return math.sqrt(2 * mean * (1 - mean)), math.sqrt(apart)
    if discordance is None:
        discordance = rate * (1 - other) + other * (1 - rate)
    # The smallest possible discordance is the difference itself; allow for rounding.
    least, most = other - rate - 1e-12, min(rate + other, 2 - rate - other) + 1e-12
    if not least <= discordance <= most:
        raise InvalidArgumentError(
            f"discordance must be between {other - rate:g} (the difference) and {most:.4g} for "
            f"error rates {rate:g} and {other:g}; got {discordance!r}."
        )
    return math.sqrt(discordance), math.sqrt(max(discordance - (other - rate) ** 2, 0.0))


# Student's t for a mean of differences, plain and corrected for shared training rows

SHARED_ROWS = (
    "the differences are independent; those of folds and repeated hold-outs share training rows, "
    "so the test has too many false positives: give corrected=n_test/n_train"
)
CORRELATED = (
    "the differences of two splits have a correlation of n_test / (n_test + n_train), which is an "
    "approximation for folds"
)


def one_sample_t(values: ArrayLike, mean: float = 0.0, *, level: float = 0.95) -> DifferenceTest:
    """Test whether the mean of k values is ``mean``: t = (x̄ - mean) / (s / √k), k - 1 df.

    The ``difference`` is the mean of the values, which are independent, minus ``mean``.

    Examples
    --------
    >>> test = one_sample_t([5.1, 4.9, 5.6, 5.8, 5.3], 5.0)
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (2.0847, 0.1055)
    """
    shifted = _checked_values(values, "values") - mean
    return _t_test(shifted, 0.0, level, "one-sample t", "the values are independent and normal")


def paired_t(
    differences: ArrayLike, *, corrected: float | None = None, level: float = 0.95
) -> DifferenceTest:
    """Test whether paired differences, one per fold, repeat or pair, have mean 0.

    Parameters
    ----------
    corrected : float, optional
        ``n_test / n_train`` of the design that gave the differences, for the corrected resampled t
        of Nadeau and Bengio, with variance (1/k + n_test/n_train) s². ``True`` is one k-fold
        cross-validation, 1 / (k - 1). By default the plain paired t, which is valid for independent
        pairs.

    Examples
    --------
    Correct predictions of two algorithms in seven folds of 2,000 rows:

    >>> first = [1200, 1219, 1103, 1213, 1258, 1325, 1295]
    >>> second = [1247, 1098, 1185, 1087, 1377, 1363, 1121]
    >>> differences = [(a - b) / 2000 for a, b in zip(first, second)]
    >>> plain = paired_t(differences)
    >>> round(plain.difference, 5), round(plain.low, 4), round(plain.high, 4)
    (0.00964, -0.0447, 0.0639)
    >>> corrected = paired_t(differences, corrected=True)
    >>> round(corrected.low, 4), round(corrected.high, 4)
    (-0.0703, 0.0896)
    """
    checked = _checked_values(differences, "differences")
    if corrected is None:
        return _t_test(checked, 0.0, level, "paired t, uncorrected", SHARED_ROWS)
    ratio = 1 / (checked.size - 1) if corrected is True else float(corrected)
    if not 0 < ratio < math.inf:
        raise InvalidArgumentError(
            "corrected must be n_test / n_train, a number above 0 (1/9 for ten folds); "
            f"got {corrected!r}. Leave it out for independent differences."
        )
    return _t_test(checked, ratio, level, "corrected resampled t", CORRELATED)


def _t_test(
    differences: FloatArray, ratio: float, level: float, method: str, assumption: str
) -> DifferenceTest:
    test = difference_of_mean(
        corrected_resampled(differences, test_to_train=ratio, level=level), method, assumption
    )
    if test.difference != 0 and test.standard_error <= 1e-12 * abs(test.difference):
        raise InvalidArgumentError(
            f"all {differences.size} differences are {test.difference:g}: without any spread "
            "there is no variance to test with. Use more folds or repeats."
        )
    return test


def difference_of_mean(mean: MeanOverSplits, method: str, assumption: str) -> DifferenceTest:
    """Return the t test of a mean over splits, with or without spread."""
    return DifferenceTest(
        difference=mean.value,
        low=mean.low,
        high=mean.high,
        p_value=mean.p_value,
        statistic=_over(mean.value, mean.standard_error),
        standard_error=mean.standard_error,
        method=method,
        level=mean.level,
        assumption=assumption,
    )


def _checked_values(values: ArrayLike, name: str) -> FloatArray:
    checked = np.asarray(values, dtype=float)
    if checked.ndim != 1 or checked.size < 2 or not np.isfinite(checked).all():
        raise InvalidArgumentError(
            f"{name} must be a list of at least two finite numbers; got {values!r}. "
            "Remove folds that failed."
        )
    return checked


# Two models on the same rows, by their scores or by any statistic of rows


def auc_difference(
    positive: ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> DifferenceTest:
    """Test the difference of two areas under the ROC curve on the same rows.

    There are at least two rows of each class; higher scores mean a more probable positive class. If
    the variance of the difference is zero (two perfect rankings, constant scores), the interval
    comes from the intervals of both areas [1]_, so that it keeps a width.

    References
    ----------
    .. [1] Newcombe, R. G. (1998). Interval estimation for the difference between independent
       proportions: comparison of eleven methods. Statistics in Medicine 17, 873-890.

    Examples
    --------
    >>> positive = [1, 1, 1, 0, 0, 0, 1, 0]
    >>> test = auc_difference(positive, [8, 7, 6, 1, 2, 3, 5, 4], [8, 2, 6, 1, 7, 3, 5, 4])
    >>> round(test.difference, 4), round(test.p_value, 4)
    (0.3125, 0.1601)
    """
    check_level(level)
    areas, covariance = delong_covariance(positive, np.vstack([first, second]))
    difference = float(areas[0] - areas[1])
    variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    if variance > 1e-14:
        return z_test(difference, math.sqrt(variance), level, "DeLong", THESE_MODELS)

    def limits(at: float) -> Interval[float]:
        one, other = (delong_interval(positive, scores, level=at) for scores in (first, second))
        return squared_and_added(one, other)

    method = "Newcombe's interval from both AUC intervals, as DeLong's variance is 0"
    test = z_test(difference, 0.0, level, method, THESE_MODELS, limits(level))
    return replace(test, statistic=0.0, p_value=p_by_inversion(limits))


def bootstrap_difference(
    statistic: Callable[[NDArray[np.int64]], float],
    n_rows: int,
    *,
    groups: ArrayLike | None = None,
    n_resamples: int = 2000,
    random_state: int = 0,
    level: float = 0.95,
) -> DifferenceTest:
    """Test any difference of two models on the same rows, by the paired bootstrap.

    The statistic is the difference on the rows of given numbers, some of them repeated; rows of a
    group are drawn together. Resampling the rows gives the standard error; the interval is d ± t
    s.e. with n - 1 degrees of freedom. A paired difference is close enough to symmetric for that.
    Quantiles of the resamples (percentile or BCa) give too many false positives on small test sets.
    Samples on which the measure is not defined are ignored.

    Examples
    --------
    >>> gap = np.array([0.1, -0.2, 0.3, 0.1, 0.0, 0.2, 0.4, -0.1, 0.1, 0.2])
    >>> test = bootstrap_difference(lambda rows: float(gap[rows].mean()), 10)
    >>> round(test.difference, 2), test.low < 0.11 < test.high
    (0.11, True)
    """
    check_level(level)
    of_units, n_units = of_drawn_units(statistic, n_rows, groups)
    if n_units < 2:
        raise InvalidArgumentError(
            f"The bootstrap needs at least two rows (or groups) to draw from; got {n_units}."
        )
    generator = np.random.default_rng(random_state)
    value = float(of_units(np.arange(n_units)))
    draws = (generator.integers(n_units, size=n_units) for _ in range(n_resamples))
    drawn = np.array([float(of_units(units)) for units in draws])
    drawn = drawn[np.isfinite(drawn)]
    # Resampling n units understates a variance by (n - 1)/n, and n - 1 degrees estimate it.
    shrunk = float(drawn.std(ddof=1)) if drawn.size > 1 else math.nan
    standard_error = shrunk * math.sqrt(n_units / (n_units - 1))
    reach = float(stdtrit(n_units - 1, (1 + level) / 2)) * standard_error
    t = value / standard_error if standard_error else 0.0
    return DifferenceTest(
        difference=value,
        low=value - reach,
        high=value + reach,
        p_value=2 * float(stdtr(n_units - 1, -abs(t))),
        statistic=t,
        standard_error=standard_error,
        method="paired bootstrap" + ("" if groups is None else " of groups"),
        level=level,
        assumption=THESE_MODELS if groups is None else THESE_GROUPS,
    )


def p_by_inversion(limits: Callable[[float], Interval[float]]) -> float:
    """Return the two-sided p-value of 0: 1 minus the lowest level whose interval holds 0."""

    def holds_zero(level: float) -> bool:
        low, high = limits(level)
        return low <= 0 <= high

    least = 1e-3  # the interval of level 1 holds everything
    if holds_zero(least):
        return 1.0
    return 1 - float(halved(lambda level: not holds_zero(float(level)), least, 1.0, 24)[1])


def squared_and_added(first: Estimate, second: Estimate) -> Interval[float]:
    """Return Newcombe's interval of a difference from the intervals of both values."""
    difference = first.value - second.value
    return Interval(
        difference - math.hypot(first.value - first.low, second.high - second.value),
        difference + math.hypot(first.high - first.value, second.value - second.low),
    )

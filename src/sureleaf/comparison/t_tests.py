"""Student's t for a mean of differences, plain and corrected for shared training rows.

The splits of a cross-validation share training rows, so their differences are correlated and the
plain t test has too many false positives. Nadeau and Bengio add the ratio ``n_test / n_train`` to
``1 / k`` in the variance of the mean; Bouckaert and Frank found that it also works for folds.

References
----------
Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
239-281.

Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests for
comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from sureleaf.arguments import FloatArray, check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import MeanOverSplits, corrected_resampled

__all__ = [
    "CORRELATED",
    "SHARED_ROWS",
    "difference_of_mean",
    "five_by_two_f",
    "one_sample_t",
    "paired_t",
]


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
        ``n_test / n_train`` of the design that gave the differences, for the corrected resampled
        t with variance (1/k + n_test/n_train) s² [1]_. ``True`` is one k-fold cross-validation,
        1 / (k - 1). By default the plain paired t, which is valid for independent pairs.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.

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


def five_by_two_f(
    differences: ArrayLike, *, level: float = 0.95, hidden_variance: float = 0.0
) -> DifferenceTest:
    """Test two algorithms by five repeats of two-fold cross-validation.

    F = Σ p² / (2 Σ s²) with 10 and 5 degrees of freedom, where s² is the variance of the two
    differences of a repeat. The interval holds every δ that the test of p - δ does not reject.
    Differences are of shape (5, 2), repeats by folds. All may share a hidden variance that s²
    cannot show, such as that of the class proportions if folds are stratified; it is added to each
    s².

    References
    ----------
    .. [1] Alpaydın, E. (1999). Combined 5 x 2 cv F test for comparing supervised classification
       learning algorithms. Neural Computation 11, 1885-1892.

    Examples
    --------
    >>> test = five_by_two_f([[.02, .03], [.01, .04], [.03, .02], [.02, .05], [.04, .01]])
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (3.069, 0.1138)
    """
    check_level(level)
    pairs = np.asarray(differences, dtype=float)
    if pairs.shape != (5, 2):
        raise InvalidArgumentError(
            "differences must have shape (5, 2), five repeats of two folds; "
            f"got shape {pairs.shape}. For other designs use paired_t(..., corrected=...)."
        )
    _checked_values(pairs.ravel(), "differences")
    mean = float(pairs.mean())
    between = float(((pairs[:, 0] - pairs[:, 1]) ** 2).sum())  # 2 Σ s², as s² = (p1 - p2)²/2
    between += 10 * hidden_variance
    statistic = _ratio(float((pairs**2).sum()), between)
    # Σ (p - δ)² = Σ (p - mean)² + 10 (mean - δ)²: solve the test for δ. If repeats differ more
    # than their folds, there is no solution; one standard error then keeps a width.
    room = between * float(fdtri(10, 5, level)) - float(((pairs - mean) ** 2).sum())
    reach = math.sqrt(max(room, between) / 10)
    return DifferenceTest(
        difference=mean,
        low=mean - reach,
        high=mean + reach,
        p_value=float(fdtrc(10, 5, statistic)),
        statistic=statistic,
        standard_error=math.sqrt(between / 10),
        method="5x2cv F",
        level=level,
        assumption="the two folds of a repeat differ only by noise, equally in all repeats",
    )


def _t_test(
    differences: FloatArray, ratio: float, level: float, method: str, assumption: str
) -> DifferenceTest:
    mean = corrected_resampled(differences, test_to_train=ratio, level=level)
    test = difference_of_mean(mean, method, assumption)
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
        statistic=_ratio(mean.value, mean.standard_error),
        standard_error=mean.standard_error,
        method=method,
        level=mean.level,
        assumption=assumption,
    )


def _ratio(top: float, bottom: float) -> float:
    """Return top / bottom, with 0 / 0 = 0 (no evidence)."""
    if bottom == 0:
        return 0.0 if top == 0 else math.inf
    return top / bottom


def _checked_values(values: ArrayLike, name: str) -> FloatArray:
    checked = np.asarray(values, dtype=float)
    if checked.ndim != 1 or checked.size < 2 or not np.isfinite(checked).all():
        raise InvalidArgumentError(
            f"{name} must be a list of at least two finite numbers; got {values!r}. "
            "Remove folds that failed."
        )
    return checked

"""Is the mean of a few differences 0? Student's t, plain and corrected for shared training rows.

The lecture's interval for two algorithms is the plain one, with k - 1 degrees of freedom and the
quantile 1 - alpha/2 (its example takes k degrees of freedom). Folds share training rows, so their
differences are correlated and the plain test finds differences that are not there; Nadeau and
Bengio (2003) add the share ``n_test / n_train`` to ``1 / k``; Bouckaert and Frank (2004) found it
to hold for folds too.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc, fdtri

from sureleaf.arguments import check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import corrected_resampled

__all__ = ["CORRELATED", "SHARED_ROWS", "five_by_two_f", "one_sample_t", "paired_t", "t_of_mean"]


SHARED_ROWS = (
    "the differences are independent; those of folds and repeated hold-outs share training rows, "
    "and the test then finds differences that are not there: give corrected=n_test/n_train"
)
CORRELATED = (
    "differences of two splits correlate by n_test / (n_test + n_train), which for folds is a "
    "rule of thumb"
)


def one_sample_t(values: ArrayLike, mean: float = 0.0, *, level: float = 0.95) -> DifferenceTest:
    """Test whether the mean of some values is ``mean``: t = (x̄ - mean) / (s / √k), k - 1 df.

    Parameters
    ----------
    values : array-like of shape (k,)
        At least two independent values.
    mean : float, default=0.0
        The hypothesis.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    DifferenceTest
        ``difference`` is the mean of the values minus ``mean``.

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
    """Test whether paired differences have mean 0.

    Parameters
    ----------
    differences : array-like of shape (k,)
        One difference a fold, repeat or pair.
    corrected : float, optional
        ``n_test / n_train`` of the resampling that made the differences: the corrected resampled
        t of Nadeau and Bengio, variance (1/k + n_test/n_train) s². ``True`` is one k-fold
        cross-validation, 1 / (k - 1). Without it the plain paired t, right for independent pairs.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    DifferenceTest

    Examples
    --------
    The lecture's seven folds of 2,000 rows:

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
    """Test two algorithms by five repeats of two-fold cross-validation (Alpaydın 1999).

    F = Σ p² / (2 Σ s²) with 10 and 5 degrees of freedom, s² the variance of each repeat's pair.
    The interval holds every δ that the test of p - δ does not reject.

    Parameters
    ----------
    differences : array-like of shape (5, 2)
        Rows are repeats, columns their two folds.
    level : float, default=0.95
        Level of the interval.
    hidden_variance : float, default=0.0
        Variance that all differences share and their pairs cannot show, as that of the classes'
        shares where folds are stratified; it is added to each s².

    Returns
    -------
    DifferenceTest

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
    # Σ (p - δ)² = Σ (p - mean)² + 10 (mean - δ)²: solve the test for δ. Repeats that differ more
    # than their folds do leave no solution; then one standard error, so that some width remains.
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
        assumption="the two folds of a repeat differ by noise alone, and the repeats are alike",
    )


def _t_test(
    differences: NDArray[np.float64], ratio: float, level: float, method: str, assumption: str
) -> DifferenceTest:
    found = t_of_mean(differences, ratio, level, method, assumption)
    if found.difference != 0 and found.standard_error <= 1e-12 * abs(found.difference):
        raise InvalidArgumentError(
            f"all {differences.size} differences are {found.difference:g}: without any spread "
            "there is no telling chance from effect. Use more folds or repeats."
        )
    return found


def t_of_mean(
    differences: NDArray[np.float64],
    ratio: float,
    level: float,
    method: str,
    assumption: str,
    hidden_variance: float = 0.0,
) -> DifferenceTest:
    """Test a mean by t, whatever the spread; `paired_t` refuses differences without any.

    Examples
    --------
    >>> t_of_mean(np.array([0.5, 0.5]), 1.0, 0.95, "t", "").standard_error
    0.0
    """
    found = corrected_resampled(
        differences, test_to_train=ratio, level=level, hidden_variance=hidden_variance
    )
    return DifferenceTest(
        difference=found.value,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        statistic=_ratio(found.value, found.standard_error),
        standard_error=found.standard_error,
        method=method,
        level=level,
        assumption=assumption,
    )


def _ratio(top: float, bottom: float) -> float:
    """0/0 is no evidence: 0."""
    if bottom == 0:
        return 0.0 if top == 0 else math.inf
    return top / bottom


def _checked_values(values: ArrayLike, name: str) -> NDArray[np.float64]:
    checked = np.asarray(values, dtype=float)
    if checked.ndim != 1 or checked.size < 2 or not np.isfinite(checked).all():
        raise InvalidArgumentError(
            f"{name} must be a list of at least two finite numbers; got {values!r}. "
            "Leave out folds that failed."
        )
    return checked

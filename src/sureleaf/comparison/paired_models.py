"""Two models on the same test rows: the tests, and which of them fits a measure."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit

from sureleaf.arguments import FloatArray, IntArray, check_level
from sureleaf.comparison.plain_numbers import (
    THESE_GROUPS,
    THESE_MODELS,
    difference_of_mean,
    mcnemar,
)
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate, corrected_resampled, group_members
from sureleaf.evaluation.measures.named import Measure, Scored
from sureleaf.evaluation.measures.ranking import delong_covariance, delong_interval
from sureleaf.levels.intervals import Interval, normal_reach
from sureleaf.levels.search import halved


def compare_models(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two models on the test set that both were evaluated on.

    Rates of the same rows use McNemar's test, the AUC of two classes DeLong's, and means over
    rows the t test. Everything else, and rows with weights or in groups, use the paired bootstrap.
    """
    cells = [one.slice_of(one.worked[0]) for one in (a, b)]
    first, second = a.scored(cells[0]), b.scored(cells[1])
    groups = None if a.groups is None else a.groups[a.row[cells[0]]]
    valid = _valid_tests(first, second, measure, plain=a.weights is None and groups is None)

    def bootstrap() -> DifferenceTest:
        def statistic(rows: IntArray) -> float:
            return measure.value(first.take(rows)) - measure.value(second.take(rows))

        return bootstrap_difference(statistic, len(first), groups=groups, level=level)

    tests: dict[str, Callable[[], DifferenceTest]] = {
        "mcnemar": lambda: mcnemar(*_discordant(first, second, measure), level=level),
        "mcnemar_exact": lambda: mcnemar(
            *_discordant(first, second, measure), exact=True, level=level
        ),
        "delong": lambda: _delong(first, second, level),
        "t": lambda: _rows_t(first, second, measure, level),
        "bootstrap": bootstrap,
    }
    chosen = valid[0] if method is None else method
    if chosen not in valid:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(valid)} for {measure.name} of two models on the "
            f"same {len(first)} rows; got {method!r}."
        )
    if measure.row_values is not None:
        check_finite_losses(measure.row_values(first), measure.name)
        check_finite_losses(measure.row_values(second), measure.name)
    return tests[chosen]()


def _valid_tests(first: Scored, second: Scored, measure: Measure, *, plain: bool) -> list[str]:
    """Names of the valid tests, the default first."""
    names = []
    if plain and measure.counted is not None:
        # Recall counts among the rows of a class, which are the same for both models. Precision
        # counts among the rows that a model predicts as positive, which differ.
        _, one = measure.counted(first)
        _, other = measure.counted(second)
        if np.array_equal(one, other) and one.any():
            names += ["mcnemar", "mcnemar_exact"]
    if plain and measure.name == "auc" and first.n_classes == 2:
        names.append("delong")
    if plain and measure.row_values is not None and measure.counted is None:
        names.append("t")
    return [*names, "bootstrap"]


def _discordant(first: Scored, second: Scored, measure: Measure) -> tuple[int, int, int]:
    """Return the rows that only the first counts, only the second counts, and all rows."""
    assert measure.counted is not None
    (one, among), (other, _) = measure.counted(first), measure.counted(second)
    return int((one & ~other & among).sum()), int((other & ~one & among).sum()), int(among.sum())


def _delong(first: Scored, second: Scored, level: float) -> DifferenceTest:
    assert first.probabilities is not None
    assert second.probabilities is not None
    return auc_difference(
        first.truth == first.positive,
        first.probabilities[:, first.positive],
        second.probabilities[:, second.positive],
        level=level,
    )


def _rows_t(first: Scored, second: Scored, measure: Measure, level: float) -> DifferenceTest:
    assert measure.row_values is not None
    gaps = measure.row_values(first) - measure.row_values(second)
    mean = corrected_resampled(gaps, level=level)
    return difference_of_mean(mean, "paired t over rows", THESE_MODELS)


def check_finite_losses(values: FloatArray, name: str) -> None:
    """Raise an error for infinite losses, which no test can use."""
    if not np.isfinite(values).all():
        raise InvalidArgumentError(
            f"{name} is infinite: a class that occurred had probability 0. Smooth the "
            "probabilities (leaf_estimate='laplace'), or compare by nce(floor=0.001) or "
            "quadratic_loss."
        )


def auc_difference(
    positive: ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> DifferenceTest:
    """Test the difference of two areas under the ROC curve on the same rows.

    There are at least two rows of each class; higher scores mean a more probable positive class. If
    the variance of the difference is zero (two perfect rankings, constant scores), the interval
    comes from the intervals of both areas [2]_, so that it keeps a width.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric approach.
       Biometrics 44, 837-845.
    .. [2] Newcombe, R. G. (1998). Interval estimation for the difference between independent
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
        standard_error = math.sqrt(variance)
        reach = normal_reach(level) * standard_error
        low, high = difference - reach, difference + reach
        p_value = 2 * float(ndtr(-abs(difference) / standard_error))
        method = "DeLong"
    else:

        def limits(at: float) -> Interval[float]:
            return squared_and_added(
                delong_interval(positive, first, level=at),
                delong_interval(positive, second, level=at),
            )

        low, high = limits(level)
        standard_error, p_value = 0.0, p_by_inversion(limits)
        method = "Newcombe's interval from both AUC intervals, as DeLong's variance is 0"
    return DifferenceTest(
        difference=difference,
        low=max(low, -1.0),
        high=min(high, 1.0),
        p_value=p_value,
        statistic=difference / standard_error if standard_error else 0.0,
        standard_error=standard_error,
        method=method,
        level=level,
        assumption=THESE_MODELS,
    )


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
    members = group_members(n_rows, groups)
    n_units = len(members) if members else n_rows
    if n_units < 2:
        raise InvalidArgumentError(
            f"The bootstrap needs at least two rows (or groups) to draw from; got {n_units}."
        )

    def at(units: NDArray[np.int64]) -> float:
        rows = np.concatenate([members[unit] for unit in units]) if members else units
        return float(statistic(rows))

    generator = np.random.default_rng(random_state)
    value = at(np.arange(n_units))
    drawn = np.array([at(generator.integers(n_units, size=n_units)) for _ in range(n_resamples)])
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
        method="paired bootstrap" + (" of groups" if members else ""),
        level=level,
        assumption=THESE_GROUPS if members else THESE_MODELS,
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

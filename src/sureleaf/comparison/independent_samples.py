"""Two classifiers on independent rows: z tests."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from sureleaf.comparison.paired_models import squared_and_added
from sureleaf.comparison.rates import compare_rates
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation
from sureleaf.evaluation.measures.named import Measure

__all__ = ["compare_independent", "difference_of_estimates"]


INDEPENDENT = "the two sets of rows are independent, as independent=True states"


def compare_independent(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two classifiers on independent rows.

    Rates of single hold-outs use the pooled z with its score interval (``method="z_pooled"``) or
    the unpooled z (``method="z"``). Everything else uses z from the intervals of both evaluations
    (``method="z_intervals"``).
    """
    plain = all(
        one.design.kind == "holdout" and one.weights is None and one.groups is None
        for one in (a, b)
    )
    rates = ["z_pooled", "z"] if plain and measure.counted is not None else []
    valid = [*rates, "z_intervals"]
    chosen = valid[0] if method is None else method
    if chosen not in valid:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(valid)} for {measure.name} on independent rows; "
            f"got {method!r}."
        )
    if chosen == "z_intervals":
        first, second = (one.estimate(measure, level=level) for one in (a, b))
        return difference_of_estimates(first, second, measure.name)
    (count1, n1), (count2, n2) = (_counts(one, measure) for one in (a, b))
    return compare_rates(count1 / n1, n1, count2 / n2, n2, pooled=chosen == "z_pooled", level=level)


def _counts(evaluation: Evaluation, measure: Measure) -> tuple[int, int]:
    assert measure.counted is not None
    cells = evaluation.cells_of(evaluation.main_splits[0])
    counted, among = measure.counted(evaluation.scored(cells))
    if not among.any():
        raise InvalidArgumentError(
            f"{measure.name} of {evaluation.estimator} has no rows to count among. Compare "
            "accuracy, or use a larger test set."
        )
    return int((counted & among).sum()), int(among.sum())


def difference_of_estimates(first: Estimate, second: Estimate, name: str) -> DifferenceTest:
    """Test two estimates from independent rows by their intervals.

    If some or all rows are the same, the two estimates are positively correlated, and the test
    has fewer false positives than its level.

    Examples
    --------
    >>> first = Estimate(0.9, 0.88, 0.92, 0.95, "t")
    >>> test = difference_of_estimates(first, Estimate(0.8, 0.77, 0.83, 0.95, "t"), "accuracy")
    >>> round(test.low, 3), round(test.high, 3)
    (0.064, 0.136)
    """
    ends = [first.low, first.high, second.low, second.high]
    if not np.isfinite(ends).all():
        raise InvalidArgumentError(
            f"{name} has no finite interval in one of the evaluations ({first.method}; "
            f"{second.method}). Compare another measure."
        )
    z = float(ndtri((1 + first.level) / 2))
    # A t interval is wider than z times its standard error, so this overstates the error.
    standard_error = math.hypot(first.high - first.low, second.high - second.low) / (2 * z)
    low, high = squared_and_added(first, second)
    difference = first.value - second.value
    statistic = difference / standard_error if standard_error else 0.0
    return DifferenceTest(
        difference=difference,
        low=low,
        high=high,
        p_value=2 * float(ndtr(-abs(statistic))),
        statistic=statistic,
        standard_error=standard_error,
        method=f"z from both intervals ({first.method})",
        level=first.level,
        assumption=INDEPENDENT,
    )

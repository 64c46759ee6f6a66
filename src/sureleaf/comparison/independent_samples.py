"""Two classifiers judged on rows that have nothing in common: z."""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from sureleaf.comparison.paired import squared_and_added
from sureleaf.comparison.rates import compare_rates
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation
from sureleaf.evaluation.measures.named import Measure

__all__ = ["compare_independent", "difference_of_estimates"]


INDEPENDENT = "the two sets of rows are independent, as independent=True claims"


def compare_independent(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two classifiers on independent rows.

    Rates of single hold-outs by the pooled z with its score interval (``method="z_pooled"``) or by
    the lecture's unpooled z (``method="z"``); all else by z from the intervals of both
    evaluations (``method="z_intervals"``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import Holdout, evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> a, b = (
    ...     evaluate(model, X, y, design=Holdout(), random_state=0)
    ...     for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> compare_independent(a, b, NAMED["accuracy"], 0.95, None).method
    'z, pooled, with score interval'
    """
    plain = all(
        judged.design.kind == "holdout" and judged.weights is None and judged.groups is None
        for judged in (a, b)
    )
    rates = ["z_pooled", "z"] if plain and measure.counted is not None else []
    open_to = [*rates, "z_intervals"]
    chosen = open_to[0] if method is None else method
    if chosen not in open_to:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(open_to)} for {measure.name} on independent rows; "
            f"got {method!r}."
        )
    if chosen == "z_intervals":
        first, second = (judged.estimate(measure, level=level) for judged in (a, b))
        return difference_of_estimates(first, second, measure.name)
    (hits, n), (other_hits, other_n) = (_counted(judged, measure) for judged in (a, b))
    return compare_rates(
        hits / n, n, other_hits / other_n, other_n, pooled=chosen == "z_pooled", level=level
    )


def _counted(judged: Evaluation, measure: Measure) -> tuple[int, int]:
    assert measure.counted is not None
    hits, among = measure.counted(judged.scored(judged.cells_of(judged.main_splits[0])))
    if not among.any():
        raise InvalidArgumentError(
            f"{measure.name} of {judged.estimator} has no rows to count among. Compare accuracy, "
            "or use a larger test set."
        )
    return int((hits & among).sum()), int(among.sum())


def difference_of_estimates(first: Estimate, second: Estimate, name: str) -> DifferenceTest:
    """Test two estimates of independent rows by their intervals.

    Where the rows are not independent but the same or in part the same, the two go up and down
    together, and the test errs on the cautious side.

    Examples
    --------
    >>> first = Estimate(0.9, 0.88, 0.92, 0.95, "t")
    >>> found = difference_of_estimates(first, Estimate(0.8, 0.77, 0.83, 0.95, "t"), "accuracy")
    >>> round(found.low, 3), round(found.high, 3)
    (0.064, 0.136)
    """
    ends = [first.low, first.high, second.low, second.high]
    if not np.isfinite(ends).all():
        raise InvalidArgumentError(
            f"{name} has no finite interval in one of the evaluations ({first.method}; "
            f"{second.method}). Compare another measure."
        )
    z = float(ndtri((1 + first.level) / 2))
    # A t interval is wider than z times its standard error: that errs on the cautious side.
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

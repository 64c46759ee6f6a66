"""Two algorithms on the same splits, whose differences are not independent."""

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from sureleaf.arguments import FloatArray
from sureleaf.comparison.paired_models import check_finite_losses
from sureleaf.comparison.t_tests import CORRELATED, SHARED_ROWS, difference_of_mean, five_by_two_f
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Evaluation, KFold
from sureleaf.evaluation.boundary_variance import row_influences
from sureleaf.evaluation.intervals import corrected_resampled
from sureleaf.evaluation.intervals.resamples import MIN_DEGREES, splits_of_one_round
from sureleaf.evaluation.measures.named import Measure
from sureleaf.evaluation.valid_intervals import (
    has_one_round,
    is_pooled,
    prevalence_slopes,
    prevalence_variance,
    values_of_splits,
)
from sureleaf.levels.search import smallest_count

__all__ = [
    "compare_algorithms",
    "degrees_of_repeats",
    "repeats_until",
]


def compare_algorithms(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two algorithms by the differences of the splits in which both worked.

    The default is the corrected resampled t. ``method="paired_t"`` is the uncorrected paired t,
    ``method="5x2cv_f"`` Alpaydın's F for ``KFold(2, repeats=5)``.
    """
    five_by_two = isinstance(a.design, KFold) and (a.design.n_splits, a.design.repeats) == (2, 5)
    valid = ["corrected_t", "paired_t", *(["5x2cv_f"] if five_by_two else [])]
    chosen = "corrected_t" if method is None else method
    if chosen not in valid:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(valid)} for two algorithms by "
            f"{type(a.design).__name__} ('5x2cv_f' needs KFold(2, repeats=5)); got {method!r}."
        )
    gaps = _differences(a, b, measure)
    if chosen == "5x2cv_f":
        if gaps.size != 10:
            raise InvalidArgumentError(
                f"method '5x2cv_f' needs {measure.name} in all ten folds of both; got "
                f"{gaps.size}. Leave out method= to use the corrected resampled t of these folds."
            )
        hidden = _hidden_variance(a, b, measure)
        return five_by_two_f(gaps.reshape(5, 2), level=level, hidden_variance=hidden)
    if chosen == "paired_t":
        mean = corrected_resampled(gaps, level=level)
        return difference_of_mean(mean, "paired t, uncorrected", SHARED_ROWS)
    mean = corrected_resampled(
        gaps,
        test_to_train=a.test_to_train,
        level=level,
        hidden_variance=_hidden_variance(a, b, measure),
        least_variance=_least_variance(a, b, measure),
        one_round=has_one_round(measure, a.design.kind, a.design.resample),
        degrees_of_one_round=measure.row_values is None,
    )
    test = difference_of_mean(mean, f"corrected resampled t over {gaps.size} splits", CORRELATED)
    return replace(test, over_splits=mean.variance)


def _hidden_variance(a: Evaluation, b: Evaluation, measure: Measure) -> float:
    """Return the variance of the difference that stratified splits cannot show.

    All stratified splits have the class proportions of the table, which are themselves a sample.
    """
    return prevalence_variance(a, prevalence_slopes(a, measure) - prevalence_slopes(b, measure))


def _least_variance(a: Evaluation, b: Evaluation, measure: Measure) -> float:
    """Return the variance of the difference from the rows, with the boundaries fitted to them.

    It is 0 if the boundary of one of the two is not known; see `row_influences`.
    """
    first, second = row_influences(a, measure), row_influences(b, measure)
    return 0.0 if first is None or second is None else (first - second).variance


def _differences(a: Evaluation, b: Evaluation, measure: Measure) -> FloatArray:
    """Return first minus second, in the splits where both worked and the measure is defined.

    Ratios of counts (precision, F) are pooled over the splits, as `Evaluation.estimate` does.
    """
    if a.design.kind == "leave one out" and measure.row_values is None and a.groups is None:
        raise InvalidArgumentError(
            f"{measure.name} is not defined for a test part of one row (leave-one-out). Use KFold."
        )
    one, other = (
        dict(zip(evaluation.main_splits, evaluation.split_values(measure), strict=True))
        for evaluation in (a, b)
    )
    worked = [i for i in one if i in other]
    both = [i for i in worked if not np.isnan(one[i] + other[i])]
    first, second = np.array([one[i] for i in both]), np.array([other[i] for i in both])
    check_finite_losses(np.concatenate([first, second]), measure.name)
    if len(both) < 2:
        raise InvalidArgumentError(
            f"{measure.name} is defined for both in {len(both)} of {len(a.splits)} splits; two "
            "are needed. Use a design with more splits, or fewer folds of more rows."
        )
    common = worked if is_pooled(measure) else both
    first, second = (values_of_splits(one, measure, common) for one in (a, b))
    gaps: FloatArray = first - second
    return gaps


def degrees_of_repeats(evaluation: Evaluation) -> float:
    """Return the degrees of freedom that no number of repeats exceeds, those of one round."""
    in_a_round = splits_of_one_round(math.inf, evaluation.test_to_train)
    return max(round(in_a_round) - 1, MIN_DEGREES)


def repeats_until(
    test: DifferenceTest,
    evaluation: Evaluation,
    half_width: float,
    most_degrees: float = math.inf,
) -> int | None:
    """Return the repeats until the corrected interval has this half-width; None if never.

    More repeats reduce the variance from the choice of folds, not the variance from the rows. So
    it falls towards that of infinitely many splits (`SplitVariance.of_mean`). The degrees of
    freedom stay within ``most_degrees``. Models that never differ have an interval from the number
    of rows alone, which no repeats shorten.
    """
    design, over_splits = evaluation.design, test.over_splits
    if over_splits is None or not hasattr(design, "repeats"):
        return None
    per_repeat = max(1, len(evaluation.main_splits) // design.repeats)
    tail = (1 + test.level) / 2

    def reach(splits: float) -> float:
        degrees = min(splits - 1, most_degrees)
        quantile = float(stdtrit(degrees, tail) if degrees < math.inf else ndtri(tail))
        return quantile * math.sqrt(over_splits.of_mean(splits))

    if reach(math.inf) >= half_width:
        return None

    def enough(repeats: int) -> bool:
        splits = repeats * per_repeat
        return splits >= 2 and reach(splits) <= half_width

    repeats = smallest_count(enough)
    return repeats if repeats > design.repeats else None

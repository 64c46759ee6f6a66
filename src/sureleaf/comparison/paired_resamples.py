"""Two algorithms judged by the same splits, whose differences are not independent."""

import numpy as np

from sureleaf.arguments import FloatArray
from sureleaf.comparison.paired_models import finite_losses
from sureleaf.comparison.planning import smallest_count
from sureleaf.comparison.t_tests import CORRELATED, SHARED_ROWS, five_by_two_f, t_of_mean
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Evaluation, KFold
from sureleaf.evaluation.estimates import figures_of_splits, is_pooled
from sureleaf.evaluation.intervals.resamples import variance_of_mean
from sureleaf.evaluation.measures.named import Measure
from sureleaf.evaluation.prevalence_variance import share_slopes, share_variance

__all__ = ["compare_algorithms", "hidden_variance", "repeats_until"]


def compare_algorithms(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two algorithms by the differences of the splits that both came through.

    The corrected resampled t unless asked otherwise: ``method="paired_t"`` is the lecture's,
    ``method="5x2cv_f"`` Alpaydın's for ``KFold(2, repeats=5)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> a, b = (
    ...     evaluate(model, X, y, design=KFold(5), random_state=0)
    ...     for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> compare_algorithms(a, b, NAMED["accuracy"], 0.95, None).method
    'corrected resampled t over 5 splits'
    """
    five_by_two = isinstance(a.design, KFold) and (a.design.n_splits, a.design.repeats) == (2, 5)
    open_to = ["corrected_t", "paired_t", *(["5x2cv_f"] if five_by_two else [])]
    chosen = "corrected_t" if method is None else method
    if chosen not in open_to:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(open_to)} for two algorithms by "
            f"{type(a.design).__name__} ('5x2cv_f' needs KFold(2, repeats=5)); got {method!r}."
        )
    gaps = _differences(a, b, measure)
    if chosen == "5x2cv_f":
        if gaps.size != 10:
            raise InvalidArgumentError(
                f"method '5x2cv_f' needs {measure.name} in all ten folds of both; got "
                f"{gaps.size}. Leave method out for the corrected resampled t of those there are."
            )
        hidden = hidden_variance(a, b, measure)
        return five_by_two_f(gaps.reshape(5, 2), level=level, hidden_variance=hidden)
    if chosen == "paired_t":
        return t_of_mean(gaps, 0.0, level, "paired t, uncorrected", SHARED_ROWS)
    return t_of_mean(
        gaps,
        a.test_to_train,
        level,
        f"corrected resampled t over {gaps.size} splits",
        CORRELATED,
        hidden_variance(a, b, measure),
    )


def hidden_variance(a: Evaluation, b: Evaluation, measure: Measure) -> float:
    """Variance of the difference that stratified splits hide, by the shares of the classes.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = np.zeros((40, 1)), np.arange(40) % 2
    >>> a, b = (
    ...     evaluate(DummyClassifier(strategy="constant", constant=k), X, y, random_state=0)
    ...     for k in (0, 1)
    ... )
    >>> round(hidden_variance(a, b, NAMED["accuracy"]), 3)  # of a mean of 40 differences of 1
    0.025
    """
    return share_variance(a, share_slopes(a, measure) - share_slopes(b, measure))


def _differences(a: Evaluation, b: Evaluation, measure: Measure) -> FloatArray:
    """First minus second, for the splits in which both worked and the measure is defined.

    Ratios of counts (precision, F) are pooled over the splits, as `Evaluation.estimate` does.
    """
    if a.design.kind == "leave one out" and measure.row_values is None and a.groups is None:
        raise InvalidArgumentError(
            f"{measure.name} is not defined for one row, and leave-one-out tests on one. Use KFold."
        )
    one, other = (
        dict(zip(judged.main_splits, judged.split_values(measure), strict=True))
        for judged in (a, b)
    )
    worked = [i for i in one if i in other]
    both = [i for i in worked if not np.isnan(one[i] + other[i])]
    first, second = np.array([one[i] for i in both]), np.array([other[i] for i in both])
    finite_losses(np.concatenate([first, second]), measure.name)
    if len(both) < 2:
        raise InvalidArgumentError(
            f"{measure.name} is defined for both in {len(both)} of {len(a.splits)} splits; two "
            "are needed. Use a design with more splits, or fewer folds of more rows."
        )
    if is_pooled(measure):
        first, second = (figures_of_splits(judged, measure, worked) for judged in (a, b))
    gaps: FloatArray = first - second
    return gaps


def repeats_until(
    test: DifferenceTest, judged: Evaluation, half_width: float, hidden: float = 0.0
) -> int | None:
    """Repeats of the design until the corrected interval is that narrow; None if never.

    More repeats take away the chance of the partition, not that of the rows: the variance falls
    towards that of `variance_of_mean` for endless splits, never below.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> a, b = (
    ...     evaluate(model, X, y, design=KFold(5), random_state=0)
    ...     for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> test = compare_algorithms(a, b, NAMED["accuracy"], 0.95, None)
    >>> half_width = (test.high - test.low) / 2
    >>> repeats_until(test, a, 0.8 * half_width), repeats_until(test, a, 0.1 * half_width)
    (2, None)
    """
    design = judged.design
    if not test.method.startswith("corrected") or not hasattr(design, "repeats"):
        return None
    from scipy.special import ndtri, stdtrit

    n_splits = len(judged.main_splits)
    per_repeat = max(1, n_splits // design.repeats)
    ratio = judged.test_to_train
    spread = _spread(test.standard_error**2, n_splits, ratio, hidden)
    tail = (1 + test.level) / 2
    if ndtri(tail) * np.sqrt(variance_of_mean(spread, np.inf, ratio, hidden)) >= half_width:
        return None

    def enough(repeats: int) -> bool:
        splits = repeats * per_repeat
        if splits < 2:
            return False
        quantile = stdtrit(splits - 1, tail)
        error = np.sqrt(variance_of_mean(spread, splits, ratio, hidden))
        return bool(quantile * error <= half_width)

    return smallest_count(enough)


def _spread(variance: float, n_splits: int, ratio: float, hidden: float) -> float:
    """Solve `variance_of_mean` for the spread of the splits."""
    corrected = variance / (1 / n_splits + ratio)
    if variance_of_mean(corrected, n_splits, ratio, hidden) <= variance * (1 + 1e-9):
        return corrected
    return max(variance - hidden, 0.0) * (1 + ratio) / ratio

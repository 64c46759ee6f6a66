"""`compare`: choose the test that is valid for the design, and draw the verdict."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from sureleaf.arguments import FloatArray, IntArray, check_level, check_number
from sureleaf.comparison.plain_numbers import (
    CORRELATED,
    SHARED_ROWS,
    THESE_MODELS,
    auc_difference,
    bootstrap_difference,
    compare_rates,
    difference_of_mean,
    mcnemar,
    squared_and_added,
)
from sureleaf.comparison.verdict import (
    Comparison,
    DifferenceTest,
    conclude,
    deciding_half_width,
    detecting_half_width,
    sentence,
)
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import (
    MIN_DEGREES,
    Estimate,
    corrected_resampled,
    splits_of_one_round,
)
from sureleaf.evaluation.measures.named import Measure, Scored
from sureleaf.evaluation.valid_intervals import (
    NO_WIDTH,
    bound_without_spread,
    has_one_round,
    is_pooled,
    mean_over_splits,
    needs_larger_parts,
    values_of_splits,
)
from sureleaf.levels.decisions import mean_error_cost
from sureleaf.levels.intervals import normal_reach
from sureleaf.levels.search import smallest_count


class IncomparableError(InvalidArgumentError):
    """Two evaluations cannot be compared; ``reason`` is the end of the sentence about them."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"a and b {reason}")
        self.reason = reason


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    measure: str | Measure = "accuracy",
    margin: float = 0.0,
    level: float = 0.95,
    independent: bool = False,
    detect: float | None = None,
    method: str | None = None,
) -> Comparison:
    """Compare two classifiers by the test that is valid for their design.

    With one hold-out and the same test rows, the question is which of the two *models* is better
    (McNemar for rates, DeLong for the AUC, t or the paired bootstrap otherwise). With the same
    folds, repeats or bootstrap samples, it is which *algorithm* is better (corrected resampled t).
    Evaluations on different rows raise an error, unless these are independent (z).

    Parameters
    ----------
    a, b : Evaluation
        Of the same rows, design and random_state. Rows are recognised by their labels
        (`Evaluation.rows_id`), so the columns may differ.
    margin : float
        Differences up to this size do not matter: "better" and "worse" mean by more than the
        margin, and "equivalent" within it.
    level : float
        Level of the interval; a verdict is wrong with a probability of at most 1 - level.
    independent : bool
        Whether the two were evaluated on separate tables, without common rows.
    detect : float, optional
        The true difference that ``rows_needed`` is planned for, with a power of 80 %. With a
        margin, it is by default the observed difference. Without a margin, it is .01 for measures
        between 0 and 1, 1 % of what a wrong decision costs on average for costs, and 1 % of the
        second value for others.
    method : str, optional
        Another test: "mcnemar_exact" or "bootstrap" for models; "paired_t" (which has too many
        false positives) for algorithms; "z_pooled", "z" (unpooled) or "z_intervals" for
        independent rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bayes, most_frequent = (
    ...     evaluate(model, X, y, random_state=0) for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> comparison = compare(bayes, most_frequent)
    >>> comparison.verdict, comparison.method
    ('better', 'corrected resampled t over 10 splits')
    """
    check_level(level)
    check_number("margin", margin, low=0)
    if detect is not None:
        check_number("detect", detect, low=0, open_low=True)
    measure = _common_measure(a, b, measure)
    question, test = _valid_test(a, b, measure, level, method, independent)
    test = _with_width(test, a, measure)
    tables = (a, b) if independent else (a,)
    table_rows = sum(len(one.truth) for one in tables)
    # Rows of the test set for models, of the table for algorithms.
    used = sum(len(one.row) for one in tables) if question == "model" else table_rows
    first, second = (
        float(np.nanmean(values_of_splits(one, measure, list(one.worked)))) for one in (a, b)
    )
    origin = ""
    if detect is None and margin == 0:
        detect, origin = _default_detect(b, measure, second)
    comparison = conclude(
        test,
        measure,
        question=question,
        values=(first, second),
        n_rows=(used, table_rows),
        margin=margin,
        detect=detect,
    )
    if test.over_splits is not None:
        comparison = replace(comparison, repeats_needed=repeats_until(comparison, a, measure))
    text = sentence(comparison, a.estimator, b.estimator, detect_origin=origin)
    return replace(comparison, sentence=text)


def _default_detect(evaluation: Evaluation, measure: Measure, value: float) -> tuple[float, str]:
    """Return the difference that rows are planned for, and what it is, if that is not obvious."""
    if np.isfinite([measure.low, measure.high]).all():
        return 0.01, ""
    cost = evaluation.cost_matrix
    if measure.needs_cost and cost is not None:
        counts = np.bincount(evaluation.truth, evaluation.weights, minlength=len(cost))
        mean = mean_error_cost(cost, counts)
        if mean > 0:
            return 0.01 * mean, "1 % of what a wrong decision costs on average"
    return 0.01 * abs(value), "1 % of the second value"


def _common_measure(a: Evaluation, b: Evaluation, measure: str | Measure) -> Measure:
    for name, given in (("a", a), ("b", b)):
        if not isinstance(given, Evaluation):
            raise InvalidTypeError(
                f"{name} must be an Evaluation, as sureleaf.evaluate returns it; "
                f"got {type(given).__name__}. For plain numbers use compare_rates or paired_t."
            )
    common = a.find(measure)
    b.find(measure)
    if a.classes.tolist() != b.classes.tolist() or a.positive_code != b.positive_code:
        raise IncomparableError(
            "must have the same classes and positive class; got "
            f"{a.classes.tolist()} with {a.positive!r} and {b.classes.tolist()} with "
            f"{b.positive!r}. Give positive= to both evaluations."
        )
    return common


def _valid_test(
    a: Evaluation,
    b: Evaluation,
    measure: Measure,
    level: float,
    method: str | None,
    independent: bool,
) -> tuple[str, DifferenceTest]:
    one_holdout = a.design.kind == b.design.kind == "holdout"
    if independent:
        question = "model" if one_holdout else "algorithm"
        return question, compare_independent(a, b, measure, level, method)
    _check_same_rows(a, b, measure)
    if one_holdout:
        if not np.array_equal(a.row, b.row):
            raise IncomparableError(
                "were tested on different rows of the same table, so they cannot be "
                "paired. Evaluate both with the same design and random_state."
            )
        return "model", compare_models(a, b, measure, level, method)
    if a.splits_id != b.splits_id:
        raise IncomparableError(
            f"were evaluated on different splits ({a.design} with seed {a.seed} and {b.design} "
            f"with seed {b.seed}), so their splits cannot be paired. Evaluate both with the same "
            "design and random_state."
        )
    return "algorithm", compare_algorithms(a, b, measure, level, method)


def _check_same_rows(a: Evaluation, b: Evaluation, measure: Measure) -> None:
    if a.rows_id != b.rows_id:
        raise IncomparableError(
            f"were evaluated on different rows ({len(a.truth)} and {len(b.truth)}, with "
            "different labels), so their results cannot be paired. Evaluate both on the same "
            "table, or give independent=True if the two tables have no row in common."
        )
    pairs = {"sample_weight": (a.weights, b.weights), "groups": (a.groups, b.groups)}
    if measure.needs_cost:
        pairs["costs"] = (a.cost_matrix, b.cost_matrix)
    for name, (one, other) in pairs.items():
        if not np.array_equal(np.array(one), np.array(other)):  # also None, unlike any array
            raise IncomparableError(
                f"were evaluated with different {name}. Give both evaluations the same."
            )


def _with_width(test: DifferenceTest, a: Evaluation, measure: Measure) -> DifferenceTest:
    """Give a width to the interval of a difference that was the same in every row.

    Another difference never occurred in n rows, so it may occur in a share of them up to Clopper
    and Pearson's bound, 1 - (alpha / 2)^(1 / n). The p-value is the alpha whose interval ends at 0.
    """
    if test.high - test.low > NO_WIDTH:
        return test
    n, bound, span = bound_without_spread(a, measure, test.level)
    size = abs(test.difference)
    span = max(span, size)
    near, far = bound * (span - size), bound * (span + size)
    below, above = (far, near) if test.difference > 0 else (near, far)
    reason = "the difference never varied" if size > 0 else "the two never differed"
    units = "rows" if a.groups is None else "groups"
    count = f"{n:,.0f}" if n >= 1000 else f"{n:.4g}"
    return replace(
        test,
        low=test.difference - below,
        high=test.difference + above,
        p_value=min(2 * (span / (span + size)) ** n, 1.0) if size > 0 else 1.0,
        method=f"{test.method}; {reason}, so Clopper-Pearson's bound of 0 in {count} {units}",
        over_splits=None,
        method_counts_rows=True,
    )


Tests = dict[str, Callable[[], DifferenceTest]]
"""The valid tests by the names of their methods, the default first."""


def _check_method(method: str | None, valid: Iterable[str], what: str) -> str:
    """Return the method, by default the first of the valid ones."""
    names = list(valid)
    if method is not None and method not in names:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(names)} for {what}; got {method!r}."
        )
    return method or names[0]


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
    is_plain = a.weights is None and groups is None
    tests = _tests_of_plain_rows(first, second, measure, level) if is_plain else {}

    def gap(rows: IntArray) -> float:
        return measure.value(first.take(rows)) - measure.value(second.take(rows))

    tests["bootstrap"] = partial(bootstrap_difference, gap, len(first), groups=groups, level=level)
    what = f"{measure.name} of two models on the same {len(first)} rows"
    chosen = _check_method(method, tests, what)
    if measure.row_values is not None:
        check_finite_losses(measure.row_values(first), measure.name)
        check_finite_losses(measure.row_values(second), measure.name)
    return tests[chosen]()


def _tests_of_plain_rows(first: Scored, second: Scored, measure: Measure, level: float) -> Tests:
    """Return the tests of rows without weights and groups, besides the bootstrap."""
    row_values = measure.row_values
    if measure.counted is not None:
        (one, among), (other, among_other) = measure.counted(first), measure.counted(second)
        # Recall counts among the rows of a class, which are the same for both models. Precision
        # counts among the rows that a model predicts as positive, which differ.
        if not np.array_equal(among, among_other) or not among.any():
            return {}
        counts = [int((each & among).sum()) for each in (one & ~other, other & ~one, among)]
        test = partial(mcnemar, *counts, level=level)
        return {"mcnemar": test, "mcnemar_exact": partial(test, exact=True)}
    if measure.name == "auc" and first.n_classes == 2:
        assert first.probabilities is not None
        assert second.probabilities is not None
        code = first.positive
        scores = first.probabilities[:, code], second.probabilities[:, code]
        return {"delong": partial(auc_difference, first.truth == code, *scores, level=level)}
    if row_values is None:
        return {}

    def paired_rows_t() -> DifferenceTest:
        mean = corrected_resampled(row_values(first) - row_values(second), level=level)
        return difference_of_mean(mean, "paired t over rows", THESE_MODELS)

    return {"t": paired_rows_t}


def check_finite_losses(values: FloatArray, name: str) -> None:
    """Raise an error for infinite losses, which no test can use."""
    if not np.isfinite(values).all():
        raise InvalidArgumentError(
            f"{name} is infinite: a class that occurred had probability 0. Smooth the "
            "probabilities (leaf_estimate='laplace'), or compare by nce(floor=0.001) or "
            "quadratic_loss."
        )


INDEPENDENT = "the two sets of rows are independent, as independent=True states"


def compare_independent(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two classifiers on independent rows.

    Rates of single hold-outs use the pooled z with its score interval (``method="z_pooled"``) or
    the unpooled z (``method="z"``). Everything else uses z from the intervals of both evaluations
    (``method="z_intervals"``).
    """

    def of_intervals() -> DifferenceTest:
        first, second = (one.estimate(measure, level=level) for one in (a, b))
        return difference_of_estimates(first, second, measure.name)

    tests: Tests = {"z_intervals": of_intervals}
    if measure.counted is not None and all(
        one.design.kind == "holdout" and one.weights is None and one.groups is None
        for one in (a, b)
    ):

        def of_rates(*, pooled: bool) -> DifferenceTest:
            first, second = (_rate(one, measure) for one in (a, b))
            return compare_rates(*first, *second, pooled=pooled, level=level)

        by_name = {"z_pooled": partial(of_rates, pooled=True), "z": partial(of_rates, pooled=False)}
        tests = by_name | tests
    return tests[_check_method(method, tests, f"{measure.name} on independent rows")]()


def _rate(evaluation: Evaluation, measure: Measure) -> tuple[float, int]:
    """Return the rate on the test rows of a hold-out, and the rows that it is counted among."""
    assert measure.counted is not None
    cells = evaluation.slice_of(evaluation.worked[0])
    counted, among = measure.counted(evaluation.scored(cells))
    if not among.any():
        raise InvalidArgumentError(
            f"{measure.name} of {evaluation.estimator} has no rows to count among. Compare "
            "accuracy, or use a larger test set."
        )
    n = int(among.sum())
    return int((counted & among).sum()) / n, n


def difference_of_estimates(first: Estimate, second: Estimate, name: str) -> DifferenceTest:
    """Test two estimates from independent rows by their intervals.

    If some or all rows are the same, the two estimates are positively correlated, and the test has
    fewer false positives than its level.
    """
    numbers = [number for one in (first, second) for number in (one.value, one.low, one.high)]
    if not np.isfinite(numbers).all():
        raise InvalidArgumentError(
            f"{name} has no finite value and interval in one of the evaluations ({first.method}; "
            f"{second.method}). Compare another measure."
        )
    z = normal_reach(first.level)
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


def compare_algorithms(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two algorithms by the differences of the splits where both have the measure.

    The default is the corrected resampled t. ``method="paired_t"`` is the uncorrected paired t.
    """
    what = f"two algorithms by {type(a.design).__name__}"
    chosen = _check_method(method, ("corrected_t", "paired_t"), what)
    if needs_larger_parts(a, measure):
        raise InvalidArgumentError(
            f"{measure.name} is not defined for a test part of one row (leave-one-out). Use KFold."
        )
    one, other = (dict(zip(e.worked, e.split_values(measure), strict=True)) for e in (a, b))
    worked = [i for i in one if i in other]
    both = [i for i in worked if not np.isnan(one[i] + other[i])]
    check_finite_losses(np.array([each[i] for each in (one, other) for i in both]), measure.name)
    if len(both) < 2:
        raise InvalidArgumentError(
            f"{measure.name} is defined for both in {len(both)} of {len(a.splits)} splits; two "
            "are needed. Use a design with more splits, or fewer folds of more rows."
        )
    # Ratios of counts (precision, F) are pooled over the splits, as `Evaluation.estimate` does.
    common = worked if is_pooled(measure) else both
    gaps = values_of_splits(a, measure, common) - values_of_splits(b, measure, common)
    if chosen == "paired_t":
        mean = corrected_resampled(gaps, level=level)
        return difference_of_mean(mean, "paired t, uncorrected", SHARED_ROWS)
    mean = mean_over_splits(gaps, measure, level, a, b)
    test = difference_of_mean(mean, f"corrected resampled t over {gaps.size} splits", CORRELATED)
    return replace(test, over_splits=mean.variance)


def repeats_until(comparison: Comparison, evaluation: Evaluation, measure: Measure) -> int | None:
    """Return the repeats until the corrected interval decides; None if no number of them does.

    More repeats reduce the variance from the choice of folds, not the variance from the rows. So
    it falls towards that of infinitely many splits (`SplitVariance.of_mean`). The degrees of
    freedom of a measure that is not a mean over rows stay those of one round.
    """
    design, over_splits = evaluation.design, comparison.over_splits
    one_round = has_one_round(measure, design.kind, design.resample)
    if over_splits is None or one_round or not hasattr(design, "repeats"):
        return None
    half_width = (
        deciding_half_width(comparison.detect, comparison.margin, comparison)
        if comparison.margin > 0
        else detecting_half_width(comparison.detect, comparison.level)
    )
    most_degrees = math.inf
    if measure.row_values is None:
        in_a_round = splits_of_one_round(math.inf, evaluation.test_to_train)
        most_degrees = max(round(in_a_round) - 1, MIN_DEGREES)
    per_repeat = max(1, len(evaluation.worked) // design.repeats)
    tail = (1 + comparison.level) / 2

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

"""The interval of a measure that is valid for the design and the question."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from sureleaf.arguments import FloatArray, IntArray, check_choice, check_level, row_weights
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.boundary_variance import (
    plausible_range,
    row_influences,
    variance_of_influences,
)
from sureleaf.evaluation.intervals import (
    Estimate,
    MeanOverSplits,
    bootstrap_counts,
    bootstrap_interval,
    bootstrap_mean,
    corrected_resampled,
    out_of_bag_mean,
)
from sureleaf.evaluation.measures.named import NAMED, Measure, Scored
from sureleaf.evaluation.measures.ranking import delong_interval, delong_one_vs_rest
from sureleaf.evaluation.measures.rates import ratio
from sureleaf.levels.intervals import Interval, clopper_pearson, normal_reach
from sureleaf.random_streams import INTERVAL, generator

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation


def is_pooled(measure: Measure) -> bool:
    """Return whether the measure is a ratio of counts that differ between splits.

    It is computed from the counts of all splits together. A fold with one positive row has a recall
    of 0 or 1, so the mean over folds is biased if counts are small; the sum of the counts is not.
    The contribution of a split follows from leaving it out (the jackknife).

    References
    ----------
    .. [1] Forman, G. and Scholz, M. (2010). Apples-to-apples in cross-validation studies: pitfalls
       in classifier performance measurement. ACM SIGKDD Explorations 12, 49-57.
    """
    return measure.row_values is None and bool(measure.counted or measure.of_counts)


def has_one_round(measure: Measure, kind: str, resample: str = "none") -> bool:
    """Return whether repeats leave the interval as wide as one round of splits.

    They do so for measures that move with the decision boundary. For an AUC they do only over
    hold-outs, whose training parts are smaller. A loss moves with the model, too, if the model is
    fitted to balanced classes: it minimises another loss than that of the table.
    """
    if is_pooled(measure) or (measure.row_values is None and kind == "repeated holdout"):
        return True
    return measure.row_values is not None and resample != "none"


UNSTABLE = 0.15
"""Share of the variance of losses between repeats, above which a learner is called unstable.

Logistic regression and naive Bayes stay below it, trees are above it.
"""


def share_between_repeats(evaluation: "Evaluation", measure: Measure) -> float:
    """Return the share of the variance of the losses that is between repeats of the same row.

    A learner whose predictions for a row change with a tenth of its training rows varies from table
    to table by more than rows and splits show. It is 0 for measures that are not means over rows,
    and for a single round of splits.
    """
    if measure.row_values is None:
        return 0.0
    rows, values = evaluation.row, measure.row_values(evaluation.scored())
    times = np.bincount(rows, minlength=len(evaluation.truth))
    if times.max() < 2 or not np.isfinite(values).all():
        return 0.0
    means = np.bincount(rows, values, minlength=len(times)) / np.maximum(times, 1)
    again = times[rows] > 1
    within = np.square(values - means[rows])[again].sum() / (times[times > 1] - 1).sum()
    whole = float(values.var())
    return float(within) / whole if whole > NO_WIDTH else 0.0


def values_of_splits(evaluation: "Evaluation", measure: Measure, splits: list[int]) -> FloatArray:
    """Return a value per split whose mean is the value of the design.

    For a ratio of counts, the mean is the ratio of all counts together, and a split deviates from
    it like its pseudo-value: J times the total minus J - 1 times the rest. For a mean over rows,
    the mean is that of all rows, also if splits have more and fewer of them. Other measures have
    their value on the rows of the split, NaN where undefined.
    """
    parts = [evaluation.scored(evaluation.slice_of(i)) for i in splits]
    if not is_pooled(measure):
        own = np.array([measure.of_split(rows) for rows in parts])
        if measure.row_values is None:
            return own
        return _weighted_by_size(own, np.array([rows.row_weights.sum() for rows in parts]))
    count, figure = _counting(measure, evaluation.positive_code)
    tables = np.array([count(rows) for rows in parts], dtype=np.float64)
    total, n = tables.sum(axis=0), len(tables)
    whole = figure(total)
    if n == 1:
        return np.array([whole])
    rests = np.array([figure(np.maximum(total - table, 0.0)) for table in tables])
    return np.asarray(whole - (n - 1) * (rests - rests.mean()))


def _weighted_by_size(values: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return values whose mean is the mean of all rows, and that deviate from it as these do."""
    known = sizes[~np.isnan(values)]
    if len(known) < 2 or np.ptp(known) == 0 or np.isinf(values).any():
        return values
    mean = np.nansum(values * sizes) / known.sum()
    return np.asarray(mean + sizes / known.mean() * (values - mean))


def _counting(
    measure: Measure, positive: int
) -> tuple[Callable[[Scored], FloatArray], Callable[[FloatArray], float]]:
    """Return how rows are counted for the measure, and its value for such counts."""
    of_counts, counted = measure.of_counts, measure.counted
    if of_counts is not None:
        return Scored.counts, lambda table: of_counts(table, positive)

    def count(rows: Scored) -> FloatArray:
        chosen, among = counted(rows)  # type: ignore[misc]
        weights = rows.row_weights
        return np.array([weights @ (chosen & among), weights @ among])

    return count, lambda table: ratio(float(table[0]), float(table[1]))


OF_MODELS = ("holdout", "folds", "leave one out")


def estimate(
    evaluation: "Evaluation", measure: Measure, *, level: float, of: str | None
) -> Estimate:
    """Return the measure with the interval that is valid for the design and the question."""
    check_level(level)
    kind = evaluation.design.kind
    if of is None:
        of = "model" if kind == "holdout" else "algorithm"
    check_choice("of", of, ("model", "algorithm"))
    measure = _by_decisions(evaluation, measure)
    question = _of_model if of == "model" else _of_algorithm
    result = _with_width(question(evaluation, measure, level), evaluation, measure)
    failed = len(evaluation.failures)
    note = f"; {measure.note}" if measure.note else ""
    note += f"; {failed} of {len(evaluation.splits)} splits failed" if failed else ""
    return replace(
        result,
        value=min(max(result.value, measure.low), measure.high),  # rounding may exceed 1
        low=max(result.low, measure.low),
        high=min(result.high, measure.high),
        method=result.method + note,
    )


def _by_decisions(evaluation: "Evaluation", measure: Measure) -> Measure:
    """Return the error rate for a 0/1 loss of probabilities that is the same for every row.

    They differ where a decision is not for the most probable class: at costs, or in a tie.
    """
    if not (measure.counted and measure.needs_probabilities):
        return measure
    rows, error = evaluation.scored(), NAMED["error"]
    is_same = np.array_equal(measure.counted(rows), error.counted(rows))  # type: ignore[misc]
    return error if is_same else measure


def _with_width(result: Estimate, evaluation: "Evaluation", measure: Measure) -> Estimate:
    """Give a width to an interval without one, by the exact bound for equal rows.

    The same applies to F or kappa if the rows of the rarest class have no spread.
    """
    if not math.isfinite(result.value):
        return result
    is_point = result.high - result.low <= NO_WIDTH
    if not is_point and not (measure.of_counts and rarest_class_is_uniform(evaluation)):
        return result
    n, bound, span = bound_without_spread(evaluation, measure, result.level)
    least, most = possible_values(evaluation, measure)
    changed = _if_the_rarest_class_differed(evaluation, measure, bound) if measure.of_counts else []
    low = min(result.low, max(result.value - bound * span, least), *changed)
    high = max(result.high, min(result.value + bound * span, most), *changed)
    if (low, high) == (result.low, result.high):
        return result
    why = (
        "all values are equal"
        if is_point
        else "the predictions for the rarest class are all correct or all wrong"
    )
    method = (
        f"{result.method}; {why}, so the interval is as wide as Clopper-Pearson's for 0 of {n:.4g} "
        f"{_units(evaluation)}"
    )
    return replace(result, low=low, high=high, method=method)


def _of_model(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    kind = evaluation.design.kind
    if kind not in OF_MODELS:
        raise InvalidArgumentError(
            f"A {kind} design tests each of many models on different rows, so it cannot estimate "
            "one model. Use of='algorithm', or design=Holdout() for a model."
        )
    result = _interval_of_rows(evaluation, measure, level)
    if math.isnan(result.value):
        return result
    n_models = len(evaluation.worked)
    which = "this model" if n_models == 1 else f"the {n_models} models fitted, on average"
    return replace(result, method=f"{result.method}, {which}")


def _repeats(evaluation: "Evaluation") -> tuple[IntArray, list[Scored]]:
    """Return the rows that every repeat tested, in order, and their predictions per repeat."""
    by_repeat: dict[int, list[IntArray]] = {}
    cells = np.arange(len(evaluation.row))
    for i in evaluation.worked:
        by_repeat.setdefault(evaluation.splits[i].repeat, []).append(cells[evaluation.slice_of(i)])
    repeats = [np.concatenate(parts) for parts in by_repeat.values()]
    # A failed split removes its rows from one repeat only.
    common: IntArray = reduce(np.intersect1d, [evaluation.row[own] for own in repeats])
    ordered = [own[np.argsort(evaluation.row[own], kind="stable")] for own in repeats]
    kept = [own[np.isin(evaluation.row[own], common)] for own in ordered]
    return np.sort(common), [evaluation.scored(own) for own in kept]


def _interval_of_rows(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    """Return the interval from independent rows (or groups): exact, DeLong or bootstrap."""
    rows, repeats = _repeats(evaluation)
    first, grouped = repeats[0], evaluation.groups is not None
    if measure.counted and not grouped:
        return _rate_interval(measure, repeats, level)
    is_plain = not grouped and first.weights is None and len(repeats) == 1
    if is_plain and measure.name == "auc" and _has_variance(first):
        return _auc_interval(first, level)
    random = generator(evaluation.seed, INTERVAL)
    if measure.row_values is not None and not grouped:
        values = np.mean([measure.row_values(scored) for scored in repeats], axis=0)
        return bootstrap_mean(values, generator=random, level=level, sample_weight=first.weights)
    if is_plain and measure.of_counts:
        _, figure = _counting(measure, first.positive)
        return bootstrap_counts(figure, first.counts(), generator=random, level=level)

    def statistic(numbers: IntArray) -> float:
        return float(np.mean([measure.value(scored.take(numbers)) for scored in repeats]))

    groups = None if evaluation.groups is None else evaluation.groups[rows]
    return bootstrap_interval(statistic, len(rows), generator=random, level=level, groups=groups)


def _rate_interval(measure: Measure, repeats: list[Scored], level: float) -> Estimate:
    count = total = squares = 0.0
    for scored in repeats:
        counted, among = measure.counted(scored)  # type: ignore[misc]
        weights = scored.row_weights
        count += float(weights @ (counted & among))
        total += float(weights @ among)
        squares += float(weights**2 @ among)
    if not total > 0:
        return _undefined_rate(measure, level)
    # Repeats use the same rows, so n is that of one repeat; weighted rows: the effective number.
    n = total**2 / squares / len(repeats)
    rate = count / total
    # Wilson's interval is shorter, but misses its level where few rows of one kind are expected.
    interval = clopper_pearson(min(rate * n, n), n, level=level)
    name = "Clopper-Pearson"
    if repeats[0].weights is not None:
        name += f" with {n:.1f} effective rows"
    return Estimate(rate, *interval, level, name)


_NO_ROWS = {
    "precision": "no row is predicted as the positive class",
    "recall": "no row is of the positive class",
    "false_negative_rate": "no row is of the positive class",
    "specificity": "all rows are of the positive class",
    "false_positive_rate": "all rows are of the positive class",
}


def _undefined_rate(measure: Measure, level: float) -> Estimate:
    """Return a rate of no rows, such as the precision if no row is predicted positive.

    Its interval is 0 to 1: nothing is known about the rate. The plain functions in
    `sureleaf.measures` return 0 for it, as scikit-learn does with a warning.
    """
    why = _NO_ROWS.get(measure.name, "there are no rows to count")
    return Estimate(math.nan, 0.0, 1.0, level, f"undefined: {why}")


def _has_variance(rows: Scored) -> bool:
    """Return whether DeLong's variance, or its substitute for two classes, exists."""
    counts = np.bincount(rows.truth, minlength=rows.n_classes)
    return rows.n_classes == 2 or bool((counts != 1).all() and (counts > 0).sum() > 1)


def _auc_interval(rows: Scored, level: float) -> Estimate:
    table: FloatArray = rows.probabilities  # type: ignore[assignment]
    if rows.n_classes > 2:
        return delong_one_vs_rest(rows.truth, table, level=level)
    positive = rows.truth == rows.positive
    if positive.all() or not positive.any():
        return Estimate(math.nan, 0.0, 1.0, level, "undefined: the test rows are of one class")
    return delong_interval(positive, table[:, rows.positive], level=level)


def needs_larger_parts(evaluation: "Evaluation", measure: Measure) -> bool:
    """Return whether the test parts are single rows, for which the measure is not defined."""
    is_single = evaluation.design.kind == "leave one out" and evaluation.groups is None
    return is_single and measure.row_values is None


def _of_algorithm(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    kind = evaluation.design.kind
    if kind == "holdout":
        raise InvalidArgumentError(
            "One hold-out fits one model, so it cannot show how the algorithm varies with its "
            "training rows. Use of='model', or a design with many splits such as KFold."
        )
    by_rows = measure.row_values is not None
    if kind == "bootstrap" and by_rows and evaluation.groups is None:
        return _out_of_bag(evaluation, measure, level)
    if needs_larger_parts(evaluation, measure):
        raise InvalidArgumentError(
            f"{measure.name} is not defined for a test part of one row (leave-one-out). "
            "Use of='model', or KFold."
        )
    values = evaluation.split_values(measure)
    defined = values[~np.isnan(values)]
    if np.isinf(defined).any():
        return Estimate(math.inf, measure.low, math.inf, level, "no interval: a loss is infinite")
    if len(defined) < 2 and measure.counted:  # all splits together have its rows
        if not len(defined):
            return _undefined_rate(measure, level)
        value = float(defined[0])
        n, ends = interval_of_rate(evaluation, measure, value, level)
        units = _units(evaluation)
        name = f"Clopper-Pearson of {n:.4g} {units}; defined in 1 split, this algorithm"
        return Estimate(value, *ends, level, name)
    if len(defined) < 2:
        raise InvalidArgumentError(
            f"{measure.name} is defined in {len(defined)} of {len(evaluation.splits)} splits; "
            "two are needed. Use fewer folds, or of='model'."
        )
    missing, pooled = len(values) - len(defined), ", counts pooled" if is_pooled(measure) else ""
    # Of a ratio of counts, a split without such rows still contributes to the sum.
    defined = values_of_splits(evaluation, measure, list(evaluation.worked))
    defined = defined[~np.isnan(defined)]
    result = mean_over_splits(defined, measure, level, evaluation)
    low, high = result.low, result.high
    if is_pooled(measure):
        low, high = _score_interval(result.value, high - result.value, measure)
    note = f"; undefined in {missing}" if missing else ""
    name = f"corrected resampled t over {len(defined)} splits{pooled}, this algorithm{note}"
    found = _at_least_exact(Estimate(result.value, low, high, level, name), evaluation, measure)
    return _at_least_plausible(found, evaluation, measure) if is_pooled(measure) else found


def mean_over_splits(
    values: FloatArray,
    measure: Measure,
    level: float,
    first: "Evaluation",
    second: "Evaluation | None" = None,
) -> MeanOverSplits:
    """Return the mean of a measure over splits, or of the difference of two evaluations."""
    hidden, least = variances_beyond_splits(measure, first, second)
    one_round = has_one_round(measure, first.design.kind, first.design.resample)
    if second is None:
        one_round |= share_between_repeats(first, measure) > UNSTABLE
    return corrected_resampled(
        values,
        test_to_train=first.test_to_train,
        level=level,
        hidden_variance=hidden,
        least_variance=least,
        one_round=one_round,
        degrees_of_one_round=measure.row_values is None,
    )


def variances_beyond_splits(
    measure: Measure, first: "Evaluation", second: "Evaluation | None" = None
) -> tuple[float, float]:
    """Return the hidden and the least variance of a measure, or of the difference of two.

    Stratified splits hide what the class proportions do, since all of them have those of the table.
    The least variance is that of the rows with the boundaries fitted to them; 0 if not known.
    """
    slopes, influences = prevalence_slopes(first, measure), row_influences(first, measure)
    if second is not None:
        slopes = slopes - prevalence_slopes(second, measure)
        other = row_influences(second, measure)
        influences = None if influences is None or other is None else influences - other
    hidden = variance_of_rows(first.truth, slopes, first.weights, first.groups)
    return hidden, variance_of_influences(first, influences)


def _score_interval(value: float, half_width: float, measure: Measure) -> Interval[float]:
    """Return Wilson's interval of a rate that is known as precisely as the measure.

    A recall of .1 from few rows may well be .3, but not -.1. So each end has the standard deviation
    of a rate at that end, not at the value: the ends are as many standard deviations away from the
    value as the half-width is by the standard deviation at the value.
    """
    span = measure.high - measure.low
    share = (value - measure.low) / span
    if not (math.isfinite(span) and 0 < share < 1):
        return Interval(value - half_width, value + half_width)
    per_variance = (half_width / span) ** 2 / (share * (1 - share))  # z^2 / n of a rate of n rows
    centre = (share + per_variance / 2) / (1 + per_variance)
    reach = math.sqrt(per_variance * share * (1 - share) + per_variance**2 / 4) / (1 + per_variance)
    return Interval(measure.low + span * (centre - reach), measure.low + span * (centre + reach))


def _at_least_exact(result: Estimate, evaluation: "Evaluation", measure: Measure) -> Estimate:
    """Widen the interval of a rate to the exact interval of its rows, if that is wider.

    Splits may have equal values by chance, for instance all 1. The interval of Clopper and Pearson
    still shows how far off the rate may be. For rows in groups, only intervals without width are
    widened.
    """
    is_point = result.high - result.low <= NO_WIDTH
    if not measure.counted or (evaluation.groups is not None and not is_point):
        return result
    n, (low, high) = interval_of_rate(evaluation, measure, result.value, result.level)
    if result.low <= low and high <= min(result.high, measure.high):
        return result
    method = f"{result.method}, no shorter than Clopper-Pearson's of {n:.4g} {_units(evaluation)}"
    return replace(result, low=min(low, result.low), high=max(high, result.high), method=method)


def _at_least_plausible(result: Estimate, evaluation: "Evaluation", measure: Measure) -> Estimate:
    """Widen the interval to what recalibrated scores allow, if that is wider.

    Where few rows are predicted as a class, its recall and F are near 0 and so is their spread,
    but not what the next table may show. A recalibration whose own value is outside the interval
    does not describe these rows, and is not used.
    """
    allowed = plausible_range(evaluation, measure, result.level)
    if allowed is None or not result.low <= allowed.value <= result.high:
        return result
    return replace(result, low=min(result.low, allowed.low), high=max(result.high, allowed.high))


def _units(evaluation: "Evaluation") -> str:
    return "rows" if evaluation.groups is None else "groups"


def _out_of_bag(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    n = len(evaluation.truth)
    losses = np.zeros((len(evaluation.worked), n))
    counts = np.ones(losses.shape, dtype=np.int32)
    plan = enumerate(evaluation.design.splits(evaluation.truth, seed=evaluation.seed))
    drawn = {i: split.drawn for i, split in plan if not evaluation.splits[i].failure}
    for b, i in enumerate(evaluation.worked):
        cells = evaluation.slice_of(i)
        losses[b, evaluation.row[cells]] = measure.row_values(evaluation.scored(cells))  # type: ignore[misc]
        counts[b] = np.bincount(drawn[i], minlength=n)
    result = out_of_bag_mean(losses, counts, evaluation.weights)
    if not math.isfinite(result.value):
        return Estimate(math.inf, measure.low, math.inf, level, "no interval: a loss is infinite")
    error = result.standard_error
    name = f"leave-one-out bootstrap of {len(losses)}, this algorithm"
    if measure.counted:  # a rate: exact, with as many rows as give the standard error
        variance = result.value * (1 - result.value)
        varies = min(variance, error**2) > NO_WIDTH  # without errors, only rounding is left
        rows = min(variance / error**2, n) if varies else n
        low, high = clopper_pearson(min(result.value * rows, rows), rows, level=level)
        return Estimate(result.value, low, high, level, name)
    half = normal_reach(level) * error
    return Estimate(result.value, result.value - half, result.value + half, level, name)


NO_WIDTH = 1e-12
"""The width of an interval that is zero except for rounding."""


def bound_without_spread(
    evaluation: "Evaluation", measure: Measure, level: float
) -> tuple[float, float, float]:
    """Return the number of rows, the largest share of them that may differ, and by how much.

    What never happened in n rows may happen in a share of them up to Clopper and Pearson's bound
    for 0 of n.
    For measures of a class, n is the number of rows of the rarest class; for rows in groups, the
    number of groups.
    """
    rows = _distinct_rows(evaluation)
    if measure.row_values is None:
        rows = rows[evaluation.truth[rows] == _rarest(evaluation, rows)]
    n = _effective(evaluation, rows)
    low, high = possible_values(evaluation, measure)
    return n, clopper_pearson(0, n, level=level).high, high - low


def possible_values(evaluation: "Evaluation", measure: Measure) -> tuple[float, float]:
    """Return the smallest and largest possible value of the measure.

    For a loss without a bound, these are its values if every row had been of each class.
    """
    if np.isfinite([measure.low, measure.high]).all() or measure.row_values is None:
        return measure.low, measure.high
    rows = evaluation.scored()
    by_class = [
        measure.row_values(replace(rows, truth=np.full(len(rows), code)))
        for code in range(rows.n_classes)
    ]
    finite = np.concatenate(by_class)
    finite = finite[np.isfinite(finite)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def rarest_class_is_uniform(evaluation: "Evaluation") -> bool:
    """Return whether the rows of the rarest class are all predicted correctly, or all wrongly.

    A measure of all classes then varies only with the other rows, and its interval is too short.
    """
    truth = evaluation.truth[evaluation.row]
    own = truth == _rarest(evaluation, _distinct_rows(evaluation))
    return len(np.unique(evaluation.prediction[own] == truth[own])) < 2


def _if_the_rarest_class_differed(
    evaluation: "Evaluation", measure: Measure, share: float
) -> list[float]:
    """Return the measure of the counts if this share of the rarest class were otherwise predicted.

    A share of correct rows gets each other class, and a share of wrong rows their own class.
    """
    rows = evaluation.scored()
    rarest = _rarest(evaluation, _distinct_rows(evaluation))
    values = []
    for other in range(rows.n_classes):
        table = rows.counts()
        moved = share * table[rarest]
        table[rarest] -= moved
        table[rarest, other] += moved.sum()
        values.append(measure.of_counts(table, evaluation.positive_code))  # type: ignore[misc]
    return [value for value in values if math.isfinite(value)]


def interval_of_rate(
    evaluation: "Evaluation", measure: Measure, rate: float, level: float
) -> tuple[float, Interval[float]]:
    """Return the rows that a rate is counted among, each counted once, and the exact interval."""
    _, among = measure.counted(evaluation.scored())  # type: ignore[misc]
    n = _effective(evaluation, _distinct_rows(evaluation, among))
    return n, clopper_pearson(min(rate * n, n), n, level=level)


def _distinct_rows(evaluation: "Evaluation", chosen: Any = slice(None)) -> IntArray:
    """Return the rows that these predictions are about, in order and each once."""
    return np.flatnonzero(np.bincount(evaluation.row[chosen], minlength=len(evaluation.truth)))


def _rarest(evaluation: "Evaluation", rows: IntArray) -> int:
    counts = np.bincount(evaluation.truth[rows], minlength=len(evaluation.classes))
    return int(counts.argmin())


def _effective(evaluation: "Evaluation", rows: IntArray) -> float:
    """Return the number of independent observations: rows, effective rows, or groups."""
    if evaluation.groups is not None:
        return float(len(np.unique(evaluation.groups[rows])))
    if evaluation.weights is None or not len(rows):
        return float(len(rows))
    weights = evaluation.weights[rows]
    return float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))


STEP = 1e-4
"""Relative increase of the frequency of a class, for the numerical derivative."""

ENOUGH = 20_000
"""Predictions that are enough for a slope; of more, a part is used."""

ROUNDING = 1e-8
"""Slopes below this are rounding errors; AUC and recall do not depend on proportions."""


def prevalence_slopes(evaluation: "Evaluation", measure: Measure) -> FloatArray:
    """Return the derivative of the measure by the proportion of each class.

    Stratified splits all have the class proportions of the table, so their values do not vary with
    them. But the table is a sample: with other proportions, a classifier that favours one class has
    another accuracy, loss or precision. The derivative is 0 for designs that are not stratified,
    whose splits show this variance themselves. For a mean over rows it is the mean of the class
    minus that of all rows.
    """
    design = evaluation.design
    if not getattr(design, "stratified", False) or getattr(design, "time_ordered", False):
        return np.zeros(len(evaluation.classes))
    step = max(1, len(evaluation.row) // ENOUGH)
    rows = evaluation.scored(slice(None, None, step))
    weights = rows.row_weights
    slopes = np.zeros(rows.n_classes)
    if not weights.sum() > 0:
        return slopes
    shares = np.bincount(rows.truth, weights, minlength=rows.n_classes) / weights.sum()
    whole = measure.value(replace(rows, weights=weights))
    for code in np.flatnonzero(shares):
        more = np.where(rows.truth == code, weights * (1 + STEP), weights)
        slopes[code] = (measure.value(replace(rows, weights=more)) - whole) / (STEP * shares[code])
    return np.where(np.isfinite(slopes) & (np.abs(slopes) > ROUNDING), slopes, 0.0)


def variance_of_rows(
    classes: IntArray, slopes: FloatArray, weights: FloatArray | None, groups: IntArray | None
) -> float:
    """Return the variance of a measure with these slopes that comes from the class proportions.

    Rows, or groups of rows, are independent draws with their classes.
    """
    w = row_weights(weights, len(classes))
    contribution = w * slopes[classes]
    if groups is not None:
        contribution = np.bincount(groups, contribution).astype(np.float64)
    return float(np.square(contribution).sum() / w.sum() ** 2)

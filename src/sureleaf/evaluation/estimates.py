"""Which interval is valid for which design and question."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from sureleaf.arguments import FloatArray, IntArray, check_choice, check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.degenerate_intervals import (
    NO_WIDTH,
    bound_without_spread,
    interval_of_rate,
    possible_values,
    rarest_all_alike,
)
from sureleaf.evaluation.intervals import (
    Estimate,
    NestedFold,
    bootstrap_counts,
    bootstrap_interval,
    bootstrap_mean,
    clopper_pearson,
    corrected_resampled,
    delong_interval,
    delong_one_vs_rest,
    nested_cv,
    out_of_bag_mean,
    wilson,
)
from sureleaf.evaluation.measures.named import Measure, Scored
from sureleaf.evaluation.measures.rates import count_pairs, ratio
from sureleaf.evaluation.prevalence_variance import share_slopes, share_variance
from sureleaf.random_streams import INTERVAL, generator

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["estimate", "figures_of_splits", "is_pooled"]


# Figures that are ratios of counts, taken from the counts of all splits together.
#
# A fold with one positive row has a recall of 0 or 1 and an F-measure of 0 if that row is missed,
# whatever the precision elsewhere: the mean over folds of such ratios is biased where the rows they
# count are few (Forman and Scholz 2010). Counts add up without bias, so the figure is that of the
# sum of the tables. What each split contributes to it is told by leaving it out (the jackknife).


def is_pooled(measure: Measure) -> bool:
    """Whether the figure is a ratio of counts that differ from split to split.

    Examples
    --------
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> [name for name in ("accuracy", "precision", "f_measure", "auc") if is_pooled(NAMED[name])]
    ['precision', 'f_measure']
    """
    return measure.row_values is None and bool(measure.counted or measure.of_counts)


def figures_of_splits(evaluation: "Evaluation", measure: Measure, splits: list[int]) -> FloatArray:
    """Return a figure for each split whose mean is the figure of the design.

    For a ratio of counts the mean is that of all counts together, and a split's distance from it
    is that of its pseudo-value: J times the whole less J - 1 times the rest. Other measures are
    what they are on the rows of the split, NaN where undefined.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), random_state=0)
    >>> figures = figures_of_splits(judged, NAMED["precision"], list(judged.main_splits))
    >>> counts = judged.confusion().counts
    >>> bool(np.isclose(figures.mean(), counts[1, 1] / counts[:, 1].sum()))
    True
    """
    parts = [evaluation.scored(evaluation.cells_of(i)) for i in splits]
    if not is_pooled(measure):
        return np.array([measure.of_split(rows) for rows in parts])
    count, figure = _counting(measure, evaluation.positive_code)
    tables = np.array([count(rows) for rows in parts], dtype=np.float64)
    total, n = tables.sum(axis=0), len(tables)
    whole = figure(total)
    if n == 1:
        return np.array([whole])
    rests = np.array([figure(np.maximum(total - table, 0.0)) for table in tables])
    figures: FloatArray = whole - (n - 1) * (rests - rests.mean())
    return figures


def _counting(
    measure: Measure, positive: int
) -> tuple[Callable[[Scored], FloatArray], Callable[[FloatArray], float]]:
    """How rows are counted for the measure, and the figure of such counts."""
    of_counts, counted = measure.of_counts, measure.counted
    if of_counts is not None:

        def table_of(rows: Scored) -> FloatArray:
            pairs = count_pairs(rows.truth, rows.prediction, rows.n_classes, rows.weights)
            return pairs.astype(np.float64)

        return table_of, lambda table: of_counts(table, positive)

    def count(rows: Scored) -> FloatArray:
        hits, among = counted(rows)  # type: ignore[misc]
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        return np.array([weights @ (hits & among), weights @ among])

    return count, lambda table: ratio(float(table[0]), float(table[1]))


METHODS = ("wilson", "clopper-pearson", "delong", "bca")
OF_MODELS = ("holdout", "folds", "leave one out", "nested")


def estimate(
    evaluation: "Evaluation", measure: Measure, *, level: float, of: str | None, method: str | None
) -> Estimate:
    """Return the measure with the interval that the design and the question call for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> estimate(judged, NAMED["accuracy"], level=0.95, of="model", method=None).method
    'Wilson, the 10 models fitted, on average'
    """
    check_level(level)
    kind = evaluation.design.kind
    if of is None:
        of = "model" if kind == "holdout" or method is not None else "algorithm"
    check_choice("of", of, ("model", "algorithm"))
    if of == "model":
        found = _of_model(evaluation, measure, level, method)
    elif method is not None:
        raise InvalidArgumentError(
            f"method must be left out for of='algorithm', where the design decides; got {method!r}."
        )
    else:
        found = _of_algorithm(evaluation, measure, level)
    found = _with_width(found, evaluation, measure)
    failed = len(evaluation.failures)
    note = f"; {failed} of {len(evaluation.splits)} splits failed" if failed else ""
    return replace(
        found,
        low=max(found.low, measure.low),
        high=min(found.high, measure.high),
        method=found.method + note,
    )


def _with_width(found: Estimate, evaluation: "Evaluation", measure: Measure) -> Estimate:
    """Give an interval without width the one that as many rows alike have.

    So too a figure of the table of counts (F, kappa) to which the rarest class adds no spread.
    """
    if not math.isfinite(found.value):
        return found
    alike = found.high - found.low <= NO_WIDTH
    if not alike and not (measure.of_counts and rarest_all_alike(evaluation)):
        return found
    n, bound, span = bound_without_spread(evaluation, measure, found.level)
    least, most = possible_values(evaluation, measure)
    low = min(found.low, max(found.value - bound * span, least))
    high = max(found.high, min(found.value + bound * span, most))
    if (low, high) == (found.low, found.high):
        return found
    why = "no spread" if alike else "the rarest class all found or all missed"
    method = f"{found.method}; {why}, so Wilson's bound of 0 in {n:.4g} {_units(evaluation)}"
    return replace(found, low=low, high=high, method=method)


def _of_model(
    evaluation: "Evaluation", measure: Measure, level: float, method: str | None
) -> Estimate:
    kind = evaluation.design.kind
    if kind not in OF_MODELS:
        raise InvalidArgumentError(
            f"A {kind} fits many models and tests each on other rows; it says nothing of one "
            "model. Use of='algorithm', or design=Holdout() for a model."
        )
    if method is not None:
        check_choice("method", method, METHODS)
    repeats = _repeats(evaluation)
    found = _interval_of_rows(evaluation, measure, repeats, level, method)
    n_models = len(evaluation.main_splits)
    which = "this model" if n_models == 1 else f"the {n_models} models fitted, on average"
    return replace(found, method=f"{found.method}, {which}")


def _repeats(evaluation: "Evaluation") -> list[tuple[IntArray, Scored]]:
    """Rows and predictions of each repeat, the same rows in the same order in all of them."""
    by_repeat: dict[int, list[IntArray]] = {}
    for i in evaluation.main_splits:
        by_repeat.setdefault(evaluation.splits[i].repeat, []).append(evaluation.cells_of(i))
    cells = [np.concatenate(parts) for parts in by_repeat.values()]
    common = evaluation.row[cells[0]]
    for other in cells[1:]:  # a failed split takes its rows out of one repeat only
        common = np.intersect1d(common, evaluation.row[other])
    result = []
    for own in cells:
        ordered = own[np.argsort(evaluation.row[own], kind="stable")]
        kept = ordered[np.isin(evaluation.row[ordered], common)]
        result.append((evaluation.row[kept], evaluation.scored(kept)))
    return result


def _interval_of_rows(
    evaluation: "Evaluation",
    measure: Measure,
    repeats: list[tuple[IntArray, Scored]],
    level: float,
    method: str | None,
) -> Estimate:
    """Interval from independent rows (or groups): Wilson, DeLong or bootstrap."""
    rows, first = repeats[0]
    grouped = evaluation.groups is not None
    if method in (None, "wilson", "clopper-pearson") and measure.counted and not grouped:
        return _rate_interval(measure, [scored for _, scored in repeats], level, method)
    plain_auc = measure.name == "auc" and first.weights is None and _has_variance(first)
    if method in (None, "delong") and plain_auc and len(repeats) == 1 and not grouped:
        return _auc_interval(first, level)
    if method not in (None, "bca"):
        raise InvalidArgumentError(
            f"method {method!r} is not valid for {measure.name} of these rows"
            f"{' in groups' if grouped else ''}; use 'bca'."
        )
    random = generator(evaluation.seed, INTERVAL)
    if measure.row_values is not None and not grouped:
        values = np.mean([measure.row_values(scored) for _, scored in repeats], axis=0)
        return bootstrap_mean(values, generator=random, level=level, sample_weight=first.weights)

    if measure.of_counts and not grouped and first.weights is None and len(repeats) == 1:
        counts = count_pairs(first.truth, first.prediction, first.n_classes)
        of_counts = measure.of_counts
        return bootstrap_counts(
            lambda table: of_counts(table, first.positive), counts, generator=random, level=level
        )

    def statistic(numbers: IntArray) -> float:
        return float(np.mean([measure.value(scored.take(numbers)) for _, scored in repeats]))

    groups = evaluation.groups[rows] if evaluation.groups is not None else None
    return bootstrap_interval(statistic, len(rows), generator=random, level=level, groups=groups)


def _rate_interval(
    measure: Measure, repeats: list[Scored], level: float, method: str | None
) -> Estimate:
    hits = total = squares = 0.0
    for scored in repeats:
        counted, among = measure.counted(scored)  # type: ignore[misc]
        weights = np.ones(len(scored)) if scored.weights is None else scored.weights
        hits += float(weights @ (counted & among))
        total += float(weights @ among)
        squares += float(weights**2 @ among)
    # rows of several repeats are the same rows: n is that of one; weights: n of the same variance
    n = total**2 / squares / len(repeats) if squares > 0 else 0.0
    rate = hits / total if total > 0 else 0.0
    exact = method == "clopper-pearson"
    interval = (clopper_pearson if exact else wilson)(min(rate * n, n), n, level=level)
    name = "Clopper-Pearson" if exact else "Wilson"
    if repeats[0].weights is not None:
        name += f" with {n:.1f} effective rows"
    return Estimate(rate, *interval, level, name)


def _has_variance(rows: Scored) -> bool:
    """Whether DeLong's variance exists: always for two classes (or its substitute)."""
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


def _of_algorithm(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    kind = evaluation.design.kind
    if kind == "holdout":
        raise InvalidArgumentError(
            "One hold-out fits one model; it cannot show how the algorithm varies with its "
            "training rows. Use of='model', or a design of many splits such as KFold."
        )
    by_rows = measure.row_values is not None
    if kind == "nested" and by_rows and not evaluation.failures:
        return _nested(evaluation, measure, level)
    if kind == "bootstrap" and by_rows and evaluation.groups is None:
        return _out_of_bag(evaluation, measure, level)
    if kind == "leave one out" and not by_rows and evaluation.groups is None:
        raise InvalidArgumentError(
            f"{measure.name} is not defined for one row, and leave-one-out tests on one. "
            "Use of='model', or KFold."
        )
    values = evaluation.split_values(measure)
    defined = values[~np.isnan(values)]
    if np.isinf(defined).any():
        return Estimate(math.inf, measure.low, math.inf, level, "no interval: a loss is infinite")
    if len(defined) < 2 and measure.counted:  # few splits count anything, but their rows do
        value = float(defined[0]) if len(defined) else 0.0
        n, (low, high) = interval_of_rate(evaluation, measure, value, level)
        name = f"Wilson of {n:.4g} {_units(evaluation)}; defined in {len(defined)} splits"
        return Estimate(value, low, high, level, f"{name}, this algorithm")
    if len(defined) < 2:
        raise InvalidArgumentError(
            f"{measure.name} is defined in {len(defined)} of {len(evaluation.splits)} splits; "
            "two are needed. Use fewer folds, or of='model'."
        )
    missing, pooled = len(values) - len(defined), ""
    if is_pooled(measure):  # a split without such rows still has its part in the sum
        defined = figures_of_splits(evaluation, measure, list(evaluation.main_splits))
        pooled = ", counts pooled"
    found = corrected_resampled(
        defined,
        test_to_train=evaluation.test_to_train,
        level=level,
        hidden_variance=share_variance(evaluation, share_slopes(evaluation, measure)),
    )
    note = f"; undefined in {missing}" if missing else ""
    name = f"corrected resampled t over {len(defined)} splits{pooled}, this algorithm{note}"
    return _as_wide_as_rows(
        Estimate(found.value, found.low, found.high, level, name), evaluation, measure
    )


def _as_wide_as_rows(found: Estimate, evaluation: "Evaluation", measure: Measure) -> Estimate:
    """Let no rate be known better over splits than Wilson's interval knows it from their rows.

    Splits may score alike by chance, all of them 1 for instance; rows that are hit or missed then
    still say how far off a rate may be. Groups count as one row each, so only where all score
    alike.
    """
    alike = found.high - found.low <= NO_WIDTH
    if not measure.counted or (evaluation.groups is not None and not alike):
        return found
    n, (low, high) = interval_of_rate(evaluation, measure, found.value, found.level)
    if found.low <= low and high <= min(found.high, measure.high):
        return found
    method = f"{found.method}, no shorter than Wilson's of {n:.4g} {_units(evaluation)}"
    return replace(found, low=min(low, found.low), high=max(high, found.high), method=method)


def _units(evaluation: "Evaluation") -> str:
    return "rows" if evaluation.groups is None else "groups"


def _nested(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    n_splits: int = evaluation.design.n_splits  # type: ignore[attr-defined]
    values = [_values_of(evaluation, measure, i) for i in range(len(evaluation.splits))]
    folds = []
    for i, facts in enumerate(evaluation.splits):
        if facts.without is not None:
            continue
        inner = [
            own[~np.isin(rows, values[i][0])]
            for (rows, own), other in zip(values, evaluation.splits, strict=True)
            if other.without is not None
            and other.repeat == facts.repeat
            and facts.fold in (other.fold, other.without)
        ]
        folds.append(NestedFold(values[i][1], np.concatenate(inner)))
    if not all(np.isfinite(fold.inner).all() and np.isfinite(fold.outer).all() for fold in folds):
        return Estimate(math.inf, measure.low, math.inf, level, "no interval: a loss is infinite")
    found = nested_cv(folds, n_splits=n_splits, level=level)
    name = f"nested cross-validation over {len(folds)} outer folds, this algorithm"
    return Estimate(found.value, found.low, found.high, level, name)


def _values_of(
    evaluation: "Evaluation", measure: Measure, split: int
) -> tuple[IntArray, FloatArray]:
    cells = evaluation.cells_of(split)
    scored = evaluation.scored(cells)
    values = measure.row_values(scored)  # type: ignore[misc]
    if scored.weights is not None:  # a weighted mean of losses is a mean of weighed losses
        values = values * scored.weights / scored.weights.mean()
    return evaluation.row[cells], values


def _out_of_bag(evaluation: "Evaluation", measure: Measure, level: float) -> Estimate:
    n = len(evaluation.truth)
    losses = np.zeros((len(evaluation.main_splits), n))
    counts = np.ones(losses.shape, dtype=np.int32)
    plan = enumerate(evaluation.design.splits(evaluation.truth, seed=evaluation.seed))
    trained = {i: split.train for i, split in plan if not evaluation.splits[i].failure}
    for b, i in enumerate(evaluation.main_splits):
        cells = evaluation.cells_of(i)
        losses[b, evaluation.row[cells]] = measure.row_values(evaluation.scored(cells))  # type: ignore[misc]
        counts[b] = np.bincount(trained[i], minlength=n)
    found = out_of_bag_mean(losses, counts, evaluation.weights)
    if not math.isfinite(found.value):
        return Estimate(math.inf, measure.low, math.inf, level, "no interval: a loss is infinite")
    error = found.standard_error
    name = f"leave-one-out bootstrap of {len(losses)}, this algorithm"
    if measure.counted:  # a rate: Wilson with as many rows as give the standard error
        variance = found.value * (1 - found.value)
        varies = min(variance, error**2) > NO_WIDTH  # all hits leave an error of rounding
        rows = min(variance / error**2, n) if varies else n
        low, high = wilson(min(found.value * rows, rows), rows, level=level)
        return Estimate(found.value, low, high, level, name)
    half = float(ndtri(0.5 + level / 2)) * error
    return Estimate(found.value, found.value - half, found.value + half, level, name)

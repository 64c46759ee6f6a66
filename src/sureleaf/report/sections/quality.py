"""The quality of out-of-fold predictions, and what to decide at given costs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import row_weights
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.measures import ranking, roc
from sureleaf.evaluation.measures.calibration import expected_calibration_error
from sureleaf.evaluation.measures.named import Measure, Scored
from sureleaf.formatting import listed, percent
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.report.document_schema import (
    IntervalEstimate,
    by_column,
    estimate_measure,
    finite_list,
    interval_estimate,
)
from sureleaf.report.results import ReportResults, is_called_positive
from sureleaf.report.sections.decision import Decision, decide_binary, decide_classes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DIGITS = 4
MAX_SCORED_ROWS = 4_000
MEANINGS = {
    "accuracy": "share of rows predicted correctly",
    "balanced_accuracy": "mean recall over the classes",
    "precision": "share of the rows predicted “{positive}” that are “{positive}”",
    "recall": "share of the “{positive}” rows that are predicted “{positive}”",
    "specificity": "share of the other rows that are not predicted “{positive}”",
    "f_measure": "harmonic mean of precision and recall",
    "auc": "probability that a row of the class gets a higher predicted probability than a row "
    "of another class",
    "nce": "log loss in nats: mean negative log of the probability predicted for the true class",
    "quadratic_loss": "squared distance of the predicted probabilities from the truth, 0 to 2",
    "cost": "mean cost per row; each row gets the decision of least expected cost by its predicted "
    "probabilities, and no threshold is tuned on these rows",
}
"""Measures of the section, in their order."""

FOR_TWO_CLASSES = ("precision", "recall", "specificity", "f_measure")
BAND_METHOD = (
    "pointwise: percentiles of the true positive rate at each false positive rate over bootstrap "
    "samples of the rows (or groups), never narrower than the Clopper-Pearson interval"
)


@dataclass(frozen=True, kw_only=True)
class MeasureEstimate(IntervalEstimate):
    """A measure with its interval."""

    name: Annotated[str, "Name of the measure."]
    meaning: Annotated[str, "What it measures."]
    better: Annotated[Literal["high", "low"], "Whether high or low values are good."]


@dataclass(frozen=True)
class ClassRates:
    """Recall and precision of one class."""

    class_: Annotated[int, "Index of the class."]
    recall: Annotated[
        IntervalEstimate | None, "Share of the rows of the class that are predicted as such."
    ]
    precision: Annotated[
        IntervalEstimate | None,
        "Share of the rows predicted as the class that are of the class; null if there are none.",
    ]


@dataclass(frozen=True)
class RocCurve:
    """The ROC curve of the positive class, with a pointwise band; at most 400 points."""

    class_: Annotated[int, "Index of the positive class."]
    false_positive_rate: Annotated[list[float], "The points of the curve."]
    true_positive_rate: Annotated[list[float], "The points of the curve."]
    low: Annotated[list[float], "The band of the true positive rate at each point."]
    high: Annotated[list[float], "The band of the true positive rate at each point."]
    level: Annotated[float, "Level of the band."]
    method: Annotated[str, "How the band was computed."]
    area: Annotated[IntervalEstimate, "Area under the curve."]


BandEnds = Annotated[
    list[float | None],
    "Where the observed share would lie if the predicted probabilities were correct.",
]


@dataclass(frozen=True)
class CalibrationCurve:
    """Predicted probabilities of the positive class compared with what was observed."""

    class_: Annotated[int, "Index of the positive class."]
    stated: Annotated[list[float | None], "Mean predicted probability of each bin."]
    observed: Annotated[list[float | None], "Share of positive rows in each bin."]
    count: Annotated[list[float | None], "Rows in each bin."]
    low: BandEnds
    high: BandEnds
    level: Annotated[float, "Level of these bands."]
    outside: Annotated[int, "Number of bins outside their band."]
    method: Annotated[str, "How the band was computed."]
    error: Annotated[IntervalEstimate, "Expected calibration error."]
    slope: Annotated[
        IntervalEstimate | None,
        "Slope of calibration: below 1, the probabilities are too extreme; null if undefined.",
    ]
    intercept: Annotated[
        IntervalEstimate | None,
        "Calibration in the large: below 0, the class is rarer than predicted; null if undefined.",
    ]


@dataclass(frozen=True)
class NetBenefitCurve:
    """Decision curve: what it is worth to act on the probabilities, by the threshold of acting."""

    class_: Annotated[int, "Index of the positive class."]
    thresholds: Annotated[list[float], "Probabilities from which one would act."]
    model: Annotated[list[float], "Net benefit per row of acting by the tree."]
    treat_all: Annotated[list[float], "Net benefit per row of acting on all rows; on none it is 0."]
    text: Annotated[str, "Where the tree is worth more than acting on all or none."]


RowsOfScore = Annotated[
    list[float], "Rows of the other and of the positive class with each probability."
]


@dataclass(frozen=True)
class BinaryScores:
    """Out-of-fold probabilities of two classes, from which thresholds are computed."""

    kind: Annotated[Literal["binary"], "Tells the two types of scores apart."]
    digits: Annotated[int, "Probabilities are rounded to this many digits."]
    score: Annotated[list[float], "Distinct probabilities of the positive class, ascending."]
    negative: RowsOfScore
    positive: RowsOfScore


@dataclass(frozen=True)
class ScoredRow:
    """Rows with equal class and equal probabilities."""

    truth: Annotated[int, "Index of the actual class."]
    weight: Annotated[float, "Number of rows."]
    probabilities: Annotated[list[float], "Probability of each class."]


@dataclass(frozen=True)
class ClassScores:
    """Out-of-fold probabilities of more than two classes, from which decisions are computed."""

    kind: Annotated[Literal["classes"], "Tells the two types of scores apart."]
    digits: Annotated[int, "Probabilities are rounded to this many digits."]
    sampled: Annotated[bool, "Whether the rows are a sample."]
    rows: Annotated[tuple[ScoredRow, ...], "The rows, at most 4,000."]


@dataclass(frozen=True)
class ConstantCost:
    """What it costs to decide for one class in every row."""

    label: Annotated[str, "The class."]
    cost: Annotated[float, "Mean cost per row."]


@dataclass(frozen=True)
class QualitySection:
    """Out-of-fold predictions of the cross-validation."""

    design: Annotated[str, "How the rows were split."]
    folds: Annotated[int, "Number of folds, and how often they were drawn."]
    repeats: Annotated[int, "Number of folds, and how often they were drawn."]
    positive: Annotated[
        int,
        "Index of the positive class: the user's; or the one of two classes that is called yes, "
        "true, positive or bad, or 1 beside 0 or -1; or the rarest, the last one on ties.",
    ]
    labels: Annotated[list[str], "Class labels."]
    confusion: Annotated[list[list[float]], "Rows by actual and predicted class."]
    measures: Annotated[tuple[MeasureEstimate, ...], "Measures with their intervals."]
    by_class: Annotated[tuple[ClassRates, ...], "Recall and precision of each class."]
    roc: Annotated[RocCurve | None, "The ROC curve."]
    calibration: Annotated[CalibrationCurve | None, "The calibration curve."]
    net_benefit: Annotated[
        NetBenefitCurve | None, "The decision curve; null for more than two classes."
    ]
    text: Annotated[str, "What the tree finds, and how often it is correct when it says so."]
    positive_reason: Annotated[str, "Why this class is the positive one."]
    scores: Annotated[BinaryScores | ClassScores, "What the page computes decisions from."]
    cost: Annotated[
        list[list[float]], "cost[actual][predicted]; 1 for every error if the user gave no costs."
    ]
    cost_given: Annotated[
        bool,
        "Whether the user gave costs. Then predictions are decisions of least expected cost, in "
        "the confusion matrix and in all measures.",
    ]
    constants: Annotated[
        tuple[ConstantCost, ...],
        "What constant decisions cost; 1 for every error if the user gave no costs.",
    ]
    decision: Annotated[Decision, "The cheapest decisions at that cost."]


READ_BY_SCRIPTS = (
    *("positive", "labels", "confusion", "roc", "calibration", "net_benefit"),
    *("scores", "cost", "cost_given"),
)
"""The fields of the section that scripts of the page read."""


def quality_section(results: ReportResults) -> QualitySection:
    """Measure the out-of-fold predictions and find the cheapest decisions."""
    pooled, k = _pooled(results.evaluation), len(results.labels)
    is_given, positive = results.request.cost is not None, pooled.positive_code
    cost = np.asarray(results.request.cost if is_given else 1.0 - np.eye(k), dtype=np.float64)
    costs = results.class_counts @ cost / results.class_counts.sum()
    confusion = np.asarray(pooled.confusion().counts, dtype=np.float64).round(9)
    scores = _scores(pooled.scored(), results.request.seed)
    return QualitySection(
        design=_design(results),
        folds=results.budget.folds,
        repeats=results.budget.repeats,
        positive=positive,
        labels=results.labels,
        confusion=confusion.tolist(),
        measures=tuple(_measures(results, confusion)),
        by_class=tuple(_by_class(results, confusion)),
        roc=_roc(results, pooled),
        calibration=_calibration(results, pooled),
        net_benefit=_net_benefit(pooled),
        text=_text(results, confusion),
        positive_reason=_positive_reason(results),
        scores=scores,
        cost=cost.tolist(),
        cost_given=is_given,
        constants=tuple(map(ConstantCost, results.labels, costs.tolist())),
        decision=_decide(scores, cost, positive),
    )


def _pooled(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation in which all predictions of one row share its weight."""
    times = np.bincount(evaluation.row, minlength=len(evaluation.truth))
    weights = row_weights(evaluation.weights, len(times)) / np.maximum(times, 1)
    return replace(evaluation, weights=weights)


def _scores(rows: Scored, seed: int) -> BinaryScores | ClassScores:
    assert rows.probabilities is not None
    weight, rounded = rows.row_weights, rows.probabilities.round(DIGITS)
    if rows.n_classes == 2:
        score, index = np.unique(rounded[:, rows.positive], return_inverse=True)
        is_positive = rows.truth == rows.positive
        return BinaryScores(
            kind="binary",
            digits=DIGITS,
            score=score.tolist(),
            negative=np.bincount(index, weight * ~is_positive).round(9).tolist(),
            positive=np.bincount(index, weight * is_positive).round(9).tolist(),
        )
    lines = np.column_stack([rows.truth, rounded])
    total = float(weight.sum())
    distinct, index = np.unique(lines, axis=0, return_inverse=True)
    sampled = len(distinct) > MAX_SCORED_ROWS
    if sampled:
        drawn = np.random.default_rng(seed).choice(len(lines), MAX_SCORED_ROWS, replace=False)
        lines, weight = lines[drawn], weight[drawn] * (total / weight[drawn].sum())
        distinct, index = np.unique(lines, axis=0, return_inverse=True)
    weights = np.bincount(index.ravel(), weight)
    truth, probabilities = distinct[:, 0].astype(int).tolist(), distinct[:, 1:].tolist()
    scored = tuple(map(ScoredRow, truth, weights.tolist(), probabilities))
    return ClassScores("classes", DIGITS, sampled, scored)


def _decide(
    scores: BinaryScores | ClassScores, cost: NDArray[np.float64], positive: int
) -> Decision:
    if isinstance(scores, BinaryScores):
        counts = scores.score, scores.negative, scores.positive
        return decide_binary(*counts, cost, positive=positive)
    columns = by_column(list(map(vars, scores.rows)), ("truth", "weight", "probabilities"))
    return decide_classes(**columns, cost=cost)


def _design(results: ReportResults) -> str:
    folds, repeats = results.budget.folds, results.budget.repeats
    grouped = ", groups kept together" if results.evaluation.groups is not None else ""
    text = f"{folds}-fold cross-validation, stratified by class{grouped}"
    if repeats > 1:
        text += f", repeated {repeats} times; counts are means over the repeats"
    return text


def _measures(results: ReportResults, confusion: Floats) -> Iterator[MeasureEstimate]:
    code, n_classes = results.evaluation.positive_code, len(results.labels)
    left_out = set() if results.request.cost is not None else {"cost"}
    if n_classes != 2:
        left_out |= set(FOR_TWO_CLASSES)
    if confusion[:, code].sum() <= 0:
        left_out.add("precision")  # the positive class is never predicted
    for name in [name for name in MEANINGS if name not in left_out]:
        estimate = estimate_measure(results.evaluation, name, level=results.request.level)
        if estimate is not None:
            text = MEANINGS[name].format(positive=results.labels[code])
            if name == "auc" and n_classes > 2:
                text += ", mean over the classes"
            is_high = results.evaluation.find(name).greater_is_better
            better: Literal["high", "low"] = "high" if is_high else "low"
            yield MeasureEstimate(**asdict(estimate), name=name, meaning=text, better=better)


def _by_class(results: ReportResults, confusion: NDArray[np.float64]) -> Iterator[ClassRates]:
    """Estimate recall and precision with each class as the positive one."""
    for code in range(len(results.labels)):
        evaluation = replace(results.evaluation, positive_code=code)
        n_rows = {"recall": confusion[code].sum(), "precision": confusion[:, code].sum()}
        recall, precision = (
            estimate_measure(evaluation, name, level=results.request.level) if n > 0 else None
            for name, n in n_rows.items()
        )
        yield ClassRates(code, recall, precision)


def _roc(results: ReportResults, pooled: Evaluation) -> RocCurve | None:
    code, level, rows = pooled.positive_code, results.request.level, pooled.scored()
    is_positive, used = rows.truth == code, rows.row_weights > 0
    if is_positive.all() or not is_positive.any():
        return None
    assert rows.probabilities is not None
    unit = pooled.row if pooled.groups is None else pooled.groups[pooled.row]
    band = roc_band(
        rows.probabilities[used, code],
        is_positive[used],
        unit[used],
        rows.row_weights[used],
        draws=results.budget.band_draws,
        level=level,
        seed=results.request.seed,
    )

    def area_of(rows: Scored) -> float:
        assert rows.probabilities is not None
        scores = rows.probabilities[:, code]
        return ranking.auc(rows.truth == code, scores, sample_weight=rows.weights)

    of_class = Measure("area", area_of, needs_probabilities=True, low=0.0, high=1.0)
    area = estimate_measure(results.evaluation, of_class, level=level)
    if area is None:
        why = "over all predictions; undefined in too many folds for an interval"
        area = IntervalEstimate(value=band.area, low=None, high=None, level=level, method=why)
    rates = {name: rate.tolist() for name, rate in vars(band).items() if name != "area"}
    return RocCurve(class_=code, **rates, level=level, method=BAND_METHOD, area=area)


def _calibration(results: ReportResults, pooled: Evaluation) -> CalibrationCurve:
    code, level, rows = pooled.positive_code, results.request.level, pooled.scored()
    assert rows.probabilities is not None
    curve = results.evaluation.calibration(level=level)
    scores, weights = rows.probabilities[:, code], rows.weights
    error = expected_calibration_error(rows.truth == code, scores, sample_weight=weights)
    line = pooled.calibration_line(level=level)
    bins = {k: finite_list(getattr(curve, k)) for k in ("stated", "observed", "low", "high")}
    why = (
        "mean gap over ten bins of equal width; chance alone makes it positive, so there is no "
        "valid interval"
    )
    return CalibrationCurve(
        class_=code,
        **bins,
        count=finite_list(curve.rows),
        level=curve.level,
        outside=curve.outside,
        method="where the observed share would lie if the predicted probabilities were correct",
        error=IntervalEstimate(value=error, low=None, high=None, level=level, method=why),
        slope=interval_estimate(line.slope),
        intercept=interval_estimate(line.intercept),
    )


def _net_benefit(pooled: Evaluation) -> NetBenefitCurve | None:
    """Return the decision curve for thresholds at which the tree could change a decision."""
    if len(pooled.classes) != 2:
        return None
    curve = pooled.net_benefit()
    useful = curve.thresholds[curve.model > np.maximum(curve.treat_all, 0.0) + 1e-12]
    text = "At no threshold is the tree better than treating all rows alike."
    if len(useful):
        text = _where_useful(useful)
    thresholds, model, treat_all = np.array(
        [curve.thresholds, curve.model, curve.treat_all]
    ).tolist()
    return NetBenefitCurve(pooled.positive_code, thresholds, model, treat_all, text)


def _where_useful(thresholds: NDArray[np.float64]) -> str:
    """Name the longest run of thresholds, one per cent apart, that are useful.

    Examples
    --------
    >>> _where_useful(np.array([0.07, 0.08, 0.09, 0.71]))[:38]
    'For thresholds from 7 % to 9 % and for'
    """
    runs = np.split(thresholds, np.flatnonzero(np.diff(thresholds) > 0.015) + 1)
    longest = max(runs, key=len)
    others = " and for some others" if len(runs) > 1 else ""
    ends = f"{percent(longest[0], 0)} to {percent(longest[-1], 0)}"
    return (
        f"For thresholds from {ends}{others}, acting on the tree's probabilities is better than "
        "acting on every row or on none."
    )


def _text(results: ReportResults, confusion: NDArray[np.float64]) -> str:
    """Say how many positive rows are found, or which of many classes are mostly missed."""
    labels, code = results.labels, results.evaluation.positive_code
    found = found_shares(confusion)
    if len(labels) == 2:
        label, n_predicted = f"\u201c{labels[code]}\u201d", confusion[:, code].sum()
        if n_predicted <= 0:
            return f"The tree never predicts {label}."
        precision = confusion[code, code] / n_predicted
        return (
            f"The tree finds {percent(found[code], 0)} of the {label} rows. When it predicts "
            f"{label}, it is right {percent(precision, 0)} of the time."
        )
    missed = [
        f"\u201c{labels[k]}\u201d ({percent(found[k], 0)} found)"
        for k in np.flatnonzero(found < MISSED)
    ]
    if not missed:
        return f"The tree finds at least {percent(found.min(), 0)} of the rows of every class."
    more = [f"{len(missed) - 3} more classes"] if len(missed) > 3 else []
    return f"The tree misses most rows of {listed(missed[:3] + more)}."


MISSED = 0.5
"""A class of which fewer rows are found is missed."""


def found_shares(confusion: Floats) -> Floats:
    """Return the share of each class's rows that are predicted as such; 1 of a class without."""
    n_rows = confusion.sum(axis=1)
    shares = np.ones(len(n_rows))
    np.divide(np.diag(confusion), n_rows, out=shares, where=n_rows > 0)
    return shares


def _positive_reason(results: ReportResults) -> str:
    code = results.evaluation.positive_code
    label, value = results.labels[code], results.evaluation.classes.tolist()[code]
    if results.request.positive is not None:
        why = "as requested"
    elif is_called_positive(value, results.evaluation.classes.tolist()):
        why = "chosen by its name"
    else:
        why = "the rarest"
    return f"The positive class is \u201c{label}\u201d ({why}; --positive sets another)."


# The ROC curve with a pointwise band: at each false positive rate, where the true rate may lie.

MAX_POINTS = 400


@dataclass(frozen=True, eq=False)
class RocBand:
    """A thinned ROC curve and its band: at most 400 points, from (0, 0) to (1, 1)."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    low: Floats
    high: Floats
    area: float


def roc_band(
    scores: Floats,
    positive: NDArray[np.bool_],
    unit: Integers,
    weights: Floats,
    *,
    draws: int,
    level: float,
    seed: int,
) -> RocBand:
    """Compute the ROC curve of scored predictions and a pointwise band by bootstrap.

    A `unit` is resampled as a whole: the row, which may have been predicted more than once, or its
    group. Units of one class are resampled within their class.
    """
    curve = roc(positive, scores, sample_weight=weights)
    x, y = _thinned(curve.false_positive_rate, curve.true_positive_rate)
    _, order = np.unique(-scores, return_inverse=True)
    _, units = np.unique(unit, return_inverse=True)
    resampled = _resampled_counts(
        order, positive, units, weights, np.random.default_rng(seed), draws
    )
    rates = [
        np.interp(x, _cumulative(no), _cumulative(yes))
        for yes, no in resampled
        if yes.sum() > 0 and no.sum() > 0
    ]
    tail = (1 - level) / 2
    low, high = np.quantile(rates, [tail, 1 - tail], axis=0) if len(rates) else (y, y)
    mass = np.bincount(units, weights * positive)
    n = float(mass.sum() ** 2 / (mass**2).sum())
    own = np.array([clopper_pearson(min(rate, 1.0) * n, n, level=level) for rate in y])
    low, high = np.minimum(low, own[:, 0]), np.maximum(high, own[:, 1])
    low[y == 0], high[y == 1] = 0.0, 1.0
    return RocBand(x, y, np.minimum(low, y), np.maximum(high, y), curve.area)


def _cumulative(counts: NDArray[Any]) -> Floats:
    return np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Keep points at even steps along the curve, both ends among them."""
    if len(x) <= MAX_POINTS:
        return x, y
    length = x + y
    picks = np.searchsorted(length, np.linspace(0, length[-1], MAX_POINTS - 1))
    kept = np.unique(np.concatenate([[0], picks, [len(x) - 1]]).clip(0, len(x) - 1))
    return x[kept], y[kept]


def _resampled_counts(
    order: Integers,
    positive: NDArray[np.bool_],
    units: Integers,
    weights: Floats,
    random: np.random.Generator,
    draws: int,
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Draw the weight of positive and of negative rows with each score.

    Rows of equal weight that are their own units need not be drawn one by one if scores are few,
    as those of a tree: their numbers per score are multinomial.
    """
    n_units, n_scores = int(units.max()) + 1, int(order.max()) + 1
    is_simple = n_units == len(order) and bool((weights == weights[0]).all())
    if is_simple and 10 * n_scores < n_units:
        own = [np.bincount(order[rows], minlength=n_scores) for rows in (positive, ~positive)]
        for _ in range(draws):
            yes, no = (random.multinomial(n.sum(), n / max(n.sum(), 1)) for n in own)
            yield yes, no
        return
    has_yes, has_no = (np.bincount(units, rows) > 0 for rows in (positive, ~positive))
    strata = [np.flatnonzero(has_no), np.flatnonzero(has_yes)]
    if (has_yes & has_no).any():
        strata = [np.arange(n_units)]
    for _ in range(draws):
        times = np.zeros(n_units)
        for members in filter(len, strata):
            drawn = members[random.integers(len(members), size=len(members))]
            times += np.bincount(drawn, minlength=n_units)
        w = weights * times[units]
        yes, no = (
            np.bincount(order, w * rows, minlength=n_scores) for rows in (positive, ~positive)
        )
        yield yes, no

"""The error on unseen rows, and what more rows would do."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
from scipy.stats import t as student

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.bootstrap_errors import BootstrapError
from sureleaf.evaluation.learning_curves import LearningCurve
from sureleaf.formatting import count_of, interval, percent, points, up_to_two_digits
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.report.document_schema import (
    IntervalEstimate,
    estimate_measure,
    finite,
    finite_list,
    interval_estimate,
    record_of,
)
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import (
    MeasureWords,
    ModelsSection,
    comparison_margin,
    is_settled,
    words_of,
)

SIZES_AHEAD = (1, 1.5, 2, 3, 5, 10)
"""The learning curve is extrapolated to these multiples of the rows."""
RowsHelp = Literal["yes", "a little", "hardly", "unclear"]
"""Whether more rows of the same kind would help."""
FEW_ROWS = 200
SMALLEST_PART = 0.05
"""Of the margin: a gain below this part is written as 0."""


EndOfE632 = Annotated[
    float | None, "Interval of e632_plus; null if there are too few samples for it."
]


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap estimates of the error."""

    n_bootstraps: Annotated[int, "Bootstrap samples."]
    training: Annotated[float, "Error on the training rows."]
    plain: Annotated[float, "Error on all rows of trees grown on bootstrap samples."]
    leave_one_out: Annotated[float, "Error on the rows that a bootstrap sample left out."]
    e632: Annotated[float, "The .632 and .632+ estimates."]
    e632_plus: Annotated[float, "The .632 and .632+ estimates."]
    standard_errors: Annotated[
        dict[str, float | None],
        "Standard error of each estimate; null if there are too few samples for it.",
    ]
    low: EndOfE632
    high: EndOfE632
    level: Annotated[float, "Level of the interval."]
    method: Annotated[str, "How the interval was computed."]


@dataclass(frozen=True)
class PowerLaw:
    """The curve limit - height * rows ** -rate."""

    limit: Annotated[float, "Its parameters."]
    height: Annotated[float, "Its parameters."]
    rate: Annotated[float, "Its parameters."]


Expected = Annotated[list[float | None], "The expected measure and its interval at each size."]


@dataclass(frozen=True)
class Extrapolation:
    """The curve at sizes that were not measured."""

    sizes: Annotated[list[int], "Training rows."]
    values: Expected
    low: Expected
    high: Expected


@dataclass(frozen=True)
class Curve:
    """The learning curve."""

    measure: Annotated[ComparedMeasure, "What is measured on held-out rows, as in models.measure."]
    sizes: Annotated[list[int], "Training rows."]
    values: Annotated[list[float | None], "The measure and its interval at each size."]
    low: Annotated[list[float | None], "The measure and its interval at each size."]
    high: Annotated[list[float | None], "The measure and its interval at each size."]
    level: Annotated[float, "Level of the intervals."]
    repeats: Annotated[int, "Repeats of the curve."]
    law: Annotated[PowerLaw | None, "The power law that was fitted; null if it could not be."] = (
        None
    )
    ahead: Annotated[Extrapolation | None, "The curve at larger sizes."] = None
    gain_of_doubling: Annotated[
        IntervalEstimate | None, "Change of the measure with twice as many rows."
    ] = None
    help: Annotated[RowsHelp, "Whether more rows would help."] = "unclear"
    text: Annotated[str, "The same in a sentence, with figures."] = ""


@dataclass(frozen=True)
class ErrorSection:
    """The error on unseen rows, and the learning curve."""

    cross_validation: Annotated[IntervalEstimate | None, "Cross-validated error."]
    bootstrap: Annotated[Bootstrap | None, "Bootstrap estimates of the error."]
    bootstrap_note: Annotated[str | None, "Why there is none; null if there is one."]
    differences: Annotated[tuple[str, ...], "Why the estimates differ, and which one to use."]
    curve: Annotated[Curve | None, "The learning curve."]
    curve_note: Annotated[str | None, "Why there is none; null if there is one."]


def error_section(results: ReportResults) -> ErrorSection:
    """Collect the estimates of the error."""
    request, model, evaluation = results.request, results.model, results.evaluation
    is_by_cost = model.rule is not None
    of_unseen = model.evidence.source != "training" and not results.leaves.is_class_weighted
    estimate = estimate_measure(evaluation, "error", level=request.level)
    errors = None if isinstance(results.bootstrap, str) else results.bootstrap
    curve = None if isinstance(results.curve, str) else _curve(results.curve, results)
    by_cost = is_by_cost and request.cost is not None
    paid = estimate_measure(evaluation, "cost", level=request.level) if by_cost else None
    differences = differences_text(
        estimate,
        None if errors is None else (errors.training, errors.e632_plus),
        None if is_by_cost or not of_unseen else model.levels().utility,
        None if curve is None else _end_of_curve(curve, results.n_rows),
    )
    stated = model.expected_cost() if of_unseen else None
    return ErrorSection(
        cross_validation=estimate,
        bootstrap=None if errors is None else _bootstrap(errors, results),
        bootstrap_note=results.bootstrap if isinstance(results.bootstrap, str) else None,
        differences=(*differences, *cost_difference_text(stated, paid, request.unit)),
        curve=curve,
        curve_note=results.curve if isinstance(results.curve, str) else None,
    )


NOTABLE = 0.005
"""Differences between estimates that are explained, in error rate."""
NOTABLE_OF_CURVE = 0.01
"""The same for the learning curve, of which the reader sees a picture."""


class EndOfCurve(NamedTuple):
    """The error with all rows by the learning curve, and the most rows that it was measured on."""

    error: float
    n_rows: int
    n_measured: int


def _end_of_curve(curve: Curve, n_rows: int) -> EndOfCurve | None:
    if curve.measure != "accuracy" or curve.ahead is None or n_rows not in curve.ahead.sizes:
        return None
    value = curve.ahead.values[curve.ahead.sizes.index(n_rows)]
    return None if value is None else EndOfCurve(1 - value, n_rows, curve.sizes[-1])


def differences_text(
    estimate: IntervalEstimate | None,
    bootstrap: tuple[float, float] | None,
    utility: float | None,
    curve: EndOfCurve | None = None,
) -> Iterator[str]:
    """Say why estimates of the error differ, and which one to use.

    `bootstrap` is the error on the training rows and the .632+ estimate. `utility` is what the
    leaves together state to be correct; None at costs, where the utility is something else, and
    for levels of training rows or of weighted ones.
    """
    if estimate is None:
        return
    value = estimate.value
    low = value if estimate.low is None else estimate.low
    high = value if estimate.high is None else estimate.high
    if bootstrap is not None:
        yield from _bootstrap_text(value, low, high, *bootstrap)
    if utility is not None and abs(1 - utility - value) >= NOTABLE:
        trust = (
            "Use cross-validation for the tree as a whole, the utility for its leaves."
            if low <= 1 - utility <= high
            else "The gap is wider than the interval of the cross-validation: use "
            "cross-validation, and treat the levels of the leaves with caution."
        )
        yield (
            f"By its leaves, the tree gets {percent(1 - utility)} of new rows wrong (utility "
            f"{percent(utility)}); by cross-validation, {percent(value)}. The utility describes "
            "this tree; cross-validation describes trees grown the same way on slightly fewer "
            f"rows, each of a newly chosen size. {trust}"
        )
    if curve is not None and abs(curve.error - value) >= NOTABLE_OF_CURVE:
        yield (
            f"With {curve.n_rows:,} rows the learning curve predicts an error of "
            f"{percent(curve.error)}; cross-validation measures {percent(value)}. The curve was "
            f"measured less often, with at most {curve.n_measured:,} rows, and extended. Use "
            "cross-validation for the error, and the curve for what more rows would change."
        )


def _bootstrap_text(
    value: float, low: float, high: float, training: float, e632_plus: float
) -> Iterator[str]:
    if value - training >= NOTABLE:
        yield (
            f"The error is {percent(training)} on the training rows and {percent(value)} on unseen "
            "rows. The tree was fitted to the training rows, so only the second figure counts."
        )
    if abs(e632_plus - value) >= NOTABLE:
        where = "within" if low <= e632_plus <= high else "outside"
        yield (
            f"The .632+ bootstrap estimates {percent(e632_plus)}, cross-validation "
            f"{percent(value)}; the former is {where} the interval of the latter. A bootstrap "
            "sample holds only 63 % of the distinct rows, and the correction for that is "
            "approximate. Use cross-validation."
        )


def cost_difference_text(
    stated: float | None, paid: IntervalEstimate | None, unit: str | None = None
) -> Iterator[str]:
    """Say why the cost by the leaves differs from that of the cross-validation."""
    words = MeasureWords("cost", unit)
    if stated is None or paid is None or words.value(stated) == words.value(paid.value):
        return
    yield (
        f"By its leaves, as sureleaf fit prints it, the tree costs {words.value(stated)}; by "
        f"cross-validation, {words.value(paid.value)}. The first describes this tree; "
        "cross-validation describes trees grown the same way on slightly fewer rows, each of a "
        "newly chosen size. Use cross-validation for the whole tree, the levels for its leaves."
    )


LEAST_FREEDOM = 2.0
"""Degrees of freedom below which no interval is given: the Monte-Carlo error of the variance is
then larger than the variance itself, and a t distribution has no variance."""


def _bootstrap(errors: BootstrapError, results: ReportResults) -> Bootstrap:
    level, value, n = results.request.level, errors.e632_plus, results.n_rows
    standard_error, freedom = errors.standard_errors["e632_plus"], errors.degrees_of_freedom
    # The exact interval of as many rows as have this standard error stays between 0 and 1. With few
    # samples the standard error is uncertain, so these rows are fewer by the ratio of t quantiles
    # (Korn and Graubard 1998, Survey Methodology 24, 193-201).
    rows = min(value * (1 - value) / standard_error**2, n) if standard_error > 0 else n
    is_known = freedom >= LEAST_FREEDOM
    if is_known and n > 1:
        upper = (1 + level) / 2
        rows *= min(float(student.ppf(upper, n - 1) / student.ppf(upper, freedom)), 1.0) ** 2
    low, high = clopper_pearson(min(value * rows, rows), rows, level=level)
    known = {name: finite(x) for name, x in errors.standard_errors.items()}
    more = {"low": low, "high": high, "level": level, "standard_errors": known}
    more["method"] = (
        "from the standard error over the bootstrap samples and its degrees of freedom, Korn and "
        "Graubard"
    )
    if not is_known:
        known = {name: x if name == "training" else None for name, x in known.items()}
        needed = count_of(_samples_needed(errors.n_bootstraps, freedom, n), "sample")
        why = f"no interval: the trees of different samples differ, and it would need {needed}"
        more |= {"low": None, "high": None, "standard_errors": known, "method": why}
    return record_of(Bootstrap, errors, **more)


def _samples_needed(n_bootstraps: int, freedom: float, n_rows: int) -> int:
    """Return how many bootstrap samples would have `LEAST_FREEDOM` degrees of freedom, roughly.

    With s and V of `out_of_bag_mean`, 2 / freedom = 2 n x^2 + 4 x for x = s / V, and s falls in
    proportion to the samples.
    """

    def noise(degrees: float) -> float:
        return (math.sqrt(1 + n_rows / max(degrees, 1e-9)) - 1) / n_rows

    return up_to_two_digits(math.ceil(n_bootstraps * noise(freedom) / noise(LEAST_FREEDOM)))


def _curve(curve: LearningCurve, results: ReportResults) -> Curve:
    measured = Curve(
        measure=results.measure,
        sizes=curve.sizes.tolist(),
        values=finite_list(curve.means),
        low=finite_list([e.low for e in curve.estimates]),
        high=finite_list([e.high for e in curve.estimates]),
        level=curve.level,
        repeats=len(curve.values),
    )
    n, margin, words = results.n_rows, comparison_margin(results), words_of(results)
    try:
        law = curve.power_law
        sizes = np.unique(np.rint(np.array(SIZES_AHEAD) * n).astype(np.int64))
        values, low, high = curve.predict(sizes)
        gain = interval_estimate(curve.gain(n, 2 * n))
    except InvalidArgumentError as problem:
        return replace(measured, text=f"The curve cannot be extrapolated: {problem}")
    last_gain, room = _last_gain(measured, words), math.inf
    if results.measure != "cost":  # an accuracy or an AUC ends at 1
        lead = estimate_measure(results.evaluation, results.measure, level=results.request.level)
        room = math.inf if lead is None else 1 - lead.value
    return replace(
        measured,
        law=PowerLaw(law.limit, law.height, law.rate),
        ahead=Extrapolation(sizes.tolist(), *map(finite_list, (values, low, high))),
        gain_of_doubling=gain,
        help=rows_help(gain, margin, words, last_gain),
        text=rows_text(gain, n, margin, words, last_gain, room),
    )


def _last_gain(curve: Curve, words: MeasureWords) -> float:
    """Return what the last doubling of the rows, or nearly so, gained where it was measured."""
    last = curve.sizes[-1]
    before = [i for i, size in enumerate(curve.sizes) if 1.7 * size <= last]
    ends = [curve.values[i] for i in (before[-1:] or [0])] + [curve.values[-1]]
    if ends[0] is None or ends[1] is None:
        return 0.0
    return ends[0] - ends[1] if words.measure == "cost" else ends[1] - ends[0]


def without_tests(error: ErrorSection, models: ModelsSection) -> ErrorSection:
    """Take back that more rows would hardly help a tree of one leaf, if nothing shows it.

    The learning curve of trees without tests is flat, whatever the columns hold. Only if other
    models find nothing, either, does it say that more rows would not help.
    """
    curve = error.curve
    if curve is None or curve.help != "hardly" or is_settled(models):
        return error
    text = "Whether more rows would help is not known: with more, a tree may find a useful split."
    return replace(error, curve=replace(curve, help="unclear", text=text))


def rows_help(
    gain: IntervalEstimate | None, margin: float, words: MeasureWords, last_gain: float = 0.0
) -> RowsHelp:
    """Return whether more rows of the same kind would help, by the gain of twice as many.

    They would not "hardly" help if the last doubling that was measured gained more than the margin.
    """
    if gain is None or gain.low is None or gain.high is None:
        return "unclear"
    low, _, high = _improvement(gain.low, gain.value, gain.high, words)
    if high < margin:
        return "hardly" if last_gain <= margin else "unclear"
    if low >= margin / 2:
        return "yes"
    return "a little" if low >= SMALLEST_PART * margin else "unclear"


def _improvement(low: float, value: float, high: float, words: MeasureWords) -> list[float]:
    """Return a change of the measure and its interval as an improvement, at least 0."""
    ends = (-high, -value, -low) if words.measure == "cost" else (low, value, high)
    return [max(end, 0.0) for end in ends]


def rows_text(
    gain: IntervalEstimate | None,
    n: int,
    margin: float,
    words: MeasureWords | None = None,
    last_gain: float = 0.0,
    room: float = math.inf,
) -> str:
    """Say whether more rows would help, by the gain of twice as many, which ends at `room`."""
    words = words or MeasureWords()
    if gain is None or gain.low is None or gain.high is None:
        return "Whether more rows would help is not known."
    improvement = _improvement(gain.low, gain.value, gain.high, words)
    low, value, high = (min(end, room) for end in improvement)
    helps = rows_help(gain, margin, words, last_gain)
    is_cost, digits = words.measure == "cost", 1 if margin >= 0.005 else 2
    twice, verb = f"twice as many ({2 * n:,})", "lower" if is_cost else "raise"

    def size(gap: float) -> str:
        return words.size(gap) if is_cost else f"{points(gap, digits)} percentage points"

    def span(first: float, last: float) -> str:
        return words.ends(first, last) if is_cost else interval(first, last, digits)

    if helps == "hardly":
        text = (
            f"More rows of this kind would change little: {twice} would {verb} the {words.name} by "
            f"at most {size(high)}."
        )
        if n < FEW_ROWS:
            text += " They would still raise the confidence of the leaves."
        return f"{text} Other columns might help."
    if helps == "unclear":
        return (
            f"More rows may help: {twice} may {verb} the {words.name} by up to {size(high)}, or "
            "not at all."
        )
    little = " a little" if helps == "a little" else ""
    return (
        f"More rows would help{little}: {twice} should {verb} the {words.name} by about "
        f"{size(value)} ({span(low, high)})."
    )

"""The error on unseen rows, and what more rows would do."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import BootstrapError, LearningCurve
from sureleaf.evaluation.intervals import clopper_pearson
from sureleaf.formatting import count_of, interval, listed, percent, points
from sureleaf.report.estimates import (
    IntervalEstimate,
    estimate_measure,
    finite,
    finite_list,
    interval_estimate,
)
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import (
    MeasureWords,
    ModelsSection,
    better_models,
    comparison_margin,
    is_settled,
)

__all__ = [
    "FEW_ROWS",
    "MORE_ROWS_HELP",
    "Curve",
    "ErrorSection",
    "RowsForGain",
    "differences_text",
    "error_section",
    "rows_text",
    "without_tests",
]

SIZES_AHEAD = (1, 1.5, 2, 3, 5, 10)
"""The learning curve is extrapolated to these multiples of the rows."""
MORE_ROWS_HELP = "More rows of the same kind would help"
HARDLY_HELP = "More rows of the same kind would hardly help"
FEW_ROWS = 200
SMALLEST_PART = 0.05
"""Of the margin: a gain below this part is written as 0."""


@dataclass(frozen=True)
class Bootstrap:
    """Bootstrap estimates of the error.

    Attributes
    ----------
    n_bootstraps
        Bootstrap samples.
    training
        Error on the training rows.
    plain
        Error on all rows of trees grown on bootstrap samples.
    leave_one_out
        Error on the rows that a bootstrap sample left out.
    e632, e632_plus
        The .632 and .632+ estimates.
    no_information
        Error if labels and predictions were independent.
    relative_overfitting
        From 0, no overfitting, to 1.
    standard_errors
        Standard error of each estimate; null if there are too few samples for it.
    low, high
        Interval of e632_plus; null if there are too few samples for it.
    level
        Level of the interval.
    method
        How the interval was computed.
    """

    n_bootstraps: int
    training: float
    plain: float
    leave_one_out: float
    e632: float
    e632_plus: float
    no_information: float
    relative_overfitting: float
    standard_errors: dict[str, float | None]
    low: float | None
    high: float | None
    level: float
    method: str


@dataclass(frozen=True)
class PowerLaw:
    """The curve limit - height * rows ** -rate.

    Attributes
    ----------
    limit, height, rate
        Its parameters.
    """

    limit: float
    height: float
    rate: float


@dataclass(frozen=True)
class Extrapolation:
    """The curve at sizes that were not measured.

    Attributes
    ----------
    sizes
        Training rows.
    values, low, high
        The expected measure and its interval at each size.
    """

    sizes: list[int]
    values: list[float | None]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class RowsForGain:
    """Training rows, in total, for a measure better by the margin.

    Attributes
    ----------
    target
        That value.
    rows, low, high
        Training rows and their interval; null means that no number of rows is enough.
    """

    target: float
    rows: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curve:
    """The learning curve.

    Attributes
    ----------
    measure
        What is measured on held-out rows, as in models.measure.
    sizes
        Training rows.
    values, low, high
        The measure and its interval at each size.
    level
        Level of the intervals.
    repeats
        Repeats of the curve.
    law
        The power law that was fitted; null if it could not be.
    ahead
        The curve at larger sizes.
    more_rows
        Rows for a measure better by the margin; null if the curve cannot tell how many.
    gain_of_doubling
        Change of the measure with twice as many rows.
    text
        Whether more rows would help.
    """

    measure: ComparedMeasure
    sizes: list[int]
    values: list[float | None]
    low: list[float | None]
    high: list[float | None]
    level: float
    repeats: int
    law: PowerLaw | None = None
    ahead: Extrapolation | None = None
    more_rows: RowsForGain | None = None
    gain_of_doubling: IntervalEstimate | None = None
    text: str = ""


@dataclass(frozen=True)
class ErrorSection:
    """The error on unseen rows, and the learning curve.

    Attributes
    ----------
    cross_validation
        Cross-validated error.
    bootstrap
        Bootstrap estimates of the error.
    bootstrap_note, curve_note
        Why there is none; null if there is one.
    differences
        Why the estimates differ, and which one to use.
    curve
        The learning curve.
    """

    cross_validation: IntervalEstimate | None
    bootstrap: Bootstrap | None
    bootstrap_note: str | None
    differences: tuple[str, ...]
    curve: Curve | None
    curve_note: str | None


def error_section(results: ReportResults) -> ErrorSection:
    """Collect the estimates of the error."""
    bootstrap, curve = results.bootstrap, results.curve
    evaluation, is_by_cost = results.evaluation, results.model.rule is not None
    estimate = estimate_measure(evaluation, "error", level=results.request.level)
    measured = None if isinstance(curve, str) else _curve(curve, results)
    return ErrorSection(
        cross_validation=estimate,
        bootstrap=None if isinstance(bootstrap, str) else _bootstrap(bootstrap, results),
        bootstrap_note=bootstrap if isinstance(bootstrap, str) else None,
        differences=tuple(
            differences_text(
                estimate,
                None if isinstance(bootstrap, str) else (bootstrap.training, bootstrap.e632_plus),
                None if is_by_cost else results.model.levels().utility,
                None if measured is None else _end_of_curve(measured, results.n_rows),
            )
        ),
        curve=measured,
        curve_note=curve if isinstance(curve, str) else None,
    )


NOTABLE = 0.005
"""Differences between estimates that are explained, in error rate."""
NOTABLE_OF_CURVE = 0.01
"""The same for the learning curve, of which the reader sees a picture."""


class EndOfCurve(NamedTuple):
    """What the learning curve says about the error with all rows.

    Parameters
    ----------
    error : float
    n_rows : int
        All rows.
    n_measured : int
        The most rows on which the curve was measured.
    """

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

    Parameters
    ----------
    estimate : IntervalEstimate or None
        Cross-validated error.
    bootstrap : tuple of float, or None
        Error on the training rows, and the .632+ estimate.
    utility : float or None
        Of the tree: what its leaves together state to be correct; None at costs, where the utility
        is something else.
    curve : EndOfCurve, optional

    Examples
    --------
    >>> estimate = IntervalEstimate(value=0.27, low=0.24, high=0.30, level=0.95, method="")
    >>> for text in differences_text(estimate, (0.20, 0.268), 0.728):
    ...     print(text)
    Training rows 20.0 %, unseen rows 27.0 %: the tree was fitted to the training rows, so the first
    figure is too good. Use the second.
    """
    if estimate is None:
        return
    value = estimate.value
    low = value if estimate.low is None else estimate.low
    high = value if estimate.high is None else estimate.high
    if bootstrap is not None:
        training, e632_plus = bootstrap
        if value - training >= NOTABLE:
            yield (
                f"Training rows {percent(training)}, unseen rows {percent(value)}: the tree was "
                "fitted to the training rows, so the first figure is too good. Use the second."
            )
        if abs(e632_plus - value) >= NOTABLE:
            agree = (
                "within the interval of" if low <= e632_plus <= high else "outside the interval of"
            )
            yield (
                f"Cross-validation {percent(value)}, .632+ bootstrap {percent(e632_plus)}, "
                f"{agree} the cross-validated error: trees of the bootstrap are grown on 63 % of "
                "the different rows, and the correction for this is approximate. Use "
                "cross-validation."
            )
    if utility is not None and abs(1 - utility - value) >= NOTABLE:
        trust = (
            "Use cross-validation for the tree as a whole, the utility for its leaves."
            if low <= 1 - utility <= high
            else "The gap is larger than the interval of the cross-validation: use "
            "cross-validation, and take the levels of the leaves with caution."
        )
        yield (
            f"The leaves together state {percent(1 - utility)} wrong (utility "
            f"{percent(utility)}), cross-validation {percent(value)}: the utility is about this "
            "very tree; cross-validation is about trees grown in the same way on slightly fewer "
            f"rows, with their size chosen anew. {trust}"
        )
    if curve is not None and abs(curve.error - value) >= NOTABLE_OF_CURVE:
        yield (
            f"The learning curve leads to {percent(curve.error)} with {curve.n_rows:,} rows, "
            f"cross-validation gives {percent(value)}: the curve was measured with at most "
            f"{curve.n_measured:,} rows, fewer times, and is extrapolated. Use cross-validation "
            "for the error, and the curve for what more rows would change."
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
    method = (
        "from the standard error over the bootstrap samples and its degrees of freedom, Korn and "
        "Graubard"
    )
    if not is_known:
        known = {name: x if name == "training" else None for name, x in known.items()}
        needed = count_of(_samples_needed(errors.n_bootstraps, freedom, n), "sample")
        method = f"no interval: the trees of different samples differ, and it would need {needed}"
    return Bootstrap(
        n_bootstraps=errors.n_bootstraps,
        training=errors.training,
        plain=errors.plain,
        leave_one_out=errors.leave_one_out,
        e632=errors.e632,
        e632_plus=value,
        no_information=errors.no_information,
        relative_overfitting=errors.relative_overfitting,
        standard_errors=known,
        low=low if is_known else None,
        high=high if is_known else None,
        level=level,
        method=method,
    )


def _samples_needed(n_bootstraps: int, freedom: float, n_rows: int) -> int:
    """Return how many bootstrap samples would have `LEAST_FREEDOM` degrees of freedom, roughly.

    With s and V of `out_of_bag_mean`, 2 / freedom = 2 n x^2 + 4 x for x = s / V, and s falls in
    proportion to the samples.
    """

    def noise(degrees: float) -> float:
        return (math.sqrt(1 + n_rows / max(degrees, 1e-9)) - 1) / n_rows

    needed = math.ceil(n_bootstraps * noise(freedom) / noise(LEAST_FREEDOM))
    unit = int(10 ** max(len(str(needed)) - 2, 0))
    return -(-needed // unit) * unit


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
    n, margin, words = results.n_rows, comparison_margin(results), MeasureWords(results.measure)
    try:
        law = curve.power_law
        sizes = np.unique(np.rint(np.array(SIZES_AHEAD) * n).astype(np.int64))
        values, low, high = curve.predict(sizes)
        gain = interval_estimate(curve.gain(n, 2 * n))
    except InvalidArgumentError as problem:
        return replace(measured, text=f"The curve cannot be extrapolated: {problem}")
    target = float(law(n)) + (-margin if words.measure == "cost" else margin)
    more_rows = None
    if words.measure == "cost" or target < 1:
        reach = curve.rows_for(target)
        ends = (finite(reach.rows), finite(reach.low), finite(reach.high))
        more_rows = RowsForGain(target, *ends) if reach.is_known else None
    return replace(
        measured,
        law=PowerLaw(law.limit, law.height, law.rate),
        ahead=Extrapolation(
            sizes.tolist(), finite_list(values), finite_list(low), finite_list(high)
        ),
        gain_of_doubling=gain,
        more_rows=more_rows,
        text=rows_text(gain, more_rows, n, margin, words),
    )


def without_tests(error: ErrorSection, models: ModelsSection) -> ErrorSection:
    """Take back that more rows would hardly help a tree of one leaf, if nothing shows it.

    The learning curve of trees without tests is flat, whatever the columns hold. Only if other
    models find nothing, either, does it say that more rows would not help.
    """
    curve, better = error.curve, better_models(models)
    if curve is None or not curve.text.startswith(HARDLY_HELP) or is_settled(models):
        return error
    text = (
        "It is not known whether more rows of the same kind would help: the trees of the learning "
        "curve found hardly any useful test, and with more rows they may find one."
    )
    if better:
        text += (
            f" Other models find more in these rows: {listed(better)} (see \u201cOther "
            "models\u201d)."
        )
    return replace(error, curve=replace(curve, text=text))


def rows_text(
    gain: IntervalEstimate | None,
    more_rows: RowsForGain | None,
    n: int,
    margin: float,
    words: MeasureWords | None = None,
) -> str:
    """Say whether more rows would help.

    Parameters
    ----------
    gain : IntervalEstimate
        Change of the measure with twice as many rows.
    more_rows : RowsForGain or None
    n : int
        Rows of the table.
    margin : float
        The smallest gain that matters.
    words : MeasureWords, optional
        Of the measure; by default the accuracy.

    Examples
    --------
    >>> gain = IntervalEstimate(value=0.02, low=0.012, high=0.03, level=0.95, method="")
    >>> print(rows_text(gain, RowsForGain(0.81, 1500, 1200, 2500), 1000, 0.01))
    More rows of the same kind would help: twice as many (2,000) are expected to raise the accuracy
    by 2.0 percentage points (1.2 to 3.0). A gain of 1.0 percentage points needs about 500 more
    rows (200 to 1,500).
    """
    words = words or MeasureWords()
    if gain is None or gain.low is None or gain.high is None:
        return "It is not known whether more rows of the same kind would help."
    ends = (gain.low, gain.value, gain.high)
    if words.measure == "cost":
        ends = (-gain.high, -gain.value, -gain.low)
    low, value, high = (max(end, 0.0) for end in ends)
    is_cost, digits = words.measure == "cost", 1 if margin >= 0.005 else 2
    twice, verb = f"twice as many ({2 * n:,})", "lower" if is_cost else "raise"

    def size(gap: float) -> str:
        return words.size(gap) if is_cost else f"{points(gap, digits)} percentage points"

    def span(first: float, last: float) -> str:
        return words.ends(first, last) if is_cost else interval(first, last, digits)

    if high < margin:
        text = (
            f"{HARDLY_HELP}: {twice} are expected to {verb} the "
            f"{words.name} by at most {size(high)}."
        )
        if n < FEW_ROWS:
            text += " They would still make its leaves surer."
        return f"{text} Other columns might help."
    if SMALLEST_PART * margin <= low < margin / 2:
        return (
            f"{MORE_ROWS_HELP}, perhaps only a little: {twice} are expected to {verb} the "
            f"{words.name} by {size(value)} ({span(low, high)})."
        )
    if low < margin / 2:
        unit = "per row" if is_cost else "percentage points"
        return (
            f"It is not clear whether more rows of the same kind would help: {twice} may {verb} "
            f"the {words.name} by {span(low, high)} {unit}."
        )
    text = (
        f"{MORE_ROWS_HELP}: {twice} are expected to {verb} the {words.name} by {size(value)} "
        f"({span(low, high)})."
    )
    if more_rows and more_rows.rows is not None and more_rows.rows > n:
        least = max((more_rows.low or n) - n, 0)
        most = "no upper limit" if more_rows.high is None else f"{more_rows.high - n:,.0f}"
        text += (
            f" A gain of {size(margin)} needs about "
            f"{count_of(more_rows.rows - n, 'more row')} ({least:,.0f} to {most})."
        )
    return text

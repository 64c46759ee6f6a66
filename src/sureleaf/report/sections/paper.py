"""The paragraph for the paper: sample size, validation, calibration and performance of the tree.

It answers these items of TRIPOD+AI with the numbers of the report. Every number is listed with the
place in the document that it comes from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from sureleaf.formatting import (
    amount,
    count,
    level_percent,
    listed,
    measure_value,
    points,
    share_value,
    upper_first,
)
from sureleaf.report.estimates import IntervalEstimate
from sureleaf.report.request import Budget
from sureleaf.report.sections.answer import AnswerSection
from sureleaf.report.sections.data import DataSection
from sureleaf.report.sections.error import ErrorSection
from sureleaf.report.sections.quality import MeasureEstimate, QualitySection
from sureleaf.report.sections.tree import TreeSection


@dataclass(frozen=True)
class PaperNumber:
    """A number of the paragraph."""

    path: Annotated[str, "Where it is in this document, such as data.rows."]
    value: Annotated[float, "The number there."]
    text: Annotated[str, "As the paragraph writes it."]


@dataclass(frozen=True)
class Reference:
    """A source that the paragraph cites."""

    citation: Annotated[str, "As the paragraph cites it."]
    text: Annotated[str, "The entry for the list of references."]


@dataclass(frozen=True)
class PaperSection:
    """A paragraph on methods and results, to copy into a paper."""

    text: Annotated[str, "The paragraph."]
    items: Annotated[
        list[str], "The items of TRIPOD+AI that it answers, in the order of its sentences."
    ]
    numbers: Annotated[tuple[PaperNumber, ...], "All its numbers, in their order."]
    references: Annotated[tuple[Reference, ...], "The sources that it cites."]


TRIPOD = Reference(
    "Collins et al. 2024",
    "Collins, G. S., et al. (2024). TRIPOD+AI statement: updated guidance for reporting clinical "
    "prediction models that use regression or machine learning methods. BMJ 385, e078378.",
)
NADEAU = Reference(
    "Nadeau and Bengio 2003",
    "Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, "
    "239-281.",
)
EFRON = Reference(
    "Efron and Tibshirani 1997",
    "Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap "
    "method. JASA 92, 548-560.",
)
ZHANG = Reference(
    "Zhang 2024",
    "Zhang, Z. (2024). Levels of confidence and utility for binary classifiers. Stats 7, "
    "1209-1225.",
)


class _Writer:
    """Collects the numbers and sources of the sentences that are written with it."""

    def __init__(self) -> None:
        self.numbers: list[PaperNumber] = []
        self.references: list[Reference] = [TRIPOD]

    def number(self, path: str, value: float, write: Callable[[float], str] = count) -> str:
        self.numbers.append(PaperNumber(path, float(value), write(value)))
        return self.numbers[-1].text

    def cite(self, reference: Reference) -> str:
        if reference not in self.references:
            self.references.append(reference)
        return reference.citation


def paper_section(
    data: DataSection,
    tree: TreeSection,
    quality: QualitySection,
    error: ErrorSection,
    answer: AnswerSection,
    budget: Budget,
    missing: str,
) -> PaperSection:
    """Write the paragraph from the other sections; `missing` is how the tree treats such values."""
    writer = _Writer()
    sentences = [
        *_sample_size(writer, data, tree),
        *_missing_cells(writer, data, missing),
        *_validation(writer, tree, budget),
        *_calibration(writer, quality),
        *_performance(writer, quality, error, answer, tree, data.unit),
        f"Reported following TRIPOD+AI ({TRIPOD.citation}).",
    ]
    return PaperSection(
        text=" ".join(sentences),
        items=["sample size", "model and validation", "calibration", "performance"],
        numbers=tuple(writer.numbers),
        references=tuple(writer.references),
    )


def _sample_size(writer: _Writer, data: DataSection, tree: TreeSection) -> list[str]:
    number = writer.number
    rows = f"The sample has {number('data.rows', data.rows)} rows"
    if data.n_groups is not None:
        rows += f" in {number('data.n_groups', data.n_groups)} groups"
    parts = [
        f"{one.label} {number(f'data.classes.{index}.count', one.count)} "
        f"({number(f'data.classes.{index}.share', one.share, _percent)})"
        for index, one in enumerate(data.classes)
    ]
    needed = [
        (index, node)
        for index, node in enumerate(tree.nodes)
        if not node.children and node.total_rows_needed is not None and node.flagged
    ]
    sentences = [f"{rows}: {', '.join(parts)}."]
    if needed:
        index, node = max(needed, key=lambda each: each[1].total_rows_needed or 0)
        wanted = tree.wanted.confidence
        level = (
            "the wanted levels"
            if wanted is None
            else f"a confidence of {number('tree.wanted.confidence', wanted, level_percent)}"
        )
        rows_needed = number(f"tree.nodes.{index}.total_rows_needed", node.total_rows_needed or 0)
        sentences.append(
            f"For {level} in every leaf for which the number can be estimated, {rows_needed} rows "
            f"would be needed ({writer.cite(ZHANG)})."
        )
    return sentences


_TREATED = {
    "branch": "each test of the tree sends rows without the value down the branch that the "
    "training rows favour",
    "fraction": "a row without the value goes down every branch of a test, weighted by the share "
    "of the rows there",
}


def _missing_cells(writer: _Writer, data: DataSection, missing: str) -> list[str]:
    cells = writer.number("data.missing_cells", data.missing_cells)
    if not data.missing_cells:
        return [f"Missing values: {cells}."]
    return [f"Missing values: {cells}; none was imputed, and {_TREATED[missing]}."]


def _validation(writer: _Writer, tree: TreeSection, budget: Budget) -> list[str]:
    number = writer.number
    leaves = number("tree.n_leaves", tree.n_leaves)
    depth = number("tree.depth", tree.depth)
    folds = number("methods.budget.folds", budget.folds)
    repeats = number("methods.budget.repeats", budget.repeats)
    half = ", of which one half grew it," if tree.levels_source == "honest" else ""
    sentences = [
        f"A decision tree (leaves: {leaves}, depth: {depth}) was fitted to all rows{half} and "
        f"validated internally by cross-validation (folds: {folds}, repeats: {repeats}) that "
        "repeats every step of the fit, including the choice of its size. Intervals are corrected "
        f"for overlapping training sets ({writer.cite(NADEAU)})."
    ]
    if tree.stability is not None and tree.stability.n_splits:
        returning = number("tree.stability.n_returning", tree.stability.n_returning)
        splits = number("tree.stability.n_splits", tree.stability.n_splits)
        trees = number("tree.stability.n_trees", tree.stability.n_trees)
        sentences.append(
            f"Splits that returned in more than half of {trees} trees grown on random halves of "
            f"the rows: {returning} of {splits}."
        )
    return sentences


def _calibration(writer: _Writer, quality: QualitySection) -> list[str]:
    curve = quality.calibration
    if curve is None:
        return ["Calibration was not assessed."]
    error = writer.number("quality.calibration.error.value", curve.error.value, measure_value)
    outside = writer.number("quality.calibration.outside", curve.outside)
    level = writer.number("quality.calibration.level", curve.level, level_percent)
    sentences = [
        f"The expected calibration error of the probabilities of {quality.labels[curve.class_]} "
        f"was {error}; bins outside the {level} band of a calibrated model: {outside}."
    ]
    lines = [
        _with_interval(writer, f"quality.calibration.{name}", f"calibration {name}", one)
        for name, one in (("slope", curve.slope), ("intercept", curve.intercept))
        if one is not None
    ]
    return [*sentences, *([f"{upper_first(listed(lines))}."] if lines else [])]


_NAMES = {"accuracy": "Accuracy", "auc": "AUC", "cost": "Mean cost"}


def _performance(
    writer: _Writer,
    quality: QualitySection,
    error: ErrorSection,
    answer: AnswerSection,
    tree: TreeSection,
    unit: str | None,
) -> list[str]:
    number = writer.number
    sentences = []
    for index, measure in enumerate(quality.measures):
        if measure.name not in _NAMES or (measure.name == "cost" and not quality.cost_given):
            continue
        sentence = _measure(writer, f"quality.measures.{index}", measure, unit)
        if measure.name == "accuracy":
            baseline = number("answer.baseline", answer.baseline, _percent)
            sentence += f", always predicting the most frequent class {baseline}"
        sentences.append(f"{sentence}.")
    if error.bootstrap is not None:
        boot = error.bootstrap
        value = number("error.bootstrap.e632_plus", boot.e632_plus, _percent)
        ends = "no valid interval"
        if boot.low is not None and boot.high is not None:
            level = number("error.bootstrap.level", boot.level, level_percent)
            low = number("error.bootstrap.low", boot.low, points)
            high = number("error.bootstrap.high", boot.high, points)
            ends = f"{level} interval {low} to {high}"
        sentences.append(
            f"The bootstrap estimate of the error was {value} ({ends}; {writer.cite(EFRON)})."
        )
    if not tree.at_costs and tree.of_rows == "new rows":
        utility = number("tree.levels.utility", tree.levels.utility, _percent)
        sentences.append(
            f"The fitted tree itself is expected to predict {utility} of new rows correctly."
        )
    return sentences


def _measure(writer: _Writer, path: str, measure: MeasureEstimate, unit: str | None) -> str:
    plain = partial(amount, unit=unit) if measure.name == "cost" else share_value
    write, ends = (_percent, points) if measure.name == "accuracy" else (plain, plain)
    name = f"{_NAMES[measure.name]} on unseen rows"
    return _with_interval(writer, path, name, measure, write, ends)


def signed(value: float) -> str:
    """Write a number that may be negative, with the sign that print uses."""
    return measure_value(value).replace("-", "\u2212")


def _with_interval(
    writer: _Writer,
    path: str,
    name: str,
    estimate: IntervalEstimate,
    write: Callable[[float], str] = signed,
    ends: Callable[[float], str] = signed,
) -> str:
    value = writer.number(f"{path}.value", estimate.value, write)
    clause = f"{name} was {value}"
    if estimate.low is None or estimate.high is None:
        return f"{clause} (no valid interval)"
    level = writer.number(f"{path}.level", estimate.level, level_percent)
    low = writer.number(f"{path}.low", estimate.low, ends)
    high = writer.number(f"{path}.high", estimate.high, ends)
    return f"{clause} ({level} interval {low} to {high})"


def _percent(share: float) -> str:
    return f"{points(share)} %"

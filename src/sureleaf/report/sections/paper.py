"""The paragraph for the paper: sample size, validation, calibration and performance of the tree.

It answers these items of TRIPOD+AI with the numbers of the report. Every number is listed with the
place in the document that it comes from.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Annotated, Any

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
    """Writes numbers of the document, and collects them and the sources that are cited."""

    def __init__(self, sections: Mapping[str, Any]) -> None:
        self._sections = sections
        self.numbers: list[PaperNumber] = []
        self.references: list[Reference] = [TRIPOD]

    def value(self, path: str) -> Any:
        """Return what stands in the document at a place such as data.classes.0.count."""
        first, *steps = path.split(".")
        return reduce(
            lambda part, step: part[int(step)] if step.isdigit() else getattr(part, step),
            steps,
            self._sections[first],
        )

    def number(self, path: str, write: Callable[[float], str] = count) -> str:
        value = self.value(path)
        self.numbers.append(PaperNumber(path, float(value), write(value)))
        return self.numbers[-1].text

    def interval(self, path: str, write: Callable[[float], str]) -> str:
        """Write the interval of an estimate."""
        if self.value(f"{path}.low") is None or self.value(f"{path}.high") is None:
            return "no valid interval"
        level = self.number(f"{path}.level", level_percent)
        low, high = (self.number(f"{path}.{end}", write) for end in ("low", "high"))
        return f"{level} interval {low} to {high}"

    def cite(self, reference: Reference) -> str:
        if reference not in self.references:
            self.references.append(reference)
        return reference.citation


def paper_section(sections: Mapping[str, Any], missing: str) -> PaperSection:
    """Write the paragraph from the other sections; `missing` is how the tree treats such values."""
    writer = _Writer(sections)
    treated = f"; none was imputed, and {_TREATED[missing]}"
    sentences = [
        *_sample_size(writer),
        f"Missing values: {writer.number('data.missing_cells')}"
        f"{treated if writer.value('data.missing_cells') else ''}.",
        *_validation(writer),
        *_calibration(writer),
        *_performance(writer),
        f"Reported following TRIPOD+AI ({TRIPOD.citation}).",
    ]
    return PaperSection(
        text=" ".join(sentences),
        items=["sample size", "model and validation", "calibration", "performance"],
        numbers=tuple(writer.numbers),
        references=tuple(writer.references),
    )


def _sample_size(writer: _Writer) -> Iterator[str]:
    number, data, tree = writer.number, writer.value("data"), writer.value("tree")
    rows = f"The sample has {number('data.rows')} rows"
    if data.n_groups is not None:
        rows += f" in {number('data.n_groups')} groups"
    parts = [
        f"{one.label} {number(f'data.classes.{index}.count')} "
        f"({number(f'data.classes.{index}.share', _percent)})"
        for index, one in enumerate(data.classes)
    ]
    yield f"{rows}: {', '.join(parts)}."
    needed = {
        index: node.total_rows_needed
        for index, node in enumerate(tree.nodes)
        if not node.children and node.total_rows_needed is not None and node.flagged
    }
    if needed:
        level = "the wanted levels"
        if tree.wanted.confidence is not None:
            level = f"a confidence of {number('tree.wanted.confidence', level_percent)}"
        rows_needed = number(f"tree.nodes.{max(needed, key=needed.__getitem__)}.total_rows_needed")
        yield (
            f"For {level} in every leaf for which the number can be estimated, {rows_needed} rows "
            f"would be needed ({writer.cite(ZHANG)})."
        )


_TREATED = {
    "branch": "each test of the tree sends rows without the value down the branch that the "
    "training rows favour",
    "fraction": "a row without the value goes down every branch of a test, weighted by the share "
    "of the rows there",
}


def _validation(writer: _Writer) -> Iterator[str]:
    number, tree = writer.number, writer.value("tree")
    leaves, depth = number("tree.n_leaves"), number("tree.depth")
    folds, repeats = number("methods.budget.folds"), number("methods.budget.repeats")
    half = ", of which one half grew it," if tree.levels_source == "honest" else ""
    yield (
        f"A decision tree (leaves: {leaves}, depth: {depth}) was fitted to all rows{half} and "
        f"validated internally by cross-validation (folds: {folds}, repeats: {repeats}) that "
        "repeats every step of the fit, including the choice of its size. Intervals are corrected "
        f"for overlapping training sets ({writer.cite(NADEAU)})."
    )
    if tree.stability is not None and tree.stability.n_splits:
        returning, splits = number("tree.stability.n_returning"), number("tree.stability.n_splits")
        yield (
            f"Splits that returned in more than half of {number('tree.stability.n_trees')} trees "
            f"grown on random halves of the rows: {returning} of {splits}."
        )


def _calibration(writer: _Writer) -> Iterator[str]:
    number, quality = writer.number, writer.value("quality")
    curve = quality.calibration
    if curve is None:
        yield "Calibration was not assessed."
        return
    error = number("quality.calibration.error.value", measure_value)
    outside = number("quality.calibration.outside")
    level = number("quality.calibration.level", level_percent)
    yield (
        f"The expected calibration error of the probabilities of {quality.labels[curve.class_]} "
        f"was {error}; bins outside the {level} band of a calibrated model: {outside}."
    )
    lines = [
        _with_interval(writer, f"quality.calibration.{name}", f"calibration {name}", signed, signed)
        for name, one in (("slope", curve.slope), ("intercept", curve.intercept))
        if one is not None
    ]
    if lines:
        yield f"{upper_first(listed(lines))}."


_NAMES = {"accuracy": "Accuracy", "auc": "AUC", "cost": "Mean cost"}


def _performance(writer: _Writer) -> Iterator[str]:
    number, quality, tree = writer.number, writer.value("quality"), writer.value("tree")
    for index, name in enumerate(measure.name for measure in quality.measures):
        if name not in _NAMES or (name == "cost" and not quality.cost_given):
            continue
        plain = partial(amount, unit=writer.value("data.unit")) if name == "cost" else share_value
        write, ends = (_percent, points) if name == "accuracy" else (plain, plain)
        called = f"{_NAMES[name]} on unseen rows"
        sentence = _with_interval(writer, f"quality.measures.{index}", called, write, ends)
        if name == "accuracy":
            baseline = number("answer.baseline", _percent)
            sentence += f", always predicting the most frequent class {baseline}"
        yield f"{sentence}."
    if writer.value("error.bootstrap") is not None:
        value = number("error.bootstrap.e632_plus", _percent)
        ends_text = f"{writer.interval('error.bootstrap', points)}; {writer.cite(EFRON)}"
        yield f"The bootstrap estimate of the error was {value} ({ends_text})."
    if not tree.at_costs and tree.of_rows == "new rows":
        utility = number("tree.levels.utility", _percent)
        yield f"The fitted tree itself is expected to predict {utility} of new rows correctly."


def signed(value: float) -> str:
    """Write a number that may be negative, with the sign that print uses."""
    return measure_value(value).replace("-", "\u2212")


def _with_interval(
    writer: _Writer,
    path: str,
    name: str,
    write: Callable[[float], str],
    ends: Callable[[float], str],
) -> str:
    value = writer.number(f"{path}.value", write)
    return f"{name} was {value} ({writer.interval(path, ends)})"


def _percent(share: float) -> str:
    return f"{points(share)} %"

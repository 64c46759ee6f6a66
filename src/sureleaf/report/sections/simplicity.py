"""The price of simplicity: what trees of every size are worth, and what this size gives up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from sureleaf.formatting import count_of
from sureleaf.report.baselines import MARGIN_ZERO, THIS_TREE, decides_by_costs, sized_tree
from sureleaf.report.estimates import IntervalEstimate, estimate_measure
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import (
    ComparedModel,
    MeasureWords,
    ModelComparison,
    ModelsSection,
    words_of,
)


@dataclass(frozen=True, kw_only=True)
class SizeEstimate(IntervalEstimate):
    """What trees of one size are worth on unseen rows."""

    leaves: Annotated[int, "The largest number of leaves that they may have."]


@dataclass(frozen=True, kw_only=True)
class SizeMark(IntervalEstimate):
    """A model beside the curve."""

    name: Annotated[str, "Its name, as in models.rows."]
    leaves: Annotated[
        int | None, "Leaves of the model fitted on all rows; null if it is not one tree."
    ]


@dataclass(frozen=True)
class SimplicitySection:
    """Size against accuracy; against the mean cost if the user gave costs, the AUC if rare."""

    measure: Annotated[ComparedMeasure, "What is estimated, as in models.measure."]
    better: Annotated[Literal["high", "low"], "Whether high or low values are good."]
    sizes: Annotated[
        tuple[SizeEstimate, ...],
        "The curve: the best trees with at most this many leaves, as max_leaves gives them.",
    ]
    marks: Annotated[
        tuple[SizeMark, ...],
        "This tree first, then other models; models that are not one tree have no leaves.",
    ]
    intervals: Annotated[str, "What the intervals mean, and what they do not."]
    text: Annotated[str, "What is given up for the size of this tree."]


def simplicity_section(results: ReportResults, models: ModelsSection) -> SimplicitySection:
    """Estimate what each size is worth; the models and differences are those of the comparison."""
    words, level = words_of(results), results.request.level
    measure = words.measure
    sizes = []
    for size in results.sizes:
        estimate = estimate_measure(size.evaluation, measure, level=level)
        if estimate is not None:
            sizes.append(SizeEstimate(**vars(estimate), leaves=size.most_leaves))
    marks = []
    for row in models.rows:
        estimate = row.estimate(measure)
        if estimate is not None:
            marks.append(SizeMark(**vars(estimate), name=row.name, leaves=row.leaves))
    return SimplicitySection(
        measure=measure,
        better="low" if measure == "cost" else "high",
        sizes=tuple(sizes),
        marks=tuple(marks),
        intervals=_intervals_text(results),
        text=price_text(models.rows, words, _chosen_by(results, words)),
    )


def _chosen_by(results: ReportResults, words: MeasureWords) -> str:
    """Return by what the sizes are chosen: a tree that does not know the costs counts errors."""
    request = results.request
    return words.name if decides_by_costs(request, sized_tree(request)) else "accuracy"


def _intervals_text(results: ReportResults) -> str:
    budget = results.budget
    times = f", {budget.repeats} times" if budget.repeats > 1 else ""
    return (
        f"Each size is tested on rows that did not choose it ({budget.folds} folds{times}). All "
        "are tested on the same rows, so differences are more certain than the intervals suggest."
    )


def price_text(
    rows: Sequence[ComparedModel], words: MeasureWords, chosen_by: str | None = None
) -> str:
    """Say what is given up for the size of the tree, the first of the rows.

    Sizes are chosen by the measure, if nothing else is said.
    """
    by_name = {row.name: row for row in rows}
    this, other = by_name[THIS_TREE], by_name.get(MARGIN_ZERO)
    own, value = count_of(this.leaves or 1, "leaf", "leaves"), _value(this, words)
    if other is None or other.leaves is None:
        return f"The tree has {own} ({words.name} {value})."
    theirs = f"{other.leaves:,} ({words.name} {_value(other, words)})"
    comparison = other.comparison
    if this.leaves == other.leaves:
        return f"Chosen by {chosen_by or words.name} alone, the tree would have {own}, too."
    if comparison is not None and words.gain(comparison)[0] <= 0:
        return (
            f"Nothing is given up: the tree has {own} ({words.name} {value}). Chosen by "
            f"{chosen_by or words.name} alone, it would have {theirs}."
        )
    standing = "" if comparison is None else f"; {_standing(comparison, words)}"
    return (
        f"The tree has {own} ({words.name} {value}). Chosen by {chosen_by or words.name} alone, it "
        f"would have {theirs}{standing}."
    )


def _value(row: ComparedModel, words: MeasureWords) -> str:
    estimate = row.estimate(words.measure)
    return "not known" if estimate is None else words.value(estimate.value)


def _standing(comparison: ModelComparison, words: MeasureWords) -> str:
    """Say how much better a tree is than this one, if these rows show it."""
    gain, low, high = words.gain(comparison)
    if low <= 0 <= high:
        return f"the difference may be chance ({words.signed(comparison.low, comparison.high)})"
    word = words.better if gain > 0 else words.worse
    return f"it is {word} by {words.size(gain)} ({words.ends(low, high)})"

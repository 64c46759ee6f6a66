"""The price of simplicity: what trees of every size are worth, and what this size gives up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from sureleaf.formatting import count_of, listed, upper_first
from sureleaf.report.baselines import (
    BAGGED_TREES,
    C45_TREE,
    MARGIN_ZERO,
    SCIKIT_LEARNS_TREE,
    THIS_TREE,
    decides_by_costs,
    sized_tree,
)
from sureleaf.report.estimates import IntervalEstimate, estimate_measure
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import (
    ComparedModel,
    MeasureWords,
    ModelComparison,
    ModelsSection,
)

__all__ = ["SimplicitySection", "SizeEstimate", "price_text", "simplicity_section"]


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
    words, level = MeasureWords(results.measure), results.request.level
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
        text=price_text(models.rows, words, models.margin, _chosen_by(results, words)),
    )


def _chosen_by(results: ReportResults, words: MeasureWords) -> str:
    """Return by what the sizes are chosen: a tree that does not know the costs counts errors."""
    request = results.request
    return words.name if decides_by_costs(request, sized_tree(request)) else "accuracy"


def _intervals_text(results: ReportResults) -> str:
    budget = results.budget
    times = f", {budget.repeats} times" if budget.repeats > 1 else ""
    return (
        f"Every size is tested on out-of-fold predictions ({budget.folds} folds{times}): in each "
        "fold the best tree with at most so many leaves is chosen by cross-validation of the other "
        "folds, as max_leaves does. Each interval holds "
        "for its size alone (corrected resampled t interval). All sizes are tested on the same "
        "rows, so differences between them are known better than the intervals suggest; the "
        "differences to this tree are under “Other models”."
    )


def price_text(
    rows: Sequence[ComparedModel],
    words: MeasureWords,
    margin: float = 0.0,
    chosen_by: str | None = None,
) -> str:
    """Say what is given up for the size of the tree, the first of the rows.

    Another model is named if its estimate is better by more than the margin. Sizes are chosen by
    the measure, if nothing else is said.
    """
    by_name = {row.name: row for row in rows}
    this, other, c45 = by_name[THIS_TREE], by_name.get(MARGIN_ZERO), by_name.get(C45_TREE)
    own, value = count_of(this.leaves or 1, "leaf", "leaves"), _value(this, words)
    better = _better_kinds(rows, words, margin)
    nothing = "" if better else "Nothing is given up: "
    # The figures are those of trees grown in the same way, of which some may have tests.
    same = "; trees that are grown in the same way:" if this.leaves == 1 else ","
    by = f"chosen by {chosen_by or words.name} alone, the tree has {own}, too."
    sentences = []
    if other is not None and other.leaves is not None:
        comparison, theirs = other.comparison, _value(other, words)
        if this.leaves == other.leaves == 1:
            # Without a test there is nothing to give up, even if other models find more.
            sentences.append(upper_first(by))
        elif this.leaves == other.leaves:
            sentences.append(upper_first(nothing + by))
        elif comparison is not None and words.gain(comparison)[0] <= 0:
            sentences.append(
                f"{nothing}{own}{same} {words.name} {value}. The size that is chosen with a "
                f"margin of 0 has {other.leaves:,}, {words.name} {theirs}."
            )
        else:
            size = "larger" if other.leaves > (this.leaves or 1) else "smaller"
            standing = (
                "" if comparison is None else f"; the {size} tree is {_standing(comparison, words)}"
            )
            sentences.append(
                f"{own} instead of {other.leaves:,} ({MARGIN_ZERO}): {words.name} {value} "
                f"instead of {theirs}{standing}."
            )
    if c45 is not None and c45.leaves is not None:
        leaves = count_of(c45.leaves, "leaf", "leaves")
        sentences.append(f"{C45_TREE} has {leaves}: {words.name} {_value(c45, words)}.")
    if better:
        which = "Another kind of model is" if len(better) == 1 else "Other kinds of models are"
        sentences.append(
            f"{which} estimated to be {words.better}: {listed(better)} (see “Other models”)."
        )
    return " ".join(sentences)


def _better_kinds(rows: Sequence[ComparedModel], words: MeasureWords, margin: float) -> list[str]:
    """Name models of other kinds that are better by more than the margin, or shown to be better."""
    named = []
    for row in rows:
        if row.name not in (C45_TREE, BAGGED_TREES, SCIKIT_LEARNS_TREE) or row.comparison is None:
            continue
        gain, low, _ = words.gain(row.comparison)
        if gain > margin or low > 0:
            named.append(f"{row.name} by {words.size(gain)}")
    return named


def _value(row: ComparedModel, words: MeasureWords) -> str:
    estimate = row.estimate(words.measure)
    return "not known" if estimate is None else words.value(estimate.value)


def _standing(comparison: ModelComparison, words: MeasureWords) -> str:
    """Say how much better a tree is than this one, if these rows show it."""
    gain, low, high = words.gain(comparison)
    if low <= 0 <= high:
        return f"not shown to be {words.better} ({words.signed(comparison.low, comparison.high)})"
    word = words.better if gain > 0 else words.worse
    return f"{word} by {words.size(gain)} ({words.ends(low, high)})"

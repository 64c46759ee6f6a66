"""The tree compared with simpler, larger and other models, over the same folds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Annotated, Any, Literal

import numpy as np

from sureleaf.comparison import Comparison, compare
from sureleaf.comparison.verdict import Verdict
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import (
    amount,
    count_of,
    interval,
    listed,
    percent,
    points,
    share_value,
    signed_amount,
    signed_interval,
    upper_first,
)
from sureleaf.report.baselines import (
    BAGGED_TREES,
    FOREST,
    MARGIN_ZERO,
    THIS_TREE,
    EvaluatedModel,
    ModelKind,
    decides_by_costs,
    sized_tree,
)
from sureleaf.report.document_schema import IntervalEstimate, estimate_measure, finite, record_of
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults

_STANDINGS = {
    "accuracy": ("more accurate", "less accurate", "as accurate as"),
    "auc": ("better at ranking", "worse at ranking", "ranks as well as"),
    "cost": ("cheaper", "more expensive", "costs the same as"),
}
_NO_GAP = 1e-12


@dataclass(frozen=True)
class MeasureWords:
    """How values and differences of the compared measure are written."""

    measure: ComparedMeasure = "accuracy"
    unit: str | None = None

    @property
    def name(self) -> str:
        """The measure in a sentence."""
        return "AUC" if self.measure == "auc" else self.measure

    @property
    def better(self) -> str:
        """What a better model is."""
        return _STANDINGS[self.measure][0]

    def standing(self, gain: float) -> str:
        """Return what a model with this gain is or does, compared with the tree."""
        better, worse, same = _STANDINGS[self.measure]
        if abs(gain) < _NO_GAP:
            return f"{same} this tree"
        return f"{better if gain > 0 else worse} than this tree by {self.size(gain)}"

    def value(self, value: float) -> str:
        """Write a value of the measure."""
        is_cost = self.measure == "cost"
        return f"{amount(value, self.unit)} per row" if is_cost else percent(value)

    def size(self, gap: float) -> str:
        """Write the size of a difference."""
        if self.measure != "cost":
            return f"{points(abs(gap))} percentage points"
        return f"{amount(abs(gap), self.unit)} per row"

    def margin(self, margin: float) -> str:
        """Write a margin."""
        if self.measure != "cost":
            return f"{100 * margin:.2g} percentage point{'' if margin == 0.01 else 's'}"
        return f"{amount(margin, self.unit) if self.unit else f'{margin:.2g}'} per row"

    def ends(self, low: float, high: float) -> str:
        """Write the interval of a difference whose direction has been said."""
        first, last = sorted((abs(low), abs(high)))
        if self.measure != "cost":
            return interval(first, last)
        return f"{amount(first, self.unit)} to {amount(last, self.unit)}"

    def signed(self, low: float, high: float) -> str:
        """Write the interval of a difference with its signs."""
        if self.measure != "cost":
            return f"{signed_interval(low, high)} percentage points"
        return f"{signed_amount(low, self.unit)} to {signed_amount(high, self.unit)} per row"

    def gain(self, comparison: "Comparison | ModelComparison") -> tuple[float, float, float]:
        """Return how much better a model is than the tree, with its interval."""
        if self.measure != "cost":
            return comparison.difference, comparison.low, comparison.high
        return -comparison.difference, -comparison.high, -comparison.low

    def verdict(self, verdict: str, low: float, high: float, margin: float) -> str:
        """Say in a few words whether there is a difference, and how large it is.

        `low` and `high` are the interval of the gain.

        Examples
        --------
        >>> MeasureWords().verdict("undecided", 0.007, 0.076, 0.01)
        'better, but perhaps by less than 1 percentage point'
        """
        size = self.margin(margin)
        if verdict in ("better", "worse"):
            return f"{verdict} by more than {size}" if margin > 0 else verdict
        if verdict == "equivalent":
            return f"equivalent, within {size}"
        if low > 0 or high < 0:
            return f"{'better' if low > 0 else 'worse'}, but perhaps by less than {size}"
        return "not decided by these rows"

    def verdicts(self) -> dict[str, str]:
        """Say what each verdict says about the model in its row."""
        better, worse, _ = _STANDINGS[self.measure]
        return {
            "better": f"{better} than this tree, by more than the margin",
            "worse": f"{worse} than this tree, by more than the margin",
            "equivalent": "the difference is smaller than the margin: either model may be used",
            "undecided": "these rows do not show whether the difference exceeds the margin",
        }


@dataclass(frozen=True)
class ModelComparison:
    """A model compared with the tree."""

    difference: Annotated[float, "The measure of the model minus that of the tree."]
    low: Annotated[float, "Interval of the difference."]
    high: Annotated[float, "Interval of the difference."]
    level: Annotated[float, "Level of the interval."]
    p_value: Annotated[float | None, "Of the test that there is no difference."]
    method: Annotated[str, "The test."]
    assumes: Annotated[str, "What the test assumes."]
    verdict: Annotated[Verdict, "Whether the difference exceeds the margin."]
    rows_needed: Annotated[
        int | None,
        "Rows with which a difference of this size would be decided; null if the verdict is "
        "clear, or if it cannot be said.",
    ]
    words: Annotated[str, "The verdict in a few words, with the size of the difference."]
    text: Annotated[str, "The comparison in a sentence."]


CrossValidated = Annotated[
    IntervalEstimate | None, "Cross-validated estimates; null if not defined."
]
NumberOfLeaves = Annotated[
    int | None, "Leaves of the model fitted on all rows; null if it is not one tree."
]


@dataclass(frozen=True)
class ComparedModel:
    """A model of the comparison."""

    kind: Annotated[
        ModelKind,
        "The tree itself, a constant prediction, the tree with another number of leaves, or "
        "another model that uses the columns.",
    ]
    name: Annotated[str, "Its name."]
    description: Annotated[str, "What kind of model it is."]
    leaves: NumberOfLeaves
    accuracy: CrossValidated
    nce: CrossValidated
    auc: CrossValidated
    cost: Annotated[
        IntervalEstimate | None,
        "Mean cost per row of the decisions of least expected cost; null if the user gave no "
        "costs.",
    ]
    comparison: Annotated[
        ModelComparison | None, "Null for the tree itself, or if there are too few folds."
    ]

    def estimate(self, measure: ComparedMeasure) -> IntervalEstimate | None:
        """Return the estimate of the compared measure."""
        return {"accuracy": self.accuracy, "auc": self.auc, "cost": self.cost}[measure]


@dataclass(frozen=True)
class ModelsSection:
    """The tree and other models."""

    unit: Annotated[str | None, "Unit of costs, such as €; null if none was given."]
    measure: Annotated[
        ComparedMeasure,
        "The measure that is compared: the cost if the user gave costs; the AUC if other "
        "classes than the most frequent are rare; otherwise the accuracy.",
    ]
    margin: Annotated[
        float,
        "Differences up to this size do not count. For accuracy the user's margin, or a tenth "
        "of the baseline's error, at most 0.01. At costs, the same share of the cost of the "
        "cheapest constant. For the AUC the user's margin or 0.01.",
    ]
    verdicts: Annotated[dict[str, str], "What each verdict means."]
    rows: Annotated[
        tuple[ComparedModel, ...],
        "The models; the tree comes first, and the others are compared with it.",
    ]
    text: Annotated[str, "Whether another model should be preferred."]


def words_of(results: ReportResults) -> MeasureWords:
    """Return how values of the report's measure are written."""
    return MeasureWords(results.measure, results.request.unit)


def models_section(results: ReportResults) -> ModelsSection:
    """Compare every baseline with the tree."""
    level, (tree, *others) = results.request.level, results.models
    words, margin = words_of(results), comparison_margin(results)
    rows = [_row(tree, None, level)]
    for model in others:
        options: dict[str, Any] = {"measure": words.measure, "margin": margin, "level": level}
        try:
            result = compare(model.evaluation, tree.evaluation, **options)
        except InvalidArgumentError:  # too few folds in which both models could be fitted
            rows.append(_row(model, None, level))
        else:
            rows.append(_row(model, _comparison(result, model.name, words), level))
    verdicts = words.verdicts()
    section = ModelsSection(words.unit, words.measure, margin, verdicts, tuple(rows), text="")
    return replace(section, text=f"{_preference(section)}{_highest_auc(section)}")


def comparison_margin(results: ReportResults) -> float:
    """Return the margin in units of the measure.

    A margin in accuracy is a share of the baseline's error. At costs it is the same share of what
    the cheapest constant costs beyond correct predictions; equal costs give the margin itself.
    """
    request = results.request
    if results.measure != "cost":
        return request.auc_margin if results.measure == "auc" else request.margin
    cost = np.asarray(request.cost, dtype=np.float64)
    shares = results.class_counts / results.class_counts.sum()
    regret = float((shares @ (cost - np.diag(cost)[:, np.newaxis])).min())
    return max(request.margin * regret / (1 - float(shares.max())), 0.0)


def _row(model: EvaluatedModel, comparison: ModelComparison | None, level: float) -> ComparedModel:
    estimates = {
        measure: estimate_measure(model.evaluation, measure, level=level)
        for measure in ("accuracy", "nce", "auc", "cost")
        if measure != "cost" or model.evaluation.cost_matrix is not None
    }
    more = {"cost": None, **estimates, "leaves": model.n_leaves, "comparison": comparison}
    return record_of(ComparedModel, model, **more)


def _comparison(result: Comparison, name: str, words: MeasureWords) -> ModelComparison:
    gain, low, high = words.gain(result)
    verdict = words.verdict(result.verdict, low, high, result.margin)
    text = (
        f"{upper_first(name)}: {words.standing(gain)} (difference "
        f"{words.signed(result.low, result.high)}); {verdict}."
    )
    return record_of(
        ModelComparison,
        result,
        p_value=finite(result.p_value),
        assumes=result.assumption,
        rows_needed=result.rows_needed if result.verdict == "undecided" else None,
        words=verdict,
        text=text,
    )


def better_models(models: ModelsSection) -> list[str]:
    """Name the models that use the columns and are shown to be better than the tree."""
    words = MeasureWords(models.measure, models.unit)
    return [
        row.name
        for row in models.rows
        if row.kind == "other" and row.comparison and words.gain(row.comparison)[1] > 0
    ]


def is_settled(models: ModelsSection) -> bool:
    """Whether all models that use the columns are shown to gain no more than the margin."""
    words = MeasureWords(models.measure, models.unit)
    compared = [row.comparison for row in models.rows if row.kind == "other"]
    known = [words.gain(one)[2] for one in compared if one is not None]
    return len(known) > 0 and len(known) == len(compared) and max(known) <= models.margin


@dataclass(frozen=True)
class Rival:
    """The best of the other models; `name` is None if none is shown to be better than the tree."""

    name: str | None
    verdict: Verdict
    text: str


def leading_rival(models: ModelsSection) -> Rival | None:
    """Return the best of the other models, and whether it is better than the tree."""
    words = MeasureWords(models.measure, models.unit)
    gains = {
        row.name: (words.gain(row.comparison), row.comparison.verdict)
        for row in models.rows
        if row.kind == "other" and row.comparison
    }
    if not gains:
        return None
    # A model that is shown to be better comes before one that is only estimated to be so.
    best = max(gains, key=lambda name: (gains[name][0][1] > 0, gains[name][0][0]))
    (gain, low, high), verdict = gains[best]
    if low > 0:
        text = (
            f"{upper_first(_ARTICLES.get(best, '') + best)} {_be([best])} {words.better} by "
            f"{words.size(gain)} ({words.ends(low, high)})."
        )
        return Rival(best, verdict, text)
    if is_settled(models):
        text = f"No other model is better by more than {words.margin(models.margin)}."
        return Rival(None, verdict, text)
    return Rival(None, verdict, f"No other model is clearly {words.better}.")


def _highest_auc(models: ModelsSection) -> str:
    """Name the model that ranks best, where another measure is compared."""
    ranked = [
        (row.auc.value, row.name) for row in models.rows if row.kind != "constant" and row.auc
    ]
    own = models.rows[0].auc
    if models.measure == "auc" or own is None:
        return ""
    highest, name = max(ranked, key=itemgetter(0))
    if name == models.rows[0].name:
        return f" This tree has the highest AUC, {share_value(highest)}."
    ours = share_value(own.value)
    return f" The highest AUC is {share_value(highest)} ({name}); this tree has {ours}."


def _preference(models: ModelsSection) -> str:
    """Say whether another model should be preferred."""
    rival = leading_rival(models)
    if rival is None:
        return "The other models could not be compared on these rows."
    if rival.name is None:
        return rival.text
    also = [name for name in better_models(models) if name != rival.name]
    more = f" So {_be(also)} {listed(also)}." if also else ""
    name = MeasureWords(models.measure, models.unit).name
    return (
        f"{rival.text}{more} Prefer {'one of them' if also else 'it'} if the {name} matters more "
        "than rules that people can read and check."
    )


_ARTICLES = {FOREST: "a ", MARGIN_ZERO: "the "}


def _be(names: list[str]) -> str:
    return "are" if len(names) > 1 or names[0] == BAGGED_TREES else "is"


# ---- the price of simplicity: what trees of every size are worth, and what this size gives up ----


@dataclass(frozen=True, kw_only=True)
class SizeEstimate(IntervalEstimate):
    """What trees of one size are worth on unseen rows."""

    leaves: Annotated[int, "The largest number of leaves that they may have."]


@dataclass(frozen=True, kw_only=True)
class SizeMark(IntervalEstimate):
    """A model beside the curve."""

    name: Annotated[str, "Its name, as in models.rows."]
    leaves: NumberOfLeaves


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
    request, budget, words = results.request, results.budget, words_of(results)
    sizes = (
        (estimate_measure(size.evaluation, words.measure, level=request.level), size.most_leaves)
        for size in results.sizes
    )
    marks = ((row.estimate(words.measure), row) for row in models.rows)
    # A tree that does not know the costs counts errors.
    chosen_by = words.name if decides_by_costs(request, sized_tree(request)) else "accuracy"
    times = f", {budget.repeats} times" if budget.repeats > 1 else ""
    return SimplicitySection(
        measure=words.measure,
        better="low" if words.measure == "cost" else "high",
        sizes=tuple(SizeEstimate(**vars(one), leaves=most) for one, most in sizes if one),
        marks=tuple(
            SizeMark(**vars(one), name=row.name, leaves=row.leaves) for one, row in marks if one
        ),
        intervals=f"Each size is tested on rows that did not choose it ({budget.folds} folds"
        f"{times}). All are tested on the same rows, so differences are more certain than the "
        "intervals suggest.",
        text=price_text(models.rows, words, chosen_by),
    )


def price_text(
    rows: Sequence[ComparedModel], words: MeasureWords, chosen_by: str | None = None
) -> str:
    """Say what is given up for the size of the tree, the first of the rows.

    Sizes are chosen by the measure, if nothing else is said.
    """
    by_name = {row.name: row for row in rows}
    this, other = by_name[THIS_TREE], by_name.get(MARGIN_ZERO)

    def size(row: ComparedModel, leaves: str) -> str:
        estimate = row.estimate(words.measure)
        value = "not known" if estimate is None else words.value(estimate.value)
        return f"{leaves} ({words.name} {value})"

    n_leaves = count_of(this.leaves or 1, "leaf", "leaves")
    own = f"the tree has {size(this, n_leaves)}"
    if other is None or other.leaves is None:
        return f"{upper_first(own)}."
    chosen = f"Chosen by {chosen_by or words.name} alone,"
    if this.leaves == other.leaves:
        return f"{chosen} the tree would have {n_leaves}, too."
    theirs = f"{chosen} it would have {size(other, f'{other.leaves:,}')}"
    if other.comparison is None:
        return f"{upper_first(own)}. {theirs}."
    gain, low, high = words.gain(other.comparison)
    if gain <= 0:
        return f"Nothing is given up: {own}. {theirs}."
    standing = f"it is {words.better} by {words.size(gain)} ({words.ends(low, high)})"
    if low <= 0:
        ends = words.signed(other.comparison.low, other.comparison.high)
        standing = f"the difference may be chance ({ends})"
    return f"{upper_first(own)}. {theirs}; {standing}."

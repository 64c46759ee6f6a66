"""The tree compared with simpler, larger and other models, over the same folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sureleaf.comparison import Comparison, compare
from sureleaf.comparison.verdict import Verdict
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import (
    interval,
    measure_value,
    percent,
    points,
    signed_interval,
    signed_number,
    upper_first,
)
from sureleaf.report.baselines import (
    BAGGED_TREES,
    C45_TREE,
    DEFAULT_TREE,
    SCIKIT_LEARNS_TREE,
    EvaluatedModel,
)
from sureleaf.report.estimates import IntervalEstimate, estimate_measure, finite
from sureleaf.report.request import ComparedMeasure
from sureleaf.report.results import ReportResults

__all__ = [
    "ComparedModel",
    "MeasureWords",
    "ModelComparison",
    "ModelsSection",
    "better_models",
    "is_settled",
    "models_section",
    "models_text",
]


_BETTER = {
    "accuracy": ("more accurate", "less accurate", "as accurate as"),
    "auc": ("better at ranking", "worse at ranking", "ranks as well as"),
    "cost": ("cheaper", "more expensive", "costs the same as"),
}
_NO_GAP = 1e-12


@dataclass(frozen=True)
class MeasureWords:
    """How values and differences of the compared measure are written."""

    measure: ComparedMeasure = "accuracy"

    @property
    def name(self) -> str:
        """The measure in a sentence."""
        return "AUC" if self.measure == "auc" else self.measure

    @property
    def better(self) -> str:
        """What a better model is."""
        return _BETTER[self.measure][0]

    @property
    def worse(self) -> str:
        """What a worse model is."""
        return _BETTER[self.measure][1]

    @property
    def same(self) -> str:
        """What a model without any difference is, or does."""
        return _BETTER[self.measure][2]

    def value(self, value: float) -> str:
        """Write a value of the measure."""
        if self.measure != "cost":
            return percent(value)
        return f"{measure_value(value)} per row"

    def size(self, gap: float) -> str:
        """Write the size of a difference."""
        if self.measure != "cost":
            return f"{points(abs(gap))} percentage points"
        return f"{measure_value(abs(gap))} per row"

    def margin(self, margin: float) -> str:
        """Write a margin."""
        if self.measure != "cost":
            return f"{100 * margin:.2g} percentage point{'' if margin == 0.01 else 's'}"
        return f"{margin:.2g} per row"

    def ends(self, low: float, high: float) -> str:
        """Write the interval of a difference whose direction has been said."""
        first, last = sorted((abs(low), abs(high)))
        if self.measure != "cost":
            return interval(first, last)
        return f"{measure_value(first)} to {measure_value(last)}"

    def signed(self, low: float, high: float) -> str:
        """Write the interval of a difference with its signs."""
        if self.measure != "cost":
            return f"{signed_interval(low, high)} percentage points"
        return f"{signed_number(low)} to {signed_number(high)} per row"

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
        return {
            "better": f"{self.better} than this tree, by more than the margin",
            "worse": f"{self.worse} than this tree, by more than the margin",
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


@dataclass(frozen=True)
class ComparedModel:
    """A model of the comparison."""

    name: Annotated[str, "Its name."]
    description: Annotated[str, "What kind of model it is."]
    leaves: Annotated[
        int | None, "Leaves of the model fitted on all rows; null if it is not one tree."
    ]
    accuracy: Annotated[IntervalEstimate | None, "Cross-validated estimates; null if not defined."]
    nce: Annotated[IntervalEstimate | None, "Cross-validated estimates; null if not defined."]
    auc: Annotated[IntervalEstimate | None, "Cross-validated estimates; null if not defined."]
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
    reference: Annotated[str, "Name of the model that the others are compared with."]
    verdicts: Annotated[dict[str, str], "What each verdict means."]
    rows: Annotated[tuple[ComparedModel, ...], "The models; the reference comes first."]
    text: Annotated[str, "Whether another model should be preferred."]


def models_section(results: ReportResults) -> ModelsSection:
    """Compare every baseline with the tree."""
    request, (tree, *others) = results.request, results.models
    words, margin = MeasureWords(results.measure), comparison_margin(results)
    rows = [_row(tree, None, request.level)]
    for model in others:
        result = _compare(tree, model, words.measure, margin, request.level)
        comparison = None if result is None else _comparison(result, model.name, words)
        rows.append(_row(model, comparison, request.level))
    return ModelsSection(
        measure=words.measure,
        margin=margin,
        reference=tree.name,
        verdicts=words.verdicts(),
        rows=tuple(rows),
        text=models_text(rows, margin, words),
    )


def comparison_margin(results: ReportResults) -> float:
    """Return the margin in units of the measure.

    A margin in accuracy is a share of the baseline's error. At costs it is the same share of what
    the cheapest constant costs beyond correct predictions; equal costs give the margin itself.
    """
    request = results.request
    if results.measure != "cost":
        return request.auc_margin if results.measure == "auc" else request.margin
    cost = np.asarray(request.cost, dtype=np.float64)
    counts = np.bincount(results.evaluation.truth, results.row_weights)
    shares = counts / counts.sum()
    regret = float((shares @ (cost - np.diag(cost)[:, np.newaxis])).min())
    return max(request.margin * regret / (1 - float(shares.max())), 0.0)


def _compare(
    tree: EvaluatedModel, other: EvaluatedModel, measure: str, margin: float, level: float
) -> Comparison | None:
    try:
        return compare(
            other.evaluation, tree.evaluation, measure=measure, margin=margin, level=level
        )
    except InvalidArgumentError:
        return None  # too few folds in which both models could be fitted


def _row(model: EvaluatedModel, comparison: ModelComparison | None, level: float) -> ComparedModel:
    estimates = {
        measure: estimate_measure(model.evaluation, measure, level=level)
        for measure in ("accuracy", "nce", "auc", "cost")
        if measure != "cost" or model.evaluation.cost_matrix is not None
    }
    return ComparedModel(
        model.name,
        model.description,
        model.n_leaves,
        estimates["accuracy"],
        estimates["nce"],
        estimates["auc"],
        estimates.get("cost"),
        comparison,
    )


def _comparison(result: Comparison, name: str, words: MeasureWords) -> ModelComparison:
    gain, low, high = words.gain(result)
    verdict = words.verdict(result.verdict, low, high, result.margin)
    standing = f"{words.better if gain > 0 else words.worse} than this tree by {words.size(gain)}"
    if abs(gain) < _NO_GAP:
        standing = f"{words.same} this tree"
    text = (
        f"{upper_first(name)}: {standing} (difference "
        f"{words.signed(result.low, result.high)}); {verdict}."
    )
    return ModelComparison(
        difference=result.difference,
        low=result.low,
        high=result.high,
        level=result.level,
        p_value=finite(result.p_value),
        method=result.method,
        assumes=result.assumption,
        verdict=result.verdict,
        rows_needed=result.rows_needed if result.verdict == "undecided" else None,
        words=verdict,
        text=text,
    )


def better_models(models: ModelsSection) -> list[str]:
    """Name the models that use the columns and are shown to be better than the tree."""
    words = MeasureWords(models.measure)
    return [
        _WITH_COLUMNS[row.name]
        for row in models.rows
        if row.name in _WITH_COLUMNS and row.comparison and words.gain(row.comparison)[1] > 0
    ]


def is_settled(models: ModelsSection) -> bool:
    """Whether all models that use the columns are shown to gain no more than the margin."""
    words = MeasureWords(models.measure)
    compared = [row.comparison for row in models.rows if row.name in _WITH_COLUMNS]
    known = [words.gain(one)[2] for one in compared if one is not None]
    return len(known) > 0 and len(known) == len(compared) and max(known) <= models.margin


_WITH_COLUMNS = {
    DEFAULT_TREE: "the default tree",
    C45_TREE: C45_TREE,
    BAGGED_TREES: BAGGED_TREES,
    SCIKIT_LEARNS_TREE: SCIKIT_LEARNS_TREE,
}


def models_text(rows: Sequence[ComparedModel], margin: float, words: MeasureWords) -> str:
    """Say whether another kind of tree, or bagged trees, should be preferred."""
    by_name = {row.name: row for row in rows if row.comparison}
    sentences = []
    if default := by_name.get(DEFAULT_TREE):
        assert default.comparison is not None
        sentences.append(
            f"The default tree, with {default.leaves:,} leaves, "
            f"{_standing(default.comparison, margin, words, 'is')}."
        )
    if bagged := by_name.get(BAGGED_TREES):
        assert bagged.comparison is not None
        name = "Bagged trees"
        text = f"{name} {_standing(bagged.comparison, margin, words, 'are')}"
        if words.gain(bagged.comparison)[1] > 0 and bagged.comparison.verdict != "equivalent":
            text += (
                f". Prefer them if the {words.name} matters more than rules that people can read"
            )
        elif bagged.comparison.verdict == "equivalent" or words.gain(bagged.comparison)[2] < 0:
            text += ". One tree is enough"
        sentences.append(f"{text}.")
    for name in (C45_TREE, SCIKIT_LEARNS_TREE):
        row = by_name.get(name)
        if row and row.comparison and words.gain(row.comparison)[1] > 0:
            sentences.append(f"{name} {_standing(row.comparison, margin, words, 'is')}.")
    return " ".join(sentences)


def _standing(comparison: ModelComparison, margin: float, words: MeasureWords, be: str) -> str:
    """Say how a model compares with this tree."""
    gain, low, high = words.gain(comparison)
    if comparison.verdict == "equivalent":
        return f"{be} no better and no worse, within {words.margin(margin)}"
    if low <= 0 <= high:
        return (
            f"{be} not shown to be {words.better if gain > 0 else words.worse} than this tree "
            f"(difference {words.signed(comparison.low, comparison.high)})"
        )
    text = f"{be} {words.better if gain > 0 else words.worse} by {words.size(gain)} "
    text += f"({words.ends(low, high)}"
    if comparison.verdict == "undecided":
        text += f": {words.verdict('undecided', low, high, margin)}"
    return f"{text})"

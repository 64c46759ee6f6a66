"""The tree compared with simpler, larger and other models, over the same folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import count_of, interval, points, signed_interval
from sureleaf.report.baselines import MAX_SHORT_DEPTH, N_BAGGED_TREES, EvaluatedModel
from sureleaf.report.estimates import IntervalEstimate, estimate_measure, finite
from sureleaf.report.results import ReportResults

__all__ = [
    "ComparedModel",
    "ModelComparison",
    "ModelsSection",
    "models_section",
    "models_text",
    "verdict_text",
]

Verdict = Literal["better", "worse", "equivalent", "undecided"]

VERDICTS: dict[str, str] = {
    "better": "more accurate than this tree, by more than the margin",
    "worse": "less accurate than this tree, by more than the margin",
    "equivalent": "the difference is smaller than the margin: either model may be used",
    "undecided": "these rows do not show whether the difference exceeds the margin",
}
"""What a verdict says about the model in its row."""


@dataclass(frozen=True)
class ModelComparison:
    """A model compared with the tree.

    Attributes
    ----------
    difference
        Accuracy of the model minus accuracy of the tree.
    low, high
        Interval of the difference.
    level
        Level of the interval.
    p_value
        Of the test that there is no difference.
    method
        The test.
    assumes
        What the test assumes.
    verdict
        Whether the difference exceeds the margin.
    rows_needed
        Rows with which a difference of this size would be decided.
    words
        The verdict in a few words, with the size of the difference.
    text
        The comparison in a sentence.
    """

    difference: float
    low: float
    high: float
    level: float
    p_value: float | None
    method: str
    assumes: str
    verdict: Verdict
    rows_needed: int | None
    words: str
    text: str


@dataclass(frozen=True)
class ComparedModel:
    """A model of the comparison.

    Attributes
    ----------
    name
        Its name.
    description
        What kind of model it is.
    leaves
        Leaves of the model fitted on all rows; null if it is not one tree.
    accuracy, nce, auc
        Cross-validated estimates; null if not defined.
    comparison
        Null for the tree itself, or if there are too few folds.
    """

    name: str
    description: str
    leaves: int | None
    accuracy: IntervalEstimate | None
    nce: IntervalEstimate | None
    auc: IntervalEstimate | None
    comparison: ModelComparison | None


@dataclass(frozen=True)
class ModelsSection:
    """The tree and other models.

    Attributes
    ----------
    measure
        The measure that is compared.
    margin
        Differences up to this size do not count: the user's margin, or a tenth of the baseline's
        error, at most 0.01.
    reference
        Name of the model that the others are compared with.
    verdicts
        What each verdict means.
    rows
        The models; the reference comes first.
    text
        Whether another model should be preferred.
    """

    measure: str
    margin: float
    reference: str
    verdicts: dict[str, str]
    rows: tuple[ComparedModel, ...]
    text: str


def models_section(results: ReportResults) -> ModelsSection:
    """Compare every baseline with the tree."""
    request, (tree, *others) = results.request, results.models
    rows = [_row(tree, None, request.level)]
    rows += [_row(model, _compare(tree, model, results), request.level) for model in others]
    return ModelsSection(
        measure="accuracy",
        margin=request.margin,
        reference=tree.name,
        verdicts=VERDICTS,
        rows=tuple(rows),
        text=models_text(rows, request.margin, results.model.tree.depth),
    )


def _compare(
    tree: EvaluatedModel, other: EvaluatedModel, results: ReportResults
) -> Comparison | None:
    request = results.request
    try:
        return compare(
            other.evaluation, tree.evaluation, margin=request.margin, level=request.level
        )
    except InvalidArgumentError:
        return None  # too few folds in which both models could be fitted


def _row(model: EvaluatedModel, comparison: Comparison | None, level: float) -> ComparedModel:
    accuracy, nce, auc = (
        estimate_measure(model.evaluation, measure, level=level)
        for measure in ("accuracy", "nce", "auc")
    )
    return ComparedModel(
        model.name,
        model.description,
        model.n_leaves,
        accuracy,
        nce,
        auc,
        None if comparison is None else _comparison(comparison, model.name),
    )


def _comparison(result: Comparison, name: str) -> ModelComparison:
    words = verdict_text(result.verdict, result.low, result.high, result.margin)
    direction = "higher" if result.difference > 0 else "lower"
    text = (
        f"{name[0].upper()}{name[1:]}: accuracy {points(abs(result.difference))} percentage points "
        f"{direction} than this tree ({signed_interval(result.low, result.high)}); {words}."
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
        rows_needed=result.rows_needed,
        words=words,
        text=text,
    )


def verdict_text(verdict: str, low: float, high: float, margin: float) -> str:
    """Say in a few words whether there is a difference, and how large it is.

    Parameters
    ----------
    verdict : str
        About the margin: better, worse, equivalent or undecided.
    low, high : float
        Interval of the difference.
    margin : float

    Examples
    --------
    >>> verdict_text("undecided", 0.007, 0.076, 0.01)
    'better, but perhaps by less than 1 percentage point'
    >>> verdict_text("undecided", -0.02, 0.04, 0.01)
    'not decided by these rows'
    """
    size = _points_text(margin)
    if verdict in ("better", "worse"):
        return f"{verdict} by more than {size}" if margin > 0 else verdict
    if verdict == "equivalent":
        return f"equivalent, within {size}"
    if low > 0 or high < 0:
        return f"{'better' if low > 0 else 'worse'}, but perhaps by less than {size}"
    return "not decided by these rows"


def _points_text(margin: float) -> str:
    return f"{100 * margin:.2g} percentage point{'' if margin == 0.01 else 's'}"


def models_text(rows: Sequence[ComparedModel], margin: float, depth: int) -> str:
    """Say whether a simpler model is enough, and whether a larger one is better.

    Parameters
    ----------
    rows : sequence of ComparedModel
    margin : float
    depth : int
        Depth of the tree.
    """
    by_name = {row.name: row.comparison for row in rows if row.comparison}
    sentences = []
    if depth <= MAX_SHORT_DEPTH:
        tests = f"at most {count_of(depth, 'test')} per row" if depth else "no tests"
        sentences.append(f"Simpler: this tree is already simple ({tests}).")
    elif short := by_name.get("short tree"):
        sentences.append(f"Simpler: {_simpler(short, margin)}.")
    if bagged := by_name.get("bagged trees"):
        sentences.append(f"Larger: {_larger(bagged, margin)}.")
    sentences += [
        f"Also: {'the ' if name == 'unpruned tree' else ''}{name} is {_gap(comparison, margin)}."
        for name, comparison in by_name.items()
        if comparison.low > 0 and name in ("unpruned tree", "scikit-learn's tree")
    ]
    return " ".join(sentences)


def _simpler(comparison: ModelComparison, margin: float) -> str:
    short = f"a tree with at most {MAX_SHORT_DEPTH} tests per row"
    if comparison.verdict == "equivalent":
        return (
            f"{short} is as accurate, within {_points_text(margin)}. Prefer it: it is easier to "
            "explain"
        )
    if comparison.low > 0:
        return f"{short} is {_gap(comparison, margin)}. Prefer it"
    if comparison.high < 0:
        return f"{short} is not enough: it is {_gap(comparison, margin)}"
    return (
        f"these rows do not show whether {short} is less accurate ({_span(comparison)}). Until "
        "they do, the simpler tree is easier to defend"
    )


def _larger(comparison: ModelComparison, margin: float) -> str:
    bagged = f"{N_BAGGED_TREES} bagged trees"
    if comparison.verdict == "equivalent":
        return f"{bagged} are no better, within {_points_text(margin)}. One tree is enough"
    if comparison.low > 0:
        return (
            f"{bagged} are {_gap(comparison, margin)}. Prefer them if accuracy matters more than "
            "rules that people can read"
        )
    if comparison.high < 0:
        return f"{bagged} are {_gap(comparison, margin)}. One tree is enough"
    return f"these rows do not show whether {bagged} are more accurate ({_span(comparison)})"


def _gap(comparison: ModelComparison, margin: float) -> str:
    low, high = sorted(abs(end) for end in (comparison.low, comparison.high))
    direction = "more" if comparison.difference > 0 else "less"
    text = (
        f"{direction} accurate by {points(abs(comparison.difference))} percentage points "
        f"({interval(low, high)}"
    )
    if comparison.verdict == "undecided":
        text += f": {verdict_text('undecided', comparison.low, comparison.high, margin)}"
    return f"{text})"


def _span(comparison: ModelComparison) -> str:
    return f"difference {signed_interval(comparison.low, comparison.high)} percentage points"

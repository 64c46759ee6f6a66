"""What the commands print with ``--json``: one typed record per command.

Reports and audits have documents of their own (`report.document`, `report.audit_report`), and so
have studies (`studies.summary`) and plans (`report.plan`).
"""

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from sureleaf.model.column_table import json_value

if TYPE_CHECKING:
    from sureleaf.comparison import Comparison, ManyComparison
    from sureleaf.estimators import TreeClassifier
    from sureleaf.estimators.column_ranking import ColumnRanking
    from sureleaf.evaluation import Evaluation, LearningCurve, RowsFor, Summary
    from sureleaf.evaluation.bootstrap_errors import PlusEstimates
    from sureleaf.model.leaf_table import LeafTable
    from sureleaf.model.stability import SplitTable

__all__ = [
    "ComparisonValues",
    "CurveValues",
    "EvaluationValues",
    "FitValues",
    "GuaranteedValues",
    "LeafValues",
    "ManyValues",
    "RankingValues",
    "comparison_values",
    "curve_values",
    "evaluation_values",
    "fit_values",
    "guaranteed_values",
    "leaf_values",
    "many_values",
    "ranking_values",
]

Row = dict[str, object]
"""A line of a table of results, by column (`ColumnTable.records`)."""


# ---- trees ---------------------------------------------------------------------------------------


class FitValues(TypedDict):
    """A fitted model: one tree has leaves, depth and confidence; bagged trees have agreement."""

    model: str
    target: str
    classes: list[object]
    rows: int
    rows_left_out: int
    columns: list[str]
    utility: float
    leaves: NotRequired[int]
    depth: NotRequired[int]
    confidence: NotRequired[float]
    expected_cost: NotRequired[float | None]
    trees: NotRequired[int]
    agreement: NotRequired[float]
    saved: NotRequired[str]


def fit_values(model: Any, target: str, *, n_rows: int, n_left_out: int) -> FitValues:
    """Return what there is to say about a fitted model.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.
    target : str
        Name of the column that it predicts.
    n_rows : int
        Rows that it was fitted on.
    n_left_out : int
        Rows without a class.
    """
    values: dict[str, object] = {
        "model": type(model).__name__,
        "target": target,
        "classes": model.classes_.tolist(),
        "rows": n_rows,
        "rows_left_out": n_left_out,
        "columns": list(model.schema_.names),
    }
    if hasattr(model, "tree_"):
        levels = model.levels()
        values |= {
            "leaves": model.tree_.n_leaves,
            "depth": model.tree_.depth,
            "confidence": levels.confidence,
            "utility": levels.utility,
            "expected_cost": model.complete_model().expected_cost(),
        }
    else:
        levels = model.oob_levels_
        values |= {
            "trees": len(model.trees_),
            "agreement": levels.agreement,
            "utility": levels.utility,
        }
    return cast(FitValues, values)


class RivalValues(TypedDict):
    """The best split of the root on another column, compared with the tree's own."""

    column: int
    test: str
    difference: float
    low: float
    high: float
    verdict: str


class StabilityValues(TypedDict):
    """How often the splits of a tree would return on other rows."""

    summary: str
    splits: list[Row]
    rival: RivalValues | None


class LeafValues(TypedDict):
    """A tree, its levels and its leaves."""

    confidence: float
    utility: float
    low: float | None
    high: float | None
    levels_from: str
    rounds: int | None
    expected_cost: float | None
    rows: float
    flagged: int
    classes: list[object]
    leaves: list[Row]
    stability: StabilityValues | None


def leaf_values(model: "TreeClassifier", leaves: "LeafTable") -> LeafValues:
    """Return the levels of the tree and its leaves."""
    levels = model.levels()
    return {
        "confidence": levels.confidence,
        "utility": levels.utility,
        "low": json_value(levels.low),
        "high": json_value(levels.high),
        "levels_from": leaves.levels_from,
        "rounds": leaves.n_rounds,
        "expected_cost": model.complete_model().expected_cost(),
        "rows": float(leaves.n.sum()),
        "flagged": int(leaves.flagged.sum()),
        "classes": [json_value(label) for label in model.classes_],
        "leaves": leaves.records(),
        "stability": None if leaves.stability is None else _stability_values(model.splits()),
    }


def _stability_values(splits: "SplitTable") -> StabilityValues:
    """Return how often the splits would return, and the rival of the root."""
    rival = splits.rival
    return {
        "summary": splits.summary,
        "splits": splits.records(),
        "rival": None
        if rival is None
        else cast(RivalValues, vars(rival) | {"verdict": rival.verdict}),
    }


class GuaranteedValues(TypedDict):
    """What held-out rows prove about all leaves of a tree at once."""

    guarantee: str
    level: float
    confidence: float
    rows_grown: int
    rows: float
    flagged: int
    classes: list[object]
    leaves: list[Row]


def guaranteed_values(
    model: "TreeClassifier", leaves: "LeafTable", n_grown: int, level: float, confidence: float
) -> GuaranteedValues:
    """Return what held-out rows prove about the leaves."""
    return {
        "guarantee": "simultaneous",
        "level": level,
        "confidence": confidence,
        "rows_grown": n_grown,
        "rows": float(leaves.n.sum()),
        "flagged": int(leaves.flagged.sum()),
        "classes": [json_value(label) for label in model.classes_],
        "leaves": leaves.records(),
    }


class RankingValues(TypedDict):
    """The columns, the best one first."""

    columns: list[Row]


def ranking_values(ranking: "ColumnRanking") -> RankingValues:
    """Return the ranked columns."""
    return {"columns": ranking.records()}


# ---- evaluations, comparisons and learning curves ------------------------------------------------


class EstimateValues(TypedDict):
    """A measure with its interval."""

    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str


class BootstrapErrorValues(TypedDict):
    """The estimates of the error from bootstrap samples."""

    training: float
    leave_one_out: float
    e632: float
    e632_plus: float
    no_information: float


class EvaluationValues(TypedDict):
    """A classifier, how it was evaluated, and its measures."""

    estimator: str
    design: dict[str, object]
    seed: int
    n_rows: int
    classes: list[object]
    positive: object
    majority: float
    estimates: dict[str, EstimateValues]
    confusion: list[list[float]]
    warnings: list[str]
    bootstrap_error: NotRequired[BootstrapErrorValues]


def evaluation_values(
    evaluation: "Evaluation", summary: "Summary", plus: "PlusEstimates | None" = None
) -> EvaluationValues:
    """Return an evaluation."""
    values: EvaluationValues = {
        "estimator": evaluation.estimator,
        "design": evaluation.design.to_dict(),
        "seed": evaluation.seed,
        "n_rows": len(evaluation.truth),
        "classes": evaluation.classes.tolist(),
        "positive": evaluation.positive,
        "majority": summary.majority,
        "estimates": {
            name: cast(EstimateValues, _fields(one)) for name, one in summary.estimates.items()
        },
        "confusion": evaluation.confusion().counts.tolist(),
        "warnings": list(summary.warnings),
    }
    if plus is not None:
        values["bootstrap_error"] = cast(BootstrapErrorValues, _fields(plus))
    return values


class ComparisonValues(TypedDict):
    """The fields of a `Comparison`; a gate adds whether it was passed."""

    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    method: str
    verdict: str
    rows_needed: int | None
    repeats_needed: int | None
    measure: str
    question: str
    values: list[float | None]
    n_rows: int
    table_rows: int
    level: float
    margin: float
    detect: float
    assumption: str
    sentence: str
    has_enough_rows: bool
    gate: NotRequired[str]


def comparison_values(comparison: "Comparison") -> ComparisonValues:
    """Return a comparison."""
    values = _fields(comparison) | {"values": [json_value(one) for one in comparison.values]}
    return cast(ComparisonValues, values)


class PairValues(TypedDict):
    """Two classifiers over several tables."""

    first: str
    second: str
    difference: float
    p_value: float
    adjusted_p_value: float


class ManyValues(TypedDict):
    """Several classifiers on several tables, by ranks."""

    measure: str
    scores: dict[str, dict[str, float]]
    average_ranks: dict[str, float]
    p_value: float
    critical_difference: float
    groups: list[list[str]]
    pairs: list[PairValues]
    level: float


def many_values(
    many: "ManyComparison",
    measure: str,
    files: list[str],
    names: list[str],
    scores: list[list[float]],
) -> ManyValues:
    """Return a comparison over several tables."""
    return {
        "measure": measure,
        "scores": {
            file: dict(zip(names, row, strict=True))
            for file, row in zip(files, scores, strict=True)
        },
        "average_ranks": dict(zip(many.names, many.average_ranks, strict=True)),
        "p_value": many.p_value,
        "critical_difference": many.critical_difference,
        "groups": [list(group) for group in many.groups],
        "pairs": [cast(PairValues, _fields(pair)) for pair in many.pairs],
        "level": many.level,
    }


class CurvePointValues(EstimateValues):
    """A measure at a number of training rows."""

    rows: int


class ReachValues(TypedDict):
    """The rows that a target needs."""

    measure: str
    target: float
    rows: float | None
    low: float | None
    high: float | None
    available: int
    level: float
    limit: float | None
    sentence: str


class CurveValues(TypedDict):
    """A learning curve."""

    measure: str
    n_rows: int
    points: list[CurvePointValues]
    stopped: str | None
    failures: list[str]
    reach: ReachValues | None


def curve_values(curve: "LearningCurve", reach: "RowsFor | None") -> CurveValues:
    """Return a learning curve."""
    return {
        "measure": curve.measure.name,
        "n_rows": curve.n_rows,
        "points": [
            cast(CurvePointValues, {"rows": int(size), **_fields(estimate)})
            for size, estimate in zip(curve.sizes, curve.estimates, strict=True)
        ],
        "stopped": curve.stopped,
        "failures": [f"repeat {r}, {n} rows: {why}" for (r, n), why in curve.failures.items()],
        "reach": None
        if reach is None
        else cast(ReachValues, _fields(reach) | {"sentence": str(reach)}),
    }


def _fields(record: object) -> dict[str, object]:
    return {name: json_value(value) for name, value in vars(record).items()}

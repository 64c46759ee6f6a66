"""What the commands print with ``--json``, derived from the results.

Reports, audits, studies and plans have documents of their own. The keys are listed in
docs/command-line.md.
"""

from typing import TYPE_CHECKING, Any

from sureleaf.model.column_table import json_value

if TYPE_CHECKING:
    from sureleaf.comparison import ManyComparison
    from sureleaf.estimators import TreeClassifier
    from sureleaf.estimators.column_ranking import ColumnRanking
    from sureleaf.evaluation.bootstrap_errors import BootstrapError
    from sureleaf.evaluation.evaluation import Evaluation, EvaluationSummary
    from sureleaf.evaluation.learning_curves import LearningCurve
    from sureleaf.model.leaf_table import LeafTable

Values = dict[str, Any]


def fit_values(model: Any, target: str, *, n_rows: int, n_left_out: int) -> Values:
    """Return what there is to say about a fitted tree or bagged trees, and their rows."""
    values: Values = {
        "model": type(model).__name__,
        "target": target,
        "classes": model.classes_.tolist(),
        "rows": n_rows,
        "rows_left_out": n_left_out,
        "columns": list(model.schema_.names),
    }
    if not hasattr(model, "tree_"):
        levels = model.oob_levels_
        bagged = {"trees": len(model.trees_), "agreement": levels.agreement}
        return values | bagged | {"utility": levels.utility}
    levels = model.levels()
    return values | {
        "leaves": model.tree_.n_leaves,
        "depth": model.tree_.depth,
        "confidence": levels.confidence,
        "utility": levels.utility,
        "levels_from": levels.levels_from,
        "confidence_is": confidence_is(levels.levels_from),
        "class_weighted": model.class_weight is not None,
        "expected_cost": model.complete_model().expected_cost(),
    }


def confidence_is(levels_from: str) -> str:
    """Return in a word what `kind_of_confidence` says in a sentence."""
    return "paper" if levels_from == "training" else "posterior"


def leaf_values(model: "TreeClassifier", leaves: "LeafTable") -> Values:
    """Return the levels of the tree and its leaves."""
    levels = model.levels(method=leaves.method)
    stability = None
    if leaves.stability is not None:
        splits = model.splits()
        stability = {"summary": splits.summary, "splits": splits.records()}
    return {
        "confidence": levels.confidence,
        "utility": levels.utility,
        "low": json_value(levels.low),
        "high": json_value(levels.high),
        "levels_from": leaves.levels_from,
        "confidence_is": confidence_is(leaves.levels_from),
        "rounds": leaves.n_rounds,
        "expected_cost": model.complete_model().expected_cost(),
        **_leaves(model, leaves),
        "stability": stability,
    }


def guaranteed_values(
    model: "TreeClassifier", leaves: "LeafTable", n_grown: int, level: float, confidence: float
) -> Values:
    """Return what held-out rows prove about all leaves of a tree at once."""
    return {
        "guarantee": "simultaneous",
        "level": level,
        "confidence": confidence,
        "rows_grown": n_grown,
        **_leaves(model, leaves),
    }


def _leaves(model: "TreeClassifier", leaves: "LeafTable") -> Values:
    return {
        "rows": float(leaves.n.sum()),
        "flagged": int(leaves.flagged.sum()),
        "classes": json_value(model.classes_),
        "leaves": leaves.records(),
    }


def ranking_values(ranking: "ColumnRanking") -> Values:
    """Return the columns, the best one first, and where their levels come from."""
    return {
        "columns": ranking.records(),
        "levels_from": ranking.levels_from,
        "confidence_is": confidence_is(ranking.levels_from),
    }


def evaluation_values(
    evaluation: "Evaluation", summary: "EvaluationSummary", errors: "BootstrapError | None" = None
) -> Values:
    """Return a classifier, how it was evaluated, and its measures."""
    values: Values = {
        "estimator": evaluation.estimator,
        "design": evaluation.design.to_dict(),
        "seed": evaluation.seed,
        "n_rows": len(evaluation.truth),
        "classes": evaluation.classes.tolist(),
        "positive": evaluation.positive,
        "majority": summary.majority,
        "estimates": {name: json_value(vars(one)) for name, one in summary.estimates.items()},
        "confusion": evaluation.confusion().counts.tolist(),
        "warnings": list(summary.warnings),
    }
    if errors is None:
        return values
    failures = {str(number): why for number, why in errors.failures.items()}
    return values | {"bootstrap_error": json_value(vars(errors) | {"failures": failures})}


def many_values(
    many: "ManyComparison",
    measure: str,
    files: list[str],
    names: list[str],
    scores: list[list[float]],
) -> Values:
    """Return a comparison of several classifiers over several tables, by ranks."""
    rows = zip(files, scores, strict=True)
    return {
        "measure": measure,
        "scores": {file: dict(zip(names, row, strict=True)) for file, row in rows},
        "average_ranks": dict(zip(many.names, many.average_ranks, strict=True)),
        "p_value": many.p_value,
        "critical_difference": many.critical_difference,
        "groups": [list(group) for group in many.groups],
        "pairs": [json_value(vars(pair)) for pair in many.pairs],
        "level": many.level,
    }


def curve_values(curve: "LearningCurve") -> Values:
    """Return a learning curve."""
    points = zip(curve.sizes, curve.estimates, strict=True)
    return {
        "measure": curve.measure.name,
        "n_rows": curve.n_rows,
        "points": [{"rows": int(size), **json_value(vars(estimate))} for size, estimate in points],
        "stopped": curve.stopped,
        "failures": [f"repeat {r}, {n} rows: {why}" for (r, n), why in curve.failures.items()],
    }

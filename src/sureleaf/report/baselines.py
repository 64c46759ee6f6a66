"""The models that are evaluated over the same folds: the report's tree and its baselines."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.evaluation import Evaluation, KFold, evaluate
from sureleaf.report.request import Budget, Progress, ReportRequest
from sureleaf.table import EncodedTable

__all__ = [
    "MAX_SHORT_DEPTH",
    "EvaluatedModel",
    "evaluate_models",
    "max_categories",
    "numeric_matrix",
    "report_tree",
]

MAX_SHORT_DEPTH = 3
"""Depth of the short tree."""
N_BAGGED_TREES = 30
MAX_CATEGORIES = 50
MAX_CELLS = 100_000_000
"""Cells of all indicator columns together: 400 MB."""


def report_tree(request: ReportRequest, **options: Any) -> TreeClassifier:
    """Return the tree of the report, unfitted, with other options if any are given."""
    tree = TreeClassifier() if request.tree is None else clone(request.tree)
    changed: TreeClassifier = tree.set_params(
        weights="importance", n_jobs=request.n_jobs, **options
    )
    return changed


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """A classifier of the comparison with its evaluation.

    Attributes
    ----------
    name, description : str
    n_leaves : int or None
        None if the model is not one tree.
    evaluation : Evaluation
    """

    name: str
    description: str
    n_leaves: int | None
    evaluation: Evaluation


def evaluate_models(
    request: ReportRequest,
    table: EncodedTable,
    n_leaves: int,
    positive: Any,
    budget: Budget,
    start_stage: Progress,
) -> tuple[EvaluatedModel, ...]:
    """Evaluate the tree, which has n_leaves, and then every baseline over the same folds."""
    design = KFold(budget.folds, repeats=budget.repeats)
    models = []
    for (name, description, leaves, estimator, X), share in zip(
        _candidates(request, table, n_leaves), (0.05, 0.1, 0.11, 0.17, 0.23, 0.58), strict=True
    ):
        start_stage(f"Cross-validating: {name}", share)
        evaluation = evaluate(
            estimator,
            X,
            request.y,
            design=design,
            positive=positive,
            cost=request.cost,
            groups=request.groups,
            sample_weight=request.weights,
            random_state=request.seed,
        )
        models.append(EvaluatedModel(name, description, leaves, evaluation))
    return tuple(models)


def _candidates(
    request: ReportRequest, table: EncodedTable, n_leaves: int
) -> list[tuple[str, str, int | None, Any, Any]]:
    """Name, description, leaves, estimator and table of each model."""
    matrix = numeric_matrix(table)
    short = report_tree(request, max_depth=MAX_SHORT_DEPTH)
    unpruned = report_tree(request, pruning=None, collapse=False)
    sklearn_tree = DecisionTreeClassifier(random_state=request.seed)
    return [
        (
            "this tree",
            "the tree of this report",
            n_leaves,
            report_tree(request),
            table,
        ),
        (
            "majority class",
            "always predicts the most frequent class",
            1,
            DummyClassifier(strategy="most_frequent"),
            matrix[:, :1],
        ),
        (
            "short tree",
            f"the same kind of tree, with at most {MAX_SHORT_DEPTH} tests per row",
            _fitted(request, short, table).tree_.n_leaves,
            short,
            table,
        ),
        (
            "unpruned tree",
            "the same kind of tree, not pruned",
            _fitted(request, unpruned, table).tree_.n_leaves,
            unpruned,
            table,
        ),
        (
            "bagged trees",
            f"{N_BAGGED_TREES} unpruned trees, each grown on a bootstrap sample of the rows; their "
            "mean probability decides",
            None,
            BaggedTreesClassifier(n_estimators=N_BAGGED_TREES, n_jobs=request.n_jobs),
            table,
        ),
        (
            "scikit-learn's tree",
            "scikit-learn's DecisionTreeClassifier with its defaults; the "
            f"{max_categories(table)} most frequent categories of each column become 0/1 columns",
            int(_fitted(request, sklearn_tree, matrix).get_n_leaves()),
            DecisionTreeClassifier(),
            matrix,
        ),
    ]


def _fitted(request: ReportRequest, estimator: Any, X: Any) -> Any:
    """Fit a copy on all rows, to count its leaves."""
    if request.weights is None:
        return clone(estimator).fit(X, request.y)
    return clone(estimator).fit(X, request.y, sample_weight=request.weights)


# The table as numbers, for classifiers of other libraries.


def max_categories(table: EncodedTable) -> int:
    """Return how many categories per column get a 0/1 column: the most frequent ones."""
    n_columns = sum(column.kind == "categorical" for column in table.schema.columns)
    fitting = MAX_CELLS // max(1, n_columns * table.n_rows)
    return max(2, min(MAX_CATEGORIES, fitting))


def numeric_matrix(table: EncodedTable) -> NDArray[np.float32]:
    """Return numbers as they are (NaN is missing) and 0/1 columns for categories.

    The categories of all rows are known beforehand. A column that is 0 in all training rows gives
    a classifier no information.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> numeric_matrix(read_table([[1.5, "b"], [None, "a"]])).tolist()
    [[1.5, 0.0, 1.0], [nan, 1.0, 0.0]]
    """
    parts: list[NDArray[np.float32]] = []
    most = max_categories(table)
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "categorical":
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            kept = np.sort(np.argsort(-counts, kind="stable")[:most])
            parts.append((values[:, None] == kept[None, :]).astype(np.float32))
        else:
            numbers = values.astype(np.float64)
            if column.is_coded:
                numbers = np.where(values < 0, np.nan, numbers)
            # scikit-learn accepts neither infinities nor numbers beyond float32
            largest = float(np.finfo(np.float32).max)
            parts.append(np.clip(numbers, -largest, largest).astype(np.float32)[:, None])
    return np.hstack(parts) if parts else np.zeros((table.n_rows, 1), dtype=np.float32)

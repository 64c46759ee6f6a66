"""The models that are judged over the same folds: this tree, simpler, larger and other ones."""

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

__all__ = ["SHORT", "Model", "as_numbers", "judge_all", "most_categories", "plain_tree"]


# A table as numbers for classifiers of other libraries: one column a frequent category.

MOST_CATEGORIES = 50
MOST_CELLS = 100_000_000
"""Of all categories together: 400 MB."""


def most_categories(table: EncodedTable) -> int:
    """Return how many categories of a column get a column of their own, the most frequent ones.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> most_categories(read_table([[1.5, "b"], [None, "a"]]))
    50
    """
    n_columns = sum(column.kind == "categorical" for column in table.schema.columns)
    fit = MOST_CELLS // max(1, n_columns * table.n_rows)
    return max(2, min(MOST_CATEGORIES, fit))


def as_numbers(table: EncodedTable) -> NDArray[np.float32]:
    """Return numbers as they are (NaN missing) and 0/1 columns for categories.

    The categories of all rows are known beforehand; a column that is 0 in all training rows
    tells a classifier nothing.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> as_numbers(read_table([[1.5, "b"], [None, "a"]])).tolist()
    [[1.5, 0.0, 1.0], [nan, 1.0, 0.0]]
    """
    parts: list[NDArray[np.float32]] = []
    most = most_categories(table)
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "categorical":
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            kept = np.sort(np.argsort(-counts, kind="stable")[:most])
            parts.append((values[:, None] == kept[None, :]).astype(np.float32))
        else:
            numbers = values.astype(np.float64)
            if column.is_coded:
                numbers = np.where(values < 0, np.nan, numbers)
            # scikit-learn takes no infinities and no numbers beyond float32
            largest = float(np.finfo(np.float32).max)
            parts.append(np.clip(numbers, -largest, largest).astype(np.float32)[:, None])
    return np.hstack(parts) if parts else np.zeros((table.n_rows, 1), dtype=np.float32)


N_TREES = 30
SHORT = 3
"""Questions in a row of the short tree."""


def plain_tree(asked: ReportRequest, **options: Any) -> TreeClassifier:
    """Return the tree of the report, unfitted, with other options if any.

    Examples
    --------
    >>> plain_tree(ReportRequest([[1], [2]], ["a", "b"]), max_depth=3)
    TreeClassifier(max_depth=3, weights='importance')
    """
    return TreeClassifier(weights="importance", n_jobs=asked.n_jobs, **options)


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier of the comparison: its name, what it is, and how it was judged.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> judged = evaluate(DummyClassifier(), [[1], [2], [3], [4]], [0, 0, 1, 1], design=KFold(2))
    >>> Model("majority class", "always says the same", 1, judged).n_leaves
    1
    """

    name: str
    what: str
    n_leaves: int | None
    judged: Evaluation


def judge_all(
    asked: ReportRequest,
    table: EncodedTable,
    n_leaves: int,
    positive: Any,
    effort: Budget,
    tell: Progress,
) -> tuple[Model, ...]:
    """Judge every model over the same folds, this tree first.

    Examples
    --------
    >>> import numpy as np
    >>> from sureleaf.table import read_table
    >>> rows = np.arange(40).reshape(-1, 1)
    >>> asked = ReportRequest(rows, np.array(["a"] * 20 + ["b"] * 20))
    >>> effort = Budget(2, 1, 2, 2, 2)
    >>> found = judge_all(asked, read_table(rows), 2, "b", effort, lambda stage, share: None)
    >>> [model.name for model in found][:3]
    ['this tree', 'majority class', 'short tree']
    """
    design = KFold(effort.folds, repeats=effort.repeats)
    models = []
    for (name, what, leaves, estimator, X), share in zip(
        _plan(asked, table, n_leaves), (0.05, 0.1, 0.11, 0.17, 0.23, 0.58), strict=True
    ):
        tell(f"Cross-validating: {name}", share)
        judged = evaluate(
            estimator,
            X,
            asked.y,
            design=design,
            positive=positive,
            cost=asked.cost,
            groups=asked.groups,
            sample_weight=asked.weights,
            random_state=asked.seed,
        )
        models.append(Model(name, what, leaves, judged))
    return tuple(models)


def _plan(
    asked: ReportRequest, table: EncodedTable, n_leaves: int
) -> list[tuple[str, str, int | None, Any, Any]]:
    """Name, description, leaves, estimator and table of each model."""
    numbers = as_numbers(table)
    short = plain_tree(asked, max_depth=SHORT)
    unpruned = plain_tree(asked, pruning=None, collapse=False)
    scikit = DecisionTreeClassifier(random_state=asked.seed)
    encoded = (
        "scikit-learn's DecisionTreeClassifier with its defaults; each of a column's "
        f"{most_categories(table)} most frequent categories is a column of its own"
    )
    return [
        (
            "this tree",
            "the tree of this report, pruned as C4.5 does",
            n_leaves,
            plain_tree(asked),
            asked.X,
        ),
        (
            "majority class",
            "always says the most frequent class",
            1,
            DummyClassifier(strategy="most_frequent"),
            numbers[:, :1],
        ),
        (
            "short tree",
            "the same, with three questions in a row at most",
            _fit(asked, short, asked.X).tree_.n_leaves,
            short,
            asked.X,
        ),
        (
            "unpruned tree",
            "the same, not pruned",
            _fit(asked, unpruned, asked.X).tree_.n_leaves,
            unpruned,
            asked.X,
        ),
        (
            "bagged trees",
            f"{N_TREES} unpruned trees grown on bootstraps of the rows; their mean decides",
            None,
            BaggedTreesClassifier(n_estimators=N_TREES, n_jobs=asked.n_jobs),
            asked.X,
        ),
        (
            "scikit-learn's tree",
            encoded,
            int(_fit(asked, scikit, numbers).get_n_leaves()),
            DecisionTreeClassifier(),
            numbers,
        ),
    ]


def _fit(asked: ReportRequest, estimator: Any, X: Any) -> Any:
    """Fit a copy on all rows, for its number of leaves."""
    if asked.weights is None:
        return clone(estimator).fit(X, asked.y)
    return clone(estimator).fit(X, asked.y, sample_weight=asked.weights)

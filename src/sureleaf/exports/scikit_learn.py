"""A tree as a fitted scikit-learn tree, for programs that read those: SHAP, dtreeviz and others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as NodeArrays

from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.exports.tree_view import TreeView, view_tree
from sureleaf.table import MISSING, encode


def to_sklearn(model: Any) -> DecisionTreeClassifier:
    """Return a fitted `sklearn.tree.DecisionTreeClassifier` of the same structure.

    It has the same class probabilities and branches of missing values, and it predicts the same
    classes. It does not have the levels. scikit-learn rounds the values of rows to float32, and
    thresholds are rounded up. So a value takes another branch only if it is above a threshold by
    less than two parts in ten million.

    If the tree tests categories, its columns are those of `sklearn_columns`: a column of 0 and 1
    for each group of categories that a test parts from the others.

    In the tree each test must have two branches, missing values must take one of them
    (``missing="branch"``), no test may be of dates, and errors must have equal costs. Other trees
    are an error.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = TreeClassifier(pruning=None).fit(X, y)
    >>> tree = to_sklearn(model)
    >>> tree.predict([[1.5], [3.5]]).tolist()
    ['no', 'yes']
    >>> bool((tree.predict_proba([[1.5]]) == model.predict_proba([[1.5]])).all())
    True
    """
    view = _checked_view(model)
    fitted = view.model
    k = len(fitted.classes)
    columns = _columns(view)
    nodes = _nodes(view, columns)
    arrays = NodeArrays(len(columns), np.array([k], dtype=np.intp), 1)
    arrays.__setstate__(
        {
            "max_depth": fitted.tree.depth,
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.ascontiguousarray(fitted.probabilities[:, np.newaxis, :]),
        }
    )
    tree = DecisionTreeClassifier()
    tree.classes_, tree.n_classes_, tree.n_outputs_ = fitted.classes.copy(), k, 1
    tree.n_features_in_, tree.max_features_ = len(columns), len(columns)
    if fitted.schema.named:
        tree.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
    tree.tree_ = arrays
    return tree


def sklearn_columns(model: Any, X: Any) -> Any:
    """Return rows with the columns that the tree of `to_sklearn` reads.

    Numbers stay as they are. An ordered column has the index of its category. A column of
    categories becomes one column per group that a test of the tree parts from the others, called
    ``kind: u, v``: 1 if the category is one of them, 0 if it is another one, NaN if it is missing.
    A category that a node has not seen is not in its group; the model, which may divide such a row
    among branches, can differ there.

    Returns a pandas DataFrame, or an array if the model was fitted on a table without names.

    Examples
    --------
    >>> import pandas as pd
    >>> from sureleaf import TreeClassifier
    >>> X = pd.DataFrame({"kind": ["u", "v", "w", "w"] * 5})
    >>> model = TreeClassifier(pruning=None).fit(X, ["no", "no", "yes", "yes"] * 5)
    >>> columns = sklearn_columns(model, X)
    >>> columns.columns.tolist(), columns.iloc[:3, 0].tolist()
    (['kind: w'], [0.0, 0.0, 1.0])
    >>> bool((to_sklearn(model).predict(columns) == model.predict(X)).all())
    True
    """
    view = _checked_view(model)
    schema, columns = view.model.schema, _columns(view)
    table = encode(X, schema)
    found = np.empty((table.n_rows, len(columns)))
    for at, column in enumerate(columns):
        values = table.columns[column.index]
        if schema.columns[column.index].is_coded:
            is_known = values != MISSING
            values = values if column.group is None else np.isin(values, column.group)
            # A category of an ordered column that was not there at the fit has no place in it.
            is_known &= column.group is not None or values >= 0
            values = np.where(is_known, values, np.nan)
        found[:, at] = values
    if not schema.named:
        return found
    pandas = optional_library("pandas", needed="for columns with names")
    return pandas.DataFrame(found, columns=[column.name for column in columns])


@dataclass(frozen=True)
class _Column:
    """A column of scikit-learn's tree."""

    index: int  # of the column of the model
    name: str
    group: tuple[int, ...] | None = None  # the codes for which it is 1


def _columns(view: TreeView) -> list[_Column]:
    """Return the columns; the groups of a column of categories in the order of their tests."""
    groups: dict[int, dict[tuple[int, ...], None]] = {}
    for node, test in sorted(view.tests.items()):
        groups.setdefault(test.column_index, {})[_group(view, node)] = None
    columns = []
    for index, column in enumerate(view.model.schema.columns):
        if column.kind != "categorical":
            columns.append(_Column(index, column.name))
            continue
        for group in groups.get(index, {}):
            named = ", ".join(str(column.categories[code]) for code in group)
            columns.append(_Column(index, f"{column.name}: {named}", group))
    return columns


def _group(view: TreeView, node: int) -> tuple[int, ...]:
    """Return the categories of the branch of fewer rows; of the only one, if one has none.

    So a category that the node has not seen takes the branch of more rows.
    """
    codes = view.tests[node].codes
    return codes[_right_branch(view, node)] if codes else ()


def _right_branch(view: TreeView, node: int) -> int:
    """Return the branch of the values above the threshold."""
    test = view.tests[node]
    if view.column(test).kind != "categorical":
        return 1
    if not all(test.codes):
        return 0 if test.codes[0] else 1
    return int(test.shares[1] <= test.shares[0])


def _checked_view(model: Any) -> TreeView:
    """Return the view of a tree that scikit-learn's trees can represent."""
    view = view_tree(model, "scikit-learn", is_flat=True)
    for test in view.tests.values():
        column = view.column(test)
        if column.kind == "date":
            raise InvalidArgumentError(
                "model must not test dates to become a tree of scikit-learn, whose float32 cannot "
                f"hold them; got a test of the column {column.name!r}. Give the column as a small "
                "number, for example the days since the first row."
            )
        if len(test.children) != 2:
            raise InvalidArgumentError(
                "model must have two branches per test to become a tree of scikit-learn; got "
                f"{len(test.children)} of the column {column.name!r}. Fit it with "
                "categorical_split='subset'."
            )
        if test.missing_branch is None:
            raise InvalidArgumentError(
                "model must send missing values down one branch to become a tree of scikit-learn; "
                "got a tree with missing='fraction'. Fit it with missing='branch'."
            )
    if view.model.rule is not None:
        raise InvalidArgumentError(
            "model must have equal costs to become a tree of scikit-learn, which predicts the most "
            "probable class; got a tree with costs. Fit it without cost, and decide by "
            "sureleaf.decide(tree.predict_proba(X), cost)."
        )
    return view


def _nodes(view: TreeView, columns: list[_Column]) -> NDArray[np.void]:
    """Return the nodes in the form of scikit-learn."""
    counts = view.model.tree.class_counts
    total = counts.sum(axis=1)
    shares = np.divide(
        counts, total[:, np.newaxis], out=np.zeros_like(counts), where=total[:, np.newaxis] > 0
    )
    nodes = np.zeros(len(counts), dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = nodes["threshold"] = -2
    nodes["impurity"] = 1.0 - (shares**2).sum(axis=1)
    nodes["n_node_samples"], nodes["weighted_n_node_samples"] = np.rint(total), total
    number = {(column.index, column.group): at for at, column in enumerate(columns)}
    for node, test in view.tests.items():
        is_grouped = view.column(test).kind == "categorical"
        right = _right_branch(view, node)
        nodes[node]["left_child"] = test.children[1 - right]
        nodes[node]["right_child"] = test.children[right]
        group = _group(view, node) if is_grouped else None
        nodes[node]["feature"] = number[test.column_index, group]
        threshold = float(view.model.tree.threshold[node])
        nodes[node]["threshold"] = 0.5 if is_grouped else _next_float32(threshold)
        nodes[node]["missing_go_to_left"] = test.missing_branch == 1 - right
    return nodes


def _next_float32(threshold: float) -> float:
    """Return the smallest float32 that is not below a threshold.

    Thresholds are values of rows. scikit-learn rounds the values of rows to float32. SHAP also
    compares values that are not rounded, those of its background rows, with rounded thresholds.
    """
    with np.errstate(over="ignore"):  # beyond float32, a value is infinite, too
        rounded = np.float32(threshold)
        above = np.nextafter(rounded, np.float32(np.inf))
    return float(rounded if float(rounded) >= threshold else above)

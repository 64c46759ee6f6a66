"""A tree as a fitted scikit-learn tree, for programs that read those: SHAP, dtreeviz and others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as NodeArrays

from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.tree_view import TreeView, view_tree

__all__ = ["to_sklearn"]


def to_sklearn(model: Any) -> DecisionTreeClassifier:
    """Return a fitted `sklearn.tree.DecisionTreeClassifier` of the same structure.

    It has the same class probabilities and branches of missing values, and it predicts the same
    classes. It does not have the levels. scikit-learn rounds the values of rows to float32, and
    thresholds are rounded up. So a value takes another branch only if it is above a threshold by
    less than two parts in ten million.

    Parameters
    ----------
    model : TreeClassifier
        Fitted. All its tests are thresholds of numeric columns, missing values take one branch
        (``missing="branch"``), and errors have equal costs.

    Returns
    -------
    DecisionTreeClassifier

    Raises
    ------
    InvalidArgumentError
        If scikit-learn's trees cannot represent the tree.

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
    view = view_tree(model, "scikit-learn")
    _check(view)
    fitted = view.model
    k = len(fitted.classes)
    nodes = _nodes(view)
    arrays = NodeArrays(len(fitted.schema), np.array([k], dtype=np.intp), 1)
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
    tree.n_features_in_, tree.max_features_ = len(fitted.schema), len(fitted.schema)
    if fitted.schema.named:
        tree.feature_names_in_ = np.array(fitted.schema.names, dtype=object)
    tree.tree_ = arrays
    return tree


def _check(view: TreeView) -> None:
    for index in view.tested_columns:
        column = view.model.schema.columns[index]
        if column.kind != "numeric":
            raise InvalidArgumentError(
                f"model must test numeric columns only to become a tree of scikit-learn; got a "
                f"test of the {column.kind} column {column.name!r}. Give the column as numbers, "
                "for example by scikit-learn's OneHotEncoder."
            )
    if any(test.missing_branch is None for test in view.tests.values()):
        raise InvalidArgumentError(
            "model must send missing values down one branch to become a tree of scikit-learn; got "
            "a tree with missing='fraction'. Fit it with missing='branch'."
        )
    if view.model.rule is not None:
        raise InvalidArgumentError(
            "model must have equal costs to become a tree of scikit-learn, which predicts the most "
            "probable class; got a tree with costs. Fit it without cost, and decide by "
            "sureleaf.decide(tree.predict_proba(X), cost)."
        )


def _nodes(view: TreeView) -> NDArray[np.void]:
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
    for node, test in view.tests.items():
        nodes[node]["left_child"], nodes[node]["right_child"] = test.children
        assert test.threshold is not None  # _check has refused tests of categories
        nodes[node]["feature"] = test.column_index
        nodes[node]["threshold"] = _next_float32(test.threshold)
        nodes[node]["missing_go_to_left"] = test.missing_branch == 0
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

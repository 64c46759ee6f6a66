"""The trees inside a fitted model: one, the members of a forest or of a bag, or none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import BaseDecisionTree

from sureleaf.auditing.leaf_view import LeafView
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.tree.rules import leaf_rules

__all__ = ["find_trees", "path_rules"]


def find_trees(model: Any, X: Any, names: Sequence[str], n_classes: int) -> list[LeafView]:
    """View the trees of a model through their leaves; none if it is not made of votes of trees.

    Parameters
    ----------
    model : estimator
        Fitted, and not a pipeline.
    X : array or data frame
        The rows, as the model reads them.
    names : sequence of str
        Names of the columns, for the rules.
    n_classes : int
        Classes of the model.

    Returns
    -------
    list of LeafView
        Rules are told of a single tree only.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> view = find_trees(model, np.array([[1], [9]]), ["wage"], 2)[0]
    >>> view.rule.tolist(), view.stated.tolist()
    (['wage <= 2.5', 'wage > 2.5'], [[1.0, 0.0], [0.0, 1.0]])
    """
    if isinstance(model, TreeClassifier):
        return [_own(model, X, with_rules=True)]
    if isinstance(model, BaggedTreesClassifier):
        return [_own(tree, X, with_rules=False) for tree in model.estimators_]
    if isinstance(model, BaseDecisionTree):
        view = _of_scikit_learn(model, np.asarray(model.apply(X)), np.arange(n_classes), n_classes)
        rule = path_rules(model.tree_, names, _has_missing(X))
        return [LeafView(view.leaf, view.stated, view.shares, rule[view.leaf], view.trained_on)]
    if isinstance(model, RandomForestClassifier | ExtraTreesClassifier):
        leaves, codes = np.asarray(model.apply(X)), np.arange(n_classes)
        return [
            _of_scikit_learn(tree, leaves[:, i], codes, n_classes)
            for i, tree in enumerate(model.estimators_)
        ]
    if isinstance(model, BaggingClassifier):
        return _of_bag(model, X, n_classes)
    return []


def _of_bag(model: Any, X: Any, n_classes: int) -> list[LeafView]:
    if not all(isinstance(member, BaseDecisionTree) for member in model.estimators_):
        return []
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    views = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        leaves = np.asarray(member.apply(rows[:, columns]))
        codes = np.asarray(member.classes_, dtype=np.intp)  # a bag may lack some of the classes
        views.append(_of_scikit_learn(member, leaves, codes, n_classes))
    return views


def _of_scikit_learn(
    model: Any, leaves: NDArray[np.intp], codes: NDArray[np.intp], n_classes: int
) -> LeafView:
    tree = model.tree_
    leaf = np.flatnonzero(tree.children_left < 0)
    values = tree.value[leaf, 0, :]
    stated = np.zeros((len(leaf), n_classes))
    stated[:, codes] = values / values.sum(axis=1, keepdims=True)
    place = np.searchsorted(leaf, leaves)
    n_rows = len(leaves)
    shares = sp.csr_array(
        (np.ones(n_rows), place, np.arange(n_rows + 1)), shape=(n_rows, len(leaf))
    )
    return LeafView(leaf, stated, shares, None, tree.n_node_samples[leaf].astype(float))


def _own(model: TreeClassifier, X: Any, *, with_rules: bool) -> LeafView:
    tree, leaf = model.tree_, model.tree_.leaf_ids
    shares = sp.csr_array(model.leaf_shares(X)[:, leaf])
    rule = None
    if with_rules:
        rules = leaf_rules(tree, model.schema_)
        rule = np.array([rules[node] for node in leaf.tolist()], dtype=object)
    stated = model._probabilities[leaf]
    return LeafView(leaf, stated, shares, rule, model.leaf_counts_.n)


def _has_missing(X: Any) -> NDArray[np.bool_]:
    """Say of each column whether a value of it is missing."""
    if sp.issparse(X):
        return np.zeros(X.shape[1], dtype=bool)
    rows = np.asarray(X, dtype=float)
    missing: NDArray[np.bool_] = np.isnan(rows).any(axis=0)
    return missing


def path_rules(
    tree: Any, names: Sequence[str], has_missing: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Tell for every node of a scikit-learn tree the tests on the way to it.

    Where a column has missing values, the branch that they take says so.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [np.nan], [4]], [0, 0, 1, 1])
    >>> path_rules(model.tree_, ["wage"], np.array([True])).tolist()
    ['all rows', 'wage <= 3', 'wage > 3 (or missing)']
    """
    tests: list[list[str]] = [[] for _ in range(tree.node_count)]
    pending = [0]
    while pending:
        node = pending.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        column = int(tree.feature[node])
        name = names[column]
        bound = _number(float(tree.threshold[node]))
        told = [f"{name} <= {bound}", f"{name} > {bound}"]
        if has_missing[column]:
            told[0 if tree.missing_go_to_left[node] else 1] += " (or missing)"
        tests[left], tests[right] = [*tests[node], told[0]], [*tests[node], told[1]]
        pending += [left, right]
    return np.array([" and ".join(path) or "all rows" for path in tests], dtype=object)


def _number(threshold: float) -> str:
    """Write a threshold as short as it can be told from others: values are compared as float32."""
    step = float(np.spacing(np.float32(abs(threshold))))
    digits = range(1, 18)
    found = next(d for d in digits if abs(float(f"{threshold:.{d}g}") - threshold) <= step / 2)
    short = float(f"{threshold:.{found}g}")
    return np.format_float_positional(short, trim="-") if 1e-4 <= abs(short) < 1e9 else f"{short:g}"

"""The leaves of a fitted tree of this library or of scikit-learn, and the rows in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import BaseDecisionTree

from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.model import TreeModel
from sureleaf.tree.rules import join_tests, leaf_rules

__all__ = ["TreeLeaves", "find_trees", "path_rules"]


@dataclass(frozen=True, eq=False)
class TreeLeaves:
    """The leaves of one tree, and the share of each audited row in each leaf.

    Parameters
    ----------
    leaf : ndarray of int, shape (n_leaves,)
        Numbers of the leaves in the tree's own library.
    probabilities : ndarray of float64, shape (n_leaves, n_classes)
        Class probabilities that the model predicts in each leaf.
    shares : sparse array of shape (n_rows, n_leaves)
        Share of each row in each leaf. A row is in one leaf, except for rows with missing values
        in trees that divide them.
    rule : ndarray of str, shape (n_leaves,), or None
        The tests on the path to each leaf; None for the trees of an ensemble.
    n_training : ndarray of float64, shape (n_leaves,)
        Number of training rows in each leaf.
    predicted : ndarray of int, shape (n_leaves,), or None
        Index of the class that each leaf predicts, if that is not the most probable one: a tree
        with costs.
    has_missing : ndarray of bool, or None
        Whether each column has missing values, if the rules say which branch these take.
    rules_of : callable or None
        Returns the rules for such an array.
    """

    leaf: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    shares: sp.csr_array
    rule: NDArray[np.object_] | None
    n_training: NDArray[np.float64]
    predicted: NDArray[np.intp] | None = None
    has_missing: NDArray[np.bool_] | None = None
    rules_of: Callable[[NDArray[np.bool_]], NDArray[np.object_]] | None = None

    @classmethod
    def join(cls, parts: Sequence["TreeLeaves"]) -> "TreeLeaves":
        """Return the same leaves with the rows of all parts."""
        shares = sp.csr_array(sp.vstack([part.shares for part in parts], format="csr"))
        known = [part.has_missing for part in parts if part.has_missing is not None]
        joined = replace(parts[0], shares=shares)
        if joined.rules_of is None:
            return joined
        has_missing = np.logical_or.reduce(known)
        return replace(joined, rule=joined.rules_of(has_missing), has_missing=has_missing)

    def class_counts(
        self, codes: NDArray[np.int64], n_classes: int, weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Count the rows of each class in each leaf, given class code and weight of each row."""
        n_rows = len(codes)
        each = np.ones(n_rows) if weights is None else weights
        indicator = sp.csr_array((each, (codes, np.arange(n_rows))), shape=(n_classes, n_rows))
        counts: NDArray[np.float64] = (indicator @ self.shares).toarray().T
        return np.ascontiguousarray(counts, dtype=np.float64)


def find_trees(model: Any, X: Any, names: Sequence[str], n_classes: int) -> list[TreeLeaves]:
    """Return the leaves of every tree of a model; nothing if it is not made of voting trees.

    Parameters
    ----------
    model : estimator
        Fitted, and not a pipeline.
    X : array or data frame
        The rows, in the form that the model reads.
    names : sequence of str
        Names of the columns, for the rules.
    n_classes : int
        Number of classes of the model.

    Returns
    -------
    list of TreeLeaves
        Only a single tree has rules.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> leaves = find_trees(model, np.array([[1], [9]]), ["wage"], 2)[0]
    >>> leaves.rule.tolist(), leaves.probabilities.tolist()
    (['wage <= 2.5', 'wage > 2.5'], [[1.0, 0.0], [0.0, 1.0]])
    """
    if isinstance(model, TreeClassifier):
        leaves = _sureleaf_leaves(model.model_, X)
        rules = leaf_rules(model.model_.tree, model.model_.schema)
        rule = np.array([rules[node] for node in leaves.leaf.tolist()], dtype=object)
        return [replace(leaves, rule=rule)]
    if isinstance(model, BaggedTreesClassifier):
        return [_sureleaf_leaves(member, X) for member in model.model_.members]
    if isinstance(model, BaseDecisionTree):
        leaves = _sklearn_leaves(model, np.asarray(model.apply(X)), np.arange(n_classes), n_classes)
        has_missing = _has_missing(X)

        def rules_of(has_missing: NDArray[np.bool_]) -> NDArray[np.object_]:
            return path_rules(model.tree_, names, has_missing)[leaves.leaf]

        rule = rules_of(has_missing)
        return [replace(leaves, rule=rule, has_missing=has_missing, rules_of=rules_of)]
    if isinstance(model, RandomForestClassifier | ExtraTreesClassifier):
        leaf_of_row, codes = np.asarray(model.apply(X)), np.arange(n_classes)
        return [
            _sklearn_leaves(tree, leaf_of_row[:, i], codes, n_classes)
            for i, tree in enumerate(model.estimators_)
        ]
    if isinstance(model, BaggingClassifier):
        return _bagging_leaves(model, X, n_classes)
    return []


def _sureleaf_leaves(model: TreeModel, X: Any) -> TreeLeaves:
    leaf = model.tree.leaf_ids
    shares = sp.csr_array(model.leaf_shares(X)[:, leaf])
    n_training, predicted = model.leaf_counts.n, model.predicted_classes[leaf]
    return TreeLeaves(leaf, model.probabilities[leaf], shares, None, n_training, predicted)


def _sklearn_leaves(
    model: Any, leaf_of_row: NDArray[np.intp], codes: NDArray[np.intp], n_classes: int
) -> TreeLeaves:
    """Read a scikit-learn tree whose classes have these codes in the whole model."""
    tree = model.tree_
    leaf = np.flatnonzero(tree.children_left < 0)
    values = tree.value[leaf, 0, :]
    probabilities = np.zeros((len(leaf), n_classes))
    probabilities[:, codes] = values / values.sum(axis=1, keepdims=True)
    n_rows = len(leaf_of_row)
    shares = sp.csr_array(
        (np.ones(n_rows), np.searchsorted(leaf, leaf_of_row), np.arange(n_rows + 1)),
        shape=(n_rows, len(leaf)),
    )
    n_training = tree.n_node_samples[leaf].astype(float)
    return TreeLeaves(leaf, probabilities, shares, None, n_training)


def _bagging_leaves(model: Any, X: Any, n_classes: int) -> list[TreeLeaves]:
    if not all(isinstance(member, BaseDecisionTree) for member in model.estimators_):
        return []
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    trees = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        leaf_of_row = np.asarray(member.apply(rows[:, columns]))
        codes = np.asarray(member.classes_, dtype=np.intp)  # a bag may lack some of the classes
        trees.append(_sklearn_leaves(member, leaf_of_row, codes, n_classes))
    return trees


def _has_missing(X: Any) -> NDArray[np.bool_]:
    """Return whether each column has missing values."""
    if sp.issparse(X):
        return np.zeros(X.shape[1], dtype=bool)
    missing: NDArray[np.bool_] = np.isnan(np.asarray(X, dtype=float)).any(axis=0)
    return missing


def path_rules(
    tree: Any, names: Sequence[str], has_missing: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Return, for every node of a scikit-learn tree, the tests on the path to it.

    Where a column has missing values, the rule says which branch they take.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [np.nan], [4]], [0, 0, 1, 1])
    >>> path_rules(model.tree_, ["wage"], np.array([True])).tolist()
    ['all rows', 'wage <= 3', 'wage > 3 or missing']
    """
    tests: list[list[str]] = [[] for _ in range(tree.node_count)]
    pending = [0]
    while pending:
        node = pending.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        column = int(tree.feature[node])
        threshold = _threshold_text(float(tree.threshold[node]))
        texts = [f"{names[column]} <= {threshold}", f"{names[column]} > {threshold}"]
        if has_missing[column]:
            texts[0 if tree.missing_go_to_left[node] else 1] += " or missing"
        tests[left], tests[right] = [*tests[node], texts[0]], [*tests[node], texts[1]]
        pending += [left, right]
    return np.array([join_tests(path) for path in tests], dtype=object)


def _threshold_text(threshold: float) -> str:
    """Format a threshold with as few digits as identify it: scikit-learn compares float32."""
    step = float(np.spacing(np.float32(abs(threshold))))
    short = next(
        value
        for digits in range(1, 18)
        if abs((value := float(f"{threshold:.{digits}g}")) - threshold) <= step / 2
    )
    return np.format_float_positional(short, trim="-") if 1e-4 <= abs(short) < 1e9 else f"{short:g}"

"""The leaves of a fitted tree of this library or of scikit-learn, and the rows in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import BaseDecisionTree

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.levels.decisions import predicted_class
from sureleaf.model import TreeModel
from sureleaf.tree.rules import IS_MISSING, OR_MISSING, join_tests, leaf_rules

PathTest = tuple[str, int | None]
"""A test in words, and the column whose missing values pass it; None if they do not."""


@dataclass(frozen=True, eq=False)
class TreeLeaves:
    """The leaves of one tree, and the share of each audited row in each leaf.

    A row is in one leaf, except for rows with missing values in trees that divide them. `leaf` are
    the numbers of the tree's own library. `tests` are those on the path to each leaf, None for the
    trees of an ensemble; `missing` are the columns with missing values.
    """

    leaf: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    shares: sp.csr_array
    n_training: NDArray[np.float64]
    predicted: NDArray[np.intp]
    tests: tuple[tuple[PathTest, ...], ...] | None = None
    missing: frozenset[int] = frozenset()

    @property
    def rule(self) -> NDArray[np.object_] | None:
        """The tests on the path to each leaf, in words, and where missing values go."""
        if self.tests is None:
            return None
        rules = [
            join_tests([text + OR_MISSING * (column in self.missing) for text, column in path])
            for path in self.tests
        ]
        return np.array(rules, dtype=object)

    @classmethod
    def join(cls, parts: Sequence["TreeLeaves"]) -> "TreeLeaves":
        """Return the same leaves with the rows of all parts."""
        shares = sp.csr_array(sp.vstack([part.shares for part in parts], format="csr"))
        missing = frozenset[int]().union(*(part.missing for part in parts))
        return replace(parts[0], shares=shares, missing=missing)


def find_trees(model: Any, X: Any, names: Sequence[str], n_classes: int) -> list[TreeLeaves]:
    """Return the leaves of every tree of a model; an empty list if it is not made of voting trees.

    The model is not a pipeline. `names` are those of the columns; only a single tree has rules.
    """
    if isinstance(model, TreeClassifier):
        leaves = _sureleaf_leaves(model.model_, X)
        rules = leaf_rules(model.model_.tree, model.model_.schema)
        paths = tuple(((rules[leaf], None),) for leaf in leaves.leaf.tolist())
        return [replace(leaves, tests=paths)]
    if isinstance(model, BaggedTreesClassifier):
        return [_sureleaf_leaves(member, X) for member in model.model_.members]
    if isinstance(model, BaseDecisionTree):
        leaves = _sklearn_leaves(model, np.asarray(model.apply(X)), np.arange(n_classes), n_classes)
        missing: list[int] = []
        if not sp.issparse(X):
            missing = np.flatnonzero(np.isnan(np.asarray(X, dtype=float)).any(axis=0)).tolist()
        tests = _leaf_tests(model.tree_, names)
        return [replace(leaves, tests=tests, missing=frozenset(missing))]
    if isinstance(model, RandomForestClassifier | ExtraTreesClassifier):
        leaf_of_row, codes = np.asarray(model.apply(X)), np.arange(n_classes)
        return [
            _sklearn_leaves(tree, leaf_of_row[:, i], codes, n_classes)
            for i, tree in enumerate(model.estimators_)
        ]
    if not isinstance(model, BaggingClassifier):
        return []
    if not all(isinstance(member, BaseDecisionTree) for member in model.estimators_):
        return []
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    trees = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        leaf_of_row = np.asarray(member.apply(rows[:, columns]))
        codes = np.asarray(member.classes_, dtype=np.intp)  # a bag may lack some of the classes
        trees.append(_sklearn_leaves(member, leaf_of_row, codes, n_classes))
    return trees


def _sureleaf_leaves(model: TreeModel, X: Any) -> TreeLeaves:
    leaf = model.tree.leaf_ids
    shares = sp.csr_array(model.leaf_shares(X)[:, leaf])
    n_training, predicted = model.leaf_counts.n, model.predicted_classes[leaf]
    return TreeLeaves(leaf, model.probabilities[leaf], shares, n_training, predicted)


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
    return TreeLeaves(leaf, probabilities, shares, n_training, predicted_class(probabilities))


def _leaf_tests(tree: Any, names: Sequence[str]) -> tuple[tuple[PathTest, ...], ...]:
    """Return the tests on the path to each leaf of a tree of scikit-learn.

    Left if ``value <= threshold``, which is infinite if only missing values go to the right.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [np.nan], [4]], [0, 0, 1, 1])
    >>> _leaf_tests(model.tree_, ["wage"])
    ((('wage <= 3', None),), (('wage > 3', 0),))
    """
    paths: list[tuple[PathTest, ...]] = [()] * tree.node_count
    is_leaf = tree.children_left < 0
    for node in np.flatnonzero(~is_leaf).tolist():  # parents come before their children
        column, threshold = int(tree.feature[node]), float(tree.threshold[node])
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        tests = [f"{names[column]} is not missing", f"{names[column]}{IS_MISSING}"]
        takes_missing = None
        if not np.isinf(threshold):
            tests = [f"{names[column]} {sign} {_threshold_text(threshold)}" for sign in ("<=", ">")]
            takes_missing = left if tree.missing_go_to_left[node] else right
        for child, test in zip((left, right), tests, strict=True):
            paths[child] = *paths[node], (test, column if child == takes_missing else None)
    return tuple(paths[leaf] for leaf in np.flatnonzero(is_leaf).tolist())


def check_trees(model: Any) -> None:
    """Check the trees of a model of scikit-learn before they see a row."""
    members = getattr(model, "estimators_", ())
    if isinstance(members, np.ndarray):  # of gradient boosting, one per round and class
        members = members.ravel()
    for member in (model, *members):
        if isinstance(member, BaseDecisionTree) and hasattr(member, "tree_"):
            check_nodes(member.tree_, member.n_features_in_)


def check_nodes(tree: Any, n_columns: int) -> None:
    """Raise an error if the arrays of scikit-learn are not a tree whose tests can be made.

    Every node but the root must be the child of one node before it, so that there is no circle.
    Then nothing that follows the children or looks up a column can leave the arrays.
    """
    left, right = np.asarray(tree.children_left), np.asarray(tree.children_right)
    n_nodes = len(left)
    others = right, tree.feature, tree.threshold, tree.missing_go_to_left
    if any(len(one) != n_nodes for one in others) or not n_nodes:
        raise _damaged("its nodes do not have one child, column and threshold each")
    is_leaf = left == -1
    if not np.array_equal(is_leaf, right == -1):
        raise _damaged("a node has one child")
    parent = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[parent], right[parent]])
    if not np.array_equal(np.sort(children), np.arange(1, n_nodes)):
        raise _damaged("not every node but the root is the child of exactly one node")
    if np.any(children <= np.tile(parent, 2)):
        raise _damaged("its children lead in a circle")
    feature, threshold = tree.feature[parent], tree.threshold[parent]
    if np.any((feature < 0) | (feature >= n_columns)):
        raise _damaged(f"it tests columns beyond the {n_columns} that it has")
    if np.any(np.isnan(threshold) | (threshold == -np.inf)):
        raise _damaged("a threshold is not a number")


def _damaged(why: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"model must have trees that can be followed; this one is damaged: {why}. Save it again."
    )


def _threshold_text(threshold: float) -> str:
    """Format a threshold with as few digits as identify it: scikit-learn compares float32."""
    step = float(np.spacing(np.float32(abs(threshold))))
    short = next(
        value
        for digits in range(1, 18)
        if abs((value := float(f"{threshold:.{digits}g}")) - threshold) <= step / 2
    )
    return np.format_float_positional(short, trim="-") if 1e-4 <= abs(short) < 1e9 else f"{short:g}"

"""The leaves of a fitted tree of this library or of scikit-learn, and the rows in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import BaseDecisionTree

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.model import TreeModel
from sureleaf.tree.rules import IS_MISSING, OR_MISSING, join_tests, leaf_rules


@dataclass(frozen=True, eq=False)
class TreeLeaves:
    """The leaves of one tree, and the share of each audited row in each leaf.

    A row is in one leaf, except for rows with missing values in trees that divide them. `leaf` are
    the numbers of the tree's own library; `rule` is None for the trees of an ensemble. `predicted`
    is given by a tree with costs. Of a tree whose rules say where missing values go, `has_missing`
    tells which columns have any, and `structure` holds its tests.
    """

    leaf: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    shares: sp.csr_array
    rule: NDArray[np.object_] | None
    n_training: NDArray[np.float64]
    predicted: NDArray[np.intp] | None = None
    has_missing: NDArray[np.bool_] | None = None
    structure: "TreeStructure | None" = None

    @classmethod
    def join(cls, parts: Sequence["TreeLeaves"]) -> "TreeLeaves":
        """Return the same leaves with the rows of all parts."""
        shares = sp.csr_array(sp.vstack([part.shares for part in parts], format="csr"))
        joined = replace(parts[0], shares=shares)
        if joined.structure is None:
            return joined
        known = [part.has_missing for part in parts if part.has_missing is not None]
        has_missing = np.logical_or.reduce(known)
        rule = joined.structure.rules(has_missing)[joined.leaf]
        return replace(joined, rule=rule, has_missing=has_missing)


def find_trees(model: Any, X: Any, names: Sequence[str], n_classes: int) -> list[TreeLeaves]:
    """Return the leaves of every tree of a model; nothing if it is not made of voting trees.

    The model is not a pipeline. `names` are those of the columns; only a single tree has rules.
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
        has_missing = np.zeros(X.shape[1], dtype=bool)
        if not sp.issparse(X):
            has_missing = np.isnan(np.asarray(X, dtype=float)).any(axis=0)
        structure = TreeStructure.of(model.tree_, names)
        rule = structure.rules(has_missing)[leaves.leaf]
        return [replace(leaves, rule=rule, has_missing=has_missing, structure=structure)]
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


@dataclass(frozen=True, eq=False)
class TreeStructure:
    """The tests of a tree of scikit-learn, as plain arrays with one entry per node.

    Left if ``value <= threshold``; -1 for the children of a leaf. The threshold is infinite if only
    missing values go to the right.
    """

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    names: tuple[str, ...]

    ARRAYS: ClassVar[tuple[str, ...]] = ("left", "right", "feature", "threshold", "missing_left")

    @classmethod
    def of(cls, tree: Any, names: Sequence[str]) -> "TreeStructure":
        """Read the arrays of a tree of scikit-learn."""
        return cls(
            tree.children_left,
            tree.children_right,
            tree.feature,
            tree.threshold,
            np.asarray(tree.missing_go_to_left, dtype=bool),
            tuple(names),
        )

    def check(self) -> None:
        """Raise an error if this is not a tree whose tests can be made.

        Every node but the root must be the child of one node before it, so that there is no circle.
        Then nothing that follows the children or looks up a column can leave the arrays.
        """
        n_nodes = len(self.left)
        if any(len(getattr(self, name)) != n_nodes for name in self.ARRAYS) or not n_nodes:
            raise _damaged("its nodes do not have one child, column and threshold each")
        is_leaf = self.left == -1
        if not np.array_equal(is_leaf, self.right == -1):
            raise _damaged("a node has one child")
        parent = np.flatnonzero(~is_leaf)
        children = np.concatenate([self.left[parent], self.right[parent]])
        if not np.array_equal(np.sort(children), np.arange(1, n_nodes)):
            raise _damaged("its children are not nodes of the tree, each once")
        if np.any(children <= np.tile(parent, 2)):
            raise _damaged("its children lead in a circle")
        feature, threshold = self.feature[parent], self.threshold[parent]
        if np.any((feature < 0) | (feature >= len(self.names))):
            raise _damaged(f"it tests columns beyond the {len(self.names)} that it has")
        if np.any(np.isnan(threshold) | (threshold == -np.inf)):
            raise _damaged("a threshold is not a number")

    def rules(self, has_missing: NDArray[np.bool_]) -> NDArray[np.object_]:
        """Return, for every node, the tests on the path to it.

        Where a column has missing values, the rule says which branch they take.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> model = DecisionTreeClassifier().fit([[1], [2], [np.nan], [4]], [0, 0, 1, 1])
        >>> TreeStructure.of(model.tree_, ["wage"]).rules(np.array([True])).tolist()
        ['all rows', 'wage <= 3', 'wage > 3 or missing']
        """
        tests: list[list[str]] = [[] for _ in self.left]
        for node in np.flatnonzero(self.left >= 0).tolist():  # parents come before their children
            column, name = int(self.feature[node]), self.names[int(self.feature[node])]
            if np.isinf(self.threshold[node]):
                texts = [f"{name} is not missing", f"{name}{IS_MISSING}"]
            else:
                threshold = _threshold_text(float(self.threshold[node]))
                texts = [f"{name} <= {threshold}", f"{name} > {threshold}"]
                if has_missing[column]:
                    texts[0 if self.missing_left[node] else 1] += OR_MISSING
            for child, text in zip((self.left[node], self.right[node]), texts, strict=True):
                tests[int(child)] = [*tests[node], text]
        return np.array([join_tests(path) for path in tests], dtype=object)


def check_trees(model: Any) -> None:
    """Check the trees of a model of scikit-learn before they see a row."""
    members = getattr(model, "estimators_", ())
    if isinstance(members, np.ndarray):  # of gradient boosting, one per round and class
        members = members.ravel()
    for member in (model, *members):
        if isinstance(member, BaseDecisionTree) and hasattr(member, "tree_"):
            TreeStructure.of(member.tree_, [""] * member.n_features_in_).check()


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

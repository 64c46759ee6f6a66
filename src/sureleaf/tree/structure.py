"""A finished tree: frozen flat arrays, nodes in preorder."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sureleaf import _kernel
from sureleaf.arguments import FloatArray


def row_sums(array: FloatArray) -> FloatArray:
    """Return the sum of each row; for short rows, far faster than ``sum(axis=1)``."""
    return np.asarray(np.ascontiguousarray(array.T).sum(axis=0))


def row_maxima(array: FloatArray) -> FloatArray:
    """Return the maximum of each row; for short rows, far faster than ``max(axis=1)``."""
    return np.asarray(np.ascontiguousarray(array.T).max(axis=0))


def leaves_in_words(n_leaves: int) -> str:
    """Return the number of leaves as text: "1 leaf", "7 leaves"."""
    return "1 leaf" if n_leaves == 1 else f"{n_leaves} leaves"


_DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "child_offset": np.int64,
    "children": np.int32,
    "branch_share": np.float64,
    "category_offset": np.int64,
    "category_branch": np.int32,
    "missing_branch": np.int32,
    "class_counts": np.float64,
}

_NO_BRANCHES = np.empty(0, dtype=np.int32)  # stands for -1 at each node


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A finished tree as flat arrays; node 0 is the root, the first child of a node follows it.

    - `feature`, shape (n_nodes,): the column that a node tests, -1 for a leaf.
    - `threshold`, shape (n_nodes,): ``value <= threshold`` takes the first branch; NaN if the node
      tests no threshold.
    - `child_offset`, shape (n_nodes + 1,): the branches of node i are
      ``children[child_offset[i]:child_offset[i + 1]]``.
    - `children`: the child nodes.
    - `branch_share`: the share of each branch in the rows whose value is known; a row with a
      missing value is divided by these shares.
    - `category_offset`, shape (n_nodes + 1,): start and end of the categories of each node in
      `category_branch`.
    - `category_branch`: the index of the branch that a category takes; -1 if the node has not seen
      the category.
    - `class_counts`, shape (n_nodes, n_classes): weight of the training rows of each class in each
      node; fractional if rows with missing values were divided over several branches.
    - `n_columns`: the number of columns of the table.
    - `missing_branch`, shape (n_nodes,): the branch that a missing value takes; -1 (everywhere by
      default) if it goes down all branches. A threshold of infinity tests whether a value is
      missing.
    """

    feature: NDArray[np.int32]
    threshold: FloatArray
    child_offset: NDArray[np.int64]
    children: NDArray[np.int32]
    branch_share: FloatArray
    category_offset: NDArray[np.int64]
    category_branch: NDArray[np.int32]
    class_counts: FloatArray
    n_columns: int
    missing_branch: NDArray[np.int32] = field(default_factory=lambda: _NO_BRANCHES)

    def __post_init__(self) -> None:
        if self.missing_branch is _NO_BRANCHES:
            no_branch = np.full(len(self.feature), -1, dtype=np.int32)
            object.__setattr__(self, "missing_branch", no_branch)
        for name, dtype in _DTYPES.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def from_kernel(cls, grown: _kernel.Tree, n_columns: int) -> Self:
        """Make a Tree from a tree that the kernel has grown or pruned."""
        arrays = {name: getattr(grown, name) for name in _DTYPES if name != "class_counts"}
        tree = cls(**arrays, class_counts=grown.class_weights, n_columns=n_columns)
        tree.__dict__["kernel"] = grown
        return tree

    @cached_property
    def kernel(self) -> _kernel.Tree:
        """The same tree in the kernel; ValueError if the arrays are not a tree."""
        arrays = {name: getattr(self, name) for name in _DTYPES if name != "class_counts"}
        return _kernel.make_tree(
            **arrays, class_weights=self.class_counts, n_columns=self.n_columns
        )

    @cached_property
    def routing(self) -> _kernel.RoutingTree:
        """The same tree for routing; packs itself when rows are many, and keeps that form."""
        return _kernel.RoutingTree(self.kernel)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    @property
    def n_nodes(self) -> int:
        """The number of nodes, empty leaves included."""
        return len(self.feature)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.class_counts.shape[1])

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.feature < 0

    @cached_property
    def leaf_ids(self) -> NDArray[np.intp]:
        """The node numbers of the leaves, ascending."""
        return np.flatnonzero(self.is_leaf)

    @property
    def n_leaves(self) -> int:
        """The number of leaves, empty ones included."""
        return len(self.leaf_ids)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        n_branches = np.diff(self.child_offset)
        parent[self.children] = np.repeat(np.arange(self.n_nodes, dtype=np.int32), n_branches)
        return parent

    @cached_property
    def node_depth(self) -> NDArray[np.int64]:
        """The number of tests on the path to each node."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        parents = self.parent.tolist()
        for node in range(1, self.n_nodes):  # parents come before their children
            depth[node] = depth[parents[node]] + 1
        return depth

    @cached_property
    def missing_arrives(self) -> NDArray[np.bool_]:
        """Whether a missing value of the tested column can reach each inner node.

        It cannot if a test of the same column further up has sent it elsewhere.
        """
        arrives = np.zeros(self.n_nodes, dtype=bool)
        sent_away: dict[int, frozenset[int]] = {0: frozenset()}  # columns, by node
        for node in np.flatnonzero(~self.is_leaf).tolist():  # parents come before their children
            away, column = sent_away.pop(node), int(self.feature[node])
            arrives[node] = column not in away
            missing_branch = int(self.missing_branch[node])
            for branch, child in enumerate(self.branches(node).tolist()):
                stays = missing_branch in (branch, -1) or column in away
                sent_away[child] = away if stays else away | {column}
        return arrives

    @property
    def depth(self) -> int:
        """The largest number of tests on the path to a leaf."""
        return int(self.node_depth.max())

    @cached_property
    def counts_or_parent(self) -> FloatArray:
        """The class counts; an empty node has those of its parent, as it predicts like it."""
        return self.fill_empty(self.class_counts)

    def fill_empty(self, counts: FloatArray) -> FloatArray:
        """Return the counts, with those of the parent for nodes without rows."""
        is_empty = row_sums(counts) <= 0
        is_empty[0] = False  # the root has no parent
        source = np.arange(self.n_nodes)
        pending = np.flatnonzero(is_empty)
        while len(pending):  # more than once only if parents are empty, too
            source[pending] = self.parent[source[pending]]
            pending = pending[is_empty[source[pending]]]
        return counts.take(source, axis=0)

    def branches(self, node: int) -> NDArray[np.int32]:
        """Return the children of a node."""
        return self.children[self.child_offset[node] : self.child_offset[node + 1]]

    @property
    def has_fractional_rows(self) -> bool:
        """Whether missing values go down all branches of a test, as fractional rows."""
        return bool(np.any(self.missing_branch[~self.is_leaf] < 0))

    def tests_missing(self, node: int) -> bool:
        """Whether a node asks if a value is missing: known values take the first branch."""
        return bool(self.threshold[node] == np.inf and self.missing_branch[node] == 1)

    def categories(self, node: int) -> NDArray[np.int32]:
        """Return the index of the branch of each category of the tested column, or -1."""
        return self.category_branch[self.category_offset[node] : self.category_offset[node + 1]]

    def __repr__(self) -> str:
        nodes = "1 node" if self.n_nodes == 1 else f"{self.n_nodes} nodes"
        return f"Tree of {nodes}, {leaves_in_words(self.n_leaves)}, depth {self.depth}"


def _entropy(shares: FloatArray) -> FloatArray:
    """Entropy in bits of each line of class shares."""
    entropy: FloatArray = -xlogy(shares, shares).sum(axis=1) / np.log(2.0)
    return np.abs(entropy)


def _gini(shares: FloatArray) -> FloatArray:
    """Probability that two rows, drawn with replacement, have different classes."""
    return np.asarray(1.0 - (shares**2).sum(axis=1))


@dataclass(frozen=True)
class Criterion:
    """What Python knows of a split criterion of the kernel: its name in a sentence, its impurity.

    `impurity` takes class shares with one line per node; lines of nodes without rows are 0.
    """

    title: str
    impurity: Callable[[FloatArray], FloatArray]


CRITERIA: Final = {
    "gain_ratio": Criterion("gain ratio", _entropy),
    "entropy": Criterion("entropy", _entropy),
    "gini": Criterion("the Gini index", _gini),
}
"""The criteria of `Criteria` in cpp/include/sureleaf/criterion.hpp, by name."""


def node_impurity(tree: Tree, criterion: str) -> FloatArray:
    """Return the impurity of each node by a criterion; 0 for a node without rows."""
    totals = tree.class_counts.sum(axis=1, keepdims=True)
    shares = np.divide(
        tree.class_counts, totals, out=np.zeros_like(tree.class_counts), where=totals > 0
    )
    impurity: FloatArray = CRITERIA[criterion].impurity(shares)
    return np.where(totals[:, 0] > 0, impurity, 0.0)


def impurity_importances(tree: Tree, criterion: str) -> FloatArray:
    """Return the share of each column in the decrease of impurity; zeros for a single leaf.

    It is computed from the rows of the fit, so columns with many values look better than they are.
    """
    remaining = tree.class_counts.sum(axis=1) * node_impurity(tree, criterion)
    decrease = remaining.copy()
    np.subtract.at(decrease, tree.parent[1:], remaining[1:])
    inner = ~tree.is_leaf
    sums = np.bincount(tree.feature[inner], weights=decrease[inner], minlength=tree.n_columns)
    gains: FloatArray = np.maximum(sums, 0.0)
    return gains / gains.sum() if gains.sum() > 0 else gains

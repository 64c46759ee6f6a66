"""What is a finished tree: flat frozen arrays, nodes in preorder."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.tree.lines import line_sums
from sureleaf.tree.size_words import leaves_in_words

__all__ = ["Tree"]

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
    """A finished tree as flat arrays; node 0 is the root, a node's first branch follows it.

    Parameters
    ----------
    feature : ndarray of int32, shape (n_nodes,)
        The column that a node tests, -1 for a leaf.
    threshold : ndarray of float64, shape (n_nodes,)
        ``value <= threshold`` takes the first branch; NaN where no threshold is tested.
    child_offset : ndarray of int64, shape (n_nodes + 1,)
        The branches of node i are ``children[child_offset[i]:child_offset[i + 1]]``.
    children : ndarray of int32
        The nodes that branches lead to.
    branch_share : ndarray of float64
        For each branch the share of the rows that take it, of those whose value is known: the
        way of a row whose value is missing.
    category_offset : ndarray of int64, shape (n_nodes + 1,)
        Likewise for the categories of nodes that test one.
    category_branch : ndarray of int32
        The place among the node's branches that a category takes; -1 if the node saw none of it.
    class_counts : ndarray of float64, shape (n_nodes, n_classes)
        Weight of the growing rows of each class in each node; fractional where rows with missing
        values went down several branches.
    n_columns : int
        The number of columns of the table.
    missing_branch : ndarray of int32, shape (n_nodes,), optional
        The branch that a missing value takes; -1 (everywhere by default) if it goes down all
        branches. A threshold of infinity tests whether a value is missing.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model.tree_
    Tree of 3 nodes, 2 leaves, depth 1
    >>> model.tree_.threshold.tolist()
    [2.0, nan, nan]
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    child_offset: NDArray[np.int64]
    children: NDArray[np.int32]
    branch_share: NDArray[np.float64]
    category_offset: NDArray[np.int64]
    category_branch: NDArray[np.int32]
    class_counts: NDArray[np.float64]
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
    def from_kernel(cls, grown: _kernel.KernelTree, n_columns: int) -> Self:
        """Take over a tree that the kernel has grown or pruned."""
        arrays = {name: getattr(grown, name) for name in _DTYPES if name != "class_counts"}
        tree = cls(**arrays, class_counts=grown.class_weights, n_columns=n_columns)
        tree.__dict__["kernel"] = grown
        return tree

    @cached_property
    def kernel(self) -> _kernel.KernelTree:
        """The same tree in the kernel; ValueError if the arrays make none."""
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
        for name, value in {
            "missing_branch": _NO_BRANCHES,
            **state,
        }.items():  # older states have none
            object.__setattr__(self, name, value)
        self.__post_init__()

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves, empty leaves included."""
        return len(self.feature)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.class_counts.shape[1])

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """For each node whether it is a leaf."""
        return self.feature < 0

    @cached_property
    def leaf_ids(self) -> NDArray[np.intp]:
        """The node numbers of the leaves, ascending."""
        return np.flatnonzero(self.is_leaf)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return len(self.leaf_ids)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """For each node its parent, -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        n_branches = np.diff(self.child_offset)
        parent[self.children] = np.repeat(np.arange(self.n_nodes, dtype=np.int32), n_branches)
        return parent

    @cached_property
    def node_depth(self) -> NDArray[np.int64]:
        """For each node the number of tests on the way to it."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        parents = self.parent.tolist()
        for node in range(1, self.n_nodes):  # a parent's number is below its child's
            depth[node] = depth[parents[node]] + 1
        return depth

    @property
    def depth(self) -> int:
        """The largest number of tests on the way to a leaf."""
        return int(self.node_depth.max())

    @cached_property
    def counts_or_parent(self) -> NDArray[np.float64]:
        """Class counts, an empty node having its parent's: it predicts like its parent."""
        return self.fill_empty(self.class_counts)

    def fill_empty(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give nodes without rows the counts of their parent."""
        is_empty = line_sums(counts) <= 0
        is_empty[0] = False  # which has no parent
        source = np.arange(self.n_nodes)
        waiting = np.flatnonzero(is_empty)
        while len(waiting):  # climbs once, but for empty nodes below empty nodes
            source[waiting] = self.parent[source[waiting]]
            waiting = waiting[is_empty[source[waiting]]]
        filled: NDArray[np.float64] = counts.take(source, axis=0)
        return filled

    def branches(self, node: int) -> NDArray[np.int32]:
        """List the nodes that the branches of a node lead to."""
        return self.children[self.child_offset[node] : self.child_offset[node + 1]]

    def categories(self, node: int) -> NDArray[np.int32]:
        """Tell each category of the tested column its place among the branches, or -1."""
        return self.category_branch[self.category_offset[node] : self.category_offset[node + 1]]

    def __repr__(self) -> str:
        nodes = "1 node" if self.n_nodes == 1 else f"{self.n_nodes} nodes"
        return f"Tree of {nodes}, {leaves_in_words(self.n_leaves)}, depth {self.depth}"

"""The leaves that rows reach, the share of a row in each, and class counts of leaves.

Counts of two halves of the rows add up to those of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table import EncodedTable
from sureleaf.tree.growing import TrainingRows
from sureleaf.tree.structure import Tree, row_sums

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Routes:
    """The nodes where rows end: those of row i are ``nodes[offsets[i]:offsets[i + 1]]``.

    - `offsets`, shape (n_rows + 1,): start and end of the nodes of each row.
    - `nodes`: leaves, or the inner node where a row stops.
    - `shares`: the share of the row in each node; the shares of a row sum to 1.
    - `imputed_share`, shape (n_rows,): the share of each row that was routed by a missing or unseen
      value; not by a missing value that takes the branch its test has learned.
    - `n_nodes`: the number of nodes of the tree.
    """

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    shares: FloatArray
    imputed_share: FloatArray
    n_nodes: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.offsets) - 1

    def rows(self) -> NDArray[np.intp]:
        """Return the row of each entry of `nodes`."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.offsets))

    def heaviest(self) -> NDArray[np.int64]:
        """Return for each row the node with the largest share, the first one if several."""
        if len(self.nodes) == self.n_rows:
            return self.nodes.astype(np.int64)
        order = np.lexsort((np.arange(len(self.nodes)), -self.shares, self.rows()))
        return self.nodes[order[self.offsets[:-1]]].astype(np.int64)


def route(tree: Tree, table: EncodedTable, *, stop_at_unseen: bool = False) -> Routes:
    """Route rows through a tree.

    With `stop_at_unseen`, a row stops at a node that has not seen its category, instead of being
    divided among all branches.
    """
    return _join_routes(list(table.columns.per_part(table, _route_part, tree, stop_at_unseen)))


def mixture(
    tree: Tree,
    table: EncodedTable,
    values: FloatArray,
    *,
    stop_at_unseen: bool = False,
    n_threads: int = 1,
) -> FloatArray:
    """Return for each row the mean of the values of its nodes, weighted by its shares."""
    mixed = list(
        table.columns.per_part(
            table,
            _mix_part,
            tree,
            np.ascontiguousarray(values),
            stop_at_unseen,
            n_threads=n_threads,
        )
    )
    return mixed[0] if len(mixed) == 1 else np.concatenate(mixed)


def _route_part(part: EncodedTable, tree: Tree, stop_at_unseen: bool, n_threads: int = 1) -> Routes:
    # The kernel routes with one thread: mixtures, which are predictions, do not come this way.
    offsets, nodes, shares, imputed = _kernel.route(tree.routing, part.kernel, stop_at_unseen)
    return Routes(offsets, nodes, shares, imputed, tree.n_nodes)


def _mix_part(
    part: EncodedTable, tree: Tree, values: FloatArray, stop_at_unseen: bool, n_threads: int = 1
) -> FloatArray:
    result: FloatArray = _kernel.predict(
        tree.routing, part.kernel, values, stop_at_unseen=stop_at_unseen, n_threads=n_threads
    )
    return result


def _join_routes(routes: Sequence[Routes]) -> Routes:
    """Return the routes of the rows of several tables, in order."""
    if len(routes) == 1:
        return routes[0]
    first = np.cumsum([0, *(len(each.nodes) for each in routes)])
    offsets = [each.offsets[:-1] + start for each, start in zip(routes, first, strict=False)]
    return Routes(
        np.concatenate([*offsets, first[-1:]]).astype(routes[0].offsets.dtype),
        np.concatenate([each.nodes for each in routes]),
        np.concatenate([each.shares for each in routes]),
        np.concatenate([each.imputed_share for each in routes]),
        routes[0].n_nodes,
    )


def add_to_parents(tree: Tree, counts: NDArray[Number]) -> NDArray[Number]:
    """Add what the nodes of a tree hold to their parents, from the leaves up to the root.

    `counts` has one line per node, of which those of inner nodes are usually 0. The sums are, to
    the last bit, those of :func:`count_nodes`.
    """
    sums = counts.copy()
    for node in range(tree.n_nodes - 1, -1, -1):  # a child comes after its parent
        for child in tree.children[tree.child_offset[node] : tree.child_offset[node + 1]]:
            sums[node] += sums[child]
    return sums


def count_nodes(tree: Tree, rows: TrainingRows) -> FloatArray:
    """Route rows through a tree, and return the class weights of every node."""
    if rows.store is not None:
        return rows.store.count_nodes(tree, rows)
    counts: FloatArray = _kernel.count_nodes(tree.kernel, rows.kernel, rows.labels, rows.weights)
    return counts


# ---- counts of rows in leaves --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafCounts:
    """How much weight of each class every leaf holds.

    - `leaf_ids`, shape (n_leaves,): the leaves, by node number.
    - `counts`, shape (n_leaves, n_classes): weights by class; whole numbers unless rows are
      weighted or have missing values.
    - `squares`, shape (n_leaves,): sums of squared weights, from which the effective number of rows
      follows. A part of a row counts as the same part of its squared weight.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None).fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model.leaf_counts_
    LeafCounts of 2 leaves, 4 rows
    >>> (model.leaf_counts_ + model.leaf_counts_).counts.tolist()
    [[4.0, 0.0], [0.0, 4.0]]
    """

    leaf_ids: NDArray[np.intp]
    counts: FloatArray
    squares: FloatArray

    @classmethod
    def of_tree(cls, tree: Tree) -> "LeafCounts":
        """Take the counts of a tree whose rows all have weight 1."""
        counts = tree.class_counts.take(tree.leaf_ids, axis=0)
        return cls(tree.leaf_ids, counts, row_sums(counts))

    @property
    def n(self) -> FloatArray:
        """Weight of each leaf."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def n_effective(self) -> FloatArray:
        """Kish's effective number of rows of each leaf: (sum of weights)^2 / sum of squares."""
        return np.divide(self.n**2, self.squares, out=np.zeros(len(self.n)), where=self.squares > 0)

    def __add__(self, other: object) -> "LeafCounts":
        if not isinstance(other, LeafCounts):
            return NotImplemented
        if not np.array_equal(self.leaf_ids, other.leaf_ids):
            raise InvalidArgumentError(
                "LeafCounts can be added if they are of the same leaves; got leaves "
                f"{self.leaf_ids.tolist()[:5]} and {other.leaf_ids.tolist()[:5]}. "
                "Count both with the same tree."
            )
        if self.counts.shape != other.counts.shape:
            raise InvalidTypeError(
                f"LeafCounts can be added if they have the same classes; got "
                f"{self.counts.shape[1]} and {other.counts.shape[1]} classes."
            )
        return LeafCounts(self.leaf_ids, self.counts + other.counts, self.squares + other.squares)

    def __repr__(self) -> str:
        return f"LeafCounts of {len(self.leaf_ids)} leaves, {self.n.sum():g} rows"


def count_ends(routes: Routes, rows: TrainingRows) -> tuple[FloatArray, FloatArray]:
    """Return the weights by class of the rows that end in each node, and their squares."""
    row, n_nodes = routes.rows(), routes.n_nodes
    own = rows.row_weights[row]
    weights = routes.shares * own
    cells = routes.nodes.astype(np.int64) * rows.n_classes + rows.labels[row]
    counts = np.bincount(cells, weights, n_nodes * rows.n_classes).astype(np.float64)
    squares = np.bincount(routes.nodes, weights * own, n_nodes).astype(np.float64)
    return counts.reshape(n_nodes, rows.n_classes), squares


def count_leaves(tree: Tree, rows: TrainingRows) -> LeafCounts:
    """Send rows through a tree and count them in its leaves."""
    counts, squares = count_ends(route(tree, rows.table), rows)
    return LeafCounts(tree.leaf_ids, counts[tree.leaf_ids], squares[tree.leaf_ids])


def leaf_counts_of(tree: Tree, rows: TrainingRows) -> LeafCounts:
    """Count the leaves of a tree whose own counts are of these rows."""
    return LeafCounts.of_tree(tree) if rows.weights is None else count_leaves(tree, rows)


def cut_leaf_counts(counts: LeafCounts, tree: Tree, smaller: Tree) -> LeafCounts:
    """Add up leaf counts for a tree in which some inner nodes have become leaves."""
    sums = np.zeros((tree.n_nodes, counts.counts.shape[1] + 1))
    sums[counts.leaf_ids] = np.column_stack([counts.counts, counts.squares])
    sizes = np.ones(tree.n_nodes, dtype=np.int64)
    for node in range(tree.n_nodes - 1, 0, -1):  # a parent's number is below its child's
        sums[tree.parent[node]] += sums[node]
        sizes[tree.parent[node]] += sizes[node]
    before = 0
    kept = []
    # Both trees are in preorder: a cut removes consecutive nodes.
    for is_leaf in smaller.is_leaf.tolist():
        kept.append(before)
        before += int(sizes[before]) if is_leaf else 1
    leaves = smaller.leaf_ids
    leaf_sums = sums[np.array(kept)[leaves]]
    return LeafCounts(leaves, leaf_sums[:, :-1], leaf_sums[:, -1])


def recount(tree: Tree, counted: TrainingRows) -> Tree:
    """Return the same tree with the class counts of other rows."""
    return replace(tree, class_counts=count_nodes(tree, counted))

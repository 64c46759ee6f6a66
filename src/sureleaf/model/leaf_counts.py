"""Class counts of the leaves of a tree; counts of two halves of the rows add up to those of all."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.tree import Routes, TrainingRows, Tree, count_nodes, route
from sureleaf.tree.structure import row_sums


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
        total: FloatArray = self.counts.sum(axis=1)
        return total

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


def split_rows(
    rows: TrainingRows, is_counted: NDArray[np.bool_]
) -> tuple[TrainingRows, TrainingRows]:
    """Split rows, by setting weights to 0, into those that grow a tree and those it counts."""
    weights = rows.row_weights
    growing = rows.with_weights(np.where(is_counted, 0.0, weights))
    counted = rows.with_weights(np.where(is_counted, weights, 0.0))
    return growing, counted


def recount(tree: Tree, counted: TrainingRows) -> Tree:
    """Return the same tree with the class counts of other rows."""
    return replace(tree, class_counts=count_nodes(tree, counted))

"""Class counts of the leaves of a tree; counts of two halves of the rows add up to those of all."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.tree import TrainingRows, Tree, count_nodes, route
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
    counts: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of_tree(cls, tree: Tree) -> "LeafCounts":
        """Take the counts of a tree whose rows all have weight 1."""
        counts = tree.class_counts.take(tree.leaf_ids, axis=0)
        return cls(tree.leaf_ids, counts, row_sums(counts))

    @property
    def n(self) -> NDArray[np.float64]:
        """Weight of each leaf."""
        total: NDArray[np.float64] = self.counts.sum(axis=1)
        return total

    @property
    def n_effective(self) -> NDArray[np.float64]:
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


def count_leaves(tree: Tree, rows: TrainingRows) -> LeafCounts:
    """Send rows through a tree and count them in its leaves."""
    routes = route(tree, rows.table)
    row = routes.rows()
    weights = routes.shares if rows.weights is None else routes.shares * rows.weights[row]
    cells = np.bincount(
        routes.nodes.astype(np.int64) * rows.n_classes + rows.labels[row],
        weights=weights,
        minlength=tree.n_nodes * rows.n_classes,
    ).reshape(tree.n_nodes, rows.n_classes)
    row_weights = 1.0 if rows.weights is None else rows.weights[row]
    squares = np.bincount(routes.nodes, weights=weights * row_weights, minlength=tree.n_nodes)
    leaves = tree.leaf_ids
    return LeafCounts(leaves, cells[leaves].astype(float), squares[leaves].astype(float))


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
    for (
        is_leaf
    ) in smaller.is_leaf.tolist():  # both trees are in preorder: a cut removes consecutive nodes
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

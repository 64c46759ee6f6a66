"""Counts of rows that did not grow the tree: part of the rows grow it, the others are counted."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.counts.cross_fitted import NodeHits
from sureleaf.counts.hit_rates import shrink_to_parent
from sureleaf.tree import TrainingRows, Tree, count_nodes

__all__ = ["honest_hits", "recount", "split_rows"]

_STRENGTHS = 2.0 ** np.arange(-1, 10)


def split_rows(
    rows: TrainingRows, is_counted: NDArray[np.bool_]
) -> tuple[TrainingRows, TrainingRows]:
    """Part the rows by weight into those that grow the tree and those that are counted.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> rows = TrainingRows(read_table([[1], [2], [3]]), np.array([0, 1, 1], np.int32), 2)
    >>> growing, counted = split_rows(rows, np.array([False, True, True]))
    >>> growing.total_weight, counted.total_weight
    (1.0, 2.0)
    """
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    growing = rows.with_weights(np.where(is_counted, 0.0, weights))
    counted = rows.with_weights(np.where(is_counted, weights, 0.0))
    return growing, counted


def recount(tree: Tree, counted: TrainingRows) -> Tree:
    """Replace what a tree holds by the counts of other rows; its splits stay.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> rows = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> tree = grow(rows, GrowthRules())
    >>> recount(tree, rows.with_weights(np.array([1.0, 0, 0, 0]))).class_counts.tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """
    return replace(tree, class_counts=count_nodes(tree, counted))


def honest_hits(tree: Tree, predicted: NDArray[np.intp]) -> NodeHits:
    """How often each node will be right, by counts of rows that did not grow the tree.

    The share of the predicted class, to which the parent's shares add some rows: as many as make
    each counted row most likely to the others.

    Parameters
    ----------
    tree : Tree
        With counts of rows that did not grow it.
    predicted : ndarray of int, shape (n_nodes,)
        The class that each node predicts.

    Returns
    -------
    NodeHits

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(levels_from="honest", random_state=0)
    >>> model = model.fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> honest_hits(model.tree_, np.array([0, 0, 1])).rates.round(1)
    array([0.5, 1. , 0.8])
    """
    leaves = tree.leaf_ids
    counts = tree.class_counts

    def likelihood(strength: float) -> float:
        others = shrink_to_parent(tree, counts, strength, leave_out=1.0)[leaves]
        return float((counts[leaves] * np.log(np.maximum(others, 1e-12))).sum())

    strength = float(_STRENGTHS[int(np.argmax([likelihood(s) for s in _STRENGTHS]))])
    shares = shrink_to_parent(tree, counts, strength)[np.arange(tree.n_nodes), predicted]
    return NodeHits(shares, None)

"""Counts of rows that did not grow the tree: part of the rows grow it, the others are counted."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.tree import TrainingRows, Tree, count_nodes

__all__ = ["recount", "split_rows"]


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

"""Which leaves a row reaches, and with what share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.table import EncodedTable
from sureleaf.tree.growing import TrainingRows, kernel_table
from sureleaf.tree.structure import Tree

__all__ = ["Routes", "count_nodes", "mixture", "route"]


@dataclass(frozen=True, eq=False)
class Routes:
    """Where rows end: row i in ``nodes[offsets[i]:offsets[i + 1]]``, with these shares.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_rows + 1,)
        Where the nodes of each row begin and end.
    nodes : ndarray of int32
        Leaves, or the inner node where a row stops.
    shares : ndarray of float64
        Shares of the row, which sum to 1.
    imputed_share : ndarray of float64, shape (n_rows,)
        How much of each row came where it is by a missing or unseen value.
    n_nodes : int
        Number of nodes of the tree.

    Examples
    --------
    A row in two leaves:

    >>> one = np.ones(1)
    >>> routes = Routes(np.array([0, 2]), np.array([1, 2]), np.array([0.4, 0.6]), one, n_nodes=3)
    >>> routes.heaviest().tolist()
    [2]
    """

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    shares: NDArray[np.float64]
    imputed_share: NDArray[np.float64]
    n_nodes: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    def rows(self) -> NDArray[np.intp]:
        """For each entry its row."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.offsets))

    def heaviest(self) -> NDArray[np.int64]:
        """For each row the node with the largest share, the first of equal ones."""
        if len(self.nodes) == self.n_rows:
            return self.nodes.astype(np.int64)
        order = np.lexsort((np.arange(len(self.nodes)), -self.shares, self.rows()))
        return self.nodes[order[self.offsets[:-1]]].astype(np.int64)


def route(tree: Tree, table: EncodedTable, *, stop_at_unseen: bool = False) -> Routes:
    """Send rows through a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : EncodedTable
        The rows.
    stop_at_unseen : bool
        A row whose category a node has not seen stops there, instead of going down all branches.

    Returns
    -------
    Routes

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.table import encode
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> route(model.tree_, encode([[1], [None]], model.schema_)).nodes.tolist()
    [1, 1, 2]
    """
    offsets, nodes, shares, imputed = _kernel.route(
        tree.routing, kernel_table(table), stop_at_unseen
    )
    return Routes(offsets, nodes, shares, imputed, tree.n_nodes)


def mixture(
    tree: Tree,
    table: EncodedTable,
    values: NDArray[np.float64],
    *,
    stop_at_unseen: bool = False,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    """For each row the mean of its nodes' values, weighted by its shares.

    Parameters
    ----------
    tree, table, stop_at_unseen
        As for :func:`route`.
    values : ndarray of shape (n_nodes, n_values)
        A line a node.
    n_threads : int
        Threads to work with.

    Returns
    -------
    ndarray of shape (n_rows, n_values)

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.table import encode
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> node_numbers = np.arange(3.0)[:, np.newaxis]
    >>> mixture(model.tree_, encode([[1], [None]], model.schema_), node_numbers).tolist()
    [[1.0], [1.5]]
    """
    result: NDArray[np.float64] = _kernel.predict(
        tree.routing,
        kernel_table(table),
        np.ascontiguousarray(values),
        stop_at_unseen=stop_at_unseen,
        n_threads=n_threads,
    )
    return result


def count_nodes(tree: Tree, rows: TrainingRows) -> NDArray[np.float64]:
    """Class weights of every node when these rows are sent through the tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : TrainingRows
        Rows that it may or may not have been grown on.

    Returns
    -------
    ndarray of shape (n_nodes, n_classes)

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> rows = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> count_nodes(grow(rows, GrowthRules()), rows).tolist()
    [[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]]
    """
    counts: NDArray[np.float64] = _kernel.count_nodes(
        tree.kernel, rows.kernel, rows.labels, rows.weights
    )
    return counts

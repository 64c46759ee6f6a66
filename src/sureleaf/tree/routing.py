"""The leaves that rows reach, and the share of a row in each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.table import EncodedTable
from sureleaf.table.encoded_table import DistantColumns
from sureleaf.tree.growing import TrainingRows, kernel_table
from sureleaf.tree.structure import Tree

__all__ = ["Routes", "add_to_parents", "count_nodes", "mixture", "route"]


@dataclass(frozen=True, eq=False)
class Routes:
    """The nodes where rows end: those of row i are ``nodes[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_rows + 1,)
        Start and end of the nodes of each row.
    nodes : ndarray of int32
        Leaves, or the inner node where a row stops.
    shares : ndarray of float64
        The share of the row in each node; the shares of a row sum to 1.
    imputed_share : ndarray of float64, shape (n_rows,)
        The share of each row that was routed by a missing or unseen value; not by a missing value
        that takes the branch its test has learned.
    n_nodes : int
        The number of nodes of the tree.
    """

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    shares: NDArray[np.float64]
    imputed_share: NDArray[np.float64]
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

    Parameters
    ----------
    tree : Tree
        The tree.
    table : EncodedTable
        The rows.
    stop_at_unseen : bool
        Stop a row at a node that has not seen its category, instead of splitting it over all
        branches.

    Returns
    -------
    Routes

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.table import encode
    >>> model = TreeClassifier.c45().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> route(model.tree_, encode([[1], [None]], model.schema_)).nodes.tolist()
    [1, 1, 2]
    """
    if isinstance(table.columns, DistantColumns):
        return _join_routes(list(table.columns.per_part(_route_part, tree, stop_at_unseen)))
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
    """Return for each row the mean of the values of its nodes, weighted by its shares.

    Parameters
    ----------
    tree, table, stop_at_unseen
        As for :func:`route`.
    values : ndarray of shape (n_nodes, n_values)
        One row per node.
    n_threads : int
        Number of threads.

    Returns
    -------
    ndarray of shape (n_rows, n_values)

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.table import encode
    >>> model = TreeClassifier.c45().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> node_numbers = np.arange(3.0)[:, np.newaxis]
    >>> mixture(model.tree_, encode([[1], [None]], model.schema_), node_numbers).tolist()
    [[1.0], [1.5]]
    """
    if isinstance(table.columns, DistantColumns):
        mixed = table.columns.per_part(_mix_part, tree, values, stop_at_unseen)
        return np.concatenate(list(mixed))
    result: NDArray[np.float64] = _kernel.predict(
        tree.routing,
        kernel_table(table),
        np.ascontiguousarray(values),
        stop_at_unseen=stop_at_unseen,
        n_threads=n_threads,
    )
    return result


def _route_part(table: EncodedTable, tree: Tree, stop_at_unseen: bool) -> Routes:
    return route(tree, table, stop_at_unseen=stop_at_unseen)


def _mix_part(
    table: EncodedTable, tree: Tree, values: NDArray[np.float64], stop_at_unseen: bool
) -> NDArray[np.float64]:
    return mixture(tree, table, values, stop_at_unseen=stop_at_unseen)


def _join_routes(routes: Sequence[Routes]) -> Routes:
    """Return the routes of the rows of several tables, in order."""
    first = np.cumsum([0, *(len(each.nodes) for each in routes)])
    offsets = [each.offsets[:-1] + start for each, start in zip(routes, first, strict=False)]
    return Routes(
        np.concatenate([*offsets, first[-1:]]).astype(routes[0].offsets.dtype),
        np.concatenate([each.nodes for each in routes]),
        np.concatenate([each.shares for each in routes]),
        np.concatenate([each.imputed_share for each in routes]),
        routes[0].n_nodes,
    )


def add_to_parents(tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add what the nodes of a tree hold to their parents, from the leaves up to the root.

    Parameters
    ----------
    tree : Tree
        The tree.
    counts : ndarray of shape (n_nodes, n_values)
        One line per node, of which those of inner nodes are usually 0.

    Returns
    -------
    ndarray of the same shape
        The sums, to the last bit as :func:`count_nodes` adds them.
    """
    sums = counts.copy()
    for node in range(tree.n_nodes - 1, -1, -1):  # a child comes after its parent
        for child in tree.children[tree.child_offset[node] : tree.child_offset[node + 1]]:
            sums[node] += sums[child]
    return sums


def count_nodes(tree: Tree, rows: TrainingRows) -> NDArray[np.float64]:
    """Route rows through a tree, and return the class weights of every node.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : TrainingRows
        Training rows of the tree, or others.

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
    if rows.store is not None:
        return rows.store.count_nodes(tree, rows)
    counts: NDArray[np.float64] = _kernel.count_nodes(
        tree.kernel, rows.kernel, rows.labels, rows.weights
    )
    return counts

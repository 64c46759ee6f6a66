"""The leaves that rows reach, and the share of a row in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.table import EncodedTable
from sureleaf.tree.growing import TrainingRows
from sureleaf.tree.structure import Tree

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

    With `stop_at_unseen`, a row stops at a node that has not seen its category, instead of being
    divided among all branches.
    """
    return _join_routes(list(table.columns.per_part(table, _route_part, tree, stop_at_unseen)))


def mixture(
    tree: Tree,
    table: EncodedTable,
    values: NDArray[np.float64],
    *,
    stop_at_unseen: bool = False,
    n_threads: int = 1,
) -> NDArray[np.float64]:
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
    part: EncodedTable,
    tree: Tree,
    values: NDArray[np.float64],
    stop_at_unseen: bool,
    n_threads: int = 1,
) -> NDArray[np.float64]:
    result: NDArray[np.float64] = _kernel.predict(
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


def count_nodes(tree: Tree, rows: TrainingRows) -> NDArray[np.float64]:
    """Route rows through a tree, and return the class weights of every node."""
    if rows.store is not None:
        return rows.store.count_nodes(tree, rows)
    counts: NDArray[np.float64] = _kernel.count_nodes(
        tree.kernel, rows.kernel, rows.labels, rows.weights
    )
    return counts

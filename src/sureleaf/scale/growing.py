"""Growing a tree level by level: the parts count, the counts are added, the sums are split.

A part holds its rows as codes, and the node of each row. For every level it counts classes per
code in the nodes that are to be split, and moves its rows to the children. Only counts and splits
leave or reach a part. Splits are found by the kernel in the same way as for rows in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, pairwise
from operator import add
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.scale.coding import join, join_columns
from sureleaf.table import Schema
from sureleaf.table.encoded_table import CodedColumns
from sureleaf.tree import GrowthRules, TrainingRows, Tree


class Parts(Protocol):
    """Parts of a table, wherever they are: `LocalParts` here, or on the workers of a cluster.

    Functions are pure and can be pickled. `each` holds one further argument per part.
    """

    def __len__(self) -> int:
        """Return the number of parts."""

    def map(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> "Parts":
        """Return the results of ``function(part, *shared, own)`` as parts, where they are."""

    def results(
        self, function: Callable[..., Any], *shared: Any, each: Any = None
    ) -> Iterator[Any]:
        """Return the results of all parts here, in the order of the parts."""

    def total(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> Any:
        """Return the sum of the results, added with ``+``."""

    reads_again: ClassVar[bool]
    """Whether all parts are read again, perhaps from a file, for each group."""

    @property
    def n_places(self) -> int:
        """The number of places that can each hold rows of all parts and work at the same time."""

    def regroup(
        self, select: Callable[..., Any], finish: Callable[..., Any], groups: Sequence[Any]
    ) -> Iterator[Any]:
        """Return ``finish([select(part, group) for all parts], group)`` of each group."""


@dataclass(frozen=True)
class LocalParts:
    """Parts in this process, worked on by threads."""

    parts: Sequence[Any]
    n_threads: int = 1  # parts that are worked on at a time
    reads_again: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.parts)

    def map(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> "LocalParts":
        """Return the results as parts."""
        return LocalParts(tuple(self.results(function, *shared, each=each)), self.n_threads)

    def results(
        self, function: Callable[..., Any], *shared: Any, each: Any = None
    ) -> Iterator[Any]:
        """Return the results in order; only a few are computed ahead, so few are in memory."""
        own: Iterable[tuple[Any, ...]] = [()] * len(self.parts) if each is None else zip(each)
        calls = [(part, *shared, *mine) for part, mine in zip(self.parts, own, strict=True)]
        if self.n_threads == 1 or len(calls) < 2:
            yield from (function(*call) for call in calls)
            return
        with ThreadPoolExecutor(self.n_threads) as pool:
            waiting = iter(calls)
            ahead = [pool.submit(function, *c) for c in islice(waiting, self.n_threads + 1)]
            while ahead:
                yield ahead.pop(0).result()
                ahead += [pool.submit(function, *call) for call in islice(waiting, 1)]

    def total(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> Any:
        """Return the sum of the results."""
        return reduce(add, self.results(function, *shared, each=each))

    @property
    def n_places(self) -> int:
        """One: groups are collected one after the other."""
        return 1

    def regroup(
        self, select: Callable[..., Any], finish: Callable[..., Any], groups: Sequence[Any]
    ) -> Iterator[Any]:
        """Collect one group after the other."""
        for group in groups:
            yield finish(list(self.results(select, group)), group)


# ---- what a part does ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreePart:
    """Rows of a part on their way through a growing tree."""

    columns: CodedColumns
    schema: Schema
    labels: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.int64] | None  # the weight of each row, a whole number; None if all are 1
    node_of: NDArray[np.int32]

    @property
    def kernel(self) -> _kernel.Table:
        """The codes in the kernel."""
        return self.columns.kernel_table(self.schema, len(self.labels))


def start_part(
    columns: CodedColumns,
    labels: NDArray[np.int32],
    schema: Schema,
    n_classes: int,
    weights: NDArray[np.int64] | None,
) -> TreePart:
    """Put all rows of a part into the root."""
    return TreePart(columns, schema, labels, n_classes, weights, np.zeros(len(labels), np.int32))


def count_part(part: TreePart, slot_of_node: NDArray[np.int32], n_slots: int) -> NDArray[np.int64]:
    """Return, for some nodes, the sum of the weights per column, code and class.

    `slot_of_node` is per node of the tree its line in the result; -1 if it is not counted. The last
    code of a column is of missing values.
    """
    return _kernel.count_level(
        part.kernel, part.labels, part.n_classes, part.weights, part.node_of, slot_of_node, n_slots
    )


def advance_part(
    part: TreePart,
    column: NDArray[np.int32],
    offset: NDArray[np.int64],
    first_child: NDArray[np.int32],
    branches: NDArray[np.int32],
) -> TreePart:
    """Move rows to the children of their nodes.

    Per node of the tree there are the column that it was split by (-1 if it was not), where its
    branches start, and the number of its first child. `branches` are, per split node, the branch of
    each code, then that of missing values.
    """
    nodes = _kernel.advance_rows(
        part.kernel, part.n_classes, part.node_of, column, offset, first_child, branches
    )
    return replace(part, node_of=nodes)


# ---- what is done with the sums ------------------------------------------------------------------

_MAX_GATHERS: Final = 4
"""Rows of open nodes are collected to be finished in memory if so many passes are enough."""
_GROUPS_PER_PLACE: Final = 2
"""Of several places, each finishes about so many groups, so that all end at about the same time."""
_SMALL_GROUP: Final = 20_000
"""Groups of so few rows are not divided further for that."""
_MAX_LEVELS: Final = 20
"""After so many levels, nodes are finished even if their rows are very uneven."""
_ROW_BYTES: Final = 24
"""Of a row besides its codes, while a tree is grown in memory."""


def weight_unit(weights: NDArray[np.float64] | None) -> float:
    """Return the weight that 1 stands for in a `TreePart`: 1 if all weights are whole numbers.

    Else it is a power of two, with which no sum exceeds 2**62. Sums of whole numbers do not depend
    on their order.
    """
    if weights is None or bool((weights == np.floor(weights)).all()):
        return 1.0
    return float(2.0 ** (int(np.ceil(np.log2(weights.sum() + 1.0))) - 61))


def whole_weights(weights: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
    """Return weights as whole numbers of units."""
    return None if weights is None else np.rint(weights / weight_unit(weights)).astype(np.int64)


def grow_by_levels(
    parts: Parts,
    rows: TrainingRows,
    columns: CodedColumns,
    weights: NDArray[np.int64] | None,
    rules: GrowthRules,
    memory: int,
    n_threads: int = 1,
) -> Tree:
    """Grow a tree, without pruning, from parts that have all rows in the root.

    `columns` are those of the parts, with any rows. `weights` are those of `rows` in units;
    `memory` is for histograms and for the rows of nodes that are finished here.

    The tree is the same as of rows in memory, to the last bit, if weights are whole numbers. With
    ``missing="fraction"`` and missing values all rows are collected here.
    """
    unit = weight_unit(rows.weights)
    if weights is None:
        totals = np.bincount(rows.labels, minlength=rows.n_classes)
    else:  # exactly
        totals = np.array([weights[rows.labels == k].sum() for k in range(rows.n_classes)])
    table = columns.take(slice(0, 0)).kernel_table(rows.table.schema, 0)
    class_weights = np.asarray(totals * unit, np.float64)
    grower = _kernel.LevelGrower(table, class_weights, unit == 1.0, rules.kernel)
    row_bytes = columns.row_bytes + _ROW_BYTES
    growth = _LevelGrowth(parts, grower, rules, unit, memory, n_threads, row_bytes)
    if rules.missing == "fraction" and any(columns.has_missing):
        growth.finish_here(grower.open_nodes().tolist())
    growth.run(may_finish=rules.max_leaves is None)
    return Tree.from_kernel(grower.finish(), len(columns))


@dataclass(frozen=True, eq=False)
class _Family:
    """The children of a split node, and the histograms of that node if they are kept."""

    nodes: tuple[int, ...]  # ascending
    parent_cells: NDArray[np.int64] | None = None


@dataclass(eq=False)
class _LevelGrowth:
    """A tree that is grown level by level."""

    parts: Parts
    grower: _kernel.LevelGrower
    rules: GrowthRules
    unit: float
    memory: int
    n_threads: int
    row_bytes: int
    n_levels: int = 0

    def run(self, *, may_finish: bool) -> None:
        """Split nodes until none is open."""
        families = [_Family((0,))]
        while not self.grower.is_complete:
            is_open = np.zeros(self.grower.n_nodes, bool)
            is_open[self.grower.open_nodes()] = True
            n_rows = self.parts.total(rows_per_node, self.grower.n_nodes)
            if may_finish and self._finish_all(np.flatnonzero(is_open), n_rows):
                return
            self.n_levels += 1
            families = self._split_level(
                [family for family in families if is_open[list(family.nodes)].any()],
                is_open,
                n_rows,
            )

    def _split_level(
        self, families: list[_Family], is_open: NDArray[np.bool_], n_rows: NDArray[np.int64]
    ) -> list[_Family]:
        """Split all open nodes, some families at a time, and move the rows."""
        splits: dict[int, tuple[int, int, NDArray[np.int32]]] = {}
        children: list[_Family] = []
        n_kept = max(1, self.memory // 4 // (8 * self.grower.n_cells))
        for batch in self._batches(families):
            for node, cells in self._count(batch, is_open, n_rows):
                if self.unit == 1.0:
                    split = self.grower.split(node, cells)
                else:
                    weights = np.asarray(cells * self.unit, np.float64)
                    split = self.grower.split_weighted(node, weights)
                column, first, n_branches, branches = split
                if column >= 0:
                    splits[node] = (column, first, branches)
                    nodes = tuple(range(first, first + n_branches))
                    children.append(_Family(nodes, cells if len(children) < n_kept else None))
        if splits:
            split_nodes, n_nodes = list(splits), self.grower.n_nodes
            columns, firsts, branches_of = zip(*splits.values(), strict=True)
            column_of, first_child = np.full(n_nodes, -1, np.int32), np.zeros(n_nodes, np.int32)
            offset = np.zeros(n_nodes, np.int64)
            column_of[split_nodes], first_child[split_nodes] = columns, firsts
            offset[split_nodes] = np.cumsum([0, *map(len, branches_of)])[:-1]
            self.parts = self.parts.map(
                advance_part, column_of, offset, first_child, np.concatenate(branches_of)
            )
        return children

    def _batches(self, families: list[_Family]) -> Iterator[list[_Family]]:
        """Divide families so that the histograms of a batch fit into memory, once per thread."""
        n_at_once = self.memory // 4 // (8 * self.grower.n_cells * (self.n_threads + 1))
        batch: list[_Family] = []
        for family in families:
            if batch and sum(len(f.nodes) for f in batch) + len(family.nodes) > n_at_once:
                yield batch
                batch = []
            batch.append(family)
        if batch:
            yield batch

    def _count(
        self, families: list[_Family], is_open: NDArray[np.bool_], n_rows: NDArray[np.int64]
    ) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Return the histograms of open nodes; the largest child's is its parent's minus others."""
        counted: list[int] = []
        for family in families:
            largest = max(family.nodes, key=lambda node: int(n_rows[node]))
            by_subtraction = family.parent_cells is not None and is_open[largest]
            if by_subtraction:
                counted += [node for node in family.nodes if node != largest]
            else:
                counted += [node for node in family.nodes if is_open[node]]
        slot_of_node = np.full(len(is_open), -1, np.int32)
        slot_of_node[counted] = np.arange(len(counted))
        cells = self.parts.total(count_part, slot_of_node, len(counted))
        for family in families:
            for node in family.nodes:
                if not is_open[node]:
                    continue
                if slot_of_node[node] >= 0:
                    yield node, cells[slot_of_node[node]]
                elif family.parent_cells is not None:
                    others = [slot_of_node[other] for other in family.nodes if other != node]
                    yield node, family.parent_cells - cells[others].sum(axis=0)

    # ---- nodes whose rows fit into memory --------------------------------------------------------

    def _finish_all(self, nodes: NDArray[np.intp], n_rows: NDArray[np.int64]) -> bool:
        """Finish all open nodes if their rows can be collected in few passes, or on workers."""
        most_rows = self.memory // 2 // self.row_bytes
        sizes = n_rows[nodes]
        if self.parts.n_places > 1 and self.n_levels < _MAX_LEVELS:
            share = int(sizes.sum()) // (_GROUPS_PER_PLACE * self.parts.n_places)
            most_rows = min(most_rows, max(share, _SMALL_GROUP))
        if sizes.max(initial=0) > most_rows:
            return False
        groups: list[list[int]] = [[]]
        in_group = 0
        for at in np.argsort(-sizes, kind="stable").tolist():
            if in_group + sizes[at] > most_rows:
                groups.append([])
                in_group = 0
            groups[-1].append(int(nodes[at]))
            in_group += int(sizes[at])
        if self.parts.reads_again and len(groups) > _MAX_GATHERS:
            return False
        starts = [self._start_group(group) for group in groups]
        trees = self.parts.regroup(select_rows, finish_group, starts)
        for start, finished in zip(starts, trees, strict=True):
            self._graft(start, finished)
        return True

    def finish_here(self, nodes: list[int]) -> None:
        """Collect the rows of open nodes here, and grow the trees below them."""
        group = self._start_group(nodes)
        self._graft(group, finish_group(list(self.parts.results(select_rows, group)), group))

    def _start_group(self, nodes: list[int]) -> "NodeGroup":
        nodes = sorted(nodes)
        starts = tuple(self.grower.start_below(node) for node in nodes)
        n_nodes = self.grower.n_nodes
        return NodeGroup(tuple(nodes), starts, n_nodes, self.rules, self.unit, self.n_threads)

    def _graft(self, group: "NodeGroup", trees: Sequence[Tree]) -> None:
        for node, tree in zip(group.nodes, trees, strict=True):
            self.grower.graft(node, tree.kernel)


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Open nodes whose rows are collected in one place, where the trees below them are grown."""

    nodes: tuple[int, ...]  # ascending
    starts: tuple[_kernel.NodeStart, ...]  # what each tree needs to know of the tree above it
    n_nodes: int
    rules: GrowthRules
    unit: float
    n_threads: int = 1  # threads that grow trees


def select_rows(part: TreePart, group: NodeGroup) -> TreePart:
    """Return the rows of weight above 0 in the nodes of a group."""
    is_wanted = np.zeros(group.n_nodes, bool)
    is_wanted[list(group.nodes)] = True
    chosen = is_wanted[part.node_of]
    if part.weights is not None:
        chosen &= part.weights > 0
    return _take(part, np.flatnonzero(chosen))


def finish_group(pieces: Sequence[TreePart], group: NodeGroup) -> list[Tree]:
    """Grow the trees below the nodes of a group from their rows, by the kernel.

    `pieces` are its rows in every part, in the order of the parts.
    """
    rows = _join(pieces)
    nodes = list(group.nodes)
    if len(nodes) > 1:
        rows = _take(rows, np.argsort(rows.node_of, kind="stable"))
    bounds = np.searchsorted(rows.node_of, [*nodes, group.n_nodes]).tolist()
    alone = len(nodes) < group.n_threads
    config = group.rules.kernel
    trees = LocalParts(list(pairwise(bounds)), 1 if alone else group.n_threads).results(
        _grow_below, rows, group.unit, config, group.n_threads if alone else 1, each=group.starts
    )
    return [Tree.from_kernel(tree, len(rows.columns)) for tree in trees]


def _grow_below(
    bounds: tuple[int, int],
    rows: TreePart,
    unit: float,
    config: _kernel.GrowthConfig,
    n_threads: int,
    start: _kernel.NodeStart,
) -> _kernel.Tree:
    part = _take(rows, slice(*bounds))
    counts = weights = None
    if part.weights is not None and unit == 1.0:
        counts = part.weights.astype(np.uint32)
    elif part.weights is not None:
        weights = np.asarray(part.weights * unit, np.float64)
    return _kernel.grow(
        _kernel.presort(part.kernel, n_threads), part.labels, part.n_classes, config,
        counts=counts, weights=weights, n_threads=n_threads, start=start,
    )  # fmt: skip


def rows_per_node(part: TreePart, n_nodes: int) -> NDArray[np.int64]:
    """Count the rows of weight above 0 in every node."""
    nodes = part.node_of if part.weights is None else part.node_of[part.weights > 0]
    return np.bincount(nodes, minlength=n_nodes).astype(np.int64)


def _take(part: TreePart, rows: NDArray[np.integer[Any]] | slice) -> TreePart:
    return replace(
        part,
        columns=part.columns.take(rows),
        labels=np.ascontiguousarray(part.labels[rows]),
        weights=None if part.weights is None else part.weights[rows],
        node_of=part.node_of[rows],
    )


def _join(parts: Sequence[TreePart]) -> TreePart:
    if len(parts) == 1:
        return parts[0]
    joined = {
        name: join([getattr(part, name) for part in parts])
        for name in ("labels", "weights", "node_of")
    }
    return replace(parts[0], columns=join_columns([part.columns for part in parts]), **joined)

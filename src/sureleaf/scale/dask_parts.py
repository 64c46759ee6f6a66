"""Parts of a table on the workers of a Dask cluster, through Dask's futures.

Only `Client.submit` is used. Every task is a pure function of other tasks, what is common to all
parts included, so Dask itself computes again what a lost worker had. Rows stay on the workers as
codes; here are the classes, weights and groups of the rows, and the sums of counts.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, ClassVar, Final

import dask
import distributed
import numpy as np
from dask.base import is_dask_collection
from dask.sizeof import sizeof
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.errors import ClusterError, InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.scale.batches import RawPart, Source, TablePart, open_source, read_schema
from sureleaf.scale.coding import (
    CodedPart,
    Coding,
    Roles,
    Summary,
    add_prints,
    encode_part,
    join_columns,
    plan_of_schemas,
    summarize_parts,
)
from sureleaf.scale.growing import TreePart, grow_by_levels, start_part, weight_unit, whole_weights
from sureleaf.scale.training import CodeStore, SourceRows, memory_bytes
from sureleaf.table import EncodedTable, Schema
from sureleaf.table.encoded_table import CodedColumns, Columns
from sureleaf.tree import GrowthRules, TrainingRows, Tree, count_nodes
from sureleaf.tree.routing import add_to_parents, route

_POLL: Final = 1.0
"""Seconds between two looks at the connection while a result is awaited."""
_FAN_IN: Final = 8
"""Results that one task adds."""


# ---- the cluster ---------------------------------------------------------------------------------


class Cluster:
    """A Dask client, with errors that say what to do.

    Without a client, it is the one that was made last in this process.
    """

    def __init__(self, client: Any = None) -> None:
        if client is None:
            try:
                client = distributed.get_client()
            except ValueError:
                raise InvalidArgumentError(
                    "a fit on Dask's data needs a client; got none. Start one with "
                    "distributed.Client(...), or give it as client=."
                ) from None
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InvalidTypeError(
                "client must be a distributed.Client that is not asynchronous; got "
                f"{type(client).__name__}."
            )
        self.client = client
        self._address = getattr(client.scheduler, "address", "an unknown address")

    def worker_memory(self, memory: Any) -> int:
        """Return the bytes that one task may use on a worker."""
        if memory is not None:
            return memory_bytes(memory)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [w["memory_limit"] // max(1, w["nthreads"]) for w in workers if w["memory_limit"]]
        return max(min(limits) // 2, 1 << 24) if limits else memory_bytes(None)

    @property
    def n_threads(self) -> int:
        """The tasks that all workers together run at a time; 1 while there is no worker."""
        with self._connected():
            return max(1, int(sum(self.client.nthreads().values())))

    def places(self, futures: Sequence[Any]) -> list[str]:
        """Return the worker that has each result; empty for those that are not computed yet."""
        with self._connected():
            workers = self.client.who_has(list(futures))
        return [min(workers.get(future.key, ()), default="") for future in futures]

    def submit(self, function: Callable[..., Any], *args: Any, first: bool = False) -> Any:
        """Submit a task. With `first`, it runs before others, because its result frees memory."""
        # Dask expects that tasks with the same first part of their key take about the same time.
        name = args[0].__name__ if function is _apply else function.__name__
        key = f"sureleaf-{name.replace('_', '')}-{uuid.uuid4().hex}"
        # Arrays stay in the graph, however large: what is scattered is lost with its worker.
        large = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        with self._connected(), large:
            return self.client.submit(function, *args, key=key, pure=False, priority=int(first))

    def result(self, future: Any, name: str = "") -> Any:
        """Wait for a task, and return its result."""
        try:
            while True:
                try:
                    with self.client.as_current():  # wait() knows only the current client
                        distributed.wait([future], timeout=_POLL)
                    break
                except TimeoutError:
                    self.check()
            return future.result()
        except SureleafError:
            raise
        except distributed.KilledWorker as error:
            raise ClusterError(
                f"workers ended {'at ' + name if name else 'at one task'} again and again; Dask "
                "gave up. Most often a worker has too little memory: use smaller partitions, or "
                f"workers with more memory ({error})."
            ) from error
        except (CancelledError, OSError) as error:
            if isinstance(error, OSError) and self.is_connected:
                raise
            raise self._lost_cluster(error) from error

    @property
    def is_connected(self) -> bool:
        """Whether the scheduler answers."""
        comm = self.client.scheduler_comm
        return self.client.status == "running" and comm is not None and not comm.closed()

    def check(self) -> None:
        """Raise an error if the scheduler has gone away."""
        if not self.is_connected:
            raise self._lost_cluster(self.client.status)

    @contextmanager
    def _connected(self) -> Iterator[None]:
        self.check()
        try:
            yield
        except (OSError, RuntimeError) as error:
            raise self._lost_cluster(error) from error

    def _lost_cluster(self, cause: object) -> ClusterError:
        return ClusterError(
            f"Dask's scheduler at {self._address} has gone away, or has cancelled the work of this "
            f"fit ({cause}). Start the cluster again, make a new distributed.Client, and fit again."
        )


# ---- parts ---------------------------------------------------------------------------------------


def _share(*shared: Any) -> tuple[Any, ...]:
    return shared


def _apply(function: Callable[..., Any], part: Any, shared: tuple[Any, ...], own: Any) -> Any:
    return function(part, *shared, *own)


def _add_all(results: Sequence[Any]) -> Any:
    return reduce(add, results)


def _same(part: Any) -> Any:
    return part


def _n_rows(part: RawPart) -> int:
    return part.n_rows


@dataclass(frozen=True, eq=False)
class DaskParts:
    """Parts of a table on the workers of a cluster: `sureleaf.scale.growing.Parts`."""

    cluster: Cluster
    # One per part. A part that is on no worker any more is computed again by Dask.
    futures: tuple[Any, ...]
    names: tuple[str, ...]  # for messages
    # What the parts were made from, and is on the same workers; by default the parts themselves.
    anchors: tuple[Any, ...] = ()
    reads_again: ClassVar[bool] = False

    def __len__(self) -> int:
        return len(self.futures)

    def _calls(
        self, function: Callable[..., Any], shared: tuple[Any, ...], each: Any
    ) -> Iterator[Any]:
        # One task holds what all parts share: it is sent once, and can be computed again.
        common = self.cluster.submit(_share, *shared, first=True) if shared else ()
        own = [()] * len(self) if each is None else [(mine,) for mine in each]
        for future, mine in zip(self.futures, own, strict=True):
            yield self.cluster.submit(_apply, function, future, common, mine)

    def map(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> "DaskParts":
        """Return the results as parts, which stay on the workers."""
        return replace(self, futures=tuple(self._calls(function, shared, each)))

    def results(
        self, function: Callable[..., Any], *shared: Any, each: Any = None
    ) -> Iterator[Any]:
        """Return the results here, in the order of the parts."""
        futures = list(self._calls(function, shared, each))[::-1]
        for name in self.names:
            yield self.cluster.result(futures.pop(), name)

    def total(self, function: Callable[..., Any], *shared: Any, each: Any = None) -> Any:
        """Return the sum of the results: added where the parts are, then between workers."""
        by_worker: dict[str, list[Any]] = {}
        workers = self.cluster.places(self.anchors or self.futures)
        for worker, future in zip(workers, self._calls(function, shared, each), strict=True):
            by_worker.setdefault(worker, []).append(future)
        sums = [self._sum(futures) for futures in by_worker.values()]
        return self.cluster.result(self._sum(sums))

    def _sum(self, waiting: list[Any]) -> Any:
        """Add results a few at a time."""
        while len(waiting) > 1:
            waiting = [
                self.cluster.submit(_add_all, waiting[i : i + _FAN_IN], first=True)
                for i in range(0, len(waiting), _FAN_IN)
            ]
        return waiting[0]

    @property
    def n_places(self) -> int:
        """The threads of all workers."""
        return self.cluster.n_threads

    def regroup(
        self, select: Callable[..., Any], finish: Callable[..., Any], groups: Sequence[Any]
    ) -> Iterator[Any]:
        """Finish each group on a worker: only the rows that other workers have are moved."""
        futures = []
        for group in groups:
            shared = self.cluster.submit(_share, group, first=True)
            pieces = [self.cluster.submit(_apply, select, f, shared, ()) for f in self.futures]
            futures.append(self.cluster.submit(_apply, finish, pieces, shared, (), first=True))
        for future in futures:
            yield self.cluster.result(future)


# Dask weighs whether to move a task to another worker by the bytes of what it needs.
sizeof.register(CodedColumns, lambda it: it.codes.nbytes + sum(wide.nbytes for wide in it.wide))
sizeof.register(CodedPart, lambda it: sizeof(it.columns) + it.labels.nbytes)
sizeof.register(TreePart, lambda it: sizeof(it.columns) + it.labels.nbytes + it.node_of.nbytes)
sizeof.register(TablePart, lambda it: it.table.nbytes)
sizeof.register(Summary, lambda it: it.sample.numbers.nbytes + 2 * it.sample.hashes.nbytes)


# ---- from Dask's data to parts -------------------------------------------------------------------


def _as_part(data: Any, name: str) -> RawPart:
    """Return a partition as a part; this runs on a worker."""
    import pyarrow as pa

    try:
        if hasattr(data, "iloc") and hasattr(data, "columns"):
            return TablePart(pa.Table.from_pandas(data, preserve_index=False), name)
        if hasattr(data, "__arrow_c_stream__") and hasattr(data, "columns"):
            return TablePart(pa.table(data), name)
    except (pa.ArrowException, TypeError, ValueError) as error:
        cause = " ".join(str(error).split()).rstrip(".")[:200]
        raise InvalidArgumentError(
            f"{name} must be a table whose columns have one type each; {cause}. Convert the column."
        ) from error
    raise InvalidTypeError(
        f"{name} must be a pandas, polars or Arrow table; got {type(data).__name__}."
    )


def _open_parts(X: Any, cluster: Cluster) -> tuple[DaskParts, Source | None]:
    """Return the parts of a Dask DataFrame, of delayed partitions or of files."""
    if hasattr(X, "to_delayed"):
        X = X.to_delayed()
    if isinstance(X, list | tuple) and len(X) and all(map(_is_lazy, X)):
        names = tuple(f"partition {index}" for index in range(len(X)))
        lazy = iter(cluster.client.compute([x for x in X if is_dask_collection(x)]))
        data = [next(lazy) if is_dask_collection(x) else x for x in X]
        futures = [
            cluster.submit(_as_part, future, name) for future, name in zip(data, names, strict=True)
        ]
        return DaskParts(cluster, tuple(futures), names), None
    source = open_source(X)
    names = tuple(part.name for part in source.parts)
    futures = [cluster.submit(_same, part) for part in source.parts]
    return DaskParts(cluster, tuple(futures), names), source


def _is_lazy(X: Any) -> bool:
    return bool(is_dask_collection(X)) or isinstance(X, distributed.Future)


def _read_schemas(parts: DaskParts) -> list[tuple[str, Any]]:
    columns: list[tuple[str, Any]] = []
    schemas = parts.results(read_schema)
    for name in parts.names:
        try:
            columns.append((name, next(schemas)))
        except SureleafError:
            raise
        except Exception as error:  # of the user's own code, which makes the partition
            raise InvalidArgumentError(
                f"{name} cannot be read: {type(error).__name__}: {error}. Compute it alone to see "
                "the whole error."
            ) from error
    return columns


# ---- rows on the cluster -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClusterColumns(Columns):
    """Codes on the workers of a cluster; all are collected here if a column is requested.

    What can be done without is done where the rows are: routing, counting, taking some rows.
    """

    parts: DaskParts
    schema: Schema
    first_row: NDArray[np.int64]  # the number of the first row of each part, and of all rows
    empty: CodedColumns  # the columns, without rows
    are_codes = True

    def __len__(self) -> int:
        return len(self.empty)

    def __getitem__(self, index: int) -> NDArray[Any]:
        return self.collected[index]

    def missing_in(self, schema: Schema) -> tuple[bool, ...]:
        """Return what is known of all rows."""
        return self.empty.has_missing

    def kernel_table(self, schema: Schema, n_rows: int) -> _kernel.Table:
        """Return all rows as the kernel reads them."""
        return self.collected.kernel_table(schema, n_rows)

    def per_part(
        self, table: EncodedTable, function: Callable[..., Any], *shared: Any, n_threads: int = 1
    ) -> Iterator[Any]:
        """Return ``function(part, *shared)`` of every part, where the parts are."""
        return self.parts.results(_on_table, table.schema, function, *shared)

    def take(self, rows: NDArray[np.integer[Any]]) -> CodedColumns:
        """Return some rows, in this order."""
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], self.first_row)
        own = [
            rows[order[first:last]] - start
            for (first, last), start in zip(pairwise(bounds), self.first_row, strict=False)
        ]
        taken = join_columns(list(self.parts.results(_take_rows, each=own)))
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return taken.take(back)

    @cached_property
    def collected(self) -> CodedColumns:
        """All rows here, in memory or in a temporary file: for what cannot be done on workers."""
        n_rows = int(self.first_row[-1])
        is_spilled = 3 * n_rows * self.empty.row_bytes > memory_bytes(None)
        store = CodeStore(self.empty, n_rows, is_spilled=is_spilled)
        for columns in self.parts.results(_columns_of):
            store.add(columns)
        return store.columns()


def _on_table(part: CodedPart, schema: Schema, function: Callable[..., Any], *shared: Any) -> Any:
    return function(EncodedTable(schema, part.columns, len(part.labels)), *shared)


def _take_rows(part: CodedPart, rows: NDArray[np.int64]) -> CodedColumns:
    return part.columns.take(rows)


def _columns_of(part: CodedPart) -> CodedColumns:
    return part.columns


def _row_facts(part: CodedPart) -> tuple[tuple[Any, Any, Any], Any]:
    return (_in_few_bytes(part.labels), part.weights, part.groups), part.prints


def _in_few_bytes(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


@dataclass(frozen=True)
class _OwnRows:
    """What a tree needs to know of the rows of one part besides their codes, in few bytes."""

    labels: NDArray[np.integer[Any]] | None
    weights: NDArray[Any] | None
    are_bits: bool

    @classmethod
    def of(cls, labels: NDArray[np.int32] | None, weights: NDArray[np.int64] | None) -> "_OwnRows":
        few = None if labels is None else _in_few_bytes(labels)
        if weights is None:
            return cls(few, None, False)
        are_bits = bool(weights.max(initial=0) <= 1)
        return cls(few, np.packbits(weights > 0) if are_bits else _in_few_bytes(weights), are_bits)

    def of_part(self, part: CodedPart) -> tuple[CodedPart, NDArray[np.int64] | None]:
        weights = self.weights
        if weights is not None:
            if self.are_bits:
                weights = np.unpackbits(weights, count=len(part.labels))
            weights = weights.astype(np.int64)
        labels = part.labels if self.labels is None else self.labels.astype(np.int32)
        return replace(part, labels=labels), weights


def _start(part: CodedPart, schema: Schema, n_classes: int, own: _OwnRows) -> TreePart:
    part, weights = own.of_part(part)
    return start_part(part.columns, part.labels, schema, n_classes, weights)


@dataclass(frozen=True, eq=False)
class _NodeCounts:
    """Counts of nodes, and whether no row was divided: then they are whole numbers."""

    counts: NDArray[np.float64]
    are_whole: bool

    def __add__(self, other: "_NodeCounts") -> "_NodeCounts":
        return _NodeCounts(self.counts + other.counts, self.are_whole and other.are_whole)


def _count_part(
    part: CodedPart, schema: Schema, n_classes: int, tree: Tree, own: _OwnRows
) -> _NodeCounts:
    part, weights = own.of_part(part)
    table = EncodedTable(schema, part.columns, len(part.labels))
    as_floats = None if weights is None else weights.astype(np.float64)
    counts = count_nodes(tree, TrainingRows(table, part.labels, n_classes, as_floats))
    return _NodeCounts(counts, len(route(tree, table).nodes) == table.n_rows)


@dataclass(frozen=True, eq=False)
class _ClusterRows:
    """Rows on the workers: the store of their `TrainingRows`, which grows and counts trees."""

    columns: ClusterColumns
    labels: NDArray[np.int32]  # the class of each row, as the workers know it
    memory: int  # bytes that a task may use

    def _own(self, rows: TrainingRows, weights: NDArray[np.int64] | None) -> list[_OwnRows]:
        bounds = self.columns.first_row.tolist()
        labels = None if np.array_equal(rows.labels, self.labels) else rows.labels
        return [
            _OwnRows.of(
                None if labels is None else labels[first:last],
                None if weights is None else weights[first:last],
            )
            for first, last in pairwise(bounds)
        ]

    def grow(self, rows: TrainingRows, rules: GrowthRules, n_threads: int) -> Tree:
        """Grow a tree on the workers, level by level until nodes are small enough to finish."""
        weights = whole_weights(rows.weights)
        parts = self.columns.parts.map(
            _start, rows.table.schema, rows.n_classes, each=self._own(rows, weights)
        )
        return grow_by_levels(parts, rows, self.columns.empty, weights, rules, self.memory)

    def count_nodes(self, tree: Tree, rows: TrainingRows) -> NDArray[np.float64]:
        """Count the rows of every node, on the workers if sums do not depend on the order."""
        if weight_unit(rows.weights) == 1.0:
            own = self._own(rows, whole_weights(rows.weights))
            total = self.columns.parts.total(
                _count_part, rows.table.schema, rows.n_classes, tree, each=own
            )
            if total.are_whole:
                counts: NDArray[np.float64] = total.counts
                return counts
        routes = route(tree, rows.table)
        row = routes.rows()
        weight = routes.shares if rows.weights is None else rows.weights[row] * routes.shares
        cells: NDArray[Any] = np.bincount(
            routes.nodes.astype(np.int64) * rows.n_classes + rows.labels[row],
            weight,
            tree.n_nodes * rows.n_classes,
        )
        return add_to_parents(tree, cells.reshape(tree.n_nodes, rows.n_classes).astype(float))


def read_cluster_rows(
    X: Any,
    roles: Roles,
    *,
    client: Any = None,
    categorical_features: Any = "auto",
    memory: Any = None,
) -> SourceRows:
    """Summarize and code a table on the workers of a cluster.

    Each partition is a pandas, polars or Arrow table; workers must be able to read paths. `memory`
    is for one task; by default, half of what a thread of the smallest worker has.
    """
    cluster = Cluster(client)
    parts, source = _open_parts(X, cluster)
    if source is not None and source.temporary is not None:
        raise InvalidArgumentError(
            "a cluster reads Parquet and Arrow files; got one that must be converted first. Write "
            "it as Parquet to a place that all workers can read."
        )
    if source is not None:
        roles = replace(roles, drop=(*roles.drop, *source.drop))
    plan = plan_of_schemas(_read_schemas(parts), roles, categorical_features=categorical_features)
    summary = summarize_parts(parts, plan, sum(parts.results(_n_rows)))
    coding = Coding.of(summary, plan)
    digests = [summary.digests[number] for number in range(len(parts))]
    coded = parts.map(encode_part, coding, each=digests)
    facts, prints = zip(*coded.results(_row_facts), strict=True)
    coded = replace(coded, anchors=coded.futures)
    del parts  # the rows themselves are needed no more, unless a worker is lost
    first_row = np.cumsum([0, *(len(labels) for labels, _, _ in facts)]).astype(np.int64)
    columns = ClusterColumns(coded, coding.schema, first_row, coding.no_rows())
    labels = np.concatenate([own for own, _, _ in facts]).astype(np.int32)
    store = _ClusterRows(columns, labels, cluster.worker_memory(memory))
    return SourceRows.of(coding, columns, facts, add_prints(prints), store)

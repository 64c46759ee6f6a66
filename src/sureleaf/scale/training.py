"""A source of rows as the training rows of a fit: summarized, coded, and in memory or spilled."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, MemoryLimitWarning, suggestion, warn_caller
from sureleaf.model.fitting import trees_at_once
from sureleaf.model.seen_rows import Fingerprints, SeenRows
from sureleaf.scale.batches import Source, copying, reserve
from sureleaf.scale.coding import (
    SAMPLE_ROWS,
    CodedPart,
    Coding,
    ColumnPlan,
    LabelledBatch,
    Roles,
    add_prints,
    encode_batches,
    join,
    plan_columns,
    read_labelled,
    summarize_parts,
)
from sureleaf.scale.growing import LocalParts, Parts, grow_by_levels, start_part, whole_weights
from sureleaf.table import EncodedTable
from sureleaf.table.encoded_table import CodedColumns, Columns
from sureleaf.tree import GrowthRules, RowStore, TrainingRows, Tree, count_nodes, grow

_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LEAST_MEMORY: Final = 16_000_000
_LEAST_CHUNK: Final = 1 << 18
_CODE_COPIES: Final = 3
"""Codes in memory are there so often while trees are grown."""


def memory_bytes(memory: Any) -> int:
    """Return a memory limit in bytes; by default, half of the memory that is free.

    Examples
    --------
    >>> memory_bytes("2GB"), memory_bytes("512 MB"), memory_bytes(10**9)
    (2000000000, 512000000, 1000000000)
    """
    if memory is None:
        return max(_free_memory() // 2, _LEAST_MEMORY)
    n_bytes = 0
    try:
        if isinstance(memory, int | float) and not isinstance(memory, bool):
            n_bytes = int(memory)
        elif isinstance(memory, str):
            text = memory.strip().upper().removesuffix("B")
            unit = text[-1:] if text[-1:] in _UNITS else ""
            n_bytes = int(float(text.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, OverflowError):  # also of NaN and infinity
        pass
    if n_bytes < _LEAST_MEMORY:
        raise InvalidArgumentError(
            f"memory must be at least {_LEAST_MEMORY // 1_000_000} MB, in bytes or as text such as "
            f"'2GB'; got {memory!r}."
        )
    return n_bytes


def _free_memory() -> int:
    """Return what the system says: macOS only how much there is, Windows nothing (then 4 GB)."""
    known = getattr(os, "sysconf_names", {})
    for name, divisor in (("SC_AVPHYS_PAGES", 1), ("SC_PHYS_PAGES", 2)):
        if name in known:
            return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE") // divisor
    return 4 << 30


# Bytes that a fit needs beside its `memory`, rounded up from measurements (see docs/scale.md).
ROW_BYTES: Final = 40
"""Per row: its class and node."""
TREE_BYTES: Final = 60
"""Per row, class and tree in flight, if trees are pruned or levels are cross-fitted: of labels
without any pattern, a tree is nearly as large as the table before it is pruned."""
_PREDICTION_BYTES: Final = 24
"""Per row and class, and per row: the predictions of an evaluation."""
_FIXED_BYTES: Final = 330_000_000
"""The libraries, and the batches that are read."""


def say_what_fit_needs(
    coding: Coding, limit: int, *, n_threads: int, grows_large_trees: bool, n_jobs: int | None
) -> None:
    """Warn before a fit that needs more than its memory for codes, histograms and rows.

    With `n_jobs`, before an evaluation by so many workers.
    """
    n_rows, n_classes, n_columns = coding.n_rows, len(coding.classes), len(coding.schema)
    for_rows = n_rows * ROW_BYTES
    if n_jobs is not None:
        for_rows += n_rows * _PREDICTION_BYTES * (n_classes + 1)
    less = ""
    if grows_large_trees:
        n_fits = 1
        if n_jobs is not None:
            n_fits = n_jobs if n_jobs > 1 else trees_at_once(n_rows, n_columns, n_threads)
        n_trees = n_fits * (1 + trees_at_once(n_rows, n_columns, max(1, n_threads // n_fits)))
        for_rows += n_rows * TREE_BYTES * n_classes * n_trees
        less = (
            " A fit with pruning=None (--tree pruning=none), levels_from='training' (--levels-from "
            "training) and a larger min_samples_leaf grows small trees, and needs far less."
        )
    bounded = min(limit, _CODE_COPIES * coding.n_code_bytes)
    if bounded + for_rows <= limit:
        return
    n_sampled = min(n_rows, SAMPLE_ROWS) * len(coding.plan.numbers)
    fixed = _FIXED_BYTES + 3 * 8 * n_sampled
    warn_caller(
        f"{n_rows:,} rows of {n_classes:,} classes will need up to about "
        f"{(bounded + for_rows + fixed) / 1e9:.2g} GB: {bounded / 1e9:.2g} GB of memory for codes "
        f"and histograms, {for_rows / 1e9:.2g} GB for the class, node and folds of each row and "
        f"for trees that grow with the rows, and {fixed / 1e9:.2g} GB for libraries and the "
        f"batches that are read.{less}",
        MemoryLimitWarning,
    )


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source as codes: in memory, in a temporary file, or on a cluster."""

    table: EncodedTable
    labels: NDArray[np.int32]
    classes: NDArray[Any]
    weights: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    n_unlabelled: int  # rows without a class, which were left out
    seen: SeenRows | None  # what a model keeps of the rows, so that it recognises them
    store: RowStore | None  # grows and counts trees, level by level; None for rows in memory

    @classmethod
    def of(
        cls,
        coding: Coding,
        columns: Columns,
        facts: Sequence[Any],
        prints: Fingerprints | None,
        store: RowStore | None,
    ) -> "SourceRows":
        """Put the parts together, of which `facts` are the labels, weights and groups."""
        labels, weights, groups = map(join, zip(*facts, strict=True))
        return cls(
            EncodedTable(coding.schema, columns, coding.n_rows),
            labels.astype(np.int32, copy=False),
            coding.classes,
            weights,
            groups,
            coding.n_unlabelled,
            None if prints is None else prints.seen(),
            store,
        )

    def training_rows(self, weights: NDArray[np.float64] | None) -> TrainingRows:
        """Return the rows for a fit."""
        return TrainingRows(self.table, self.labels, len(self.classes), weights, store=self.store)


def read_rows(
    source: Source,
    roles: Roles,
    *,
    categorical_features: Any = "auto",
    memory: Any = None,
    n_threads: int = 1,
    grows_large_trees: bool | None = None,
    n_jobs: int | None = None,
) -> SourceRows:
    """Read a source twice, once for a summary and once for the codes of its rows.

    Codes that need more than `memory` (bytes, or text such as "2GB") are written to a temporary
    file. With `grows_large_trees`, which says what the rows are for, the user is told after the
    first pass, and before any tree is grown, what a fit will need, or an evaluation by `n_jobs`.
    """
    limit = memory_bytes(memory)
    parts: Parts = LocalParts(source.parts, n_threads)
    plan = plan_columns(source.parts, roles, categorical_features=categorical_features)
    n_rows = sum(part.n_rows for part in source.parts)
    coding = Coding.of(summary := summarize_parts(parts, plan, n_rows), plan)
    if memory is not None and grows_large_trees is not None:
        say_what_fit_needs(
            coding, limit, n_threads=n_threads, grows_large_trees=grows_large_trees, n_jobs=n_jobs
        )
    empty = coding.no_rows()
    is_spilled = _CODE_COPIES * coding.n_code_bytes > limit
    store = CodeStore(empty, coding.n_rows, is_spilled=is_spilled)
    digests = [summary.digests[number] for number in range(len(parts))]
    coded: Iterator[list[CodedPart]] = parts.results(encode_batches, coding, each=digests)
    facts: list[Any] = []
    prints = None
    for part in chain.from_iterable(coded):
        store.add(part.columns)
        facts.append((part.labels, part.weights, part.groups))
        prints = add_prints([prints, part.prints])
    in_file = SpilledRows(limit) if is_spilled else None
    return SourceRows.of(coding, store.columns(), facts, prints, in_file)


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """The columns of a source that rows are predicted from, read again when they are needed."""

    source: Source
    plan: ColumnPlan  # its columns; rows without a class are left out if its roles say so

    def batches(self) -> Iterator[LabelledBatch]:
        """Read the batches in order; those without rows are left out."""
        for part in self.source.parts:
            for batch in read_labelled(part, self.plan):
                if batch.features.num_rows or batch.n_unlabelled:
                    yield batch

    def read(
        self, *, columns: Sequence[str] | None = None, rows: NDArray[np.intp] | None = None
    ) -> Any:
        """Read some columns, or some rows in ascending order, as an Arrow table.

        All columns of all rows may not fit into memory, so one of the two must be given.
        """
        import pyarrow as pa

        if columns is None and rows is None:
            raise InvalidArgumentError(
                f"this needs all columns of all rows in memory, and {self.source.name} was read in "
                "batches. Give a sample of the rows as a table in memory."
            )
        names = list(self.plan.schema.names) if columns is None else list(dict.fromkeys(columns))
        for name in names:
            if name not in self.plan.schema.names:
                raise InvalidArgumentError(
                    f"{name!r} must be a column of {self.source.name}."
                    f"{suggestion(name, self.plan.schema.names)}"
                )
        parts, n_before = [], 0
        for batch in self.batches():
            features = batch.features.select(names)
            end = n_before + features.num_rows
            if rows is not None:
                own = rows[np.searchsorted(rows, n_before) : np.searchsorted(rows, end)]
                features = features.take(own - n_before)
            parts.append(features)
            n_before = end
        return pa.concat_tables(parts, promote_options="permissive")


class CodeStore:
    """Codes of all rows, which are added part by part; in memory or in a temporary file."""

    def __init__(self, empty: CodedColumns, n_rows: int, *, is_spilled: bool) -> None:
        self._empty, self._is_spilled, self._n_added = empty, is_spilled, 0
        width = empty.codes.shape[1]
        self._codes: NDArray[np.uint8] = self._allocate((n_rows, width), np.uint8)
        self._wide = [self._allocate((n_rows,), np.int32) for _ in empty.wide]

    def _allocate(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        if not self._is_spilled or 0 in shape:
            return np.empty(shape, dtype)
        n_bytes = prod(shape) * np.dtype(dtype).itemsize
        with copying(), tempfile.TemporaryFile(prefix="sureleaf-") as file:
            reserve(file, n_bytes)
            return np.memmap(file, dtype, "r+", shape=shape)  # deleted with the last mapping

    def add(self, columns: CodedColumns) -> None:
        """Append the rows of a part."""
        rows = slice(self._n_added, self._n_added + len(columns.codes))
        self._codes[rows] = columns.codes
        for store, wide in zip(self._wide, columns.wide, strict=True):
            store[rows] = wide
        self._n_added = rows.stop

    def columns(self) -> CodedColumns:
        """Return the columns of all rows."""
        codes = np.asarray(self._codes)
        return replace(self._empty, codes=codes, wide=tuple(map(np.asarray, self._wide)))


@dataclass(frozen=True)
class SpilledRows:
    """Rows whose codes are in a file: the store of their `TrainingRows`."""

    memory: int  # bytes for histograms and for nodes that are finished in memory
    chunk_rows: int | None = None  # rows that one step reads; by default, some steps per thread

    def grow(self, rows: TrainingRows, rules: GrowthRules, n_threads: int) -> Tree:
        """Grow a tree level by level."""
        columns, n_rows = rows.table.columns, rows.table.n_rows
        if not isinstance(columns, CodedColumns):
            return grow(replace(rows, store=None), rules, n_threads=n_threads)
        weights = whole_weights(rows.weights)
        parts = []
        step = self.chunk_rows or max(_LEAST_CHUNK, -(-n_rows // (4 * n_threads)))
        for start in range(0, n_rows, step):
            chunk = slice(start, min(start + step, n_rows))
            own = None if weights is None else weights[chunk]
            parts.append(
                start_part(
                    columns.take(chunk), rows.labels[chunk], rows.table.schema, rows.n_classes, own
                )
            )
        local = LocalParts(parts, n_threads)
        return grow_by_levels(local, rows, columns, weights, rules, self.memory, n_threads)

    def count_nodes(self, tree: Tree, rows: TrainingRows) -> NDArray[np.float64]:
        """Count the rows: the system reads the file, and forgets what it has read."""
        return count_nodes(tree, replace(rows, store=None))

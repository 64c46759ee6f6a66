"""Growing a tree from encoded rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.arguments import FloatArray, row_weights
from sureleaf.errors import InvalidArgumentError
from sureleaf.table import EncodedTable
from sureleaf.tree.structure import Tree

_NO_LIMIT = 2**62


@dataclass(frozen=True)
class GrowthRules:
    """The parameters of growing a tree; those without a line are as for `TreeClassifier`.

    - `criterion`: with "gain_ratio", all rules of C4.5 apply.
    - `missing`: "fraction" gives each branch of a test the share that it has of the known rows.
      With "branch", "is it missing?" is a test with the threshold infinity. If no training row of
      the node was missing, missing values take the heaviest branch.
    - `thresholds`: which number between two neighbouring values is the threshold. "c45": an
      observed value near the midpoint, and values closer than 1e-5 are not separated (gain_ratio
      only). "observed": the lower value, so that an increasing transformation of the column gives
      the same tree. None: "c45" for gain_ratio, else "observed" with missing="branch" and
      "midpoint" without.
    - `max_leaves`: the split of largest decrease is made first; a split into more branches than are
      left is not made.
    - `max_features`: how many columns are drawn per node, without replacement. If none of them has
      a split, further columns are drawn one by one.
    - `seed`, `tree`: the draws depend on these two and on the path to the node, not on threads.
    - `category_penalty`: the gain of a split by categories is reduced by so many times the gain
      that such a split may have by chance, and must then be above 0 (entropy and gini). 0: no
      penalty; 1 keeps columns of identifiers and of many meaningless categories out of the tree.
    - `monotone`: one sign per column for the second of two classes, or one line per column with one
      sign per class. Of frequencies in leaves; raising of subtrees does not keep it.
    """

    criterion: str = "gain_ratio"
    categorical_split: str = "multiway"
    max_depth: int | None = None
    min_samples_leaf: float = 2.0
    missing: str = "fraction"
    thresholds: str | None = None
    max_leaves: int | None = None
    max_features: int | None = None
    seed: int = 0
    tree: int = 0
    category_penalty: float = 0.0
    monotone: Sequence[int] | Sequence[Sequence[int]] | None = None

    @property
    def merges_close_values(self) -> bool:
        """Whether values that are closer than 1e-5 are not separated."""
        is_default = self.thresholds is None and self.criterion == "gain_ratio"
        return is_default or self.thresholds == "c45"

    @property
    def kernel(self) -> _kernel.GrowthConfig:
        """The same rules in the kernel."""
        own: dict[str, Any] = {
            **vars(self),
            "min_samples_leaf": float(self.min_samples_leaf),
            "category_penalty": float(self.category_penalty),
            **{name: _bounded(getattr(self, name)) for name in _BOUNDED},
            "seed": int(self.seed) % 2**64,
            "monotone": None if self.monotone is None else _monotone_signs(self.monotone),
        }
        return _kernel.GrowthConfig(**own)


_BOUNDED = ("max_depth", "max_leaves", "max_features")


def _bounded(limit: int | None) -> int | None:
    """Return a limit as the kernel's numbers can hold it."""
    return None if limit is None else min(int(limit), _NO_LIMIT)


def _monotone_signs(monotone: Sequence[int] | Sequence[Sequence[int]]) -> NDArray[np.int8]:
    """One sign per column and class."""
    signs = np.asarray(monotone)
    if signs.ndim not in (1, 2) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidArgumentError(
            "monotone must have one sign per column, or one line per column with one sign per "
            f"class, and signs are -1, 0 and 1; got {monotone!r}."
        )
    lines = np.column_stack([-signs, signs]) if signs.ndim == 1 else signs
    return np.ascontiguousarray(lines, dtype=np.int8)


class RowStore(Protocol):
    """Rows that are not in memory: how a tree is grown from them, and how they are counted."""

    def grow(self, rows: "TrainingRows", rules: GrowthRules, n_threads: int) -> Tree:
        """Grow a tree, without pruning, with the labels and weights of these rows."""

    def count_nodes(self, tree: Tree, rows: "TrainingRows") -> FloatArray:
        """Return the class weights of every node when these rows are routed through the tree."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Encoded rows with classes and weights; sorted once for all trees that are grown on them.

    - `table`: the rows.
    - `labels`, shape (n_rows,): their class codes.
    - `n_classes`: number of classes.
    - `weights`, shape (n_rows,): their weights; None if all are 1. A row of weight 0 is ignored.
    - `are_copies`: weights are whole numbers, and a row of weight k stands for k rows: the tree is
      identical, to the last bit, to the tree of the repeated rows. Fractions of rows with missing
      values are then summed row by row, in the order of the first column with more than 255 values;
      sums are only identical if the rows of weight above 0 have more than 255 values in it, too.
    - `store`: where the rows are, if they are not in memory.
    """

    table: EncodedTable
    labels: NDArray[np.int32]
    n_classes: int
    weights: FloatArray | None = None
    are_copies: bool = False
    store: "RowStore | None" = None

    @cached_property
    def kernel(self) -> _kernel.Table:
        """The table in the kernel."""
        return self.table.kernel

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.labels), len(self.table.columns)

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self.labels) if self.weights is None else self.weights.sum())

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row, also if all are 1."""
        return row_weights(self.weights, len(self.labels))

    def with_weights(self, weights: FloatArray | None) -> "TrainingRows":
        """Return the same rows with other weights; the encoded and sorted columns are shared."""
        return self._sharing(weights=weights, are_copies=False)

    def with_copies(self, times: FloatArray) -> "TrainingRows":
        """Return the rows, each repeated this many times; encoded and sorted columns are shared."""
        return self._sharing(weights=times, are_copies=True)

    def with_labels(self, labels: NDArray[np.int32], n_classes: int) -> "TrainingRows":
        """Return the same rows with other classes; encoded and sorted columns are shared."""
        return self._sharing(labels=labels, n_classes=n_classes)

    def _sharing(self, **changes: Any) -> "TrainingRows":
        rows = replace(self, **changes)
        for name in ("kernel", "_sorted"):
            if name in self.__dict__:
                rows.__dict__[name] = self.__dict__[name]
        return rows

    def owned(self) -> "TrainingRows":
        """Return the same rows in new arrays, which the caller cannot change."""
        weights = None if self.weights is None else self.weights.copy()
        table = replace(self.table, columns=self.table.columns.owned())
        return replace(self, table=table, weights=weights)

    def sort(self, n_threads: int) -> _kernel.SortedTable:
        """Sort every column, and keep the order for the next tree."""
        if "_sorted" not in self.__dict__:
            self.__dict__["_sorted"] = _kernel.presort(self.kernel, n_threads)
        sorted_table: _kernel.SortedTable = self.__dict__["_sorted"]
        return sorted_table

    def narrow_columns(self, n_threads: int) -> list[int]:
        """Return the columns with different values that are too close for a cut of C4.5."""
        if "_narrow_columns" not in self.__dict__:
            self.note_narrow_columns(_kernel.presort(self.kernel, n_threads))
        narrow: list[int] = self.__dict__["_narrow_columns"]
        return narrow

    def note_narrow_columns(self, order: _kernel.SortedTable) -> None:
        """Remember what sorting found, because growing may use up the order."""
        self.__dict__["_narrow_columns"] = order.narrow_columns

    def __getstate__(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def split_rows(
    rows: TrainingRows, is_counted: NDArray[np.bool_]
) -> tuple[TrainingRows, TrainingRows]:
    """Split rows, by setting weights to 0, into those that grow a tree and those it counts."""
    weights = rows.row_weights
    growing = rows.with_weights(np.where(is_counted, 0.0, weights))
    counted = rows.with_weights(np.where(is_counted, weights, 0.0))
    return growing, counted


def grow(
    rows: TrainingRows, rules: GrowthRules, *, n_threads: int = 1, keep_order: bool = True
) -> Tree:
    """Grow a tree, without pruning.

    The tree does not depend on the number of threads. Without `keep_order`, the sorted columns are
    not kept for further trees, which needs less memory.
    """
    if rules.monotone is not None:
        _check_monotone(rules.monotone, rows)
    if rows.store is not None and not rows.are_copies:
        return rows.store.grow(rows, rules, n_threads)
    order = rows.sort(n_threads) if keep_order else _kernel.presort(rows.kernel, n_threads)
    rows.note_narrow_columns(order)
    counts, weights = _counts_or_weights(rows.weights)
    try:
        grown = _kernel.grow(
            order,
            rows.labels,
            rows.n_classes,
            rules.kernel,
            counts=counts,
            weights=weights,
            are_copies=rows.are_copies,
            n_threads=n_threads,
            use_up=not keep_order,
        )
    except OverflowError:
        raise InvalidArgumentError(_too_large(rows.table)) from None
    return Tree.from_kernel(grown, len(rows.table.columns))


def _check_monotone(monotone: Sequence[int] | Sequence[Sequence[int]], rows: TrainingRows) -> None:
    signs = _monotone_signs(monotone)
    columns = rows.table.schema.columns
    if signs.shape != (len(columns), rows.n_classes):
        raise InvalidArgumentError(
            f"monotone must have one sign for each of {len(columns)} columns (two classes), or one "
            f"line per column with {rows.n_classes} signs; got {np.shape(monotone)}."
        )
    for column, line in zip(columns, signs, strict=True):
        if column.kind == "categorical" and line.any():
            raise InvalidArgumentError(
                f"monotone must be 0 for column {column.name!r}, whose categories have no order. "
                "Make the column ordered, or leave the constraint out."
            )


def _counts_or_weights(
    weights: FloatArray | None,
) -> tuple[NDArray[np.uint32] | None, FloatArray | None]:
    """Return whole weights as counts, which the kernel adds exactly and faster."""
    if weights is None:
        return None, None
    if weights.sum() < 2**32 and bool(np.all(weights == np.floor(weights))):
        return weights.astype(np.uint32), None
    return None, np.ascontiguousarray(weights)


def _too_large(table: EncodedTable) -> str:
    widest = max(table.schema.columns, key=lambda column: len(column.categories))
    return (
        "a tree must have at most 20,000,000 nodes, and its tests at most 134,217,728 categories "
        f"in total; column {widest.name!r} has {len(widest.categories):,} categories, which every "
        "test of it lists. Leave the column out, or limit the tree by max_depth or "
        "min_samples_leaf."
    )


@contextmanager
def thread_map(n_threads: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Yield a function like `map` that works on several threads.

    After an error or Ctrl-C, which only the main thread sees, the threads stop what they compute.
    """
    if n_threads == 1:
        yield map
        return
    flag = _kernel.StopFlag()
    pool = ThreadPoolExecutor(n_threads, initializer=flag.watch)
    try:
        yield pool.map
    except BaseException:
        flag.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

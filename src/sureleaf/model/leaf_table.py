"""Levels of the leaves as a table, with what would help the leaves that are too weak."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sureleaf.model.column_table import ColumnTable
from sureleaf.model.node_levels import NodeLevels
from sureleaf.table import Schema
from sureleaf.tree import Tree
from sureleaf.tree.rules import leaf_rules

__all__ = ["LeafTable", "RowLevels", "TreeLevels", "leaf_table"]


FloatArray = NDArray[np.float64]

SOURCES = {
    "training": "training rows, which shaped the tree: too optimistic for unseen rows",
    "honest": "rows that did not grow the tree",
    "cross_fit": "out-of-fold predictions of all training rows",
}
"""Where levels come from, as the table says it."""


class TreeLevels(NamedTuple):
    """Confidence and utility of a tree: the share-weighted sums over its leaves.

    Examples
    --------
    >>> TreeLevels(0.9, 0.8).to_pandas().utility.tolist()
    [0.8]
    """

    confidence: float
    utility: float

    def to_pandas(self) -> Any:
        """As a pandas data frame of one row."""
        return _Pair(np.array([self.confidence]), np.array([self.utility])).to_pandas()

    def to_polars(self) -> Any:
        """As a polars data frame of one row."""
        return _Pair(np.array([self.confidence]), np.array([self.utility])).to_polars()

    def __str__(self) -> str:
        return repr(_Pair(np.array([self.confidence]), np.array([self.utility])))


@dataclass(frozen=True, eq=False, repr=False)
class _Pair(ColumnTable):
    confidence: FloatArray
    utility: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class LeafTable(ColumnTable):
    """One row per leaf, in the order of `leaf_counts_`.

    Parameters
    ----------
    leaf : ndarray of int
        Node number, as `apply` returns it.
    rule : ndarray of str
        The tests on the way to it.
    n : ndarray of float64
        Rows that are counted in it.
    counts : ndarray of float64, shape (n_leaves, n_classes)
        These rows by class.
    prediction : ndarray
        The class that it predicts.
    probability, low, high : ndarray of float64
        Probability of that class (p_max of the theory) and its interval.
    confidence, utility : ndarray of float64
        Probability that the predicted class is the true majority class of the leaf, and that the
        next row is predicted correctly.
    rows_needed : ndarray of float64
        Total rows in the leaf that reach the wanted levels if its probability stays as it is; NaN
        if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels, or correct less often than a coin toss.
    repair : ndarray of str
        What would help a flagged leaf.
    levels_from : str
        Where the levels come from.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.leaves().rule.tolist()
    ['x0 <= 19', 'x0 > 19']
    """

    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    n: FloatArray
    counts: FloatArray
    prediction: NDArray[Any]
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]
    repair: NDArray[np.object_]
    levels_from: str

    @property
    def fragmentation(self) -> float:
        """Share of the rows that lie in flagged leaves."""
        total = float(self.n.sum())
        return float(self.n[self.flagged].sum()) / total if total else 0.0

    def notes(self) -> list[str]:
        """Where the levels come from, what limits them, and whether the leaves are too small."""
        notes = [f"Levels from {SOURCES[self.levels_from]}."]
        if self.fragmentation > 0.5:
            notes.append(
                f"Data fragmentation: {100 * self.fragmentation:.0f} % of the rows are in "
                f"{int(self.flagged.sum())} of {len(self)} leaves that are too small or too mixed "
                "for the wanted levels. Prune more, or collect more rows."
            )
        if self.levels_from != "training":
            notes += known_limits(float(self.n.sum()), len(self), self.counts.shape[1])
        return notes


_FEW_ROWS = 100


def known_limits(n_rows: float, n_leaves: int, n_classes: int) -> list[str]:
    """Return the known limits of levels (docs/levels.md) that apply to a tree of this size."""
    limits = []
    if n_rows <= _FEW_ROWS:
        limits.append(
            f"With {n_rows:.4g} rows, the accuracy and all levels have a standard error of about 4 "
            "percentage points or more."
        )
    if n_leaves == 1:
        limits.append(
            "The tree has only one leaf. If no column is related to the class, utility is too "
            "high: by 2.7 percentage points with 100 rows and by 1.1 with 1,000."
        )
    if n_classes > 2:
        limits.append(
            "With three or more classes, levels of leaves may be too high: leaves of pruned trees "
            "that reported 85 % were correct for 78 % of unseen rows."
        )
    return limits


@dataclass(frozen=True, eq=False, repr=False)
class RowLevels(ColumnTable):
    """Levels of each row, which are those of its leaf.

    Parameters
    ----------
    leaf : ndarray of int
        The leaf by node number; of several the heaviest.
    prediction : ndarray
        The predicted class.
    confidence, utility, low, high : ndarray of float64
        As for leaves; for a row in several leaves, the mean over them for the predicted class.
    imputed_share : ndarray of float64
        The share of the row that a missing or unseen value has sent to its leaves. A missing value
        that takes the branch its test has learned does not count.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.predict_levels([[3]]).prediction.tolist()
    ['no']
    """

    leaf: NDArray[np.int64]
    prediction: NDArray[Any]
    confidence: FloatArray
    utility: FloatArray
    low: FloatArray
    high: FloatArray
    imputed_share: FloatArray


def leaf_table(
    tree: Tree,
    schema: Schema,
    classes: NDArray[Any],
    counts: FloatArray,
    levels: NodeLevels,
    *,
    level: float,
    confidence: float | None,
    utility: float | None,
    levels_from: str,
) -> LeafTable:
    """Combine the levels of the leaves with their rules, and with what the weak ones need."""
    leaves = tree.leaf_ids
    low, high = levels.interval(level)
    sure, useful = levels.confidence, levels.utility
    weak = levels.below | (levels.n <= 0)
    weak |= (sure < confidence) if confidence is not None else False
    weak |= (useful < utility) if utility is not None else False
    needed = levels.rows_needed(leaves, confidence, utility)
    n = counts.sum(axis=1)
    # A tie or a low utility may be due to chance: the interval tells whether better is possible.
    may_help = high > np.maximum(levels.probability, utility or 0.0)
    repair = [
        _repair(tree, int(leaf), float(more), weak, levels, may_help) if weak[leaf] else ""
        for leaf, more in zip(leaves, needed - n, strict=True)
    ]
    rules = leaf_rules(tree, schema)
    return LeafTable(
        leaf=leaves,
        rule=np.array([rules[leaf] for leaf in leaves.tolist()], dtype=object),
        n=n,
        counts=counts,
        prediction=classes[levels.predicted[leaves]],
        probability=levels.probability[leaves],
        low=low[leaves],
        high=high[leaves],
        confidence=sure[leaves],
        utility=useful[leaves],
        rows_needed=needed,
        flagged=weak[leaves],
        repair=np.array(repair, dtype=object),
        levels_from=levels_from,
    )


def _repair(
    tree: Tree,
    leaf: int,
    more: float,
    weak: NDArray[np.bool_],
    levels: NodeLevels,
    may_help: NDArray[np.bool_],
) -> str:
    """Merge with the siblings if that is enough, or collect rows (recommendation 3)."""
    ways = []
    above = int(tree.parent[leaf])
    if above >= 0:
        siblings = [int(node) for node in tree.branches(above) if node != leaf]
        better = levels.utility_as(leaf, above) >= levels.utility[leaf] and not weak[above]
        if better and all(tree.is_leaf[node] for node in siblings):
            names = ", ".join(map(str, siblings))
            ways.append(f"merge with {names} (confidence {levels.confidence[above]:.2f})")
    if more > 0:
        rows = int(np.ceil(more))
        ways.append(f"collect {rows} more row{'' if rows == 1 else 's'}")
    return " or ".join(ways) or _advice_without_number(float(levels.n[leaf]), bool(may_help[leaf]))


def _advice_without_number(n: float, may_help: bool) -> str:
    if n <= 0:
        return "no rows reach this leaf, so what it needs is unknown"
    if may_help:
        rows = "1 row" if n == 1 else f"{n:.4g} rows"
        return f"{rows} cannot tell whether more rows would help"
    return "more rows would not help; other columns might"

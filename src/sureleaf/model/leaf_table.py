"""The leaves of a tree as a table: what each states, and what would repair the weak ones."""

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
    "training": "training rows, which shaped the tree: too good to be true of unseen rows",
    "honest": "rows that did not grow the tree",
    "cross_fit": "predictions for rows by trees that had not seen them",
}
"""Where levels come from -> in words."""


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
    """One row a leaf, in the order of `leaf_counts_`.

    Parameters
    ----------
    leaf : ndarray of int
        Node number, as `apply` gives it.
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
        Probability that it has found the most probable class, and that it is right about the
        next row.
    rows_needed : ndarray of float64
        Rows in the leaf, all told, to reach the wanted levels if its probability stays what it
        is; NaN if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels, or right less often than a coin.
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
        """Where the levels come from, and whether the leaves are too small."""
        told = [f"Levels from {SOURCES[self.levels_from]}."]
        if self.fragmentation > 0.5:
            told.append(
                f"Data fragmentation: {100 * self.fragmentation:.0f} % of the rows are in "
                f"{int(self.flagged.sum())} of {len(self)} leaves that are too small or too mixed "
                "for the wanted levels. Prune more, or collect more rows."
            )
        return told


@dataclass(frozen=True, eq=False, repr=False)
class RowLevels(ColumnTable):
    """What the tree states about each row.

    Parameters
    ----------
    leaf : ndarray of int
        The leaf by node number; of several the heaviest.
    prediction : ndarray
        The class predicted.
    confidence, utility, low, high : ndarray of float64
        As of leaves; of a row in several leaves, the mixture's for the class predicted.
    imputed_share : ndarray of float64
        How much of the row came where it is by a missing or unseen value.

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
    stated: NodeLevels,
    *,
    level: float,
    confidence: float | None,
    utility: float | None,
    levels_from: str,
) -> LeafTable:
    """Put the leaves' levels together with their rules, and say what the weak ones need.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(levels_from="training").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.leaves(confidence=0.9).flagged.tolist()
    [False, False]
    """
    leaves = tree.leaf_ids
    low, high = stated.interval(level)
    sure, useful = stated.confidence, stated.utility
    weak = stated.below | (stated.n <= 0)
    weak |= (sure < confidence) if confidence is not None else False
    weak |= (useful < utility) if utility is not None else False
    needed = stated.rows_needed(leaves, confidence, utility)
    n = counts.sum(axis=1)
    # A tie, or a utility too small, is a guess: the interval says whether better is possible.
    may_help = high > np.maximum(stated.probability, utility or 0.0)
    repair = [
        _repair(tree, int(leaf), float(more), weak, stated, may_help) if weak[leaf] else ""
        for leaf, more in zip(leaves, needed - n, strict=True)
    ]
    rules = leaf_rules(tree, schema)
    return LeafTable(
        leaf=leaves,
        rule=np.array([rules[leaf] for leaf in leaves.tolist()], dtype=object),
        n=n,
        counts=counts,
        prediction=classes[stated.predicted[leaves]],
        probability=stated.probability[leaves],
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
    stated: NodeLevels,
    may_help: NDArray[np.bool_],
) -> str:
    """Merge with the siblings if that is enough, or collect rows (recommendation 3)."""
    ways = []
    above = int(tree.parent[leaf])
    if above >= 0:
        siblings = [int(node) for node in tree.branches(above) if node != leaf]
        better = stated.utility[above] >= stated.utility[leaf] and not weak[above]
        if better and all(tree.is_leaf[node] for node in siblings):
            names = ", ".join(map(str, siblings))
            ways.append(f"merge with {names} (confidence {stated.confidence[above]:.2f})")
    if more > 0:
        rows = int(np.ceil(more))
        ways.append(f"collect {rows} more row{'' if rows == 1 else 's'}")
    return " or ".join(ways) or _without_a_number(float(stated.n[leaf]), bool(may_help[leaf]))


def _without_a_number(n: float, may_help: bool) -> str:
    if n <= 0:
        return "no rows came here, so what it needs cannot be told"
    if may_help:
        rows = "1 row" if n == 1 else f"{n:.4g} rows"
        return f"whether more rows would help cannot be told from {rows}"
    return "more rows would not help; other columns might"

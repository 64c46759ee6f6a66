"""Stability of a tree: how often its splits and predictions recur on fresh samples.

A split of the tree *recurs* in another tree if that tree divides the rows of the node in nearly the
same way, by the same column, at one of its nodes: of the rows of each branch, on average at least
`SAME` go down the matching branch. The prediction of a leaf recurs as far as the other tree gives
its rows the same class.

The other trees are those that cross-fitting grows on halves of the rows. A half is a part of the
rows that chose the split, so the split is found in halves more often than in fresh samples. Fewer
rows work against this. What remains is measured: a split that is found in a share ``Phi(z)`` of the
halves is found in ``Phi(0.75 z + 0.2 t - 0.4)`` of fresh samples of the same size, where ``Phi(t)``
is the mean share of all splits of the tree, and a row keeps its predicted class in
``Phi(z - 0.12)`` of them. docs/stability.md shows on which tables the figures were chosen, and how
far they hold on others.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr, ndtri

from sureleaf.files.state_file import Damaged
from sureleaf.formatting import signed_interval, signed_points
from sureleaf.model.column_table import ColumnTable
from sureleaf.tree import Tree

__all__ = [
    "SAME",
    "Recurrence",
    "Rival",
    "RivalVerdict",
    "SplitTable",
    "Stability",
    "fresh_share",
    "recurrence_in",
    "rival_sentence",
    "stability_of",
]

FloatArray = NDArray[np.float64]

SAME = 0.8
"""Mean share of the rows of a branch that another tree must send down the matching branch."""


@dataclass(frozen=True, eq=False)
class Recurrence:
    """What of a tree recurs in one other tree.

    Parameters
    ----------
    splits : ndarray of float64, shape (n_nodes,)
        1 if the split of an inner node recurs, 0 if not; 0 for leaves.
    rows : ndarray of bool, shape (n_rows,)
        Rows that keep their predicted class.
    """

    splits: FloatArray
    rows: NDArray[np.bool_]


def recurrence_in(
    tree: Tree,
    leaf_of: NDArray[np.int64],
    predicted: NDArray[np.intp],
    other: Tree,
    other_leaf_of: NDArray[np.int64],
    other_predicted: NDArray[np.intp],
) -> Recurrence:
    """Return which splits and predictions of a tree recur in another one.

    Parameters
    ----------
    tree, other : Tree
        The tree, and the one to look in.
    leaf_of, other_leaf_of : ndarray of int, shape (n_rows,)
        The leaf of every row, by node number.
    predicted, other_predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.

    Returns
    -------
    Recurrence
    """
    line, other_line = _line_of_leaf(tree), _line_of_leaf(other)
    first, last = _leaves_below(tree, line)
    other_first, other_last = _leaves_below(other, other_line)
    # Leaves below a node are neighbours. With the rows in the order of the leaves, the rows of a
    # node of the tree are a stretch, and those of a node of the other tree an interval of lines.
    own_line = line[leaf_of]
    reached = other_line[other_leaf_of][np.argsort(own_line, kind="stable")]
    start = np.searchsorted(np.sort(own_line), np.arange(tree.n_leaves + 1))
    meeting = _MeetingNodes(other, other_first, other_last)
    splits = np.zeros(tree.n_nodes)
    for node in np.flatnonzero(~tree.is_leaf & np.isin(tree.feature, other.feature)).tolist():
        branches = [
            np.sort(reached[start[first[branch]] : start[last[branch]]])
            for branch in tree.branches(node).tolist()
        ]
        for candidate in meeting.candidates(branches):
            if other.feature[candidate] != tree.feature[node]:
                continue
            starts = np.sort(other_first[other.branches(candidate)])
            if _is_same(branches, starts, int(other_last[candidate])):
                splits[node] = 1.0
                break
    return Recurrence(splits, predicted[leaf_of] == other_predicted[other_leaf_of])


class _MeetingNodes:
    """The nodes of a tree at which a split can recur.

    If branches keep `SAME` of their rows on average, more than half of the branches have most of
    their rows in one matching branch each, and so the median of these rows, in the order of the
    leaves. Two of these branches are neighbours, in the circle of all branches, and the node is
    where the paths to their medians part. So there are as many candidates as branches, and time
    and memory grow with the rows of the nodes, not with pairs of nodes.
    """

    def __init__(self, tree: Tree, first: NDArray[np.intp], last: NDArray[np.intp]) -> None:
        self._leaves, self._parent = tree.leaf_ids.tolist(), tree.parent.tolist()
        self._first, self._last = first.tolist(), last.tolist()

    def candidates(self, branches: Sequence[NDArray[np.intp]]) -> set[int]:
        """Return where the paths of neighbouring branches part, given their rows by leaf."""
        medians = [int(rows[len(rows) // 2]) for rows in branches if len(rows)]
        return {self._above_both(one, medians[index - 1]) for index, one in enumerate(medians)}

    def _above_both(self, one: int, other: int) -> int:
        """Return the lowest node that has both leaves below it, or is both."""
        node: int = self._leaves[one]
        while not self._first[node] <= other < self._last[node]:
            node = self._parent[node]
        return node


def _is_same(branches: Sequence[NDArray[np.intp]], starts: NDArray[np.intp], end: int) -> bool:
    """Whether branches keep `SAME` of their rows, each matched with a branch of the other split.

    Splits may have thousands of branches, of which few pairs have rows in common. So the best
    matching is computed only where its bounds do not decide.

    Parameters
    ----------
    branches : sequence of ndarray
        By branch, the leaves of the other tree that its rows are in, by line.
    starts : ndarray of int
        The first leaf of each branch of the other split, ascending.
    end : int
        The leaf after the last one of the other split.
    """
    sizes = np.array([len(rows) for rows in branches])
    lines, own = np.concatenate(branches), np.repeat(np.arange(len(branches)), sizes)
    inside = (lines >= starts[0]) & (lines < end)
    theirs = np.searchsorted(starts, lines[inside], side="right") - 1
    pairs, counts = np.unique(own[inside] * len(starts) + theirs, return_counts=True)
    line, column = pairs // len(starts), pairs % len(starts)
    shares = counts / sizes[line]
    needed = SAME * len(branches)
    most_of_line, most_of_column = np.zeros(len(branches)), np.zeros(len(starts))
    np.maximum.at(most_of_line, line, shares)
    if most_of_line.sum() < needed:  # every branch with its best, even if others have it, too
        return False
    is_best = shares == most_of_line[line]
    np.maximum.at(most_of_column, column[is_best], shares[is_best])
    if len(np.unique(line[is_best])) == is_best.sum() and most_of_column.sum() >= needed:
        return True  # branches whose best is taken stay without one
    _, columns = np.unique(column, return_inverse=True)
    table = np.zeros((len(branches), int(columns.max()) + 1))
    table[line, columns] = shares
    return bool(table[linear_sum_assignment(-table)].sum() >= needed)


def _line_of_leaf(tree: Tree) -> NDArray[np.intp]:
    line = np.zeros(tree.n_nodes, dtype=np.intp)
    line[tree.leaf_ids] = np.arange(tree.n_leaves)
    return line


def _leaves_below(tree: Tree, line: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first leaf below each node, and the one after the last; nodes are in preorder."""
    first = np.where(tree.is_leaf, line, tree.n_leaves)
    last = np.where(tree.is_leaf, line + 1, 0)
    for node in range(tree.n_nodes - 1, 0, -1):
        above = tree.parent[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
    return first, last


RivalVerdict = Literal["as good", "worse", "better", "undecided"]
_EQUIVALENT = 0.02
"""Trees whose accuracy differs by less are as good as each other."""


@dataclass(frozen=True)
class Rival:
    """The best split of another column at the root, and what the tree that starts with it gains.

    Parameters
    ----------
    column : int
        Index of the column.
    test : str
        Its first branch as text.
    difference, low, high : float
        Out-of-fold accuracy of the tree that starts with it, minus that of the tree, with a 95 %
        interval.

    Examples
    --------
    >>> Rival(0, "age <= 45", -0.002, -0.011, 0.015).sentence()
    'age <= 45 at the root would be as good: accuracy −0.2 percentage points (−1.1 to +1.5).'
    """

    column: int
    test: str
    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> RivalVerdict:
        """Return "better" or "worse" if the interval is above or below 0.

        If it holds 0, "as good" if it is within two percentage points, else "undecided".
        """
        if self.low > 0:
            return "better"
        if self.high < 0:
            return "worse"
        return "as good" if max(-self.low, self.high) <= _EQUIVALENT else "undecided"

    def sentence(self) -> str:
        """Say what the rival would change, in percentage points."""
        return rival_sentence(self)


class ComparedSplit(Protocol):
    """A split at the root, and how its tree differs from the tree in accuracy."""

    @property
    def test(self) -> str: ...
    @property
    def difference(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def verdict(self) -> RivalVerdict: ...


def rival_sentence(rival: ComparedSplit) -> str:
    """Say what another split at the root would change, and no more than the interval shows."""
    verdict = f"would be {rival.verdict}"
    if rival.verdict == "undecided":
        verdict = f"is not shown to be {'worse' if rival.difference <= 0 else 'better'}"
    return (
        f"{rival.test} at the root {verdict}: accuracy {signed_points(rival.difference)} "
        f"percentage points ({signed_interval(rival.low, rival.high)})."
    )


@dataclass(frozen=True, eq=False)
class Stability:
    """How often what a tree says is expected to recur on fresh samples of the same size.

    Parameters
    ----------
    splits : ndarray of float64, shape (n_nodes,)
        Expected share of fresh samples in whose tree the split of an inner node recurs; NaN for
        leaves.
    predictions : ndarray of float64, shape (n_nodes,)
        Expected share of the rows of a leaf that keep their predicted class; NaN for inner nodes.
    n_trees : int
        Trees on halves of the rows that it is estimated from.
    rival : Rival or None
        The strongest rival of the root; None if there is none.
    """

    splits: FloatArray
    predictions: FloatArray
    n_trees: int
    rival: Rival | None = None

    @property
    def n_splits(self) -> int:
        """The number of splits of the tree."""
        return int(np.count_nonzero(~np.isnan(self.splits)))

    @property
    def n_returning(self) -> int:
        """How many of them are expected to recur in more than half of fresh samples."""
        return int(np.count_nonzero(self.splits > _PROBABLE))

    def sentence(self) -> str:
        """How many of its splits would return."""
        if not self.n_splits:
            return "The tree has no split."
        if self.n_splits == 1:
            word = "would probably return" if self.n_returning else "would probably not return"
            return f"On a fresh sample, its only split {word}."
        count = f"{self.n_returning} of its {self.n_splits} splits"
        return f"On a fresh sample, {count} would probably return."

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        return {
            "splits": [None if np.isnan(value) else value for value in self.splits.tolist()],
            "predictions": [
                None if np.isnan(value) else value for value in self.predictions.tolist()
            ],
            "n_trees": self.n_trees,
            "rival": None if self.rival is None else asdict(self.rival),
        }

    @classmethod
    def from_plain(cls, written: Any, tree: Tree) -> "Stability | None":
        """Restore what a model file has; files of earlier versions have none."""
        if written is None:
            return None
        try:
            splits, predictions = (
                np.array([np.nan if value is None else value for value in written[name]], float)
                for name in ("splits", "predictions")
            )
            of_root = written["rival"]
            rival = None
            if of_root is not None:
                numbers = (float(of_root[name]) for name in ("difference", "low", "high"))
                rival = Rival(int(of_root["column"]), str(of_root["test"]), *numbers)
            stability = cls(splits, predictions, int(written["n_trees"]), rival)
        except (TypeError, ValueError, KeyError, OverflowError):
            raise Damaged("its stability cannot be read") from None
        for values, expected in ((splits, ~tree.is_leaf), (predictions, tree.is_leaf)):
            if values.shape != (tree.n_nodes,) or (np.isnan(values) == expected).any():
                raise Damaged("its stability is not that of its nodes")
            if np.any(values[expected] < 0) or np.any(values[expected] > 1):
                raise Damaged("a recurrence is not a share")
        return stability


_PROBABLE = 0.5


def stability_of(
    tree: Tree, leaf_of: NDArray[np.int64], recurrences: Sequence[Recurrence]
) -> Stability | None:
    """Return the expected recurrence on fresh samples; None without trees of halves.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaf_of : ndarray of int, shape (n_rows,)
        The leaf of every row.
    recurrences : sequence of Recurrence
        In trees of halves of its rows.
    """
    if not recurrences:
        return None
    n = len(recurrences)
    n_returned = np.sum([each.splits for each in recurrences], axis=0)[~tree.is_leaf]
    mean = float(ndtri((n_returned.mean() + 0.5) / (n + 1))) if len(n_returned) else 0.0
    slope, of_tree, intercept, spread = _OF_SPLITS
    share = fresh_share(n, slope, intercept + of_tree * mean, spread)
    splits = np.full(tree.n_nodes, np.nan)
    splits[~tree.is_leaf] = share[n_returned.astype(np.intp)]
    kept = np.sum([each.rows for each in recurrences], axis=0)
    of_rows = fresh_share(n, *_OF_ROWS)[kept]
    sums = np.bincount(leaf_of, of_rows, minlength=tree.n_nodes)
    n_rows = np.bincount(leaf_of, minlength=tree.n_nodes)
    prior = fresh_share(0, *_OF_ROWS)[0]  # of a leaf without rows
    predictions = np.divide(sums, n_rows, out=np.full(tree.n_nodes, prior), where=n_rows > 0)
    return Stability(splits, np.where(tree.is_leaf, predictions, np.nan), n)


_GRID = np.linspace(-3.5, 3.5, 141)
_OF_SPLITS = (0.75, 0.2, -0.4, 2.5)
"""Slope of z, slope of the tree's mean, intercept, standard deviation of z in the prior."""
_OF_ROWS = (1.0, -0.12, 2.5)
"""Slope, intercept, standard deviation of z in the prior."""


def fresh_share(n: int, slope: float, intercept: float, spread: float) -> FloatArray:
    """Return the expected share of fresh samples, by the number of `n` halves: 0, 1, ..., n.

    The mean of ``Phi(slope z + intercept)`` over the posterior distribution of z, if each half has
    it with probability ``Phi(z)`` and z is normal with mean 0 and this standard deviation.

    Examples
    --------
    >>> fresh_share(8, 0.75, -0.4, 2.5).round(2)[[0, 4, 8]]
    array([0.04, 0.35, 0.86])
    """
    n_returned = np.arange(n + 1)[:, np.newaxis]
    in_half = ndtr(_GRID)
    logs = (
        np.log(in_half) * n_returned
        + np.log1p(-in_half) * (n - n_returned)
        - _GRID**2 / (2 * spread**2)
    )
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    share: FloatArray = weights @ ndtr(slope * _GRID + intercept) / weights.sum(axis=1)
    return share


@dataclass(frozen=True, eq=False, repr=False)
class SplitTable(ColumnTable):
    """One row per split: how often it would return in a tree of a fresh sample.

    Parameters
    ----------
    node : ndarray of int
        Node number.
    test : ndarray of str
        The test of its first branch.
    n : ndarray of float64
        Rows of the node.
    recurrence : ndarray of float64
        Expected share of fresh samples in whose tree it recurs.
    summary : str
        How many of the splits would return.
    rival : Rival or None
        The strongest rival of the root.
    """

    node: NDArray[np.intp]
    test: NDArray[np.object_]
    n: FloatArray
    recurrence: FloatArray
    summary: str
    rival: Rival | None

    def notes(self) -> list[str]:
        """Lines below the table."""
        return [self.summary] + ([] if self.rival is None else [self.rival.sentence()])

"""Stability of a tree: how often its splits and predictions recur in trees of half of its rows.

A split of the tree *recurs* in another tree if that tree divides the rows of the node in nearly the
same way, by the same column, at one of its nodes: of the rows of each branch, on average at least
`SAME` go down the matching branch. The prediction of a leaf recurs as far as the other tree gives
its rows the same class.

The other trees are grown on random halves of the rows (`sureleaf.model.halves`). What is told is
what was observed there. It is not an estimate for fresh samples: a half is a part of the rows that
chose the split, and has fewer rows than a fresh sample would have. docs/stability.md compares both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sureleaf.arguments import FloatArray
from sureleaf.files.state_file import Damaged
from sureleaf.levels.intervals import wilson
from sureleaf.model.column_table import ColumnTable
from sureleaf.table import Schema
from sureleaf.tree import Tree
from sureleaf.tree.rules import branch_tests

SAME = 0.8
"""Mean share of the rows of a branch that another tree must send down the matching branch."""


@dataclass(frozen=True, eq=False)
class Recurrence:
    """What of a tree recurs in one other tree.

    `splits` has one number per node: 1 if the split of an inner node recurs, 0 if not, 0 for
    leaves. `rows` says which rows keep their predicted class.
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

    `leaf_of` is the leaf of every row, by node number; `predicted` the class that each node
    predicts.
    """
    line, first, last = _leaves_below(tree)
    other_line, other_first, other_last = _leaves_below(other)
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

    `branches` has, by branch, the leaves of the other tree that its rows are in, by line. `starts`
    are the first leaves of the branches of the other split, ascending, and `end` is the leaf after
    its last one.
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


def _leaves_below(tree: Tree) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the line of each leaf, and of each node the first leaf below and the end of these."""
    line = np.zeros(tree.n_nodes, dtype=np.intp)
    line[tree.leaf_ids] = np.arange(tree.n_leaves)
    first = np.where(tree.is_leaf, line, tree.n_leaves)
    last = np.where(tree.is_leaf, line + 1, 0)
    for node in range(tree.n_nodes - 1, 0, -1):
        above = tree.parent[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
    return line, first, last


@dataclass(frozen=True, eq=False)
class Stability:
    """What of a tree recurred in trees grown on random halves of its rows.

    - `n_trees`: trees on halves of the rows.
    - `returned`, shape (n_nodes,): in how many of them the split of an inner node recurred; NaN for
      leaves.
    - `kept`, shape (n_nodes,): mean share of the rows of a leaf that kept their predicted class in
      them; NaN for inner nodes and for leaves without rows.
    """

    n_trees: int
    returned: FloatArray
    kept: FloatArray

    @property
    def n_splits(self) -> int:
        """The number of splits of the tree."""
        return int(np.count_nonzero(~np.isnan(self.returned)))

    @property
    def n_returning(self) -> int:
        """How many of them returned in more than half of the trees."""
        return int(np.count_nonzero(self.returned > self.n_trees / 2))

    def sentence(self) -> str:
        """How many of its splits returned."""
        if not self.n_splits:
            return "The tree has no split."
        trees = f"{self.n_trees} trees grown on random halves of the rows"
        if self.n_splits == 1:
            return f"Its only split returned in {np.nanmax(self.returned):.0f} of {trees}."
        splits = f"{self.n_returning or 'None'} of its {self.n_splits} splits"
        return f"{splits} returned in more than half of {trees}."

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        values: dict[str, Any] = {"n_trees": self.n_trees}
        for name in ("returned", "kept"):
            numbers = getattr(self, name).tolist()
            values[name] = [None if np.isnan(value) else value for value in numbers]
        return values

    @classmethod
    def from_plain(cls, written: Any, tree: Tree) -> "Stability | None":
        """Restore what a model file has; None if it has none."""
        if written is None:
            return None
        try:
            n_trees = int(written["n_trees"])
            returned, kept = (
                np.array([np.nan if value is None else value for value in written[name]], float)
                for name in ("returned", "kept")
            )
        except (TypeError, ValueError, KeyError, OverflowError):
            raise Damaged("its stability cannot be read") from None
        if {returned.shape, kept.shape} != {(tree.n_nodes,)}:
            raise Damaged("its stability is not that of its nodes")
        if np.any(np.isnan(returned) != tree.is_leaf) or not np.isnan(kept[~tree.is_leaf]).all():
            raise Damaged("its stability is not that of its nodes")
        of_splits = returned[~tree.is_leaf]
        is_count = (of_splits >= 0) & (of_splits <= n_trees) & (of_splits == np.floor(of_splits))
        if n_trees < 1 or not is_count.all() or np.any((kept < 0) | (kept > 1)):
            raise Damaged("its stability is not one of trees and shares")
        return cls(n_trees, returned, kept)


def stability_of(
    tree: Tree, leaf_of: NDArray[np.int64], recurrences: Iterable[Recurrence]
) -> Stability | None:
    """Count what recurred in other trees; None without other trees."""
    n_trees, returned, n_kept = 0, np.zeros(tree.n_nodes), np.zeros(len(leaf_of))
    for each in recurrences:
        n_trees, returned, n_kept = n_trees + 1, returned + each.splits, n_kept + each.rows
    if not n_trees:
        return None
    in_leaf = np.bincount(leaf_of, minlength=tree.n_nodes)
    sums = np.bincount(leaf_of, n_kept, minlength=tree.n_nodes)
    kept = np.divide(sums, n_trees * in_leaf, out=np.full(tree.n_nodes, np.nan), where=in_leaf > 0)
    return Stability(n_trees, np.where(tree.is_leaf, np.nan, returned), kept)


@dataclass(frozen=True, eq=False, repr=False)
class SplitTable(ColumnTable):
    """One row per split: in how many trees grown on random halves of the rows it returned.

    - `node`: node number.
    - `test`: the test of its first branch.
    - `n`: rows of the node.
    - `returned`, `trees`: the trees in which it returned, of so many.
    - `share`, `low`, `high`: the share of these trees, with Wilson's 95 % interval for the share of
      all halves.
    - `summary`: how many of the splits returned in more than half of the trees.
    """

    node: NDArray[np.intp]
    test: NDArray[np.object_]
    n: FloatArray
    returned: NDArray[np.int64]
    trees: NDArray[np.int64]
    share: FloatArray
    low: FloatArray
    high: FloatArray
    summary: str

    def notes(self) -> list[str]:
        """Lines below the table."""
        return [self.summary]


def split_table(tree: Tree, schema: Schema, stability: Stability) -> SplitTable:
    """Return the splits of a tree with what was observed of them."""
    inner = np.flatnonzero(~tree.is_leaf)
    tests = [
        branch_tests(tree, node, schema.columns[tree.feature[node]])[0] for node in inner.tolist()
    ]
    returned = stability.returned[inner]
    interval = wilson(returned, np.full(len(inner), stability.n_trees))
    return SplitTable(
        node=inner,
        test=np.array(tests, dtype=object),
        n=tree.class_counts[inner].sum(axis=1),
        returned=returned.astype(np.int64),
        trees=np.full(len(inner), stability.n_trees),
        share=returned / stability.n_trees,
        low=np.asarray(interval.low),
        high=np.asarray(interval.high),
        summary=stability.sentence(),
    )

"""What the slow trees are made of: a table, tests, nodes, and how rows go through them.

A row with a missing value is in several branches with a part of its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

TOLERANCE = 1e-6  # two weights, gains or estimates closer than this are the same


def greater(a, b):
    """By more than the tolerance; in this form, since `a > b + tolerance` rounds differently."""
    return a - b > TOLERANCE


def at_least(a, b):
    """Within the tolerance."""
    return b - a < TOLERANCE


@dataclass(frozen=True)
class Table:
    """Columns of numbers (NaN missing) or category codes (-1 missing), labels as codes, weights.

    `categories[j]` is the number of categories of column j, 0 for a numeric column.
    """

    columns: Sequence[np.ndarray]
    categories: Sequence[int]
    labels: np.ndarray
    n_classes: int
    weights: np.ndarray

    @property
    def whole(self) -> Part:
        """All rows with their weights."""
        return Part(self, np.arange(len(self.labels)), self.weights)


@dataclass(frozen=True)
class Part:
    """Rows of a table, such as those of a node, with the part of their weight that is there."""

    data: Table
    rows: np.ndarray
    weights: np.ndarray

    @property
    def total(self) -> float:
        return self.weights.sum()

    @property
    def counts(self) -> np.ndarray:
        """The weight of each class."""
        return np.bincount(self.data.labels[self.rows], self.weights, self.data.n_classes)

    def values(self, feature: int) -> np.ndarray:
        return self.data.columns[feature][self.rows]

    def known(self, feature: int) -> np.ndarray:
        values = self.values(feature)
        return values >= 0 if self.data.categories[feature] else ~np.isnan(values)

    def where(self, is_in: np.ndarray) -> Part:
        """Those rows; or, by their places, the rows in another order."""
        return Part(self.data, self.rows[is_in], self.weights[is_in])


def table(
    columns: Sequence[Sequence[float]],
    categories: Sequence[int],
    labels: Sequence[int],
    n_classes: int,
    weights: Sequence[float] | None = None,
) -> Table:
    """Rows of weight 0 are no rows: they are dropped here."""
    weight = np.ones(len(labels)) if weights is None else np.asarray(weights, float)
    keep = weight > 0
    typed = [
        np.asarray(column, int if count else float)[keep]
        for column, count in zip(columns, categories, strict=True)
    ]
    return Table(typed, categories, np.asarray(labels, int)[keep], n_classes, weight[keep])


@dataclass(frozen=True)
class Split:
    """A test: `threshold` for numbers (`<=` is branch 0), `branch_of` for category codes.

    Missing values take branch `missing_branch`; if that is -1, they go down all branches.
    """

    feature: int
    n_branches: int
    threshold: float = float("nan")
    branch_of: tuple[int, ...] = ()
    missing_branch: int = -1

    def branches(self, part: Part) -> np.ndarray:
        """The branch of every row, -1 if it goes down all branches."""
        values = part.values(self.feature)
        if self.branch_of:
            branch = np.asarray(self.branch_of)[values]
        else:
            branch = np.where(values <= self.threshold, 0, 1)
        return np.where(part.known(self.feature), branch, self.missing_branch)


@dataclass(frozen=True)
class Node:
    """A leaf, or a test with a child and a share of the known weight for every branch."""

    class_counts: np.ndarray
    split: Split | None = None
    children: list[Node] = field(default_factory=list)
    branch_shares: list[float] = field(default_factory=list)

    @property
    def n(self) -> float:
        return float(self.class_counts.sum())

    @property
    def errors(self) -> float:
        """The weight outside the most frequent class: training errors of this node as a leaf."""
        return self.n - float(self.class_counts.max())

    @property
    def leaves(self) -> list[Node]:
        return [leaf for child in self.children for leaf in child.leaves] or [self]

    @property
    def n_nodes(self) -> int:
        return 1 + sum(child.n_nodes for child in self.children)


def divide(split: Split, part: Part) -> tuple[list[float], list[Part]]:
    """Rule 7: the shares of the branches, and the rows and weights that each branch gets."""
    branch = split.branches(part)
    heavy = np.bincount(branch[branch >= 0], part.weights[branch >= 0], split.n_branches)
    if heavy.sum() > 0:
        shares = heavy / heavy.sum()
    else:  # no value is known here: equal shares
        shares = np.full(split.n_branches, 1 / split.n_branches)
    parts = []
    for number, share in enumerate(shares):
        mine = np.where(branch == number, 1.0, np.where(branch < 0, share, 0.0))
        parts.append(Part(part.data, part.rows, part.weights * mine).where(part.weights * mine > 0))
    return shares.tolist(), parts


def predict_proba(tree: Node, data: Table, *, laplace: bool = False) -> np.ndarray:
    """Class probabilities of every row of the table."""
    out = np.zeros((len(data.labels), data.n_classes))
    shares = Part(data, np.arange(len(out)), np.ones(len(out)))
    add_proba(out, tree, shares, tree.class_counts, laplace)
    return out


def add_proba(
    out: np.ndarray, node: Node, part: Part, parent_counts: np.ndarray, laplace: bool
) -> None:
    """Add what the leaves below this node say of the shares of rows that reach it."""
    counts = node.class_counts if node.n > 0 else parent_counts
    if node.split is None:
        smoothed = counts + 1 if laplace else counts
        out[part.rows] += np.outer(part.weights, smoothed / smoothed.sum())
        return
    branch = node.split.branches(part)
    for number, child in enumerate(node.children):
        share = np.where(branch == number, 1.0, np.where(branch < 0, node.branch_shares[number], 0))
        passed = Part(part.data, part.rows, part.weights * share)
        add_proba(out, child, passed.where(passed.weights > 0), counts, laplace)

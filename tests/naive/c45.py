"""C4.5 as plainly as it can be written: the oracle of the tree kernel, rule by rule of docs/c45.md.

A node's rows are two arrays, row numbers and weights: a row with a missing value is in several
branches with a part of its weight. Speed does not matter here, being readable beside the rules does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isfinite, log1p, log2
from typing import Literal

import numpy as np

TOLERANCE = 1e-6  # two weights, gains or estimates closer than this are the same
SMALLEST_GAP = 1e-5  # gain_ratio never cuts between values closer than this
NOISE = 5e-7  # a threshold is raised to the largest value of its column that is this close
TIE = 1e-10  # gini, entropy: decreases closer than this share of the node's impurity are the same


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

    def known(self, feature: int, rows: np.ndarray) -> np.ndarray:
        values = self.columns[feature][rows]
        return values >= 0 if self.categories[feature] else ~np.isnan(values)

    def counts(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return np.bincount(self.labels[rows], weights, self.n_classes)


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
class Rules:
    """What the user of the tree can choose."""

    criterion: Literal["gain_ratio", "entropy", "gini"] = "gain_ratio"
    categorical_split: Literal["multiway", "subset"] = "multiway"
    max_depth: int | None = None
    min_samples_leaf: float = 2
    collapse: bool = True
    pruning: Literal["pessimistic"] | None = "pessimistic"
    confidence_factor: float = 0.25


@dataclass(frozen=True)
class Split:
    """A test: `threshold` for numbers (`<=` is branch 0), `branch_of[code]` for categories (-1: none)."""

    feature: int
    n_branches: int
    threshold: float = float("nan")
    branch_of: tuple[int, ...] = ()

    def branches(self, data: Table, rows: np.ndarray) -> np.ndarray:
        """The branch of every row, -1 where the value is missing or has no branch."""
        values = data.columns[self.feature][rows]
        if self.branch_of:
            return np.where(values >= 0, np.asarray(self.branch_of)[values], -1)
        return np.where(np.isnan(values), -1, np.where(values <= self.threshold, 0, 1))


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
        """The weight outside the most frequent class: the training errors of this node as a leaf."""
        return self.n - float(self.class_counts.max())

    @property
    def leaves(self) -> list[Node]:
        return [leaf for child in self.children for leaf in child.leaves] or [self]

    @property
    def n_nodes(self) -> int:
        return 1 + sum(child.n_nodes for child in self.children)


def fit(data: Table, rules: Rules | None = None) -> Node:
    """The whole of C4.5: grow, collapse, prune."""
    from tests.naive.pessimistic import prune

    rules = rules or Rules()
    rows = np.arange(len(data.labels))
    tree = grow(data, rows, data.weights, rules)
    if rules.collapse:
        tree = collapse(tree)
    if rules.pruning == "pessimistic":
        tree = prune(tree, data, rows, data.weights, rules.confidence_factor)
    return tree


# Rules 1 and 7: growing


def grow(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules, depth: int = 0) -> Node:
    leaf = Node(data.counts(rows, weights))
    if depth == rules.max_depth or greater(2 * rules.min_samples_leaf, leaf.n):
        return leaf
    if at_least(0.0, leaf.errors):  # one class is left
        return leaf
    choose = c45_split if rules.criterion == "gain_ratio" else purest_split
    split = choose(data, rows, weights, rules)
    if split is None:
        return leaf
    shares, parts = divide(split, data, rows, weights)
    children = [grow(data, *part, rules, depth + 1) for part in parts]
    return replace(leaf, split=split, children=children, branch_shares=shares)


def divide(
    split: Split, data: Table, rows: np.ndarray, weights: np.ndarray
) -> tuple[list[float], list[tuple[np.ndarray, np.ndarray]]]:
    """Rule 7: the shares of the branches, and the rows and weights that each branch gets."""
    branch = split.branches(data, rows)
    heavy = np.bincount(branch[branch >= 0], weights[branch >= 0], split.n_branches)
    if heavy.sum() > 0:
        shares = heavy / heavy.sum()
    else:  # no value is known here: equal shares
        shares = np.full(split.n_branches, 1 / split.n_branches)
    parts = []
    for number, share in enumerate(shares):
        part = np.where(branch == number, weights, np.where(branch < 0, weights * share, 0.0))
        parts.append((rows[part > 0], part[part > 0]))
    return shares.tolist(), parts


# Rules 2 to 6: the split that C4.5 chooses


@dataclass(frozen=True)
class Candidate:
    """The best split of one column, its gain and its split information."""

    split: Split
    gain: float
    split_information: float


def c45_split(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules) -> Split | None:
    found = []
    for feature, n_categories in enumerate(data.categories):
        if not n_categories:
            candidate = c45_threshold(data, feature, rows, weights, rules.min_samples_leaf)
        elif rules.categorical_split == "multiway":
            candidate = c45_multiway(data, feature, rows, weights, rules.min_samples_leaf)
        else:
            candidate = c45_subset(data, feature, rows, weights, rules.min_samples_leaf)
        if candidate is not None and greater(candidate.gain, 0.0):  # rule 4
            found.append(candidate)
    return best_gain_ratio(data, found)


def best_gain_ratio(data: Table, found: list[Candidate]) -> Split | None:
    """Rule 5: of the gains that reach the average, the highest gain ratio; the first column on ties."""
    if not found:
        return None
    many = 0.3 * data.weights.sum()
    few_valued = [count < many for count in data.categories]
    averaged = [c.gain for c in found if few_valued[c.split.feature] or not any(few_valued)]
    average = sum(averaged) / len(averaged) if averaged else 0.0
    best_ratio, best = 0.0, None
    for candidate in found:
        if candidate.gain < average - 1e-3 or candidate.split_information <= 0:
            continue
        ratio = candidate.gain / candidate.split_information
        if greater(ratio, best_ratio):
            best_ratio, best = ratio, candidate.split
    return best


def c45_multiway(
    data: Table, feature: int, rows: np.ndarray, weights: np.ndarray, least: float
) -> Candidate | None:
    """Rule 2: one branch a category, also for those without rows here."""
    n_categories = data.categories[feature]
    counts = counts_by_category(data, feature, rows, weights)
    if at_least(counts.sum(1), least).sum() < 2:
        return None
    split = Split(feature, n_categories, branch_of=tuple(range(n_categories)))
    return Candidate(split, gain(counts, weights.sum()), split_information(counts, weights.sum()))


def c45_threshold(
    data: Table, feature: int, rows: np.ndarray, weights: np.ndarray, least: float
) -> Candidate | None:
    """Rule 3, and rule 6 for the threshold."""
    total = weights.sum()
    values, left = counts_up_to_each_row(data, feature, rows, weights)
    if len(values) == 0:
        return None
    all_known = left[-1]
    smallest_side = 0.1 * all_known.sum() / data.n_classes
    smallest_side = least if smallest_side <= least else min(smallest_side, 25)

    sides = np.stack([left, all_known - left], axis=1)  # of a cut after each row
    is_candidate = np.append(values[:-1] + SMALLEST_GAP < values[1:], False)
    is_candidate &= at_least(sides.sum(2).min(1), smallest_side)
    gains = gain(sides, total)
    best_gain, best_row = 0.0, -1
    for row in np.flatnonzero(is_candidate):
        if greater(gains[row], best_gain):
            best_gain, best_row = gains[row], row
    if best_row < 0:
        return None
    below, above = float(values[best_row]), float(values[best_row + 1])
    return Candidate(
        Split(feature, 2, c45_cut(below, above, data.columns[feature])),
        best_gain - log2(is_candidate.sum()) / total,
        split_information(sides[best_row], total),
    )


def c45_cut(below: float, above: float, column: np.ndarray) -> float:
    """Rule 6: what J48 prints, then never below the cut and not amidst values that differ by noise."""
    middle = (below + above) / 2
    largest = -np.inf
    for value in column.tolist():
        if greater(value, largest) and at_least(middle, value) and value < above:
            largest = value
    largest = max(largest, below)
    return max(v for v in column.tolist() if v <= largest or v - largest < NOISE)


def c45_subset(
    data: Table, feature: int, rows: np.ndarray, weights: np.ndarray, least: float
) -> Candidate | None:
    """The grouping of most gain; choosing one of 2^(q - 1) - 1 groupings costs as in rule 3."""
    total = weights.sum()
    counts = counts_by_category(data, feature, rows, weights)
    best_gain, best = 0.0, None
    for split, sides in groupings(feature, counts):
        if not at_least(sides.sum(1).min(), least):
            continue
        this_gain = gain(sides, total)
        if greater(this_gain, best_gain):
            best_gain, best = this_gain, (split, sides)
    if best is None:
        return None
    present = int((counts.sum(1) > 0).sum())
    cost = (present - 1) + log1p(-(2.0 ** (1 - present))) / np.log(2)
    return Candidate(best[0], best_gain - cost / total, split_information(best[1], total))


# Entropy and gini: the purest split, without C4.5's guards


def purest_split(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules) -> Split | None:
    """The legal split of largest decrease; the first column, then the lowest cut, on ties."""
    impurity = {"entropy": entropy, "gini": gini}[rules.criterion]
    close = TIE * impurity(data.counts(rows, weights)) / weights.sum()
    best_decrease, best = -np.inf, None
    for feature, n_categories in enumerate(data.categories):
        if not n_categories:
            splits = every_threshold(data, feature, rows, weights)
        else:
            counts = counts_by_category(data, feature, rows, weights)
            one_each = Split(feature, n_categories, branch_of=tuple(range(n_categories)))
            multiway = rules.categorical_split == "multiway"
            splits = [(one_each, counts)] if multiway else groupings(feature, counts)
        for split, sides in splits:
            if at_least(sides.sum(1), rules.min_samples_leaf).sum() < 2:
                continue
            decrease = gain(sides, weights.sum(), impurity)
            if decrease > best_decrease + close:
                best_decrease, best = decrease, split
    return best


def every_threshold(data: Table, feature: int, rows: np.ndarray, weights: np.ndarray):
    """Cuts between all distinct values; a + (b - a) / 2, or a where rounding takes that out of [a, b)."""
    values, left = counts_up_to_each_row(data, feature, rows, weights)
    for row in np.flatnonzero(values[:-1] < values[1:]):
        below, above = float(values[row]), float(values[row + 1])
        middle = below + (above - below) / 2
        threshold = middle if isfinite(middle) and below <= middle < above else below
        yield Split(feature, 2, threshold), np.array([left[row], left[-1] - left[row]])


# What the criteria share: counts, impurities, gains


def counts_by_category(
    data: Table, feature: int, rows: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Class counts of each category, (categories, classes)."""
    known = data.known(feature, rows)
    counts = np.zeros((data.categories[feature], data.n_classes))
    codes, labels = data.columns[feature][rows[known]], data.labels[rows[known]]
    np.add.at(counts, (codes, labels), weights[known])
    return counts


def counts_up_to_each_row(
    data: Table, feature: int, rows: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The known values in rising order, and the class counts of all rows up to each."""
    known = data.known(feature, rows)
    rows, weights = rows[known], weights[known]
    order = np.argsort(data.columns[feature][rows], kind="stable")
    rows, weights = rows[order], weights[order]
    counts = np.zeros((len(rows), data.n_classes))
    counts[np.arange(len(rows)), data.labels[rows]] = weights
    return data.columns[feature][rows], counts.cumsum(0)


def groupings(feature: int, counts: np.ndarray):
    """Every way to send the categories that have rows left or right; the first one goes left."""
    present = np.flatnonzero(counts.sum(1) > 0).tolist()
    for n_right in range(1, len(present)):
        for right in combinations(present[1:], n_right):
            branch_of = tuple(
                -1 if code not in present else int(code in right) for code in range(len(counts))
            )
            sides = np.array([counts[np.equal(branch_of, side)].sum(0) for side in (0, 1)])
            yield Split(feature, 2, branch_of=branch_of), sides


def entropy(counts: np.ndarray) -> np.ndarray:
    """In bits and times the weight, so that it can be added up; the last axis runs over classes."""
    total = counts.sum(-1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    return -(counts * np.log2(share)).sum(-1)


def gini(counts: np.ndarray) -> np.ndarray:
    """Times the weight, as entropy is."""
    total = counts.sum(-1)
    squares = (counts**2).sum(-1)
    return total - np.divide(squares, total, out=np.zeros_like(total), where=total > 0)


def gain(branches: np.ndarray, total: float, impurity=entropy) -> np.ndarray:
    """Decrease of impurity among the rows whose value is known, over the node's whole weight.

    `branches` are class counts (..., branches, classes).
    """
    return (impurity(branches.sum(-2)) - impurity(branches).sum(-1)) / total


def split_information(branches: np.ndarray, total: float) -> float:
    """Rule 4: the entropy of the branches and, as one more branch, the unknown weight."""
    weights = branches.sum(-1)
    return float(entropy(np.append(weights, max(total - weights.sum(), 0.0))) / total)


# Rule 8: collapse


def collapse(node: Node) -> Node:
    """Top-down: a subtree that does not lower the training errors by 1e-3 becomes a leaf."""
    if not node.children:
        return node
    if sum(leaf.errors for leaf in node.leaves) >= node.errors - 1e-3:
        return Node(node.class_counts)
    return replace(node, children=[collapse(child) for child in node.children])


# Rule 10: prediction


def predict_proba(tree: Node, data: Table, *, laplace: bool = False) -> np.ndarray:
    """Class probabilities of every row of the table."""
    rows = np.arange(len(data.labels))
    out = np.zeros((len(rows), data.n_classes))
    add_proba(out, tree, data, rows, np.ones(len(rows)), tree.class_counts, laplace)
    return out


def add_proba(
    out: np.ndarray,
    node: Node,
    data: Table,
    rows: np.ndarray,
    shares: np.ndarray,
    parent_counts: np.ndarray,
    laplace: bool,
) -> None:
    """Add what the leaves below this node say of the shares of rows that reach it."""
    counts = node.class_counts if node.n > 0 else parent_counts
    if node.split is None:
        smoothed = counts + 1 if laplace else counts
        out[rows] += np.outer(shares, smoothed / smoothed.sum())
        return
    branch = node.split.branches(data, rows)
    for number, child in enumerate(node.children):
        passed = np.where(branch == number, shares, 0.0)
        passed[branch < 0] = shares[branch < 0] * node.branch_shares[number]
        there = passed > 0
        add_proba(out, child, data, rows[there], passed[there], counts, laplace)

"""The split of a node: rules 2 to 6 of docs/c45.md, and the purest split for entropy and gini."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, log, log1p, log2
from typing import Literal

import numpy as np

from tests.naive.tree import Split, Table, at_least, greater

SMALLEST_GAP = 1e-5  # gain_ratio never cuts between values closer than this
NOISE = 5e-7  # a threshold is raised to the largest value of its column that is this close
TIE = 1e-10  # gini, entropy: decreases closer than this share of the node's impurity are the same


@dataclass(frozen=True)
class Rules:
    """What the user of the tree can choose."""

    criterion: str = "gain_ratio"
    categorical_split: Literal["multiway", "subset"] = "multiway"
    max_depth: int | None = None
    min_samples_leaf: float = 2
    collapse: bool = True
    pruning: Literal["pessimistic"] | None = "pessimistic"
    confidence_factor: float = 0.25


# Rules 2 to 6: the split that C4.5 chooses


@dataclass(frozen=True)
class Candidate:
    """The best split of one column; of a numeric one, the values beside the cut."""

    split: Split
    gain: float
    split_information: float
    cut: tuple[float, float] | None = None


def c45_split(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules) -> Split | None:
    found = []
    for feature, n_categories in enumerate(data.categories):
        if not n_categories:
            candidate = c45_threshold(data, feature, rows, weights, rules.min_samples_leaf)
        elif rules.categorical_split == "multiway":
            candidate = c45_multiway(data, feature, rows, weights, rules.min_samples_leaf)
        else:
            candidate = c45_subset(data, feature, rows, weights, rules.min_samples_leaf)
        if candidate is not None:
            found.append(candidate)
    best = best_gain_ratio(data, found)
    if best is None or best.cut is None:
        return best and best.split
    return replace(best.split, threshold=c45_cut(best.cut, data.columns[best.split.feature]))


def best_gain_ratio(data: Table, found: list[Candidate]) -> Candidate | None:
    """Rule 5: the highest gain ratio of the gains that reach the average; the first on ties."""
    many = 0.3 * data.weights.sum()
    few_valued = [greater(many, count) for count in data.categories]
    averaged = [c.gain for c in found if few_valued[c.split.feature] or not any(few_valued)]
    if not averaged:
        return None
    average = sum(averaged) / len(averaged)
    best_ratio, best = 0.0, None
    for candidate in found:
        if candidate.gain < average - 1e-3 or candidate.split_information <= 0:
            continue
        ratio = candidate.gain / candidate.split_information
        if greater(ratio, best_ratio):
            best_ratio, best = ratio, candidate
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
    """Rule 3."""
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
    gain_after_choice = best_gain - log2(is_candidate.sum()) / total
    if not greater(gain_after_choice, 0.0):  # rule 4
        return None
    information = split_information(sides[best_row], total)
    return Candidate(Split(feature, 2), gain_after_choice, information, (below, above))


def c45_cut(cut: tuple[float, float], column: np.ndarray) -> float:
    """Rule 6: the value J48 prints, kept from falling among values that differ by noise."""
    below, above = cut
    largest = -np.inf
    with np.errstate(invalid="ignore", over="ignore"):  # of two infinities none is greater
        left = column[at_least(midpoint(below, above), column) & (column < above)]
        while (higher := greater(left, largest)).any():
            left = left[np.argmax(higher) :]  # go on from the next row with a greater value
            largest = left[0]
        largest = max(largest, below)
        return float(column[(column == largest) | (column - largest < NOISE)].max())


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
    bits = (present - 1) + log1p(-(2.0 ** (1 - present))) / log(2)  # log2(2^(q - 1) - 1)
    gain_after_choice = best_gain - bits / total
    if not greater(gain_after_choice, 0.0):
        return None
    return Candidate(best[0], gain_after_choice, split_information(best[1], total))


# Entropy and gini: the purest split, without C4.5's guards


def purest_split(data: Table, rows: np.ndarray, weights: np.ndarray, rules: Rules) -> Split | None:
    """The legal split of largest decrease; the first column, then the lowest cut, on ties."""
    impurity = IMPURITIES[rules.criterion]
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
    """Cuts at the midpoints of distinct values."""
    values, left = counts_up_to_each_row(data, feature, rows, weights)
    for row in np.flatnonzero(values[:-1] < values[1:]):
        threshold = midpoint(float(values[row]), float(values[row + 1]))
        yield Split(feature, 2, threshold), np.array([left[row], left[-1] - left[row]])


def midpoint(below: float, above: float) -> float:
    """In [below, above): the lower value where floating point has nothing between."""
    middle = (below + above) / 2
    if not isfinite(middle):  # the sum is beyond the numbers, or there is an infinity
        middle = below / 2 + above / 2
    return middle if below <= middle < above else below


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


IMPURITIES = {"gain_ratio": entropy, "entropy": entropy, "gini": gini}


def gain(branches: np.ndarray, total: float, impurity=entropy) -> np.ndarray:
    """Decrease of impurity among the rows whose value is known, over the node's whole weight.

    `branches` are class counts (..., branches, classes).
    """
    return (impurity(branches.sum(-2)) - impurity(branches).sum(-1)) / total


def split_information(branches: np.ndarray, total: float) -> float:
    """Rule 4: the entropy of the branches and, as one more branch, the unknown weight."""
    weights = branches.sum(-1)
    return float(entropy(np.append(weights, max(total - weights.sum(), 0.0))) / total)

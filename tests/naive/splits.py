"""The split of a node: rules 2 to 6 of docs/c45.md, and the purest split for entropy and gini."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, log, log1p, log2
from typing import Literal

import numpy as np

from tests.naive.tree import Part, Split, Table, at_least, greater

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
    missing: Literal["fraction", "branch"] = "fraction"
    thresholds: Literal["c45", "midpoint", "observed"] | None = None
    max_leaves: int | None = None
    max_features: int | None = None
    seed: int = 0
    tree: int = 0
    category_penalty: float = 0
    monotone: tuple[tuple[int, ...], ...] | None = None
    collapse: bool = True
    pruning: Literal["pessimistic"] | None = "pessimistic"
    confidence_factor: float = 0.25

    @property
    def threshold_rule(self) -> str:
        """Which number between two neighbouring values is the threshold."""
        if self.thresholds is not None:
            return self.thresholds
        if self.criterion == "gain_ratio":
            return "c45"
        return "observed" if self.missing == "branch" else "midpoint"


# Monotone constraints


@dataclass(frozen=True)
class Limits:
    """Bounds on the class probabilities of a node, and signs per column and class."""

    signs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def allows(self, feature: int, sides: np.ndarray, node: np.ndarray, ordered: bool) -> bool:
        """Branches within the bounds and, along an ordered column, in the right order."""
        p = probabilities(sides, node)
        full = sides.sum(1) > 0
        if np.any(p[full] < self.lower - 1e-12) or np.any(p[full] > self.upper + 1e-12):
            return False
        return not ordered or bool(np.all(self.signs[feature] * (p[1] - p[0]) >= -1e-12))

    def below(self, split: Split, branches: list[np.ndarray]) -> list[Limits]:
        """The limits of the branches, whose class counts are given."""
        if split.branch_of or split.threshold == np.inf:
            return [self] * len(branches)
        left, right = (counts / counts.sum() for counts in branches)
        middle, signs = (left + right) / 2, self.signs[split.feature]
        return [
            replace(
                self,
                lower=np.where(signs < 0, middle, self.lower),
                upper=np.where(signs > 0, middle, self.upper),
            ),
            replace(
                self,
                lower=np.where(signs > 0, middle, self.lower),
                upper=np.where(signs < 0, middle, self.upper),
            ),
        ]


def probabilities(sides: np.ndarray, node: np.ndarray) -> np.ndarray:
    """Of the branches, when missing values have been shared out by weight."""
    known = sides.sum(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = sides / sides.sum(1, keepdims=True)
    return (share * known.sum() + node - known) / node.sum()


# Rules 2 to 6: the split that C4.5 chooses


@dataclass(frozen=True)
class Candidate:
    """The best split of one column; of a numeric one, the values beside the cut."""

    split: Split
    gain: float
    split_information: float
    cut: tuple[float, float] | None = None


def c45_split(part: Part, rules: Rules, features: list[int]) -> tuple[Split, float] | None:
    found = []
    for feature in features:
        n_categories = part.data.categories[feature]
        if rules.missing == "branch":
            candidate = c45_branch(part, feature, rules)
        elif not n_categories:
            candidate = c45_threshold(part, feature, rules)
        elif rules.categorical_split == "multiway":
            candidate = c45_multiway(part, feature, rules.min_samples_leaf)
        else:
            candidate = c45_subset(part, feature, rules.min_samples_leaf)
        if candidate is not None:
            found.append(candidate)
    best = best_gain_ratio(part.data, found)
    if best is None:
        return None
    split = best.split if best.cut is None else with_threshold(best.split, best.cut, part, rules)
    return split, best.gain


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


def c45_multiway(part: Part, feature: int, least: float) -> Candidate | None:
    """Rule 2: one branch a category, also for those without rows here."""
    n_categories = part.data.categories[feature]
    counts = counts_by_category(part, feature)
    if at_least(counts.sum(1), least).sum() < 2:
        return None
    split = Split(feature, n_categories, branch_of=tuple(range(n_categories)))
    return Candidate(split, gain(counts, part.total), split_information(counts, part.total))


def c45_branch(part: Part, feature: int, rules: Rules) -> Candidate | None:
    """Rules 2 to 4 if missing values have a branch: as if every value were known."""
    total, least = part.total, rules.min_samples_leaf
    chosen_from_many = not part.data.categories[feature] or rules.categorical_split == "subset"
    smallest_side = least
    if not part.data.categories[feature] and 0.1 * total / part.data.n_classes > least:
        smallest_side = min(0.1 * total / part.data.n_classes, 25)
    best_gain, best, n_legal = 0.0, None, 0
    for split, sides, cut in branch_splits(part, feature, rules):
        if at_least(sides.sum(1), smallest_side).sum() < 2:
            continue
        n_legal += 1
        this_gain = gain(sides, total)
        if greater(this_gain, best_gain) or not chosen_from_many:
            best_gain, best = this_gain, (split, sides, cut)
    if best is None:
        return None
    split, sides, cut = best
    if chosen_from_many:
        if part.data.categories[feature]:
            present = int((category_counts_with_missing(part, feature) > 0).any(1).sum())
            best_gain -= ((present - 1) + log1p(-(2.0 ** (1 - present))) / log(2)) / total
        else:
            best_gain -= log2(n_legal) / total
        if not greater(best_gain, 0.0):
            return None
    return Candidate(split, best_gain, split_information(sides, total), cut)


def c45_threshold(part: Part, feature: int, rules: Rules) -> Candidate | None:
    """Rule 3."""
    total, least = part.total, rules.min_samples_leaf
    values, left = counts_up_to_each_row(part, feature)
    if len(values) == 0:
        return None
    all_known = left[-1]
    smallest_side = 0.1 * all_known.sum() / part.data.n_classes
    smallest_side = least if smallest_side <= least else min(smallest_side, 25)

    sides = np.stack([left, all_known - left], axis=1)  # of a cut after each row
    is_candidate = np.append(are_apart(values[:-1], values[1:], rules), False)
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


def c45_subset(part: Part, feature: int, least: float) -> Candidate | None:
    """The grouping of most gain; choosing one of 2^(q - 1) - 1 groupings costs as in rule 3."""
    total = part.total
    counts = counts_by_category(part, feature)
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


def purest_split(
    part: Part,
    rules: Rules,
    features: list[int],
    limits: Limits | None = None,
) -> tuple[Split, float] | None:
    """The legal split of largest decrease; the first column, then the lowest cut, on ties."""
    impurity = IMPURITIES[rules.criterion]
    close = TIE * impurity(part.counts) / part.total
    best_decrease, best, best_cut = -np.inf, None, None
    for feature in features:
        cost = penalty(part, feature, rules)
        for split, sides, cut in every_split(part, feature, rules):
            if at_least(sides.sum(1), rules.min_samples_leaf).sum() < 2:
                continue
            node = part.counts
            if limits is not None and not limits.allows(feature, sides, node, cut is not None):
                continue
            decrease = gain(sides, part.total, impurity) - cost
            if decrease > best_decrease + close and (cost == 0 or decrease > close):
                best_decrease, best, best_cut = decrease, split, cut
    if best is None:
        return None
    split = best if best_cut is None else with_threshold(best, best_cut, part, rules)
    return split, best_decrease


def every_split(
    part: Part, feature: int, rules: Rules
) -> Iterator[tuple[Split, np.ndarray, tuple[float, float] | None]]:
    """Every split of a column, its class counts, and the values beside a threshold."""
    n_categories = part.data.categories[feature]
    if rules.missing == "branch":
        yield from branch_splits(part, feature, rules)
    elif not n_categories:
        yield from every_threshold(part, feature, rules)
    else:
        counts = counts_by_category(part, feature)
        one_each = Split(feature, n_categories, branch_of=tuple(range(n_categories)))
        multiway = rules.categorical_split == "multiway"
        for split, sides in [(one_each, counts)] if multiway else groupings(feature, counts):
            yield split, sides, None


def penalty(part: Part, feature: int, rules: Rules) -> float:
    """A multiple of what chance favours a split by categories with."""
    if not part.data.categories[feature] or not rules.category_penalty:
        return 0.0
    counts = category_counts_with_missing(part, feature)
    if rules.missing == "fraction":
        counts = counts[:-1]
    counts = counts[counts.sum(1) > 0]
    if len(counts) < 2:
        return 0.0
    cost = category_cost(counts, rules.criterion, rules.categorical_split == "subset")
    return rules.category_penalty * cost / part.total


def category_cost(counts: np.ndarray, criterion: str, grouped: bool) -> float:
    """The gain that is expected by chance, and for many categories a part of its deviation.

    Gains by chance are like chi-squared numbers with d degrees of freedom: two standard deviations
    above their mean they are d + 2 sqrt(2 d), and those of the best threshold of numbers 8 to 12.
    """
    mean = gain_by_chance(counts, criterion, grouped)
    impurity, n = float(IMPURITIES[criterion](counts.sum(0))), counts.sum()
    unit = 1 / (2 * log(2)) if criterion == "entropy" else impurity / max(n - 1, 1)
    if unit <= 0:
        return mean
    return min(impurity, mean + unit * max(0.0, 2 * np.sqrt(2 * mean / unit) - 8))


def gain_by_chance(counts: np.ndarray, criterion: str, grouped: bool) -> float:
    """The expected gain of a split by categories that have nothing to do with the classes.

    `counts` are class counts by category. For gini, a share (k - 1) / (n - 1) of the impurity is
    expected to be explained by k branches. A grouping in two keeps the largest of the K - 1
    directions of class proportions, and of that 2 / pi if proportions are normal and categories
    many, and all if categories are two, or single rows.
    """
    totals, sizes = counts.sum(0), counts.sum(1)
    n, k = sizes.sum(), len(sizes)
    p = totals[totals > 0] / n
    if len(p) < 2:
        return 0.0
    impurity = float(IMPURITIES[criterion](totals))
    kept, directions = 1.0, float(len(p) - 1)
    if grouped:
        normal = 2 / np.pi + (1 - 2 / np.pi) * 2 / k
        roots = np.sqrt(np.where(sizes <= 1, sizes, sizes * normal + (1 - normal) / sizes))
        kept = min(roots.sum() ** 2 / (n * k), 1)
        directions = min(directions, (1 + np.sqrt(max(directions - 1, 0) / (k - 1))) ** 2)
    if criterion == "entropy":
        large = directions / (2 * log(2))
        small = min(impurity / n, 1) if grouped else impurity / n
        part = np.minimum(1, (2 if small > large and not grouped else 1) / sizes)
        freedom = (k - 1) / k * n / max(n - 1, 1)
        return min(impurity, (large + (small - large) * part).sum() * freedom * kept)
    if grouped:
        eigenvalues = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))
        kept *= min(directions * eigenvalues[-1] / eigenvalues.sum(), 1)
    return impurity * min(min((k - 1) / max(n - 1, 1), 1) * kept, 1)


def every_threshold(part: Part, feature: int, rules: Rules):
    """The cuts between neighbouring values: split, class counts of both sides, the two values."""
    values, left = counts_up_to_each_row(part, feature)
    if len(values) == 0:
        return
    for row in np.flatnonzero(are_apart(values[:-1], values[1:], rules)):
        cut = float(values[row]), float(values[row + 1])
        yield Split(feature, 2), np.array([left[row], left[-1] - left[row]]), cut


def are_apart(below: np.ndarray, above: np.ndarray, rules: Rules) -> np.ndarray:
    """Whether a threshold may lie between two neighbouring values."""
    return below + SMALLEST_GAP < above if rules.threshold_rule == "c45" else below < above


def with_threshold(split: Split, cut: tuple[float, float], part: Part, rules: Rules) -> Split:
    """The split with the number that rows are compared with."""
    below, above = cut
    if rules.threshold_rule == "c45":
        return replace(split, threshold=c45_cut(cut, part.data.columns[split.feature]))
    return replace(
        split, threshold=midpoint(below, above) if rules.threshold_rule == "midpoint" else below
    )


# Missing values with a branch of their own or beside others


def branch_splits(
    part: Part, feature: int, rules: Rules
) -> Iterator[tuple[Split, np.ndarray, tuple[float, float] | None]]:
    """Every split of a column with the branch that missing values take.

    Thresholds first with missing values on the right, then "is it missing?", then thresholds with
    missing values on the left. If no value is missing in the node, a missing value will take the
    branch with most training weight, the first one on ties.
    """
    known = part.known(feature)
    missing = part.where(~known).counts
    any_missing = not known.all()
    if part.data.categories[feature]:
        for split, sides in branch_category_splits(part, feature, rules):
            yield (split if any_missing else heaviest(split, sides)), sides, None
        return
    cuts = list(every_threshold(part, feature, rules))
    if not any_missing:
        for split, sides, cut in cuts:
            yield heaviest(split, sides), sides, cut
        return
    for split, sides, cut in cuts:
        yield replace(split, missing_branch=1), sides + np.array([0 * missing, missing]), cut
    if known.any():
        sides = np.array([part.where(known).counts, missing])
        yield Split(feature, 2, float("inf"), missing_branch=1), sides, None
    for split, sides, cut in cuts:
        yield replace(split, missing_branch=0), sides + np.array([missing, 0 * missing]), cut


def branch_category_splits(
    part: Part, feature: int, rules: Rules
) -> Iterator[tuple[Split, np.ndarray]]:
    """Missing is one more category, the last one."""
    counts = category_counts_with_missing(part, feature)
    n_categories = part.data.categories[feature]
    if rules.categorical_split == "multiway":
        any_missing = not part.known(feature).all()
        n_branches = n_categories + any_missing
        one_each = tuple(range(n_categories))
        missing_branch = n_categories if any_missing else -1
        split = Split(feature, n_branches, branch_of=one_each, missing_branch=missing_branch)
        yield split, counts[:n_branches]
        return
    for split, sides in groupings(feature, counts):
        *branch_of, missing_branch = split.branch_of
        yield replace(split, branch_of=tuple(branch_of), missing_branch=missing_branch), sides


def category_counts_with_missing(part: Part, feature: int) -> np.ndarray:
    """Class counts of each category and, in the last line, of missing values."""
    missing = part.where(~part.known(feature)).counts
    return np.vstack([counts_by_category(part, feature), missing])


def heaviest(split: Split, sides: np.ndarray) -> Split:
    """Missing values take the branch with most weight."""
    weight = sides.sum(1)
    return replace(split, missing_branch=int(np.argmax(weight > weight.max() - TIE * weight.sum())))


def midpoint(below: float, above: float) -> float:
    """In [below, above): the lower value where floating point has nothing between."""
    middle = (below + above) / 2
    if not isfinite(middle):  # the sum is beyond the numbers, or there is an infinity
        middle = below / 2 + above / 2
    return middle if below <= middle < above else below


# What the criteria share: counts, impurities, gains


def counts_by_category(part: Part, feature: int) -> np.ndarray:
    """Class counts of each category, (categories, classes)."""
    known = part.where(part.known(feature))
    counts = np.zeros((part.data.categories[feature], part.data.n_classes))
    np.add.at(counts, (known.values(feature), part.data.labels[known.rows]), known.weights)
    return counts


def counts_up_to_each_row(part: Part, feature: int) -> tuple[np.ndarray, np.ndarray]:
    """The known values in rising order, and the class counts of all rows up to each."""
    known = part.where(part.known(feature))
    known = known.where(np.argsort(known.values(feature), kind="stable"))
    counts = np.zeros((len(known.rows), part.data.n_classes))
    counts[np.arange(len(counts)), part.data.labels[known.rows]] = known.weights
    return known.values(feature), counts.cumsum(0)


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

"""From the counts of a leaf to class probabilities, one small object per estimate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln

from sureleaf import _kernel
from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.levels import estimate_p_max
from sureleaf.levels.decisions import CostRule, cost_rule, predicted_class
from sureleaf.tree import Tree
from sureleaf.tree.structure import row_maxima, row_sums


class LeafEstimate(Protocol):
    """A function from the class counts of all nodes of a tree to their class probabilities.

    Examples
    --------
    >>> class Even:
    ...     def __call__(self, tree, counts):
    ...         return np.full(counts.shape, 1 / counts.shape[1])
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None, leaf_estimate=Even())
    >>> model = model.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.5, 0.5]]
    """

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate; `counts` and the result have one row per node, leaves and inner nodes."""
        ...


@dataclass(frozen=True)
class Frequency:
    """The share of each class: k / n. An empty leaf has its parent's counts.

    Examples
    --------
    The first leaf has two rows, both of class 0:

    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> for estimate in ("frequency", "laplace", "jeffreys", "venn"):
    ...     model.with_leaf_estimate(estimate).predict_proba([[1]]).round(4).tolist()
    [[1.0, 0.0]]
    [[0.75, 0.25]]
    [[0.8333, 0.1667]]
    [[0.8333, 0.1667]]
    """

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts))


@dataclass(frozen=True)
class Laplace:
    """One row of each class added: (k + 1) / (n + K). An empty leaf has its parent's counts."""

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts) + 1.0)


@dataclass(frozen=True)
class Venn:
    """The Venn predictor of a leaf, merged into one probability: (k + 1/K) / (n + 1).

    The new row is given each class in turn, so a class has at least k and at most k + 1 of n + 1
    rows. The mean of these K forecasts lies between the two. `TreeClassifier.predict_venn` returns
    lowest and highest. They are valid for rows that did not grow the tree:
    ``levels_from="honest"``. An empty leaf has its parent's counts.
    """

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts) + 1.0 / counts.shape[1])


@dataclass(frozen=True)
class Jeffreys:
    """Half a row of each class added: (k + 1/2) / (n + K/2), the mean under Jeffreys' prior.

    An empty leaf has its parent's counts.
    """

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts) + 0.5)


@dataclass(frozen=True)
class MEstimate:
    """m rows with the class proportions of all rows added: (k + b m) / (n + m), b the base rate.

    Parameters
    ----------
    m : float, optional
        How many rows; C5.0 uses 1. By default as many as make b m = 10 for the rarest class [1]_.

    References
    ----------
    .. [1] Zadrozny, B., Elkan, C. (2001). Obtaining calibrated probability estimates from decision
       trees and naive Bayesian classifiers. ICML, 609-616.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None, leaf_estimate="m_estimate")
    >>> model = model.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).round(4).tolist()
    [[0.5455, 0.4545]]
    >>> model.with_leaf_estimate(MEstimate(m=1)).predict_proba([[1]]).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    m: float | None = None

    def __post_init__(self) -> None:
        if self.m is not None and not 0 <= self.m < np.inf:
            raise InvalidArgumentError(
                f"m must be a number of rows, 0 or more; got {self.m!r}. C5.0 uses 1."
            )

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        base_rates = _shares(counts[:1])
        m = 10.0 / base_rates[base_rates > 0].min() if self.m is None else self.m
        # An empty leaf has the base rates; with m = 0 it has its parent's counts.
        return _shares(tree.fill_empty(counts) if m == 0 else counts + m * base_rates)


@dataclass(frozen=True)
class Blend:
    """The entropic blend of `sureleaf.levels`, (20) and (21), for the most frequent class.

    With more than two classes this is our extension: the most frequent class and the second share
    their rows as two classes would, several second classes gain equally, and the others keep their
    shares. An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> rows, classes = [[i] for i in range(7)], [1, 1, 1, 0, 0, 1, 1]
    >>> model = TreeClassifier(max_depth=0, leaf_estimate="blend").fit(rows, classes)
    >>> model.predict_proba([[0]]).round(4).tolist()  # 5 of 7
    [[0.2993, 0.7007]]
    """

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        shares = _shares(tree.fill_empty(counts))
        if shares.shape[1] < 2:
            return shares
        total = tree.fill_empty(counts).sum(axis=1)
        line = np.arange(len(shares))
        winner = shares.argmax(axis=1)
        others = shares.copy()
        others[line, winner] = -1.0
        second = others.max(axis=1)
        first = shares[line, winner]
        p_max = np.asarray(estimate_p_max(first * total, (first + second) * total))
        moved = np.maximum(first - (first + second) * p_max, 0.0)
        is_second = others == second[:, np.newaxis]
        shares += is_second * (moved / is_second.sum(axis=1))[:, np.newaxis]
        shares[line, winner] -= moved
        return shares


def _shares(weights: FloatArray) -> FloatArray:
    """Divide each row by its sum; in a tree without rows all classes are equally probable."""
    total = weights.sum(axis=1, keepdims=True)
    even = np.full(weights.shape, 1.0 / weights.shape[1])
    shares: FloatArray = np.divide(weights, total, out=even, where=total > 0)
    return shares


@dataclass(frozen=True)
class PrevalenceMix:
    """The share of each class, mixed with its prevalence: (1 - s) k / n + s b.

    The mixture is the same in every leaf, so a class that does not fall from leaf to leaf does not
    fall after it, either: it keeps the constraints of `monotone`, and no probability is 0.

    Parameters
    ----------
    share : float
        The share s of the prevalence b, the share of the class among all rows.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None, leaf_estimate=PrevalenceMix(0.1))
    >>> model = model.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).round(4).tolist()
    [[0.95, 0.05]]
    """

    share: float = 0.02

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InvalidArgumentError(f"share must be between 0 and 1; got {self.share!r}.")

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        shares = _shares(tree.fill_empty(counts))
        mixed: FloatArray = (1.0 - self.share) * shares + self.share * shares[0]
        return mixed


# ---- estimates that also use the nodes above a leaf ----------------------------------------------


@dataclass(frozen=True)
class Shrinkage:
    """The shares of a leaf shrunk towards those of its parent, which are shrunk likewise.

    p(node) = (k + strength p(parent)) / (n + strength). Above the root all classes are equally
    probable.

    Parameters
    ----------
    strength : float
        How many rows the probabilities of the parent count for.

    References
    ----------
    Ferri, C., Flach, P. A., Hernandez-Orallo, J. (2003). Improving the AUC of
    probabilistic estimation trees. ECML, 121-132.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None, leaf_estimate=Shrinkage(2))
    >>> model = model.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.75, 0.25]]
    """

    strength: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.strength < np.inf:
            raise InvalidArgumentError(
                f"strength must be a number of rows above 0; got {self.strength!r}. "
                "Without shrinkage leaves have their frequencies: leaf_estimate='frequency'."
            )

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        n = row_sums(counts)
        root = (counts[0] + self.strength * (1.0 / counts.shape[1])) / (n[0] + self.strength)
        shrunk: FloatArray = _kernel.shrink_to_parent(
            tree.kernel, np.ascontiguousarray(counts), n, root, self.strength
        )
        shrunk /= row_sums(shrunk)[:, np.newaxis]
        return shrunk


@dataclass(frozen=True)
class Averaging:
    """The mean over all prunings of the tree, each weighted by how well it explains the rows.

    The path from a leaf to the root holds all nodes that the leaf could be pruned to. Each of them
    estimates (k + a) / (n + K a), weighted by the posterior probability that the tree ends there.
    This is a Bayesian average over all subtrees [1]_, computed exactly in one pass up and one pass
    down the tree [2]_. A split was chosen among many, so it has to explain more: its prior odds
    against a leaf are 1 to sqrt(n J), with n rows and J columns.

    Parameters
    ----------
    added : float, optional
        a, the rows of each class that are added to every node. By default 1 / K, one row in total;
        with two classes this is Jeffreys' prior.
    charge : float
        The power of n J in the prior odds against a split: 0 for none, 1 for all possible splits.

    References
    ----------
    .. [1] Buntine, W. (1992). Learning classification trees. Statistics and Computing 2, 63-73.
    .. [2] Willems, F., Shtarkov, Y., Tjalkens, T. (1995). The context-tree weighting method. IEEE
       Transactions on Information Theory 41, 653-664.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X, y = [[i] for i in range(40)], [0] * 20 + [1] * 20
    >>> sure = TreeClassifier(leaf_estimate="averaging").fit(X, y)
    >>> sure.predict_proba([[3]]).round(3).tolist()  # Laplace: 0.955
    [[0.976, 0.024]]
    >>> few = TreeClassifier(pruning=None, leaf_estimate="averaging").fit(X[18:22], y[18:22])
    >>> few.predict_proba([[0]]).round(3).tolist()  # as with Laplace
    [[0.75, 0.25]]
    """

    added: float | None = None
    charge: float = 0.5

    def __post_init__(self) -> None:
        if self.added is not None and not 0 < self.added < np.inf:
            raise InvalidArgumentError(
                f"added must be a number of rows above 0; got {self.added!r}. Jeffreys has 0.5."
            )
        if not 0 <= self.charge < np.inf:
            raise InvalidArgumentError(
                f"charge must be a power, 0 or more; got {self.charge!r}. The default is 0.5."
            )

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        added = 1.0 / counts.shape[1] if self.added is None else self.added
        n = row_sums(counts)
        all_added = counts.shape[1] * added
        as_leaf = (
            gammaln(all_added)
            - _log_gamma(n, all_added)
            + row_sums(_log_gamma(counts, added) - gammaln(added))
        )
        odds = self.charge * np.log(np.maximum(n * tree.n_columns, 1.0))
        averaged: FloatArray = _kernel.average_prunings(
            tree.kernel,
            np.ascontiguousarray(counts, dtype=np.float64),
            as_leaf,
            -np.log1p(np.exp(-odds)),
            -np.log1p(np.exp(odds)),
            added,
        )
        return averaged


_TABLE_SIZE = 256


def _log_gamma(counts: FloatArray, added: float) -> FloatArray:
    """``gammaln(counts + added)``; most counts are small whole numbers, which are looked up."""
    index = np.minimum(counts, _TABLE_SIZE).astype(np.intp)
    values: FloatArray = gammaln(np.arange(_TABLE_SIZE + 1) + added).take(index)
    others = np.nonzero((index == _TABLE_SIZE) | (index != counts))
    values[others] = gammaln(counts[others] + added)
    return values


def _check_estimate(estimate: object) -> None:
    if not callable(estimate):
        raise InvalidTypeError(
            f"estimate must be a leaf estimate, such as Shrinkage(20); got {estimate!r}."
        )


@dataclass(frozen=True)
class KeepMajority:
    """Another estimate, in which the majority class of a node stays the most probable class.

    Smoothing can overturn a leaf: three of its four rows are "yes", but the nodes above it make
    "no" more probable. That puzzles whoever checks the tree, and C4.5 would predict "yes". Here
    the majority class gets the probability of the class that overtook it, and all probabilities are
    scaled to sum to 1: the leaf shows how unsure it is, and predicts its majority.

    Parameters
    ----------
    estimate : LeafEstimate
        The other estimate.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.probability import Shrinkage
    >>> X, y = [[0], [0], [1], [1], [1], [1], [1], [1], [1]], [1, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> model = TreeClassifier(pruning=None, leaf_estimate=Shrinkage(20)).fit(X, y)
    >>> model.predict_proba([[0]]).round(3).tolist()
    [[0.533, 0.467]]
    >>> kept = model.with_leaf_estimate(KeepMajority(Shrinkage(20)))
    >>> kept.predict_proba([[0]]).round(3).tolist(), kept.predict([[0]]).tolist()
    ([[0.5, 0.5]], [1])
    """

    estimate: LeafEstimate

    def __post_init__(self) -> None:
        _check_estimate(self.estimate)

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _keep_majority(self.estimate(tree, counts), tree.fill_empty(counts))


def _keep_majority(probabilities: FloatArray, counts: FloatArray) -> FloatArray:
    majority = counts.argmax(axis=1)
    highest = row_maxima(probabilities)
    overturned = np.flatnonzero(predicted_class(probabilities) != majority)
    kept = probabilities.copy()
    if kept.shape[1] == 2:  # exactly the same tie everywhere, so that rounding does not rank leaves
        kept[overturned] = highest[overturned] = 1.0
    # Slightly above, because the first of equal classes would be predicted.
    kept[overturned, majority[overturned]] = highest[overturned] * (1.0 + 1e-9)
    shares: FloatArray = kept / row_sums(kept)[:, np.newaxis]
    return shares


@dataclass(frozen=True)
class KeepDecision:
    """Another estimate, in which a node stays decided as its own class counts decide it at costs.

    As `KeepMajority`, for unequal costs: where smoothing would overturn the cheapest decision of
    the counts, the probabilities are moved towards the frequencies until it is the cheapest again.

    Parameters
    ----------
    estimate : LeafEstimate
        The other estimate.
    cost : matrix of shape (n_classes, n_classes)
        ``cost[actual][predicted]``.
    """

    estimate: LeafEstimate
    cost: Any

    def __post_init__(self) -> None:
        _check_estimate(self.estimate)
        matrix = cost_rule(self.cost).cost
        object.__setattr__(self, "cost", tuple(map(tuple, matrix.tolist())))

    @cached_property
    def _rule(self) -> CostRule:
        return cost_rule(self.cost)

    def at_costs(self, rule: CostRule | None) -> "KeepDecision | KeepMajority":
        """Return the same for other costs; the majority is kept if all errors cost the same."""
        if rule is None or rule.is_equal:
            return KeepMajority(self.estimate)
        return KeepDecision(self.estimate, rule.cost)

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        return _keep_decision(self.estimate(tree, counts), tree.fill_empty(counts), self._rule)


def _keep_decision(probabilities: FloatArray, counts: FloatArray, rule: CostRule) -> FloatArray:
    frequencies = _shares(counts)
    own = rule.decide(frequencies)
    changed = np.flatnonzero(rule.decide(probabilities) != own)
    if not len(changed):
        return probabilities
    p, f, line = probabilities[changed], frequencies[changed], np.arange(len(changed))
    # What the own decision costs more than each other one, which is linear in between.
    by_p, by_f = (
        (shares @ rule.regret)[line, own[changed]][:, np.newaxis] - shares @ rule.regret
        for shares in (p, f)
    )
    part = np.where(by_p > 0, by_p / np.maximum(by_p - by_f, 1e-300), 0.0).max(axis=1)
    part = np.minimum(part + 1e-9, 1.0)[:, np.newaxis]  # slightly beyond the tie
    moved = (1.0 - part) * p + part * f
    is_kept = rule.decide(moved) == own[changed]
    probabilities = probabilities.copy()
    probabilities[changed] = np.where(is_kept[:, np.newaxis], moved, f)
    return probabilities


ESTIMATES: dict[str, LeafEstimate] = {
    "auto": KeepMajority(Averaging()),
    "frequency": Frequency(),
    "laplace": Laplace(),
    "m_estimate": MEstimate(),
    "jeffreys": Jeffreys(),
    "blend": Blend(),
    "shrinkage": Shrinkage(),
    "averaging": Averaging(),
    "venn": Venn(),
}
"""Estimates by name; docs/probabilities.md shows the measurements behind "auto"."""


def sized_estimate(rule: CostRule | None, strength: float = 10.0) -> LeafEstimate:
    """Return the estimate of trees whose size is chosen, which keeps the decisions at costs.

    By the default strength cross-validation chooses the size. What "auto" is for such trees has a
    strength of its own, which cross-validation chooses, too.
    """
    shrinkage = Shrinkage(strength)
    return KeepMajority(shrinkage) if rule is None else KeepDecision(shrinkage, rule.cost)


def sized_probabilities(
    tree: Tree, rule: CostRule | None, strengths: Sequence[float]
) -> FloatArray:
    """Return the class probabilities of `sized_estimate` at each strength, for every node."""
    counts = tree.class_counts
    shrunk = np.concatenate([Shrinkage(strength)(tree, counts) for strength in strengths])
    filled = np.tile(tree.fill_empty(counts), (len(strengths), 1))
    kept = _keep_majority(shrunk, filled) if rule is None else _keep_decision(shrunk, filled, rule)
    return kept.reshape(len(strengths), *counts.shape)


def find_estimate(estimate: object) -> LeafEstimate:
    """Look up an estimate by its name, or take an object that is one."""
    if isinstance(estimate, str):
        if estimate not in ESTIMATES:
            names = ", ".join(ESTIMATES)
            raise InvalidArgumentError(
                f"leaf_estimate must be one of {names}, or an object called with a tree and its "
                f"counts; got {estimate!r}."
            )
        return ESTIMATES[estimate]
    if isinstance(estimate, type) or not callable(estimate):
        raise InvalidArgumentError(
            "leaf_estimate must be a name or an object called with a tree and its counts; got "
            f"{estimate!r}. A class is not yet an object: add ()."
        )
    own: LeafEstimate = estimate
    return own


def is_built_in(estimate: LeafEstimate) -> bool:
    """Whether an estimate is one of this package, which cannot fail."""
    if isinstance(estimate, KeepMajority | KeepDecision) and type(estimate).__module__ == __name__:
        return is_built_in(estimate.estimate)
    known = {type(known) for known in ESTIMATES.values()} | {PrevalenceMix}
    return type(estimate) in known - {KeepMajority}

"""Levels of the nodes of a tree: probability, confidence, utility and intervals."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from sureleaf.levels import class_confidence, class_utility, estimate_p_max, sample_size
from sureleaf.levels.decisions import (
    CostRule,
    decision_levels,
    decision_sample_size,
    decision_tie,
)
from sureleaf.levels.intervals import clopper_pearson_limits
from sureleaf.levels.planning import min_rows
from sureleaf.levels.plurality import winner_of_utility
from sureleaf.probability import predicted_class

__all__ = ["NodeLevels", "levels_of_accuracy", "levels_of_counts"]


FloatArray = NDArray[np.float64]

_NO_LEAD = 1e-9
"""Two classes whose probabilities differ by less tie."""


@dataclass(frozen=True, eq=False)
class NodeLevels:
    """Levels of every node, leaves and inner nodes, for the class that it predicts.

    Parameters
    ----------
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that the node predicts.
    n : ndarray of float64, shape (n_nodes,)
        Rows that its levels are computed for: its weight, or its effective rows.
    probability : ndarray of float64, shape (n_nodes,)
        Probability of the predicted class: p_max of the theory.
    confidence, utility : ndarray of float64, shape (n_nodes,)
        (5) and (6) for it; the K-class forms for more classes.
    others : ndarray of float64, shape (n_nodes, n_classes)
        How the other classes share the rest of the probability; 0 for the predicted class.
    successes, trials : ndarray of float64, shape (n_nodes,)
        What the intervals come from.
    from_counts : bool
        Whether these are counts of rows, or an accuracy times its strength.
    below : ndarray of bool, shape (n_nodes,)
        Nodes that are correct less often than a tie between classes would be.
    rule : CostRule or None
        The costs, if errors have different costs. Then confidence is the probability that the
        decision is the cheapest one, and utility is the expected saving.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.leaves().confidence.round(3).tolist()
    [1.0, 1.0]
    """

    predicted: NDArray[np.intp]
    n: FloatArray
    probability: FloatArray
    confidence: FloatArray
    utility: FloatArray
    others: FloatArray
    successes: FloatArray
    trials: FloatArray
    from_counts: bool
    below: NDArray[np.bool_]
    rule: CostRule | None = None
    _intervals: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.others.shape[1])

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Bounds of the probability of the predicted class.

        From counts, the bounds of Clopper and Pearson; from an accuracy, the quantiles of a beta
        distribution of the utility, turned into the probabilities that have these utilities.
        """
        if level not in self._intervals:
            self._intervals[level] = self._bounds(level)
        return self._intervals[level]

    def _bounds(self, level: float) -> tuple[FloatArray, FloatArray]:
        tail = (1.0 - level) / 2
        y, misses = self.successes, self.trials - self.successes
        if self.n_classes == 1:
            return np.ones(len(y)), np.ones(len(y))
        if self.from_counts:
            low, high = clopper_pearson_limits(y, self.trials, np.asarray(tail))
        elif self.rule is not None:
            low, high = betaincinv(y, misses, tail), betainccinv(y, misses, tail)
        else:
            useful = betaincinv(y, misses, tail)
            low = winner_of_utility(self.n, useful, self._weights())[0]
            # In a tie the counts do not tell how the classes share it: p_max may be as low as
            # 1 / K, and it is never below the utility.
            tie = _tie(self._weights())
            low = np.where(low > tie, low, np.clip(useful, 1.0 / self.n_classes, tie))
            high = winner_of_utility(self.n, betainccinv(y, misses, tail), self._weights())[0]
        return np.minimum(low, self.probability), np.maximum(high, self.probability)

    def rows_needed(
        self, nodes: NDArray[np.intp], confidence: float | None, utility: float | None
    ) -> FloatArray:
        """Return the rows with which these nodes reach the levels; NaN where no number does."""
        if confidence is None and utility is None:
            return np.zeros(len(nodes))
        p = self.probability[nodes]
        if self.n_classes == 1:
            return np.zeros(len(nodes))
        if self.n_classes == 2:
            cut = 0.5 if self.rule is None else self.rule.thresholds(self.predicted[nodes])
            needed = sample_size(p, confidence=confidence, utility=utility, threshold=cut)
            return np.asarray(needed, dtype=float)
        if self.rule is not None:
            return decision_sample_size(
                p,
                self.predicted[nodes],
                self.others[nodes],
                self.rule,
                confidence=confidence or 0.0,
                utility=utility or 0.0,
            )
        return _class_sample_size(self.vectors()[nodes], confidence or 0.0, utility or 0.0)

    def utilities(self) -> FloatArray:
        """Return the utility of every node if it decided for each of the classes."""
        if self.rule is None:
            return self.spread(self.utility, 1.0 - self.utility)
        values: FloatArray = self.vectors() @ self.rule.saving
        values[np.arange(len(values)), self.predicted] = self.utility
        return values

    def utility_as(self, leaf: int, above: int) -> float:
        """Return the utility of the rows of a leaf as part of a node above.

        With costs it is what they save by the decision of that node: leaves that make different
        decisions save different amounts, so the utility of the node says little about one of them.
        """
        if self.rule is None:
            return float(self.utility[above])
        return float(self.utilities()[leaf, self.predicted[above]])

    def unseen_vectors(self) -> FloatArray:
        """Shares of the classes among unseen rows, also where a node is right less than a tie."""
        empty = self.probability.copy()
        accuracy = np.divide(self.successes, self.trials, out=empty, where=self.trials > 0)
        return self.spread(accuracy, 1.0 - accuracy)

    def vectors(self) -> FloatArray:
        """Probabilities of all classes of every node."""
        return self.spread(self.probability, 1.0 - self.probability)

    def spread(self, predicted: FloatArray, rest: FloatArray) -> FloatArray:
        """Give the predicted class of each node one value, and share the rest among the others."""
        values = self.others * rest[:, np.newaxis]
        values[np.arange(len(values)), self.predicted] = predicted
        return values

    def _weights(self) -> FloatArray:
        return _without(self.others, self.predicted)


def levels_of_counts(
    counts: FloatArray,
    n: FloatArray,
    probabilities: FloatArray,
    rule: CostRule | None = None,
) -> NodeLevels:
    """Return the levels of nodes by the theory for rows that fall into fixed nodes.

    With two classes p_max is the blend (20) of the counts; with more, the share of the
    predicted class with one row of each added.

    Parameters
    ----------
    counts : ndarray of shape (n_nodes, n_classes)
        Class counts.
    n : ndarray of shape (n_nodes,)
        Rows, or effective rows, of each node.
    probabilities : ndarray of shape (n_nodes, n_classes)
        By which the node predicts.
    rule : CostRule, optional
        The costs, if errors have different costs.

    Returns
    -------
    NodeLevels

    Examples
    --------
    >>> levels = levels_of_counts(np.array([[2.0, 5]]), np.array([7.0]), np.array([[0.3, 0.7]]))
    >>> levels.probability.round(4), levels.confidence.round(4), levels.utility.round(4)
    (array([0.7007]), array([0.8748]), array([0.6504]))
    """
    predicted, others = _prediction(counts, probabilities, rule)
    n_classes = counts.shape[1]
    own = counts[np.arange(len(counts)), predicted]
    y = _counted(counts, n, predicted)
    if n_classes == 1:
        return _certain(predicted, n, others)
    smooth = (y + 1.0) / (n + n_classes)
    if rule is not None:
        tie = decision_tie(predicted, others, rule)
        p = np.maximum(smooth, tie)
        sure, useful = decision_levels(n, p, predicted, others, rule)
        loses = (smooth < tie) & (n > 0)
        useful = np.where(loses, _savings(smooth, others, predicted, rule), useful)
        return NodeLevels(predicted, n, p, sure, useful, others, y, n, True, loses, rule)
    loses = (y < n / 2) if n_classes == 2 else counts.max(axis=1) > own
    measured = np.divide(y, n, out=smooth.copy(), where=n > 0)
    if n_classes == 2:
        y_max = np.where(loses, n - y, y)
        p = np.where(loses, 0.5, np.asarray(estimate_p_max(y_max, n)))
        tie = np.full(len(n), 0.5)
    else:
        tie = _tie(_without(others, predicted))
        p = np.where(loses, tie, np.maximum(smooth, tie))
    vectors = _vectors(p, others, predicted)
    sure = np.asarray(class_confidence(n, vectors))
    useful = np.where(loses, measured, np.asarray(class_utility(n, vectors)))
    return NodeLevels(predicted, n, p, sure, useful, others, y, n, True, loses & (n > 0))


def levels_of_accuracy(
    counts: FloatArray,
    n: FloatArray,
    probabilities: FloatArray,
    accuracy: FloatArray,
    strength: FloatArray | None = None,
    rule: CostRule | None = None,
) -> NodeLevels:
    """Take the accuracy on unseen rows as utility; probability and confidence follow from it.

    With costs, the accuracy of a decision is the probability of its class, the utility is what the
    decision saves at this probability, and the confidence is that of n rows of such a node.

    Parameters
    ----------
    counts, n, probabilities
        As for `levels_of_counts`; the counts tell how the other classes share the rest.
    accuracy : ndarray of shape (n_nodes,)
        Accuracy of each node on unseen rows.
    strength : ndarray of shape (n_nodes,), optional
        How many rows the accuracy is known by; without it, the counts give the intervals.
    rule : CostRule, optional
        The costs, if errors have different costs.

    Returns
    -------
    NodeLevels

    Examples
    --------
    >>> counts, n = np.array([[2.0, 5], [3.0, 4]]), np.array([7.0, 7.0])
    >>> accuracy, strength = np.array([0.6, 0.4]), np.array([9.0, 9.0])
    >>> levels = levels_of_accuracy(counts, n, counts / 7, accuracy, strength)
    >>> levels.probability.round(3), levels.confidence.round(3), levels.below
    (array([0.659, 0.5  ]), array([0.815, 0.5  ]), array([False,  True]))
    """
    predicted, others = _prediction(counts, probabilities, rule)
    if counts.shape[1] == 1:
        return _certain(predicted, n, others)
    useful = accuracy
    if rule is None:
        p, sure = winner_of_utility(n, accuracy, _without(others, predicted))
        reached = np.asarray(class_utility(n, _vectors(p, others, predicted)))
        below = (accuracy < reached - 1e-6) & (n > 0)
    else:
        tie = decision_tie(predicted, others, rule)
        p = np.clip(accuracy, tie, 1.0)
        sure = decision_levels(n, p, predicted, others, rule)[0]
        below = (accuracy < tie - 1e-6) & (n > 0)
        useful = _savings(accuracy, others, predicted, rule)
    if strength is None:
        y = _counted(counts, n, predicted)
        return NodeLevels(predicted, n, p, sure, useful, others, y, n, True, below, rule)
    successes = np.clip(accuracy * strength, 1e-9, None)
    trials = successes + np.clip((1.0 - accuracy) * strength, 1e-9, None)
    return NodeLevels(predicted, n, p, sure, useful, others, successes, trials, False, below, rule)


def _savings(
    accuracy: FloatArray, others: FloatArray, decided: NDArray[np.intp], rule: CostRule
) -> FloatArray:
    """Return what each decision saves if its class has this probability."""
    vectors = _vectors(accuracy, others, decided)
    saved: FloatArray = (vectors * rule.saving[:, decided].T).sum(axis=1)
    return np.clip(saved, 0.0, 1.0)


def _counted(counts: FloatArray, n: FloatArray, predicted: NDArray[np.intp]) -> FloatArray:
    """Rows of the predicted class, of n rows."""
    total = counts.sum(axis=1)
    own = counts[np.arange(len(counts)), predicted]
    share = np.divide(own, total, out=np.zeros(len(total)), where=total > 0)
    y: FloatArray = np.minimum(share * n, n)
    return y


def _prediction(
    counts: FloatArray, probabilities: FloatArray, rule: CostRule | None
) -> tuple[NDArray[np.intp], FloatArray]:
    """Class that each node predicts, and the shares of the others by smoothed counts."""
    predicted = predicted_class(probabilities, rule)
    others = counts + 1.0
    others[np.arange(len(counts)), predicted] = 0.0
    total = others.sum(axis=1, keepdims=True)
    return predicted, np.divide(others, total, out=others, where=total > 0)


def _certain(predicted: NDArray[np.intp], n: FloatArray, others: FloatArray) -> NodeLevels:
    """Levels of a single class, which is always predicted correctly."""
    one, none = np.ones(len(n)), np.zeros(len(n), dtype=bool)
    return NodeLevels(predicted, n, one, one, one, others, n, n, True, none)


def _without(values: FloatArray, predicted: NDArray[np.intp]) -> FloatArray:
    """Drop the predicted class of each node."""
    kept = np.ones(values.shape, dtype=bool)
    kept[np.arange(len(values)), predicted] = False
    return values[kept].reshape(len(values), values.shape[1] - 1)


def _tie(others: FloatArray) -> FloatArray:
    """Probability of the predicted class when it ties with the largest of the others."""
    largest = others.max(axis=1)
    tie: FloatArray = largest / (1.0 + largest)
    return tie


def _vectors(p: FloatArray, others: FloatArray, predicted: NDArray[np.intp]) -> FloatArray:
    vectors = others * (1.0 - p)[:, np.newaxis]
    vectors[np.arange(len(p)), predicted] = p
    return vectors


def _class_sample_size(vectors: FloatArray, sure: float, useful: float) -> FloatArray:
    """Return the smallest number of rows that reaches the levels; NaN where none does."""

    def reached(n: FloatArray, index: NDArray[np.intp]) -> NDArray[np.bool_]:
        chosen = vectors[index]
        enough: NDArray[np.bool_] = (np.asarray(class_confidence(n, chosen)) >= sure) & (
            np.asarray(class_utility(n, chosen)) >= useful
        )
        return enough

    second, first = np.sort(vectors, axis=1)[:, -2:].T
    # Classes that tie do so with any number of rows, and utility has the ceiling p_max.
    unreachable = ((first - second < _NO_LEAD) & (sure > 0.5)) | (first < useful)
    able = np.flatnonzero(~unreachable)
    sizes = np.full(len(vectors), np.nan)
    sizes[able] = min_rows(lambda n, index: reached(n, able[index]), len(able))
    return sizes

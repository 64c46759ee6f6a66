"""Levels of the nodes of a tree: probability, confidence, utility and intervals.

Levels of counts follow the theory: confidence is (5) at the estimated p_max, or (9) for the nodes
of a tree. Levels of an accuracy on unseen rows have a *posterior* confidence: the accuracy of a
node has a beta distribution with as many rows as it is known by, and confidence is the probability,
in this distribution, that it is above a tie between the classes. (5) at an estimated p_max would be
too high, because it takes the estimate for the truth. A tree of one leaf found nothing in the
columns, so that its classes may be equally probable: then the confidence also allows for an exact
tie.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betainccinv, betaincinv, betaln, expit, logit, xlog1py, xlogy

from sureleaf.arguments import FloatArray
from sureleaf.levels import class_utility, estimate_p_max, node_confidence
from sureleaf.levels.decisions import CostRule, decision_levels, decision_tie, predicted_class
from sureleaf.levels.intervals import clopper_pearson_limits
from sureleaf.levels.plurality import win_probabilities, winner_of_utility
from sureleaf.model.leaf_calibration import largest_error_share

NO_LEAD = 1e-9
"""Two classes whose probabilities differ by less tie."""

TOLERANCE = 2e-6
"""Of the utility that belongs to a probability of more than two classes: small beside its error by
the luck of the folds, and an exact sum takes ten times as long."""

_LEAST_ROWS = 1e-9
"""Right and wrong predictions are at least so many: a beta distribution needs more than none."""


# ---- the classes that a node does not predict ----------------------------------------------------


def other_shares(counts: FloatArray, predicted: NDArray[np.integer]) -> FloatArray:
    """Return how the classes that a node does not predict share the rest, by smoothed counts."""
    others = counts + 1.0
    others[np.arange(len(counts)), predicted] = 0.0
    total = others.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(others, total, out=others, where=total > 0))


def without_class(counts: FloatArray, predicted: NDArray[np.integer]) -> FloatArray:
    """Return the counts with 0 for the class that each node predicts."""
    counts = counts.copy()
    counts[np.arange(len(counts)), predicted] = 0.0
    return counts


def _drop_class(values: FloatArray, predicted: NDArray[np.intp]) -> FloatArray:
    """Return the values without the column of the predicted class of each node."""
    kept = np.ones(values.shape, dtype=bool)
    kept[np.arange(len(values)), predicted] = False
    return values[kept].reshape(len(values), values.shape[1] - 1)


def _tie(others: FloatArray) -> FloatArray:
    """Return ``r / (1 + r)``: the probability of a class that ties with the largest other one."""
    largest = others.max(axis=1)
    return np.asarray(largest / (1.0 + largest))


def _spread(
    own: FloatArray, rest: FloatArray, others: FloatArray, predicted: NDArray[np.intp]
) -> FloatArray:
    """Give each node's predicted class one value, and share the rest among the others."""
    values = others * rest[:, np.newaxis]
    values[np.arange(len(own)), predicted] = own
    return values


# ---- (e) the posterior distribution of an accuracy -----------------------------------------------


def beta_rows(accuracy: FloatArray, strength: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``s p`` and ``s (1 - p)``: right and wrong predictions, for p known by s rows."""
    own = np.maximum(accuracy * strength, _LEAST_ROWS)
    return own, np.maximum((1.0 - accuracy) * strength, _LEAST_ROWS)


def error_ties(
    counts: FloatArray,
    predicted: NDArray[np.intp],
    shared_rows: float,
    rule: CostRule | None = None,
) -> FloatArray:
    """Return the accuracy of each node at which its predicted class ties with another one.

    It is ``r / (1 + r)``, where r is the expected share of the class that makes most of the errors
    (`largest_error_share`): one half with two classes; ``1 / K`` if the K - 1 other classes are
    equally frequent, and more if one of them makes most of the errors. The classes of the errors
    are known from the counts of the node and, as `shared_rows`, from the shares of the classes in
    the table. With costs, it is the accuracy at which another decision costs the same.

    Examples
    --------
    >>> counts = np.array([[300.0, 300, 300], [9, 0, 0], [9, 0, 4]])
    >>> error_ties(counts, np.array([0, 0, 0]), shared_rows=1.0).round(3)
    array([0.34 , 0.45 , 0.474])
    """
    if counts.shape[1] == 1:
        return np.zeros(len(counts))
    if rule is not None:
        return decision_tie(predicted, other_shares(counts, predicted), rule)
    if counts.shape[1] == 2:
        return np.full(len(counts), 0.5)
    of_table = other_shares(counts[[0] * len(counts)], predicted)
    largest = largest_error_share(without_class(counts, predicted) + shared_rows * of_table)
    return largest / (1.0 + largest)


def tie_prior(n_nodes: int, rule: CostRule | None, *, prior: float = 0.5) -> float:
    """Return the probability, before any row is seen, that the classes of a leaf tie exactly.

    It is not 0 for a tree of one leaf: its columns say nothing about the class, and in many tables
    the classes are equally frequent by design. With costs, a tie is at no such special probability.
    """
    return prior if n_nodes == 1 and rule is None else 0.0


def posterior_confidence(
    accuracy: FloatArray, strength: FloatArray, tie: FloatArray, prior: float = 0.0
) -> FloatArray:
    """Return the probability that the true accuracy of a node is above a tie between classes.

    It is ``P(A > tie)``, where the true accuracy is ``A ~ Beta(s p, s (1 - p))`` with the mean p =
    `accuracy` and s = `strength` rows.

    With a prior probability of an exact tie, the confidence is the mean of two cases by their
    posterior probabilities: without a tie, the one above; with a tie, ``tie``, because of r classes
    that tie, each is right with probability 1 / r, which is the accuracy of a tie.

    Examples
    --------
    >>> accuracy, rows, tie = np.array([0.8, 0.4]), np.array([10.0, 10.0]), np.array([0.5, 0.5])
    >>> posterior_confidence(accuracy, rows, tie, prior=0.5).round(2)
    array([0.82, 0.42])
    """
    own, rest = beta_rows(accuracy, strength)
    above: FloatArray = betainc(rest, own, 1.0 - tie)
    if prior == 0.0:
        return above
    # The Bayes factor of the correct rows, binomial with the accuracy of a tie, against an accuracy
    # of which every value is equally probable. The more rows, the less an accuracy near a tie
    # speaks for a lead.
    log_factor = xlogy(own, tie) + xlog1py(rest, -tie) - betaln(own + 1.0, rest + 1.0)
    tied = expit(log_factor + logit(prior))
    return np.asarray(tied * tie + (1.0 - tied) * above)


def accuracy_limits(
    right: FloatArray, wrong: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of ``Beta(s p, s (1 - p))`` with so much probability between them.

    `right` and `wrong` predictions are the ``s p`` and ``s (1 - p)`` of `beta_rows`.
    """
    tail = (1.0 - level) / 2
    return betaincinv(right, wrong, tail), betainccinv(right, wrong, tail)


def probability_limits(
    n: FloatArray, low: FloatArray, high: FloatArray, others: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the p_max of nodes of n rows whose utilities, by (6), are these limits of accuracy.

    `others`, shape (n_nodes, K - 1), are the shares of the other classes. In a tie the counts do
    not tell how the classes share it: p_max may be as low as 1 / K, and it is never below the
    utility. So a low limit in the tie is the utility itself, between 1 / K and the tie.
    """
    tie = _tie(others)
    p_low = winner_of_utility(n, low, others, tolerance=TOLERANCE)[0]
    p_high = winner_of_utility(n, high, others, tolerance=TOLERANCE)[0]
    return np.where(p_low > tie, p_low, np.clip(low, 1.0 / (others.shape[1] + 1), tie)), p_high


# ---- the levels of all nodes ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NodeLevels:
    """Levels of every node, leaves and inner nodes, for the class that it predicts.

    - `predicted`: index of the class that the node predicts.
    - `n`: rows that its levels are computed for: its weight, or its effective rows.
    - `probability`: of the predicted class: p_max of the theory.
    - `confidence`: probability that the predicted class is the most probable one: posterior, or (5)
      or (9) for levels of counts.
    - `utility`: (6) for it; the K-class form for more classes.
    - `others`, shape (n_nodes, n_classes): how the other classes share the rest of the probability;
      0 for the predicted class.
    - `successes`, `trials`: what the intervals come from.
    - `from_counts`: whether these are counts of rows, or an accuracy times its strength.
    - `below`: nodes that are correct less often than a tie between classes would be.
    - `rule`: the costs, if errors have different costs. Then confidence is the probability that the
      decision is the cheapest one, and utility is the expected saving.
    - `accuracy`, `strength`, `ties`: accuracy on unseen rows, the number of rows that it is known
      by, and the accuracy at which the predicted class ties with another one; None for levels of
      counts.
    - `confidence_error`: standard error of the confidence by the luck of the folds; None where
      there is none, or where it is not known.
    - `n_tree`: rows of the tree where the confidence is (9), that of a node that gets a share.
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
    accuracy: FloatArray | None = None
    strength: FloatArray | None = None
    ties: FloatArray | None = None
    confidence_error: FloatArray | None = None
    n_tree: float | None = None
    _intervals: dict[float, tuple[FloatArray, FloatArray]] = field(init=False, default_factory=dict)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.others.shape[1])

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Bounds of the probability of the predicted class.

        From counts, the bounds of Clopper and Pearson; from an accuracy, `accuracy_limits`, and the
        `probability_limits` that follow. At unequal costs, an accuracy is such a probability.
        """
        if level in self._intervals:
            return self._intervals[level]
        y, misses = self.successes, self.trials - self.successes
        if self.n_classes == 1:
            low = high = np.ones(len(y))
        elif self.from_counts:
            low, high = clopper_pearson_limits(y, self.trials, np.asarray((1.0 - level) / 2))
        else:
            low, high = accuracy_limits(y, misses, level)
            if self.rule is None:
                others = _drop_class(self.others, self.predicted)
                low, high = probability_limits(self.n, low, high, others)
        limits = np.minimum(low, self.probability), np.maximum(high, self.probability)
        self._intervals[level] = limits
        return limits

    def is_weak(self, confidence: float | None, utility: float | None = None) -> NDArray[np.bool_]:
        """Whether a node is below a wanted level or a tie, or has no rows."""
        weak: NDArray[np.bool_] = (self.n <= 0) | self.below
        if confidence is not None:
            weak = weak | (self.confidence < confidence)
        return weak if utility is None else weak | (self.utility < utility)

    def utilities(self) -> FloatArray:
        """Return the utility of every node if it decided for each of the classes."""
        if self.rule is None:
            return self.spread(self.utility, 1.0 - self.utility)
        values: FloatArray = self.vectors() @ self.rule.saving
        values[np.arange(len(values)), self.predicted] = self.utility
        return values

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
        return _spread(predicted, rest, self.others, self.predicted)


def _savings(
    accuracy: FloatArray, others: FloatArray, decided: NDArray[np.intp], rule: CostRule
) -> FloatArray:
    """Return what each decision saves if its class has this probability."""
    vectors = _spread(accuracy, 1.0 - accuracy, others, decided)
    saved: FloatArray = (vectors * rule.saving[:, decided].T).sum(axis=1)
    return np.clip(saved, 0.0, 1.0)


def _counted(counts: FloatArray, n: FloatArray, predicted: NDArray[np.intp]) -> FloatArray:
    """Rows of the predicted class, of n rows."""
    total = counts.sum(axis=1)
    own = counts[np.arange(len(counts)), predicted]
    share = np.divide(own, total, out=np.zeros(len(total)), where=total > 0)
    return np.asarray(np.minimum(share * n, n))


def _certain(predicted: NDArray[np.intp], n: FloatArray, others: FloatArray) -> NodeLevels:
    """Levels of a single class, which is always predicted correctly."""
    one, none = np.ones(len(n)), np.zeros(len(n), dtype=bool)
    return NodeLevels(predicted, n, one, one, one, others, n, n, True, none)


def levels_of_accuracy(
    counts: FloatArray,
    n: FloatArray,
    probabilities: FloatArray,
    accuracy: FloatArray,
    strength: FloatArray,
    *,
    shared_rows: float = 1.0,
    from_counts: bool = False,
    rule: CostRule | None = None,
    confidence_error: FloatArray | None = None,
) -> NodeLevels:
    """Take the accuracy on unseen rows as utility; probability and confidence follow from it.

    With costs, the accuracy of a decision is the probability of its class, the utility is what the
    decision saves at this probability, and the confidence is the probability that the accuracy is
    above the one at which another decision costs the same.

    The accuracy is known by `strength` rows. The counts tell how the other classes share the rest,
    and give the intervals if they are of unseen rows (`from_counts`). `shared_rows` are those
    of `error_ties`.

    Examples
    --------
    >>> counts, n = np.array([[2.0, 5], [3.0, 4]]), np.array([7.0, 7.0])
    >>> accuracy, strength = np.array([0.6, 0.4]), np.array([9.0, 9.0])
    >>> levels = levels_of_accuracy(counts, n, counts / 7, accuracy, strength)
    >>> levels.probability.round(3), levels.confidence.round(3), levels.below
    (array([0.659, 0.5  ]), array([0.736, 0.264]), array([False,  True]))
    """
    predicted = predicted_class(probabilities, rule)
    others = other_shares(counts, predicted)
    if counts.shape[1] == 1:
        return _certain(predicted, n, others)
    ties = error_ties(counts, predicted, shared_rows, rule)
    useful = accuracy
    if rule is None:
        weights = _drop_class(others, predicted)
        p = winner_of_utility(n, accuracy, weights, tolerance=TOLERANCE)[0]
        below = np.zeros(len(n), dtype=bool)
        tied = np.flatnonzero((p <= _tie(weights) + NO_LEAD) & (n > 0))
        vectors = _spread(p[tied], 1.0 - p[tied], others[tied], predicted[tied])
        reached = class_utility(n[tied], vectors)
        below[tied] = accuracy[tied] < np.asarray(reached) - 1e-6
    else:
        p = np.clip(accuracy, ties, 1.0)
        below = (accuracy < ties - 1e-6) & (n > 0)
        useful = _savings(accuracy, others, predicted, rule)
    successes, failures = beta_rows(accuracy, strength)
    trials = successes + failures
    if from_counts:
        successes, trials = _counted(counts, n, predicted), n
    return NodeLevels(
        predicted,
        n,
        p,
        posterior_confidence(accuracy, strength, ties, tie_prior(len(n), rule)),
        useful,
        others,
        successes,
        trials,
        from_counts,
        below,
        rule,
        accuracy=accuracy,
        strength=strength,
        ties=ties,
        confidence_error=confidence_error,
    )


def levels_of_counts(
    counts: FloatArray,
    n: FloatArray,
    probabilities: FloatArray,
    rule: CostRule | None = None,
    *,
    method: str = "blend",
    n_tree: float | None = None,
) -> NodeLevels:
    """Return the levels of nodes by the theory for rows that fall into fixed nodes.

    With two classes p_max is estimated from the counts by a method of `estimate_p_max`; with more
    classes or unequal costs, "mle" is the share of the predicted class, and "blend" this share with
    one row of each class added. `n` are the rows, or effective rows, of each node.

    `n_tree` are the rows of the tree. A node gets its share of them by chance, so the confidence is
    (9), and the utility (6) with it. Without it, the rows of the node are fixed: (5). The formulas
    for more classes and for costs have fixed rows.

    Examples
    --------
    >>> levels = levels_of_counts(np.array([[2.0, 5]]), np.array([7.0]), np.array([[0.3, 0.7]]))
    >>> levels.probability.round(4), levels.confidence.round(4), levels.utility.round(4)
    (array([0.7007]), array([0.8748]), array([0.6504]))
    """
    predicted = predicted_class(probabilities, rule)
    others = other_shares(counts, predicted)
    n_classes = counts.shape[1]
    own = counts[np.arange(len(counts)), predicted]
    y = _counted(counts, n, predicted)
    if n_classes == 1:
        return _certain(predicted, n, others)
    smooth = (y + 1.0) / (n + n_classes)
    measured = np.divide(y, n, out=smooth.copy(), where=n > 0)
    estimate = measured if method == "mle" else smooth
    of_two = n_classes == 2 and rule is None
    if of_two:
        loses = y < n / 2
        y_max = np.where(loses, n - y, y)
        p = np.where(loses, 0.5, np.asarray(estimate_p_max(y_max, n, method=method)))
        if n_tree is None:  # all rows are in the node: (9) with a share of 1 is (5)
            sure = np.asarray(node_confidence(n, 1.0, p, empty="coin"))
        else:
            sure = np.asarray(node_confidence(n_tree, np.minimum(n / n_tree, 1.0), p))
        useful = (1.0 - p) + (2.0 * p - 1.0) * sure
    elif rule is None:
        loses = counts.max(axis=1) > own
        tie = _tie(_drop_class(others, predicted))
        p = np.where(loses, tie, np.maximum(estimate, tie))
        vectors = _spread(p, 1.0 - p, others, predicted)
        wins = win_probabilities(n, vectors)  # once for `class_confidence` and `class_utility`
        sure = wins[np.arange(len(n)), np.argmax(vectors, axis=1)]
        useful = (vectors * wins).sum(axis=1)
    else:
        tie = decision_tie(predicted, others, rule)
        loses, p = estimate < tie, np.maximum(estimate, tie)
        sure, useful = decision_levels(n, p, predicted, others, rule)
        measured = _savings(estimate, others, predicted, rule)
    below = loses & (n > 0)
    useful, n_tree = np.where(below, measured, useful), n_tree if of_two else None
    return NodeLevels(predicted, n, p, sure, useful, others, y, n, True, below, rule, n_tree=n_tree)

"""Levels of a model's predictions, measured on unseen rows.

The prediction of a leaf does not depend on the unseen rows. Its utility is therefore one number,
the probability of the predicted class in the leaf; more rows only make it better known.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

from sureleaf.arguments import FloatArray
from sureleaf.levels.decisions import CostRule, decision_tie
from sureleaf.levels.intervals import PRIOR_ROWS, clopper_pearson, majority_probability
from sureleaf.levels.search import min_rows

_STRENGTHS = 2.0 ** np.arange(-1, 11)


@dataclass(frozen=True, eq=False)
class UnseenLevels:
    """Levels of groups of rows (leaves or bins), each with one predicted class.

    `probability` is the proportion of the predicted class, NaN without rows; `accuracy` is the same
    shrunk towards the mean of the groups (`pooled_accuracy`). `utility` is the accuracy; with
    costs, what the decision saves per row, pooled in the same way. `confidence` is the probability
    that the predicted class is the most probable one of the group, or that the decision is the
    cheapest one.
    """

    predicted: NDArray[np.intp]
    counts: FloatArray
    probability: FloatArray
    accuracy: FloatArray
    utility: FloatArray
    confidence: FloatArray
    costs: CostRule | None = None

    @property
    def below(self) -> NDArray[np.bool_]:
        """Whether another class is more frequent, or another decision is cheaper."""
        own = np.arange(len(self.counts)), self.predicted
        if self.costs is not None:
            return ~self.costs.is_cheapest(self.counts)[own]
        return np.asarray(self.counts.max(axis=1) > self.counts[own])

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return Clopper and Pearson's interval for the probability of the predicted class."""
        n = self.counts.sum(axis=1)
        n_correct = np.minimum(self.counts[np.arange(len(n)), self.predicted], n)
        low, high = clopper_pearson(n_correct, n, level=level)
        return np.asarray(low, dtype=float), np.asarray(high, dtype=float)

    def rows_needed(self, confidence: float | None, utility: float | None) -> FloatArray:
        """Return the total number of rows per group that reaches the wanted levels.

        The class proportions are assumed to stay as they are. NaN where no number is enough:
        another class is as frequent, or the utility is too small, which more rows do not change.
        """
        total = self.counts.sum(axis=1, keepdims=True)
        group = np.arange(len(total))
        proportions = np.divide(
            self.counts, total, out=np.zeros(self.counts.shape), where=total > 0
        )
        # A group without rows is expected to have its accuracy as proportion of the prediction.
        empty = total[:, 0] <= 0
        n_others = max(self.counts.shape[1] - 1, 1)
        proportions[empty] = ((1.0 - self.accuracy[empty]) / n_others)[:, np.newaxis]
        proportions[group[empty], self.predicted[empty]] = self.accuracy[empty]
        rows = _rows_for_confidence(proportions, self.predicted, confidence, self.costs)
        return rows if utility is None else np.where(self.utility >= utility, rows, np.nan)


def _rows_for_confidence(
    proportions: FloatArray,
    predicted: NDArray[np.intp],
    confidence: float | None,
    costs: CostRule | None,
) -> FloatArray:
    if confidence is None or proportions.shape[1] == 1:
        return np.zeros(len(proportions))
    group = np.arange(len(proportions))
    if costs is not None:
        is_cheapest = costs.is_cheapest(proportions)
        is_reachable = is_cheapest[group, predicted] & (is_cheapest.sum(axis=1) == 1)
    else:
        others = proportions.copy()
        others[group, predicted] = -1.0
        is_reachable = proportions[group, predicted] > others.max(axis=1)
    # Small groups often have equal proportions: each distinct set is computed once.
    sets = np.column_stack([predicted, proportions])[is_reachable]
    distinct, inverse = np.unique(sets, axis=0, return_inverse=True)

    def is_sure(n: FloatArray, indices: NDArray[np.intp]) -> NDArray[np.bool_]:
        some = distinct[indices]
        counts = some[:, 1:] * n[:, np.newaxis]
        return _confidence(counts, some[:, 0].astype(np.intp), costs) >= confidence

    rows = np.full(len(proportions), np.nan)
    rows[is_reachable] = min_rows(is_sure, len(distinct))[inverse.reshape(-1)]
    return rows


def _confidence(
    counts: FloatArray, predicted: NDArray[np.intp], costs: CostRule | None
) -> FloatArray:
    """Return the posterior probability that the prediction is right for the group as a whole.

    With costs, the probability of the decided class has a beta distribution, and must be above the
    tie with another decision. With more than two classes, the others share the rest as counted.
    """
    if costs is None:
        return majority_probability(counts, predicted)
    group = np.arange(len(counts))
    rows = counts + PRIOR_ROWS
    own = rows[group, predicted]
    rest = rows.sum(axis=1) - own
    others = rows / rest[:, np.newaxis]
    others[group, predicted] = 0.0
    above: FloatArray = betainc(rest, own, 1.0 - decision_tie(predicted, others, costs))
    return above


def unseen_levels(
    counts: FloatArray,
    predicted: NDArray[np.intp],
    tree: NDArray[np.intp] | None = None,
    costs: CostRule | None = None,
) -> UnseenLevels:
    """Compute the levels of groups from the class counts of unseen rows.

    `counts` has one line per group. Accuracies are pooled within a tree.

    Examples
    --------
    >>> levels = unseen_levels(np.array([[2.0, 5.0], [0.0, 0.0]]), np.array([1, 1]))
    >>> levels.probability.round(3), levels.utility.round(3), levels.confidence.round(3)
    (array([0.714,   nan]), array([0.714, 0.714]), array([0.872, 0.5  ]))
    """
    n = counts.sum(axis=1)
    n_correct = counts[np.arange(len(counts)), predicted]
    proportion = np.divide(n_correct, n, out=np.full(len(n), np.nan), where=n > 0)
    confidence = _confidence(counts, predicted, costs)
    tree_of_group = np.zeros(len(n), dtype=np.intp) if tree is None else tree

    def pooled(gained: FloatArray) -> FloatArray:
        means = np.empty(len(n))
        for index in np.unique(tree_of_group):
            of_tree = tree_of_group == index
            means[of_tree] = pooled_accuracy(gained[of_tree], n[of_tree])
        return means

    accuracy = utility = pooled(n_correct)
    if costs is not None:
        utility = pooled((counts * costs.saving[:, predicted].T).sum(axis=1))
    return UnseenLevels(predicted, counts, proportion, accuracy, utility, confidence, costs)


def pooled_accuracy(n_correct: FloatArray, n: FloatArray) -> FloatArray:
    """Estimate the accuracy of each group, shrinking small groups towards the mean.

    The accuracies of the groups are modelled as beta distributed. The estimate of a group is
    ``(n_correct + s m) / (n + s)`` with ``m = sum(n_correct / (n + s)) / sum(n / (n + s))``.
    Weighted by rows, the estimates add up to the number of correct predictions, for any s. The
    strength s is the power of two from 1/2 to 1024 with the largest likelihood. A group without
    rows has the mean m; if no group has rows, 1/2. With costs, `n_correct` is what decisions save.
    """
    if not n.sum() > 0:
        return np.full(len(n), 0.5)
    estimates, log_likelihoods = [], []
    for s in _STRENGTHS.tolist():
        mean = float((n_correct / (n + s)).sum() / (n / (n + s)).sum())
        estimates.append((n_correct + s * mean) / (n + s))
        # Even if all predictions are correct, the mean stays half a row away from 1.
        m = float(np.clip(mean, 0.5 / (n.sum() + 1), 1 - 0.5 / (n.sum() + 1)))
        a, b = s * m, s * (1 - m)
        log_likelihoods.append((betaln(a + n_correct, b + n - n_correct) - betaln(a, b)).sum())
    return np.asarray(estimates[int(np.argmax(log_likelihoods))])


# ---- rows grouped by prediction and predicted probability ----------------------------------------


def probability_bins(
    predicted: NDArray[np.intp], probability: FloatArray, n_bins: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Divide the rows of each predicted class into bins of equal size; return bins and classes.

    The number of bins of a class is proportional to its rows, and at least one. Rows with equal
    probabilities stay together, so a model with few distinct probabilities has fewer bins.
    """
    bin_of_row = np.empty(len(predicted), dtype=np.intp)
    class_of_bin: list[int] = []
    for code in np.unique(predicted).tolist():
        rows = np.flatnonzero(predicted == code)
        n_wanted = max(1, round(min(n_bins, len(predicted)) * len(rows) / len(predicted)))
        edges = np.quantile(probability[rows], np.arange(1, n_wanted) / n_wanted, method="higher")
        index = np.searchsorted(np.unique(edges), probability[rows], side="right")
        _, index = np.unique(index, return_inverse=True)
        bin_of_row[rows] = len(class_of_bin) + index
        class_of_bin += [code] * (int(index.max()) + 1)
    return bin_of_row, np.array(class_of_bin, dtype=np.intp)

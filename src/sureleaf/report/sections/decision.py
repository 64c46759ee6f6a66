"""The decision of least cost, as the page computes it: pure functions of scores and costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.levels.decisions import cheapest_decision

__all__ = ["NEVER_POSITIVE", "Decision", "decide_binary", "decide_classes", "implied_threshold"]


Floats = NDArray[np.float64]

NEVER_POSITIVE = 1.0001
"""A threshold that no score reaches."""


@dataclass(frozen=True)
class Decision:
    """The cheapest decisions, and what they cost.

    Attributes
    ----------
    threshold
        Of two classes: predict the positive class if its probability is at least this.
    cost_per_row
        Mean cost of these decisions.
    confusion
        Rows by actual class and decision.
    """

    threshold: float | None
    cost_per_row: float
    confusion: list[list[float]]


def implied_threshold(cost: ArrayLike, positive: int = 1) -> float | None:
    """Return the probability from which predicting the positive class costs least, or None.

    Examples
    --------
    >>> implied_threshold([[0, 1], [9, 0]])
    0.1
    >>> implied_threshold([[0, 0], [0, 0]]) is None
    True
    """
    c = np.asarray(cost, dtype=np.float64)
    yes, no = positive, 1 - positive
    false_alarm, miss = c[no, yes] - c[no, no], c[yes, no] - c[yes, yes]
    return float(false_alarm / (false_alarm + miss)) if false_alarm + miss != 0 else None


def decide_binary(
    score: ArrayLike,
    negative: ArrayLike,
    positive_rows: ArrayLike,
    cost: ArrayLike,
    *,
    positive: int,
) -> Decision:
    """Find the threshold of least cost; rows with at least that score count as positive.

    The candidates are 0, every score, and a threshold that no score reaches. Among equally cheap
    ones (to 12 digits) the one nearest to the threshold that the costs imply is taken, or nearest
    to 0.5 if they imply none; then the lower one.

    Parameters
    ----------
    score : array-like
        Distinct scores of the positive class, ascending.
    negative, positive_rows : array-like
        Rows of the other and of the positive class with each score.
    cost : array-like of shape (2, 2)
        ``cost[actual][predicted]`` in the order of the classes.
    positive : {0, 1}
        Index of the positive class.

    Examples
    --------
    >>> decision = decide_binary([0.1, 0.6], [8, 2], [1, 4], [[0, 1], [5, 0]], positive=1)
    >>> decision.threshold, round(decision.cost_per_row, 4), decision.confusion
    (0.6, 0.4667, [[8.0, 2.0], [1.0, 4.0]])
    """
    c = np.asarray(cost, dtype=np.float64)
    scores = np.asarray(score, dtype=np.float64)
    no_rows, yes_rows = np.asarray(negative, dtype=float), np.asarray(positive_rows, dtype=float)
    thresholds = np.unique(np.concatenate([[0.0], scores, [NEVER_POSITIVE]]))
    first = np.searchsorted(scores, thresholds, side="left")
    below_no = np.concatenate([[0.0], np.cumsum(no_rows)])[first]
    below_yes = np.concatenate([[0.0], np.cumsum(yes_rows)])[first]
    yes, no = positive, 1 - positive
    table = np.zeros((len(thresholds), 2, 2))
    table[:, no, no], table[:, no, yes] = below_no, no_rows.sum() - below_no
    table[:, yes, no], table[:, yes, yes] = below_yes, yes_rows.sum() - below_yes
    costs = (table * c).sum(axis=(1, 2)) / (no_rows.sum() + yes_rows.sum())
    theory = implied_threshold(c, positive)
    near = np.abs(thresholds - (0.5 if theory is None else theory))
    cheapest = np.flatnonzero(costs <= costs.min() + 1e-12 * float(np.abs(c).max()))
    best = cheapest[np.lexsort((thresholds[cheapest], near[cheapest].round(12)))[0]]
    return Decision(float(thresholds[best]), float(costs[best]), table[best].tolist())


def decide_classes(
    truth: ArrayLike, weight: ArrayLike, probabilities: ArrayLike, cost: ArrayLike
) -> Decision:
    """Decide for the class of least expected cost, the first one on ties (to 12 digits).

    Examples
    --------
    >>> decision = decide_classes(
    ...     [0, 1, 2], [1, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]],
    ...     [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> decision.cost_per_row, decision.confusion
    (0.5, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    """
    c = np.asarray(cost, dtype=np.float64)
    actual, w = np.asarray(truth, dtype=np.int64), np.asarray(weight, dtype=np.float64)
    chosen = cheapest_decision(np.asarray(probabilities, dtype=np.float64), c)
    table = np.zeros(c.shape)
    np.add.at(table, (actual, chosen), w)
    return Decision(None, float((table * c).sum() / w.sum()), [row.tolist() for row in table])

"""The decision of least cost, as the page computes it: pure functions of scores and costs."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.levels.decisions import cheapest_decision

Floats = NDArray[np.float64]

NEVER_POSITIVE = 1.0001
"""A threshold that no score reaches."""


@dataclass(frozen=True)
class Decision:
    """The cheapest decisions, and what they cost."""

    threshold: Annotated[
        float | None,
        "Of two classes: predict the positive class if its probability is at least this.",
    ]
    cost_per_row: Annotated[float, "Mean cost of these decisions."]
    confusion: Annotated[list[list[float]], "Rows by actual class and decision."]


def implied_threshold(cost: ArrayLike, positive: int = 1) -> float | None:
    """Return the probability from which predicting the positive class costs least, or None."""
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

    Scores are distinct and ascending, with the rows of the other and of the positive class. The
    candidates are 0, every score, and a threshold that no score reaches. Among equally cheap ones
    (to 12 digits) the one nearest to the threshold that the costs imply is taken, or nearest to 0.5
    if they imply none; then the lower one.
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
    """Decide for the class of least expected cost, the first one on ties (to 12 digits)."""
    c = np.asarray(cost, dtype=np.float64)
    actual, w = np.asarray(truth, dtype=np.int64), np.asarray(weight, dtype=np.float64)
    chosen = cheapest_decision(np.asarray(probabilities, dtype=np.float64), c)
    table = np.zeros(c.shape)
    np.add.at(table, (actual, chosen), w)
    return Decision(None, float((table * c).sum() / w.sum()), [row.tolist() for row in table])

"""Cost as the threshold, or the classes' shares and costs, change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, check_count, check_weights
from sureleaf.evaluation.labels import positive_class
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.evaluation.measures.losses import read_scored
from sureleaf.evaluation.measures.ranking import Roc, roc

__all__ = ["CostByThreshold", "CostCurve", "cost_by_threshold", "cost_curve"]


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Least normalised expected cost at each operating condition.

    Attributes
    ----------
    condition : ndarray
        Probability cost of the positive class, ``p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-))``.
    cost : ndarray
        Normalised expected cost with the best threshold for that condition, from 0 to .5.
    thresholds : ndarray
        That threshold.
    trivial : ndarray
        Cost of the better of always and never predicting the positive class.
    area : float
        Area under the curve: the mean cost over all conditions; .25 for the trivial classifiers.

    Examples
    --------
    >>> cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    CostCurve(area=0.1250, trivial 0.25)
    """

    condition: Floats
    cost: Floats
    thresholds: Floats
    trivial: Floats
    area: float

    def __repr__(self) -> str:
        return f"CostCurve(area={self.area:.4f}, trivial 0.25)"


@dataclass(frozen=True, eq=False)
class CostByThreshold:
    """Mean cost a row at every threshold that changes a prediction.

    Attributes
    ----------
    thresholds, costs : ndarray
        A row is predicted positive if its probability is at least the threshold.
    best, best_cost : float
        The threshold of least cost on these rows (optimistic if they chose it), and that cost.

    Examples
    --------
    >>> cost_by_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost=[[0, 1], [5, 0]]).best
    0.35
    """

    thresholds: Floats
    costs: Floats
    best: float
    best_cost: float


def cost_curve(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    n_points: int = 101,
    sample_weight: ArrayLike | None = None,
) -> CostCurve:
    """Cost curve: the lower envelope of ``FNR c + FPR (1 - c)`` over thresholds.

    Parameters
    ----------
    truth, scores, positive, labels, sample_weight
        As for `sureleaf.measures.roc`.
    n_points : int
        Number of operating conditions c between 0 and 1.

    Returns
    -------
    CostCurve

    References
    ----------
    .. [1] Drummond, C., Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.

    Examples
    --------
    >>> curve = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], n_points=3)
    >>> curve.cost.tolist(), curve.trivial.tolist()
    ([0.0, 0.25, 0.0], [0.0, 0.5, 0.0])
    """
    check_count("n_points", n_points, least=2)
    curve = roc(truth, scores, positive=positive, labels=labels, sample_weight=sample_weight)
    condition = np.linspace(0, 1, n_points)
    best = np.empty(n_points, dtype=np.int64)
    for point, c in enumerate(condition):  # one condition at a time keeps memory linear
        best[point] = np.argmin(
            (1 - curve.true_positive_rate) * c + curve.false_positive_rate * (1 - c)
        )
    missed, alarms = 1 - curve.true_positive_rate[best], curve.false_positive_rate[best]
    least = missed * condition + alarms * (1 - condition)
    trivial = np.minimum(condition, 1 - condition)
    return CostCurve(condition, least, curve.thresholds[best], trivial, _area(curve))


def _area(curve: Roc) -> float:
    """Area under the envelope itself, which bends where two corners of the ROC's hull cost alike.

    Between two such conditions one corner is best, and its cost is a straight line.
    """
    corners: list[tuple[float, float]] = []
    points = zip(curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), strict=True)
    for alarms, found in points:
        while len(corners) > 1 and _turns_left(corners[-2], corners[-1], (alarms, found)):
            corners.pop()
        corners.append((alarms, found))
    hull = np.array(corners)
    steps = np.diff(hull, axis=0)
    bends = np.concatenate([[0.0], steps[:, 0] / steps.sum(axis=1), [1.0]])
    costs = [(1 - hull[:, 1]) * c + hull[:, 0] * (1 - c) for c in (bends[:-1], bends[1:])]
    return float(np.diff(bends) @ (costs[0] + costs[1]) / 2)


def _turns_left(
    first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]
) -> bool:
    across = (second[0] - first[0]) * (third[1] - first[1])
    return across >= (second[1] - first[1]) * (third[0] - first[0])


def cost_by_threshold(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    cost: ArrayLike,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> CostByThreshold:
    """Mean cost of predicting the positive class from each threshold on.

    Parameters
    ----------
    truth, probabilities, positive, labels, sample_weight
        As for `sureleaf.measures.zero_one_loss`, two classes.
    cost : array-like of shape (2, 2) or (n, 2, 2)
        ``cost[actual][predicted]``, in the order of `labels`.

    Returns
    -------
    CostByThreshold

    Examples
    --------
    >>> found = cost_by_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost=[[0, 1], [5, 0]])
    >>> found.thresholds.tolist(), found.costs.tolist()
    ([inf, 0.8, 0.4, 0.35, 0.1], [2.5, 1.25, 1.5, 0.25, 0.5])
    """
    codes, table, classes = read_scored(truth, probabilities, labels)
    matrix = check_cost(cost, len(classes), len(codes))
    if len(classes) != 2 or matrix.shape[-1] != 2:
        raise InvalidArgumentError(
            f"A threshold decides between two classes; got {classes.tolist()} and a cost of shape "
            f"{matrix.shape}. Use decide for more classes or abstaining."
        )
    yes = positive_class(positive, classes)
    own = matrix[np.arange(len(codes)), codes] if matrix.ndim == 3 else matrix[codes]
    weights = check_weights(sample_weight, len(codes))
    w = np.ones(len(codes)) if weights is None else weights
    order = np.argsort(-table[:, yes], kind="stable")
    scores = table[order, yes]
    change = (w * (own[:, yes] - own[:, 1 - yes]))[order]
    costs = np.concatenate([[0.0], np.cumsum(change)]) + w @ own[:, 1 - yes]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # ties move together
    thresholds = np.concatenate([[np.inf], scores[last]])
    costs = costs[np.concatenate([[0], last + 1])] / w.sum()
    best = int(costs.argmin())
    return CostByThreshold(thresholds, costs, float(thresholds[best]), float(costs[best]))

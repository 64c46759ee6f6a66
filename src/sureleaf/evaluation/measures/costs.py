"""Costs of predictions, decisions with the least cost, and cost curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    FloatArray,
    IntArray,
    LabelArray,
    check_count,
    check_numbers,
    check_probabilities,
    check_same_length,
    check_weights,
    read_labels,
    row_weights,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import class_codes, find_classes, positive_class
from sureleaf.evaluation.measures.losses import read_scored
from sureleaf.evaluation.measures.ranking import Roc, roc
from sureleaf.levels.decisions import cheapest_decision, number_matrix

__all__ = [
    "CostByThreshold",
    "CostCurve",
    "NetBenefit",
    "check_cost",
    "cost",
    "cost_by_threshold",
    "cost_curve",
    "cost_from_accuracy",
    "cost_threshold",
    "decide",
    "net_benefit",
    "row_costs",
]


def check_cost(cost: ArrayLike, n_classes: int, n_rows: int | None = None) -> FloatArray:
    """Return a cost matrix (m, m), with an abstain column (m, m + 1), or one of these per row."""
    matrix = number_matrix(cost)
    per_row = matrix.ndim == 3
    shape = matrix.shape[1:] if per_row else matrix.shape
    if (
        len(shape) != 2
        or shape[0] != n_classes
        or shape[1] not in (n_classes, n_classes + 1)
        or (per_row and n_rows is not None and len(matrix) != n_rows)
    ):
        rows = "n" if n_rows is None else n_rows
        raise InvalidArgumentError(
            f"cost must be cost[actual][predicted] of shape ({n_classes}, {n_classes}), or "
            f"({n_classes}, {n_classes + 1}) with a last column for abstaining, or one such "
            f"matrix for each of the {rows} rows; got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError(
            "cost must be finite. Use a large number for a decision that must never be made."
        )
    return matrix


def row_costs(truth: IntArray, prediction: IntArray, cost: FloatArray) -> FloatArray:
    """Return the cost of each row from codes; the code after the last class is abstaining."""
    if cost.ndim == 3:
        return np.asarray(cost[np.arange(len(truth)), truth, prediction])
    return np.asarray(cost[truth, prediction])


def cost(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    cost: ArrayLike,
    labels: Sequence[Any] | None = None,
    abstain: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Total cost of the predictions, the sum over rows of ``cost[actual][predicted]``.

    Parameters
    ----------
    cost : array-like of shape (m, m), (m, m + 1), (n, m, m) or (n, m, m + 1)
        In the order of `labels`. An additional last column is the cost of abstaining; three
        dimensions give each row its own matrix. Negative costs are gains.
    labels : sequence, optional
        The classes; by default those that occur, sorted.
    abstain : label
        The prediction that means abstaining.

    Examples
    --------
    190 positive and 310 negative rows, where a missed positive costs 100:

    >>> truth = ["+"] * 190 + ["-"] * 310
    >>> prediction = ["+"] * 150 + ["-"] * 40 + ["+"] * 60 + ["-"] * 250
    >>> cost(truth, prediction, cost=[[-1, 100], [1, 0]], labels=["+", "-"])
    3910.0
    """
    actual = read_labels("truth", truth)
    decided, abstained = _split_abstentions(prediction, abstain)
    check_same_length(truth=actual, prediction=abstained)
    classes = find_classes(labels, actual, decided)
    matrix = check_cost(cost, len(classes), len(actual))
    if abstained.any() and matrix.shape[-1] == len(classes):
        raise InvalidArgumentError(
            "cost must have a last column for abstaining where predictions abstain; "
            f"got shape {matrix.shape} for the classes {classes.tolist()}."
        )
    codes = np.full(len(actual), len(classes))
    codes[~abstained] = class_codes("prediction", decided, classes)
    costs = row_costs(class_codes("truth", actual, classes), codes, matrix)
    weights = check_weights(sample_weight, len(actual))
    return float(costs.sum() if weights is None else weights @ costs)


def _split_abstentions(
    prediction: ArrayLike, abstain: object
) -> tuple[LabelArray, NDArray[np.bool_]]:
    array = np.asarray(prediction)
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"prediction must have one label per row; got an array of shape {array.shape}."
        )
    if abstain is None:
        abstained = np.array([value is None for value in array]) if array.dtype == object else None
    else:
        abstained = np.array([value == abstain for value in array.tolist()])
    if abstained is None:
        abstained = np.zeros(len(array), dtype=bool)
    return read_labels("prediction", array[~abstained]), abstained


def decide(
    probabilities: ArrayLike,
    cost: ArrayLike,
    labels: Sequence[Any],
    *,
    abstain: object = None,
) -> LabelArray:
    """Return the label of the decision with the least expected cost per row, the first of a tie.

    Parameters
    ----------
    probabilities : array-like of shape (n, m), or (n,) for the second of two classes
    cost : array-like
        As for `sureleaf.measures.cost`, with an abstain column if abstaining is a choice.
    labels : sequence of m labels
        The classes, in the order of the columns and of the cost matrix.
    abstain : label
        What to return if abstaining costs least.

    Examples
    --------
    >>> decide([[0.95, 0.05], [0.6, 0.4]], [[0, 1], [10, 0]], ["well", "ill"]).tolist()
    ['well', 'ill']
    >>> decide([0.5, 0.9], [[0, 9, 1], [9, 0, 1]], ["no", "yes"], abstain="ask").tolist()
    ['ask', 'yes']
    """
    classes = find_classes(labels)
    table = check_probabilities(probabilities, len(classes))
    matrix = check_cost(cost, len(classes), len(table))
    choice = cheapest_decision(table, matrix)
    if matrix.shape[-1] == len(classes):
        return np.asarray(classes[choice])
    words = np.empty(len(classes) + 1, dtype=object)
    words[:-1], words[-1] = classes.tolist(), abstain
    return np.asarray(words[choice])


def cost_threshold(
    cost: ArrayLike, *, labels: Sequence[Any] | None = None, positive: object = None
) -> float:
    """Return the probability of the positive class from which predicting it costs least.

    ``(C(+|-) - C(-|-)) / (C(+|-) - C(-|-) + C(-|+) - C(+|+))``, the threshold that `decide` uses
    for two classes, by default 0 and 1. At most 0 means to always predict the positive class, 1 or
    more never.

    Examples
    --------
    >>> cost_threshold([[0, 1], [9, 0]])
    0.1
    """
    matrix = check_cost(cost, 2)
    if matrix.shape != (2, 2):
        raise InvalidArgumentError(
            f"cost must have shape (2, 2) for one threshold; got {matrix.shape}. Use decide."
        )
    yes = positive_class(positive, find_classes([0, 1] if labels is None else labels))
    no = 1 - yes
    false_alarm = matrix[no, yes] - matrix[no, no]
    miss = matrix[yes, no] - matrix[yes, yes]
    if false_alarm + miss <= 0:
        raise InvalidArgumentError(
            "cost must make wrong predictions more expensive than correct ones in total; "
            f"got {matrix.tolist()}. Are rows actual and columns predicted classes?"
        )
    return float(false_alarm / (false_alarm + miss))


def cost_from_accuracy(accuracy: float, n: float, *, right: float, wrong: float) -> float:
    """Total cost if all correct predictions cost the same, and all wrong ones.

    ``n (wrong - (wrong - right) accuracy)``: with such costs, cost is a linear function of
    accuracy, and both rank models in the same order.

    Examples
    --------
    >>> cost_from_accuracy(0.75, 500, right=0.0, wrong=1.0)
    125.0
    """
    return float(n * (wrong - (wrong - right) * accuracy))


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Least normalised expected cost at each operating condition.

    Attributes
    ----------
    condition : ndarray
        Probability cost of the positive class, ``p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-))``.
    cost, thresholds : ndarray
        Normalised expected cost with the best threshold for that condition, from 0 to .5.
    trivial : ndarray
        Cost of the better of always and never predicting the positive class.
    area : float
        Area under the curve: the mean cost over all conditions; .25 for the trivial classifiers.
    """

    condition: FloatArray
    cost: FloatArray
    thresholds: FloatArray
    trivial: FloatArray
    area: float

    def __repr__(self) -> str:
        return f"CostCurve(area={self.area:.4f}, trivial 0.25)"


@dataclass(frozen=True, eq=False)
class CostByThreshold:
    """Mean cost per row at every threshold that changes a prediction.

    A row is predicted positive if its probability is at least the threshold. `best` has the least
    cost on these rows, which is optimistic for new rows.
    """

    thresholds: FloatArray
    costs: FloatArray
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

    There are `n_points` operating conditions c between 0 and 1; other parameters as for `roc`.

    References
    ----------
    Drummond, C., Holte, R. C. (2006). Cost curves: an improved method for visualizing
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
    """Return the area under the lower envelope.

    The envelope bends where two corners of the convex hull of the ROC curve have equal cost.
    Between two such conditions one corner is best, and its cost is a straight line.
    """
    corners: list[tuple[float, float]] = []
    points = zip(curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), strict=True)
    for point in points:
        while len(corners) > 1 and _turns_left(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
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

    Parameters as for `zero_one_loss` and `cost`; there are two classes.

    Examples
    --------
    >>> by_threshold = cost_by_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost=[[0, 1], [5, 0]])
    >>> by_threshold.thresholds.tolist(), by_threshold.costs.tolist()
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
    w = row_weights(weights, len(codes))
    order = np.argsort(-table[:, yes], kind="stable")
    scores = table[order, yes]
    change = (w * (own[:, yes] - own[:, 1 - yes]))[order]
    costs = np.concatenate([[0.0], np.cumsum(change)]) + w @ own[:, 1 - yes]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # ties together
    thresholds = np.concatenate([[np.inf], scores[last]])
    costs = costs[np.concatenate([[0], last + 1])] / w.sum()
    best = int(costs.argmin())
    return CostByThreshold(thresholds, costs, float(thresholds[best]), float(costs[best]))


@dataclass(frozen=True, eq=False)
class NetBenefit:
    """Net benefit per row of acting on predicted probabilities: a decision curve.

    A threshold t says that a missed positive is as bad as (1 - t) / t false alarms. Acting on no
    row has the net benefit 0.

    Attributes
    ----------
    thresholds : ndarray
        The probabilities from which one would act.
    model, treat_all : ndarray
        Net benefit of acting on the rows whose probability is at least the threshold, and on all.
    """

    thresholds: FloatArray
    model: FloatArray
    treat_all: FloatArray

    @property
    def treat_none(self) -> FloatArray:
        """0 at each threshold."""
        return np.zeros(len(self.thresholds))

    def __repr__(self) -> str:
        better = int(np.sum(self.model > np.maximum(self.treat_all, 0.0)))
        return (
            f"NetBenefit({len(self.thresholds)} thresholds, at {better} of them more than treating "
            "all or none)"
        )


def net_benefit(
    truth: ArrayLike,
    probabilities: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> NetBenefit:
    """Net benefit at each threshold t: ``(TP - FP t / (1 - t)) / n``, a decision curve [1]_.

    Parameters
    ----------
    thresholds : array-like, optional
        Probabilities from 0 to below 1; by default .01 to .99. A row is positive if its probability
        is at least the threshold.
    truth, probabilities, positive, labels, sample_weight
        As for `zero_one_loss`; with more than two classes, `positive` against the others.

    References
    ----------
    .. [1] Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis: a novel method for
       evaluating prediction models. Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> curve = net_benefit([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.2, 0.5])
    >>> curve.model.tolist(), curve.treat_all.tolist()
    ([0.4375, 0.25], [0.375, 0.0])
    """
    codes, table, classes = read_scored(truth, probabilities, labels)
    code = positive_class(positive, classes)
    if thresholds is None:
        thresholds = np.arange(1, 100) / 100
    t = np.atleast_1d(check_numbers("thresholds", thresholds))
    if t.ndim != 1 or not ((t >= 0) & (t < 1)).all():
        raise InvalidArgumentError(
            f"thresholds must be probabilities from 0 to below 1, in one list; got {t.tolist()}."
        )
    weights = check_weights(sample_weight, len(codes))
    w = row_weights(weights, len(codes))
    w, is_positive = w / w.sum(), codes == code
    order = np.argsort(table[:, code], kind="stable")
    first = np.searchsorted(table[order, code], t)  # the first row, in this order, that is acted on
    true, false = (
        np.append(np.cumsum((w * of_class)[order][::-1])[::-1], 0.0)
        for of_class in (is_positive, ~is_positive)
    )
    odds = t / (1 - t)
    return NetBenefit(t, true[first] - false[first] * odds, true[0] - false[0] * odds)

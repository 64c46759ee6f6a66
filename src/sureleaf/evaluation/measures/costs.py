"""Costs of predictions, decisions with the least cost, and cost curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    FloatArray,
    LabelArray,
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
from sureleaf.levels.decisions import cheapest_decision, number_matrix


def check_cost(cost: ArrayLike, n_classes: int) -> FloatArray:
    """Return a cost matrix (m, m), or with an abstain column (m, m + 1)."""
    matrix = number_matrix(cost)
    if matrix.shape not in ((n_classes, n_classes), (n_classes, n_classes + 1)):
        raise InvalidArgumentError(
            f"cost must be cost[actual][predicted] of shape ({n_classes}, {n_classes}), or "
            f"({n_classes}, {n_classes + 1}) with a last column for abstaining; got shape "
            f"{matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError(
            "cost must be finite. Use a large number for a decision that must never be made."
        )
    return matrix


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
    cost : array-like of shape (m, m) or (m, m + 1)
        In the order of `labels`. An additional last column is the cost of abstaining. Negative
        costs are gains.
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
    matrix = check_cost(cost, len(classes))
    if abstained.any() and matrix.shape[-1] == len(classes):
        raise InvalidArgumentError(
            "cost must have a last column for abstaining where predictions abstain; "
            f"got shape {matrix.shape} for the classes {classes.tolist()}."
        )
    codes = np.full(len(actual), len(classes))
    codes[~abstained] = class_codes("prediction", decided, classes)
    costs = matrix[class_codes("truth", actual, classes), codes]
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
    matrix = check_cost(cost, len(classes))
    choice = cheapest_decision(table, matrix)
    if matrix.shape[-1] == len(classes):
        return np.asarray(classes[choice])
    words = np.empty(len(classes) + 1, dtype=object)
    words[:-1], words[-1] = classes.tolist(), abstain
    return np.asarray(words[choice])


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
    sample_weight: ArrayLike | None = None,
) -> NetBenefit:
    """Net benefit at each threshold t: ``(TP - FP t / (1 - t)) / n``.

    Drawn over the thresholds it is a decision curve [1]_.

    Parameters
    ----------
    thresholds : array-like, optional
        Probabilities from 0 to below 1; by default .01 to .99. A row is positive if its probability
        is at least the threshold.
    truth, probabilities, positive, sample_weight
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
    codes, table, classes = read_scored(truth, probabilities, None)
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

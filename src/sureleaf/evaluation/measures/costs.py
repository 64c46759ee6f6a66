"""Costs of predictions, decisions with the least cost, and cost curves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import (
    FloatArray,
    LabelArray,
    check_numbers,
    check_probabilities,
    check_weights,
    row_weights,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import class_codes, find_classes, positive_class, read_pair
from sureleaf.evaluation.measures.losses import read_scored
from sureleaf.levels.decisions import cheapest_decision, number_matrix


def check_cost(cost: ArrayLike, n_classes: int) -> FloatArray:
    """Return a cost matrix with one row and one column per class."""
    matrix = number_matrix(cost)
    if matrix.shape != (n_classes, n_classes):
        raise InvalidArgumentError(
            f"cost must be cost[actual][predicted] of shape ({n_classes}, {n_classes}); got shape "
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
    sample_weight: ArrayLike | None = None,
) -> float:
    """Total cost of the predictions, the sum over rows of ``cost[actual][predicted]``.

    The costs are in the order of the labels, by default the classes that occur, sorted. Negative
    costs are gains.

    Examples
    --------
    190 positive and 310 negative rows, where a missed positive costs 100:

    >>> truth = ["+"] * 190 + ["-"] * 310
    >>> prediction = ["+"] * 150 + ["-"] * 40 + ["+"] * 60 + ["-"] * 250
    >>> cost(truth, prediction, cost=[[-1, 100], [1, 0]], labels=["+", "-"])
    3910.0
    """
    actual, decided = read_pair(truth, prediction)
    classes = find_classes(labels, actual, decided)
    costs = check_cost(cost, len(classes))[
        class_codes("truth", actual, classes), class_codes("prediction", decided, classes)
    ]
    weights = check_weights(sample_weight, len(actual))
    return float(costs.sum() if weights is None else weights @ costs)


def decide(probabilities: ArrayLike, cost: ArrayLike, labels: Sequence[Any]) -> LabelArray:
    """Return the label of the decision with the least expected cost per row, the first of a tie.

    The labels are those of the columns of the probabilities and of the cost matrix
    (``cost[actual][predicted]``).

    Examples
    --------
    >>> decide([[0.95, 0.05], [0.6, 0.4]], [[0, 1], [10, 0]], ["well", "ill"]).tolist()
    ['well', 'ill']
    """
    classes = find_classes(labels)
    table = check_probabilities(probabilities, len(classes))
    return np.asarray(classes[cheapest_decision(table, check_cost(cost, len(classes)))])


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
    """

    thresholds: FloatArray  # the probabilities from which one would act
    model: FloatArray  # of acting on the rows whose probability is at least the threshold
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

    Drawn over the thresholds (.01 to .99 by default) it is a decision curve [1]_. A row is
    positive if its probability is at least the threshold. Other parameters as for `zero_one_loss`;
    with more than two classes, `positive` is against the others.

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
    w = row_weights(check_weights(sample_weight, len(codes)), len(codes))
    w, is_positive = w / w.sum(), codes == code
    order = np.argsort(table[:, code], kind="stable")
    first = np.searchsorted(table[order, code], t)  # the first row, in this order, that is acted on
    true, false = (
        np.append(np.cumsum((w * of_class)[order][::-1])[::-1], 0.0)
        for of_class in (is_positive, ~is_positive)
    )
    odds = t / (1 - t)
    return NetBenefit(t, true[first] - false[first] * odds, true[0] - false[0] * odds)

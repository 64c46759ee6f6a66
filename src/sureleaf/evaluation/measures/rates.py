"""Rates of right and wrong predictions.

Every rate is a ratio of cells of one confusion matrix. scikit-learn's versions give the same
numbers (the tests compare them) but warn or return NaN where a class never occurs; here such a
rate is defined: **a rate of no rows is 0**.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, Integers, check_weights
from sureleaf.evaluation.labels import check_kind, find_classes, positive_class, read_pair
from sureleaf.evaluation.measures.confusion import confusion_matrix

__all__ = [
    "Counts",
    "accuracy",
    "error",
    "f_measure",
    "f_measure_of",
    "false_negative_rate",
    "false_positive_rate",
    "precision",
    "ratio",
    "recall",
    "specificity",
    "weighted_accuracy",
]

Counts = Floats | Integers
"""A confusion matrix, of rows or of their weights."""


class _Table(NamedTuple):
    """The lecture's a, b, c, d: one class against all others."""

    true_positive: float
    false_negative: float
    false_positive: float
    true_negative: float


def _two_by_two(
    truth: ArrayLike, prediction: ArrayLike, positive: object, sample_weight: ArrayLike | None
) -> _Table:
    actual, predicted = read_pair(truth, prediction)
    label = _positive_label(positive, actual, predicted)
    is_positive, says_positive = np.asarray(actual == label), np.asarray(predicted == label)
    weights = check_weights(sample_weight, len(actual))
    if weights is None:
        n, both = float(len(actual)), float(np.count_nonzero(is_positive & says_positive))
        actual_sum = float(np.count_nonzero(is_positive))
        predicted_sum = float(np.count_nonzero(says_positive))
    else:
        n, both = float(weights.sum()), float(weights @ (is_positive & says_positive))
        actual_sum, predicted_sum = float(weights @ is_positive), float(weights @ says_positive)
    cells = (both, actual_sum - both, predicted_sum - both, n - actual_sum - predicted_sum + both)
    return _Table(*(max(cell, 0.0) for cell in cells))  # weights may round to -1e-16


def _positive_label(positive: object, actual: Any, predicted: Any) -> object:
    if positive is not None:
        check_kind(positive, actual)
        return positive
    if actual.dtype.kind == "b" and predicted.dtype.kind == "b":
        return True
    classes = find_classes(None, actual, predicted)
    if classes.dtype.kind in "iuf" and set(classes.tolist()) <= {0, 1}:
        return 1
    return classes[positive_class(None, classes)]


def ratio(part: float, whole: float) -> float:
    """Part of a whole; 0 of nothing.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0)
    (0.25, 0.0)
    """
    return part / whole if whole > 0 else 0.0


def accuracy(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows predicted right, (TP + TN) / (P + N) (Xu, (17)).

    Parameters
    ----------
    truth, prediction : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> accuracy(["yes", "no", "no"], ["yes", "no", "yes"])
    0.6666666666666666
    """
    actual, predicted = read_pair(truth, prediction)
    weights = check_weights(sample_weight, len(actual))
    # Hits instead of labels: scikit-learn takes labels such as 1.5 for values to regress on.
    hits = np.asarray(actual == predicted)
    return float(accuracy_score(np.ones(len(hits), dtype=bool), hits, sample_weight=weights))


def error(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows predicted wrong, 1 - accuracy (Xu, (18)).

    Examples
    --------
    >>> error(["yes", "no", "no", "no"], ["yes", "no", "no", "yes"])
    0.25
    """
    return 1.0 - accuracy(truth, prediction, sample_weight=sample_weight)


def precision(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the rows predicted positive that are, TP / (TP + FP) (Xu, (19)).

    Parameters
    ----------
    truth, prediction : array-like of shape (n,)
    positive : label, optional
        The class in question, against all others. By default the second of two classes.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float
        0 if no row is predicted positive.

    Examples
    --------
    >>> precision([1, 0, 0, 1], [1, 1, 0, 0])
    0.5
    """
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(table.true_positive, table.true_positive + table.false_positive)


def recall(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positive rows that are found, TP / P (sensitivity; Xu, (22)).

    0 if there is no positive row. Parameters as for `precision`.

    Examples
    --------
    >>> recall([1, 1, 1, 0], [1, 0, 0, 1])
    0.3333333333333333
    """
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(table.true_positive, table.true_positive + table.false_negative)


def specificity(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negative rows that are predicted negative, TN / N (Xu, (20)).

    0 if there is no negative row. Parameters as for `precision`.

    Examples
    --------
    >>> specificity([0, 0, 0, 1], [0, 0, 1, 1])
    0.6666666666666666
    """
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(table.true_negative, table.true_negative + table.false_positive)


def false_positive_rate(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negative rows that raise a false alarm, FP / N (type I error; Xu, (23)).

    0 if there is no negative row. Parameters as for `precision`.

    Examples
    --------
    >>> false_positive_rate([0, 0, 0, 1], [0, 0, 1, 1])
    0.3333333333333333
    """
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(table.false_positive, table.true_negative + table.false_positive)


def false_negative_rate(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positive rows that are missed, FN / P (type II error; Xu, (21)).

    0 if there is no positive row. Parameters as for `precision`.

    Examples
    --------
    >>> false_negative_rate([1, 1, 1, 0], [1, 0, 0, 1])
    0.6666666666666666
    """
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(table.false_negative, table.true_positive + table.false_negative)


def f_measure(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    beta: float = 1.0,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F measure, (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP); for b = 1 the lecture's 2a/(2a+b+c).

    Parameters
    ----------
    truth, prediction, positive, sample_weight
        As for `precision`.
    beta : float
        How many times as important recall is as precision.

    Returns
    -------
    float
        0 if no row is positive or predicted so.

    Examples
    --------
    >>> f_measure([1, 0, 0, 1], [1, 1, 0, 0])
    0.5
    """
    if not 0 < beta < math.inf:
        raise InvalidArgumentError(f"beta must be above 0; got {beta}.")
    table = _two_by_two(truth, prediction, positive, sample_weight)
    return _f(table.true_positive, table.false_negative, table.false_positive, beta)


def f_measure_of(counts: Counts, positive: int) -> float:
    """F measure of one class (its code) from a confusion matrix.

    Examples
    --------
    >>> f_measure_of(np.array([[8, 2], [2, 2]]), positive=1)
    0.5
    """
    hits = float(counts[positive, positive])
    actual, predicted = float(counts[positive].sum()), float(counts[:, positive].sum())
    return _f(hits, actual - hits, predicted - hits, 1.0)


def _f(hits: float, missed: float, alarms: float, beta: float) -> float:
    weighed = (1 + beta**2) * hits
    return ratio(weighed, weighed + beta**2 * missed + alarms)


def weighted_accuracy(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    weights: ArrayLike,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Accuracy with a weight on each cell, (w1 a + w4 d) / (w1 a + w2 b + w3 c + w4 d).

    Parameters
    ----------
    truth, prediction, positive, sample_weight
        As for `precision`.
    weights : array-like of 4 numbers, or of shape (m, m)
        Weights of true positives, false negatives, false positives and true negatives; or, for
        m classes, ``weights[actual][predicted]`` in the order of `labels`.
    labels : sequence, optional
        The classes, for a matrix of weights; sorted by default.

    Returns
    -------
    float

    Examples
    --------
    >>> weighted_accuracy([1, 1, 0, 0], [1, 0, 0, 0], weights=[1, 10, 1, 1])
    0.23076923076923078
    """
    cells = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise InvalidArgumentError(f"weights must be at least 0; got {cells.tolist()}.")
    if cells.shape == (4,):
        table = np.array(_two_by_two(truth, prediction, positive, sample_weight))
        return ratio(float(cells[[0, 3]] @ table[[0, 3]]), float(cells @ table))
    matrix = confusion_matrix(truth, prediction, labels=labels, sample_weight=sample_weight)
    if cells.shape != matrix.counts.shape:
        raise InvalidArgumentError(
            f"weights must be 4 numbers or a matrix of shape {matrix.counts.shape} for the "
            f"classes {matrix.labels.tolist()}; got shape {cells.shape}."
        )
    weighed = cells * matrix.counts
    return ratio(float(np.trace(weighed)), float(weighed.sum()))

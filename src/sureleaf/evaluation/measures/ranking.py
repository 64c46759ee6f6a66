"""Measures of ranking: the ROC curve, its area, and the average precision."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_same_length,
    check_weights,
    read_labels,
    row_weights,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import check_kind, find_classes, positive_class
from sureleaf.evaluation.measures.losses import read_scored

__all__ = ["Roc", "auc", "average_precision", "roc"]


@dataclass(frozen=True, eq=False)
class Roc:
    """Receiver operating characteristic: both rates at each threshold.

    A row is predicted positive if its score is at least the threshold; the first is infinite.
    """

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    thresholds: FloatArray
    area: float

    def __repr__(self) -> str:
        return f"Roc(area={self.area:.4f}, {len(self.thresholds)} points)"


def _binary(
    truth: ArrayLike, scores: ArrayLike, positive: object, labels: Sequence[Any] | None
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which rows are positive, and their scores."""
    actual = read_labels("truth", truth)
    table = np.asarray(scores, dtype=np.float64)
    check_same_length(truth=actual, scores=table)
    if positive is not None and len(actual):
        check_kind(positive, actual)
    if actual.dtype.kind == "b" and positive is None and labels is None:
        positive = True
    if positive is None or table.ndim == 2:
        classes = find_classes(labels, actual)
        if labels is None and set(classes.tolist()) < {0, 1}:
            classes = np.array([0, 1])
        code = positive_class(positive, classes)
        positive = classes[code]
        if table.ndim == 2:
            if table.shape[1] != len(classes):
                raise InvalidArgumentError(
                    f"scores must have one column for each of the {len(classes)} classes, or be "
                    f"one score per row; got shape {table.shape}."
                )
            table = table[:, code]
    if np.isnan(table).any():
        row = int(np.flatnonzero(np.isnan(table))[0])
        raise InvalidArgumentError(f"scores must be numbers; row {row} is NaN. Remove it.")
    return np.asarray(actual == positive), table


def roc(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Roc:
    """Receiver operating characteristic of one class against the others.

    Parameters
    ----------
    truth : array-like of shape (n,)
        Rows of both classes.
    scores : array-like of shape (n,) or (n, m)
        Scores of the positive class, or one column of scores per class.
    positive : label, optional
        By default the second of two classes.
    labels : sequence, optional
        The classes of the columns; by default those of truth, sorted.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.area, curve.true_positive_rate.tolist()
    (0.75, [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    is_positive, row = _binary(truth, scores, positive, labels)
    weights = check_weights(sample_weight, len(row))
    counted = is_positive if weights is None else is_positive[weights > 0]
    if counted.all() or not counted.any():
        raise InvalidArgumentError(
            "A ROC curve needs rows of both classes; all rows are "
            f"{'positive' if counted.any() else 'negative'}. Check positive=."
        )
    from sklearn.metrics import roc_curve

    false, true, thresholds = roc_curve(is_positive, row, sample_weight=weights)
    return Roc(false, true, thresholds, float(np.trapezoid(true, false)))


def auc(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    average: str = "macro",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve: P(a positive row scores higher than a negative one), ties half.

    For more than two classes and no `positive`, it is the mean over classes of the area of each
    against the rest, plain or weighted by the class frequencies (``average="weighted"``). NaN if
    all rows are of one class; a class that does not occur is not in the mean. Other parameters as
    for `roc`.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auc(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.1, 0.5, 0.4]])
    0.8333333333333334
    """
    check_choice("average", average, ("macro", "weighted"))
    table = np.asarray(scores)
    if table.ndim == 2 and table.shape[1] > 2 and positive is None:
        return _one_vs_rest(truth, table, labels, average, sample_weight)
    is_positive, row = _binary(truth, scores, positive, labels)
    return _area(is_positive, row, check_weights(sample_weight, len(row)))


def _area(is_positive: NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None) -> float:
    if is_positive.all() or not is_positive.any():
        return math.nan
    w = row_weights(weights, len(scores))
    # scikit-learn's function gives the same, but its checks take longer than the rows of a fold.
    _, rank = np.unique(scores, return_inverse=True)
    positives, negatives = np.bincount(rank, w * is_positive), np.bincount(rank, w * ~is_positive)
    pairs = float(positives.sum() * negatives.sum())
    if not pairs > 0:
        return math.nan
    below = np.cumsum(negatives) - negatives
    return float(positives @ (below + negatives / 2) / pairs)


def _one_vs_rest(
    truth: ArrayLike,
    table: NDArray[Any],
    labels: Sequence[Any] | None,
    average: str,
    sample_weight: ArrayLike | None,
) -> float:
    codes, probabilities, classes = read_scored(truth, table, labels)
    weights = check_weights(sample_weight, len(codes))
    areas = [_area(codes == k, probabilities[:, k], weights) for k in range(len(classes))]
    shares = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
    ranked = ~np.isnan(areas)
    if not ranked.any():
        return math.nan
    return float(
        np.average(np.array(areas)[ranked], weights=shares[ranked] if average != "macro" else None)
    )


def average_precision(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean precision over the recalls that a falling threshold reaches.

    NaN if there is no positive row. Parameters as for `roc`.

    Examples
    --------
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    is_positive, row = _binary(truth, scores, positive, labels)
    weights = check_weights(sample_weight, len(row))
    if not (is_positive if weights is None else is_positive & (weights > 0)).any():
        return math.nan
    # Not scikit-learn's, whose checks take longer than the sums: intervals need a thousand of them.
    order = np.argsort(-row, kind="stable")
    descending = row[order]
    is_last = np.append(descending[1:] != descending[:-1], True)  # rows of equal score are one step
    counted = row_weights(weights, len(row))[order]
    n_positive = np.cumsum(np.where(is_positive[order], counted, 0.0))[is_last]
    n_above = np.cumsum(counted)[is_last]
    steps = np.diff(n_positive, prepend=0.0)
    reached = steps > 0
    return float((steps[reached] * n_positive[reached] / n_above[reached]).sum() / n_positive[-1])

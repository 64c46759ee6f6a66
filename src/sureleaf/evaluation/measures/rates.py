"""Rates of correct and wrong predictions.

Every rate is a ratio of cells of the confusion matrix. scikit-learn's versions give the same
numbers (the tests compare them) but warn or return NaN if a class never occurs. Here such a rate
is defined: **a rate of no rows is 0**. Equation numbers are those of Xu (2022).

References
----------
Xu, R. (2022). Model evaluation for classification. Lecture notes, 15 August 2022.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import FloatArray, IntArray, LabelArray, check_weights
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import (
    check_kind,
    class_codes,
    find_classes,
    positive_class,
    read_pair,
)
from sureleaf.formatting import TextDisplay


@dataclass(frozen=True, eq=False)
class ConfusionMatrix(TextDisplay):
    """Rows by actual class, columns by predicted class, with margins.

    ``counts[i, j]`` are the rows of class i that were predicted as class j; sums of weights if rows
    have weights.

    Examples
    --------
    >>> print(confusion_matrix(["cat", "cat", "dog"], ["cat", "dog", "dog"]))
    actual | cat  dog | sum
    cat    |   1    1 |   2
    dog    |   0    1 |   1
    sum    |   1    2 |   3
    """

    labels: LabelArray
    counts: FloatArray | IntArray

    @property
    def actual(self) -> FloatArray | IntArray:
        """Rows of each actual class (the right margin)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> FloatArray | IntArray:
        """Rows of each predicted class (the bottom margin)."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def total(self) -> float:
        """All rows."""
        return float(self.counts.sum())

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """Return the matrix as text, with lines of at most this many letters.

        Where the names of the columns do not fit, the classes are numbered; where the numbers do
        not fit either, the columns are shown in several blocks.
        """
        names = [str(label) for label in self.labels.tolist()]
        body = np.column_stack([self.counts, self.actual])
        body = np.vstack([body, np.append(self.predicted, self.total)])
        cells = [[f"{value:.10g}" for value in row] for row in body]
        lines = _matrix_lines(names, names, cells)
        if width is None or len(lines[0]) <= width:
            return "\n".join(lines)
        numbers = [str(number) for number in range(1, len(names) + 1)]
        digits = len(numbers[-1])
        longest = max(width // 2, digits + 2)
        sides = [f"{number:>{digits}} {name}" for number, name in zip(numbers, names, strict=True)]
        sides = [side if len(side) <= longest else f"{side[: longest - 1]}…" for side in sides]
        blocks, start = [], 0
        while start < len(names):
            for stop in range(len(names), start, -1):  # as many columns as fit, or one
                shown = [[*row[start:stop], row[-1]] for row in cells]
                lines = _matrix_lines(sides, numbers[start:stop], shown)
                if len(lines[0]) <= width:
                    break
            blocks.append("\n".join(lines))
            start = stop
        return "\n\n".join(blocks)

    __repr__ = __str__


def _matrix_lines(sides: list[str], heads: list[str], cells: list[list[str]]) -> list[str]:
    """Return the lines of a confusion matrix with these names of its rows and columns."""
    sides, heads = ["actual", *sides, "sum"], [*heads, "sum"]
    side = max(map(len, sides))
    widths = [max(len(head), *(len(row[j]) for row in cells)) for j, head in enumerate(heads)]
    lines = []
    for name, row in zip(sides, [heads, *cells], strict=True):
        padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append(f"{name.ljust(side)} | {'  '.join(padded[:-1])} | {padded[-1]}")
    return lines


def confusion_matrix(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> ConfusionMatrix:
    """Count rows by actual and predicted class.

    The classes are those of `labels`, in that order; by default all that occur, sorted. A class
    that never occurs has a row and a column of zeros.

    Examples
    --------
    >>> confusion_matrix([1, 1, 0], [1, 0, 0]).counts.tolist()
    [[1, 0], [1, 1]]
    """
    actual, predicted = read_pair(truth, prediction)
    classes = find_classes(labels, actual, predicted)
    codes = class_codes("truth", actual, classes), class_codes("prediction", predicted, classes)
    weights = check_weights(sample_weight, len(actual))
    return ConfusionMatrix(classes, count_pairs(*codes, len(classes), weights))


def count_pairs(
    truth: IntArray, prediction: IntArray, n_classes: int, weights: FloatArray | None = None
) -> FloatArray | IntArray:
    """Return the confusion matrix of class codes."""
    cells = np.bincount(truth * n_classes + prediction, weights, minlength=n_classes**2)
    return np.asarray(cells.reshape(n_classes, n_classes))


ConfusionCounts = FloatArray | IntArray
"""A confusion matrix, of rows or of their weights."""


def _two_by_two(
    truth: ArrayLike, prediction: ArrayLike, positive: object, sample_weight: ArrayLike | None
) -> tuple[float, float, float, float]:
    """Return TP, FN, FP and TN of one class against all others."""
    actual, predicted = read_pair(truth, prediction)
    label = _positive_label(positive, actual, predicted)
    weights = check_weights(sample_weight, len(actual))
    is_other = (np.asarray(actual != label) * 1, np.asarray(predicted != label) * 1)
    tp, fn, fp, tn = count_pairs(*is_other, 2, weights).astype(np.float64).ravel().tolist()
    return tp, fn, fp, tn


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
    """Return part / whole, with 0 / 0 = 0."""
    return part / whole if whole > 0 else 0.0


def accuracy(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows predicted correctly, (TP + TN) / (P + N), (17).

    Examples
    --------
    >>> accuracy(["yes", "no", "no"], ["yes", "no", "yes"])
    0.6666666666666666
    """
    actual, predicted = read_pair(truth, prediction)
    weights = check_weights(sample_weight, len(actual))
    return float(np.average(np.asarray(actual == predicted), weights=weights))


def error(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Share of rows predicted wrongly, 1 - accuracy, (18).

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
    """Share of positive rows among those predicted positive, TP / (TP + FP), (19).

    The positive class is against all others; by default it is the second of two classes. 0 if no
    row is predicted positive.

    Examples
    --------
    >>> precision([1, 0, 0, 1], [1, 1, 0, 0])
    0.5
    """
    tp, _, fp, _ = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(tp, tp + fp)


def recall(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positive rows that are predicted positive, TP / P (sensitivity), (22).

    0 if there is no positive row. Parameters as for `precision`.

    Examples
    --------
    >>> recall([1, 1, 1, 0], [1, 0, 0, 1])
    0.3333333333333333
    """
    tp, fn, _, _ = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(tp, tp + fn)


def specificity(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negative rows that are predicted negative, TN / N, (20).

    0 if there is no negative row. Parameters as for `precision`.

    Examples
    --------
    >>> specificity([0, 0, 0, 1], [0, 0, 1, 1])
    0.6666666666666666
    """
    _, _, fp, tn = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(tn, tn + fp)


def false_positive_rate(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the negative rows that are predicted positive, FP / N (type I error), (23).

    0 if there is no negative row. Parameters as for `precision`.

    Examples
    --------
    >>> false_positive_rate([0, 0, 0, 1], [0, 0, 1, 1])
    0.3333333333333333
    """
    _, _, fp, tn = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(fp, tn + fp)


def false_negative_rate(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the positive rows that are predicted negative, FN / P (type II error), (21).

    0 if there is no positive row. Parameters as for `precision`.

    Examples
    --------
    >>> false_negative_rate([1, 1, 1, 0], [1, 0, 0, 1])
    0.6666666666666666
    """
    tp, fn, _, _ = _two_by_two(truth, prediction, positive, sample_weight)
    return ratio(fn, tp + fn)


def f_measure(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    beta: float = 1.0,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """F measure, (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP).

    0 if no row is positive or predicted positive. `beta` is the weight of recall relative to
    precision; other parameters as for `precision`.

    Examples
    --------
    >>> f_measure([1, 0, 0, 1], [1, 1, 0, 0])
    0.5
    """
    if not 0 < beta < math.inf:
        raise InvalidArgumentError(f"beta must be above 0; got {beta}.")
    tp, fn, fp, _ = _two_by_two(truth, prediction, positive, sample_weight)
    return _f(tp, fn, fp, beta)


def f_measure_of(counts: ConfusionCounts, positive: int) -> float:
    """Return the F measure of one class (its code) from a confusion matrix."""
    tp = float(counts[positive, positive])
    actual, predicted = float(counts[positive].sum()), float(counts[:, positive].sum())
    return _f(tp, actual - tp, predicted - tp, 1.0)


def _f(tp: float, fn: float, fp: float, beta: float) -> float:
    weighted = (1 + beta**2) * tp
    return ratio(weighted, weighted + beta**2 * fn + fp)


def weighted_accuracy(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    weights: ArrayLike,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Accuracy with a weight on each cell, (w1 a + w4 d) / (w1 a + w2 b + w3 c + w4 d).

    The four weights are those of true positives, false negatives, false positives and true
    negatives. Other parameters as for `precision`.

    Examples
    --------
    >>> weighted_accuracy([1, 1, 0, 0], [1, 0, 0, 0], weights=[1, 10, 1, 1])
    0.23076923076923078
    """
    cells = np.asarray(weights, dtype=np.float64)
    if cells.shape != (4,) or not np.isfinite(cells).all() or (cells < 0).any():
        raise InvalidArgumentError(f"weights must be 4 numbers, 0 or more; got {cells.tolist()}.")
    table = np.array(_two_by_two(truth, prediction, positive, sample_weight))
    return ratio(float(cells[[0, 3]] @ table[[0, 3]]), float(cells @ table))


# Measures of agreement that a frequent class does not inflate. Kappa and Matthews' coefficient of
# constant labels are 0 (no agreement beyond chance), and the balanced accuracy is the mean over the
# classes that occur; scikit-learn's versions warn or return NaN.


def balanced_accuracy(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of the recalls of the classes that occur.

    Examples
    --------
    >>> balanced_accuracy([0] * 9 + [1], [0] * 10)
    0.5
    """
    matrix = confusion_matrix(truth, prediction, sample_weight=sample_weight)
    return balanced_accuracy_of(matrix.counts)


def balanced_accuracy_of(counts: ConfusionCounts) -> float:
    """Return the balanced accuracy from a confusion matrix."""
    actual = counts.sum(axis=1)
    occurs = actual > 0
    return float(np.mean(np.diag(counts)[occurs] / actual[occurs]))


def kappa(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Cohen's kappa, the agreement beyond chance: (accuracy - chance) / (1 - chance).

    0 if chance alone gives full agreement.

    Examples
    --------
    >>> kappa([0, 0, 1, 1], [0, 0, 1, 0])
    0.5
    """
    return kappa_of(confusion_matrix(truth, prediction, sample_weight=sample_weight).counts)


def kappa_of(counts: ConfusionCounts) -> float:
    """Return Cohen's kappa from a confusion matrix."""
    share = counts / counts.sum()
    chance = float(share.sum(axis=1) @ share.sum(axis=0))
    return ratio(float(np.trace(share)) - chance, 1 - chance)


def matthews(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Matthews' correlation of truth and prediction (Gorodkin's for more than two classes).

    0 if truth or prediction is constant.

    Examples
    --------
    >>> matthews([0, 0, 1, 1], [0, 0, 1, 0])
    0.5773502691896258
    """
    return matthews_of(confusion_matrix(truth, prediction, sample_weight=sample_weight).counts)


def matthews_of(counts: ConfusionCounts) -> float:
    """Return Matthews' coefficient from a confusion matrix."""
    share = counts / counts.sum()
    actual, predicted = share.sum(axis=1), share.sum(axis=0)
    if min(np.count_nonzero(actual), np.count_nonzero(predicted)) < 2:
        return 0.0  # otherwise a quotient of rounding errors
    covariance = float(np.trace(share) - actual @ predicted)
    spread = float(1 - actual @ actual) * float(1 - predicted @ predicted)
    coefficient = ratio(covariance, math.sqrt(max(spread, 0.0)))
    return min(max(coefficient, -1.0), 1.0)  # rounding may exceed 1

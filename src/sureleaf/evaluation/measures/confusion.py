"""Which class is taken for which, counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.evaluation.arguments import Floats, Integers, Labels, check_weights
from sureleaf.evaluation.labels import class_codes, find_classes, read_pair
from sureleaf.evaluation.shown import ShownAsText

__all__ = ["ConfusionMatrix", "confusion_matrix", "count_pairs"]


@dataclass(frozen=True, eq=False)
class ConfusionMatrix(ShownAsText):
    """Rows by actual class, columns by predicted class, with margins (Xu, Table 1).

    Attributes
    ----------
    labels : ndarray of shape (m,)
    counts : ndarray of shape (m, m)
        ``counts[i, j]``: rows of class i that were predicted to be of class j; sums of weights
        where rows have weights.

    Examples
    --------
    >>> print(confusion_matrix(["cat", "cat", "dog"], ["cat", "dog", "dog"]))
    actual | cat  dog | sum
    cat    |   1    1 |   2
    dog    |   0    1 |   1
    sum    |   1    2 |   3
    """

    labels: Labels
    counts: Floats | Integers

    @property
    def actual(self) -> Floats | Integers:
        """Rows of each actual class (the margin at the right)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> Floats | Integers:
        """Rows of each predicted class (the margin below)."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def total(self) -> float:
        """All rows."""
        return float(self.counts.sum())

    def __str__(self) -> str:
        names = [str(label) for label in self.labels.tolist()]
        body = np.column_stack([self.counts, self.actual])
        body = np.vstack([body, np.append(self.predicted, self.total)])
        cells = [[f"{value:.10g}" for value in row] for row in body]
        heads = [*names, "sum"]
        widths = [max(len(head), *(len(row[j]) for row in cells)) for j, head in enumerate(heads)]
        side = max(len("actual"), *(len(name) for name in heads))
        lines = []
        for name, row in zip(["actual", *heads], [heads, *cells], strict=True):
            padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append(f"{name.ljust(side)} | {'  '.join(padded[:-1])} | {padded[-1]}")
        return "\n".join(lines)

    __repr__ = __str__


def confusion_matrix(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> ConfusionMatrix:
    """Count rows by actual and predicted class.

    Parameters
    ----------
    truth, prediction : array-like of shape (n,)
    labels : sequence, optional
        The classes in the order wanted, by default all that occur, sorted. A class that never
        occurs has a row and a column of zeros.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    ConfusionMatrix

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
    truth: Integers, prediction: Integers, n_classes: int, weights: Floats | None = None
) -> Floats | Integers:
    """Confusion matrix of codes.

    Examples
    --------
    >>> count_pairs(np.array([0, 1, 1]), np.array([0, 0, 1]), 2).tolist()
    [[1, 0], [1, 1]]
    """
    cells = np.bincount(truth * n_classes + prediction, weights, minlength=n_classes**2)
    return np.asarray(cells.reshape(n_classes, n_classes))

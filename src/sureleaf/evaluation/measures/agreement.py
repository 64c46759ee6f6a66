"""Agreement of truth and prediction that a frequent class cannot feign.

As for the rates, scikit-learn's versions give the same numbers but warn or return NaN where a
class never occurs; here kappa and Matthews' coefficient of constant labels are 0 (no agreement
beyond chance), and the balanced accuracy is the mean over the classes that occur.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.evaluation.measures.confusion import confusion_matrix
from sureleaf.evaluation.measures.rates import Counts, ratio

__all__ = [
    "balanced_accuracy",
    "balanced_accuracy_of",
    "kappa",
    "kappa_of",
    "matthews",
    "matthews_of",
]


def balanced_accuracy(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of the classes' recalls, over the classes that occur.

    Examples
    --------
    >>> balanced_accuracy([0] * 9 + [1], [0] * 10)
    0.5
    """
    matrix = confusion_matrix(truth, prediction, sample_weight=sample_weight)
    return balanced_accuracy_of(matrix.counts)


def balanced_accuracy_of(counts: Counts) -> float:
    """Mean recall from a confusion matrix.

    Examples
    --------
    >>> balanced_accuracy_of(np.array([[8, 2], [0, 4]]))
    0.9
    """
    actual = counts.sum(axis=1)
    occurs = actual > 0
    return float(np.mean(np.diag(counts)[occurs] / actual[occurs]))


def kappa(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Agreement beyond that of chance (Cohen): (accuracy - chance) / (1 - chance).

    0 where chance alone agrees always.

    Examples
    --------
    >>> kappa([0, 0, 1, 1], [0, 0, 1, 0])
    0.5
    """
    return kappa_of(confusion_matrix(truth, prediction, sample_weight=sample_weight).counts)


def kappa_of(counts: Counts) -> float:
    """Cohen's kappa from a confusion matrix.

    Examples
    --------
    >>> kappa_of(np.array([[2, 0], [1, 1]]))
    0.5
    """
    share = counts / counts.sum()
    chance = float(share.sum(axis=1) @ share.sum(axis=0))
    return ratio(float(np.trace(share)) - chance, 1 - chance)


def matthews(
    truth: ArrayLike, prediction: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Correlation of truth and prediction (Matthews; Gorodkin's for more than two classes).

    0 where truth or prediction is constant.

    Examples
    --------
    >>> matthews([0, 0, 1, 1], [0, 0, 1, 0])
    0.5773502691896258
    """
    return matthews_of(confusion_matrix(truth, prediction, sample_weight=sample_weight).counts)


def matthews_of(counts: Counts) -> float:
    """Matthews' coefficient from a confusion matrix.

    Examples
    --------
    >>> round(matthews_of(np.array([[2, 0], [1, 1]])), 4)
    0.5774
    """
    share = counts / counts.sum()
    actual, predicted = share.sum(axis=1), share.sum(axis=0)
    covariance = float(np.trace(share) - actual @ predicted)
    spread = float(1 - actual @ actual) * float(1 - predicted @ predicted)
    found = ratio(covariance, math.sqrt(max(spread, 0.0)))
    return min(max(found, -1.0), 1.0)  # rounding strays

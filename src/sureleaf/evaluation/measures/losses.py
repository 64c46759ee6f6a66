"""Losses of predicted probabilities, per row and on average.

Equation numbers are those of Xu (2022). NCE (log loss), QL (quadratic loss) and 01L (0/1 loss) are
the names of Chawla and Cieslak (2006).

References
----------
Xu, R. (2022). Model evaluation for classification. Lecture notes, 15 August 2022.

Chawla, N. V. and Cieslak, D. A. (2006). Evaluating probability estimates from decision trees.
AAAI Workshop on Evaluation Methods for Machine Learning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import (
    FloatArray,
    IntArray,
    LabelArray,
    check_probabilities,
    check_same_length,
    check_share,
    check_weights,
    read_labels,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import class_codes, find_classes, positive_class, read_pair
from sureleaf.levels.decisions import predicted_class


def read_scored(
    truth: ArrayLike, probabilities: ArrayLike, labels: Sequence[Any] | None
) -> tuple[IntArray, FloatArray, LabelArray]:
    """Return the truth as codes, the probabilities and the classes of their columns."""
    actual = read_labels("truth", truth)
    raw = np.asarray(probabilities)
    check_same_length(truth=actual, probabilities=raw)
    if len(actual) == 0:
        raise InvalidArgumentError("truth must have at least one row; got none.")
    columns = 2 if raw.ndim == 1 else raw.shape[1]
    classes = find_classes(labels, actual)
    if labels is None and len(classes) != columns:
        if columns == 2 and classes.dtype.kind in "iufb" and set(classes.tolist()) <= {0, 1}:
            classes = np.array([0, 1], dtype=classes.dtype)
        else:
            raise InvalidArgumentError(
                f"labels must name the classes of the {columns} columns of probabilities where "
                f"not every class occurs in truth; truth has {classes.tolist()}."
            )
    table = check_probabilities(raw, len(classes))
    return class_codes("truth", actual, classes), table, classes


def log_losses(truth: IntArray, probabilities: FloatArray, floor: float = 0.0) -> FloatArray:
    """Return -log of the probability of the true class of each row, in nats; infinite for 0."""
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(np.maximum(probabilities[np.arange(len(truth)), truth], floor))
    return np.subtract(0.0, logs, out=logs)  # negating would give -0 for log 1


def quadratic_losses(truth: IntArray, probabilities: FloatArray) -> FloatArray:
    """Return the quadratic loss of each row, 1 - 2 p_true + sum_j p_j^2, from 0 to 2."""
    squares = np.einsum("ij,ij->i", probabilities, probabilities)
    squares -= 2 * probabilities[np.arange(len(truth)), truth]
    squares += 1
    return np.asarray(squares)


def mean_loss(losses: FloatArray, weights: FloatArray | None) -> float:
    """Return the weighted mean of the losses of rows."""
    if weights is None:
        return float(losses.mean())
    used = weights > 0  # a weight of 0 removes a row, even one with infinite loss
    return float(np.average(losses[used], weights=weights[used]))


def nce(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    floor: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean negative log of the probability of the true class, in nats (NCE, log loss).

    Infinite if a true class had probability 0; scikit-learn's ``log_loss`` raises such a
    probability to about 1e-16.

    Parameters
    ----------
    probabilities : array-like of shape (n, m), or (n,) for the second of two classes
    labels : sequence, optional
        The classes of the columns; by default those of truth, sorted.
    floor : float, optional
        Probabilities below the floor count as the floor, so that the loss is finite. For an
        `Evaluation`, the measure is named ``"nce(floor=0.001)"``, and its method says so.

    Examples
    --------
    >>> round(nce(["no", "yes"], [[0.8, 0.2], [0.5, 0.5]]), 4)
    0.4581
    """
    least = 0.0 if floor is None else check_share("floor", floor)
    codes, table, _ = read_scored(truth, probabilities, labels)
    return mean_loss(log_losses(codes, table, least), check_weights(sample_weight, len(codes)))


def quadratic_loss(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of 1 - 2 p_true + sum_j p_j^2, from 0 to 2 (QL; twice the binary Brier score).

    Parameters as for `nce`.

    Examples
    --------
    >>> round(quadratic_loss(["no", "yes"], [[0.8, 0.2], [0.5, 0.5]]), 4)
    0.29
    """
    codes, table, _ = read_scored(truth, probabilities, labels)
    return mean_loss(quadratic_losses(codes, table), check_weights(sample_weight, len(codes)))


def zero_one_loss(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    threshold: float | None = None,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of rows on the wrong side of a threshold (01L, at .5).

    A row is positive if its probability is at least the threshold, (25); by default .5 for two
    classes, and the most probable class (the first on ties) for more. If predicted
    labels are given in place of probabilities, they are compared with the truth. Other parameters
    as for `nce`.

    Examples
    --------
    >>> zero_one_loss([0, 1, 1], [0.4, 0.3, 0.9])
    0.3333333333333333
    >>> zero_one_loss([0, 1, 1], [0.4, 0.3, 0.9], threshold=0.95)
    0.6666666666666666
    """
    given = np.asarray(probabilities)
    if given.ndim == 1 and given.dtype.kind != "f":
        actual, predicted = read_pair(truth, given)
        wrong = np.asarray(actual != predicted, dtype=np.float64)
        return mean_loss(wrong, check_weights(sample_weight, len(predicted)))
    codes, table, classes = read_scored(truth, probabilities, labels)
    if threshold is None and len(classes) != 2 and positive is None:
        wrong = predicted_class(table) != codes
    else:
        code = positive_class(positive, classes)
        wrong = (table[:, code] >= (0.5 if threshold is None else threshold)) != (codes == code)
    return mean_loss(wrong.astype(np.float64), check_weights(sample_weight, len(codes)))


@dataclass(frozen=True)
class CrossEntropyParts:
    """Cross-entropy as the sum of entropy and divergence, H(p, q) = H(p) + KL(p||q), (16).

    In nats, summed over rows; the entropy of one-hot truth is 0.
    """

    total: float
    entropy: float
    divergence: float


def cross_entropy(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Sum over rows of -sum_k y_k log q_k, in nats, (15): a sum, not a mean.

    The truth may also be the true class probabilities of each row, (n, m); other parameters as for
    `nce`. Infinite if a class that can occur had probability 0.

    Examples
    --------
    >>> q = [[0.92, 0.08, 0.0], [0.05, 0.9, 0.05], [0.12, 0.03, 0.85]]
    >>> round(cross_entropy([[1, 0, 0], [0, 1, 0], [0, 0, 1]], q), 4)
    0.3513
    """
    return cross_entropy_parts(
        truth, probabilities, labels=labels, sample_weight=sample_weight
    ).total


def cross_entropy_parts(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> CrossEntropyParts:
    """Split a cross-entropy into entropy and Kullback-Leibler divergence, (16).

    Parameters as for `cross_entropy`.

    Examples
    --------
    >>> parts = cross_entropy_parts([[0.7, 0.3]], [[0.5, 0.5]])
    >>> round(parts.entropy, 4), round(parts.divergence, 4)
    (0.6109, 0.0823)
    """
    if np.ndim(truth) != 2:
        codes, table, _ = read_scored(truth, probabilities, labels)
        losses, entropies = log_losses(codes, table), np.zeros(len(codes))
    else:
        soft = np.asarray(truth, dtype=np.float64)
        soft = check_probabilities(soft, soft.shape[1])
        table = check_probabilities(probabilities, soft.shape[1])
        check_same_length(truth=soft, probabilities=table)
        losses, entropies = _minus_p_log_q(soft, table), _minus_p_log_q(soft, soft)
    weights = check_weights(sample_weight, len(losses))
    total = mean_loss(losses, weights) * (len(losses) if weights is None else float(weights.sum()))
    entropy = float(entropies.sum() if weights is None else weights @ entropies)
    divergence = total - entropy
    return CrossEntropyParts(total, entropy, max(divergence, 0.0))


def _minus_p_log_q(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return -sum_k p_k log q_k of each row, with 0 log 0 = 0 and p log 0 infinite for p > 0."""
    with np.errstate(divide="ignore"):
        logs = np.where(p > 0, np.log(np.where(p > 0, q, 1.0)), 0.0)
    return np.asarray(-(p * logs).sum(axis=1) + 0.0)

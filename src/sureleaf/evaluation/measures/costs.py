"""What predictions cost, and which decision costs least."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import (
    Floats,
    Integers,
    Labels,
    check_probabilities,
    check_same_length,
    check_weights,
    read_labels,
)
from sureleaf.evaluation.labels import class_codes, find_classes, positive_class

__all__ = [
    "cheapest",
    "check_cost",
    "cost",
    "cost_from_accuracy",
    "cost_threshold",
    "decide",
    "row_costs",
]


def check_cost(cost: ArrayLike, n_classes: int, n_rows: int | None = None) -> Floats:
    """Return a cost matrix (m, m), with an abstain column (m, m + 1), or one of them a row.

    Examples
    --------
    >>> check_cost([[0, 1], [5, 0]], 2).shape
    (2, 2)
    """
    matrix = np.asarray(cost, dtype=np.float64)
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
        raise InvalidArgumentError("cost must be finite; use a large number for 'never'.")
    return matrix


def row_costs(truth: Integers, prediction: Integers, cost: Floats) -> Floats:
    """Cost of each row from codes; the code after the last class is abstaining.

    Examples
    --------
    >>> row_costs(np.array([0, 1]), np.array([1, 0]), np.array([[0.0, 1.0], [5.0, 0.0]])).tolist()
    [1.0, 5.0]
    """
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
    truth, prediction : array-like of shape (n,)
    cost : array-like of shape (m, m), (m, m + 1), (n, m, m) or (n, m, m + 1)
        In the order of `labels`. The lecture's C(i|j), the cost of taking class j for class i, is
        ``cost[j][i]``. A last column more than there are classes is the cost of abstaining; three
        dimensions give each row its own matrix. Negative costs are gains.
    labels : sequence, optional
        The classes; by default those that occur, sorted.
    abstain : label
        What stands for abstaining among the predictions.
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    Model M1 of the lecture:

    >>> truth = ["+"] * 190 + ["-"] * 310
    >>> prediction = ["+"] * 150 + ["-"] * 40 + ["+"] * 60 + ["-"] * 250
    >>> cost(truth, prediction, cost=[[-1, 100], [1, 0]], labels=["+", "-"])
    3910.0
    """
    actual = read_labels("truth", truth)
    decided, silent = _split_abstentions(prediction, abstain)
    check_same_length(truth=actual, prediction=silent)
    classes = find_classes(labels, actual, decided)
    matrix = check_cost(cost, len(classes), len(actual))
    if silent.any() and matrix.shape[-1] == len(classes):
        raise InvalidArgumentError(
            "cost must have a last column for abstaining where predictions abstain; "
            f"got shape {matrix.shape} for the classes {classes.tolist()}."
        )
    codes = np.full(len(actual), len(classes))
    codes[~silent] = class_codes("prediction", decided, classes)
    costs = row_costs(class_codes("truth", actual, classes), codes, matrix)
    weights = check_weights(sample_weight, len(actual))
    return float(costs.sum() if weights is None else weights @ costs)


def _split_abstentions(prediction: ArrayLike, abstain: object) -> tuple[Labels, NDArray[np.bool_]]:
    array = np.asarray(prediction)
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"prediction must have one label a row; got an array of shape {array.shape}."
        )
    if abstain is None:
        silent = np.array([value is None for value in array]) if array.dtype == object else None
    else:
        silent = np.array([value == abstain for value in array.tolist()])
    if silent is None:
        silent = np.zeros(len(array), dtype=bool)
    return read_labels("prediction", array[~silent]), silent


def decide(
    probabilities: ArrayLike,
    cost: ArrayLike,
    labels: Sequence[Any],
    *,
    abstain: object = None,
) -> Labels:
    """Return for each row the decision of least expected cost.

    Parameters
    ----------
    probabilities : array-like of shape (n, m), or (n,) for the second of two classes
    cost : array-like
        ``cost[actual][predicted]``, as for `sureleaf.measures.cost`, with an abstain column if
        abstaining is a choice.
    labels : sequence of m labels
        The classes, in the order of the columns and of the cost matrix.
    abstain : label
        What to return where abstaining costs least.

    Returns
    -------
    ndarray of shape (n,)
        Labels; the first of equally cheap ones.

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
    choice = cheapest(table, matrix)
    if matrix.shape[-1] == len(classes):
        return np.asarray(classes[choice])
    words = np.empty(len(classes) + 1, dtype=object)
    words[:-1], words[-1] = classes.tolist(), abstain
    return np.asarray(words[choice])


def cheapest(probabilities: Floats, cost: Floats) -> Integers:
    """Code of the decision of least expected cost for each row; the first of equally cheap ones.

    Examples
    --------
    >>> cheapest(np.array([[0.95, 0.05], [0.6, 0.4]]), np.array([[0.0, 1.0], [10.0, 0.0]])).tolist()
    [0, 1]
    """
    per_row = cost.ndim == 3
    expected = np.einsum("nk,nkc->nc", probabilities, cost) if per_row else probabilities @ cost
    return np.asarray(expected.argmin(axis=1))


def cost_threshold(
    cost: ArrayLike, *, labels: Sequence[Any] | None = None, positive: object = None
) -> float:
    """Probability of the positive class from which predicting it costs least.

    ``(C(+|-) - C(-|-)) / (C(+|-) - C(-|-) + C(-|+) - C(+|+))``, the threshold that `decide` uses
    for two classes.

    Parameters
    ----------
    cost : array-like of shape (2, 2)
        ``cost[actual][predicted]``.
    labels : sequence of two labels, optional
        The classes in the order of the matrix.
    positive : label, optional
        By default the second class.

    Returns
    -------
    float
        At most 0: always predict the positive class; 1 or more: never.

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
            "cost must make wrong predictions dearer than right ones in sum; "
            f"got {matrix.tolist()}. Are rows actual and columns predicted classes?"
        )
    return float(false_alarm / (false_alarm + miss))


def cost_from_accuracy(accuracy: float, n: float, *, right: float, wrong: float) -> float:
    """Total cost where every right prediction costs the same and every wrong one too.

    The lecture's identity, ``N (wrong - (wrong - right) accuracy)``: with such symmetric costs,
    cost and accuracy are linear in each other and rank models alike.

    Examples
    --------
    >>> cost_from_accuracy(0.75, 500, right=0.0, wrong=1.0)
    125.0
    """
    return float(n * (wrong - (wrong - right) * accuracy))

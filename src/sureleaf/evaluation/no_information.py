"""The loss of predictions that know nothing of the truth, without going through all pairs."""

from typing import Any

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, Integers

__all__ = ["class_losses", "no_information_rate"]


def class_losses(
    prediction: Integers, probabilities: Floats | None, loss: str, n_classes: int, cost: Any = None
) -> Floats:
    """Loss of each prediction if the truth were class k, for every k: shape (n, m).

    Examples
    --------
    >>> class_losses(np.array([0, 1]), None, "error", 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if loss == "error":
        return np.asarray(prediction[:, None] != np.arange(n_classes), dtype=np.float64)
    if loss == "cost":
        if cost.ndim == 3:
            return np.asarray(cost[np.arange(len(prediction)), :, prediction])
        return np.asarray(cost[:, prediction].T)
    if probabilities is None:
        raise InvalidArgumentError(
            f"loss={loss!r} needs probabilities, and the estimator has no predict_proba. "
            "Use loss='error' or 'cost'."
        )
    if loss == "nce":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(probabilities))
    squares = (probabilities**2).sum(axis=1, keepdims=True)
    return np.asarray(1 - 2 * probabilities + squares)


def no_information_rate(
    truth: Integers, losses_by_class: Floats, weights: Floats | None = None
) -> float:
    """Mean loss over all n^2 pairs of a truth and a prediction, in O(n m).

    Parameters
    ----------
    truth : ndarray of class codes
    losses_by_class : ndarray of shape (n, m)
        Of `class_losses`.
    weights : ndarray, optional

    Examples
    --------
    >>> truth, prediction = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> round(no_information_rate(truth, class_losses(prediction, None, "error", 2)), 4)
    0.5556
    """
    w = np.full(len(truth), 1 / len(truth)) if weights is None else weights / weights.sum()
    shares = np.bincount(truth, w, minlength=losses_by_class.shape[1])
    used = shares > 0  # a class that never occurs costs nothing, even an infinite loss
    return float(shares[used] @ (w @ losses_by_class[:, used]))

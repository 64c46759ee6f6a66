"""How sure is one node of n rows when there are K classes: our extension of (5) and (6)."""

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import FloatArray, Numbers, as_given, numbers, rows
from sureleaf.levels.class_wins import win_probabilities

__all__ = ["class_confidence", "class_utility"]

_SUM_TOLERANCE = 1e-8


def class_confidence(n: ArrayLike, probabilities: ArrayLike) -> Numbers:
    """Return the probability that the most frequent of K classes is the most probable one.

    Extension: the paper has two classes only. The most frequent class among n rows wins, and
    classes that tie are drawn with equal chances. Let the largest probability belong to r
    classes. If one of these wins, that counts 1 / r; so the confidence is the mean of their
    probabilities to win, which are all equal, and K classes of equal probability give 1 / K.

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more. Without rows the winner is drawn from all K classes: 1 / K.
        Between whole numbers the confidence is interpolated linearly; infinity gives 1 / r.
    probabilities : array_like
        Probabilities of the classes along the last axis; not negative, sum 1 (within 1e-8).

    Returns
    -------
    float or ndarray
        From 0 to 1; shape of n broadcast against ``probabilities.shape[:-1]``. Absolute error
        below 1e-11 up to 100,000 rows, below 1e-6 beyond (K up to 50; two classes: (5)).

    Notes
    -----
    One vector of probabilities that cannot be used raises an error; among several, its place
    is NaN.

    Examples
    --------
    >>> round(class_confidence(30, [0.5, 0.3, 0.2]), 4)
    0.8834
    >>> round(class_confidence(5, [0.25, 0.25, 0.25, 0.25]), 4)
    0.25
    """
    n_rows, classes, wins = _race(n, probabilities)
    best = np.argmax(classes, axis=1)[:, np.newaxis]
    return as_given(np.take_along_axis(wins, best, axis=1).reshape(n_rows.shape))


def class_utility(n: ArrayLike, probabilities: ArrayLike) -> Numbers:
    """Return the probability that the next row is of the most frequent of K classes.

    Extension: the paper has two classes only. The winner is that of `class_confidence`; the
    utility is the sum over classes of P(class wins) times its probability.

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more; whole, fractional or infinite as in `class_confidence`.
    probabilities : array_like
        Probabilities of the classes along the last axis; not negative, sum 1 (within 1e-8).

    Returns
    -------
    float or ndarray
        From 1 / K to the largest probability; shape and error as of `class_confidence`.

    Examples
    --------
    >>> round(class_utility(30, [0.5, 0.3, 0.2]), 4)
    0.4754
    """
    n_rows, classes, wins = _race(n, probabilities)
    return as_given((classes * wins).sum(axis=1).reshape(n_rows.shape))


def _race(n: ArrayLike, probabilities: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return n in the broadcast shape, and one line a node: probabilities, and those to win."""
    n_rows, classes = rows("n", n), _class_probabilities(probabilities)
    try:
        shape = np.broadcast_shapes(n_rows.shape, classes.shape[:-1])
    except ValueError:
        raise InvalidArgumentError(
            f"n must broadcast against probabilities without their last axis; got shapes "
            f"{n_rows.shape} and {classes.shape}. Give one n for each vector of probabilities."
        ) from None
    n_rows = np.broadcast_to(n_rows, shape)
    flat = np.broadcast_to(classes, (*shape, classes.shape[-1])).reshape(-1, classes.shape[-1])
    return n_rows, flat, win_probabilities(n_rows.reshape(-1), flat)


def _class_probabilities(probabilities: ArrayLike) -> FloatArray:
    """Return the vectors scaled to sum 1, NaN for those that are not probabilities."""
    classes = numbers("probabilities", probabilities)
    if classes.ndim == 0 or classes.shape[-1] == 0:
        raise InvalidArgumentError(
            f"probabilities must have a last axis of classes; got shape {classes.shape}. "
            "Give one probability for each class, such as [0.5, 0.3, 0.2]."
        )
    total = classes.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        good = (classes >= 0).all(axis=-1, keepdims=True) & (np.abs(total - 1) <= _SUM_TOLERANCE)
    if classes.ndim == 1 and not good.all():
        raise InvalidArgumentError(
            f"probabilities must not be negative and add up to 1; got {classes.tolist()} "
            f"with sum {float(total[0]):.10g}. Divide counts by their sum first."
        )
    return np.where(good, classes / np.where(good, total, 1.0), np.nan)

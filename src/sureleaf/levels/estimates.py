"""What p_max is, going by the counts of a node: (14), the maximiser of (2), and (20), (21).

A method is a function of two float64 arrays of one shape, ``(y_max, n)`` with
n / 2 <= y_max <= n and n > 0, that returns the estimates, each from 0.5 to 1. To add one,
write that function and name it in `METHODS`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import (
    FloatArray,
    Numbers,
    as_given,
    broadcast,
    chance,
    finite_rows,
    require_pairs,
)
from sureleaf.levels.posterior import posterior

__all__ = ["METHODS", "estimate_p_max"]


def mle(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return y_max / n, (14)."""
    return y_max / n


def entropic(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return the maximiser of (2), the entropic mle.

    With s = 2p - 1 and d = 2 y_max - n it solves n s = d tanh(d atanh s). It is exactly 0.5
    where d * d <= n (a majority within one standard deviation of a tie is no evidence), and
    exactly 1 where y_max = n > 1. A single row says nothing: (2) is constant, 0.5 by convention.
    """
    return _kernel.entropic_estimate(y_max, n)


def blend(y_max: FloatArray, n: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return weight * mle + (1 - weight) * entropic, (20); by default weight = mle, (21)."""
    high, low = mle(y_max, n), entropic(y_max, n)
    return np.clip(low + (high if weight is None else weight) * (high - low), low, high)


METHODS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "mle": mle,
    "entropic": entropic,
    "blend": blend,
    "posterior": posterior,
}
"""Method name -> function of (y_max, n)."""


def estimate_p_max(
    y: ArrayLike, n: ArrayLike, *, method: str = "blend", weight: ArrayLike | None = None
) -> Numbers:
    """Return an estimate of the probability of a node's more probable class.

    ``"mle"`` (14) is the larger relative frequency, which overestimates; ``"entropic"``
    maximises (2), the likelihood of the larger count, and tends to underestimate; ``"blend"``
    (20) lies between the two. For every y and n, entropic <= blend <= mle, (22). Ours, not the
    paper's: ``"posterior"`` has a smaller worst-case bias over p_max from 0.5 to 1, and a
    smaller mean squared error, than the blend at every n (docs/estimators.md has its price).

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n. Weighted rows give fractional counts, for which
        (2) is read with gamma functions in place of factorials (they do not move its maximum).
    n : array_like
        Rows in the node. Without rows (n = 0) nothing is known, and every method says 0.5.
    method : {"blend", "mle", "entropic", "posterior"}
        A key of `METHODS`.
    weight : array_like, optional
        Weight of the mle in the blend, from 0 to 1; by default the mle itself, (21).

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape.

    Raises
    ------
    InvalidArgumentError
        If a scalar y or n is negative, infinite or NaN, y exceeds n, or weight lies outside
        [0, 1] (bad elements of arrays give NaN); if the method is unknown or has no weight.

    Examples
    --------
    >>> [round(estimate_p_max(5, 7, method=m), 4) for m in ("entropic", "blend", "mle")]
    [0.6667, 0.7007, 0.7143]
    >>> estimate_p_max([0, 3, 4], 6, method="entropic")
    array([1. , 0.5, 0.5])
    """
    if method not in METHODS:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}. "
            "Take one of these."
        )
    if weight is not None and method != "blend":
        raise InvalidArgumentError(
            f"weight belongs to method='blend'; got method={method!r}. Leave weight out."
        )
    counts, n_rows, weights = broadcast(
        y=finite_rows("y", y),
        n=finite_rows("n", n),
        weight=chance("weight", 0.5 if weight is None else weight),
    )
    scalars = np.ndim(y) == 0 and np.ndim(n) == 0
    counts = require_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=scalars
    )
    y_max = np.maximum(counts, n_rows - counts)
    empty = (n_rows == 0) & (counts == 0)
    if empty.any():  # as half a row of each class, which spares every method the 0 / 0
        y_max, n_rows = np.where(empty, 0.5, y_max), np.where(empty, 1.0, n_rows)
    found = METHODS[method](y_max, n_rows) if weight is None else blend(y_max, n_rows, weights)
    return as_given(np.where(empty, 0.5, found) if empty.any() else found)

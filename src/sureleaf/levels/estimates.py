"""What p_max is, going by the counts of a node: (14), the maximiser of (2), and (20), (21).

A method is a function of two float64 arrays of one shape, ``(y_max, n)`` with
n / 2 <= y_max <= n and n > 0, that returns the estimates, each from 0.5 to 1. To add one,
write that function and name it in `METHODS`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

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

__all__ = ["METHODS", "estimate_p_max"]


def mle(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return y_max / n, (14)."""
    return y_max / n


def entropic(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return the maximiser of (2): with s = 2p - 1, d = 2 y_max - n, n s = d tanh(d atanh s)."""
    d = 2 * y_max - n
    low, high = np.zeros_like(d), np.where(d * d > n, d / n, 0.0)
    for _ in range(64):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            above = n * middle > d * np.tanh(d * np.arctanh(middle))
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.minimum((1 + high) / 2, mle(y_max, n))


def blend(y_max: FloatArray, n: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return weight * mle + (1 - weight) * entropic, (20); by default weight = mle, (21)."""
    high, low = mle(y_max, n), entropic(y_max, n)
    return np.clip(low + (high if weight is None else weight) * (high - low), low, high)


METHODS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "mle": mle,
    "entropic": entropic,
    "blend": blend,
}
"""Method name -> function of (y_max, n)."""


def estimate_p_max(
    y: ArrayLike, n: ArrayLike, *, method: str = "blend", weight: ArrayLike | None = None
) -> Numbers:
    """Return an estimate of the probability of a node's more probable class.

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n; fractions are allowed.
    n : array_like
        Rows in the node; without rows (n = 0) every method says 0.5.
    method : str
        A key of `METHODS`.
    weight : array_like, optional
        Weight of the mle in the blend, from 0 to 1; by default the mle itself, (21).

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape.

    Examples
    --------
    >>> round(estimate_p_max(5, 7), 6)
    0.7
    """
    if method not in METHODS:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}."
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
    counts = require_pairs("y", counts, ~(counts > n_rows), "at most n", scalars=scalars)
    y_max = np.maximum(counts, n_rows - counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = METHODS[method](y_max, n_rows) if weight is None else blend(y_max, n_rows, weights)
    return as_given(np.where(n_rows == 0, np.where(np.isnan(counts), np.nan, 0.5), found))

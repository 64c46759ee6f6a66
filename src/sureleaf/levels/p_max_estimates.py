"""Estimates of p_max from the counts of a node: (14), the maximiser of (2), (20) and (21).

A method is a function of two float64 arrays of one shape, ``(y_max, n)`` with
n / 2 <= y_max <= n and n > 0, that returns estimates from 0.5 to 1. To add a method, write that
function and add it to `METHODS`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from sureleaf import _kernel
from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_choice,
    check_distribution,
    check_finite_rows,
    check_p_max,
    check_pairs,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError


def mle(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return y_max / n, (14)."""
    return y_max / n


def entropic(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return the maximiser of (2), the entropic mle.

    With s = 2p - 1 and d = 2 y_max - n it solves n s = d tanh(d atanh s). It is exactly 0.5
    where d * d <= n (a majority within one standard deviation of a tie is no evidence), and
    exactly 1 where y_max = n > 1. For a single row (2) is constant; 0.5 by convention.
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
}
"""Method name -> function of (y_max, n)."""


def estimate_p_max(
    y: ArrayLike, n: ArrayLike, *, method: str = "blend", weight: ArrayLike | None = None
) -> Numbers:
    """Return an estimate of the probability of a node's more probable class.

    ``"mle"`` (14) is the larger relative frequency, which overestimates; ``"entropic"``
    maximises (2), the likelihood of the larger count, and tends to underestimate; ``"blend"``
    (20) lies between the two. For every y and n, entropic <= blend <= mle, (22).

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n. Weighted rows give fractional counts, for which
        (2) uses gamma functions instead of factorials (they do not move its maximum).
    n : array_like
        Rows in the node. Without rows (n = 0) every method returns 0.5.
    method : {"blend", "mle", "entropic"}
        A key of `METHODS`.
    weight : array_like, optional
        Weight of the mle in the blend, from 0 to 1; by default the mle itself, (21).

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape.

    Examples
    --------
    >>> [round(estimate_p_max(5, 7, method=m), 4) for m in ("entropic", "blend", "mle")]
    [0.6667, 0.7007, 0.7143]
    >>> estimate_p_max([0, 3, 4], 6, method="entropic")
    array([1. , 0.5, 0.5])
    """
    check_choice("method", method, tuple(METHODS))
    if weight is not None and method != "blend":
        raise InvalidArgumentError(
            f"weight belongs to method='blend'; got method={method!r}. Leave weight out."
        )
    counts, n_rows, weights = broadcast(
        y=check_finite_rows("y", y),
        n=check_finite_rows("n", n),
        weight=check_unit_interval("weight", 0.5 if weight is None else weight),
    )
    scalars = np.ndim(y) == 0 and np.ndim(n) == 0
    counts = check_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=scalars
    )
    y_max = np.maximum(counts, n_rows - counts)
    empty = (n_rows == 0) & (counts == 0)
    if empty.any():  # as half a row of each class, which avoids 0 / 0 in every method
        y_max, n_rows = np.where(empty, 0.5, y_max), np.where(empty, 1.0, n_rows)
    estimates = METHODS[method](y_max, n_rows) if weight is None else blend(y_max, n_rows, weights)
    return scalar_or_array(np.where(empty, 0.5, estimates) if empty.any() else estimates)


def joint_log_likelihood(y: ArrayLike, n: ArrayLike, shares: ArrayLike, p: ArrayLike) -> Numbers:
    """Return the log-probability (3) of a tree's node sizes and class counts.

    In nats, minus infinity for impossible counts. `y` and `n` are rows of the first class and all
    rows of each node, `shares` and `p` the probabilities of the nodes, with sum 1, and of the first
    class in each. Nodes are along the last axis. Fractional counts use gamma functions. Bad
    arguments of a single tree raise an error; one of several trees gives NaN.

    Examples
    --------
    >>> round(joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)  # log(3 / 32)
    -2.367124
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, first = broadcast(
        y=counts, n=n_rows, shares=parts, p=check_unit_interval("p", p, core=1)
    )
    classes = xlogy(counts, first) + xlog1py(n_rows - counts, -first)
    return scalar_or_array((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def entropic_joint_log_likelihood(
    y: ArrayLike, n: ArrayLike, shares: ArrayLike, p_max: ArrayLike
) -> Numbers:
    """Return the log-probability (4) of a tree's node sizes and larger class counts.

    As `joint_log_likelihood`, with rows of either class and the probability of the more probable
    class.

    Examples
    --------
    >>> round(entropic_joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)
    -1.673976
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, p = broadcast(
        y=counts, n=n_rows, shares=parts, p_max=check_p_max(p_max, core=1)
    )
    larger = np.maximum(counts, n_rows - counts)
    lead = 2 * larger - n_rows
    ratio = np.where(lead > 0, ((1 - p) / p) ** lead, 0.0)
    classes = xlogy(larger, p) + xlog1py(n_rows - larger, -p) + np.log1p(ratio)
    return scalar_or_array((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def _counted(y: ArrayLike, n: ArrayLike, shares: ArrayLike) -> tuple[FloatArray, ...]:
    """Return y, n and shares, checked, in one shape whose last axis runs over nodes."""
    counts, n_rows, parts = broadcast(
        y=check_finite_rows("y", y, core=1),
        n=check_finite_rows("n", n, core=1),
        shares=check_distribution("shares", shares),
    )
    if not np.shape(y)[-1:] == np.shape(n)[-1:] == np.shape(shares)[-1:]:
        raise InvalidArgumentError(
            "y, n and shares must have one value per node along the last axis; got shapes "
            f"{np.shape(y)}, {np.shape(n)} and {np.shape(shares)}. Give them equal lengths."
        )
    single = counts.ndim == 1
    counts = check_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=single
    )
    return counts, n_rows, parts


def _ways(y: FloatArray, n: FloatArray) -> FloatArray:
    """Return log(n_total! / product of y! (n - y)!), the total's part shared among the nodes."""
    total = gammaln(n.sum(axis=-1, keepdims=True) + 1) / n.shape[-1]
    log_ways: FloatArray = total - gammaln(y + 1) - gammaln(n - y + 1)
    return log_ways

"""How likely are the counts of all nodes of a tree together: equations (3) and (4)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import (
    FloatArray,
    Numbers,
    as_given,
    broadcast,
    chance,
    distribution,
    finite_rows,
    p_max_of,
    require_pairs,
)

__all__ = ["entropic_joint_log_likelihood", "joint_log_likelihood"]


def joint_log_likelihood(y: ArrayLike, n: ArrayLike, shares: ArrayLike, p: ArrayLike) -> Numbers:
    """Return the log-probability (3) of a tree's node sizes and class counts.

    Parameters
    ----------
    y : array_like
        Rows of the first class in each node, along the last axis; from 0 to n.
    n : array_like
        Rows in each node. Fractional counts are read by gamma functions.
    shares : array_like
        Probabilities of the nodes, with sum 1 along the last axis.
    p : array_like
        Probability of the first class in each node, from 0 to 1.

    Returns
    -------
    float or ndarray
        Natural logarithm, minus infinity for what cannot happen; a float for one tree,
        otherwise of the broadcast shape without its last axis.

    Raises
    ------
    InvalidArgumentError
        If a single tree's argument cannot be used; among several trees the bad one gives NaN.

    Examples
    --------
    >>> round(joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)  # log(3 / 32)
    -2.367124
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, first = broadcast(
        y=counts, n=n_rows, shares=parts, p=chance("p", p, core=1)
    )
    classes = xlogy(counts, first) + xlog1py(n_rows - counts, -first)
    return as_given((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def entropic_joint_log_likelihood(
    y: ArrayLike, n: ArrayLike, shares: ArrayLike, p_max: ArrayLike
) -> Numbers:
    """Return the log-probability (4) of a tree's node sizes and larger class counts.

    Parameters
    ----------
    y : array_like
        Rows of either class in each node, along the last axis; from 0 to n.
    n : array_like
        Rows in each node. Fractional counts are read by gamma functions.
    shares : array_like
        Probabilities of the nodes, with sum 1 along the last axis.
    p_max : array_like
        Probability of the more probable class of each node, from 0.5 to 1.

    Returns
    -------
    float or ndarray
        As `joint_log_likelihood`.

    Raises
    ------
    InvalidArgumentError
        As `joint_log_likelihood`.

    Examples
    --------
    >>> round(entropic_joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)
    -1.673976
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, p = broadcast(
        y=counts, n=n_rows, shares=parts, p_max=p_max_of(p_max, core=1)
    )
    larger = np.maximum(counts, n_rows - counts)
    lead = 2 * larger - n_rows
    ratio = np.where(lead > 0, ((1 - p) / p) ** lead, 0.0)
    classes = xlogy(larger, p) + xlog1py(n_rows - larger, -p) + np.log1p(ratio)
    return as_given((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def _counted(y: ArrayLike, n: ArrayLike, shares: ArrayLike) -> tuple[FloatArray, ...]:
    """Return y, n and shares, checked, in one shape whose last axis runs over nodes."""
    counts, n_rows, parts = broadcast(
        y=finite_rows("y", y, core=1),
        n=finite_rows("n", n, core=1),
        shares=distribution("shares", shares),
    )
    if not np.shape(y)[-1:] == np.shape(n)[-1:] == np.shape(shares)[-1:]:
        raise InvalidArgumentError(
            "y, n and shares must have one value a node along the last axis; got shapes "
            f"{np.shape(y)}, {np.shape(n)} and {np.shape(shares)}. Give them equal lengths."
        )
    single = counts.ndim == 1
    counts = require_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=single
    )
    return counts, n_rows, parts


def _ways(y: FloatArray, n: FloatArray) -> FloatArray:
    """Return log(n_total! / product of y! (n - y)!), the total's part shared among the nodes."""
    total = gammaln(n.sum(axis=-1, keepdims=True) + 1) / n.shape[-1]
    log_ways: FloatArray = total - gammaln(y + 1) - gammaln(n - y + 1)
    return log_ways

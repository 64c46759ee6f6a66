"""Confidence and utility of one node, (5) and (6), and of a tree, (9), (10) and (11)."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sureleaf import _kernel
from sureleaf.arguments import (
    Numbers,
    broadcast,
    check_distribution,
    check_p_max,
    check_rows,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError

__all__ = [
    "EmptyNode",
    "TreeLevels",
    "confidence",
    "node_confidence",
    "node_utility",
    "tree_levels",
    "utility",
]


def confidence(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    """Return the probability that the majority of n rows is the true majority class, (5).

    A tie is decided by a fair coin, and so is a node without rows (n = 0): 0.5.

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more. A fractional n is floor(n) + 1 rows with chance
        n - floor(n), else floor(n) rows: the confidence is linear from each whole number to
        the next, constant from odd to even. Infinity gives the limit (Fact 1).
    p_max : array_like
        Probability of the more probable class, from 0.5 to 1.

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape; never falls as n or p_max grows. The absolute
        error is below 1e-15 for n up to 10^9.

    Raises
    ------
    InvalidArgumentError
        If n is a scalar below 0, p_max a scalar outside [0.5, 1], or either is NaN; bad elements
        of arrays give NaN. Also if the shapes do not broadcast.

    Notes
    -----
    (5) is the regularised incomplete beta function I_p(a, a) with a = ceil(n / 2), so that an
    even n equals n - 1.

    Examples
    --------
    >>> round(confidence(7, 5 / 7), 4)
    0.8917
    >>> confidence([0, 1, 2, 3], 0.75)
    array([0.5    , 0.75   , 0.75   , 0.84375])
    """
    return scalar_or_array(
        _kernel.confidence(*broadcast(n=check_rows("n", n), p_max=check_p_max(p_max)))
    )


def utility(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    """Return the probability that the majority of n rows predicts the next row correctly, (6).

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more; fractional and infinite n as in `confidence`.
    p_max : array_like
        Probability of the more probable class, from 0.5 to 1.

    Returns
    -------
    float or ndarray
        From 0.5 to p_max, its limit for many rows, of the broadcast shape.

    Raises
    ------
    InvalidArgumentError
        As `confidence`.

    Examples
    --------
    >>> round(utility(7, 5 / 7), 4)
    0.6679
    >>> utility([0, 1, float("inf")], 0.75)
    array([0.5  , 0.625, 0.75 ])
    """
    n_rows, p = broadcast(n=check_rows("n", n), p_max=check_p_max(p_max))
    return scalar_or_array((1 - p) + (2 * p - 1) * _kernel.confidence(n_rows, p))


EmptyNode = Literal["coin", "miss"]
"""How a node without rows counts: as a guess, or as wrong."""


class TreeLevels(NamedTuple):
    """Level of confidence (10) and level of utility (11) of a tree."""

    confidence: Numbers
    utility: Numbers


def node_confidence(
    n: ArrayLike, share: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "coin"
) -> Numbers:
    """Return the probability that a node of a tree finds its true majority class, (9).

    The node gets N ~ Bin(n, share) of the tree's n rows; the confidence is the mean of (5)
    over N.

    Parameters
    ----------
    n : array_like
        Rows of the whole tree, 0 or more; between whole numbers the value is interpolated
        linearly, as in `confidence`. Infinity gives the limit.
    share : array_like
        Probability that a row falls into the node, from 0 to 1.
    p_max : array_like
        Probability of the node's more probable class, from 0.5 to 1.
    empty : {"coin", "miss"}
        A node without rows guesses its class by a fair coin, or counts as wrong: (9) as printed,
        whose sum begins at one row.

    Returns
    -------
    float or ndarray
        From 0.5 (``"miss"``: from 0) to 1, of the broadcast shape. The absolute error is below
        1e-12 for n up to 10^9.

    Raises
    ------
    InvalidArgumentError
        If a scalar is out of its range or NaN (bad elements of arrays give NaN), the shapes do
        not broadcast, or `empty` is neither word.

    Examples
    --------
    >>> round(node_confidence(100, 0.5, 0.6), 6)
    0.922662
    >>> round(node_confidence(5, 0.5, 0.6), 6), round(node_confidence(5, 0.5, 0.6, empty="miss"), 6)
    (0.621955, 0.60633)
    """
    n_rows, part, p = broadcast(
        n=check_rows("n", n), share=check_unit_interval("share", share), p_max=check_p_max(p_max)
    )
    return scalar_or_array(_kernel.node_confidence(n_rows, part, p, _is_coin(empty)))


def node_utility(
    n: ArrayLike, share: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "coin"
) -> Numbers:
    """Return the probability that a node of a tree predicts its next row correctly.

    This is (6) with the confidence of (9): one node's term of (11).

    Parameters
    ----------
    n, share, p_max
        As in `node_confidence`.
    empty : {"coin", "miss"}
        ``"coin"``: a node without rows guesses its class and is correct with probability 1/2.
        ``"miss"``: (6) with (9) as printed. A node that always misses its majority class predicts
        the minority class, so an empty node is correct with probability 1 - p_max, not 0.

    Returns
    -------
    float or ndarray
        At most p_max, of the broadcast shape.

    Raises
    ------
    InvalidArgumentError
        As `node_confidence`.

    Examples
    --------
    >>> round(node_utility(100, 0.5, 0.6), 6)
    0.584532
    >>> node_utility(0, 0.5, 0.75), node_utility(0, 0.5, 0.75, empty="miss")
    (0.5, 0.25)
    """
    n_rows, part, p = broadcast(
        n=check_rows("n", n), share=check_unit_interval("share", share), p_max=check_p_max(p_max)
    )
    level = _kernel.node_confidence(n_rows, part, p, _is_coin(empty))
    return scalar_or_array((1 - p) + (2 * p - 1) * level)


def tree_levels(
    n: ArrayLike, shares: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "coin"
) -> TreeLevels:
    """Return the levels of confidence (10) and utility (11) of a tree.

    Parameters
    ----------
    n : array_like
        Rows of the tree, or of each of several trees; as in `node_confidence`.
    shares : array_like
        Probabilities of the nodes along the last axis, with sum 1 (within 1e-8).
    p_max : array_like
        Probability of each node's more probable class, along the last axis; or one for all.
    empty : {"coin", "miss"}
        As in `node_confidence` and `node_utility`.

    Returns
    -------
    TreeLevels
        Named tuple ``(confidence, utility)``, floats for one tree; otherwise arrays whose shape
        is n broadcast against ``shares`` and ``p_max`` without their last axis.

    Raises
    ------
    InvalidArgumentError
        If a single tree's n, shares or p_max cannot be used (among several trees the bad one
        gives NaN), or there is not one p_max per node.

    Examples
    --------
    >>> levels = tree_levels(14, [0.5, 0.5], [4 / 7, 6 / 7])
    >>> round(levels.confidence, 4), round(levels.utility, 4)
    (0.8145, 0.6828)
    """
    parts = check_distribution("shares", shares)
    n_rows, parts, p = broadcast(
        n=check_rows("n", n)[..., np.newaxis], shares=parts, p_max=check_p_max(p_max, core=1)
    )
    n_shares = np.shape(shares)[-1]
    if parts.shape[-1] != n_shares:
        raise InvalidArgumentError(
            f"p_max must have one value for each of the {n_shares} shares, or one for all; "
            f"got {parts.shape[-1]} values. Give shares and p_max of equal length."
        )
    level = _kernel.node_confidence(n_rows, parts, p, _is_coin(empty))
    confidence = (parts * level).sum(axis=-1)
    utility = (parts * ((1 - p) + (2 * p - 1) * level)).sum(axis=-1)
    # rounding of the shares must not lift a level above 1
    return TreeLevels(*(scalar_or_array(np.minimum(total, 1.0)) for total in (confidence, utility)))


def _is_coin(empty: str) -> bool:
    if empty not in ("coin", "miss"):
        raise InvalidArgumentError(
            f"empty must be 'coin' or 'miss'; got {empty!r}. "
            "With 'coin' a node without rows guesses, 'miss' is (9) as printed."
        )
    return empty == "coin"

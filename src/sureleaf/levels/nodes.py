"""Confidence and utility of one node, (5) and (6), and of a tree, (9), (10) and (11).

Those of one node can be taken at a cost threshold t: it decides for the class of probability p if
more than n t of its n rows are of this class, against it if fewer are, and by a fair coin if
exactly n t are. The decision is right if p is on the same side of t. With t = 1/2, errors of both
kinds cost the same, and the formulas are those of the theory.
"""

from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from sureleaf import _kernel
from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_distribution,
    check_p_max,
    check_rows,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError


@overload
def confidence(n: float, p_max: float, *, threshold: float = ...) -> float: ...
@overload
def confidence(n: ArrayLike, p_max: ArrayLike, *, threshold: ArrayLike = ...) -> Numbers: ...
def confidence(n: ArrayLike, p_max: ArrayLike, *, threshold: ArrayLike = 0.5) -> Numbers:
    """Return the probability that the majority of n rows is the true majority class, (5).

    A tie is decided by a fair coin, and so is a node without rows (n = 0): 0.5. At another
    threshold it is the probability that the rows lead to the cheaper of two decisions.

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more. A fractional n is floor(n) + 1 rows with chance
        n - floor(n), else floor(n) rows: the confidence is linear from each whole number to
        the next, constant from odd to even. Infinity gives the limit (Fact 1).
    p_max : array_like
        Probability of the more probable class, from 0.5 to 1. At another threshold than 0.5: the
        probability of the class that is decided for above it, from 0 to 1.
    threshold : array_like
        From 0 to 1: deciding for the class costs less exactly if its probability is larger. If a
        missed row of the class costs 5 times as much as a false alarm, it is 1 / (1 + 5).

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape; never falls as n or p_max grows. The absolute
        error is below 1e-15 for n up to 10^9. At another threshold it is from 0 to 1: it rises
        where n times the threshold passes a whole number, and falls a little in between.

    Notes
    -----
    (5) is the regularised incomplete beta function I_p(a, a) with a = ceil(n / 2), so that an
    even n equals n - 1. At a threshold t it is P(Y > n t) + P(Y = n t) / 2 for Y ~ Bin(n, p) where
    p > t, one minus that where p < t, and 0.5 where both decisions cost the same.

    Examples
    --------
    >>> round(confidence(7, 5 / 7), 4)
    0.8917
    >>> confidence([0, 1, 2, 3], 0.75)
    array([0.5    , 0.75   , 0.75   , 0.84375])

    At costs of 5 to 1, a leaf with 53 % defaults is a certain "decline", and one with 16.6 % is a
    coin toss:

    >>> confidence(100, [0.53, 0.166], threshold=1 / 6).round(2)
    array([1. , 0.5])
    """
    return scalar_or_array(at_threshold(*_arguments(n, p_max, threshold)))


@overload
def utility(n: float, p_max: float, *, threshold: float = ...) -> float: ...
@overload
def utility(n: ArrayLike, p_max: ArrayLike, *, threshold: ArrayLike = ...) -> Numbers: ...
def utility(n: ArrayLike, p_max: ArrayLike, *, threshold: ArrayLike = 0.5) -> Numbers:
    """Return the probability that the majority of n rows predicts the next row correctly, (6).

    At another threshold it is the expected saving per row of deciding by n rows, relative to
    a wrong decision about every row, in units of the more expensive error. With equal costs the
    saving is the probability of a correct prediction. Parameters as for `confidence`.

    Returns
    -------
    float or ndarray
        From 0.5 to p_max, its limit for many rows, of the broadcast shape. At another threshold
        from 0 to 1.

    Examples
    --------
    >>> round(utility(7, 5 / 7), 4)
    0.6679
    >>> utility([0, 1, float("inf")], 0.75)
    array([0.5  , 0.625, 0.75 ])
    >>> round(utility(100, 0.53, threshold=1 / 6), 4)
    0.53
    """
    n_rows, p, cut = _arguments(n, p_max, threshold)
    return scalar_or_array(saving(p, cut, at_threshold(n_rows, p, cut)))


def _arguments(n: ArrayLike, p: ArrayLike, threshold: ArrayLike) -> tuple[FloatArray, ...]:
    """Return checked arrays of one shape; p is p_max at equal costs, else that of a class."""
    return broadcast(
        n=check_rows("n", n),
        p_max=check_p_max(p) if is_half(threshold) else check_unit_interval("p_max", p),
        threshold=check_unit_interval("threshold", threshold),
    )


# ---- decisions at a cost threshold ---------------------------------------------------------------

_TIE = 1e-9
"""A count within this distance of n t, relative to n t, is a tie."""


def is_half(threshold: ArrayLike) -> bool:
    """Whether a threshold is that of equal costs, for which the theory has its own formulas."""
    return np.ndim(threshold) == 0 and threshold == 0.5


def at_threshold(n: FloatArray, p: FloatArray, threshold: FloatArray) -> FloatArray:
    """Return P(n rows lead to the cheaper decision), for checked arrays of one shape."""
    equal = threshold == 0.5  # exactly (5), in its own arithmetic
    larger = np.where(equal & ~np.isnan(p), np.clip(np.maximum(p, 1.0 - p), 0.5, 1.0), 0.5)
    at_equal = np.where(np.isnan(n + p), np.nan, _kernel.confidence(n.copy(), larger))
    if equal.all():
        return at_equal
    whole = np.floor(n)
    finite = np.where(np.isfinite(whole), whole, 0.0)
    above = _decides_above(finite, p, threshold)
    part = np.where(np.isfinite(n), n, 0.0) - finite
    if (part > 0).any():
        above = above + part * (_decides_above(finite + 1.0, p, threshold) - above)
    value = np.where(p > threshold, above, 1.0 - above)
    value = np.where(np.isinf(n), 1.0, value)
    value = np.where((p == threshold) | (n == 0), 0.5, value)
    return np.where(np.isnan(n + p + threshold), np.nan, np.where(equal, at_equal, value))


def _decides_above(n: FloatArray, p: FloatArray, threshold: FloatArray) -> FloatArray:
    """P(Y > n t) + P(Y = n t) / 2 for Y ~ Bin(n, p), n whole."""
    limit = n * threshold
    nearest = np.rint(limit)
    is_tie = np.abs(limit - nearest) <= _TIE * np.maximum(limit, 1.0)
    last_below = np.where(is_tie, nearest - 1.0, np.floor(limit))  # the largest count below n t
    last_not_above = np.where(is_tie, nearest, np.floor(limit))
    return (_more_than(last_below, n, p) + _more_than(last_not_above, n, p)) / 2


def _more_than(count: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """P(Bin(n, p) > count)."""
    inside = (count >= 0) & (count < n)
    a = np.where(inside, count + 1.0, 1.0)
    b = np.where(inside, n - count, 1.0)
    tail: FloatArray = np.where(inside, betainc(a, b, p), np.where(count < 0, 1.0, 0.0))
    return tail


def saving(p: FloatArray, threshold: FloatArray, confidence: FloatArray) -> FloatArray:
    """Return the expected saving per row if the cheaper decision has this probability.

    In units of the more expensive error, a missed row of the class costs (1 - t) / max(t, 1 - t),
    a false alarm t / max(t, 1 - t). Deciding for the class saves the first for a share p of the
    rows, deciding against it the second for the others.
    """
    unit = np.maximum(threshold, 1 - threshold)
    for_it, against = (1 - threshold) / unit * p, threshold / unit * (1 - p)
    best, worst = np.maximum(for_it, against), np.minimum(for_it, against)
    value = worst + (best - worst) * confidence
    larger = np.maximum(p, 1.0 - p)
    equal = (1 - larger) + (2 * larger - 1) * confidence  # the arithmetic of (6), bit for bit
    return np.where(threshold == 0.5, equal, value)


# ---- nodes of a tree -----------------------------------------------------------------------------


EmptyNode = Literal["coin", "miss"]
"""How a node without rows counts: as a guess, or as wrong."""


class TreeLevels(NamedTuple):
    """Level of confidence (10) and level of utility (11) of a tree."""

    confidence: Numbers
    utility: Numbers


def node_confidence(
    n: ArrayLike, share: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "miss"
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
    empty : {"miss", "coin"}
        A node without rows counts as wrong: (9) as printed, whose sum begins at one row. Or it
        guesses its class by a fair coin.

    Returns
    -------
    float or ndarray
        From 0 (``"coin"``: from 0.5) to 1, of the broadcast shape. The absolute error is below
        1e-12 for n up to 10^9.

    Examples
    --------
    >>> round(node_confidence(100, 0.5, 0.6), 6)
    0.922662
    >>> round(node_confidence(5, 0.5, 0.6), 6), round(node_confidence(5, 0.5, 0.6, empty="coin"), 6)
    (0.60633, 0.621955)
    """
    return scalar_or_array(_node_levels(n, share, p_max, empty)[0])


def _node_levels(
    n: ArrayLike, share: ArrayLike, p_max: ArrayLike, empty: str
) -> tuple[FloatArray, FloatArray]:
    n_rows, part, p = broadcast(
        n=check_rows("n", n), share=check_unit_interval("share", share), p_max=check_p_max(p_max)
    )
    return _levels_of_nodes(n_rows, part, p, empty)


def _levels_of_nodes(
    n: FloatArray, share: FloatArray, p_max: FloatArray, empty: str
) -> tuple[FloatArray, FloatArray]:
    """Return (9) of each node and its term of (11), for checked arrays of one shape."""
    if empty not in ("coin", "miss"):
        raise InvalidArgumentError(
            f"empty must be 'coin' or 'miss'; got {empty!r}. "
            "With 'coin' a node without rows guesses, 'miss' is (9) as printed."
        )
    level = _kernel.node_confidence(n, share, p_max, empty == "coin")
    return level, (1 - p_max) + (2 * p_max - 1) * level


def node_utility(
    n: ArrayLike, share: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "miss"
) -> Numbers:
    """Return the probability that a node of a tree predicts its next row correctly.

    This is (6) with the confidence of (9): one node's term of (11), at most p_max. Parameters as
    for `node_confidence`.

    With ``empty="miss"`` it is (6) with (9) as printed: a node that always misses its majority
    class predicts the minority class, so an empty node is correct with probability 1 - p_max, not
    0. With ``"coin"``, a node without rows guesses its class and is correct with probability 1/2.

    Examples
    --------
    >>> round(node_utility(100, 0.5, 0.6), 6)
    0.584532
    >>> node_utility(0, 0.5, 0.75), node_utility(0, 0.5, 0.75, empty="coin")
    (0.25, 0.5)
    """
    return scalar_or_array(_node_levels(n, share, p_max, empty)[1])


def tree_levels(
    n: ArrayLike, shares: ArrayLike, p_max: ArrayLike, *, empty: EmptyNode = "miss"
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
    empty : {"miss", "coin"}
        As in `node_confidence` and `node_utility`.

    Returns
    -------
    TreeLevels
        Named tuple ``(confidence, utility)``, floats for one tree; otherwise arrays whose shape
        is n broadcast against ``shares`` and ``p_max`` without their last axis.

    Examples
    --------
    >>> levels = tree_levels(14, [0.5, 0.5], [4 / 7, 6 / 7])
    >>> round(levels.confidence, 4), round(levels.utility, 4)
    (0.8145, 0.6828)
    """
    n_rows, parts, p = broadcast(
        n=check_rows("n", n)[..., np.newaxis],
        shares=check_distribution("shares", shares),
        p_max=check_p_max(p_max, core=1),
    )
    n_shares = np.shape(shares)[-1]
    if parts.shape[-1] != n_shares:
        raise InvalidArgumentError(
            f"p_max must have one value for each of the {n_shares} shares, or one for all; "
            f"got {parts.shape[-1]} values. Give shares and p_max of equal length."
        )
    levels = _levels_of_nodes(n_rows, parts, p, empty)
    # rounding of the shares must not lift a level above 1
    totals = ((parts * level).sum(axis=-1) for level in levels)
    return TreeLevels(*(scalar_or_array(np.minimum(total, 1.0)) for total in totals))

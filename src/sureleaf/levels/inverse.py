"""Which class probability has a given utility: (6) and its K-class form, solved for p."""

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.levels.arguments import FloatArray
from sureleaf.levels.class_wins import win_probabilities

__all__ = ["ClassLevels", "p_max_of_utility", "winner_of_utility"]

_HALVINGS = 54
_NEAR = 1e-10
_CLEAR = 8.0
"""Standard deviations that a lead must have to be taken for certain."""

ClassLevels = tuple[FloatArray, FloatArray]
"""The winner's probability and the confidence."""


def p_max_of_utility(n: FloatArray, utility: FloatArray) -> ClassLevels:
    """Solve (6) for p_max, one solution a node, and give the confidence (5) with it.

    A utility of 1/2 or less has no p_max above 1/2: p_max is 1/2 there, and so is the
    confidence. A node without rows is a coin whatever p_max is: p_max is the utility then.

    Parameters
    ----------
    n : ndarray of float64
        Rows of each node.
    utility : ndarray of float64
        Its utility, from 0 to 1.

    Returns
    -------
    p_max, confidence : ndarray

    Examples
    --------
    >>> from sureleaf.levels import utility
    >>> p_max, confidence = p_max_of_utility(np.array([7.0]), np.array([utility(7, 0.8)]))
    >>> p_max.round(9), confidence.round(6)
    (array([0.8]), array([0.966656]))
    """
    n, utility = np.broadcast_arrays(np.asarray(n, float), np.asarray(utility, float))
    low, high = np.full(n.shape, 0.5), np.ones(n.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = (1 - middle) + (2 * middle - 1) * _kernel.confidence(n.copy(), middle)
        below = found < utility
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    p_max = np.where(utility <= 0.5, 0.5, np.where(utility >= 1, 1.0, (low + high) / 2))
    p_max = np.where((n == 0) & (utility > 0.5), utility, p_max)
    return p_max, _kernel.confidence(n.copy(), p_max)


def winner_of_utility(n: FloatArray, utility: FloatArray, others: FloatArray) -> ClassLevels:
    """Solve `class_utility` for the winner's probability, the others staying in proportion.

    The least probability that a winner can have is that of the most probable other class; a
    utility below that of such a tie gets the tie.

    Parameters
    ----------
    n : ndarray of shape (n_nodes,)
        Rows of each node.
    utility : ndarray of shape (n_nodes,)
        Its utility.
    others : ndarray of shape (n_nodes, n_classes - 1)
        Weights of the other classes, not negative.

    Returns
    -------
    probability, confidence : ndarray of shape (n_nodes,)

    Examples
    --------
    >>> from sureleaf.levels import class_utility
    >>> wanted = class_utility(30, [0.5, 0.3, 0.2])
    >>> found, sure = winner_of_utility(np.array([30.0]), np.array([wanted]), np.array([[3.0, 2]]))
    >>> found.round(6), sure.round(4)
    (array([0.5]), array([0.8834]))
    """
    if others.shape[1] == 1:
        return p_max_of_utility(n, utility)
    total = others.sum(axis=1, keepdims=True)
    even = np.full(others.shape, 1.0 / others.shape[1])
    others = np.divide(others, total, out=even, where=total > 0)
    largest = others.max(axis=1)
    tie = largest / (1 + largest)
    probability = np.clip(utility, tie, 1.0)
    open_ = np.flatnonzero((n > 0) & (utility < 1) & ~_is_clear(n, probability, largest))
    probability[open_] = _root(n[open_], utility[open_], others[open_], tie[open_])
    sure = np.ones(len(n))
    asked = np.flatnonzero(~_is_clear(n, probability, largest))
    vectors = _vectors(probability[asked], others[asked])
    sure[asked] = win_probabilities(n[asked], vectors)[:, 0]
    return probability, sure


def _is_clear(n: FloatArray, winner: FloatArray, largest: FloatArray) -> NDArray[np.bool_]:
    """Whether the winner leads by so many standard deviations that it cannot lose."""
    second = (1 - winner) * largest
    lead = winner - second
    clear: NDArray[np.bool_] = n * lead**2 > _CLEAR**2 * (winner + second - lead**2)
    return clear & (lead > 0)


def _root(n: FloatArray, utility: FloatArray, others: FloatArray, low: FloatArray) -> FloatArray:
    """Solve by false position, halving the value at an end that stays (the Illinois rule)."""
    low, high = low.copy(), np.ones(len(n))
    found = low.copy()
    at_low = _utility(n, low, others) - utility
    at_high = 1.0 - utility
    active = np.flatnonzero(at_low < 0)  # the others are below a tie, and get it
    last = np.zeros(len(n))
    for _ in range(_HALVINGS):
        if not len(active):
            break
        a, b, fa, fb = low[active], high[active], at_low[active], at_high[active]
        middle = np.clip((a * fb - b * fa) / (fb - fa), a, b)
        miss = _utility(n[active], middle, others[active]) - utility[active]
        found[active] = middle
        side = np.where(miss < 0, -1.0, 1.0)
        again = side == last[active]
        at_low[active] = np.where(side < 0, miss, np.where(again, fa / 2, fa))
        at_high[active] = np.where(side > 0, miss, np.where(again, fb / 2, fb))
        low[active], high[active] = np.where(side < 0, middle, a), np.where(side > 0, middle, b)
        last[active] = side
        active = active[(np.abs(miss) > _NEAR) & (high[active] - low[active] > _NEAR)]
    return found


def _vectors(winner: FloatArray, others: FloatArray) -> FloatArray:
    return np.column_stack([winner, (1 - winner)[:, np.newaxis] * others])


def _utility(n: FloatArray, winner: FloatArray, others: FloatArray) -> NDArray[np.float64]:
    vectors = _vectors(winner, others)
    found: NDArray[np.float64] = (vectors * win_probabilities(n, vectors)).sum(axis=1)
    return found

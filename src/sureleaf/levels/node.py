"""How sure is one node of n rows: equations (5) and (6)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from sureleaf.levels.arguments import FloatArray, Numbers, as_given, broadcast, p_max_of, rows

__all__ = ["confidence", "utility"]


def confidence(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    """Return the probability that the majority of n rows is the true majority class, (5).

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more.
    p_max : array_like
        Probability of the more probable class, from 0.5 to 1.

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape.

    Examples
    --------
    >>> round(confidence(7, 5 / 7), 4)
    0.8917
    """
    return as_given(_confidence(*broadcast(n=rows("n", n), p_max=p_max_of(p_max))))


def utility(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    """Return the probability that the majority of n rows is right about the next row, (6).

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more.
    p_max : array_like
        Probability of the more probable class, from 0.5 to 1.

    Returns
    -------
    float or ndarray
        From 0.5 to p_max, of the broadcast shape.

    Examples
    --------
    >>> round(utility(7, 5 / 7), 4)
    0.6679
    """
    n_rows, p = broadcast(n=rows("n", n), p_max=p_max_of(p_max))
    return as_given((1 - p) + (2 * p - 1) * _confidence(n_rows, p))


def _confidence(n: FloatArray, p: FloatArray) -> FloatArray:
    low = np.floor(n)
    at_low = _at_whole(low, p)
    return at_low + (n - low) * (_at_whole(low + 1, p) - at_low)


def _at_whole(n: FloatArray, p: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        a = np.ceil(n / 2)
        return np.where(a == 0, 0.5, betainc(np.maximum(a, 1), np.maximum(a, 1), p))

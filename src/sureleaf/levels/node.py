"""How sure is one node of n rows: equations (5) and (6)."""

from numpy.typing import ArrayLike

from sureleaf import _kernel
from sureleaf.levels.arguments import Numbers, as_given, broadcast, p_max_of, rows

__all__ = ["confidence", "utility"]


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
    return as_given(_kernel.confidence(*broadcast(n=rows("n", n), p_max=p_max_of(p_max))))


def utility(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    """Return the probability that the majority of n rows is right about the next row, (6).

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
    n_rows, p = broadcast(n=rows("n", n), p_max=p_max_of(p_max))
    return as_given((1 - p) + (2 * p - 1) * _kernel.confidence(n_rows, p))

"""How sure counted rows make one that a class named before them is the most probable one.

(5) asks before the rows are seen whether their majority will be the right one. Here the class was
named by someone else, say by a model that has not seen these rows, and the rows are its test. With
half a row of every class added (Jeffreys' prior), what is known of the class probabilities is a
Dirichlet distribution: independent gamma variables G_j of shape count_j + 1/2, divided by their
sum. The class c is the most probable one if G_c is the largest.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, erf, gammainc, gammainccinv, gammaincinv, ndtr

from sureleaf.levels.arguments import FloatArray

__all__ = ["majority_probability"]

_PRIOR_ROWS = 0.5
_STEP = 0.2
_REACH = 8.5
"""Beyond so many standard deviations of the standard normal lies less than 1e-16."""

_LINES = 2048
"""So many nodes are integrated at a time, to bound the memory."""


def majority_probability(counts: FloatArray, named: NDArray[np.intp]) -> FloatArray:
    """Return for each node the probability that the class named is its most probable one.

    Two classes: P(p > 1/2) of a beta distribution. More: the mean over G_c of the product of the
    other classes' distribution functions, by the trapezoidal rule over the normal variable that
    has G_c's quantile; the absolute error is below 1e-9.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_nodes, n_classes)
        Rows by class, fractions allowed. Without rows every class is as probable: 1 / K.
    named : ndarray of int, shape (n_nodes,)
        The class in question.

    Returns
    -------
    ndarray of float64, shape (n_nodes,)

    Notes
    -----
    If the class is no more probable than another, a probability of 1 - a or more turns up in about
    a share a of the samples: Jeffreys' prior matches one-sided tests.

    Examples
    --------
    >>> counts = np.array([[5.0, 2.0], [2.0, 5.0], [0.0, 0.0]])
    >>> majority_probability(counts, np.zeros(3, dtype=np.intp)).round(4)
    array([0.8719, 0.1281, 0.5   ])
    >>> majority_probability(np.array([[5.0, 2.0, 0.0]]), np.array([0])).round(4)
    array([0.8681])
    """
    n_nodes, n_classes = counts.shape
    line = np.arange(n_nodes)
    own = counts[line, named] + _PRIOR_ROWS
    kept = np.ones(counts.shape, dtype=bool)
    kept[line, named] = False
    others = counts[kept].reshape(n_nodes, n_classes - 1) + _PRIOR_ROWS
    if n_classes == 1:
        return np.ones(n_nodes)
    if n_classes == 2:
        found: FloatArray = betainc(others[:, 0], own, 0.5)
        return found
    # Small leaves have the same counts over and over; which other class is which does not matter.
    shapes, back = np.unique(
        np.column_stack([own, np.sort(others, axis=1)]), axis=0, return_inverse=True
    )
    parts = [_largest(shapes[start : start + _LINES]) for start in range(0, len(shapes), _LINES)]
    return np.concatenate([np.empty(0), *parts])[back.reshape(-1)]


def _largest(shapes: FloatArray) -> FloatArray:
    """P(the first gamma variable of each line is the largest)."""
    z = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    weights = np.exp(-z * z / 2)
    first = shapes[:, :1]
    # Each tail from its own side, where its small probability is exact.
    value = np.where(z < 0, gammaincinv(first, ndtr(z)), gammainccinv(first, ndtr(-z)))
    # Classes without rows are all alike, and many: P(G < x) = erf(sqrt(x)) for shape 1/2.
    others = shapes[:, 1:]
    below = erf(np.sqrt(value)) ** (others == _PRIOR_ROWS).sum(axis=1, keepdims=True)
    for other in others.T:
        some = np.flatnonzero(other != _PRIOR_ROWS)
        below[some] *= gammainc(other[some, np.newaxis], value[some])
    found: FloatArray = below @ (weights / weights.sum())
    return np.clip(found, 0.0, 1.0)

"""The computations that the paper's tables follow where they leave its definitions.

None of these is recommended for anything but explaining what was printed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from sureleaf import levels

__all__ = [
    "binomial_probabilities",
    "confidence_from_independent_counts",
    "confidence_without_ties",
    "gini_with_last_squares_added",
    "utility_of",
]


def binomial_probabilities(n: int, p: float) -> NDArray[np.float64]:
    """Return P(Y = y) for y = 0 to n, Y ~ Bin(n, p).

    Examples
    --------
    >>> binomial_probabilities(2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    y = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    found: NDArray[np.float64] = np.exp(ways + special.xlogy(y, p) + special.xlog1py(n - y, -p))
    return found


def confidence_from_independent_counts(n: int, share: float, success: float) -> float:
    """Return (9) with the success count drawn independently of the node's size.

    Tables 3 to 8 take N ~ Bin(n, share) and Y ~ Bin(n, share * p_max); Tables 11 to 14 take
    N ~ Bin(n_j, n_j / 14) and Y ~ Bin(n_j, p_max). In both, Y is compared with N / 2 as if the
    two had nothing to do with each other; in (9), Y is Bin(m, p_max) once N = m is known.

    Parameters
    ----------
    n : int
        Trials of both counts.
    share, success : float
        Their probabilities.

    Examples
    --------
    >>> round(confidence_from_independent_counts(5, 0.5, 0.5 * 0.6), 4)  # first cell of Table 3
    0.5358
    """
    sizes = binomial_probabilities(n, share)[1:]
    successes = binomial_probabilities(n, success)
    m, y = np.arange(1, n + 1)[:, None], np.arange(n + 1)
    won = (2 * y > m) + 0.5 * (2 * y == m)
    return float(sizes @ won @ successes)


def confidence_without_ties(n: int, p_max: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (5) without its last term: a tie counts as a failure instead of half a success.

    Examples
    --------
    >>> confidence_without_ties(2, np.array([0.5])).tolist()
    [0.25]
    """
    won = np.asarray(levels.confidence(n, p_max), dtype=np.float64)
    if n % 2:
        return won
    half = n / 2
    ways = special.gammaln(n + 1) - 2 * special.gammaln(half + 1)
    tie = np.exp(ways + special.xlogy(half, p_max) + special.xlog1py(half, -p_max))
    found: NDArray[np.float64] = won - tie / 2
    return found


def utility_of(confidence: float, p_max: float) -> float:
    """Return (6), p C + (1 - p) (1 - C), of a confidence however computed.

    Examples
    --------
    >>> round(utility_of(0.9, 0.8), 6)
    0.74
    """
    return p_max * confidence + (1 - p_max) * (1 - confidence)


def gini_with_last_squares_added(nodes: Sequence[tuple[int, int]]) -> float:
    """Return the Gini impurity of a split with one sign wrong: 1 + sum p^2 in the last node.

    This is what Table 15 prints for the two splits with three nodes.

    Parameters
    ----------
    nodes : sequence of (int, int)
        Rows and successes of each node.

    Examples
    --------
    >>> round(gini_with_last_squares_added([(5, 2), (4, 4), (5, 3)]), 4)
    0.7143
    """
    n, y = np.array(nodes, dtype=np.float64).T
    squares = (y**2 + (n - y) ** 2) / n**2
    impurity = 1 - squares
    impurity[-1] = 1 + squares[-1]
    return float(n @ impurity / n.sum())

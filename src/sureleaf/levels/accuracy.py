"""How far an estimate of p_max, confidence or utility is off, exactly and not by simulation.

With Y the larger of the two classes' counts, the mean of h(Y) is the sum of h(y) P(Y = y) over y
from ceil(n / 2) to n. Counts further from their mean than a chance of e^-42 are left out, so
the work grows with the square root of n.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import (
    FloatArray,
    Numbers,
    as_given,
    broadcast,
    p_max_of,
    within,
)
from sureleaf.levels.estimates import estimate_p_max
from sureleaf.levels.node import confidence, utility

__all__ = [
    "QUANTITIES",
    "chance_of_larger_count",
    "exact_bias",
    "exact_mse",
    "likely_counts",
    "quantity",
]

Quantity = Callable[[ArrayLike, ArrayLike], Numbers]
Loss = Callable[[FloatArray, FloatArray], FloatArray]


def _p_max_itself(n: ArrayLike, p_max: ArrayLike) -> Numbers:
    return as_given(np.asarray(p_max, dtype=np.float64))


QUANTITIES: dict[str, Quantity] = {
    "p_max": _p_max_itself,
    "confidence": confidence,
    "utility": utility,
}
"""What is estimated -> function of (n, p_max); its estimate is its value at the estimated p_max."""

_LOG_NEGLIGIBLE = 42.0
_COUNTS_AT_A_TIME = 200_000


def exact_bias(
    n: ArrayLike, p_max: ArrayLike, *, method: str = "blend", of: str = "p_max"
) -> Numbers:
    """Return the expected estimate minus the truth.

    Parameters
    ----------
    n : array_like
        Rows in the node, a whole number; a node without rows estimates p_max = 0.5.
    p_max : array_like
        The true probability of the more probable class, from 0.5 to 1.
    method : str
        A method of `estimate_p_max`.
    of : {"p_max", "confidence", "utility"}
        What is estimated: p_max, (5) or (6), the latter two at the estimated p_max.

    Returns
    -------
    float or ndarray
        Of the broadcast shape; absolute error below 1e-12 for n up to 10^9.

    Examples
    --------
    >>> round(exact_bias(20, 0.6, method="mle"), 4)
    0.0214
    >>> round(exact_bias(20, 0.6), 4)
    0.007
    """
    target = quantity(of)
    return _mean(n, p_max, method, target, lambda found, truth: found - truth)


def exact_mse(
    n: ArrayLike, p_max: ArrayLike, *, method: str = "blend", of: str = "p_max"
) -> Numbers:
    """Return the mean squared difference of estimate and truth.

    Parameters
    ----------
    n : array_like
        Rows in the node, a whole number; a node without rows estimates p_max = 0.5.
    p_max : array_like
        The true probability of the more probable class, from 0.5 to 1.
    method : str
        A method of `estimate_p_max`.
    of : {"p_max", "confidence", "utility"}
        What is estimated: p_max, (5) or (6), the latter two at the estimated p_max.

    Returns
    -------
    float or ndarray
        Of the broadcast shape; absolute error below 1e-12 for n up to 10^9.

    Examples
    --------
    >>> round(exact_mse(20, 0.6, method="mle"), 4)
    0.0077
    """
    target = quantity(of)
    return _mean(n, p_max, method, target, lambda found, truth: (found - truth) ** 2)


def quantity(of: str) -> Quantity:
    """Return the function of (n, p_max) that ``of`` names, or say which there are.

    Examples
    --------
    >>> round(quantity("confidence")(7, 5 / 7), 4)
    0.8917
    """
    if of not in QUANTITIES:
        raise InvalidArgumentError(
            f"of must be one of {', '.join(map(repr, QUANTITIES))}; got {of!r}."
        )
    return QUANTITIES[of]


def _mean(
    n: ArrayLike,
    p_max: ArrayLike,
    method: str,
    target: Quantity,
    loss: Loss,
) -> Numbers:
    """Return the mean of loss(estimate, truth)."""
    whole = within(
        "n",
        n,
        lambda n: (n >= 0) & np.isfinite(n) & (n == np.floor(n)),
        "a whole number of rows, 0 or more",
        lambda n: " Counts are distributed over whole rows: round it." if n >= 0 else "",
    )
    n_rows, p = broadcast(n=whole, p_max=p_max_of(p_max))
    estimate_p_max(0, 1, method=method)  # names a wrong method even if there is nothing to do
    result = np.full(n_rows.shape, np.nan)
    usable = ~np.isnan(n_rows) & ~np.isnan(p)
    result[usable] = _means(n_rows[usable], p[usable], method, target, loss)
    return as_given(result)


def _means(n: FloatArray, p: FloatArray, method: str, target: Quantity, loss: Loss) -> FloatArray:
    """Return the mean losses of many nodes, the likely counts of some of them at a time."""
    truth = np.asarray(target(n, p))
    low, high = likely_counts(n, p)
    lengths = (high - low + 1).astype(np.intp)
    share = np.cumsum(lengths) // _COUNTS_AT_A_TIME
    means = np.empty(n.shape)
    for part in np.split(np.arange(n.size), np.flatnonzero(np.diff(share)) + 1):
        node = np.repeat(part, lengths[part])
        first = np.cumsum(lengths[part]) - lengths[part]
        counts = low[node] + np.arange(node.size) - np.repeat(first, lengths[part])
        found = np.asarray(target(n[node], estimate_p_max(counts, n[node], method=method)))
        losses = loss(found, truth[node]) * chance_of_larger_count(counts, n[node], p[node])
        means[part] = np.add.reduceat(losses, first) if part.size else 0.0
    return means


def likely_counts(n: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest count of the larger class that may well occur.

    Examples
    --------
    >>> likely_counts(np.array([10_000.0]), np.array([0.6]))
    (array([5536.]), array([6464.]))
    """
    third = _LOG_NEGLIGIBLE / 3
    reach = third + np.sqrt(third**2 + 2 * _LOG_NEGLIGIBLE * n * p * (1 - p))
    low = np.maximum(np.ceil(n / 2), np.floor(n * p - reach))
    return low, np.minimum(n, np.ceil(n * p + reach))


def chance_of_larger_count(y_max: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return P(the larger of the two counts is y_max), (2), for arrays of one shape.

    Examples
    --------
    >>> chance_of_larger_count(np.array([1.0, 2.0]), np.full(2, 2.0), np.full(2, 0.5)).round(12)
    array([0.5, 0.5])
    """
    either = np.exp(_kernel.log_binomial(y_max, n, p)) + np.exp(
        _kernel.log_binomial(n - y_max, n, p)
    )
    return np.where(2 * y_max == n, either / 2, either)

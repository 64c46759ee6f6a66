"""The probability of each of K classes to be the most frequent among n rows.

Ties are drawn fairly. The counts of the classes are independent Poisson counts X_j with means
n p_j, given that they add up to n; class i wins when X_i + U_i is the largest, U_j uniform.

Up to `EXACT_ROWS` rows the kernel sums over the winner's count (absolute error below 1e-11).
Beyond, the sum becomes an integral over the winner's score s: the integrand is the product of
the winner's density and the others' distribution functions, each carrying exp(i theta x), and
the integral over theta conditions on the total. The density of X_j + U_j - 1/2 is
f + f'' / 24 with f the Poisson probability at real x. What is lost is the ripple between odd and
even n, at most 0.0605 / n, and terms of the order (K / n)^2: below 1e-6 for K up to 50.
"""

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from sureleaf._kernel import class_wins
from sureleaf.levels.arguments import FloatArray
from sureleaf.levels.node import confidence

__all__ = ["EXACT_ROWS", "win_probabilities"]

EXACT_ROWS = 100_000
"""Up to so many rows, or 500 rows a class if there are more than 200, the sums are exact."""

_ROWS_PER_CLASS = 500
_LOG_NEGLIGIBLE = 42.0


def win_probabilities(n: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return P(class j is the most frequent of n[i] rows) for every i, j; fractional n between.

    Examples
    --------
    >>> win_probabilities(np.array([2.0]), np.array([[0.5, 0.5, 0.0]]))
    array([[0.5, 0.5, 0. ]])
    """
    if probabilities.shape[1] == 2:
        return _two_classes(n, probabilities)
    wins = np.full(probabilities.shape, np.nan)
    usable = ~np.isnan(n) & ~np.isnan(probabilities).any(axis=1)
    endless = usable & np.isinf(n)
    best = probabilities[endless] == probabilities[endless].max(axis=1, keepdims=True)
    wins[endless] = best / best.sum(axis=1, keepdims=True)
    finite = usable & ~endless
    wins[finite] = _at_whole(np.floor(n[finite]), probabilities[finite])
    between = np.flatnonzero(finite & (n > np.floor(n)))
    part = n[between] - np.floor(n[between])
    above = _at_whole(np.ceil(n[between]), probabilities[between])
    wins[between] += part[:, np.newaxis] * (above - wins[between])
    return wins


def _two_classes(n: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return (5) for the larger of two classes, and what is left for the smaller."""
    larger = probabilities.max(axis=1)
    sure = np.asarray(confidence(n, np.clip(larger, 0.5, 1.0)))[:, np.newaxis]
    return np.where(probabilities == larger[:, np.newaxis], sure, 1.0 - sure)


def _at_whole(n: FloatArray, probabilities: FloatArray) -> FloatArray:
    wins = np.empty(probabilities.shape)
    exact = n <= np.maximum(EXACT_ROWS, _ROWS_PER_CLASS * (probabilities > 0).sum(axis=1))
    found = np.empty((int(exact.sum()), probabilities.shape[1]))
    class_wins(n[exact].astype(np.int64), np.ascontiguousarray(probabilities[exact]), found)
    wins[exact] = found
    for i in np.flatnonzero(~exact):
        wins[i] = _of_many_rows(float(n[i]), probabilities[i])
    return wins


def _of_many_rows(n: float, probabilities: FloatArray) -> FloatArray:
    """Return the approximate probabilities to win; classes that cannot win are one Poisson."""
    top = probabilities.max()
    lowest = n * top - _reach(n * top * (1 - top))
    able = n * probabilities + _reach(n * probabilities * (1 - probabilities)) >= lowest
    wins = np.zeros(probabilities.shape)
    if able.sum() == 1:
        return np.where(able, 1.0, 0.0)
    means: FloatArray = n * probabilities[able]
    period = float(_reach(n))  # the total strays no further from n, in either direction
    n_turns = int(np.ceil(np.sqrt(2 * _LOG_NEGLIGIBLE / n) * period / (2 * np.pi))) + 1
    theta: FloatArray = np.arange(n_turns, dtype=np.float64) * (2 * np.pi / period)
    rest = n * probabilities[~able].sum()
    weight = np.exp(rest * (1j * np.sin(theta) - 2 * np.sin(theta / 2) ** 2))
    weight = weight * np.exp(-1j * theta * (n - means.sum()))
    weight[1:] *= 2  # theta and -theta
    won = (weight[:, np.newaxis] * _won_at(theta, means)).sum(axis=0).real
    wins[able] = np.clip(won / won.sum(), 0.0, 1.0)
    return wins


def _won_at(theta: FloatArray, means: FloatArray) -> NDArray[np.complex128]:
    """Return E[exp(i theta (sum of counts - sum of means)); class j wins], up to one factor."""
    spread = _reach(means)
    low, high = np.min(means - spread), np.max(means + spread)
    edges = np.linspace(low, high, int(np.ceil(4 * (high - low) / np.sqrt(means.max()))) + 1)
    width = edges[1] - edges[0]
    nodes, weights = leggauss(8)
    inside = edges[:-1, np.newaxis] + width * (nodes + 1) / 2
    cells = _carried_density(theta, means, inside) @ (weights * width / 2)
    below = np.zeros((len(theta), len(means), len(edges)), dtype=np.complex128)
    np.cumsum(cells, axis=2, out=below[:, :, 1:])
    others = np.ones_like(below)  # products over the other classes, from both sides
    np.cumprod(below[:, :-1], axis=1, out=others[:, 1:])
    others[:, :-1] *= np.cumprod(below[:, :0:-1], axis=1)[:, ::-1]
    won: NDArray[np.complex128] = (_carried_density(theta, means, edges) * others).sum(axis=2)
    return won


def _carried_density(
    theta: FloatArray, means: FloatArray, score: FloatArray
) -> NDArray[np.complex128]:
    """Return g + g'' / 24 of g = exp(i theta (x - mean)) f(x), axes theta, class, score."""
    angle = theta.reshape((-1, 1) + (1,) * score.ndim)
    mean = means.reshape((-1,) + (1,) * score.ndim)
    slope = 1j * angle - np.log1p((score + 0.5 - mean) / mean)  # of log g
    density = _poisson_density(score, mean) * np.exp(1j * angle * (score - mean))
    carried: NDArray[np.complex128] = density * (1 + (slope**2 - 1 / score) / 24)
    return carried


def _poisson_density(x: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the Poisson probability at real x by Stirling's series, x of hundreds or more."""
    ratio = (x - mean) / mean
    near = np.where(np.abs(ratio) < 0.01, ratio, 0.0)
    series = np.zeros_like(near)
    for k in range(9, 1, -1):  # (1 + r) log(1 + r) - r = r^2 / 2 - r^3 / 6 + r^4 / 12 - ...
        series = 1 / (k * (k - 1)) - near * series
    far = (1 + ratio) * np.log1p(ratio) - ratio
    deviance = mean * np.where(near == ratio, near**2 * series, far)
    density: FloatArray = np.exp(-deviance - 1 / (12 * x)) / np.sqrt(2 * np.pi * x)
    return density


def _reach(variance: FloatArray | float) -> FloatArray:
    """Return how far a count of this variance strays but for a chance of e^-42 (Bernstein)."""
    third = _LOG_NEGLIGIBLE / 3
    return np.asarray(third + np.sqrt(third**2 + 2 * _LOG_NEGLIGIBLE * np.asarray(variance)))

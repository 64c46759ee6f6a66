"""The power law that a learning curve follows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError

__all__ = ["PowerLaw", "fit_power_law"]


SLOWEST, FASTEST = 0.05, 3.0
"""Range of the exponent: beyond it a curve is flat, or has reached its limit at once."""

MOST_EXPONENT = 700.0
"""e to the power of this is close to the largest float."""


@dataclass(frozen=True)
class PowerLaw:
    """A measure as a function of training rows: ``limit - height n^-rate``.

    Attributes
    ----------
    limit : float
        Value of the measure for infinitely many rows.
    height : float
        Positive if the measure grows with the rows, negative if it falls (losses).
    rate : float
        How fast the measure approaches the limit.

    Examples
    --------
    >>> law = PowerLaw(limit=0.95, height=1.0, rate=0.5)
    >>> law(100), round(law.rows_for(0.9))
    (0.85, 400)
    """

    limit: float
    height: float
    rate: float

    def __call__(self, n: ArrayLike) -> float | FloatArray:
        """Return the measure at n rows."""
        value = self.limit - self.height * np.asarray(n, dtype=np.float64) ** -self.rate
        return float(value) if value.ndim == 0 else value

    def rows_for(self, target: float) -> float:
        """Return the rows at which the measure reaches the target; infinite if never."""
        if self.height == 0:
            return 0.0 if self.limit == target else math.inf
        ratio = (self.limit - target) / self.height
        if ratio <= 0:
            return math.inf
        power = -math.log(ratio) / self.rate
        return math.exp(power) if power < MOST_EXPONENT else math.inf


def fit_power_law(
    sizes: ArrayLike,
    values: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    increasing: bool = True,
    low: float = -math.inf,
    high: float = math.inf,
) -> PowerLaw:
    """Fit a power law by weighted least squares.

    For each rate, limit and height solve a linear problem with bounds. The rate is searched on
    finer and finer grids, so that the fit cannot diverge.

    Parameters
    ----------
    sizes, values : array-like
        At least three sizes.
    weights : array-like, optional
    increasing : bool
        Whether the measure grows with the rows.
    low, high : float
        Range of the measure, for the limit.

    Returns
    -------
    PowerLaw

    Examples
    --------
    >>> n = np.array([50, 100, 200, 400])
    >>> law = fit_power_law(n, 0.9 - 2 / n, high=1.0)
    >>> round(law.limit, 4), round(law.height, 3), round(law.rate, 4)
    (0.9, 2.0, 1.0)
    """
    n, y = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(n) < 3:
        raise InvalidArgumentError(
            f"A power law needs the measure at three or more sizes; got {len(n)}. "
            "Use a schedule with more sizes, or no stop rule."
        )
    w = np.ones(len(n)) if weights is None else np.asarray(weights, dtype=np.float64)
    scale = n.min()  # keeps the two columns of the linear problem at the same scale
    rates = np.geomspace(SLOWEST, FASTEST, 41)
    for _ in range(5):  # each grid is 20 times finer
        cost, limit, height = _solve(n / scale, y, w, rates, increasing, low, high)
        best = int(np.argmin(cost))
        law = PowerLaw(
            float(limit[best]), float(height[best] * scale ** rates[best]), float(rates[best])
        )
        rates = np.linspace(rates[max(best - 1, 0)], rates[min(best + 1, 40)], 41)
    return law


def _solve(
    n: FloatArray,
    y: FloatArray,
    w: FloatArray,
    rates: FloatArray,
    increasing: bool,
    low: float,
    high: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return cost, limit and height of the best curve for each rate, within the bounds.

    The best is the unconstrained solution if it is allowed. Otherwise it lies on the boundary,
    with the limit at a bound or the height at 0, because the problem is convex.
    """
    x = -(n[None, :] ** -rates[:, None])
    mean_x, mean_y = (x @ w) / w.sum(), float(w @ y) / w.sum()
    spread = ((x - mean_x[:, None]) ** 2) @ w
    slope = ((x - mean_x[:, None]) * (y - mean_y)) @ w / spread
    flat = np.full(len(rates), np.clip(mean_y, low, high))
    choices = [(mean_y - slope * mean_x, slope), (flat, np.zeros(len(rates)))]
    choices += [
        (np.full(len(rates), bound), (x * (y - bound)) @ w / ((x**2) @ w))
        for bound in (low, high)
        if math.isfinite(bound)
    ]
    sign = 1 if increasing else -1
    costs = []
    for limit, height in choices:
        allowed = (sign * height >= 0) & (limit >= low) & (limit <= high)
        error = ((y - limit[:, None] - height[:, None] * x) ** 2) @ w
        costs.append(np.where(allowed, error, np.inf))
    best = np.argmin(costs, axis=0)
    column = np.arange(len(rates))
    limits, heights = (np.array([choice[i] for choice in choices])[best, column] for i in (0, 1))
    return np.array(costs)[best, column], limits, heights

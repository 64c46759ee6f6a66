"""Exact means over all counts of a class, with binomial coefficients as whole numbers."""

from collections.abc import Callable
from math import comb

from sureleaf.levels import confidence, estimate_p_max, utility

OF: dict[str, Callable[[int, float], float]] = {
    "p_max": lambda n, p: p,
    "confidence": lambda n, p: float(confidence(n, p)),
    "utility": lambda n, p: float(utility(n, p)),
}


def mean_power_of_error(n: int, p: float, method: str, of: str, power: int) -> float:
    truth = OF[of](n, p)
    total = 0.0
    for y in range(n + 1):
        estimate = OF[of](n, float(estimate_p_max(y, n, method=method)))
        total += comb(n, y) * p**y * (1 - p) ** (n - y) * (estimate - truth) ** power
    return total

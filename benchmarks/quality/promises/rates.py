"""One rate and two rates: exact sums over every outcome, or simulations for many rows."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks.quality.promises.record import (
    Promise,
    coverage,
    false_positives,
    lattice,
    power,
)
from sureleaf.comparison import compare_rates, rate_interval, rows_to_detect

SIZES = (20, 50, 100, 500, 5000)
RATES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99)


FEW_ROWS = "fewer than 5 rows of one kind are expected"
WALD = "the variance comes from the two observed rates (Wald)"


@cache
def interval_of_count(method: str, n: int, count: int) -> tuple[float, float]:
    interval = rate_interval(count / n, n, method=method)
    return interval.low, interval.high


def exact_coverage(method: str, n: int, rate: float) -> float:
    """Exact probability that the interval holds the rate."""
    counts = np.arange(n + 1)
    masses = binom.pmf(counts, n, rate)
    likely = masses > 1e-12
    ends = np.array([interval_of_count(method, n, int(count)) for count in counts[likely]])
    return float(masses[likely] @ ((ends[:, 0] <= rate) & (rate <= ends[:, 1])))


def one_rate(sizes: tuple[int, ...] = SIZES) -> Iterator[Promise]:
    for n in sizes:
        for method in ("wilson", "clopper_pearson"):
            for rate in RATES:
                smallest = n * min(rate, 1 - rate)
                deviation = lattice(np.sqrt(n * rate * (1 - rate)), smallest_count=smallest)
                is_exact = method == "clopper_pearson"
                yield coverage(
                    f"interval of a rate, {method}: coverage",
                    f"n = {n}, rate {rate:g}",
                    exact_coverage(method, n, rate),
                    deviation=None if is_exact else deviation,
                    warning="" if is_exact or deviation else FEW_ROWS,
                    default=is_exact,
                )


def mean_coverage(method: str, n: int) -> float:
    """Coverage, averaged over equally likely rates."""
    grid = (np.arange(199) + 1) / 200
    return float(np.mean([exact_coverage(method, n, rate) for rate in grid]))


def worst_coverage(method: str, n: int) -> float:
    """Coverage at the rate where it is lowest, on a fine grid."""
    return min(exact_coverage(method, n, rate) for rate in (np.arange(499) + 1) / 1000)


def all_rates(n: int = 50) -> Iterator[Promise]:
    for method in ("wilson", "clopper_pearson"):
        yield coverage(
            f"interval of a rate, {method}: coverage",
            f"n = {n}, the rate with the lowest coverage",
            worst_coverage(method, n),
            warning="" if method == "clopper_pearson" else FEW_ROWS,
            default=method == "clopper_pearson",
        )
    yield coverage(
        "interval of a rate, wilson: coverage",
        f"n = {n}, mean over all rates",
        mean_coverage("wilson", n),
    )


def two_rates(runs: int, sizes: tuple[int, ...] = (20, 100, 1000, 5000)) -> Iterator[Promise]:
    """z for two independent test sets: errors without, and power with, a true difference."""
    for n in sizes:
        for rate in (0.02, 0.2, 0.5):
            for pooled in (False, True):
                yield from _two_rates(n, rate, pooled, runs)
    for n in sizes[:2]:
        for pair in ((0.01, 0.03), (0.03, 0.01), (0.02, 0.2), (0.98, 0.05)):
            for pooled in (False, True):
                yield _near_the_ends(n, pair, pooled, runs)
    for rate, difference in ((0.05, 0.05), (0.2, 0.05)):
        yield _planned(rate, difference, runs)


def _two_rates(n: int, rate: float, pooled: bool, runs: int) -> Iterator[Promise]:
    name = "two rates, z pooled, score interval" if pooled else "two rates, z unpooled"
    setting = f"n = {n} and {2 * n}, both rates {rate:g}"

    def wrong(x1: int, x2: int) -> tuple[float, float]:
        test = compare_rates(x1 / n, n, x2 / (2 * n), 2 * n, pooled=pooled)
        return float(test.p_value <= 0.05), float(test.low <= 0 <= test.high)

    (rejects, covers), exact = expected(wrong, (n, rate), (2 * n, rate), runs)
    options = _options(n, (rate, rate), pooled)
    runs = 0 if exact else runs
    yield false_positives(f"{name}: false positives", setting, rejects, runs, **options)
    yield coverage(f"{name}: coverage", setting, covers, runs, **options)


def _options(n: int, rates: tuple[float, float], pooled: bool) -> dict[str, Any]:
    """Deviation and warning of the test with n rows of the first and 2 n of the second model."""
    if not pooled:
        return {"warning": WALD}
    first, second = (rate * (1 - rate) for rate in rates)
    # (2 x1 - x2) / 2n moves in steps of 1 / 2n
    deviation = lattice(
        np.sqrt(4 * n * first + 2 * n * second),
        smallest_count=min(n * size * min(r, 1 - r) for size, r in zip((1, 2), rates, strict=True)),
    )
    return {"deviation": deviation, "warning": "" if deviation else FEW_ROWS, "default": True}


def _near_the_ends(n: int, pair: tuple[float, float], pooled: bool, runs: int) -> Promise:
    """Rates near 0 or 1 that differ: often all rows of one sample are of one kind."""
    difference = pair[0] - pair[1]

    def holds(x1: int, x2: int) -> tuple[float]:
        test = compare_rates(x1 / n, n, x2 / (2 * n), 2 * n, pooled=pooled)
        return (float(test.low <= difference + 1e-12 and difference - 1e-12 <= test.high),)

    (covers,), exact = expected(holds, (n, pair[0]), (2 * n, pair[1]), runs)
    return coverage(
        f"two rates, z {'pooled, score interval' if pooled else 'unpooled'}: coverage",
        f"n = {n} and {2 * n}, rates {pair[0]:g} and {pair[1]:g}",
        covers,
        0 if exact else runs,
        **_options(n, pair, pooled),
    )


def _planned(rate: float, difference: float, runs: int) -> Promise:
    n = rows_to_detect(difference, rate=rate, paired=False)

    def finds(x1: int, x2: int) -> tuple[float]:
        return (float(compare_rates(x1 / n, n, x2 / n, n, pooled=True).p_value <= 0.05),)

    (share,), exact = expected(finds, (n, rate), (n, rate + difference), runs)
    return power(
        "two rates, z pooled: power at the rows planned for .8",
        f"rates {rate:g} and {rate + difference:g}, n = {n} each",
        0.8,
        share,
        0 if exact else runs,
    )


def expected(
    outcome: Callable[[int, int], tuple[float, ...]],
    first: tuple[int, float],
    second: tuple[int, float],
    runs: int,
) -> tuple[np.ndarray, bool]:
    """Mean outcome over two binomial counts, and whether it is exact (few rows) or simulated."""
    (n1, p1), (n2, p2) = first, second
    if (n1 + 1) * (n2 + 1) <= 6000:
        m1, m2 = binom.pmf(np.arange(n1 + 1), n1, p1), binom.pmf(np.arange(n2 + 1), n2, p2)
        pairs = [
            (m1[i] * m2[j], i, j)
            for i in range(n1 + 1)
            for j in range(n2 + 1)
            if m1[i] * m2[j] > 1e-9
        ]
        total = sum(mass for mass, _, _ in pairs)
        means = sum(mass * np.array(outcome(i, j)) for mass, i, j in pairs) / total
        return np.asarray(means), True
    rng = np.random.default_rng([n1, n2, round(1e6 * p1)])
    draws = np.column_stack([rng.binomial(n1, p1, runs), rng.binomial(n2, p2, runs)])
    unique, counts = np.unique(draws, axis=0, return_counts=True)
    found = np.array([outcome(int(i), int(j)) for i, j in unique])
    return (counts @ found) / runs, False

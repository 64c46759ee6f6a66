"""One rate and two rates: coverage and errors summed over every outcome, where there are few."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom

from benchmarks.quality.promises.record import LEVEL, Promise, about, at_least, share_error
from sureleaf.comparison import compare_rates, rate_interval, rows_to_detect

SIZES = (20, 50, 100, 500, 5000)
RATES = (0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99)


def coverage(method: str, n: int, rate: float) -> float:
    """Exact probability that the interval holds the rate."""
    hits = np.arange(n + 1)
    masses = binom.pmf(hits, n, rate)
    likely = masses > 1e-12
    holds = []
    for count in hits[likely]:
        interval = rate_interval(count / n, n, method=method)
        holds.append(interval.low <= rate <= interval.high)
    return float(masses[likely] @ np.array(holds, dtype=float))


def one_rate(sizes: tuple[int, ...] = SIZES) -> Iterator[Promise]:
    for n in sizes:
        for method in ("wilson", "clopper_pearson", "jeffreys"):
            found = {rate: coverage(method, n, rate) for rate in RATES}
            for rate in RATES:
                setting = f"n = {n}, rate {rate:g}"
                what = f"interval of a rate, {method}: coverage"
                # Up to the masses below 1e-12 that were left out.
                share = min(found[rate] + 1e-9, 1.0)
                if method == "clopper_pearson":
                    yield at_least(what, setting, LEVEL, share)
                elif n * min(rate, 1 - rate) < 5:
                    yield about(
                        what,
                        setting,
                        LEVEL,
                        share,
                        within=(0.80, 1.0),
                        note="fewer than 5 rows of one kind expected: .80 to 1, by the rate",
                    )
                else:
                    yield about(
                        what,
                        setting,
                        LEVEL,
                        share,
                        within=(0.91, 0.98),
                        note="counts are whole: coverage swings around the level, .91 to .98",
                    )


def mean_coverage(method: str, n: int) -> float:
    """Coverage averaged over all rates alike: what an unknown rate may expect."""
    grid = (np.arange(199) + 1) / 200
    return float(np.mean([coverage(method, n, rate) for rate in grid]))


def worst_coverage(method: str, n: int) -> float:
    """Coverage at the rate where it is lowest, on a fine grid."""
    return min(coverage(method, n, rate) for rate in (np.arange(499) + 1) / 1000)


def all_rates(n: int = 50) -> Iterator[Promise]:
    for method, worst in (("wilson", 0.83), ("clopper_pearson", LEVEL), ("jeffreys", 0.83)):
        yield about(
            f"interval of a rate, {method}: coverage",
            f"n = {n}, the worst rate there is",
            LEVEL,
            worst_coverage(method, n),
            within=(worst, 1.0),
            note="" if worst == LEVEL else "a rate near 0 or 1 may have .83",
        )
    for method in ("wilson", "jeffreys"):
        yield about(
            f"interval of a rate, {method}: coverage",
            f"n = {n}, mean over all rates",
            LEVEL,
            mean_coverage(method, n),
            within=(0.945, 0.96),
            note="within a point of the level",
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
    sparse = n * min(rate, 1 - rate) < 10
    errors = [0.0 if exact else share_error(share, runs) for share in (rejects, covers)]
    if pooled:
        note = "whole counts: up to .07 with few errors expected" if sparse else ""
        high = 0.07 if sparse else 0.06
        note = note or "whole counts: up to .06"
    else:
        note = "too many with few errors expected: up to .15" if sparse else "up to .07"
        high = 0.15 if sparse else 0.07
    for kind, nominal, found, at, low, top in (
        ("false positives", 0.05, rejects, errors[0], 0.0, high),
        ("coverage", LEVEL, covers, errors[1], 1 - high, 1.0),
    ):
        yield about(f"{name}: {kind}", setting, nominal, found, at, within=(low, top), note=note)


def _near_the_ends(n: int, pair: tuple[float, float], pooled: bool, runs: int) -> Promise:
    """Rates near 0 or 1 that differ: often one of the samples is all alike."""
    difference = pair[0] - pair[1]

    def holds(x1: int, x2: int) -> tuple[float]:
        test = compare_rates(x1 / n, n, x2 / (2 * n), 2 * n, pooled=pooled)
        return (float(test.low <= difference + 1e-12 and difference - 1e-12 <= test.high),)

    (covers,), exact = expected(holds, (n, pair[0]), (2 * n, pair[1]), runs)
    low = 0.93 if pooled else 0.92
    return about(
        f"two rates, z {'pooled, score interval' if pooled else 'unpooled'}: coverage",
        f"n = {n} and {2 * n}, rates {pair[0]:g} and {pair[1]:g}",
        LEVEL,
        covers,
        0.0 if exact else share_error(covers, runs),
        within=(low, 1.0),
        note=f"few errors expected: .{100 * low:.0f} to 1",
    )


def _planned(rate: float, difference: float, runs: int) -> Promise:
    n = rows_to_detect(difference, rate=rate, paired=False)

    def finds(x1: int, x2: int) -> tuple[float]:
        return (float(compare_rates(x1 / n, n, x2 / n, n, pooled=True).p_value <= 0.05),)

    (power,), _ = expected(finds, (n, rate), (n, rate + difference), runs)
    return about(
        "two rates, z pooled: power at the rows planned for .8",
        f"rates {rate:g} and {rate + difference:g}, n = {n} each",
        0.8,
        power,
        share_error(power, runs),
        within=(0.78, 0.82),
        note="planned by the normal approximation",
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


__all__ = ["all_rates", "coverage", "expected", "one_rate", "two_rates"]

"""Levels and estimates of a million nodes, compared with scipy.stats.binom and scipy.optimize.

scipy computes the same numbers. Equation (5): as a sum of ``binom.pmf`` per node (for some nodes,
scaled up), and, for information, as ``binom.sf`` plus half the tie, the fastest way in scipy.
The entropic estimate: per node, by ``minimize_scalar`` of equation (2) and by ``brentq`` of its
derivative.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom

from benchmarks.running import Row
from benchmarks.speed.clock import compare, limit, seconds
from sureleaf import levels

N_NODES = 1_000_000
N_SAMPLED = 1_000
SCALE = N_NODES / N_SAMPLED


def confidence_by_tail(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    half = n // 2
    return binom.sf(half, n, p) + np.where(n % 2 == 0, 0.5, 0.0) * binom.pmf(half, n, p)


def utility_by_tail(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    c = confidence_by_tail(n, p)
    return p * c + (1 - p) * (1 - c)


def confidence_by_sum(n: int, p: float) -> float:
    y = np.arange(n // 2 + 1, n + 1)
    tie = binom.pmf(n // 2, n, p) / 2 if n % 2 == 0 else 0.0
    return float(binom.pmf(y, n, p).sum() + tie)


def entropic_by_minimising(y: int, n: int) -> float:
    def loss(p: float) -> float:
        return -np.logaddexp(
            y * np.log(p) + (n - y) * np.log1p(-p), (n - y) * np.log(p) + y * np.log1p(-p)
        )

    return float(minimize_scalar(loss, bounds=(0.5, 1 - 1e-12), method="bounded").x)


def entropic_by_root(y: int, n: int) -> float:
    d = 2 * y - n
    if d * d <= n or y == n:
        return 1.0 if y == n > 1 else 0.5
    s = brentq(lambda s: n * s - d * np.tanh(d * np.arctanh(s)), 1e-9, min(d / n + 1e-9, 1 - 1e-16))
    return float(0.5 + s / 2)


def run() -> Iterator[Row]:
    random = np.random.default_rng(20240)
    n = random.integers(1, 10_001, N_NODES)
    apart = random.uniform(0.0, 1.0, N_NODES)
    for where, p in (("", 0.5 + apart / 2), (" near a tie", 0.5 + apart / 2 / np.sqrt(n))):
        drawn = random.binomial(n, p)
        yield from compare_levels(where, n, p)
        yield from compare_estimates(where, np.maximum(drawn, n - drawn), n)
    share = random.uniform(0.0, 1.0, 10_000)
    close = 0.5 + random.uniform(0.0, 1e-3, 10_000)  # so close to a tie that no shortcut applies
    ours = seconds(lambda: levels.node_confidence(1e6, share, close))
    yield limit("10,000 node_confidence, n = 10^6", ours, at_most=2.0)


def compare_levels(where: str, n: np.ndarray, p: np.ndarray) -> Iterator[Row]:
    sample = [(int(n[i]), float(p[i])) for i in range(N_SAMPLED)]
    summed = seconds(lambda: [confidence_by_sum(*node) for node in sample], repeats=1) * SCALE
    for name, level, peer in (
        ("confidences", levels.confidence, confidence_by_tail),
        ("utilities", levels.utility, utility_by_tail),
    ):
        ours = seconds(lambda level=level: level(n, p), repeats=9)
        tail = seconds(lambda peer=peer: peer(n, p))
        title = f"1,000,000 {name}{where}"
        yield compare(title, ours, "scipy.stats.binom.pmf sums (scaled)", summed, 20)
        yield compare(title, ours, "scipy.stats.binom.sf + pmf", tail)


def compare_estimates(where: str, y: np.ndarray, n: np.ndarray) -> Iterator[Row]:
    sample = [(int(y[i]), int(n[i])) for i in range(N_SAMPLED)]
    ours = seconds(lambda: levels.estimate_p_max(y, n, method="entropic"), repeats=9)
    for name, peer in (("minimize_scalar", entropic_by_minimising), ("brentq", entropic_by_root)):
        time = seconds(lambda peer=peer: [peer(*node) for node in sample], repeats=1) * SCALE
        title = f"1,000,000 entropic estimates{where}"
        yield compare(title, ours, f"scipy.optimize.{name} (scaled)", time, 100)

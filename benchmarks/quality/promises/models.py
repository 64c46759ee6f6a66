"""Two models on the same rows: McNemar, Tango, DeLong, the bootstrap, and the verdicts."""

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import multinomial

from benchmarks.quality.promises.record import (
    LEVEL,
    Promise,
    coverage,
    false_positives,
    lattice,
    power,
)
from sureleaf.comparison import auc_difference, bootstrap_difference, mcnemar, rows_to_detect
from sureleaf.comparison.verdict import verdict_of
from sureleaf.evaluation.intervals import bootstrap_mean
from sureleaf.evaluation.measures.ranking import delong_interval


@cache
def outcome(b: int, c: int, n: int) -> tuple[float, float, float, float]:
    """Interval, mid-p and exact p of one table of discordant rows."""
    test = mcnemar(b, c, n)
    return test.low, test.high, test.p_value, mcnemar(b, c, n, exact=True).p_value


def tables(n: int, only_first: float, only_second: float, runs: int) -> tuple[np.ndarray, ...]:
    """Outcomes of n rows with their probabilities: all of them if few, else drawn ones."""
    shares = [only_first, only_second, 1 - only_first - only_second]
    if n <= 100:
        b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        fits = b + c <= n
        counts = np.column_stack([b[fits], c[fits]])
        masses = multinomial(n, shares).pmf(np.column_stack([counts, n - counts.sum(axis=1)]))
        likely = masses > 1e-8
        counts, masses = counts[likely], masses[likely]
    else:
        rng = np.random.default_rng([n, round(1e6 * only_first), round(1e6 * only_second)])
        counts, times = np.unique(
            rng.multinomial(n, shares, size=runs)[:, :2], axis=0, return_counts=True
        )
        masses = times / runs
    found = np.array([outcome(int(i), int(j), n) for i, j in counts])
    return masses / masses.sum(), found


FEW_DISCORDANT = "fewer than 5 discordant rows are expected"


def same_rows(runs: int, sizes: tuple[int, ...] = (20, 100, 500, 5000)) -> Iterator[Promise]:
    for n in sizes:
        count = 0 if n <= 100 else runs
        for discordance in (0.02, 0.1, 0.4):
            masses, found = tables(n, discordance / 2, discordance / 2, runs)
            setting = f"n = {n}, discordant {discordance:g}, no difference"
            exact = float(masses @ (found[:, 3] <= 0.05))
            middle = float(masses @ (found[:, 2] <= 0.05))
            covers = float(masses @ ((found[:, 0] <= 0) & (found[:, 1] >= 0)))
            yield false_positives("McNemar, exact: false positives", setting, exact, count)
            yield false_positives(
                "McNemar, mid-p: false positives", setting, middle, count, default=True
            )
            yield _tango(setting, n, covers, count, discordance)
        for shares in ((0.06, 0.02), (0.3, 0.1)):
            masses, found = tables(n, *shares, runs)
            truth = shares[0] - shares[1]
            covers = float(masses @ ((found[:, 0] <= truth) & (found[:, 1] >= truth)))
            setting = f"n = {n}, true difference {truth:g}, discordant {sum(shares):g}"
            yield _tango(setting, n, covers, count, sum(shares), truth)
    yield from _powers(runs)


def _tango(
    setting: str, n: int, covers: float, count: int, discordance: float, difference: float = 0.0
) -> Promise:
    spread = np.sqrt(n * (discordance - difference**2))  # the difference moves in steps of 1 / n
    deviation = lattice(spread, smallest_count=n * discordance)
    return coverage(
        "Tango's interval: coverage",
        setting,
        covers,
        count,
        deviation=deviation,
        warning="" if deviation else FEW_DISCORDANT,
        default=True,
    )


def _powers(runs: int) -> Iterator[Promise]:
    for difference, discordance in ((0.1, 0.2), (0.05, 0.1), (0.02, 0.06)):
        n = rows_to_detect(difference, rate=0.2, discordance=discordance)
        shares = ((discordance + difference) / 2, (discordance - difference) / 2)
        masses, found = tables(n, *shares, runs)
        yield power(
            "McNemar, mid-p: power at the rows planned for .8",
            f"difference {difference:g}, discordant {discordance:g}, n = {n}",
            0.8,
            float(masses @ (found[:, 2] <= 0.05)),
            runs,
        )


def verdicts(runs: int, sizes: tuple[int, ...] = (100, 1000, 5000)) -> Iterator[Promise]:
    """Verdicts that are wrong: better, worse or equivalent where the true difference is not."""
    margin = 0.02
    for n in sizes:
        for truth in (0.0, 0.02, 0.03, 0.06):
            masses, found = tables(n, (0.1 + truth) / 2, (0.1 - truth) / 2, runs)
            words = [
                verdict_of(low, high, p, level=LEVEL, margin=margin) for low, high, p, _ in found
            ]
            true = {"better": truth > margin, "worse": False, "equivalent": truth <= margin}
            wrong = np.array([not true.get(word, True) for word in words], dtype=float)
            share = float(masses @ wrong)
            decided = float(masses @ np.array([word != "undecided" for word in words], dtype=float))
            yield false_positives(
                "verdict with margin .02: wrong ones",
                f"n = {n}, true difference {truth:g}, discordant .1; decided {decided:.2f}",
                share,
                0 if n <= 100 else runs,
                default=True,
            )


def equivalence(runs: int, sizes: tuple[int, ...] = (100, 500, 2000, 10_000)) -> Iterator[Promise]:
    """Verdicts "equivalent" at a true difference on the margin, where they become wrong."""
    for n in sizes:
        for margin, discordance in ((0.02, 0.05), (0.05, 0.1), (0.05, 0.3)):
            masses, found = tables(n, (discordance + margin) / 2, (discordance - margin) / 2, runs)
            equivalent = [
                verdict_of(low, high, p, level=LEVEL, margin=margin) == "equivalent"
                for low, high, p, _ in found
            ]
            yield false_positives(
                "verdict: wrongly equivalent at a difference on the margin",
                f"same rows, n = {n}, margin and difference {margin:g}, discordant {discordance:g}",
                float(masses @ np.array(equivalent, dtype=float)),
                0 if n <= 100 else runs,
                nominal=0.025,
                deviation=lattice(
                    np.sqrt(n * (discordance - margin**2)),
                    smallest_count=n * discordance,
                    ends=1,
                ),
                default=True,
            )


def binormal(rng: np.random.Generator, n: int, areas: tuple[float, float], share: float):
    """Truth and two scores with known areas under the curve; errors of both correlate by .5."""
    positive = np.zeros(n, dtype=bool)
    positive[: max(2, round(share * n))] = True
    noise = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n).T
    shifts = np.sqrt(2) * ndtri(np.array(areas))
    return positive, noise + shifts[:, None] * positive


def areas(runs: int, sizes: tuple[int, ...] = (20, 100, 1000, 5000)) -> Iterator[Promise]:
    rng = np.random.default_rng(11)
    for n in sizes:
        for area in (0.6, 0.8, 0.95, 0.99):
            repeats = runs if n <= 1000 else runs // 4
            held = rejected = 0
            for _ in range(repeats):
                positive, (first, second) = binormal(rng, n, (area, area), 0.3)
                interval = delong_interval(positive, first)
                held += interval.low <= area <= interval.high
                rejected += auc_difference(positive, first, second).p_value <= 0.05
            yield coverage(
                "AUC, DeLong on the logit scale: coverage",
                f"n = {n}, 30 % positive, AUC {area:g}",
                held / repeats,
                repeats,
                default=True,
            )
            yield false_positives(
                "AUC difference, DeLong: false positives",
                f"n = {n}, 30 % positive, both AUC {area:g}",
                rejected / repeats,
                repeats,
                default=True,
            )
    yield power(
        "AUC difference, DeLong: power",
        "n = 400, 30 % positive, AUC .80 and .87, nominal by the normal approximation",
        auc_power_expected(),
        _auc_power(rng, runs),
        runs,
    )


def _auc_power(rng: np.random.Generator, runs: int) -> float:
    found = 0
    for _ in range(runs):
        positive, (first, second) = binormal(rng, 400, (0.87, 0.80), 0.3)
        found += auc_difference(positive, first, second).p_value <= 0.05
    return found / runs


@cache
def auc_power_expected() -> float:
    """Power from the variance that DeLong's estimate has on a very large sample, scaled."""
    positive, (first, second) = binormal(np.random.default_rng(1), 100_000, (0.87, 0.80), 0.3)
    error = auc_difference(positive, first, second).standard_error * np.sqrt(100_000 / 400)
    return float(ndtr(0.07 / error - 1.959964))


def bootstraps(runs: int, sizes: tuple[int, ...] = (20, 100, 500)) -> Iterator[Promise]:
    """Paired bootstrap of quadratic losses (skewed), and the bootstrap of one mean loss."""
    rng = np.random.default_rng(12)
    for n in sizes:
        held = rejected = 0
        for run in range(runs):
            truth = rng.random(n) < 0.5
            losses = [
                (truth - np.clip(rng.normal(0.2 + 0.6 * truth, 0.25), 0, 1)) ** 2 for _ in range(2)
            ]
            gap = losses[0] - losses[1]

            def statistic(rows: np.ndarray, gap: np.ndarray = gap) -> float:
                return float(gap[rows].mean())

            test = bootstrap_difference(statistic, n, n_resamples=500, random_state=run)
            rejected += test.p_value <= 0.05
            one = bootstrap_mean(losses[0], generator=np.random.default_rng(run), n_resamples=500)
            held += one.low <= _mean_quadratic_loss() <= one.high
        yield false_positives(
            "paired bootstrap of quadratic losses: false positives",
            f"n = {n}, 500 resamples",
            rejected / runs,
            runs,
            default=True,
        )
        yield coverage(
            "bootstrap (BCa) of a mean quadratic loss: coverage",
            f"n = {n}, 500 resamples",
            held / runs,
            runs,
            default=True,
        )


@cache
def _mean_quadratic_loss() -> float:
    """E of (1 - clip(Z, 0, 1))² with Z normal(.8, .25), by a fine grid."""
    z = 0.8 + 0.25 * ndtri((np.arange(1_000_000) + 0.5) / 1_000_000)
    return float(((1 - np.clip(z, 0, 1)) ** 2).mean())

"""Many algorithms on many data sets, and Student's t on independent values."""

from collections.abc import Iterator

import numpy as np

from benchmarks.quality.promises.record import LEVEL, Promise, about, share_error, shown
from sureleaf.comparison import bayesian_signed_rank, compare_many, one_sample_t


def pools(runs: int, sizes: tuple[int, ...] = (10, 30)) -> Iterator[Promise]:
    """Four algorithms with no difference: how often any is found; and one that is better."""
    rng = np.random.default_rng(31)
    for n_datasets in sizes:
        for gap in (0.0, 0.8):
            friedman = nemenyi = holm = 0
            for _ in range(runs):
                scores = rng.normal(size=(n_datasets, 4)) + rng.normal(size=(n_datasets, 1))
                scores[:, 0] += gap
                found = compare_many(scores)
                friedman += found.p_value <= 0.05
                nemenyi += found.average_ranks[-1] - found.average_ranks[0] > (
                    found.critical_difference
                )
                holm += min(pair.adjusted_p_value for pair in found.pairs) <= 0.05
            kind = "power" if gap else "false positives (any)"
            setting = f"4 algorithms, {n_datasets} data sets"
            setting += f", one better by {gap:g} deviations" if gap else ""
            for name, count, top in (
                ("Friedman (Iman-Davenport)", friedman, 0.055),
                ("Nemenyi", nemenyi, 0.055),
                ("Wilcoxon with Holm", holm, 0.05),
            ):
                share = count / runs
                error = share_error(share, runs)
                if gap:
                    yield shown(f"{name}: {kind}", setting, share, error)
                else:
                    yield about(
                        f"{name}: {kind}",
                        setting,
                        0.05,
                        share,
                        error,
                        within=(0.0, top),
                        note="" if top == 0.05 else "few data sets: at most .055",
                    )
    yield from _posterior(rng, min(runs, 1000))


def _posterior(rng: np.random.Generator, runs: int) -> Iterator[Promise]:
    for n_datasets in (10, 30):
        sure = 0
        for run in range(runs):
            found = bayesian_signed_rank(rng.normal(size=n_datasets), draws=1000, random_state=run)
            sure += max(found.better, found.worse) > LEVEL
        share = sure / runs
        yield about(
            "Bayesian signed rank: posterior above .95 without a difference",
            f"{n_datasets} data sets, margin 0",
            0.10,
            share,
            share_error(share, runs),
            within=(0.05, 0.16),
            note="a posterior, not a test: one side of 5 % each, so about .10",
        )


def student(runs: int, sizes: tuple[int, ...] = (5, 20, 100)) -> Iterator[Promise]:
    rng = np.random.default_rng(32)
    for n in sizes:
        for shape in ("normal", "exponential"):
            held = 0
            for _ in range(runs):
                values = rng.normal(size=n) if shape == "normal" else rng.exponential(size=n) - 1
                test = one_sample_t(values)
                held += test.low <= 0 <= test.high
            share = held / runs
            normal = shape == "normal"
            yield about(
                "one-sample t: coverage",
                f"{n} values, {shape}",
                LEVEL,
                share,
                share_error(share, runs),
                within=(LEVEL if normal else 0.87, LEVEL),
                note="" if normal else "skewed values: from .87 at 5 values towards .95",
            )


__all__ = ["pools", "student"]

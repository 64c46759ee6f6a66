"""Many algorithms on many data sets, and Student's t on independent values."""

from collections.abc import Iterator

import numpy as np

from benchmarks.quality.promises.record import Promise, coverage, false_positives, shown
from sureleaf.comparison import compare_many, one_sample_t


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
            for name, count in (
                ("Friedman (Iman-Davenport)", friedman),
                ("Nemenyi", nemenyi),
                ("Wilcoxon with Holm", holm),
            ):
                if gap:
                    yield shown(f"{name}: {kind}", setting, count / runs, runs)
                else:
                    yield false_positives(
                        f"{name}: {kind}", setting, count / runs, runs, default=True
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
            yield coverage(
                "one-sample t: coverage",
                f"{n} values, {shape}",
                held / runs,
                runs,
                warning="" if shape == "normal" else "few skewed values",
            )

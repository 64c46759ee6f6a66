"""What 255 ranges per column cost: trees of ranges beside exact trees, on rows that grew neither.

Four simulated populations, two of them made to be hard for ranges. Every line is the mean over
seeds of the difference in accuracy, with its standard error.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.running import Row
from sureleaf import TreeClassifier
from sureleaf.scale.batches import Source, TablePart

N_TRAIN, N_TEST, N_SEEDS = 20_000, 20_000, 10


def smooth(rng, n):
    X = rng.normal(size=(n, 8))
    score = X[:, 0] + X[:, 1] * X[:, 2]
    return X, score


def steps(rng, n):
    """The class depends on narrow intervals, narrower than a range."""
    X = rng.random((n, 4))
    return X, np.where((X[:, 0] * 1000).astype(int) % 100 == 0, 3.0, -1.0)


def tails(rng, n):
    """The class depends on the outermost thousandth of a column with heavy tails."""
    X = rng.standard_cauchy(size=(n, 4))
    return X, np.where(X[:, 0] > np.tan(np.pi * (0.999 - 0.5)), 3.0, -1.0)


def spikes(rng, n):
    """Half of the values are zero, the others are continuous."""
    X = np.where(rng.random((n, 6)) < 0.5, 0.0, rng.exponential(size=(n, 6)))
    return X, X[:, 0] - X[:, 1] + (X[:, 2] == 0)


def fit(X, y, *, in_batches, pruning):
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})
    data = Source((TablePart(table),), "") if in_batches else table
    model = TreeClassifier(pruning=pruning, levels_from="training", random_state=0)
    return model.fit(data, "y")


def run() -> Iterator[Row]:
    title = f"Accuracy of exact trees, and of ranges minus exact: {N_TRAIN:,} rows, {N_SEEDS} seeds"
    for simulate in (smooth, steps, tails, spikes):
        cells = {"population": simulate.__name__}
        for pruning, name in (("auto", "default"), (None, "no pruning")):
            exact, ranges = np.array([_scores(simulate, pruning, s) for s in range(N_SEEDS)]).T
            difference = ranges - exact
            error = difference.std(ddof=1) / np.sqrt(N_SEEDS)
            cells[f"{name}: exact"] = f"{100 * exact.mean():.1f} %"
            cells[f"{name}: ranges"] = f"{100 * difference.mean():+.2f} ± {100 * error:.2f}"
        yield Row(title, cells)


def _scores(simulate, pruning, seed):
    """Return the accuracy of an exact tree and of a tree of ranges."""
    rng = np.random.default_rng(seed)
    X, score = simulate(rng, N_TRAIN + N_TEST)
    y = (rng.random(len(score)) < 1 / (1 + np.exp(-2 * score))).astype(int)
    test = pa.table({f"x{j}": X[N_TRAIN:, j] for j in range(X.shape[1])})
    return [
        fit(X[:N_TRAIN], y[:N_TRAIN], in_batches=b, pruning=pruning).score(test, y[N_TRAIN:])
        for b in (False, True)
    ]

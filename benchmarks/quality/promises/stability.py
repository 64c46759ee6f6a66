"""Trees of halves: the interval of the share of all halves in whose tree a split returns.

The truth is the share of 600 further halves. Its own error makes the coverage .002 lower than it
is.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.quality.promises.record import Promise, coverage
from sureleaf import TreeClassifier
from sureleaf.levels.intervals import wilson
from sureleaf.model.fitting import fit_model
from sureleaf.model.halves import recurrences
from sureleaf.table import read_table
from sureleaf.tree import TrainingRows

N_TREES, N_MORE = 24, 600


def halves(population: str, runs: int, n_rows: int) -> Iterator[Promise]:
    """Coverage for one split of each tree, drawn at random, until so many trees have a split."""
    holds: list[bool] = []
    seed = 0
    while len(holds) < runs:
        rng = np.random.default_rng([seed, n_rows, list(POPULATIONS).index(population), 165])
        seed += 1
        X = rng.normal(size=(n_rows, 5))
        p = POPULATIONS[population](X)
        y = (rng.random(n_rows)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        classes, labels = np.unique(y, return_inverse=True)
        rows = TrainingRows(read_table(X), labels.astype(np.int32), len(classes))
        settings = TreeClassifier(random_state=seed, n_jobs=1).settings()
        model, settings = fit_model(rows, classes, settings)
        inner = np.flatnonzero(~model.tree.is_leaf)
        if not len(inner):
            continue
        split = rng.choice(inner)
        found = recurrences(model, rows, settings, N_TREES + N_MORE)
        returned = np.array([each.splits[split] for each in found])
        low, high = wilson(float(returned[:N_TREES].sum()), N_TREES)
        holds.append(low <= returned[N_TREES:].mean() <= high)
    yield coverage(
        "share of all halves of the rows in whose tree a split returns",
        f"{population}, {n_rows} rows, {N_TREES} trees",
        float(np.mean(holds)),
        runs,
        default=True,
    )

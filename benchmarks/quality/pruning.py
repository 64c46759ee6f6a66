"""Leaves and accuracy on unseen rows for each kind of pruning, averaged over random splits."""

import os
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.quality.data_sets import load, selected, splits
from benchmarks.running import Row, in_processes
from sureleaf import TreeClassifier

PRUNINGS = (None, "pessimistic", "reduced_error", "cost_complexity", "utility", "auto")
SPLITS = 20
MAX_ROWS = 20_000


def run() -> Iterator[Row]:
    title = f"Leaves, and accuracy in per cent, {_repeats()} splits"
    results = []
    for name, found in zip(selected(), in_processes(_measure_all, selected()), strict=True):
        results.append(found)
        cells = [f"{leaves:.1f}, {100 * accuracy:.2f}" for leaves, accuracy in found]
        yield _row(title, name, cells)
    leaves, accuracy = np.moveaxis(np.array(results), 2, 0)
    yield _row(title, "mean accuracy", [f"{100 * mean:.2f}" for mean in accuracy.mean(axis=0)])
    shares = (leaves / leaves[:, [PRUNINGS.index("pessimistic")]]).mean(axis=0)
    yield _row(title, "leaves as a share of pessimistic's", [f"{share:.2f}" for share in shares])


def _repeats() -> int:
    return int(os.environ.get("SURELEAF_SPLITS", str(SPLITS)))


def _measure_all(name: str) -> np.ndarray:
    data = load(name).sample(MAX_ROWS, min_rows_per_class=1)
    return np.array([_measure(data, pruning, _repeats()) for pruning in PRUNINGS])


def _row(title: str, name: str, cells: list[str]) -> Row:
    columns = [(pruning or "none").replace("_", " ") for pruning in PRUNINGS]
    return Row(title, {"data set": name, **dict(zip(columns, cells, strict=True))})


def _measure(data, pruning, repeats):
    results = []
    for seed, train, test in splits(len(data.y), repeats):
        model = TreeClassifier.c45(pruning=pruning, levels_from="training", random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # categories that the training part lacks
            model.fit(data.X.iloc[train], data.y[train])
            accuracy = (model.predict(data.X.iloc[test]) == data.y[test]).mean()
        results.append((model.tree_.n_leaves, accuracy))
    return np.mean(results, axis=0)

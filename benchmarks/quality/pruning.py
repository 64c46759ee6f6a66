"""Leaves and accuracy on unseen rows for each kind of pruning, averaged over random splits."""

import os
import time
import warnings

import numpy as np

from benchmarks.quality.data_sets import load, selected, splits
from sureleaf import TreeClassifier

PRUNINGS = (None, "pessimistic", "reduced_error", "cost_complexity", "utility")


def run() -> None:
    repeats = int(os.environ.get("SURELEAF_SPLITS", "20"))
    print(f"{repeats} splits; leaves, and accuracy in per cent")
    print(f"{'data set':14s}" + "".join(f"{name or 'none':>20s}" for name in PRUNINGS))
    results = {}
    for name in selected():
        data = load(name)
        start = time.perf_counter()
        results[name] = np.array([_measure(data, pruning, repeats) for pruning in PRUNINGS])
        cells = "".join(
            f"{leaves:13.1f} {100 * accuracy:6.2f}" for leaves, accuracy in results[name]
        )
        print(f"{name:14s}{cells}   {time.perf_counter() - start:.0f} s", flush=True)
    table = np.array(list(results.values()))
    accuracy = 100 * table[:, :, 1].mean(axis=0)
    geometric_mean = np.exp(np.log(table[:, :, 0] / table[:, 1:2, 0]).mean(axis=0))
    ratio_of_sums = table[:, :, 0].sum(axis=0) / table[:, 1, 0].sum()
    mean_ratio = (table[:, :, 0] / table[:, 1:2, 0]).mean(axis=0)
    for label, values in (
        ("accuracy", accuracy),
        ("- pessimistic", accuracy - accuracy[1]),
        ("leaves / pess.", mean_ratio),
        ("geometric mean", geometric_mean),
        ("ratio of sums", ratio_of_sums),
    ):
        print(f"{label:14s}" + "".join(f"{value:20.2f}" for value in values))


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

"""What does each pruning keep: leaves and accuracy on unseen rows, mean over random splits."""

import os
import time
import warnings

import numpy as np

from benchmarks.quality.data_sets import chosen, load, splits
from sureleaf import TreeClassifier

PRUNINGS = (None, "pessimistic", "reduced_error", "cost_complexity", "utility")


def run() -> None:
    repeats = int(os.environ.get("SURELEAF_SPLITS", "20"))
    print(f"{repeats} splits; leaves, and accuracy in points of 100")
    print(f"{'data set':14s}" + "".join(f"{name or 'none':>20s}" for name in PRUNINGS))
    found = {}
    for name in chosen():
        data = load(name)
        start = time.perf_counter()
        found[name] = np.array([_measure(data, pruning, repeats) for pruning in PRUNINGS])
        cells = "".join(f"{leaves:13.1f} {100 * hit:6.2f}" for leaves, hit in found[name])
        print(f"{name:14s}{cells}   {time.perf_counter() - start:.0f} s", flush=True)
    table = np.array(list(found.values()))
    accuracy = 100 * table[:, :, 1].mean(axis=0)
    ratio = np.exp(np.log(table[:, :, 0] / table[:, 1:2, 0]).mean(axis=0))
    sums = table[:, :, 0].sum(axis=0) / table[:, 1, 0].sum()
    share = (table[:, :, 0] / table[:, 1:2, 0]).mean(axis=0)
    for label, values in (
        ("accuracy", accuracy),
        ("- pessimistic", accuracy - accuracy[1]),
        ("leaves / pess.", share),
        ("geometric mean", ratio),
        ("of the sums", sums),
    ):
        print(f"{label:14s}" + "".join(f"{value:20.2f}" for value in values))


def _measure(data, pruning, repeats):
    found = []
    for seed, train, test in splits(len(data.y), repeats):
        model = TreeClassifier(pruning=pruning, levels_from="training", random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # categories that the training part lacks
            model.fit(data.X.iloc[train], data.y[train])
            hit = (model.predict(data.X.iloc[test]) == data.y[test]).mean()
        found.append((model.tree_.n_leaves, hit))
    return np.mean(found, axis=0)

"""Is what a tree states about itself true of rows it has not seen?

For every data set and kind of tree: utility stated by `levels()` minus accuracy seen on the third
of the rows that was held out, mean over splits; and the per-leaf calibration error, the mean
over bins of leaves with like utilities of |stated - seen|, pooled over splits, less what it would
be by chance alone. SURELEAF_SPLITS sets the number of splits, SURELEAF_SETS names data sets.
"""

import os
import time
import warnings

import numpy as np

from benchmarks.quality.data_sets import chosen, load, splits
from sureleaf import TreeClassifier

TREES = {
    "gain ratio, unpruned": {"pruning": None},
    "gini, fully grown": {
        "criterion": "gini",
        "min_samples_leaf": 1,
        "collapse": False,
        "pruning": None,
    },
    "C4.5, pruned": {},
}
SOURCES = ("training", "honest", "cross_fit")
BINS = 15


def run() -> None:
    repeats = int(os.environ.get("SURELEAF_SPLITS", "50"))
    for kind, settings in TREES.items():
        print(f"\n{kind}; {repeats} splits; points of 100")
        print(f"{'':14s}" + "".join(f"{source:>34s}" for source in SOURCES))
        columns = "stated-seen  s.e. leaf error"
        print(f"{'data set':14s}" + f"{columns:>34s}" * len(SOURCES))
        found = {}
        for name in chosen():
            data = load(name)
            start = time.perf_counter()
            found[name] = [_measure(data, settings, source, repeats) for source in SOURCES]
            cells = "".join(
                f"{100 * gap:21.2f} {100 * error:6.2f} {100 * leaf:5.2f}"
                for gap, error, leaf in found[name]
            )
            print(f"{name:14s}{cells}   {time.perf_counter() - start:.0f} s", flush=True)
        table = np.array(list(found.values()))
        absolute = np.abs(table[:, :, 0]).mean(axis=0)
        error = np.sqrt((table[:, :, 1] ** 2).sum(axis=0)) / len(table)
        leaf = table[:, :, 2].mean(axis=0)
        cells = "".join(
            f"{100 * a:21.2f} {100 * e:6.2f} {100 * c:5.2f}"
            for a, e, c in zip(absolute, error, leaf, strict=True)
        )
        print(f"{'mean |.|':14s}{cells}", flush=True)


def _measure(data, settings, source, repeats):
    gaps, stated, hits = [], [], []
    for seed, train, test in splits(len(data.y), repeats):
        model = TreeClassifier(**settings, levels_from=source, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # categories that the training part lacks
            model.fit(data.X.iloc[train], data.y[train])
            rows = model.predict_levels(data.X.iloc[test])
        hit = (rows.prediction == data.y[test]).astype(float)
        gaps.append(model.levels().utility - hit.mean())
        stated.append(rows.utility)
        hits.append(hit)
    gap = np.array(gaps)
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    return gap.mean(), error, calibration_error(np.concatenate(stated), np.concatenate(hits))


def calibration_error(stated: np.ndarray, hits: np.ndarray) -> float:
    """Mean |stated - seen| over bins of equal size, less its expectation if all is true."""
    edges = np.unique(np.quantile(stated, np.linspace(0, 1, BINS + 1)))[1:-1]
    place = np.searchsorted(edges, stated, side="right")
    n = np.bincount(place)
    there = n > 0
    mean, seen = np.bincount(place, stated)[there], np.bincount(place, hits)[there]
    n = n[there]
    mean, seen = mean / n, seen / n
    chance = np.sqrt(2 / np.pi * mean * (1 - mean) / n)
    return float(max(0.0, (n / n.sum()) @ (np.abs(mean - seen) - chance)))

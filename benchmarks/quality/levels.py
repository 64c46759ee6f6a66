"""Do the levels of a tree predict its accuracy on unseen rows?

For every data set and kind of tree: the utility of `levels()` minus the accuracy on the third of
the rows that was held out, averaged over splits; and the calibration error per leaf. The latter is
the mean of |utility - accuracy| over bins of rows with similar utilities, pooled over splits, minus
its expectation by chance. SURELEAF_SPLITS sets the number of splits, SURELEAF_SETS the data sets.
"""

import os
import time
import warnings

import numpy as np

from benchmarks.quality.data_sets import load, selected, splits
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
        print(f"\n{kind}; {repeats} splits; percentage points")
        print(f"{'':14s}" + "".join(f"{source:>34s}" for source in SOURCES))
        columns = "utility-accuracy s.e. leaf error"
        print(f"{'data set':14s}" + f"{columns:>34s}" * len(SOURCES))
        results = {}
        for name in selected():
            data = load(name)
            start = time.perf_counter()
            results[name] = [_measure(data, settings, source, repeats) for source in SOURCES]
            cells = "".join(
                f"{100 * difference:21.2f} {100 * error:6.2f} {100 * leaf:5.2f}"
                for difference, error, leaf in results[name]
            )
            print(f"{name:14s}{cells}   {time.perf_counter() - start:.0f} s", flush=True)
        table = np.array(list(results.values()))
        absolute = np.abs(table[:, :, 0]).mean(axis=0)
        error = np.sqrt((table[:, :, 1] ** 2).sum(axis=0)) / len(table)
        leaf = table[:, :, 2].mean(axis=0)
        cells = "".join(
            f"{100 * a:21.2f} {100 * e:6.2f} {100 * c:5.2f}"
            for a, e, c in zip(absolute, error, leaf, strict=True)
        )
        print(f"{'mean |.|':14s}{cells}", flush=True)


def _measure(data, settings, source, repeats):
    differences, utilities, corrects = [], [], []
    for seed, train, test in splits(len(data.y), repeats):
        model = TreeClassifier.c45(**settings, levels_from=source, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # categories that the training part lacks
            model.fit(data.X.iloc[train], data.y[train])
            rows = model.predict_levels(data.X.iloc[test])
        is_correct = (rows.prediction == data.y[test]).astype(float)
        differences.append(model.levels().utility - is_correct.mean())
        utilities.append(rows.utility)
        corrects.append(is_correct)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    per_leaf = calibration_error(np.concatenate(utilities), np.concatenate(corrects))
    return np.mean(differences), error, per_leaf


def calibration_error(utility: np.ndarray, is_correct: np.ndarray) -> float:
    """Return the mean |utility - accuracy| over bins of equal size, minus that of chance."""
    edges = np.unique(np.quantile(utility, np.linspace(0, 1, BINS + 1)))[1:-1]
    bin_of_row = np.searchsorted(edges, utility, side="right")
    n = np.bincount(bin_of_row)
    has_rows = n > 0
    mean = np.bincount(bin_of_row, utility)[has_rows] / n[has_rows]
    accuracy = np.bincount(bin_of_row, is_correct)[has_rows] / n[has_rows]
    n = n[has_rows]
    by_chance = np.sqrt(2 / np.pi * mean * (1 - mean) / n)
    return float(max(0.0, (n / n.sum()) @ (np.abs(mean - accuracy) - by_chance)))

"""Do the levels of a tree predict its accuracy on unseen rows?

For every data set and kind of tree: the utility of `levels()` minus the accuracy on the third of
the rows that was held out, averaged over splits; and the calibration error per leaf. The latter is
the mean of |utility - accuracy| over bins of rows with similar utilities, pooled over splits, minus
its expectation by chance. SURELEAF_SPLITS sets the number of splits, SURELEAF_SETS the data sets;
tables are capped at `MAX_ROWS`.
"""

import os
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.quality.data_sets import load, selected, splits
from benchmarks.running import Row, in_processes
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
SPLITS = 6
MAX_ROWS = 2000


def run() -> Iterator[Row]:
    for kind in TREES:
        title = f"{kind}; {_repeats()} splits, percentage points"
        results = []
        items = [(kind, name) for name in selected()]
        for (_, name), measured in zip(items, in_processes(_measure_all, items), strict=True):
            results.append(measured)
            yield _row(title, name, measured)
        table = np.array(results)
        gap, leaf = np.abs(table[:, :, 0]).mean(axis=0), table[:, :, 2].mean(axis=0)
        error = np.sqrt((table[:, :, 1] ** 2).sum(axis=0)) / len(table)
        yield _row(title, "mean of absolute values", np.column_stack([gap, error, leaf]))


def _repeats() -> int:
    return int(os.environ.get("SURELEAF_SPLITS", str(SPLITS)))


def _measure_all(item: tuple[str, str]) -> np.ndarray:
    kind, name = item
    data = load(name).sample(MAX_ROWS, min_rows_per_class=1)
    return np.array([_measure(data, TREES[kind], source, _repeats()) for source in SOURCES])


def _row(title: str, name: str, measured: np.ndarray) -> Row:
    """Return the gap, its standard error and the leaf error for each source of levels."""
    cells = {"data set": name}
    for source, (gap, error, leaf) in zip(SOURCES, 100 * measured, strict=True):
        cells[f"{source}: gap"] = f"{gap:.2f} ± {error:.2f}"
        cells[f"{source}: leaf"] = f"{leaf:.2f}"
    return Row(title, cells)


def _measure(data, settings, source, repeats):
    differences, utilities, corrects = [], [], []
    for seed, train, test in splits(len(data.y), repeats):
        settings = {"leaf_estimate": "auto", "levels_from": source, **settings}
        model = TreeClassifier.c45(**settings, random_state=seed)
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

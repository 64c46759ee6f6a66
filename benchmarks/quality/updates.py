"""Does the stated utility predict the accuracy on unseen rows, also after updates?

Trees of 400 rows are updated with 500 and with 5,000 other rows of the table; all further rows
are unseen. For every table: the stated utility minus the accuracy on these, averaged over splits.
SURELEAF_SPLITS sets the number of splits, SURELEAF_SETS the data sets.
"""

import os
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.quality.data_sets import load
from benchmarks.running import Row, goal, in_processes
from sureleaf import TreeClassifier, update

LARGE = ("satimage", "mushroom", "mammography", "covtype", "adult")
"""The binary data sets with at least 6,000 rows."""
SOURCES = ("cross_fit", "honest")
N_GROWN, N_NEW, N_UNSEEN = 400, (0, 500, 5000), 10_000
SPLITS = 24
POINTS = 0.7


def run() -> Iterator[Row]:
    names = tuple(filter(None, os.environ.get("SURELEAF_SETS", "").split(","))) or LARGE
    for source in SOURCES:
        gaps = np.array(list(in_processes(_gaps, [(source, name) for name in names])))
        title = f"levels_from={source!r}, {gaps.shape[1]} splits, percentage points"
        errors = gaps.std(axis=1, ddof=1) / np.sqrt(gaps.shape[1])
        for name, mean, error in zip(names, gaps.mean(axis=1), errors, strict=True):
            yield _row(title, name, _with_errors(mean, error))
        mean, error = gaps.mean(axis=(0, 1)), np.sqrt((errors**2).sum(axis=0)) / len(names)
        yield _row(title, "mean", _with_errors(mean, error))
        met = [goal(f"{POINTS} points", abs(one) <= POINTS) for one in mean]
        yield _row(title, "mean, at most", met)


def _with_errors(means: np.ndarray, errors: np.ndarray) -> list[str]:
    return [f"{one:+.2f} ± {error:.2f}" for one, error in zip(means, errors, strict=True)]


def _row(title: str, name: str, cells: list[str]) -> Row:
    columns = [f"{n:,} new rows" for n in N_NEW]
    return Row(title, {"data set": name, **dict(zip(columns, cells, strict=True))})


def _gaps(item: tuple[str, str]) -> np.ndarray:
    """Return utility minus accuracy in percentage points: a line per split."""
    source, name = item
    data = load(name)
    return np.array(
        [
            _gaps_of_split(data, source, seed)
            for seed in range(int(os.environ.get("SURELEAF_SPLITS", str(SPLITS))))
        ]
    )


def _gaps_of_split(data, source: str, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(data.y))
    ends = np.cumsum([N_GROWN, max(N_NEW), N_UNSEEN])
    grown, new, unseen = np.split(order[: ends[-1]], ends[:-1])
    tree = TreeClassifier(levels_from=source, random_state=seed)
    gaps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that the first rows lack
        tree.fit(data.X.iloc[grown], data.y[grown])
        for n in N_NEW:
            rows = new[:n]
            one = update(tree, data.X.iloc[rows], data.y[rows]) if n else tree
            accuracy = (one.predict(data.X.iloc[unseen]) == data.y[unseen]).mean()
            gaps.append(100 * (one.levels().utility - float(accuracy)))
    return gaps

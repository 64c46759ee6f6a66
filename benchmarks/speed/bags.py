"""Time and memory of 30 bagged trees, compared with scikit-learn and ydf.

All of them use the same cores and grow the same kind of tree: fully grown, on bootstrap samples,
with all columns at every split (50,000 x 20), and then as forests, with the square root of their
number (several tables, on one core and on all). The data set of ydf is made beforehand; ours and
scikit-learn start from the array.
"""

import ctypes
import logging
import sys
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.running import Row
from benchmarks.speed.clock import compare, limit, seconds
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.bagged_trees import FOREST_TREE

N_TREES = 30


def run() -> Iterator[Row]:
    yield from forests()
    yield from bagged()


def forests() -> Iterator[Row]:
    """Compare forests: equal numbers of trees and of drawn columns, bootstrap, equal n_jobs."""
    tables = {f"{n:,} x 20": make_table(n) for n in (5_000, 50_000, 200_000)}
    tables["mixed, 50,000 x 20"] = make_mixed_table(50_000)
    for name, (X, y) in tables.items():
        for n_jobs in (1, -1):
            ours = BaggedTreesClassifier(n_estimators=N_TREES, n_jobs=n_jobs, random_state=0)
            peer = RandomForestClassifier(N_TREES, n_jobs=n_jobs, random_state=0)
            our_time = seconds(lambda X=X, y=y, ours=ours: ours.fit(X, y), repeats=3)
            their_time = seconds(lambda X=X, y=y, peer=peer: peer.fit(X, y), repeats=1)
            cores = "one core" if n_jobs == 1 else "all cores"
            yield compare(
                f"forest of {N_TREES} trees, {name}",
                our_time,
                f"RandomForestClassifier, {cores}",
                their_time,
                10,
            )


def make_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n_rows, 20, n_informative=10, n_redundant=4, flip_y=0.1, random_state=0
    )
    return X, y


def make_mixed_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return continuous columns, some with ties, few values or missing values."""
    X, y = make_table(n_rows)
    X[:, 3], X[:, 7] = np.round(X[:, 3]), np.round(X[:, 7], 2)
    X[:, 11], X[:, 12] = np.round(2 * X[:, 11]), np.round(X[:, 12], 3)
    rng = np.random.default_rng(0)
    for index in (1, 3, 12):
        X[rng.random(n_rows) < 0.05, index] = np.nan
    return X, y


def bagged() -> Iterator[Row]:
    X, y = make_table(50_000)
    ours = BaggedTreesClassifier(
        estimator=TreeClassifier(**{**FOREST_TREE, "criterion": "gini"}),
        n_estimators=N_TREES,
        max_features=None,
        random_state=0,
    )
    peer = BaggingClassifier(DecisionTreeClassifier(), N_TREES, n_jobs=-1, random_state=0)
    our_fit = seconds(lambda: ours.fit(X, y), repeats=5)
    title = "30 bagged trees, 50,000 x 20"
    took = seconds(lambda: peer.fit(X, y), 1)
    yield compare(title, our_fit, "BaggingClassifier(n_jobs=-1)", took, 25)
    yield compare(title, our_fit, "ydf RandomForest, all columns", ydf_seconds(X, y), 7)

    our_proba = seconds(lambda: ours.predict_proba(X), repeats=9)
    theirs = min(proba_seconds(peer, X, n_jobs) for n_jobs in (None, -1))
    yield compare(
        "predict_proba of 30 trees, 50,000 rows",
        our_proba,
        "BaggingClassifier, faster n_jobs",
        theirs,
        2,
    )
    yield from compare_memory()


def proba_seconds(peer: BaggingClassifier, X: np.ndarray, n_jobs: int | None) -> float:
    peer.set_params(n_jobs=n_jobs)
    return seconds(lambda: peer.predict_proba(X), repeats=5)


def ydf_seconds(X: np.ndarray, y: np.ndarray) -> float:
    import ydf

    logging.disable(logging.WARNING)

    ydf.verbose(0)
    columns = {f"x{index}": X[:, index] for index in range(X.shape[1])}
    data = ydf.create_vertical_dataset({**columns, "y": y.astype(str)})
    learner = ydf.RandomForestLearner(
        label="y",
        num_trees=N_TREES,
        num_candidate_attributes_ratio=1.0,
        max_depth=-1,
        min_examples=1,
        winner_take_all=False,
        compute_oob_performances=False,
    )
    return seconds(lambda: learner.train(data), repeats=2)


def compare_memory() -> Iterator[Row]:
    """Compare the peak memory of a fit with the size of the encoded table and of the trees."""
    X, y = make_classification(200_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    model = BaggedTreesClassifier(n_estimators=6, random_state=0)
    model.fit(X[:1000], y[:1000])
    before = reset_peak()
    if before is None:
        print("memory: not measured, because it needs /proc", file=sys.stderr)
        return
    model.fit(X, y)
    peak = status_bytes("VmHWM") - before
    encoded = X.nbytes + X.size * 4
    trees = sum(
        np.asarray(getattr(tree, field.name)).nbytes
        for tree in model.trees_
        for field in fields(tree)
    )
    probabilities = sum(values.nbytes for values in model.model_.probabilities)
    # A tree is stored twice: as arrays, and in the kernel.
    ratio = (peak - 2 * trees - probabilities) / encoded
    yield limit("memory of a fit on 200,000 x 20: peak", peak / 2**20, "MB")
    yield limit("of it trees", (2 * trees + probabilities) / 2**20, "MB")
    yield limit("the rest", ratio, "times the encoded table", 1.5)


def reset_peak() -> int | None:
    """Return the memory in use, after unused memory was returned to the system."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return status_bytes("VmRSS")
    except (OSError, AttributeError):
        return None


def status_bytes(name: str) -> int:
    with open("/proc/self/status") as file:
        (line,) = [line for line in file if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024

"""predict_proba of one full tree by cell type and memory order, compared with scikit-learn's tree.

One thread each; the shortest processor time of the calling thread, which other programs disturb
less than the time of the clock. Then one row of 6 to 10,000 columns.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.running import Row, duration, goal
from benchmarks.speed.clock import shown_ratio
from sureleaf import TreeClassifier

TYPES = ("float64", "float32", "int64", "int32", "int16", "int8")
GOAL = 2.0


def thread_seconds(model: Any, rows: np.ndarray, repeats: int, total: float) -> float:
    """Return the shortest processor time of predictions, which together take so many seconds."""
    times: list[float] = []
    while len(times) < repeats or sum(times) < total:
        start = time.thread_time()
        model.predict_proba(rows)
        times.append(time.thread_time() - start)
    return min(times)


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(n_rows, n_columns))
    noise = 0.7 * rng.normal(size=n_rows)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + noise > 0).astype(int)


def full_trees(X: np.ndarray, y: np.ndarray) -> tuple[TreeClassifier, DecisionTreeClassifier]:
    ours = TreeClassifier(
        criterion="gini", pruning=None, min_samples_leaf=1, levels_from="training", n_jobs=1
    )
    return ours.fit(X, y), DecisionTreeClassifier(random_state=0).fit(X, y)


def many_rows(n_fitted: int, n_rows: int, n_columns: int) -> Iterator[Row]:
    X, y = table(max(n_fitted, n_rows), n_columns)
    for order in ("C", "F"):
        ratios = []
        for kind in TYPES:
            cells = X if kind.startswith("float") else np.clip(np.round(40 * X), -127, 127)
            cells = np.asarray(cells.astype(kind), order=order)
            ours, peer = full_trees(cells[:n_fitted], y[:n_fitted])
            rows = np.asarray(cells[:n_rows], order=order)
            took = thread_seconds(ours, rows, 9, 0.4)
            ratios.append(thread_seconds(peer, rows, 9, 0.4) / took)
        shown = dict(zip(TYPES, map(shown_ratio, ratios), strict=True))
        yield Row(
            "predict_proba: scikit-learn's time divided by Sureleaf's",
            {
                "rows": f"{n_rows:,} x {n_columns}",
                "order": {"C": "C", "F": "Fortran"}[order],
                **shown,
                "goal": goal(f"{GOAL:g}", min(ratios) >= GOAL),
            },
        )


def one_row(n_columns: int) -> Row:
    X, y = table(200, n_columns)
    ours, peer = full_trees(X, y)
    took = thread_seconds(ours, X[:1], 200, 0.1)
    peer_took = thread_seconds(peer, X[:1], 200, 0.1)
    return Row(
        "predict_proba of one row",
        {
            "columns": f"{n_columns:,}",
            "Sureleaf": duration(took),
            "scikit-learn": duration(peer_took),
            "goal": goal("not slower", took <= peer_took),
        },
    )


def run() -> Iterator[Row]:
    yield from many_rows(20_000, 100_000, 20)
    yield from many_rows(5_000, 5_000, 500)
    for n_columns in (6, 100, 1_000, 10_000):
        yield one_row(n_columns)

"""Many fits of a tree on parts of one table, compared with a loop over scikit-learn's tree.

We measure `evaluate` with 200 bootstrap samples and with ten folds, and `learning_curve`, all on
text with missing values. The loop fits scikit-learn's tree on the same splits, from ordinal codes
made beforehand, and predicts probabilities for the same rows. For the bootstrap, the loop runs on
some of the samples, and its time is scaled up. `adult` is read from ../shared/data if it exists.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.running import Row
from benchmarks.speed.clock import compare
from benchmarks.speed.tree import DATA, adult_table
from sureleaf import TreeClassifier, evaluate, learning_curve
from sureleaf.designs import Bootstrap, KFold, RepeatedHoldout
from sureleaf.evaluation.learning_curves import Geometric, nested_order

N_BOOTSTRAPS = 200
N_SAMPLED = 10
FULL = {"criterion": "gini", "min_samples_leaf": 1, "collapse": False, "pruning": None}


def run() -> Iterator[Row]:
    if not (DATA / "adult.csv").exists():
        print("refits skipped: adult.csv does not exist", file=sys.stderr)
        return
    frame, y, codes = adult_table()
    classes = np.unique(y, return_inverse=True)[1]
    bootstraps = Bootstrap(N_BOOTSTRAPS)
    parts = ((s.train, s.test) for s in bootstraps.splits(classes, seed=0))
    sampled = islice(parts, N_SAMPLED)
    loop = tuple(s * N_BOOTSTRAPS / N_SAMPLED for s in peer_seconds(codes, y, sampled))
    folds = KFold(10)
    fold_loop = peer_seconds(codes, y, ((s.train, s.test) for s in folds.splits(classes, seed=0)))
    curve_loop = peer_seconds(codes, y, curve_parts(classes))
    for name, parameters in (("C4.5", {}), ("full gini", FULL)):
        model = TreeClassifier.c45(**parameters)
        times = measure(lambda m=model: evaluate(m, frame, y, design=bootstraps, random_state=0))
        yield from report(f"{N_BOOTSTRAPS} bootstraps of adult, {name}", times, loop, 10)
        times = measure(lambda m=model: evaluate(m, frame, y, design=folds, random_state=0))
        yield from report(f"10 folds of adult, {name}", times, fold_loop)
        times = measure(
            lambda m=model: learning_curve(
                m, frame, y, schedule=Geometric(100, 2), repeats=3, random_state=0
            )
        )
        yield from report(f"learning curve of adult, {name}", times, curve_loop)


def curve_parts(classes: np.ndarray) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Yield the training and test rows of every size and repeat of `learning_curve`."""
    for split in RepeatedHoldout(3).splits(classes, seed=0):
        order = nested_order(split.train, classes, 0, split.repeat)
        for size in Geometric(100, 2).sizes(len(order)):
            yield order[:size], split.test


def peer_seconds(
    codes: np.ndarray, y: np.ndarray, parts: Iterable[tuple[np.ndarray, np.ndarray]]
) -> tuple[float, float]:
    def fit(train: np.ndarray, test: np.ndarray) -> None:
        model = DecisionTreeClassifier(random_state=0).fit(codes[train], y[train])
        model.predict_proba(codes[test])

    wall, processor = np.sum([measure(lambda p=part: fit(*p)) for part in parts], axis=0)
    return float(wall), float(processor)


def measure(call: Callable[[], Any]) -> tuple[float, float]:
    """Return wall and processor seconds; other work on the machine slows only the first."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def report(
    name: str, ours: tuple[float, float], peer: tuple[float, float], goal: float | None = None
) -> Iterator[Row]:
    yield compare(name, ours[0], "loop over scikit-learn's tree", peer[0], goal)
    yield compare(f"{name}, processor time", ours[1], "loop over scikit-learn's tree", peer[1])

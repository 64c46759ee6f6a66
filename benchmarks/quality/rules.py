"""Rules for the size of a tree, and forests, on tables to choose by and on tables to confirm.

Every half has data sets, the same data sets with another column as the target, and simulated
tables. All learners have the same five folds, in three rounds. Trees are compared with
scikit-learn's CART whose `ccp_alpha` is tuned, forests with scikit-learn's forest of as many trees.
Differences are means over tables, with their standard errors. Log loss counts probabilities below
.001 as .001, because scikit-learn's trees give zeros, which log loss punishes heavily.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.quality.costs import FIRST_HALF
from benchmarks.quality.data_sets import ALL, DataSet, load
from benchmarks.quality.trees import one_hot, tuned_cart
from benchmarks.running import Row, in_processes
from sureleaf import BaggedTreesClassifier, TreeClassifier

FOLDS = 5
ROUNDS = 3
MAX_ROWS = 1000
N_SIMULATED = 12
N_TREES = 30
MIN_PROBABILITY = 0.001

Learner = Callable[[pd.DataFrame, tuple[str, ...]], Any]
TREES: dict[str, Learner] = {
    "tuned CART": tuned_cart,
    "default": lambda X, c: TreeClassifier(random_state=0),
    "margin=.005": lambda X, c: TreeClassifier(margin=0.005, random_state=0),
    "margin=0": lambda X, c: TreeClassifier(margin=0.0, random_state=0),
    'criterion="gini"': lambda X, c: TreeClassifier(criterion="gini", random_state=0),
    "min_samples_leaf=1": lambda X, c: TreeClassifier(min_samples_leaf=1, random_state=0),
}
FORESTS: dict[str, Learner] = {
    "scikit-learn's forest": lambda X, c: one_hot(
        RandomForestClassifier(N_TREES, random_state=0), X, c
    ),
    "default forest": lambda X, c: BaggedTreesClassifier(n_estimators=N_TREES, random_state=0),
}


# ---- the tables ------------------------------------------------------------------------------


def tables(is_first: bool) -> Iterator[DataSet]:
    """Yield the tables of a half."""
    for name in ALL:
        if (name in FIRST_HALF) == is_first:
            data = load(name).sample(MAX_ROWS, min_rows_per_class=2 * FOLDS)
            yield data
            yield other_target(data)
    for seed in range(N_SIMULATED):
        if (seed % 2 == 0) == is_first:
            yield simulated(seed)


def other_target(data: DataSet) -> DataSet:
    """Return the table with another of its columns as the target, which the name determines.

    Numbers become two classes, divided at their median; the class of the data set is left out.
    """
    ranks = np.random.default_rng(sum(map(ord, data.name))).permutation(data.X.shape[1])
    for index in ranks:
        column = data.X.iloc[:, index]
        if data.X.columns[index] in data.categorical:
            labels = column.astype(str).to_numpy()
        else:
            labels = np.where(column > column.median(), "high", "low")
        is_known = column.notna().to_numpy()
        classes, counts = np.unique(labels[is_known], return_counts=True)
        classes = classes[counts >= 4 * FOLDS]
        kept = is_known & np.isin(labels, classes)
        if 2 <= len(classes) <= 10:
            X = data.X.drop(columns=data.X.columns[index])[kept].reset_index(drop=True)
            categorical = tuple(name for name in data.categorical if name in X.columns)
            return DataSet(f"{data.name}, {data.X.columns[index]}", X, labels[kept], categorical)
    raise ValueError(f"no column of {data.name} can be a target: each has too few rows per class")


def simulated(seed: int) -> DataSet:
    rng = np.random.default_rng(seed)
    n_informative = int(rng.integers(2, 9))
    X, y = make_classification(
        int(rng.choice([150, 400, MAX_ROWS])),
        n_informative + int(rng.integers(2, 12)),
        n_informative=n_informative,
        n_redundant=int(rng.integers(0, 2)),
        n_classes=int(rng.integers(2, 4)),
        flip_y=float(rng.choice([0.0, 0.1, 0.3])),
        class_sep=float(rng.uniform(0.6, 1.6)),
        n_clusters_per_class=1,
        random_state=seed,
    )
    frame = pd.DataFrame(X, columns=[f"x{index}" for index in range(X.shape[1])])
    return DataSet(f"simulated {seed}", frame, y)


# ---- the comparison --------------------------------------------------------------------------


def measure(data: DataSet, make: Learner) -> np.ndarray:
    """Return the accuracy, the log loss and the number of leaves, means over the folds."""
    results = []
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=ROUNDS, random_state=2)
    for train, test in folds.split(data.X, data.y):
        part, unseen = data.part(train), data.part(test)
        model = make(part.X, data.categorical).fit(part.X, part.y)
        p = np.asarray(model.predict_proba(unseen.X))
        p = np.maximum(p, MIN_PROBABILITY)
        loss = log_loss(unseen.y, p / p.sum(axis=1, keepdims=True), labels=model.classes_)
        right = (np.asarray(model.predict(unseen.X)) == unseen.y).mean()
        results.append((right, loss, _n_leaves(model)))
    return np.mean(results, axis=0)


def _n_leaves(model: Any) -> float:
    if isinstance(model, TreeClassifier):
        return model.tree_.n_leaves
    final = model[-1] if hasattr(model, "steps") else model
    return final.best_estimator_.get_n_leaves() if hasattr(final, "best_estimator_") else np.nan


def run() -> Iterator[Row]:
    halves = []
    for is_first in (True, False):
        found = np.array(list(in_processes(_measure_all, tables(is_first))))
        halves.append(dict(zip(TREES | FORESTS, found.transpose(1, 0, 2), strict=True)))
    for group in (TREES, FORESTS):
        peer, *others = group
        for name in others:
            yield _row(peer, name, halves)


def _measure_all(data: DataSet) -> list[np.ndarray]:
    warnings.simplefilter("ignore")
    results = [measure(data, make) for make in (TREES | FORESTS).values()]
    print(f"{data.name}: done", file=sys.stderr, flush=True)
    return results


def _row(peer: str, name: str, halves: list[dict[str, np.ndarray]]) -> Row:
    """Return the differences between a learner and its peer in both halves."""
    cells = {"rule": name}
    for title, half in zip(("to choose", "to confirm"), halves, strict=True):
        difference = 100 * (half[name][:, 0] - half[peer][:, 0])
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        ratio = np.exp(np.log(half[name][:, 1] / half[peer][:, 1]).mean())
        cells[f"accuracy, {title}"] = f"{difference.mean():+.2f} ± {error:.2f}"
        cells[f"log loss, {title}"] = f"{ratio:.2f}"
    if name in TREES:
        cells["leaves"] = _leaves(name, halves)
        cells[f"leaves of {peer}"] = _leaves(peer, halves)
    n = [len(half[name]) for half in halves]
    title = f"Beside {peer}: percentage points, and ratio of log loss; {n[0]} and {n[1]} tables"
    return Row(title, cells)


def _leaves(name: str, halves: list[dict[str, np.ndarray]]) -> str:
    return ", ".join(f"{half[name][:, 2].mean():.1f}" for half in halves)

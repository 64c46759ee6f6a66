"""Expected cost of trees on unseen rows: grown for the costs, or only decided by them.

Every data set gets cost matrices: with two classes, errors on the rare class cost 5 and 2 times as
much as the others, and a third as much if it is not too rare (credit-g has its own, 5 to 1); with
more classes, two random matrices. Compared are, on the same folds: the best constant decision; a
tree that does not know the costs, whose probabilities are then decided by them (`threshold`);
`TreeClassifier(cost=...)`; and rows weighted by the cost of their class, so that splits know the
costs, too. The result is the cost relative to the best constant decision, as the mean over the
matrices of each half of the data sets, and the ratio to `threshold`: of these means, and as
geometric mean and median over the matrices. The geometric mean depends much on tables that are
predicted nearly without cost. SURELEAF_SETS names data sets, SURELEAF_TREE_ROWS caps their rows,
SURELEAF_SPLITS is the number of times that five folds are drawn, SURELEAF_SEED the first seed.
"""

import os
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.data_sets import ALL, DataSet, load
from sureleaf import TreeClassifier, decide

FOLDS = 5
FIRST_HALF = ("adult", "diabetes", "breast-cancer", "glass", "vote", "phoneme", "hepatitis", "iris")
"""Half of the data sets; results are given for both halves."""

TREE: dict[str, Any] = {"random_state": 0}
LEARNERS = ("constant", "threshold", "cost=", "weighted rows")


def cost_matrices(data: DataSet) -> dict[str, np.ndarray]:
    """Return the cost matrices of a data set by name."""
    classes, counts = np.unique(data.y, return_counts=True)
    k = len(classes)
    if k > 2:
        rng = np.random.default_rng(sum(map(ord, data.name)))
        found = {f"random {i}": np.exp(0.9 * rng.normal(size=(k, k))) for i in range(2)}
        for matrix in found.values():
            np.fill_diagonal(matrix, 0.0)
        return found
    rare = int(counts.argmin())
    ratios = (5.0,) if data.name == "credit-g" else (5.0, 2.0)
    if counts.min() > 0.15 * counts.sum() and data.name != "credit-g":
        ratios = (*ratios, 1 / 3)
    found = {}
    for ratio in ratios:
        matrix = 1.0 - np.eye(2)
        matrix[rare] *= ratio
        found[f"{ratio:.2g} to 1"] = matrix
    return found


def fold_costs(data: DataSet, cost: np.ndarray, repeats: int) -> np.ndarray:
    """Mean cost per test row and number of leaves of every learner, shape (learners, 2)."""
    results = []
    first = int(os.environ.get("SURELEAF_SEED", "0"))
    for seed in range(first, first + repeats):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for train, test in folds.split(data.X, data.y):
            X, y = data.X.iloc[train].reset_index(drop=True), data.y[train]
            T, codes = data.X.iloc[test].reset_index(drop=True), _codes(data.y, data.y[test])
            results.append([_one(name, X, y, T, codes, cost) for name in LEARNERS])
    return np.mean(results, axis=0)


def _codes(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.searchsorted(np.unique(y), labels)


def _one(learner: str, X: Any, y: np.ndarray, T: Any, codes: np.ndarray, cost: np.ndarray) -> Any:
    classes, counts = np.unique(y, return_counts=True)
    if learner == "constant":
        decided = np.full(len(codes), (counts @ cost).argmin())
        return cost[codes, decided].mean(), 1
    if learner == "cost=":
        model = TreeClassifier(**TREE, cost=cost).fit(X, y)
        decision = model.predict(T)
    elif learner == "threshold":
        model = TreeClassifier(**TREE).fit(X, y)
        decision = decide(model.predict_proba(T), cost, classes.tolist())
    else:
        weight = cost.sum(axis=1)
        weight = weight * counts.sum() / (weight @ counts)
        model = TreeClassifier(
            **TREE, class_weight=dict(zip(classes.tolist(), weight.tolist(), strict=True))
        ).fit(X, y)
        p = model.predict_proba(T) / weight
        decision = decide(p / p.sum(axis=1, keepdims=True), cost, classes.tolist())
    return cost[codes, np.searchsorted(classes, decision)].mean(), model.tree_.n_leaves


def run() -> None:
    warnings.simplefilter("ignore")
    most = int(os.environ.get("SURELEAF_TREE_ROWS", "1500"))
    repeats = int(os.environ.get("SURELEAF_SPLITS", "1"))
    named = os.environ.get("SURELEAF_SETS")
    names = tuple(named.split(",")) if named else ALL
    print(f"{repeats} x {FOLDS} folds, at most {most} rows per data set; mean cost / leaves")
    print(f"{'data set':14s}{'costs':>10s}" + "".join(f"{name:>18s}" for name in LEARNERS))
    ratios: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for name in names:
        data = load(name).sample(most, min_rows_per_class=2 * FOLDS)
        for label, cost in cost_matrices(data).items():
            found = fold_costs(data, cost, repeats)
            cells = "".join(f"{mean:11.4f} /{leaves:5.1f}" for mean, leaves in found)
            print(f"{name:14s}{label:>10s}{cells}", flush=True)
            ratios[name in FIRST_HALF].append(np.append(found[:, 0] / found[0, 0], found[:, 1]))
    for is_first, part in ratios.items():
        if part:
            table = np.array(part)
            costs, leaves = table[:, : len(LEARNERS)], table[:, len(LEARNERS) :].mean(axis=0)
            means = costs.mean(axis=0)
            cells = "".join(f"{m:11.4f} /{n:5.1f}" for m, n in zip(means, leaves, strict=True))
            half = "first half" if is_first else "second half"
            print(f"{half:14s}{len(part):7d} x {cells}")
            relative = np.maximum(costs, 1e-3) / np.maximum(costs[:, [1]], 1e-3)
            for label, values in (
                ("ratio of the means", means / means[1]),
                ("geometric mean of ratios", np.exp(np.log(relative).mean(axis=0))),
                ("median of ratios", np.median(relative, axis=0)),
            ):
                print(f"{label:24s}" + "".join(f"{value:11.3f}{'':7s}" for value in values))

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
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.data_sets import ALL, DataSet, load
from benchmarks.running import Row, in_processes
from sureleaf import TreeClassifier, decide

FOLDS = 5
DRAWINGS = 5
FIRST_SEED = 200  # of folds that were not looked at when the rule was chosen
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
    first = int(os.environ.get("SURELEAF_SEED", str(FIRST_SEED)))
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


def run() -> Iterator[Row]:
    named = os.environ.get("SURELEAF_SETS")
    names = tuple(named.split(",")) if named else ALL
    halves: dict[bool, list[np.ndarray]] = {True: [], False: []}
    repeats, most = _drawings(), _most_rows()
    for name, results in zip(names, in_processes(_measure_all, names), strict=True):
        for label, found in results.items():
            relative = found[:, 0] / found[0, 0]
            halves[name in FIRST_HALF].append(np.append(relative, found[:, 1]))
            cells = {
                learner: f"{mean:.3f}, {leaves:.1f} leaves"
                if learner != "constant"
                else f"{mean:.3f}"
                for learner, (mean, leaves) in zip(LEARNERS, found, strict=True)
            }
            title = f"Mean cost per unseen row, {repeats} x {FOLDS} folds, at most {most} rows"
            yield Row(title, {"data set": name, "costs": label, **cells})
    for is_first, part in halves.items():
        if part:
            yield from _summary(is_first, np.array(part))


def _drawings() -> int:
    return int(os.environ.get("SURELEAF_SPLITS", str(DRAWINGS)))


def _most_rows() -> int:
    return int(os.environ.get("SURELEAF_TREE_ROWS", "1500"))


def _measure_all(name: str) -> dict[str, np.ndarray]:
    warnings.simplefilter("ignore")
    data = load(name).sample(_most_rows(), min_rows_per_class=2 * FOLDS)
    return {
        label: fold_costs(data, cost, _drawings()) for label, cost in cost_matrices(data).items()
    }


def _summary(is_first: bool, table: np.ndarray) -> Iterator[Row]:
    """Costs relative to `threshold`; see the description of the module."""
    costs, leaves = table[:, : len(LEARNERS)], table[:, len(LEARNERS) :].mean(axis=0)
    means = costs.mean(axis=0)
    ratios = np.maximum(costs, 1e-3) / np.maximum(costs[:, [1]], 1e-3)
    for index, learner in enumerate(LEARNERS):
        yield Row(
            "Cost relative to `threshold`",
            {
                "data sets": "first half" if is_first else "second half",
                "matrices": str(len(table)),
                "tree": learner,
                "ratio of mean costs": f"{means[index] / means[1]:.3f}",
                "geometric mean of ratios": f"{np.exp(np.log(ratios[:, index]).mean()):.3f}",
                "median of ratios": f"{np.median(ratios[:, index]):.3f}",
                "leaves": f"{leaves[index]:.1f}" if index else "",
            },
        )

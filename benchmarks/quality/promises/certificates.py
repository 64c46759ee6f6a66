"""Certificates of leaves: wrong classes, simultaneous limits, prediction sets of fitted trees."""

from collections.abc import Iterator
from itertools import product
from math import comb

import numpy as np

from benchmarks.quality.promises.record import Promise, coverage, false_positives
from sureleaf import TreeClassifier
from sureleaf.levels.guarantees import (
    adjusted_p_values,
    conformal_p_values,
    simultaneous_limits,
    wrong_class_p_values,
)


def _outcomes(
    sizes: tuple[int, ...], shares: tuple[float, ...]
) -> Iterator[tuple[np.ndarray, float]]:
    for y in product(*(range(n + 1) for n in sizes)):
        chances = [
            comb(n, k) * p**k * (1 - p) ** (n - k) for k, n, p in zip(y, sizes, shares, strict=True)
        ]
        yield np.array(y, dtype=float), float(np.prod(chances))


def exact() -> Iterator[Promise]:
    """Sum over all counts of three leaves, and of one leaf for prediction sets."""
    sizes = (25, 12, 6)
    n = np.array(sizes, dtype=float)
    for shares in [(0.5, 0.5, 0.5), (0.48, 0.45, 0.49), (0.97, 0.1, 0.55)]:
        truth = np.array(shares)
        held, wrong_before, wrong_same = 0.0, 0.0, 0.0
        for y, chance in _outcomes(sizes, shares):
            low, high = simultaneous_limits(y, n, level=0.95)
            held += chance * bool(((low <= truth) & (truth <= high)).all())
            counts = np.column_stack([n - y, y])
            for before in (True, False):
                named = np.ones(3, dtype=np.intp) if before else counts.argmax(axis=1)
                p_values = wrong_class_p_values(counts, named, named_before=before)
                is_wrong = np.where(named == 1, truth <= 0.5, truth >= 0.5)
                any_wrong = bool(((adjusted_p_values(p_values) <= 0.05) & is_wrong).any())
                if before:
                    wrong_before += chance * any_wrong
                else:
                    wrong_same += chance * any_wrong
        setting = f"3 leaves of {sizes} rows, p = {shares}"
        yield coverage("simultaneous limits of leaves: all hold", setting, held, default=True)
        for found, how in ((wrong_before, "other rows"), (wrong_same, "the same rows")):
            yield false_positives(
                f"certified leaf with a wrong class, named by {how}", setting, found, default=True
            )
    for n_rows, p in [(3, 0.3), (20, 0.02), (20, 0.1), (60, 0.05), (60, 0.4)]:
        covered = 0.0
        for (y,), chance in _outcomes((n_rows,), (p,)):
            kept = conformal_p_values(np.array([[n_rows - y, y]]))[0] > 0.05 + 1e-12
            covered += chance * (p * kept[1] + (1 - p) * kept[0])
        yield coverage(
            "prediction set of a leaf: coverage",
            f"{n_rows} held-out rows, p = {p}",
            covered,
            default=True,
        )


_CELLS = np.array(list(product(range(3), repeat=4)), dtype=float)
"""All values of four columns, equally frequent, so that the truth of every leaf is a sum."""


def _probabilities(n_classes: int) -> np.ndarray:
    """Return the class probabilities of every cell; some cells nearly tie."""
    first, second, third, _ = _CELLS.T
    score = 1.6 * (first == 0) + 0.9 * (second > 0) * (third == 2) - 1.0
    weights = np.exp(np.column_stack([np.zeros(len(score)), score, 0.4 - 0.3 * first]))
    chosen = weights[:, :n_classes]
    return chosen / chosen.sum(axis=1, keepdims=True)


def _draw(
    n: int, rng: np.random.Generator, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    cell = rng.integers(0, len(_CELLS), n)
    y = (rng.random((n, 1)) > probabilities[cell].cumsum(axis=1)).sum(axis=1)
    return _CELLS[cell], np.minimum(y, probabilities.shape[1] - 1)


def fitted_trees(runs: int, n_rows: int = 400) -> Iterator[Promise]:
    """Trees with levels_from="honest", and trees that later rows certify."""
    for n_classes in (2, 3):
        rng = np.random.default_rng(70 + n_classes)
        probabilities = _probabilities(n_classes)
        for way in ("honest", "certify"):
            held = wrong = n_leaves = n_certified = 0
            covered: list[float] = []
            for run in range(runs):
                model = _one_tree(rng, way, n_rows, probabilities, run)
                table = model.leaves(guarantee="simultaneous")
                leaves = model.tree_.leaf_ids
                line = np.searchsorted(leaves, model.apply(_CELLS))
                truth = np.array(
                    [probabilities[line == k].mean(axis=0) for k in range(len(leaves))]
                )
                own = truth[np.arange(len(leaves)), model.model_.predicted_classes[leaves]]
                held += bool(((table.low <= own) & (own <= table.high)).all())
                is_wrong = own < truth.max(axis=1) - 1e-12
                wrong += bool((~table.flagged & is_wrong).any())
                sets = model.model_.node_sets(0.05)[leaves]
                covered.append(float(np.mean((truth * sets).sum(axis=1))))
                n_leaves += len(leaves)
                n_certified += int((~table.flagged).sum())
            setting = (
                f"{way}, {n_rows} rows, {n_classes} classes, {n_leaves / runs:.1f} leaves, "
                f"{n_certified / runs:.1f} certified"
            )
            yield coverage(
                "certificate of a tree: all limits hold", setting, held / runs, runs, default=True
            )
            yield false_positives(
                "certificate of a tree: any certified leaf is wrong",
                setting,
                wrong / runs,
                runs,
                default=True,
            )
            yield coverage(
                "predict_set(per='leaf'): mean coverage over leaves",
                setting,
                float(np.mean(covered)),
                runs,
                default=True,
            )


def _one_tree(
    rng: np.random.Generator, way: str, n_rows: int, probabilities: np.ndarray, seed: int
) -> TreeClassifier:
    X, y = _draw(n_rows, rng, probabilities)
    settings = {"pruning": None, "max_leaves": 8, "min_samples_leaf": 10, "random_state": seed}
    if way == "honest":
        return TreeClassifier(levels_from="honest", **settings).fit(X, y)
    half = n_rows // 2
    model = TreeClassifier(levels_from="training", **settings).fit(X[:half], y[:half])
    return model.certify(X[half:], y[half:])

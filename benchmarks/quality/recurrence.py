"""Does a tree come out again as often as it says?

A tree is fitted on a sample of a large table and states how often its splits return and how many
rows of its leaves keep their class. Trees of fresh samples of the same size, which share no row
with the first, show how often they do. The tables group splits and leaves by what was stated, for
large data sets and for populations whose class probabilities are known. The first table has those
on which the formulas of `sureleaf.model.stability` were chosen, the second one others.
SURELEAF_TABLES sets the number of fitted trees per data set and size.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from benchmarks.quality.data_sets import DataSet, load
from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.running import Row, in_processes
from sureleaf import TreeClassifier
from sureleaf.errors import UnseenCategoryWarning
from sureleaf.model.stability import recurrence_in
from sureleaf.tree import route

Array = np.ndarray


def _two(second: Array) -> Array:
    return np.column_stack([1 - second, second])


def _ladder(X: Array) -> Array:
    steps = [X[:, 0] > 1, X[:, 1] > 0.8, X[:, 2] > 0.6, X[:, 3] > 0.4]
    return _two(np.select(steps, [0.95, 0.85, 0.2, 0.7], 0.3))


def _three(X: Array) -> Array:
    scores = [1.2 * X[:, 0], 1.2 * X[:, 1] - 0.3, np.where(X[:, 2] > 0, 1.0, -0.5)]
    return softmax(np.column_stack(scores), axis=1)


MORE: dict[str, Callable[[Array], Array]] = {
    "correlated": lambda X: _two(expit(1.17 * (X[:, 0] + X[:, 1]) + 0.6 * (X[:, 2] > 0.5))),
    "ladder": _ladder,
    "smooth": lambda X: _two(expit(1.2 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1)),
    "three classes": _three,
    "weak": lambda X: _two(expit(X @ [0.5, 0.5, 0.4, 0.3, 0, 0])),
}
"""Populations of six columns, besides those of the promises about levels."""

CHOSEN_ON = (
    *("correlated", "ladder", "smooth", "weak", "linear", "imbalanced"),
    *("adult", "covtype", "segment"),
)
OTHERS = (
    *("three classes", "step", "four classes", "exclusive or"),
    *("hypothyroid", "mammography", "mushroom", "phoneme", "satimage"),
)
SIZES = (200, 600)
FRESH = 10
TREES = 3
EDGES = (0.2, 0.4, 0.6, 0.8)
GROUPS = ("below .2", ".2 to .4", ".4 to .6", ".6 to .8", "above .8")


@dataclass(frozen=True)
class Pairs:
    """Stated and found recurrence of the splits or leaves of some trees."""

    stated: np.ndarray
    found: np.ndarray

    def group_of(self) -> np.ndarray:
        """Return the number of the group of each stated share."""
        return np.searchsorted(EDGES, self.stated, side="right")

    def groups(self) -> Iterator[tuple[str, int, float, float]]:
        """Name of the group, its size, the mean stated and the mean found share."""
        group_of = self.group_of()
        for number, name in enumerate(GROUPS):
            inside = group_of == number
            if inside.any():
                means = self.stated[inside].mean(), self.found[inside].mean()
                yield name, int(inside.sum()), float(means[0]), float(means[1])
        yield "all", len(self.stated), float(self.stated.mean()), float(self.found.mean())


def pairs(data: DataSet, n_rows: int, seed: int, n_fresh: int = FRESH) -> tuple[Pairs, Pairs]:
    """Fit one tree and look for its splits and predictions in trees of fresh samples."""
    order = np.random.default_rng([seed, 163]).permutation(len(data.y))
    own, rest = data.part(order[:n_rows]), order[n_rows:]
    model = TreeClassifier(random_state=seed).fit(own.X, own.y)
    stability = model.leaves().stability
    assert stability is not None
    tree = model.model_.tree
    leaf_of = route(tree, model.model_.encode(own.X)).heaviest()
    splits = np.zeros(tree.n_nodes)
    kept = np.zeros(len(own.y))
    rng = np.random.default_rng([seed, 164])
    for number in range(n_fresh):
        sample = data.part(rng.choice(rest, n_rows, replace=False))
        other = TreeClassifier(random_state=number).fit(sample.X, sample.y).model_
        to_own = np.searchsorted(model.classes_, other.classes)
        again = recurrence_in(
            tree,
            leaf_of,
            model.model_.predicted_classes,
            other.tree,
            route(other.tree, other.encode(own.X)).heaviest(),
            to_own[other.predicted_classes],
        )
        splits += again.splits / n_fresh
        kept += again.rows / n_fresh
    n_in_leaf = np.bincount(leaf_of, minlength=tree.n_nodes)
    share = np.bincount(leaf_of, kept, minlength=tree.n_nodes) / np.maximum(n_in_leaf, 1)
    of_splits = ~tree.is_leaf
    of_leaves = tree.is_leaf & (n_in_leaf > 0)
    return (
        Pairs(stability.splits[of_splits], splits[of_splits]),
        Pairs(stability.predictions[of_leaves], share[of_leaves]),
    )


def joined(parts: list[Pairs]) -> Pairs:
    return Pairs(
        np.concatenate([each.stated for each in parts]),
        np.concatenate([each.found for each in parts]),
    )


def draw(population: str, n: int = 20_000) -> DataSet:
    """Draw rows of a population; a tree sees some of them."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 6 if population in MORE else 5))
    if population == "correlated":
        X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
        X[:, 3] = 0.7 * X[:, 0] + 0.7 * X[:, 3]
    p = (POPULATIONS | MORE)[population](X)
    y = (rng.random(n)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    table = pd.DataFrame(X, columns=list("abcdef")[: X.shape[1]])
    if population in ("three classes", "weak"):
        table["e"] = np.array(list("pqrst"))[np.clip((1.2 * table["e"] + 2.5).astype(int), 0, 4)]
    return DataSet(population, table, y)


def _measure_all(name: str) -> tuple[Pairs, Pairs]:
    warnings.simplefilter("ignore", UnseenCategoryWarning)  # a sample lacks some categories
    n_trees = int(os.environ.get("SURELEAF_TABLES", str(TREES)))
    data = draw(name) if name in POPULATIONS | MORE else load(name)
    both = [pairs(data, n, seed) for n in SIZES for seed in range(n_trees)]
    return joined([each[0] for each in both]), joined([each[1] for each in both])


def run() -> Iterator[Row]:
    for names, title in (
        (CHOSEN_ON, "Tables on which the formulas were chosen"),
        (OTHERS, "Other tables"),
    ):
        found: dict[str, list[Pairs]] = {"splits": [], "leaves": []}
        for name, parts in zip(names, in_processes(_measure_all, names), strict=True):
            for what, part in zip(found, parts, strict=True):
                found[what].append(part)
            print(f"{name}: done", file=sys.stderr, flush=True)
        for what, parts in found.items():
            for group, n, stated, share in joined(parts).groups():
                yield Row(
                    title,
                    {
                        "stated recurrence": f"{what}, {group}",
                        "number": f"{n:,}",
                        "stated": f"{stated:.3f}",
                        "found": f"{share:.3f}",
                    },
                )

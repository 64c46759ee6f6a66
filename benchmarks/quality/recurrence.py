"""How much more often does a tree come out again in halves of its rows than in fresh samples?

A tree is fitted on a sample of a large table. Trees of halves of the sample show how often its
splits return and how many rows of its leaves keep their class: that is what `splits()` and
`leaves()` say. Trees of fresh samples of the same size, which share no row with the first, show
how often they do there, which nothing of ours says. SURELEAF_TABLES sets the number of fitted trees
per data set and size.
"""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from benchmarks.quality.data_sets import DataSet, load
from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.running import Row, in_processes
from sureleaf import TreeClassifier
from sureleaf.errors import UnseenCategoryWarning
from sureleaf.model.fitting import fit_model
from sureleaf.model.halves import with_stability
from sureleaf.model.stability import recurrence_in
from sureleaf.table import read_table
from sureleaf.tree import TrainingRows, route

NAMES = (*POPULATIONS, "adult", "covtype", "mammography", "mushroom", "phoneme", "segment")
SIZES = (200, 600)
FRESH = 12
TREES = 8
EDGES = (0.2, 0.4, 0.6, 0.8)
GROUPS = ("below .2", ".2 to .4", ".4 to .6", ".6 to .8", ".8 and more")


@dataclass(frozen=True)
class Pairs:
    """Shares in halves and in fresh samples, of the splits or leaves of some trees."""

    halves: np.ndarray
    fresh: np.ndarray


def pairs(data: DataSet, n_rows: int, seed: int) -> tuple[Pairs, Pairs]:
    """Fit one tree and look for its splits and predictions in trees of halves and fresh samples."""
    order = np.random.default_rng([seed, 163]).permutation(len(data.y))
    own, rest = data.part(order[:n_rows]), order[n_rows:]
    classes, labels = np.unique(own.y, return_inverse=True)
    rows = TrainingRows(read_table(own.X), labels.astype(np.int32), len(classes))
    model, settings = fit_model(rows, classes, TreeClassifier(random_state=seed).settings())
    model = model.with_evidence(replace(model.evidence, n_rounds=12))
    stability = with_stability(model, rows, settings).evidence.stability
    assert stability is not None
    tree = model.tree
    leaf_of = route(tree, rows.table).heaviest()
    splits, kept = np.zeros(tree.n_nodes), np.zeros(n_rows)
    rng = np.random.default_rng([seed, 164])
    for number in range(FRESH):
        sample = data.part(rng.choice(rest, n_rows, replace=False))
        other = TreeClassifier(random_state=number).fit(sample.X, sample.y).model_
        again = recurrence_in(
            tree,
            leaf_of,
            model.predicted_classes,
            other.tree,
            route(other.tree, other.encode(own.X)).heaviest(),
            np.searchsorted(classes, other.classes)[other.predicted_classes],
        )
        splits += again.splits / FRESH
        kept += again.rows / FRESH
    share = np.bincount(leaf_of, kept, tree.n_nodes)[tree.leaf_ids]
    share /= np.bincount(leaf_of, minlength=tree.n_nodes)[tree.leaf_ids]
    inner = ~tree.is_leaf
    return (
        Pairs(stability.returned[inner] / stability.n_trees, splits[inner]),
        Pairs(stability.kept[tree.leaf_ids], share),
    )


def draw(population: str, n: int = 20_000) -> DataSet:
    """Draw rows of a population; a tree sees some of them."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 5))
    p = POPULATIONS[population](X)
    y = (rng.random(n)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return DataSet(population, pd.DataFrame(X, columns=list("abcde")), y)


def _measure_all(name: str) -> list[tuple[Pairs, Pairs]]:
    warnings.simplefilter("ignore", UnseenCategoryWarning)  # a sample lacks some categories
    n_trees = int(os.environ.get("SURELEAF_TABLES", str(TREES))) * (5 if name == "noise" else 1)
    data = draw(name) if name in POPULATIONS else load(name)
    return [pairs(data, n, seed) for n in SIZES for seed in range(n_trees)]


def run() -> Iterator[Row]:
    of_name = dict(zip(NAMES, in_processes(_measure_all, NAMES), strict=True))
    one_leaf = [leaves for _, leaves in of_name["noise"] if len(leaves.halves) == 1]
    yield from _rows("leaf of a one-leaf tree of noise", one_leaf, groups=False)
    trees = [each for found in of_name.values() for each in found if len(each[1].halves) > 1]
    yield from _rows("splits", [splits for splits, _ in trees])
    yield from _rows("leaves", [leaves for _, leaves in trees])


def _rows(what: str, found: list[Pairs], *, groups: bool = True) -> Iterator[Row]:
    halves = np.concatenate([each.halves for each in found])
    fresh = np.concatenate([each.fresh for each in found])
    group_of = np.searchsorted(EDGES, halves, side="right")
    parts = [(f"{what}, {name}", group_of == k) for k, name in enumerate(GROUPS) if groups]
    for name, inside in [*parts, (f"{what}, all", np.full(len(halves), True))]:
        n = int(inside.sum())
        if not n:
            continue
        yield Row(
            "",
            {
                "share in trees of halves": name,
                "number": f"{n:,}",
                "halves": f"{halves[inside].mean():.3f}",
                "fresh samples": f"{fresh[inside].mean():.3f}",
                "standard error": f"{fresh[inside].std() / n**0.5:.3f}",
            },
        )

"""Would the tree come out again: the interval of the root's rival, and stated recurrence.

The truth about a rival is the difference in accuracy of the two trees of all rows, on 20,000 fresh
rows. The truth about recurrence is the share of fresh samples of the same size, which share no row
with the first, in whose tree a split returns or a row keeps its class.
"""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.quality.data_sets import load
from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.quality.promises.record import Deviation, Promise, coverage
from benchmarks.quality.recurrence import (
    CHOSEN_ON,
    GROUPS,
    MORE,
    OTHERS,
    Pairs,
    draw,
    joined,
    pairs,
)
from sureleaf import TreeClassifier
from sureleaf.errors import UnseenCategoryWarning
from sureleaf.model.fitting import fit_model
from sureleaf.model.rival import best_other_split, correct_from_root, one_column, root_rival
from sureleaf.table import read_table
from sureleaf.tree import TrainingRows, cut, route

FRESH_ROWS = 20_000
FIVE_POINTS = Deviation(0.05, "the promise is five percentage points")


def _sample(population: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 5))
    p = POPULATIONS[population](X)
    return X, (rng.random(n)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _one_rival(population: str, n_rows: int, seed: int) -> bool | None:
    """Whether the interval holds the true difference; None if the tree has no rival."""
    rng = np.random.default_rng([seed, n_rows, list(POPULATIONS).index(population), 165])
    X, y = _sample(population, n_rows, rng)
    classes, labels = np.unique(y, return_inverse=True)
    rows = TrainingRows(read_table(X), labels.astype(np.int32), len(classes))
    settings = TreeClassifier(random_state=seed, n_jobs=1).settings()
    model, settings = fit_model(rows, classes, settings)
    folds = np.random.default_rng([seed, 166]).permutation(n_rows) % 10
    rival = root_rival(model, rows, settings, folds, np.full(n_rows, np.nan), n_folds=10)
    if rival is None:
        return None
    Z, z = _sample(population, FRESH_ROWS, rng)
    known = np.isin(z, classes)  # a tree never predicts a class that it has not seen
    every = TrainingRows(
        read_table(np.vstack([X, Z])),
        np.concatenate([labels, np.where(known, np.searchsorted(classes, z), 0)]).astype(np.int32),
        len(classes),
    )
    is_fresh = np.arange(n_rows + FRESH_ROWS) >= n_rows
    found = best_other_split(rows, settings, int(model.tree.feature[0]))
    assert found is not None
    column, stump = found
    own = cut(model.tree, model.tree.node_depth > 0)
    accuracy = [
        float(
            (
                correct_from_root(every, settings, np.ones(len(is_fresh)), is_fresh, branch) * known
            ).mean()
        )
        for branch in (
            route(stump, one_column(every.table, column)).heaviest(),
            route(own, every.table).heaviest(),
        )
    ]
    return rival.low <= accuracy[0] - accuracy[1] <= rival.high


def rivals(population: str, runs: int, sizes: Sequence[int] = (150, 500)) -> Iterator[Promise]:
    """Coverage of the interval of the rival's difference, until so many trees have a rival."""
    for n_rows in sizes:
        holds: list[bool] = []
        seed = 0
        while len(holds) < runs:
            held = _one_rival(population, n_rows, seed)
            holds += [] if held is None else [held]
            seed += 1
        yield coverage(
            "difference of the tree that starts with the rival of the root",
            f"{population}, {n_rows} rows",
            float(np.mean(holds)),
            runs,
            warning=_TREES_DIFFER if population == "exclusive or" else "",
            default=True,
        )


_TREES_DIFFER = "greedy trees of an exclusive or differ from sample to sample by many points"

RIVALS = tuple(name for name in POPULATIONS if name != "noise")
RECURRENCE = (*CHOSEN_ON, *OTHERS)
FIRST_SEED = 1000
"""The formulas were chosen with smaller ones."""


def recurrence(runs: int, n_fresh: int, sizes: Sequence[int] = (200, 600)) -> Iterator[Promise]:
    """Stated recurrence in groups, beside that on fresh samples; populations count alike."""
    found: dict[str, list[tuple[Pairs, Pairs]]] = {}
    for name in RECURRENCE:
        data = draw(name) if name in POPULATIONS | MORE else load(name)
        with warnings.catch_warnings():  # a sample lacks some categories
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            seeds = range(FIRST_SEED, FIRST_SEED + runs)
            found[name] = [pairs(data, n, seed, n_fresh) for n in sizes for seed in seeds]
    for number, what in enumerate(("splits", "leaves")):
        parts = [joined([each[number] for each in found[name]]) for name in RECURRENCE]
        weights = [np.full(len(part.stated), 1 / len(part.stated)) for part in parts]
        every, weight = joined(parts), np.concatenate(weights)
        group_of = every.group_of()
        for group, name in enumerate((*GROUPS, "all")):
            share = weight * ((group_of == group) | (name == "all"))
            if np.count_nonzero(share) < 10:
                continue
            stated = float(share @ every.stated / share.sum())
            seen = float(share @ every.found / share.sum())
            noun = "a split returns" if what == "splits" else "rows of a leaf keep their class"
            yield Promise(
                f"recurrence: {noun} in a fresh sample",
                f"{name} is stated, {len(RECURRENCE)} populations"
                if name != "all"
                else f"all, {len(RECURRENCE)} populations",
                stated,
                seen,
                int(share.sum() ** 2 / (share**2).sum()),
                at_least=seen <= stated,
                deviation=FIVE_POINTS,
                default=True,
            )

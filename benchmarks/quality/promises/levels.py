"""Levels of trees, in populations where every class probability is known.

A stated confidence is a probability: among leaves that state .9, the named class is to be the most
probable class of the leaf in nine of ten. A tie counts as one half (or 1 / K). Stated utility is to
be the accuracy on unseen rows, also after a pruning whose strength was chosen by cross-validation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from benchmarks.quality.promises.record import (
    Deviation,
    Promise,
    coverage,
    false_positives,
    shown,
)
from sureleaf import TreeClassifier

Array = np.ndarray

BINS = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TWO_POINTS = Deviation(0.02, "the promise is two percentage points")
SEVEN_TENTHS = Deviation(0.007, "the promise is 0.7 percentage points")


def _two(second: Array) -> Array:
    return np.column_stack([1 - second, second])


def _step(X: Array) -> Array:
    upper = np.where(X[:, 1] > 0, 0.85, 0.55)
    return _two(np.where(X[:, 0] > 0.3, upper, np.where(X[:, 2] > 0.5, 0.4, 0.15)))


def _four(X: Array) -> Array:
    scores = [1.5 * X[:, 0], 1.5 * X[:, 1], X[:, 2] - X[:, 0], -X[:, 1]]
    return softmax(np.column_stack(scores), axis=1)


POPULATIONS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda X: _two(expit(1.5 * X[:, 0] + X[:, 1])),
    "step": _step,
    "imbalanced": lambda X: _two(expit(-3 + 1.5 * X[:, 0] + X[:, 1])),
    "four classes": _four,
    "exclusive or": lambda X: _two(np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1)),
    "noise": lambda X: _two(np.full(len(X), 0.5)),
}

TREES: dict[str, Callable[[int], TreeClassifier]] = {
    "default": lambda seed: TreeClassifier(random_state=seed, n_jobs=1),
    "C4.5": lambda seed: TreeClassifier.c45(random_state=seed, n_jobs=1),
}

PRUNINGS: dict[str, Callable[[int], TreeClassifier]] = {
    **TREES,
    "utility": lambda seed: TreeClassifier.c45(pruning="utility", random_state=seed, n_jobs=1),
    "cost-complexity": lambda seed: TreeClassifier.c45(
        pruning="cost_complexity", random_state=seed, n_jobs=1
    ),
    "reduced error": lambda seed: TreeClassifier.c45(
        pruning="reduced_error", random_state=seed, n_jobs=1
    ),
}


@dataclass(frozen=True)
class Judged:
    """The leaves of one tree beside the truth.

    ``is_right`` is 1 if the named class is the most probable one of the leaf, 1 / r in a tie of r
    classes, else 0.
    """

    population: str
    n_rows: int
    confidence: Array
    is_right: Array
    flagged: Array
    share: Array
    stated: float
    low: float
    high: float
    accuracy: float


def judged(population: str, n_rows: int, model: TreeClassifier, seed: int) -> Judged:
    """Fit one tree, and ask the population about its leaves."""
    rng = np.random.default_rng([seed, n_rows, list(POPULATIONS).index(population)])
    chances = POPULATIONS[population]

    def draw(n: int) -> tuple[Array, Array, Array]:
        X = rng.normal(size=(n, 5))
        p = chances(X)
        y = (rng.random(n)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        return X, p, y

    X, _, y = draw(n_rows)
    Z, p, _ = draw(20_000)
    model.fit(X, y)
    table, levels = model.leaves(), model.levels()
    line = np.searchsorted(table.leaf, model.apply(Z))
    n = np.bincount(line, minlength=len(table))
    reached = np.flatnonzero(n)
    sums = [np.bincount(line, p[:, k], len(table)) for k in range(p.shape[1])]
    true = np.column_stack(sums)[reached] / n[reached, np.newaxis]
    best = true > true.max(axis=1, keepdims=True) - 1e-9
    place = np.arange(len(reached))
    named = table.prediction[reached].astype(int)
    is_right = best[place, named] / best.sum(axis=1)
    accuracy = float(n[reached] @ true[place, named] / n.sum())
    return Judged(
        population,
        n_rows,
        table.confidence[reached],
        is_right,
        table.flagged[reached],
        table.n[reached] / table.n.sum(),
        levels.utility,
        levels.low,
        levels.high,
        accuracy,
    )


def confidence(
    kind: str, runs: int, noise_runs: int, n_rows: Sequence[int] = (100, 500, 2000)
) -> Iterator[Promise]:
    """Confidence in bins, unflagged leaves of noise, and the share of flagged rows.

    Bins count leaves, of which every tree has several; the row about noise counts trees, and has
    more runs for that.
    """
    make = TREES[kind]
    trees = [
        judged(population, n, make(seed), seed)
        for population in POPULATIONS
        for n in n_rows
        for seed in range(noise_runs if population == "noise" else runs)
    ]
    # Populations and numbers of rows count alike, although some have more leaves.
    n_leaves = {(t.population, t.n_rows): 0 for t in trees}
    for tree in trees:
        n_leaves[tree.population, tree.n_rows] += len(tree.confidence)
    weight = np.concatenate(
        [np.full(len(t.confidence), 1 / n_leaves[t.population, t.n_rows]) for t in trees]
    )
    yield from _bins(kind, trees, weight)
    for population in POPULATIONS:
        yield from _high(kind, population, [t for t in trees if t.population == population])
    noise = [tree for tree in trees if tree.population == "noise"]
    yield false_positives(
        "pure noise: trees with an unflagged leaf",
        kind,
        float(np.mean([(~tree.flagged).any() for tree in noise])),
        len(noise),
        default=True,
    )
    signal = [tree for tree in trees if tree.population != "noise"]
    yield shown(
        "rows in flagged leaves, noise left out",
        kind,
        float(np.mean([tree.share @ tree.flagged for tree in signal])),
        len(signal),
    )


def _bins(kind: str, trees: list[Judged], weight: Array) -> Iterator[Promise]:
    stated = np.concatenate([tree.confidence for tree in trees])
    is_right = np.concatenate([tree.is_right for tree in trees])
    index = np.digitize(stated, BINS[1:-1])
    for k in range(len(BINS) - 1):
        inside = index == k
        share = weight * inside
        if inside.sum() < 10:
            continue
        n_effective = share.sum() ** 2 / (share**2).sum()
        yield Promise(
            "confidence: the named class is the most probable one",
            f"{kind}, {BINS[k]:g} to {BINS[k + 1]:g} is stated",
            float(share @ stated / share.sum()),
            float(share @ is_right / share.sum()),
            int(n_effective),
            deviation=TWO_POINTS,
            warning=_NO_SIGNAL if BINS[k] < 0.9 else "",
            default=True,
        )


_NO_SIGNAL = "noise and the exclusive or state too much in the middle (docs/levels.md)"


def _high(kind: str, population: str, trees: list[Judged]) -> Iterator[Promise]:
    flagged = np.concatenate([tree.flagged for tree in trees])
    is_right = np.concatenate([tree.is_right for tree in trees])[~flagged]
    stated = np.concatenate([tree.confidence for tree in trees])[~flagged]
    if len(is_right) >= 10:
        yield Promise(
            "leaves that are not flagged: the named class is the most probable one",
            f"{kind}, {population}",
            float(stated.mean()),
            float(is_right.mean()),
            len(is_right),
            deviation=TWO_POINTS,
            warning=_TREES_DIFFER if population == "exclusive or" else "",
            default=True,
        )


_TREES_DIFFER = "greedy trees of an exclusive or differ from fold to fold by many points"


def utility(kind: str, runs: int, n_rows: Sequence[int] = (100, 300)) -> Iterator[Promise]:
    """Stated utility against accuracy, and its interval, for one pruning."""
    make = PRUNINGS[kind]
    for n in n_rows:
        trees = [
            judged(population, n, make(seed), seed)
            for population in ("linear", "step", "four classes")
            for seed in range(runs)
        ]
        stated = np.array([tree.stated for tree in trees])
        true = np.array([tree.accuracy for tree in trees])
        error = (stated - true).std(ddof=1) / np.sqrt(len(trees))
        p = float(stated.mean())
        yield Promise(
            "utility: the accuracy on unseen rows is not lower",
            f"{kind}, {n} rows",
            p,
            float(true.mean()),
            int(p * (1 - p) / error**2),  # as many as give this simulation error
            deviation=SEVEN_TENTHS,
            default=kind == "default",
        )
        holds = [tree.low <= tree.accuracy <= tree.high for tree in trees]
        yield coverage(
            "interval of the utility of a tree",
            f"{kind}, {n} rows",
            float(np.mean(holds)),
            len(trees),
            default=kind == "default",
        )

"""Levels of trees, in populations where every class probability is known.

A stated confidence is a probability: among leaves that state .9, the named class is to be the most
probable class of the leaf in nine of ten. A tie counts as one half (or 1 / K). Stated utility is to
be the accuracy on unseen rows, also after a pruning whose strength was chosen by cross-validation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri, softmax

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


Chances = Callable[[Array], Array]

POPULATIONS: dict[str, Chances] = {
    "linear": lambda X: _two(expit(1.5 * X[:, 0] + X[:, 1])),
    "step": _step,
    "imbalanced": lambda X: _two(expit(-3 + 1.5 * X[:, 0] + X[:, 1])),
    "four classes": _four,
    "exclusive or": lambda X: _two(np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1)),
    "noise": lambda X: _two(np.full(len(X), 0.5)),
}


def _ring(n_classes: int) -> Chances:
    """Sectors around a centre: a class is confused with the two beside it."""
    centers = 2 * np.pi * np.arange(n_classes) / n_classes

    def chances(X: Array) -> Array:
        angle = np.arctan2(X[:, 1], X[:, 0])[:, np.newaxis]
        return softmax(n_classes * np.cos(angle - centers), axis=1)

    return chances


def _grades(n_classes: int) -> Chances:
    """An ordered logit: grades of a sum of columns."""
    cuts = 1.3 * ndtri(np.arange(1, n_classes) / n_classes)

    def chances(X: Array) -> Array:
        sum_ = (X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2])[:, np.newaxis]
        above = expit(6 * (sum_ - cuts))
        edge = np.ones((len(X), 1))
        return -np.diff(np.hstack([edge, above, 0 * edge]), axis=1)

    return chances


def _directions(n_classes: int) -> Chances:
    """A multinomial logit whose classes lie in random directions."""
    slopes = np.random.default_rng(n_classes).normal(size=(5, n_classes)) * 2.0
    return lambda X: softmax(X @ slopes, axis=1)


def _cells(n_classes: int) -> Chances:
    """32 boxes, each with a main class (.8) and one neighbour (.15)."""
    rng = np.random.default_rng(n_classes)
    main = rng.integers(n_classes, size=32)
    next_one = (main + rng.integers(1, n_classes, size=32)) % n_classes
    table = np.full((32, n_classes), 0.05 / n_classes)
    table[np.arange(32), main] += 0.8
    table[np.arange(32), next_one] += 0.15

    def chances(X: Array) -> Array:
        box = np.digitize(X[:, :2], [-0.67, 0, 0.67]) @ np.array([8, 2]) + (X[:, 2] > 0)
        return table[box]

    return chances


HELD_OUT: dict[str, Chances] = {
    "wave": lambda X: _two(expit(3 * np.sin(2 * X[:, 0]) + X[:, 1])),
    "corner": lambda X: _two(np.where((X[:, 0] > 0.5) & (X[:, 1] > 0), 0.9, 0.25)),
    "slope": lambda X: _two(expit(X[:, 0] + X[:, 1] + X[:, 2] - X[:, 3])),
    "crossed": lambda X: _two(expit(3 * X[:, 0] * X[:, 1])),
    **{
        f"{name}, {n_classes} classes": make(n_classes)
        for n_classes in (3, 6, 12, 26)
        for name, make in (
            ("ring", _ring),
            ("grades", _grades),
            ("directions", _directions),
            ("cells", _cells),
        )
    },
}
"""Populations on which nothing of the levels was chosen."""

NOISE: dict[str, Chances] = {
    f"noise of {n_classes} classes": lambda X, n_classes=n_classes: np.full(
        (len(X), n_classes), 1 / n_classes
    )
    for n_classes in (2, 4, 10)
}

SIZES = {"50 rows and more": (50, np.inf), "20 to 50 rows": (20, 50), "fewer than 20": (0, 20)}
THREE_POINTS = Deviation(0.03, "the promise is three percentage points")

TREES: dict[str, Callable[[int], TreeClassifier]] = {
    "default": lambda seed: TreeClassifier(random_state=seed, n_jobs=1),
    "C4.5": lambda seed: TreeClassifier.c45(leaf_estimate="auto", random_state=seed, n_jobs=1),
}

PRUNINGS: dict[str, Callable[[int], TreeClassifier]] = {
    **TREES,
    "utility": lambda seed: TreeClassifier.c45(
        leaf_estimate="auto", pruning="utility", random_state=seed, n_jobs=1
    ),
    "cost-complexity": lambda seed: TreeClassifier.c45(
        leaf_estimate="auto", pruning="cost_complexity", random_state=seed, n_jobs=1
    ),
    "reduced error": lambda seed: TreeClassifier.c45(
        leaf_estimate="auto", pruning="reduced_error", random_state=seed, n_jobs=1
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
    n: Array
    share: Array
    stated: float
    low: float
    high: float
    accuracy: float


def judged(population: str, n_rows: int, model: TreeClassifier, seed: int) -> Judged:
    """Fit one tree, and ask the population about its leaves."""
    every = POPULATIONS | HELD_OUT | NOISE
    rng = np.random.default_rng([seed, n_rows, list(every).index(population)])
    chances = every[population]

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
        table.n[reached],
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


def held_out(
    classes: Sequence[int], runs: int, n_rows: Sequence[int] = (200, 600, 3000)
) -> Iterator[Promise]:
    """Default trees of the held-out populations with so many classes: what is promised of them.

    Unflagged leaves name the most probable class in 98.5 % of the cases, and the confidence of
    leaves of each size, weighted by rows, is within three points of how often they are right.
    """
    ends = tuple(f", {n_classes} classes" for n_classes in classes if n_classes > 2)
    names = [
        name for name in HELD_OUT if (name.endswith(ends) if ends else not name.endswith("classes"))
    ]
    trees = [
        judged(name, n, TREES["default"](seed), seed)
        for name in names
        for n in n_rows
        for seed in range(runs)
    ]
    which = f"{' or '.join(map(str, classes))} classes"
    flagged, is_right, stated, n = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("flagged", "is_right", "confidence", "n")
    )
    yield Promise(
        "held-out populations, leaves that are not flagged: right in 98.5 %",
        f"{which}; stated: {stated[~flagged].mean():.3f}",
        0.985,
        float(is_right[~flagged].mean()),
        int((~flagged).sum()),
        default=True,
    )
    for size, (low, high) in SIZES.items():
        inside = (n >= low) & (n < high)
        if inside.sum() < 10:
            continue
        weight = n * inside
        for word, at_least in (("high", True), ("low", False)):
            yield Promise(
                f"held-out populations, by rows: confidence is not too {word}",
                f"{which}, leaves of {size}",
                float(weight @ stated / weight.sum()),
                float(weight @ is_right / weight.sum()),
                int(weight.sum() ** 2 / (weight**2).sum()),
                at_least=at_least,
                deviation=THREE_POINTS,
                warning="" if at_least else _CAUTIOUS,
                default=True,
            )


def noise_of_classes(runs: int, n_rows: Sequence[int] = (200, 600)) -> Iterator[Promise]:
    """Trees of one leaf on noise of K classes: 1 / K is right."""
    for population in NOISE:
        trees = [
            judged(population, n, TREES["default"](seed), seed)
            for n in n_rows
            for seed in range(runs)
        ]
        roots = [tree for tree in trees if len(tree.n) == 1]
        yield Promise(
            "noise, trees of one leaf: confidence is not too high",
            population,
            float(np.mean([tree.confidence[0] for tree in roots])),
            float(np.mean([tree.is_right[0] for tree in roots])),
            len(roots),
            deviation=THREE_POINTS,
            default=True,
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


_CAUTIOUS = "few tested rows say little about how much leaves differ: where they hardly do, too low"
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

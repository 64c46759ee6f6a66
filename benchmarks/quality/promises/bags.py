"""Out-of-bag levels and probabilities of bagged trees, where every class probability is known.

The method was chosen on the populations of `levels`, on 3 of 50 columns that matter and on 40 weak
columns. None of those below had a part in it; they were written down before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from benchmarks.quality.promises.levels import TWO_POINTS
from benchmarks.quality.promises.record import Promise, coverage
from sureleaf import BaggedTreesClassifier
from sureleaf.model.out_of_bag import fit_calibration

Array = np.ndarray
Population = tuple[int, Callable[[Array], Array]]
"""The number of columns, all standard normal, and from rows to class probabilities."""


def _two(second: Array) -> Array:
    return np.column_stack([1 - second, second])


def _six(X: Array) -> Array:
    """Most probable is the class of the sixth of the plane, by the angle."""
    sixth = (np.arctan2(X[:, 0], X[:, 1]) / np.pi * 3 + 3).astype(int) % 6
    return 0.08 + 0.52 * np.eye(6)[sixth]


POPULATIONS: dict[str, Population] = {
    "ring": (6, lambda X: _two(np.where(np.abs(np.hypot(X[:, 0], X[:, 1]) - 1.2) < 0.5, 0.8, 0.1))),
    "two of 60 columns": (60, lambda X: _two(np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.9, 0.2))),
    "20 weak of 30 columns": (30, lambda X: _two(expit(0.5 + 0.5 * X[:, :20].sum(axis=1)))),
    "a class of 4 %": (8, lambda X: _two(expit(-4.5 + X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3]))),
    "six classes": (10, _six),
    "noise of three classes": (10, lambda X: np.full((len(X), 3), 1 / 3)),
    "nearly certain": (8, lambda X: _two(expit(8 * (X[:, 0] + X[:, 1] - 0.5)))),
}
SIZES = (200, 600)
N_NEW = 6000
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def draw(
    population: Population, n_rows: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return rows, their class probabilities and their classes."""
    n_columns, chances = population
    X = rng.normal(size=(n_rows, n_columns))
    p = chances(X)
    y = (rng.random(n_rows)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return X, p, y


@dataclass(frozen=True)
class Judged:
    """What one forest states beside the truth, for new rows.

    Each of the arrays has one line per new row; `is_right` is the probability that the predicted
    class is the true one.
    """

    utility: float
    accuracy: float
    holds: bool
    rows_held: float
    stated: dict[str, Array]
    is_right: dict[str, Array]


def judged(name: str, n_rows: int, seed: int, *, n_trees: int = 30) -> Judged:
    """Fit one forest, and ask the population about new rows."""
    rng = np.random.default_rng([37, seed, n_rows, list(POPULATIONS).index(name)])
    X, p, y = draw(POPULATIONS[name], n_rows, rng)
    while len(np.unique(y)) < p.shape[1]:
        X, p, y = draw(POPULATIONS[name], n_rows, rng)
    Z, q, _ = draw(POPULATIONS[name], N_NEW, rng)
    model = BaggedTreesClassifier(n_estimators=n_trees, random_state=seed, n_jobs=1).fit(X, y)
    bag, rows = model.oob_levels_, model.predict_levels(Z)
    place = np.arange(N_NEW)
    is_right = q[place, rows.prediction]
    accuracy = float(is_right.mean())
    group = np.unique(rows.low, return_inverse=True)[1]
    true = (np.bincount(group, is_right) / np.bincount(group))[group]
    calibrate = fit_calibration(
        model.oob_proba_, y.astype(np.int32), None, method="sigmoid", classes=model.classes_
    )
    calibrated = calibrate(model.predict_proba(Z))
    return Judged(
        bag.utility,
        accuracy,
        bag.low <= accuracy <= bag.high,
        float(((rows.low <= true) & (true <= rows.high)).mean()),
        {
            LEVELS: rows.utility,
            PROBA: rows.probability,
            CALIBRATED: calibrated.max(axis=1),
        },
        {
            LEVELS: is_right,
            PROBA: is_right,
            CALIBRATED: q[place, calibrated.argmax(axis=1)],
        },
    )


LEVELS = "utility of predict_levels: share of right predictions"
PROBA = "predict_proba of bagged trees: share of right predictions"
CALIBRATED = "predict_proba with calibration='sigmoid': share of right predictions"
WARNINGS = {
    PROBA: "the mean of the trees is not calibrated (docs/probabilities.md)",
    CALIBRATED: "two numbers per class do not fit every population",
}


def levels(runs: int) -> Iterator[Promise]:
    """Intervals of the utility of the bag and of rows, and what is stated by what it is, in bins.

    Populations and numbers of rows count alike. A share that is too high is a miss like one that is
    too low.
    """
    forests = {
        (name, n): [judged(name, n, seed) for seed in range(runs)]
        for name in POPULATIONS
        for n in SIZES
    }
    for name in POPULATIONS:
        yield _covers([forest for n in SIZES for forest in forests[name, n]], name)
    for n in SIZES:
        each = [forest for name in POPULATIONS for forest in forests[name, n]]
        yield _agrees(
            "utility of bagged trees: the accuracy on new rows",
            f"{n} rows",
            np.array([forest.utility for forest in each]),
            np.array([forest.accuracy for forest in each]),
            np.ones(len(each)),
        )
        yield coverage(
            "interval of predict_levels: rows of which it holds the accuracy",
            f"{n} rows",
            float(np.mean([forest.rows_held for forest in each])),
            len(each),
            default=True,
        )
    everything = [forest for each in forests.values() for forest in each]
    for what in (LEVELS, PROBA, CALIBRATED):
        yield from _bins(what, everything)


def _bins(what: str, forests: list[Judged]) -> Iterator[Promise]:
    index = [np.digitize(forest.stated[what], BINS[1:-1]) for forest in forests]
    for k in range(len(BINS) - 1):
        parts = [
            (forest, line == k)
            for forest, line in zip(forests, index, strict=True)
            if (line == k).any()
        ]
        if len(parts) < 2:
            continue
        yield _agrees(
            what,
            f"{BINS[k]:g} to {BINS[k + 1]:g} is stated",
            np.array([(forest.stated[what] * inside).mean() for forest, inside in parts]),
            np.array([(forest.is_right[what] * inside).mean() for forest, inside in parts]),
            np.array([inside.mean() for _, inside in parts]),
            warning=WARNINGS.get(what, ""),
            default=what != CALIBRATED,
        )


def few_and_many_trees(runs: int) -> Iterator[Promise]:
    """The interval of many trees, and of few trees on many rows, which vary more than the rows."""
    for name, n_rows, n_trees in (("two of 60 columns", 600, 200), ("ring", 5000, 5)):
        each = [judged(name, n_rows, seed, n_trees=n_trees) for seed in range(runs)]
        yield _covers(each, f"{name}, {n_rows} rows, {n_trees} trees")


def _covers(forests: list[Judged], setting: str) -> Promise:
    holds = float(np.mean([forest.holds for forest in forests]))
    what = "interval of the utility of bagged trees"
    return coverage(what, setting, holds, len(forests), default=True)


def _agrees(
    what: str,
    setting: str,
    stated: Array,
    true: Array,
    share: Array,
    *,
    warning: str = "",
    default: bool = True,
) -> Promise:
    """What is stated and what is true, given the sums of each forest; both directions count."""
    gap = (stated - true).sum() / share.sum()
    error = np.sqrt(((stated - true - gap * share) ** 2).sum()) / share.sum()
    p, found = stated.sum() / share.sum(), true.sum() / share.sum()
    return Promise(
        what,
        setting,
        float(p),
        float(found),
        int(p * (1 - p) / error**2),  # as many as give this simulation error
        at_least=bool(found <= p),
        deviation=TWO_POINTS,
        warning=warning,
        default=default,
    )

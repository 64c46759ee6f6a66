"""Rows for a target: do the answers that a learning curve gives hold the truth?

A curve states rows only where its interval is narrow, and most intervals are not. So the coverage
of all intervals says little about the answers: they are counted apart. The target is the true
accuracy at a known number of rows, a mean over training sets with the class shares of the
population (the samples of a curve have those of the table).
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.promises.record import Promise, coverage, shown
from sureleaf import learning_curve

Array = np.ndarray

LEARNERS: dict[str, Any] = {
    "nearest neighbours": KNeighborsClassifier(5),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "logistic regression": LogisticRegression(),
}
ROWS = (60, 100, 200, 800, 3200)
"""Rows at which targets are reached; a table of 600 rows has 400 to train on."""


def draw(rng: np.random.Generator, population: str, n: int) -> tuple[Array, Array]:
    if population == "linear":
        y = (rng.random(n) < 0.5).astype(int)
        x = rng.normal(size=(n, 8))
        x[:, :4] += 0.6 * y[:, None]
        return x, y
    x = rng.uniform(-1, 1, size=(n, 3))  # waves: a chessboard with round edges
    is_high = np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]) > 0
    return x, (rng.random(n) < np.where(is_high, 0.9, 0.1)).astype(int)


@cache
def truths(learner: str, population: str, n_sets: int = 60) -> tuple[float, ...]:
    """Return the mean accuracy at each of the rows, which more rows never lower."""
    rng = np.random.default_rng(41)
    values = []
    for n in ROWS:
        accuracies = []
        for _ in range(n_sets if n > 400 else 3 * n_sets):
            x, y = draw(rng, population, 3 * n)
            rows = np.concatenate([np.flatnonzero(y == label)[: n // 2] for label in (0, 1)])
            at, truth = draw(rng, population, 2000)
            model = LEARNERS[learner].fit(x[rows], y[rows])
            accuracies.append((model.predict(at) == truth).mean())
        values.append(float(np.mean(accuracies)))
    return tuple(np.maximum.accumulate(values).tolist())


def answers(
    runs: int,
    learners: tuple[str, ...] = tuple(LEARNERS),
    populations: tuple[str, ...] = ("linear", "waves"),
) -> Iterator[Promise]:
    """Intervals of all curves, and of those that give an answer."""
    n_given = n_right = n_tables = held = 0
    for population in populations:
        for learner in learners:
            targets = truths(learner, population)
            for seed in range(runs):
                x, y = draw(np.random.default_rng([seed, 42]), population, 600)
                curve = learning_curve(LEARNERS[learner], x, y, random_state=seed)
                for rows, target in zip(ROWS, targets, strict=True):
                    found = curve.rows_for(target)
                    is_right = found.low <= rows <= found.high
                    held += is_right
                    n_given += found.is_known
                    n_right += is_right and found.is_known
            n_tables += runs
    pooled = f"{len(learners) * len(populations)} learners and populations, 400 training rows"
    n_asked = n_tables * len(ROWS)
    yield coverage(
        "rows for a target, learning curve: coverage of all intervals",
        f"{pooled}, targets of {ROWS[0]} to {ROWS[-1]} rows",
        held / n_asked,
        n_tables,
        default=True,
    )
    setting = f"{pooled}, {n_given} answers"
    if n_given:
        yield coverage(
            "rows for a target, learning curve: answers that hold the truth",
            setting,
            n_right / n_given,
            n_given,
            default=True,
        )
    yield shown(
        "rows for a target, learning curve: share of targets with an answer",
        setting,
        n_given / n_asked,
        n_asked,
    )


__all__ = ["answers"]

"""Stratified designs and models that favour one class: class proportions vary by sample.

The model predicts the second class above a fixed cut, so its true measures are sums of two normal
tails. Two models that favour opposite classes equally have equal measures if the classes are
equally frequent.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.quality.promises.record import Promise, coverage, false_positives
from sureleaf import compare, evaluate, learning_curve
from sureleaf.designs import KFold, RepeatedHoldout
from sureleaf.evaluation.learning_curves import Geometric

Array = np.ndarray

COST = np.array([[0.0, 1.0], [5.0, 0.0]])
FALSE_POSITIVES = {
    "10 folds": KFold(10),
    "5 folds x 3": KFold(5, repeats=3),
    "10 hold-outs": RepeatedHoldout(10),
}
COVERAGE = {
    "10 folds": KFold(10),
    "10 hold-outs": RepeatedHoldout(10),
}


class Leaning(ClassifierMixin, BaseEstimator):
    """The second class above a cut, with a probability of .9."""

    def __init__(self, cut: float = 0.0) -> None:
        self.cut = cut

    def fit(self, X: Array, y: Array) -> "Leaning":
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.where((self.cut < X) == [False, True], 0.9, 0.1)

    def predict(self, X: Array) -> Array:
        return (X[:, 0] > self.cut).astype(int)


def draw(rng: np.random.Generator, n: int, share: float) -> tuple[Array, Array]:
    """Rows of two classes, their means at -.5 and .5."""
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 1)) + y[:, None] - 0.5, y


def truths(cut: float, share: float) -> dict[str, float]:
    """Figures of the model over all rows there could be."""
    alarms, misses = (1 - share) * ndtr(-0.5 - cut), share * ndtr(cut - 0.5)
    wrong = alarms + misses
    return {
        "accuracy": 1 - wrong,
        "cost": COST[0, 1] * alarms + COST[1, 0] * misses,
        "quadratic_loss": 0.02 + 1.6 * wrong,
        "nce": -np.log(0.9) * (1 - wrong) - np.log(0.1) * wrong,
    }


def leaning(runs: int, sizes: tuple[int, ...] = (100, 400)) -> Iterator[Promise]:
    """False positives between models that lean to either side; coverage of one that leans."""
    for n in sizes:
        for name, design in FALSE_POSITIVES.items():
            found = 0
            for seed in range(runs):
                X, y = draw(np.random.default_rng(seed), n, 0.5)
                pair = [
                    evaluate(Leaning(cut), X, y, design=design, random_state=seed)
                    for cut in (-1.0, 1.0)
                ]
                found += compare(*pair).p_value <= 0.05
            yield false_positives(
                "two models that lean to opposite classes, stratified: false positives",
                f"n = {n}, {name}",
                found / runs,
                runs,
                default=True,
            )
        yield from _coverage(runs, n)


def _coverage(runs: int, n: int) -> Iterator[Promise]:
    cut, positive = 1.0, 0.3
    truth = truths(cut, positive)
    held = {(name, figure): 0 for name in (*COVERAGE, "curve") for figure in truth}
    for seed in range(runs):
        X, y = draw(np.random.default_rng(seed), n, positive)
        options = {"cost": COST, "random_state": seed}
        for name, design in COVERAGE.items():
            judged = evaluate(Leaning(cut), X, y, design=design, **options)
            for figure, value in truth.items():
                found = judged.estimate(figure)
                held[name, figure] += found.low <= value <= found.high
        for figure, value in truth.items():
            curve = learning_curve(
                Leaning(cut), X, y, schedule=Geometric(20, 100), measure=figure, **options
            )
            last = curve.estimates[-1]
            held["curve", figure] += last.low <= value <= last.high
    for (name, figure), count in held.items():
        yield coverage(
            f"{figure} of a model that leans to a class, stratified: coverage",
            f"n = {n}, {name}",
            count / runs,
            runs,
            default=True,
        )

"""Coverage of `Evaluation.estimate`, end to end: rare errors, groups, weights, one hold-out.

The learner splits one column half-way between the class means. So every true measure of a model
is an integral of normal densities, and that of the algorithm a mean over training sets.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.quality.promises.record import Promise, coverage
from sureleaf.designs import Holdout, KFold
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.evaluator import evaluate

TRAINING_SETS = 4000
HELD_OUT = "of one hold-out, this model: coverage"


class HalfWay(ClassifierMixin, BaseEstimator):
    """Predicts 1 above the middle of the class means (below, if the second mean is smaller)."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        first, second = (float(X[y == label, 0].mean()) for label in (0, 1))
        self.threshold_, self.sign_ = (first + second) / 2, 1.0 if second >= first else -1.0
        return self

    def predict_proba(self, X):
        chance = 1 / (1 + np.exp(-self.sign_ * (X[:, 0] - self.threshold_)))
        return np.column_stack([1 - chance, chance])

    def predict(self, X):
        return (self.sign_ * (X[:, 0] - self.threshold_) > 0).astype(int)


@dataclass(frozen=True)
class Population:
    """Two normal classes at a distance; rows of a group share an offset."""

    n: int
    distance: float
    share: float = 0.5
    group_size: int = 0
    offset: float = 0.0

    def draw(self, rng: np.random.Generator, n: int = 0):
        n = n or self.n
        y = rng.permutation((np.arange(n) < round(self.share * n)).astype(int))
        groups = np.arange(n) // self.group_size if self.group_size else None
        x = rng.normal(size=n) + self.distance * y
        if groups is not None:
            x += self.offset * rng.normal(size=groups[-1] + 1)[groups]
        return x[:, None], y, groups

    def positive_rates(self, model: HalfWay) -> tuple[float, float]:
        """Probabilities that the model predicts 1 for rows of the first and of the second class."""
        spread = np.hypot(1.0, self.offset)
        gaps = model.sign_ * (np.array([0.0, self.distance]) - model.threshold_) / spread
        return tuple(ndtr(gaps).tolist())

    def mean_over_training_sets(self, figure: Callable[[HalfWay], float], k: int) -> float:
        rng = np.random.default_rng([self.n, round(100 * self.distance), self.group_size])
        n = self.n - self.n // k
        models = (HalfWay().fit(*self.draw(rng, n)[:2]) for _ in range(TRAINING_SETS))
        return float(np.mean([figure(model) for model in models]))


def error(population: Population, model: HalfWay, second_weighs: float = 1.0) -> float:
    false, true = population.positive_rates(model)
    return (false + second_weighs * (1 - true)) / (1 + second_weighs)


def f_measure(population: Population, model: HalfWay) -> float:
    false, true = population.positive_rates(model)
    hits = population.share * true
    return 2 * hits / (hits + (1 - population.share) * false + population.share)


def quadratic_loss(population: Population, model: HalfWay) -> float:
    z = ndtri((np.arange(2000) + 0.5) / 2000)
    wrong = [
        model.predict_proba((z + place)[:, None])[:, 1 - label]
        for label, place in ((0, 0.0), (1, population.distance))
    ]
    return float(np.mean([2 * np.mean(chance**2) for chance in wrong]))


def auc(population: Population, model: HalfWay) -> float:
    return float(ndtr(model.sign_ * population.distance / np.sqrt(2)))


def covered(
    judge: Callable[[int], Evaluation],
    truth: Callable[[Evaluation], float],
    measure: str,
    runs: int,
    **options: str,
) -> float:
    """Share of runs whose interval holds the truth."""
    held = 0
    for run in range(runs):
        judged = judge(run)
        found = judged.estimate(measure, **options)
        held += found.low <= truth(judged) <= found.high
    return held / runs


def _draws(population: Population, design, seed: int, weigh=None):
    """Return a function that evaluates newly drawn rows, and the rows that it drew last."""
    last = {}

    def judge(run: int) -> Evaluation:
        rng = np.random.default_rng([seed, run])
        X, y, groups = population.draw(rng)
        last["rows"] = X, y
        weights = None if weigh is None else weigh(rng, y)
        return evaluate(
            HalfWay(), X, y, design=design, groups=groups, sample_weight=weights, random_state=run
        )

    return judge, last


def rare_errors(runs: int, sizes: tuple[int, ...] = (50, 200, 1000)) -> Iterator[Promise]:
    """Error rates near 0: most folds have no errors."""
    for n in sizes:
        for distance in (3.0, 4.0, 5.5):
            population = Population(n, distance)
            for repeats in (1, 5):
                count = runs if repeats == 1 else runs // 4
                truth = population.mean_over_training_sets(lambda m, p=population: error(p, m), 10)
                judge, _ = _draws(population, KFold(10, repeats=repeats), 41)
                design = "10 folds" + (f" x {repeats}" if repeats > 1 else "")
                yield coverage(
                    "error of an algorithm, rates near 0: coverage",
                    f"n = {n}, true error {truth:.4f}, {design}",
                    covered(judge, lambda _, t=truth: t, "error", count),
                    count,
                    default=True,
                )


def few_positives(runs: int) -> Iterator[Promise]:
    """F of few positive rows, from the counts of all folds together."""
    for n, share in ((200, 0.05), (200, 0.2), (1000, 0.05)):
        population = Population(n, 2.5, share)
        truth = population.mean_over_training_sets(lambda m, p=population: f_measure(p, m), 10)
        judge, _ = _draws(population, KFold(10), 42)
        yield coverage(
            "F of an algorithm, counts pooled over folds: coverage",
            f"n = {n}, {round(share * n)} positive, true F {truth:.3f}, 10 folds",
            covered(judge, lambda _, t=truth: t, "f_measure", runs),
            runs,
            default=True,
        )


def grouped(runs: int) -> Iterator[Promise]:
    """Rows of a group share an offset, and groups stay whole."""
    for n, size in ((200, 10), (600, 10), (600, 30)):
        population = Population(n, 1.5, group_size=size, offset=1.0)
        truth = population.mean_over_training_sets(lambda m, p=population: error(p, m), 10)
        judge, _ = _draws(population, KFold(10), 43)
        yield coverage(
            "error of an algorithm, rows in groups: coverage",
            f"n = {n} in groups of {size}, true error {truth:.3f}, 10 folds",
            covered(judge, lambda _, t=truth: t, "error", runs),
            runs,
            default=True,
        )
        yield coverage(
            f"error {HELD_OUT}",
            f"n = {n} in groups of {size}, {n // size // 3} groups tested",
            _held_out(population, 44, "error", error, runs // 2),
            runs // 2,
            default=True,
        )


def weighted(runs: int) -> Iterator[Promise]:
    """Weights that vary by chance, and are three times as high in the second class."""

    def weigh(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        return rng.exponential(size=len(y)) * (1 + 2 * y)

    def tripled(population: Population, model: HalfWay) -> float:
        return error(population, model, 3.0)

    for n, distance in ((100, 1.5), (500, 1.5), (500, 4.0)):
        population = Population(n, distance)
        truth = population.mean_over_training_sets(lambda m, p=population: tripled(p, m), 10)
        judge, _ = _draws(population, KFold(10), 45, weigh)
        yield coverage(
            "error of an algorithm, rows with weights: coverage",
            f"n = {n}, true error {truth:.4f}, 10 folds",
            covered(judge, lambda _, t=truth: t, "error", runs),
            runs,
            default=True,
        )
        yield coverage(
            f"error {HELD_OUT}",
            f"n = {n}, weights, mean true error {truth:.4f}, {n // 3} rows tested",
            _held_out(population, 46, "error", tripled, runs, weigh),
            runs,
            default=True,
        )


def held_out(runs: int) -> Iterator[Promise]:
    """One hold-out of a third: the measure of the model that was evaluated."""
    for n, distance in ((60, 1.0), (300, 1.0), (300, 4.0), (1500, 1.0)):
        population = Population(n, distance)
        for measure, figure, count in (
            ("error", error, runs),
            ("auc", auc, runs),
            ("quadratic_loss", quadratic_loss, runs // 2),
            ("f_measure", f_measure, runs // 2),
        ):
            if distance > 3 and measure != "error":
                continue
            few = n <= 60 and measure in ("quadratic_loss", "f_measure")
            yield coverage(
                f"{measure} {HELD_OUT}",
                f"n = {n}, distance {distance:g}, {n // 3} rows tested",
                _held_out(population, 47, measure, figure, count),
                count,
                warning="a bootstrap of 20 rows" if few else "",
                default=True,
            )


def _held_out(population, seed, measure, figure, runs, weigh=None) -> float:
    judge, last = _draws(population, Holdout(), seed, weigh)

    def truth(judged: Evaluation) -> float:
        X, y = last["rows"]
        train = np.setdiff1d(np.arange(len(y)), judged.row)
        return figure(population, HalfWay().fit(X[train], y[train]))

    return covered(judge, truth, measure, runs)

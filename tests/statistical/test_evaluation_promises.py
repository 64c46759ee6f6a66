"""What the intervals of an evaluation promise, under known truth.

The learner splits one column half-way between the class means, so that its true error is an
integral over training sets, and hundreds of its bootstraps are one array.
"""

import numpy as np
import pytest
from scipy.special import ndtr

from sureleaf import measures
from sureleaf.designs import Bootstrap, Holdout
from sureleaf.evaluation.bootstrap_errors import bootstrap_error
from sureleaf.evaluation.evaluator import evaluate
from tests.evaluation.estimators import Nearest
from tests.long_runs import runs as n_runs


def true_error(n_train: int, distance: float) -> float:
    generator = np.random.default_rng(n_train)
    ones = generator.binomial(n_train, 0.5, 200_000).clip(1, n_train - 1)
    first = generator.normal(0, 1 / np.sqrt(n_train - ones))
    second = generator.normal(distance, 1 / np.sqrt(ones))
    threshold = (first + second) / 2
    error = (ndtr(-threshold) + ndtr(threshold - distance)) / 2
    return float(np.where(second > first, error, 1 - error).mean())


def sample(generator: np.random.Generator, n: int, distance: float):
    labels = (np.arange(n) % 2).astype(int)
    return generator.normal(size=(n, 1)) + distance * labels[:, None], labels


def shortfall(hits: int, runs: int) -> float:
    """How far coverage may fall below .95 by chance: four standard errors."""
    return 4 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize(("n", "distance"), [(20, 3.0), (40, 0.0), (60, 1.0)])
def test_the_bootstraps_interval_covers_the_algorithms_error(n: int, distance: float) -> None:
    generator, runs = np.random.default_rng(n), n_runs(60)
    truth, hits = true_error(n, distance), 0
    for seed in range(runs):
        X, y = sample(generator, n, distance)
        found = evaluate(Nearest(), X, y, design=Bootstrap(50), random_state=seed)
        interval = found.estimate("error")
        hits += interval.low <= truth <= interval.high
    assert hits / runs >= 0.95 - shortfall(hits, runs)


@pytest.mark.parametrize("measure", ["accuracy", "auc", "quadratic_loss", "f_measure"])
def test_the_hold_outs_interval_covers_the_figure_of_that_very_model(measure: str) -> None:
    generator, runs, hits = np.random.default_rng(5), n_runs(100), 0
    X_new, y_new = sample(generator, 10_000, 1.0)
    for seed in range(runs):
        X, y = sample(generator, 300, 1.0)
        judged = evaluate(Nearest(), X, y, design=Holdout(), random_state=seed)
        interval = judged.estimate(measure)
        train = np.setdiff1d(np.arange(300), judged.row)
        model = Nearest().fit(X[train], y[train])
        function = getattr(measures, measure)
        table = measure in ("auc", "quadratic_loss")
        said = model.predict_proba(X_new) if table else model.predict(X_new)
        truth = function(y_new, said)  # of 10,000 rows: a tenth of the half-width of 100
        hits += interval.low <= truth <= interval.high
    # BCa limits of 100 rows are a little short, two points at most (Efron and Tibshirani 1993)
    slack = 0.02 if measure in ("quadratic_loss", "f_measure") else 0.01
    assert hits / runs >= 0.95 - slack - shortfall(hits, runs)


def test_632_plus_is_nearer_the_truth_than_its_parts_on_average() -> None:
    generator, runs, n = np.random.default_rng(1), 40, 40
    truth = true_error(n, 1.0)
    found = {"training": [], "leave_one_out": [], "e632_plus": []}
    for seed in range(runs):
        X, y = sample(generator, n, 1.0)
        estimates = bootstrap_error(Nearest(), X, y, n_bootstraps=50, random_state=seed)
        for name, values in found.items():
            values.append(getattr(estimates, name))
    bias = {name: np.mean(values) - truth for name, values in found.items()}
    error = np.std(found["e632_plus"]) / np.sqrt(runs)
    assert abs(bias["e632_plus"]) < 4 * error
    assert bias["training"] < bias["e632_plus"] < bias["leave_one_out"]


def test_a_stop_rule_is_not_fooled_into_missing_a_gain() -> None:
    """While the true gain is above the one asked for, stopping is wrong: at most 2.5 % do."""
    from sureleaf.evaluation.learning_curves import NotWorthwhile

    generator, runs = np.random.default_rng(2), 400
    stops = 0
    for _ in range(runs):
        gains = generator.normal(0.02, 0.03, 10)
        stops += NotWorthwhile(0.02).reason(np.zeros(10), gains, 0.5) is not None
    assert stops / runs <= 0.025 + 4 * np.sqrt(0.025 * 0.975 / runs)

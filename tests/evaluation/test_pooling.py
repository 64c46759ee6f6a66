"""Ratios of counts over splits, against scikit-learn on all rows and a jackknife by hand."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.naive_bayes import GaussianNB

from sureleaf.comparison import compare
from sureleaf.designs import KFold, RepeatedHoldout
from sureleaf.evaluation import evaluate
from sureleaf.evaluation.intervals import corrected_resampled
from tests.evaluation.estimators import Nearest

ORACLES = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f_measure": metrics.f1_score,
    "kappa": metrics.cohen_kappa_score,
    "matthews": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
}


def rare(generator: np.random.Generator, n: int, n_positive: int, distance: float):
    y = (np.arange(n) < n_positive).astype(int)
    return generator.normal(size=(n, 1)) + distance * y[:, None], y


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(
    "design",
    [
        KFold(10, stratified=False),
        KFold(5, repeats=3, stratified=False),
        RepeatedHoldout(8, stratified=False),
    ],
)
def test_the_figure_is_that_of_all_predictions_together(name: str, design) -> None:
    X, y = rare(np.random.default_rng(3), 150, 20, 1.5)
    weights = np.random.default_rng(4).uniform(0.5, 2, 150)
    judged = evaluate(Nearest(), X, y, design=design, sample_weight=weights, random_state=0)
    found, oracle = judged.predictions, ORACLES[name]
    mass, split = weights[found.row], found.split

    def of(rows: np.ndarray) -> float:
        return oracle(found.truth[rows], found.prediction[rows], sample_weight=mass[rows])

    whole = of(split >= 0)
    estimate = judged.estimate(name)
    assert estimate.value == pytest.approx(whole)
    numbers = np.unique(split)
    pseudo = [len(numbers) * whole - (len(numbers) - 1) * of(split != i) for i in numbers]
    spread = corrected_resampled(pseudo, test_to_train=judged.test_to_train)
    assert estimate.high - whole >= min(spread.high - spread.value, 1 - whole) - 1e-12
    if name not in ("precision", "recall"):  # these are never shorter than Wilson's
        assert estimate.high - whole == pytest.approx(
            min(spread.high - spread.value, 1 - whole), abs=1e-12
        )


def test_f_of_few_positive_rows_is_not_biased_as_its_mean_over_folds_is() -> None:
    generator, runs = np.random.default_rng(8), 60
    X_new, y_new = rare(generator, 20_000, 1_000, 2.5)
    truth = np.mean(
        [
            metrics.f1_score(y_new, GaussianNB().fit(*rows).predict(X_new))
            for rows in (rare(generator, 180, 9, 2.5) for _ in range(150))
        ]
    )
    found, means, hits = [], [], 0
    for seed in range(runs):
        judged = evaluate(GaussianNB(), *rare(generator, 200, 10, 2.5), random_state=seed)
        interval = judged.estimate("f_measure")
        found.append(interval.value)
        means.append(np.nanmean(judged.split_values("f_measure")))
        hits += interval.low <= truth <= interval.high
    error = np.std(found) / np.sqrt(runs)
    assert abs(np.mean(found) - truth) < 3 * error
    assert np.mean(means) < truth - 3 * error
    assert hits / runs > 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


def test_a_rare_class_that_is_never_found_leaves_its_figures_open() -> None:
    X, y = np.zeros((200, 1)), (np.arange(200) < 10).astype(int)
    X[10] = 1.0  # one false alarm, so that figures vary a little
    judged = evaluate(AlarmAt(), X, y, random_state=0)
    for name in ("f_measure", "kappa", "matthews", "balanced_accuracy"):
        interval = judged.estimate(name)
        assert interval.high - interval.value >= 0.27, name  # Wilson's bound of 0 in 10
        assert "0 in 10 rows" in interval.method


class AlarmAt(Nearest):
    """Says 1 wherever the column is 1."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_a_comparison_takes_the_difference_of_the_same_figures() -> None:
    X, y = rare(np.random.default_rng(1), 200, 20, 1.5)
    a, b = (evaluate(model, X, y, random_state=0) for model in (Nearest(), GaussianNB()))
    for name in ORACLES:
        found = compare(a, b, measure=name)
        expected = [judged.estimate(name).value for judged in (a, b)]
        assert found.values == pytest.approx(tuple(expected))
        assert found.difference == pytest.approx(expected[0] - expected[1])
        assert found.low < found.difference < found.high

"""Stratified splits all have the table's class shares; the table is a sample all the same."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from sureleaf import evaluate
from sureleaf.designs import KFold, LeaveOneOut
from sureleaf.evaluation.measures.named import NAMED
from sureleaf.evaluation.valid_intervals import prevalence_slopes, variance_of_rows
from tests.evaluation.estimators import Nearest

GENERATOR = np.random.default_rng(7)
Y = GENERATOR.choice(3, 150, p=[0.5, 0.3, 0.2])
X = GENERATOR.normal(size=(150, 2)) + Y[:, None]
WEIGHTS = GENERATOR.uniform(0.5, 2.0, 150)
COST = [[0, 1, 2], [4, 0, 1], [9, 1, 0]]


def judged(design=KFold(5), **options):  # noqa: B008
    return evaluate(Nearest(), X, Y, design=design, cost=COST, random_state=3, **options)


def said(constant: int):
    return DummyClassifier(strategy="constant", constant=constant)


@pytest.mark.parametrize("name", ["accuracy", "error", "nce", "quadratic_loss", "cost"])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_a_mean_gains_by_how_far_the_class_is_from_all(name: str, weights) -> None:
    found = judged(sample_weight=weights)
    rows, values = found.row_values(name)
    mass = np.ones(150) if weights is None else weights
    assert rows.tolist() == list(range(150))
    whole = np.average(values, weights=mass)
    slopes = [
        np.average(values[own], weights=mass[own]) - whole for own in np.equal.outer(range(3), Y)
    ]
    assert prevalence_slopes(found, NAMED[name]) == pytest.approx(slopes, rel=1e-3)
    # The variance of a mean is that of the classes' means and that within the classes.
    between = variance_of_rows(found.truth, np.array(slopes), found.weights, found.groups)
    assert between == pytest.approx(((mass * np.array(slopes)[Y]) ** 2).sum() / mass.sum() ** 2)


def test_precision_gains_by_what_its_formula_says() -> None:
    y = (Y > 0).astype(int)
    found = evaluate(Nearest(), X, y, design=KFold(5), random_state=0)
    counts = found.confusion().counts
    alarms, hits = counts[0, 1] / counts[0].sum(), counts[1, 1] / counts[1].sum()
    p = counts[1].sum() / 150
    gain = hits * alarms * np.array([-p, 1 - p]) / (p * hits + (1 - p) * alarms) ** 2
    assert prevalence_slopes(found, NAMED["precision"]) == pytest.approx(gain, rel=1e-3)


@pytest.mark.parametrize("name", ["auc", "recall", "specificity", "balanced_accuracy"])
def test_what_looks_at_each_class_by_itself_does_not_depend_on_shares(name: str) -> None:
    found = evaluate(Nearest(), X, (Y > 0).astype(int), design=KFold(5), random_state=0)
    assert prevalence_slopes(found, NAMED[name]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "design", [KFold(5, stratified=False), KFold(5, time_ordered=True), LeaveOneOut()]
)
def test_splits_that_are_not_stratified_hide_nothing(design) -> None:
    assert not prevalence_slopes(judged(design), NAMED["accuracy"]).any()


def test_groups_bring_their_classes_together() -> None:
    groups, slopes = np.arange(150) // 5, np.array([0.2, -0.1, -0.3])
    found = judged(groups=groups)
    sums = [slopes[Y[groups == g]].sum() for g in range(30)]
    assert variance_of_rows(found.truth, slopes, found.weights, found.groups) == pytest.approx(
        np.square(sums).sum() / 150**2
    )


def test_some_of_many_predictions_tell_the_slopes_of_all(monkeypatch) -> None:
    y = np.random.default_rng(0).choice(2, 3000, p=[0.7, 0.3])
    found = evaluate(said(0), np.zeros((3000, 1)), y, random_state=0)
    whole = prevalence_slopes(found, NAMED["accuracy"])
    monkeypatch.setattr("sureleaf.evaluation.valid_intervals.ENOUGH", 500)
    assert prevalence_slopes(found, NAMED["accuracy"]) == pytest.approx(whole, abs=0.06)

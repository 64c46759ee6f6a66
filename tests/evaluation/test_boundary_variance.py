"""The variance of a measure whose decision boundary is fitted to the table."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sureleaf.designs import KFold
from sureleaf.evaluation.boundary_variance import (
    PlausibleRange,
    fit_boundary,
    plausible_range,
    row_influences,
    variance_of_influences,
)
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.evaluation.learning_curves import learning_curve
from sureleaf.evaluation.measures.named import NAMED, Scored
from sureleaf.levels.intervals import clopper_pearson
from tests.long_runs import runs


def table(seed: int, n: int = 400, strength: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Two exchangeable columns and one more; a quarter of the rows is positive."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(2.0, size=(n, 3))
    return x, (rng.random(n) < expit(strength * (x.sum(axis=1) - 6) - 1.2)).astype(int)


def scored(probabilities: np.ndarray, seed: int = 0, weights: np.ndarray | None = None) -> Scored:
    p = np.asarray(probabilities)
    rng = np.random.default_rng(seed)
    truth = (rng.random((len(p), 1)) > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    return Scored(truth, p.argmax(axis=1), p, weights, None, p.shape[1], 1)


def two_classes(n: int, seed: int = 0) -> np.ndarray:
    p = np.random.default_rng(seed).beta(2, 3, size=n)
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("measure", ["recall", "f_measure", "kappa", "cost"])
def test_the_standard_error_is_the_spread_over_tables(measure: str) -> None:
    replicates, values, errors = runs(120), [], []
    for seed in range(replicates):
        X, y = table(seed, strength=0.4)
        judged = evaluate(
            LogisticRegression(), X, y, design=KFold(5), cost=[[0, 1], [4, 0]], random_state=seed
        )
        found = row_influences(judged, NAMED[measure])
        values.append(judged.estimate(measure).value)
        errors.append(variance_of_influences(judged, found))
    ratio = np.sqrt(np.mean(errors)) / np.std(values, ddof=1)
    assert abs(np.log(ratio)) < 4 / np.sqrt(2 * replicates)  # four errors of a log deviation


@pytest.mark.parametrize("name", ["accuracy", "recall", "f_measure", "kappa", "balanced_accuracy"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_movement_the_influence_is_the_derivative_by_the_weight(name, n_classes) -> None:
    n = 60
    p = np.random.default_rng(1).dirichlet(np.full(n_classes, 2.0), size=n)
    rows, measure = scored(p), NAMED[name]
    boundary = fit_boundary(rows, np.arange(n), n)
    fixed = replace(boundary, errors=np.zeros_like(boundary.errors)).influences(measure)
    step = 1e-6
    slopes = np.empty(n)
    for i in range(n):
        weights = np.ones(n)
        weights[i] += step
        slopes[i] = (measure.value(replace(rows, weights=weights)) - measure.value(rows)) / step
    assert fixed == pytest.approx(slopes - slopes.mean(), abs=1e-5)


def test_rows_of_a_group_are_one_draw() -> None:
    X, y = table(1)
    alone = evaluate(LogisticRegression(), X, y, design=KFold(5), random_state=0)
    grouped = replace(alone, groups=np.arange(400) // 2)
    values = row_influences(alone, NAMED["recall"])
    expected = np.square(values.reshape(-1, 2).sum(axis=1)).sum()
    assert variance_of_influences(grouped, values) == pytest.approx(expected)


def test_a_part_of_many_rows_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(2, n=3000)
    judged = evaluate(LogisticRegression(), X, y, design=KFold(3), random_state=0)
    whole = variance_of_influences(judged, row_influences(judged, NAMED["recall"]))
    monkeypatch.setattr("sureleaf.evaluation.boundary_variance.ENOUGH_ROWS", 1000)
    judged = replace(judged)
    part = row_influences(judged, NAMED["recall"])
    assert len(part) == 1000
    assert variance_of_influences(judged, part) == pytest.approx(whole, rel=0.2)


def test_a_threshold_of_costs_is_found() -> None:
    p = two_classes(300)
    rows = replace(scored(p), prediction=(p[:, 1] > 0.2).astype(int))
    boundary = fit_boundary(rows, np.arange(300), 300)
    assert expit(boundary.offsets[0]) == pytest.approx(0.2, abs=0.02)


def test_nothing_is_known_of_a_boundary_without_scores_that_explain_the_decisions() -> None:
    p = two_classes(300)
    rows, numbers = scored(p), np.arange(300)
    random = np.random.default_rng(3)
    assert fit_boundary(replace(rows, probabilities=None), numbers, 300) is None
    other = replace(rows, prediction=random.integers(2, size=300))
    assert fit_boundary(other, numbers, 300) is None
    misleading = np.where(random.random(300) < 0.5, 0.999, 0.001)
    useless = np.column_stack([1 - misleading, misleading])
    noise = replace(rows, probabilities=useless, prediction=useless.argmax(axis=1))
    assert fit_boundary(noise, numbers, 300) is None
    X, y = table(3)
    judged = evaluate(LinearSVC(), X, y, design=KFold(3), random_state=0)
    assert row_influences(judged, NAMED["recall"]) is None
    trees = evaluate(DecisionTreeClassifier(), X, y, design=KFold(3), random_state=0)
    assert row_influences(trees, NAMED["recall"]) is None  # the rows of a leaf have one score
    smooth = evaluate(LogisticRegression(), X, y, design=KFold(3), random_state=0)
    assert row_influences(smooth, NAMED["quadratic_loss"]) is None  # not a measure of decisions


@pytest.mark.parametrize("seed", [7, 25])
def test_a_recall_of_zero_is_no_more_certain_than_the_boundary(seed: int) -> None:
    """The rows alone gave .15 and .18, and a coverage of .89: the next table may find a quarter."""
    X, y = table(seed, n=120, strength=0.3)
    judged = evaluate(LogisticRegression(), X, y, design=KFold(5), random_state=0)
    found, allowed = judged.estimate("recall"), plausible_range(judged, NAMED["recall"], 0.95)
    assert found.value == 0
    assert found.high > 1.4 * clopper_pearson(0, y.sum()).high
    assert found.high == allowed.high
    assert found.low == 0


def test_the_plausible_range_does_not_depend_on_the_unit_of_the_weights() -> None:
    p, numbers = two_classes(300), np.arange(300)
    ranges = [
        fit_boundary(scored(p, weights=np.full(300, unit)), numbers, 300).plausible(
            NAMED["recall"], 0.95, None, 300
        )
        for unit in (1.0, 100.0)
    ]
    assert ranges[0].low == pytest.approx(ranges[1].low)
    assert ranges[0].high == pytest.approx(ranges[1].high)


def test_a_recalibration_that_does_not_describe_the_rows_leaves_the_interval_alone(monkeypatch):
    X, y = table(1)
    judged = evaluate(LogisticRegression(), X, y, design=KFold(5), random_state=0)
    wide, path = judged.estimate("recall"), "sureleaf.evaluation.valid_intervals.plausible_range"
    monkeypatch.setattr(path, lambda *_: PlausibleRange(0.99, 0.0, 1.0))
    apart = judged.estimate("recall")
    monkeypatch.setattr(path, lambda *_: None)
    assert apart == judged.estimate("recall")
    assert wide.low <= apart.low
    assert apart.high <= wide.high < 0.99


@pytest.mark.parametrize("how", ["over", "under"])
def test_a_boundary_of_balanced_classes_does_not_move_with_their_proportions(how: str) -> None:
    X, y = table(5)
    for resample, is_zero in ((how, True), ("none", False)):
        judged = evaluate(
            LogisticRegression(), X, y, design=KFold(5, resample=resample), random_state=0
        )
        found = row_influences(judged, NAMED["recall"])
        sums = np.bincount(y, found)
        assert (np.abs(sums) < 1e-9).all() == is_zero
        allowed = plausible_range(judged, NAMED["recall"], 0.95)
        assert allowed.low < judged.estimate("recall").value < allowed.high


def test_a_learning_curve_has_the_variance_of_the_boundary() -> None:
    X, y = table(4, strength=0.4)
    curve = learning_curve(LogisticRegression(), X, y, measure="recall", random_state=0)
    assert (curve.least > 0).all()
    without = replace(curve, least=0 * curve.least)
    for wide, short in zip(curve.estimates, without.estimates, strict=True):
        assert wide.high - wide.low >= short.high - short.low - 1e-12
    _, low, high = curve.predict([1000])
    _, lower, higher = without.predict([1000])
    assert high[0] - low[0] >= higher[0] - lower[0] - 0.02

"""Learning curves: sizes, nested samples, stop rules, intervals."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit
from sklearn.metrics import precision_score
from sklearn.naive_bayes import GaussianNB

from sureleaf.arguments import FloatArray
from sureleaf.designs import RepeatedHoldout
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import corrected_resampled
from sureleaf.evaluation.learning_curves import (
    Arithmetic,
    Geometric,
    LearningCurve,
    NoChange,
    NotWorthwhile,
    PowerLaw,
    fit_power_laws,
    learning_curve,
    nested_order,
)
from sureleaf.evaluation.measures.named import NAMED
from sureleaf.levels.intervals import clopper_pearson
from tests.evaluation.estimators import FailsOn, Nearest, WithoutProbabilities
from tests.long_runs import runs

GENERATOR = np.random.default_rng(31)
Y = GENERATOR.integers(0, 2, 300)
X = GENERATOR.normal(size=(300, 6)) + 0.4 * Y[:, None]


def test_schedules_are_those_of_the_lecture_and_end_with_all_rows() -> None:
    assert Arithmetic(10, 20).sizes(75) == [10, 30, 50, 70, 75]
    assert Arithmetic(10, 20).sizes(70) == [10, 30, 50, 70]
    assert Geometric(10, 3).sizes(100) == [10, 30, 90, 100]
    assert Geometric(2, 1.1).sizes(5) == [2, 3, 4, 5]
    assert Geometric(10, 2).sizes(10) == [10]
    with pytest.raises(InvalidArgumentError, match=r"start must be at most .* 5; got 10"):
        Geometric(10, 2).sizes(5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Geometric(10, 1.0), "factor must be at least 1.001 and finite; got 1.0"),
        (lambda: Geometric(10, math.inf), "factor must be at least 1.001 and finite; got inf"),
        (lambda: Geometric(1, 2), "start must be at least 2"),
        (lambda: Arithmetic(10, 0), "step must be at least 1"),
        (lambda: NoChange(-1), "tolerance must be at least 0"),
        (lambda: NotWorthwhile(0), "gain must be above 0"),
        (lambda: NotWorthwhile(0.1, level=95), "Did you mean 0.95"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, message) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make()


def test_every_beginning_of_the_order_has_the_classes_shares() -> None:
    classes = np.repeat([0, 1, 2], [60, 30, 10])
    order = nested_order(np.arange(100), classes, seed=0, repeat=0)
    assert sorted(order) == list(range(100))
    for size in (10, 20, 50, 90):
        counts = np.bincount(classes[order[:size]], minlength=3)
        assert (np.abs(counts - size * np.array([0.6, 0.3, 0.1])) <= 1).all()


def test_each_value_is_that_of_a_model_of_the_first_rows() -> None:
    curve = learning_curve(Nearest(), X, Y, schedule=Arithmetic(20, 90), repeats=3, random_state=8)
    assert curve.sizes.tolist() == [20, 110, 200]
    for split in RepeatedHoldout(3).splits(Y, seed=8):
        order = nested_order(split.train, Y, 8, split.repeat)
        for i, size in enumerate(curve.sizes):
            model = Nearest().fit(X[order[:size]], Y[order[:size]])
            expected = (model.predict(X[split.test]) == Y[split.test]).mean()
            assert curve.values[split.repeat, i] == expected
    found = corrected_resampled(
        curve.values[:, 1], test_to_train=0.5, hidden_variance=curve.hidden[1]
    )
    assert curve.estimates[1].low == pytest.approx(max(found.low, 0))
    assert "\n       110  0." in str(curve)


@pytest.mark.parametrize("stop", [NoChange(1.0), NotWorthwhile(gain=1.0)])
def test_a_rule_ends_the_curve_and_says_why(stop) -> None:
    curve = learning_curve(Nearest(), X, Y, schedule=Geometric(10, 2), stop=stop, random_state=0)
    assert curve.sizes.tolist() == [10, 20]
    assert curve.stopped
    assert f"Stopped at 20 of 200 rows: {curve.stopped}." in str(curve)


def test_the_statistical_rule_goes_on_while_a_gain_is_possible() -> None:
    before = np.array([0.70, 0.72, 0.71, 0.69, 0.70])
    unsure = before + np.array([0.05, -0.04, 0.03, -0.02, 0.01])
    assert NoChange(0.01).reason(before, unsure, 0.5) is not None
    assert NotWorthwhile(0.01).reason(before, unsure, 0.5) is None
    assert NotWorthwhile(0.01).reason(before, before + 0.001, 0.5) is not None
    assert NotWorthwhile(0.01).reason(before, np.full(5, np.nan), 0.5) is None


@pytest.mark.parametrize("measure", ["auc", "nce", "quadratic_loss", "error", "cost"])
def test_any_measure_has_a_curve(measure: str) -> None:
    curve = learning_curve(
        Nearest(), X, Y, measure=measure, cost=[[0, 1], [2, 0]], repeats=3, random_state=0
    )
    assert np.isfinite(curve.means).all()
    falling = curve.power_law.height <= 0
    assert falling != NAMED[measure].greater_is_better or curve.power_law.height == 0


def law_curve(noise: float, seed: int, repeats: int = 10) -> LearningCurve:
    """Repeats that share nothing, around a known law: accuracy .95 - .8 / sqrt(n)."""
    sizes = np.array([50, 100, 200, 400, 800])
    values = 0.95 - 0.8 / np.sqrt(sizes)
    values = values + np.random.default_rng(seed).normal(0, noise, (repeats, 5))
    return curve_of(sizes, values, seed)


def curve_of(sizes: np.ndarray, values: np.ndarray, seed: int = 0) -> LearningCurve:
    nothing = np.zeros(len(sizes))
    last = int(sizes[-1])
    return LearningCurve(
        NAMED["accuracy"], sizes, values, last, 0.5, 0.95, None, {}, seed, nothing, nothing
    )


def test_prediction_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    hits, n_curves = 0, runs(30)
    for seed in range(n_curves):
        _, low, high = law_curve(0.01, seed).predict([3000])
        hits += bool(low[0] <= 0.95 - 0.8 / math.sqrt(3000) <= high[0])
    # at .95 one curve in twenty is missed on average, and independent repeats less: the interval is
    # made for overlapping ones. Four standard errors of a binomial
    assert hits >= n_curves * 0.95 - 4 * math.sqrt(n_curves * 0.95 * 0.05)


def test_failed_fits_are_recorded_and_the_rest_is_averaged() -> None:
    split = next(RepeatedHoldout(4).splits(Y, seed=2))
    curve = learning_curve(FailsOn(X[split.test[0], 0]), X, Y, repeats=4, random_state=2)
    assert np.isnan(curve.values[0]).all()
    assert curve.failures[(0, 50)] == "RuntimeError: the disk is full"
    assert "repeat 0, 50 rows failed" in str(curve)
    assert np.isfinite(curve.means).all()


def test_a_rate_over_no_rows_is_left_out_not_taken_as_0() -> None:
    """A model that seldom says yes: precision where it did, against scikit-learn's."""
    y = (np.arange(300) < 15).astype(int)
    rows = np.random.default_rng(7).normal(size=(300, 1)) + 1.8 * y[:, None]
    sizes = Geometric(40, 2.3)
    curve = learning_curve(
        GaussianNB(), rows, y, measure="precision", schedule=sizes, random_state=0
    )
    expected = np.full(curve.values.shape, np.nan)
    for split in RepeatedHoldout(10).splits(y, seed=0):
        order = nested_order(split.train, y, 0, split.repeat)
        for column, size in enumerate(curve.sizes):
            said = GaussianNB().fit(rows[order[:size]], y[order[:size]]).predict(rows[split.test])
            if said.any():
                expected[split.repeat, column] = precision_score(y[split.test], said)
    assert 0 < np.isnan(expected).sum() < expected.size / 2
    np.testing.assert_allclose(curve.values, expected)
    np.testing.assert_allclose(curve.means, np.nanmean(expected, axis=0))
    assert not curve.failures


def test_a_curve_of_perfect_scores_is_not_certain() -> None:
    apart = X + 40.0 * Y[:, None]
    curve = learning_curve(Nearest(), apart, Y, repeats=3, random_state=0)
    for found in curve.estimates:
        assert (found.value, found.high) == (1.0, 1.0)
        assert found.low == pytest.approx(clopper_pearson(100, 100).low)  # a third of 300 rows


def test_no_change_looks_at_repeats_that_both_sizes_have() -> None:
    before, now = np.array([0.5, np.nan, 0.7]), np.array([0.5, 0.9, 0.7])
    assert NoChange(0.01).reason(before, now, 0.5) == "the mean changed by 0.0000, at most 0.01"
    assert NoChange(0.01).reason(before, np.full(3, np.nan), 0.5) is None


def test_a_curve_with_nothing_on_it_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="nce needs probabilities"):
        learning_curve(WithoutProbabilities(), X, Y, measure="nce", repeats=2)
    with pytest.raises(InvalidArgumentError, match="'cost' needs a cost matrix"):
        learning_curve(Nearest(), X, Y, measure="cost")
    one = learning_curve(Nearest(), X, Y, repeats=1, random_state=0)
    with pytest.raises(InvalidArgumentError, match="needs two repeats"):
        one.predict(1000)


def test_a_gain_has_the_law_as_its_value_and_a_narrower_interval_than_the_ends() -> None:
    sizes = np.array([50, 100, 200, 400, 800])
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 0.02, size=(20, 1))  # an easy test set is easy at every size
    values = 0.9 - 1.5 / sizes**0.7 + luck + rng.normal(0, 0.002, size=(20, 5))
    curve = curve_of(sizes, values)
    gain = curve.gain(800, 1600)
    before, after = curve.power_law(np.array([800.0, 1600.0]))
    assert gain.value == pytest.approx(after - before)
    assert gain.low <= gain.value <= gain.high
    _, low, high = curve.predict([1600])
    assert gain.high - gain.low < (high[0] - low[0]) / 2


def test_a_gain_cannot_lead_beyond_the_measure() -> None:
    sizes = np.array([20, 40, 80, 160])
    values = 1 - 3 / sizes + np.random.default_rng(0).normal(0, 0.03, size=(5, 4))
    curve = curve_of(sizes, values)
    assert curve.power_law(160.0) + curve.gain(160, 320).high <= 1 + 1e-12


# ---- the power law: recovered where it is true, bounded where it is not

SIZES = np.array([50, 100, 200, 400, 800])


def fit_power_law(
    y: FloatArray, w: FloatArray | None = None, *, increasing: bool = True, **ends: float
) -> PowerLaw:
    bounds = {"low": -np.inf, "high": np.inf} | ends
    weights = np.ones(len(y)) if w is None else w
    (law,) = fit_power_laws(
        SIZES[: len(y)].astype(float), y[None], weights[None], increasing=increasing, **bounds
    )
    return law


def test_the_fit_is_the_least_squares_one_of_scipy() -> None:
    generator = np.random.default_rng(0)
    y = 0.3 + 2 * SIZES**-0.6 + generator.normal(0, 0.005, 5)
    w = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    law = fit_power_law(y, w, increasing=False, low=0.0)
    best, _ = curve_fit(
        lambda n, a, b, c: a + b * n**-c, SIZES, y, p0=[0.3, 2, 0.6], sigma=1 / np.sqrt(w)
    )
    ours = (w * (law(SIZES) - y) ** 2).sum()
    theirs = (w * (best[0] + best[1] * SIZES ** -best[2] - y) ** 2).sum()
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_a_limit_outside_the_range_is_held_at_its_edge() -> None:
    law = fit_power_law(1.05 - 2 * SIZES**-0.5, high=1.0, low=0.0)
    assert law.limit == 1.0


def test_a_curve_that_goes_the_wrong_way_is_flat() -> None:
    law = fit_power_law(0.8 + 1 / SIZES)
    assert law.height == 0.0
    assert law.limit == pytest.approx(np.mean(0.8 + 1 / SIZES))


def test_two_sizes_are_too_few() -> None:
    with pytest.raises(InvalidArgumentError, match="three or more sizes; got 2"):
        fit_power_law(np.array([0.1, 0.2]))

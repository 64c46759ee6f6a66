"""Calibration: bands that hold, parts that add up, an isotonic twin."""

import numpy as np
import pytest
import statsmodels.api as statsmodels
from scipy.stats import binom, t
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sureleaf import measures
from sureleaf.designs import KFold
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.measures import calibration_line

GENERATOR = np.random.default_rng(9)
STATED = np.round(GENERATOR.random(400), 2)
HAPPENED = (GENERATOR.random(400) < STATED).astype(int)
WEIGHTS = GENERATOR.integers(0, 4, 400)


def test_bins_hold_means_rates_and_exact_binomial_bands() -> None:
    curve = measures.calibration_curve(HAPPENED, STATED, n_bins=5)
    edges = np.quantile(STATED, [0.2, 0.4, 0.6, 0.8])
    for j in range(5):
        own = np.searchsorted(edges, STATED, side="right") == j
        n, p = own.sum(), STATED[own].mean()
        assert curve.rows[j] == n
        assert curve.stated[j] == pytest.approx(p)
        assert curve.observed[j] == pytest.approx(HAPPENED[own].mean())
        assert curve.low[j] == binom.ppf(0.025, n, p) / n
        assert curve.high[j] == binom.ppf(0.975, n, p) / n


def test_equal_probabilities_share_a_bin() -> None:
    curve = measures.calibration_curve([0, 1, 0, 1], [0.5] * 4)
    assert curve.rows.tolist() == [4.0]
    assert curve.observed.tolist() == [0.5]


def test_whole_weights_are_rows_in_means_and_rates() -> None:
    stated = STATED.round(1)  # few values: each has a bin, with and without repeated rows
    weighed = measures.calibration_curve(HAPPENED, stated, n_bins=400, sample_weight=WEIGHTS)
    repeated = measures.calibration_curve(
        np.repeat(HAPPENED, WEIGHTS), np.repeat(stated, WEIGHTS), n_bins=400
    )
    np.testing.assert_allclose(weighed.stated, repeated.stated)
    np.testing.assert_allclose(weighed.observed, repeated.observed)


def test_the_calibration_error_is_the_mean_gap() -> None:
    gaps, n = 0.0, len(STATED)
    bins = np.minimum((STATED * 10).astype(int), 9)
    for j in range(10):
        own = bins == j
        gaps += own.sum() / n * abs(STATED[own].mean() - HAPPENED[own].mean())
    assert measures.expected_calibration_error(HAPPENED, STATED) == pytest.approx(gaps)


def test_many_classes_are_judged_by_the_predicted_one() -> None:
    table = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1]])
    found = measures.expected_calibration_error(["a", "b"], table, labels=["a", "b", "c"])
    assert found == pytest.approx((0.1 + 0.2) / 2)


# ---- intercept and slope ---------------------------------------------------------------------


def test_the_slope_and_the_intercept_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 400)
    happened = rng.random(400) < p**2
    weights = rng.uniform(0.5, 2, 400)
    odds = np.log(p / (1 - p))
    for w in (None, weights):
        line = calibration_line(happened, p, sample_weight=w)
        intercept, slope = line.intercept, line.slope
        fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, None], happened, w)
        assert slope.value == pytest.approx(fitted.coef_[0, 0], abs=1e-5)
        shifted = 1 / (1 + np.exp(-odds - intercept.value))
        assert np.average(shifted, weights=w) == pytest.approx(np.average(happened, weights=w))
        assert slope.low < slope.value < slope.high


@pytest.mark.parametrize(
    ("happened", "stated", "reason"),
    [
        ([1, 1, 1], [0.2, 0.5, 0.7], "the rows are of one class"),
        ([0, 1, 1], [0.2, 1.0, 0.7], "separate the classes"),
        ([0, 0, 1, 1], [0.2, 0.3, 0.7, 0.8], "separate the classes"),
    ],
)
def test_what_has_no_slope_says_why(happened, stated, reason):
    slope = calibration_line(happened, stated).slope
    assert np.isnan(slope.value)
    assert reason in slope.method


def test_a_stated_probability_of_0_or_1_counts_as_half_a_row_away():
    rng = np.random.default_rng(4)
    p = rng.uniform(0.02, 0.98, 200)
    p[:3], p[3:5] = 0.0, 1.0
    happened = rng.random(200) < p
    happened[4] = False  # stated as certain, and yet it did not happen
    moved = np.clip(p, 1 / 400, 1 - 1 / 400)
    line, twin = calibration_line(happened, p), calibration_line(happened, moved)
    for one, other in [(line.intercept, twin.intercept), (line.slope, twin.slope)]:
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
        assert one.method == (
            f"{other.method}; 5 rows have a stated probability of 0 or 1, taken as 0.0025 away "
            "from it"
        )


def test_certainty_stays_the_most_extreme_probability():
    rng = np.random.default_rng(5)
    p = np.append(rng.uniform(0.1, 0.9, 98), [1e-6, 0.0])
    happened = np.append(rng.random(98) < p[:98], [False, False])
    slope = calibration_line(happened, p).slope
    assert "taken as 1e-06 away" in slope.method
    assert np.isfinite(calibration_line(happened, np.append(p[:98], [1e-30, 1.0])).slope.value)


def test_equal_probabilities_have_an_intercept_and_no_slope():
    line = calibration_line([0, 1, 1, 1], [0.5] * 4)
    assert line.intercept.value == pytest.approx(np.log(3))
    assert "all probabilities are equal" in line.slope.method


def test_intercept_and_slope_are_those_of_statsmodels_with_the_logit_as_offset_and_column():
    rng = np.random.default_rng(6)
    table = rng.dirichlet([1, 2, 1], 300)
    truth = np.array([rng.choice(["a", "b", "c"], p=p) for p in table])
    groups = rng.integers(0, 60, 300)
    line = calibration_line(truth, table, positive="b", groups=groups)
    logit = np.log(table[:, 1] / (1 - table[:, 1]))
    outcome, ones = (truth == "b").astype(float), np.ones((300, 1))
    family = statsmodels.families.Binomial()
    by_group = {"cov_type": "cluster", "cov_kwds": {"groups": groups, "use_correction": False}}
    large = statsmodels.GLM(outcome, ones, family, offset=logit).fit(**by_group, tol=1e-12)
    whole = statsmodels.GLM(outcome, np.column_stack([logit, ones]), family)
    steep = whole.fit(**by_group, tol=1e-12)
    n = len(np.unique(groups))
    for found, expected, free in [(line.intercept, large, 1), (line.slope, steep, 2)]:
        assert found.value == pytest.approx(expected.params[0], abs=1e-7)
        error = expected.bse[0] * np.sqrt(n / (n - free))
        assert found.high - found.value == pytest.approx(t.ppf(0.975, n - free) * error)


def test_an_evaluation_has_the_line_and_the_decision_curve_of_its_predictions():
    X, y = load_breast_cancer(return_X_y=True)
    evaluation = evaluate(GaussianNB(), X, y, design=KFold(3, repeats=2), random_state=0)
    told = evaluation.predictions
    p = told.probabilities[:, 0]
    line = evaluation.calibration_line(positive=0)
    assert line == calibration_line(told.truth == 0, p, groups=told.row)
    benefit = evaluation.net_benefit([0.2], positive=0)
    assert benefit.model[0] == measures.net_benefit(told.truth == 0, p, [0.2]).model[0]

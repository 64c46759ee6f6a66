"""The band around a ROC curve holds what it says."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.metrics import roc_auc_score

from sureleaf.report.sections.quality import roc_band
from tests.long_runs import runs


def sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < 0.4 * n
    return rng.normal(size=n) + truth, truth


def test_the_band_covers_the_true_rate_at_each_point_as_often_as_it_says() -> None:
    at = np.array([0.1, 0.3, 0.6])
    true = ndtr(ndtri(at) + 1)  # two normal distributions, one standard deviation apart
    n_runs, held = runs(200), np.zeros(3)
    for run in range(n_runs):
        scores, truth = sample(150, run)
        band = roc_band(scores, truth, np.arange(150), np.ones(150), draws=150, level=0.9, seed=run)
        low = np.interp(at, band.false_positive_rate, band.low)
        high = np.interp(at, band.false_positive_rate, band.high)
        held += (low <= true) & (true <= high)
    # 0.9 less four standard errors of the runs; wider is allowed, it is never narrower than Wilson
    assert (held / n_runs > 0.9 - 4 * np.sqrt(0.9 * 0.1 / n_runs)).all()


def test_a_perfect_curve_still_has_a_band() -> None:
    truth = np.arange(20) < 8
    band = roc_band(
        truth.astype(float), truth, np.arange(20), np.ones(20), draws=50, level=0.95, seed=0
    )
    assert band.area == 1
    assert band.low[band.true_positive_rate == 1][0] < 0.8


def test_the_area_is_that_of_scikit_learn_and_400_points_are_enough() -> None:
    scores, truth = sample(5000, 0)
    weights = np.random.default_rng(1).random(5000)
    band = roc_band(scores, truth, np.arange(5000), weights, draws=5, level=0.95, seed=0)
    assert band.area == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights))
    assert len(band.false_positive_rate) <= 400
    thinned = np.trapezoid(band.true_positive_rate, band.false_positive_rate)
    assert thinned == pytest.approx(band.area, abs=0.002)


def test_rows_predicted_four_times_leave_as_much_open_as_once() -> None:
    scores, truth = sample(120, 3)
    alone = roc_band(scores, truth, np.arange(120), np.ones(120), draws=100, level=0.95, seed=0)
    copies = [np.repeat(part, 4) for part in (scores, truth, np.arange(120), np.ones(120) / 4)]
    tied = roc_band(*copies, draws=100, level=0.95, seed=0)
    np.testing.assert_allclose(tied.low, alone.low)
    np.testing.assert_allclose(tied.high, alone.high)


def test_few_scores_of_many_rows_have_the_band_of_rows_that_are_drawn_one_by_one() -> None:
    scores, truth = sample(2000, 3)
    scores = np.round(scores)  # few, so that rows of a score are drawn together
    alone = roc_band(scores, truth, np.arange(2000), np.ones(2000), draws=2000, level=0.9, seed=0)
    copies = [np.repeat(part, 2) for part in (scores, truth, np.arange(2000), np.ones(2000) / 2)]
    one_by_one = roc_band(*copies, draws=2000, level=0.9, seed=1)
    np.testing.assert_array_equal(alone.true_positive_rate, one_by_one.true_positive_rate)
    # The widest place has a standard deviation of .025. A 5 % quantile of 2,000 draws then has a
    # standard error of .025 sqrt(.05 * .95 / 2000) / .103 = .0012, the difference of two .0017.
    np.testing.assert_allclose(alone.low, one_by_one.low, atol=4 * 0.0017)
    np.testing.assert_allclose(alone.high, one_by_one.high, atol=4 * 0.0017)


def test_rows_that_come_in_groups_leave_more_open() -> None:
    scores, truth = sample(240, 3)
    groups = np.arange(240) // 20
    apart, whole = (
        roc_band(
            scores.repeat(2), truth.repeat(2), unit, np.ones(480), draws=100, level=0.95, seed=0
        )
        for unit in (np.arange(480), groups.repeat(2))
    )
    assert (whole.high - whole.low).mean() > 1.2 * (apart.high - apart.low).mean()

"""ROC, its area and average precision: against scikit-learn, all pairs, and the notes' cases."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.metrics import roc_auc_score

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.measures.ranking import (
    delong_covariance,
    delong_interval,
    delong_one_vs_rest,
    newcombe_auc,
)
from tests.naive.delong import delong_by_pairs

GENERATOR = np.random.default_rng(8)
TABLE = np.round(GENERATOR.dirichlet([1, 1, 1], 200), 2)
TABLE /= TABLE.sum(axis=1, keepdims=True)
TRUTH = np.array(["a", "b", "c"])[[GENERATOR.choice(3, p=row) for row in TABLE]]
WEIGHTS = GENERATOR.integers(0, 4, 200)


def area_by_pairs(positive, scores, weights) -> float:
    wins = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            pair = weights[i] * weights[j]
            total += pair
            wins += pair * (1.0 if scores[i] > scores[j] else 0.5 * (scores[i] == scores[j]))
    return wins / total


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_area_is_the_share_of_pairs_ranked_right(weights) -> None:
    w = np.ones(200) if weights is None else weights
    positive = TRUTH == "b"
    expected = area_by_pairs(positive, TABLE[:, 1], w)
    found = measures.auc(TRUTH, TABLE[:, 1], positive="b", sample_weight=weights)
    assert found == pytest.approx(expected)
    curve = measures.roc(TRUTH, TABLE, positive="b", sample_weight=weights)
    assert curve.area == pytest.approx(expected)


def test_one_against_the_rest_is_scikit_learns() -> None:
    expected = metrics.roc_auc_score(TRUTH, TABLE, multi_class="ovr")
    assert measures.auc(TRUTH, TABLE) == pytest.approx(expected)


def test_a_class_that_does_not_occur_is_left_out_of_the_mean() -> None:
    kept = TRUTH != "c"
    truth, table = TRUTH[kept], TABLE[kept]
    expected = np.mean([measures.auc(truth == k, table[:, j]) for j, k in enumerate("ab")])
    assert measures.auc(truth, table, labels=list("abc")) == pytest.approx(expected)


def test_the_curve_takes_scores_at_the_threshold_as_positive() -> None:
    truth, scores = np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9])
    curve = measures.roc(truth, scores)
    for t, fpr, tpr in zip(
        curve.thresholds, curve.false_positive_rate, curve.true_positive_rate, strict=True
    ):
        assert fpr == np.mean(scores[truth == 0] >= t)
        assert tpr == np.mean(scores[truth == 1] >= t)


def test_average_precision_of_tied_scores_is_scikit_learns() -> None:
    rng = np.random.default_rng(5)
    for n, n_scores in [(1, 1), (2, 1), (7, 3), (40, 6), (40, 40)]:
        truth, scores = np.arange(n) % 3 == 0, rng.integers(0, n_scores, n) / 7
        weights = np.append(1.0, rng.integers(0, 3, n - 1) * 0.37)
        for given in (None, weights):
            expected = metrics.average_precision_score(truth, scores, sample_weight=given)
            found = measures.average_precision(truth, scores, sample_weight=given)
            assert found == pytest.approx(expected, abs=1e-14)


def test_one_class_alone_cannot_be_ranked_and_says_so() -> None:
    assert math.isnan(measures.auc([1, 1], [0.2, 0.4]))
    assert math.isnan(measures.auc([0, 1], [0.2, 0.4], sample_weight=[1, 0]))
    assert math.isnan(measures.auc(["a"], [[1, 0, 0]], labels=list("abc")))
    assert math.isnan(measures.average_precision([0, 0], [0.2, 0.4]))
    with pytest.raises(InvalidArgumentError, match="all rows are negative"):
        measures.roc([0, 0], [0.2, 0.4])


def test_scores_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="row 1 is NaN"):
        measures.auc([0, 1], [0.5, np.nan])


def test_positive_rows_of_weight_0_are_none() -> None:
    truth, scores, weights = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], [1, 1, 0, 0]
    assert np.isnan(measures.average_precision(truth, scores, sample_weight=weights))
    with pytest.raises(InvalidArgumentError, match="all rows are negative"):
        measures.roc(truth, scores, sample_weight=weights)


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    positive = generator.random(60) < 0.4
    table = positive + generator.normal(size=(3, 60))
    return positive, np.round(table, 1)  # rounded: there are ties


def test_the_covariance_is_the_one_of_all_pairs(scores) -> None:
    positive, table = scores
    areas, covariance = delong_covariance(positive, table)
    expected_areas, expected = delong_by_pairs(positive, table)
    np.testing.assert_allclose(areas, expected_areas, rtol=1e-12)
    np.testing.assert_allclose(covariance, expected, rtol=1e-10)
    assert areas[0] == pytest.approx(roc_auc_score(positive, table[0]))


def test_the_interval_is_symmetric_on_the_logit_scale(scores) -> None:
    positive, table = scores
    found = delong_interval(positive, table[0])
    _, covariance = delong_by_pairs(positive, table[:1])
    half = 1.959964 * np.sqrt(covariance[0, 0]) / (found.value * (1 - found.value))
    assert found.high == pytest.approx(expit(logit(found.value) + half), rel=1e-6)
    assert found.low == pytest.approx(expit(logit(found.value) - half), rel=1e-6)


@pytest.mark.parametrize("n", [2, 5, 50, 1000])
def test_a_perfect_ranking_is_not_certain(n: int) -> None:
    positive = np.repeat([0, 1], n)
    found = delong_interval(positive, positive)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0 < found.low < 1 - 1 / (2 * n)
    worst = delong_interval(positive, 1 - positive)
    assert (worst.value, worst.low) == (0.0, 0.0)
    assert worst.high == pytest.approx(1 - found.low, abs=1e-9)


def test_constant_scores_are_a_coin_with_an_interval() -> None:
    found = delong_interval([0, 0, 1, 1, 1], np.ones(5))
    assert found.value == 0.5
    assert found.low < 0.5 < found.high


def test_newcombes_ends_solve_his_equation() -> None:
    low, high = newcombe_auc(0.8, 20, 30)
    for a in (low, high):
        shape = 1 + 24 * (1 - a) / (2 - a) + 24 * a / (1 + a)
        assert abs(0.8 - a) == pytest.approx(1.959964 * np.sqrt(a * (1 - a) * shape / 600))


def test_one_class_has_no_ranking() -> None:
    with pytest.raises(InvalidArgumentError, match="rows of both classes; got 3 positive and 0"):
        delong_interval([1, 1, 1], [0.1, 0.2, 0.3])


def test_one_against_the_rest_is_delongs_for_two_classes(scores) -> None:
    positive, table = scores
    p = expit(table[0])
    found = delong_one_vs_rest(positive.astype(int), np.column_stack([1 - p, p]))
    expected = delong_interval(positive, p)
    for end in ("value", "low", "high"):
        assert getattr(found, end) == pytest.approx(getattr(expected, end))


def test_one_against_the_rest_has_the_variance_of_the_jackknife() -> None:
    generator = np.random.default_rng(4)
    codes = generator.integers(0, 3, 300)
    table = generator.dirichlet([1, 1, 1], 300)
    table[np.arange(300), codes] += 0.5
    table /= table.sum(axis=1, keepdims=True)

    def area(rows: np.ndarray) -> float:
        return float(roc_auc_score(codes[rows], table[rows], multi_class="ovr"))

    found = delong_one_vs_rest(codes, table)
    assert found.value == pytest.approx(area(np.arange(300)))
    left_out = np.array([area(np.delete(np.arange(300), i)) for i in range(300)])
    jackknife = 299 * left_out.var()
    half = (logit(found.high) - logit(found.low)) / 2
    variance = (half / 1.959964 * found.value * (1 - found.value)) ** 2
    # both are consistent; they differ in terms of order 1/n
    assert variance == pytest.approx(jackknife, rel=0.05)


def test_one_against_the_rest_needs_two_rows_of_each_class() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got \[1, 2, 0\] rows"):
        delong_one_vs_rest([0, 1, 1], np.full((3, 3), 1 / 3))


def test_a_perfect_ranking_of_many_classes_is_not_certain() -> None:
    codes = np.repeat([0, 1, 2], [4, 5, 6])
    found = delong_one_vs_rest(codes, np.eye(3)[codes])
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(newcombe_auc(1.0, 4, 11).low)

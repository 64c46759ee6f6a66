"""ROC, its area and average precision: against scikit-learn, all pairs, and the notes' cases."""

import math

import numpy as np
import pytest
from sklearn import metrics

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError

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


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_one_against_the_rest_is_scikit_learns(average: str) -> None:
    expected = metrics.roc_auc_score(TRUTH, TABLE, multi_class="ovr", average=average)
    assert measures.auc(TRUTH, TABLE, average=average) == pytest.approx(expected)


def test_a_class_that_does_not_occur_is_left_out_of_the_mean() -> None:
    kept = TRUTH != "c"
    truth, table = TRUTH[kept], TABLE[kept]
    expected = np.mean([measures.auc(truth == k, table[:, j]) for j, k in enumerate("ab")])
    assert measures.auc(truth, table, labels=list("abc")) == pytest.approx(expected)


def test_classes_that_separate_have_area_1_and_random_labels_a_half() -> None:
    assert measures.auc([0, 0, 1, 1], [1, 2, 3, 4]) == 1.0
    labels = np.tile([0, 1], 500)
    # constant scores overlap completely
    assert measures.auc(labels, np.ones(1000)) == 0.5
    # random scores: the standard error of the area is sqrt((n + 1) / (12 (n/2)^2)) = 0.0183
    scores = np.random.default_rng(0).random(1000)
    assert abs(measures.auc(labels, scores) - 0.5) < 4 * 0.0183


def test_the_curve_takes_scores_at_the_threshold_as_positive() -> None:
    truth, scores = np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9])
    curve = measures.roc(truth, scores)
    for t, fpr, tpr in zip(
        curve.thresholds, curve.false_positive_rate, curve.true_positive_rate, strict=True
    ):
        assert fpr == np.mean(scores[truth == 0] >= t)
        assert tpr == np.mean(scores[truth == 1] >= t)


def test_average_precision_is_scikit_learns() -> None:
    expected = metrics.average_precision_score(TRUTH == "a", TABLE[:, 0], sample_weight=WEIGHTS)
    found = measures.average_precision(TRUTH, TABLE, positive="a", sample_weight=WEIGHTS)
    assert found == pytest.approx(expected)


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
    with pytest.raises(InvalidArgumentError, match="average must be one of"):
        measures.auc([0, 1], [0.5, 0.6], average="micro")


def test_scores_need_not_be_probabilities() -> None:
    assert measures.auc([0, 1, 1], [-3.0, 5.0, 2.0]) == 1.0


def test_positive_rows_of_weight_0_are_none() -> None:
    truth, scores, weights = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], [1, 1, 0, 0]
    assert np.isnan(measures.average_precision(truth, scores, sample_weight=weights))
    with pytest.raises(InvalidArgumentError, match="all rows are negative"):
        measures.roc(truth, scores, sample_weight=weights)

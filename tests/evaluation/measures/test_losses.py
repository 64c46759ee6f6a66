"""Losses of probabilities: against scikit-learn, the notes and their own identities."""

import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.tree import DecisionTreeClassifier

from sureleaf import measures
from sureleaf.designs import Holdout
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.evaluation.measures.named import find_measure

GENERATOR = np.random.default_rng(4)
TABLE = GENERATOR.dirichlet([1, 1, 1], 150)
TRUTH = np.array(["a", "b", "c"])[[GENERATOR.choice(3, p=row) for row in TABLE]]
WEIGHTS = GENERATOR.integers(0, 4, 150)

# Xu 2022, (14): the probabilities of three classes
XU = [[0.92, 0.08, 0.0], [0.05, 0.9, 0.05], [0.12, 0.03, 0.85]]


def test_nce_is_the_log_loss_of_scikit_learn_where_no_probability_is_0() -> None:
    for weights in (None, WEIGHTS):
        expected = metrics.log_loss(TRUTH, TABLE, sample_weight=weights)
        assert measures.nce(TRUTH, TABLE, sample_weight=weights) == pytest.approx(expected)


def test_a_true_class_of_probability_0_costs_infinity_and_a_weight_of_0_removes_it() -> None:
    assert measures.nce([0, 1], [[1, 0], [1, 0]]) == math.inf
    assert measures.nce([0, 1], [[1, 0], [1, 0]], sample_weight=[1, 0]) == 0.0
    assert measures.cross_entropy([0, 1], [[1, 0], [1, 0]], sample_weight=[1, 0]) == 0.0


def test_probabilities_below_the_floor_count_as_the_floor_and_the_method_says_so() -> None:
    truth, p = [0, 1, 1, 0], np.array([0.2, 0.0, 0.7, 1.0])
    told = [0.8, 0.01, 0.7, 0.01]  # of the true class
    assert measures.nce(truth, p, floor=0.01) == pytest.approx(-np.log(told).mean())
    measure = find_measure("nce(floor=0.01)")
    assert measure.name == "nce(floor=0.01)"
    X = np.tile([[0.0], [1.0], [1.0]], (20, 1))
    evaluation = evaluate(
        DecisionTreeClassifier(), X, np.tile([0, 1, 0], 20), design=Holdout(), random_state=0
    )
    estimate = evaluation.estimate(measure)
    predictions = evaluation.predictions
    expected = measures.nce(predictions.truth, predictions.probabilities, floor=0.01)
    assert estimate.value == pytest.approx(expected)
    assert "probabilities below 0.01 count as 0.01" in estimate.method
    with pytest.raises(InvalidArgumentError, match="floor must be between 0 and 1"):
        find_measure("nce(floor=1)")


def test_the_quadratic_loss_is_the_squared_distance_to_the_one_hot_truth() -> None:
    one_hot = (TRUTH[:, None] == np.array(["a", "b", "c"])).astype(float)
    expected = ((TABLE - one_hot) ** 2).sum(axis=1)
    assert measures.quadratic_loss(TRUTH, TABLE) == pytest.approx(expected.mean())
    assert measures.quadratic_loss(TRUTH, TABLE, sample_weight=WEIGHTS) == pytest.approx(
        np.average(expected, weights=WEIGHTS)
    )


def test_the_quadratic_loss_of_two_classes_is_twice_the_brier_score_and_runs_from_0_to_2() -> None:
    truth, p = TRUTH == "a", TABLE[:, 0]
    assert measures.quadratic_loss(truth, p) == pytest.approx(
        2 * metrics.brier_score_loss(truth, p)
    )
    assert measures.quadratic_loss([1], [0.0]) == 2.0
    assert measures.quadratic_loss([1], [1.0]) == 0.0


def test_the_cross_entropy_of_the_notes_is_a_sum() -> None:
    expected = -(math.log(0.92) + math.log(0.9) + math.log(0.85))
    assert measures.cross_entropy(np.eye(3), XU) == pytest.approx(expected)
    assert measures.cross_entropy([1, 2, 3], XU) == pytest.approx(expected)
    assert measures.nce([1, 2, 3], XU) == pytest.approx(expected / 3)


def test_cross_entropy_is_entropy_plus_divergence_for_soft_truth() -> None:
    soft, q = GENERATOR.dirichlet([1, 1, 1], (2, 40))
    parts = measures.cross_entropy_parts(soft, q)
    assert parts.total == pytest.approx(-(soft * np.log(q)).sum())
    assert parts.entropy == pytest.approx(-(soft * np.log(soft)).sum())
    assert parts.divergence == pytest.approx((soft * np.log(soft / q)).sum())
    assert measures.cross_entropy_parts(np.eye(3), XU).entropy == 0.0


def test_soft_truth_that_can_be_what_was_ruled_out_costs_infinity() -> None:
    assert measures.cross_entropy([[0.5, 0.5]], [[1.0, 0.0]]) == math.inf
    assert measures.cross_entropy([[1.0, 0.0]], [[1.0, 0.0]]) == 0.0


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 1.0])
def test_the_0_1_loss_counts_scores_at_the_threshold_as_positive(threshold: float) -> None:
    truth, p = np.array([0, 1, 1, 0]), np.array([0.2, 0.2, 0.5, 0.9])
    expected = np.mean((p >= threshold) != truth)
    assert measures.zero_one_loss(truth, p, threshold=threshold) == expected


def test_the_0_1_loss_of_many_classes_is_that_of_the_most_probable() -> None:
    prediction = np.array(["a", "b", "c"])[TABLE.argmax(axis=1)]
    assert measures.zero_one_loss(TRUTH, TABLE) == pytest.approx(measures.error(TRUTH, prediction))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "sum to 1 in each row; row 0"),
        ([[0.5, 0.5], [1.2, -0.2]], "at least 0 and sum to 1 in each row; row 1"),
        ([[0.5, 0.5], [np.nan, 0.5]], "must be numbers; row 1"),
        ([[0.5, 0.5], [np.inf, 0.5]], "must be numbers; row 1"),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], "labels must name the classes of the 3 columns"),
        ([[0.5, 0.5]], "truth has 2, probabilities has 1"),
    ],
)
@pytest.mark.parametrize("name", ["nce", "quadratic_loss", "zero_one_loss"])
def test_what_is_not_a_distribution_is_refused(name, table, message) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        getattr(measures, name)([0, 1], table)


def test_rounding_of_single_precision_is_forgiven() -> None:
    third = np.full((1, 3), 1 / 3, dtype=np.float32)
    assert measures.nce(["a"], third, labels=["a", "b", "c"]) == pytest.approx(math.log(3))


def test_a_fold_without_one_of_the_classes_is_measured_when_the_classes_are_named() -> None:
    assert measures.nce(["a", "a"], [[0.5, 0.5], [1, 0]], labels=["a", "b"]) == pytest.approx(
        math.log(2) / 2
    )
    assert measures.quadratic_loss([1, 1], [1.0, 1.0]) == 0.0  # 0 and 1 need no naming


def test_the_0_1_loss_of_predicted_labels_is_the_error() -> None:
    truth, prediction = ["a", "b", "b"], ["a", "a", "b"]
    assert measures.zero_one_loss(truth, prediction) == pytest.approx(1 / 3)
    assert measures.zero_one_loss([1, 2, 2], [1, 1, 2]) == pytest.approx(1 / 3)
    assert measures.zero_one_loss(truth, prediction, sample_weight=[1, 2, 1]) == 0.5

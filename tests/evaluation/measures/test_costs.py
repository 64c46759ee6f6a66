"""Costs: the lecture's models, decisions by brute force, curves at every threshold."""

import numpy as np
import pytest

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError
from tests.evaluation.measures.test_rates import M1, M2, rows_of

COST = [[-1, 100], [1, 0]]
GENERATOR = np.random.default_rng(2)


@pytest.mark.parametrize(("table", "total"), [(M1, 3910), (M2, 4255)])
def test_the_models_of_the_lecture_cost_what_it_says(table: np.ndarray, total: float) -> None:
    truth, prediction = rows_of(table, ["+", "-"])
    assert measures.cost(truth, prediction, cost=COST, labels=["+", "-"]) == total


def test_symmetric_costs_are_linear_in_accuracy() -> None:
    truth, prediction = rows_of(M1, ["+", "-"])
    for p, q in [(0.0, 1.0), (0.3, 0.7), (0.9, 0.1)]:  # the lecture's p = 1 - q, C = 5
        right, wrong = 5 * p, 5 * q
        found = measures.cost(truth, prediction, cost=[[right, wrong], [wrong, right]])
        accuracy = measures.accuracy(truth, prediction)
        assert found == pytest.approx(500 * 5 * (q - (q - p) * accuracy))
        assert found == pytest.approx(
            measures.cost_from_accuracy(accuracy, 500, right=right, wrong=wrong)
        )


def test_rows_have_the_cost_of_their_decision_and_a_weight() -> None:
    matrix = GENERATOR.random((2, 2))
    truth, prediction = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 0, 1])
    expected = matrix[truth, prediction]
    assert measures.cost(truth, prediction, cost=matrix) == pytest.approx(sum(expected))
    weights = np.arange(6)
    found = measures.cost(truth, prediction, cost=matrix, sample_weight=weights)
    assert found == pytest.approx(weights @ expected)


def test_no_decision_is_cheaper_than_the_one_taken() -> None:
    table, matrix = GENERATOR.dirichlet([1, 1, 1], 40), GENERATOR.random((3, 3))
    found = measures.decide(table, matrix, ["a", "b", "c"])
    for i in range(40):
        expected = [sum(table[i, k] * matrix[k, c] for k in range(3)) for c in range(3)]
        assert found[i] == ["a", "b", "c"][int(np.argmin(expected))]


@pytest.mark.parametrize(
    "matrix", [[[0, 1]], [[0, 1], [1, 0], [1, 1]], np.zeros((3, 2, 2)), [[0, np.inf], [1, 0]]]
)
def test_a_matrix_that_does_not_fit_is_refused(matrix) -> None:
    with pytest.raises(InvalidArgumentError, match="cost must be"):
        measures.cost([0, 1], [0, 1], cost=matrix)


@pytest.mark.parametrize("weights", [None, np.arange(80) % 4])
def test_net_benefit_counts_hits_and_false_alarms_at_each_threshold(weights) -> None:
    rng = np.random.default_rng(3)
    truth, p = rng.integers(0, 2, 80), rng.random(80).round(1)
    w = np.ones(80) if weights is None else weights
    curve = measures.net_benefit(truth, p, [0, 0.1, 0.5, 0.95], sample_weight=weights)
    for t, model, everyone in zip(curve.thresholds, curve.model, curve.treat_all, strict=True):
        for found, chosen in [(model, p >= t), (everyone, p >= 0)]:
            hits, alarms = w[chosen & (truth == 1)].sum(), w[chosen & (truth == 0)].sum()
            assert found == pytest.approx((hits - alarms * t / (1 - t)) / w.sum())
    assert len(measures.net_benefit(truth, p).thresholds) == 99


def test_a_threshold_of_1_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="from 0 to below 1"):
        measures.net_benefit([0, 1], [0.2, 0.4], [0.5, 1.0])

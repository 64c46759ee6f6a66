"""Decisions under costs against trying everything."""

import numpy as np
import pytest

from sureleaf.evaluation.measures import decide
from sureleaf.report.sections.decision import NEVER_POSITIVE, decide_binary, decide_classes
from tests.naive.decisions import best_threshold, confusion_at, cost_a_row


@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("case", range(30))
def test_the_threshold_is_that_of_trying_all(case: int, positive: int) -> None:
    rng = np.random.default_rng(case)
    score = np.unique(rng.random(rng.integers(1, 12)).round(2))
    negative = rng.integers(0, 4, len(score)).astype(float) + (case % 2) * 0.5
    positive_rows = rng.integers(0, 4, len(score)) + 0.25
    cost = rng.integers(-1, 5, (2, 2)).astype(float)
    found = decide_binary(score, negative, positive_rows, cost, positive=positive)
    scores = {"score": score.tolist(), "negative": negative, "positive": positive_rows}
    assert found.threshold == best_threshold(scores, positive, cost)
    table = confusion_at(scores, positive, found.threshold)
    assert found.cost_per_row == pytest.approx(cost_a_row(table, cost), abs=1e-12)
    np.testing.assert_allclose(found.confusion, table)


def test_free_mistakes_of_one_kind_move_the_threshold_to_the_end() -> None:
    assert decide_binary([0.2, 0.7], [3, 1], [1, 3], [[0, 0], [1, 0]], positive=1).threshold == 0
    never = decide_binary([0.2, 0.7], [3, 1], [1, 3], [[0, 1], [0, 0]], positive=1)
    assert never.threshold == NEVER_POSITIVE


def test_costs_that_do_not_care_keep_the_threshold_nearest_to_a_half() -> None:
    found = decide_binary([0.1, 0.45, 0.9], [1, 1, 1], [1, 1, 1], np.zeros((2, 2)), positive=1)
    assert found.threshold == 0.45


def test_many_classes_are_decided_as_the_library_decides() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), 300)
    truth, weight = rng.integers(0, 4, 300), rng.random(300)
    cost = rng.random((4, 4))
    found = decide_classes(truth, weight, probabilities, cost)
    chosen = decide(probabilities, cost, list(range(4)))
    table = np.zeros((4, 4))
    for row in range(300):
        table[truth[row], chosen[row]] += weight[row]
    np.testing.assert_allclose(found.confusion, table)
    assert found.cost_per_row == pytest.approx(float((weight @ cost[truth, chosen]) / weight.sum()))
    assert found.threshold is None


def test_of_equally_dear_classes_the_first_is_decided_for() -> None:
    found = decide_classes([2], [1.0], [[0.3, 0.3, 0.4]], [[0, 1, 1], [1, 0, 1], [0, 0, 0]])
    assert found.confusion[2] == [1.0, 0.0, 0.0]

"""Levels of decisions at costs against exact enumeration, and their limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureleaf import InvalidArgumentError, levels
from sureleaf.levels.decisions import (
    cost_rule,
    decision_confidence,
    decision_sample_size,
    decision_utility,
    threshold_confidence,
    threshold_utility,
)
from tests.naive import decision_levels as naive

FIVE_TO_ONE = [[0, 1], [5, 0]]
THREE = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]


def exact(cost: list[list[float]]) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in cost]


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 12, 13])
@pytest.mark.parametrize("p", ["0", "1/10", "1/6", "1/5", "1/2", "9/10", "1"])
def test_two_classes_agree_with_enumeration(n: int, p: str) -> None:
    vector = [1 - Fraction(p), Fraction(p)]
    for cost in (FIVE_TO_ONE, [[0, 3], [1, 0]], [[1, 2], [6, 1]]):
        wanted = naive.confidence(n, vector, exact(cost))
        rule = cost_rule(cost)
        given_vector = [float(v) for v in vector]
        if Fraction(p) != Fraction(cost[0][1] - cost[0][0], 1) / (
            cost[0][1] - cost[0][0] + cost[1][0] - cost[1][1]
        ):
            assert threshold_confidence(n, float(Fraction(p)), rule.threshold) == pytest.approx(
                float(wanted), abs=1e-13
            )
            assert decision_utility(n, given_vector, cost) == pytest.approx(
                float(naive.utility(n, vector, exact(cost))), abs=1e-13
            )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 9])
def test_three_classes_agree_with_enumeration(n: int) -> None:
    for p in ("1/2 3/10 1/5", "1/10 1/10 4/5", "1/3 1/3 1/3", "0 1/2 1/2"):
        vector = [Fraction(v) for v in p.split()]
        floats = [float(v) for v in vector]
        assert decision_confidence(n, floats, THREE) == pytest.approx(
            float(naive.confidence(n, vector, exact(THREE))), abs=1e-12
        )
        assert decision_utility(n, floats, THREE) == pytest.approx(
            float(naive.utility(n, vector, exact(THREE))), abs=1e-12
        )


@given(st.integers(0, 400), st.floats(0.5, 1.0))
@settings(max_examples=60, deadline=None)
def test_a_threshold_of_one_half_gives_the_equations_of_the_theory_bit_for_bit(
    n: int, p: float
) -> None:
    assert threshold_confidence(n, p, 0.5) == levels.confidence(n, p)
    assert threshold_utility(n, p, 0.5) == levels.utility(n, p)
    assert threshold_confidence(n, 1 - p, 0.5) == levels.confidence(n, max(1 - p, 1 - (1 - p)))


def test_equal_costs_of_many_classes_give_the_plurality_levels_bit_for_bit() -> None:
    equal = 7.0 * (np.ones((3, 3)) - np.eye(3))
    vectors = np.random.default_rng(0).dirichlet([1, 1, 1], size=5)
    assert (decision_confidence(25, vectors, equal) == levels.class_confidence(25, vectors)).all()
    assert (decision_utility(25, vectors, equal) == levels.class_utility(25, vectors)).all()


def test_a_leaf_far_above_the_threshold_is_certain_and_one_on_it_is_a_coin() -> None:
    threshold = cost_rule(FIVE_TO_ONE).threshold
    assert threshold == pytest.approx(1 / 6)
    assert threshold_confidence(100, 0.53, threshold) > 0.999999
    assert levels.confidence(100, 0.53) < 0.8
    assert abs(threshold_confidence(100, 0.166, threshold) - 0.5) < 0.06
    assert threshold_confidence(100, threshold, threshold) == 0.5


def test_many_rows_reach_the_limits() -> None:
    assert threshold_confidence(np.inf, 0.3, 0.2) == 1.0
    assert threshold_confidence(np.inf, 0.2, 0.2) == 0.5
    assert threshold_utility(np.inf, 0.3, 0.2) == pytest.approx(2 * 0.8 * 0.3)
    assert decision_confidence(np.inf, [0.5, 0.3, 0.2], THREE) == 1.0


def test_fractional_rows_are_interpolated() -> None:
    low, high = (threshold_confidence(n, 0.3, 0.2) for n in (9, 10))
    assert threshold_confidence(9.25, 0.3, 0.2) == pytest.approx(low + 0.25 * (high - low))


def test_draws_agree_with_the_exact_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = decision_confidence(60, [0.4, 0.3, 0.3], THREE)
    monkeypatch.setattr("sureleaf.levels.decisions._MAX_COMPOSITIONS", 1)
    assert decision_confidence(60, [0.4, 0.3, 0.3], THREE) == pytest.approx(wanted, abs=5 * 0.0016)


@pytest.mark.parametrize(("p", "threshold"), [(0.53, 1 / 6), (0.2, 1 / 6), (0.05, 0.2), (0.9, 0.7)])
def test_the_level_holds_from_the_sample_size_on_and_not_before(p: float, threshold: float) -> None:
    n = int(decision_sample_size(p, threshold, confidence=0.95))
    later = np.arange(n, 4 * n + 50)
    assert (threshold_confidence(later, p, threshold) >= 0.95).all()
    assert threshold_confidence(n - 1, p, threshold) < 0.95


def test_a_probability_on_the_threshold_never_reaches_a_level() -> None:
    assert np.isnan(decision_sample_size(0.25, 0.25))


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1]], "square matrix"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[1, 0], [1, 0]], r"cost\[0\]\[1\] is below"),
        ([[0, 0], [0, 0]], "at least one error"),
    ],
)
def test_cost_matrices_that_cannot_be_used_are_refused(cost: list, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        cost_rule(cost)


def test_probabilities_must_fit_the_cost_matrix() -> None:
    with pytest.raises(InvalidArgumentError, match="one entry per class"):
        decision_confidence(5, [0.5, 0.5], THREE)
    with pytest.raises(InvalidArgumentError, match="add up to 1"):
        decision_confidence(5, [0.5, 0.5, 0.5], THREE)
    with pytest.raises(InvalidArgumentError, match="two classes"):
        _ = cost_rule(THREE).threshold
    with pytest.raises(InvalidArgumentError, match=r"confidence must be at least 0\.5"):
        decision_sample_size(0.3, 0.2, confidence=95)

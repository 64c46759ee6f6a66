"""Levels of decisions at costs against exact enumeration, their limits and their coverage."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureleaf import InvalidArgumentError, UnreachableLevelError, levels
from sureleaf.levels.decisions import (
    cheapest_decision,
    cost_rule,
    decision_levels,
    decision_sample_size,
    decision_tie,
    decision_vectors,
    predicted_class,
)
from sureleaf.measures import decide
from tests.naive import decision_levels as naive

FIVE_TO_ONE = [[0, 1], [5, 0]]
THREE = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
SIXTH = 1 / 6


def exact(cost: list[list[float]]) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in cost]


def threshold_of(cost: list[list[int]]) -> Fraction:
    false_second = Fraction(cost[0][1] - cost[0][0])
    return false_second / (false_second + cost[1][0] - cost[1][1])


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 12, 13])
@pytest.mark.parametrize("p", ["0", "1/10", "1/6", "1/5", "1/2", "9/10", "1"])
def test_two_classes_agree_with_enumeration(n: int, p: str) -> None:
    vector = [1 - Fraction(p), Fraction(p)]
    for cost in (FIVE_TO_ONE, [[0, 3], [1, 0]], [[1, 2], [6, 1]]):
        if Fraction(p) == threshold_of(cost):  # rounding moves it to one side
            continue
        sure, useful = (f(n, vector, exact(cost)) for f in (naive.confidence, naive.utility))
        floats, cut = [float(v) for v in vector], float(threshold_of(cost))
        for given_levels in (
            (
                levels.confidence(n, float(Fraction(p)), threshold=cut),
                levels.utility(n, float(Fraction(p)), threshold=cut),
            ),
            (
                levels.class_confidence(n, floats, cost=cost),
                levels.class_utility(n, floats, cost=cost),
            ),
        ):
            assert given_levels == pytest.approx((float(sure), float(useful)), abs=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 9])
def test_three_classes_agree_with_enumeration(n: int) -> None:
    for p in ("1/2 3/10 1/5", "1/10 1/10 4/5", "1/3 1/3 1/3", "0 1/2 1/2"):
        vector = [Fraction(v) for v in p.split()]
        floats = [float(v) for v in vector]
        assert levels.class_confidence(n, floats, cost=THREE) == pytest.approx(
            float(naive.confidence(n, vector, exact(THREE))), abs=1e-12
        )
        assert levels.class_utility(n, floats, cost=THREE) == pytest.approx(
            float(naive.utility(n, vector, exact(THREE))), abs=1e-12
        )


@given(st.integers(0, 400), st.floats(0.5, 1.0))
@settings(max_examples=60)
def test_a_threshold_of_one_half_gives_the_equations_of_the_theory_bit_for_bit(n, p):
    half = np.array([0.5])  # by the general formula
    assert levels.confidence(n, p, threshold=half)[0] == levels.confidence(n, p)
    assert levels.utility(n, p, threshold=half)[0] == levels.utility(n, p)
    assert levels.confidence(n, p, threshold=0.5) == levels.confidence(n, p)
    assert levels.confidence(n, 1 - p, threshold=half)[0] == levels.confidence(n, 1 - (1 - p))


def test_equal_costs_of_many_classes_give_the_plurality_levels_bit_for_bit() -> None:
    equal = 7.0 * (np.ones((3, 3)) - np.eye(3))
    vectors = np.random.default_rng(0).dirichlet([1, 1, 1], size=5)
    for level in (levels.class_confidence, levels.class_utility):
        assert (level(25, vectors, cost=equal) == level(25, vectors)).all()


def test_many_rows_reach_the_limits() -> None:
    assert levels.confidence(np.inf, 0.3, threshold=0.2) == 1.0
    assert levels.confidence(np.inf, 0.2, threshold=0.2) == 0.5
    assert levels.utility(np.inf, 0.3, threshold=0.2) == pytest.approx(0.3)
    assert levels.utility(np.inf, 0.1, threshold=0.2) == pytest.approx(0.25 * 0.9)
    assert levels.class_confidence(np.inf, [0.5, 0.3, 0.2], cost=THREE) == 1.0


def test_draws_agree_with_the_exact_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = levels.class_confidence(60, [0.4, 0.3, 0.3], cost=THREE)
    monkeypatch.setattr("sureleaf.levels.decisions._MAX_COMPOSITIONS", 1)
    drawn = levels.class_confidence(60, [0.4, 0.3, 0.3], cost=THREE)
    assert drawn == pytest.approx(wanted, abs=5 * 0.0025)


# ---- sample sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "threshold"), [(0.53, SIXTH), (0.2, SIXTH), (0.05, 0.2), (0.9, 0.7)])
def test_the_level_holds_from_the_sample_size_on_and_not_before(p: float, threshold: float) -> None:
    n = levels.sample_size(p, confidence=0.95, threshold=threshold)
    later = np.arange(n, 4 * n + 50)
    assert (levels.confidence(later, p, threshold=threshold) >= 0.95).all()
    assert levels.confidence(n - 1, p, threshold=threshold) < 0.95


def test_a_range_is_planned_for_its_end_nearest_to_the_threshold() -> None:
    of_end = levels.sample_size(0.3, confidence=0.9, threshold=0.2)
    assert levels.sample_size((0.3, 0.9), confidence=0.9, threshold=0.2) == of_end
    with pytest.raises(UnreachableLevelError, match=r"threshold = 0\.2"):
        levels.sample_size((0.1, 0.3), confidence=0.9, threshold=0.2)
    with pytest.raises(InvalidArgumentError, match="one p_max at a time"):
        levels.sample_size((0.3, 0.9), utility=0.25, threshold=0.2)


def test_a_probability_on_the_threshold_never_reaches_a_level() -> None:
    assert np.isnan(levels.sample_size([0.25, 0.5], confidence=0.95, threshold=0.25)[0])
    with pytest.raises(UnreachableLevelError, match="further from the threshold"):
        levels.sample_size(0.25, confidence=0.95, threshold=0.25)
    assert levels.sample_size([0.0, 1.0], confidence=0.95, threshold=0.25).tolist() == [1.0, 1.0]


# ---- decisions that have been made ---------------------------------------------------------------


def test_levels_of_decisions_are_those_of_their_class_probabilities() -> None:
    rng = np.random.default_rng(0)
    for cost in (FIVE_TO_ONE, THREE):
        rule = cost_rule(cost)
        decided = rng.integers(0, len(cost), 20)
        others = rng.dirichlet(np.ones(len(cost)), 20)
        others[np.arange(20), decided] = 0.0
        others /= others.sum(axis=1, keepdims=True)
        tie = decision_tie(decided, others, rule)
        p = tie + (1 - tie) * rng.uniform(0.05, 1, 20)
        n = rng.integers(0, 30, 20).astype(float)
        sure, useful = decision_levels(n, p, decided, others, rule)
        vectors = decision_vectors(p, decided, others)
        assert sure == pytest.approx(levels.class_confidence(n, vectors, cost=cost), abs=1e-12)
        assert useful == pytest.approx(levels.class_utility(n, vectors, cost=cost), abs=1e-12)


def test_a_clear_decision_is_certain_without_listing_counts() -> None:
    others = np.array([[0.0, 0.5, 0.5]])
    sure, useful = decision_levels(
        np.array([5e6]), np.array([0.99]), np.array([0]), others, cost_rule(THREE)
    )
    saved = np.array([0.99, 0.005, 0.005]) @ cost_rule(THREE).saving[:, 0]
    assert (sure[0], useful[0]) == (1.0, pytest.approx(saved))


def test_rows_for_decisions_among_many_classes_reach_the_level_with_few_rows_too_many() -> None:
    rule = cost_rule(THREE)
    others = np.array([[0.0, 0.6, 0.4], [0.5, 0.0, 0.5], [0.3, 0.7, 0.0]])
    decided = np.arange(3)
    p = decision_tie(decided, others, rule) + np.array([0.15, 0.2, 0.1])
    needed = decision_sample_size(p, decided, others, rule, confidence=0.95, utility=0.0)
    at_needed = decision_levels(needed, p, decided, others, rule)[0]
    assert (at_needed >= 0.94).all()
    assert (decision_levels(np.floor(0.7 * needed), p, decided, others, rule)[0] < 0.95).all()
    tie = decision_tie(decided, others, rule)
    never = decision_sample_size(tie, decided, others, rule, confidence=0.95, utility=0.0)
    assert np.isnan(never).all()
    useful = decision_levels(np.full(3, np.inf), p, decided, others, rule)[1]
    none = decision_sample_size(
        p, decided, others, rule, confidence=0.0, utility=useful.max() + 0.1
    )
    assert np.isnan(none).all()


def test_at_the_tie_of_a_decision_another_one_costs_the_same() -> None:
    rule = cost_rule(THREE)
    others = np.array([[0.0, 0.7, 0.3], [0.4, 0.0, 0.6]])
    decided = np.array([0, 1])
    tie = decision_tie(decided, others, rule)
    for node in range(2):
        p = others[node] * (1 - tie[node])
        p[decided[node]] = tie[node]
        cheapest = rule.is_cheapest(p)
        assert cheapest[decided[node]]
        assert cheapest.sum() == 2


# ---- the predicted class -------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [1, 2, 5, 26])
@pytest.mark.parametrize("n_rows", [0, 1, 64, 65, 519, 520, 521, 13_000])
def test_the_predicted_class_is_the_first_of_the_largest(n_rows: int, n_classes: int) -> None:
    table = np.random.default_rng(n_classes).integers(0, 4, (n_rows, n_classes)) / 10  # many ties
    assert predicted_class(table).tolist() == [list(line).index(max(line)) for line in table]


def test_the_decision_is_the_first_of_the_cheapest_whatever_the_unit_of_the_costs() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(1, 5, (200, 3)).astype(float)
    expected = [
        min(range(3), key=lambda k: (sum(round(p) * THREE[i][k] for i, p in enumerate(row)), k))
        for row in table
    ]
    cost, shares = np.array(THREE, dtype=float), table / table.sum(axis=1, keepdims=True)
    for unit in (1e-9, 1 / 3, 1e9):
        assert cheapest_decision(shares, unit * cost).tolist() == expected
        assert predicted_class(shares, cost_rule(unit * cost)).tolist() == expected
        assert decide(shares, unit * cost, [0, 1, 2]).tolist() == expected


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1]], "square matrix"),
        ([[0, "a"], [1, 0]], "matrix of numbers"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[0, 1e308], [1, 0]], r"at most 1e\+150.* divide all"),
        ([[1, 0], [1, 0]], r"cost\[0\]\[1\] must not be below"),
        ([[0, 0], [0, 0]], "at least one error"),
    ],
)
def test_cost_matrices_that_cannot_be_used_are_refused(cost: list, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        cost_rule(cost)


def test_probabilities_must_fit_the_cost_matrix() -> None:
    with pytest.raises(InvalidArgumentError, match="one row and one column per class, 2"):
        levels.class_confidence(5, [0.5, 0.5], cost=THREE)
    with pytest.raises(InvalidArgumentError, match="sum"):
        levels.class_confidence(5, [0.5, 0.5, 0.5], cost=THREE)
    with pytest.raises(InvalidArgumentError, match="two classes"):
        _ = cost_rule(THREE).threshold
    with pytest.raises(InvalidArgumentError, match=r"3 classes \('a', 'b', 'c'\)"):
        cost_rule(FIVE_TO_ONE, ["a", "b", "c"])
    with pytest.raises(InvalidArgumentError, match="threshold must be"):
        levels.confidence(5, 0.5, threshold=5)

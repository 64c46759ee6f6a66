"""Confidence (5) and utility (6) of one node."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import levels
from sureleaf.errors import InvalidArgumentError
from tests.naive import node_levels as naive

ROUNDING = 4e-16
"""Two values between 0.5 and 1, each within one unit in the last place (2^-53), plus the last."""

row_counts = st.integers(0, 10**9)
p_maxes = st.floats(0.5, 1.0)


@pytest.mark.parametrize("n", [*range(0, 24), 63, 64, 65, 66, 67, 68, 101, 200])
def test_levels_equal_the_definition_in_exact_fractions(n: int) -> None:
    for p in (0.5, 0.5 + 2**-40, 0.51, 0.6, 0.7, 0.85, 0.99, 1 - 2**-50, 1.0):
        assert naive.error(levels.confidence(n, p), naive.confidence(n, Fraction(p))) < 5e-16
        assert naive.error(levels.utility(n, p), naive.utility(n, Fraction(p))) < 5e-16


@pytest.mark.parametrize("n", [10**3, 10**4 + 1, 10**6, 10**8 - 1, 10**9])
@pytest.mark.parametrize("deviations", [1e-12, 1e-4, 0.1, 0.5, 1, 2, 3, 5, 8])
def test_levels_of_many_rows_are_within_1e_15(n: int, deviations: float) -> None:
    p = min(1.0, 0.5 + deviations * 0.5 / n**0.5)
    assert naive.error(levels.confidence(n, p), naive.confidence_of_many(n, p)) < 1e-15


@pytest.mark.parametrize("p", [0.5 + 2**-53, 0.5 + 1e-12, 0.5001, 0.75, 1 - 2**-53])
def test_levels_at_the_ends_of_the_range_are_within_1e_15(p: float) -> None:
    for n in (1, 2, 64, 65, 66, 10**5, 10**9):
        assert naive.error(levels.confidence(n, p), naive.confidence_of_many(n, p)) < 1e-15


def test_example_2_of_the_paper() -> None:
    p = np.array([5 / 7, 2 / 3, 0.7])
    np.testing.assert_allclose(levels.confidence(7, p), [0.8917, 0.8267, 0.8740], atol=5e-5)
    np.testing.assert_allclose(levels.utility(7, p), [0.6679, 0.6089, 0.6496], atol=5e-5)


@given(st.integers(1, 10**9), p_maxes)
def test_an_even_number_of_rows_is_worth_one_row_less(half: int, p: float) -> None:
    assert levels.confidence(2 * half, p) == levels.confidence(2 * half - 1, p)


def test_a_node_without_rows_is_a_coin() -> None:
    assert levels.confidence(0, [0.5, 0.7, 1.0]).tolist() == [0.5, 0.5, 0.5]
    assert levels.utility(0, [0.5, 0.7, 1.0]).tolist() == [0.5, 0.5, 0.5]


@given(row_counts)
def test_the_ends_of_p_max_are_exact(n: int) -> None:
    assert levels.confidence(n, 0.5) == levels.utility(n, 0.5) == 0.5
    assert levels.confidence(n + 1, 1.0) == levels.utility(n + 1, 1.0) == 1.0


@given(row_counts, p_maxes)
def test_fact_1_the_levels_tend_to_one_and_to_p_max(n: int, p: float) -> None:
    missed = np.exp(-n * (2 * p - 1) ** 2 / 2)  # Hoeffding's bound of P(Y <= n / 2)
    assert levels.confidence(n, p) >= 1 - missed - ROUNDING
    assert p >= levels.utility(n, p) >= p - (2 * p - 1) * missed - ROUNDING
    limit = 1.0 if p > 0.5 else 0.5
    assert levels.confidence(np.inf, p) == limit
    assert levels.utility(np.inf, p) == p


@given(row_counts, p_maxes, p_maxes)
def test_facts_3_and_4_the_levels_increase_in_p_max(n: int, p: float, other: float) -> None:
    low, high = sorted((p, other))
    assert levels.confidence(n, low) <= levels.confidence(n, high) + ROUNDING
    assert levels.utility(n, low) <= levels.utility(n, high) + ROUNDING


@pytest.mark.parametrize("n", [1, 2, 9, 64, 65, 66, 67, 300])
def test_facts_3_and_4_hold_strictly_between_distinct_p_max(n: int) -> None:
    p = np.linspace(0.5, 0.5 + 2 / np.sqrt(n + 16), 50)
    assert (np.diff(levels.confidence(n, p)) > 0).all()
    assert (np.diff(levels.utility(n, p)) > 0).all()


@given(st.floats(0, 300), st.floats(0, 300), p_maxes)
def test_levels_never_fall_as_rows_are_added(n: float, other: float, p: float) -> None:
    low, high = sorted((n, other))
    assert levels.confidence(low, p) <= levels.confidence(high, p) + ROUNDING


@given(st.integers(0, 10**6), st.floats(0, 1), p_maxes)
def test_fractional_rows_are_interpolated_linearly(whole: int, part: float, p: float) -> None:
    n = whole + part
    part = n - whole  # what is left of the fraction
    for level in (levels.confidence, levels.utility):
        expected = (1 - part) * level(whole, p) + part * level(whole + 1, p)
        assert level(n, p) == pytest.approx(expected, abs=1e-15)


def test_huge_numbers_of_rows_cost_nothing() -> None:
    n = np.array([1e12, 1e18, 1e300])
    assert levels.confidence(n, 0.6).tolist() == [1.0, 1.0, 1.0]
    assert levels.confidence(n, 0.5).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("level", [levels.confidence, levels.utility])
def test_arguments_broadcast_and_scalars_give_floats(level) -> None:
    table = level(np.arange(1, 4)[:, None], [0.6, 0.7])
    assert table.shape == (3, 2)
    assert table[2, 1] == level(3, 0.7)
    assert type(level(3, 0.7)) is float
    assert type(level(np.int64(3), np.array(0.7))) is float
    assert level([], 0.7).shape == (0,)
    assert level(np.ones((2, 0)), np.ones(0)).shape == (2, 0)


@pytest.mark.parametrize("level", [levels.confidence, levels.utility])
@pytest.mark.parametrize(
    ("n", "p", "message"),
    [
        (-1, 0.6, r"n must be a number of rows, 0 or more; got -1\.0\."),
        (float("nan"), 0.6, "n must be .* got nan"),
        (float("-inf"), 0.6, "n must be .* got -inf"),
        (10, 0.4999, "p_max must be from 0.5 to 1; got 0.4999"),
        (10, 1.0001, "p_max must be from 0.5 to 1; got 1.0001"),
        (10, float("nan"), "p_max must be .* got nan"),
        ([1, 2], 0.4, "p_max must be .* got 0.4"),
        ([1, 2], [0.6, 0.7, 0.8], r"got n \(2,\), p_max \(3,\)"),
    ],
)
def test_bad_scalars_raise_and_are_named(level, n, p, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        level(n, p)


@pytest.mark.parametrize("level", [levels.confidence, levels.utility])
def test_one_bad_element_is_nan_and_leaves_the_others_alone(level) -> None:
    nan = float("nan")
    found = level([5, -1, nan, 5, 5, 5], [0.6, 0.6, 0.6, nan, 0.4, 2.0])
    assert np.isnan(found).tolist() == [False, True, True, True, True, True]
    assert found[0] == level(5, 0.6)

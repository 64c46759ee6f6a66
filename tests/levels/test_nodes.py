"""Confidence (5) and utility (6) of one node."""

import functools
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
    for p in (min(1.0, 0.5 + deviations * 0.5 / n**0.5), 0.5 + 2**-53, 0.5001, 0.75, 1 - 2**-53):
        assert naive.error(levels.confidence(n, p), naive.confidence_of_many(n, p)) < 1e-15


@given(st.integers(1, 10**9), p_maxes)
def test_an_even_number_of_rows_is_worth_one_row_less(half: int, p: float) -> None:
    assert levels.confidence(2 * half, p) == levels.confidence(2 * half - 1, p)


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


@pytest.mark.parametrize("empty", ["coin", "miss"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 21])
def test_nodes_equal_the_definition_in_exact_fractions(n: int, empty: str) -> None:
    for share in (2.0**-30, 0.1, 0.5, 0.9, 1 - 2**-50, 1.0):
        for p in (0.5, 0.5 + 2**-40, 0.6, 0.95, 1 - 2**-53, 1.0):
            exact = naive.node_confidence(n, Fraction(share), Fraction(p), empty=empty)
            found = levels.node_confidence(n, share, p, empty=empty)
            assert naive.error(found, exact) < 1e-15
            right = Fraction(p) * exact + (1 - Fraction(p)) * (1 - exact)
            assert naive.error(levels.node_utility(n, share, p, empty=empty), right) < 1e-15


@pytest.mark.parametrize(
    ("n", "share", "p"),
    [
        (300, 0.2, 0.6),
        (10**4, 0.001, 0.7),
        (10**4, 0.5, 0.51),
        (10**6, 1e-6, 0.9),
        (10**6, 0.3, 0.5005),
        (10**6, 0.999999, 0.5003),
        (10**6, 0.5, 0.5 + 1e-12),
        (39_000_000, 0.5, 0.5001),  # variance just below what one walk covers
        (41_000_000, 0.5, 0.5001),  # and just above
        (10**9, 1e-9, 0.9),
        (10**9, 1e-9, 1.0),
        (10**9, 1e-7, 0.55),
        (10**9, 1e-4, 0.501),
        pytest.param(10**9, 0.02, 0.5 + 1e-4, marks=pytest.mark.slow),
        (10**9, 1 - 1e-9, 0.5 + 1e-5),
        pytest.param(10**9, 0.99, 0.5 + 1e-5, marks=pytest.mark.slow),
    ],
)
def test_nodes_of_many_rows_are_within_1e_12(n: int, share: float, p: float) -> None:
    truth = naive.node_confidence_of_many(n, share, p)
    assert naive.error(levels.node_confidence(n, share, p, empty="coin"), truth) < 1e-12


@pytest.mark.parametrize(
    ("shares", "p_max", "confidence", "utility"),
    [
        ([5, 4, 5], [3 / 5, 1, 3 / 5], 0.7617, 0.6646),  # Outlook
        ([4, 6, 4], [1 / 2, 4 / 6, 3 / 4], 0.7224, 0.5908),  # Temp
        ([7, 7], [4 / 7, 6 / 7], 0.8145, 0.6828),  # Humidity
        ([8, 6], [6 / 8, 1 / 2], 0.7461, 0.6231),  # Windy
    ],
)
def test_example_3_by_equation_9(shares, p_max, confidence: float, utility: float) -> None:
    found = levels.tree_levels(14, np.array(shares) / 14, p_max)
    assert found.confidence == pytest.approx(confidence, abs=5e-5)
    assert found.utility == pytest.approx(utility, abs=5e-5)


@given(st.integers(0, 10**9), st.floats(0.5, 1))
def test_a_node_that_gets_no_rows_guesses_or_misses(n: int, p: float) -> None:
    assert levels.node_confidence(n, 0.0, p, empty="coin") == 0.5
    assert levels.node_confidence(n, 0.0, p) == 0.0
    assert levels.node_utility(n, 0.0, p, empty="coin") == pytest.approx(0.5, abs=1e-16)
    # (6) on (9) as printed: surely not the majority class, so the minority class
    assert levels.node_utility(n, 0.0, p) == pytest.approx(1 - p, abs=1e-16)


@given(st.floats(0, 500), st.floats(0, 1), st.floats(0.5, 1))
def test_fractional_rows_are_interpolated_linearly_tree(n: float, share: float, p: float) -> None:
    whole = np.floor(n)
    for empty in ("coin", "miss"):
        low, high = levels.node_confidence([whole, whole + 1], share, p, empty=empty)
        expected = low + (n - whole) * (high - low)
        found = levels.node_confidence(n, share, p, empty=empty)
        assert found == pytest.approx(expected, abs=1e-15)


@given(st.integers(0, 3000), st.floats(0, 1), st.floats(0, 1), st.floats(0.5, 1), st.floats(0.5, 1))
def test_facts_3_and_4_hold_for_nodes_and_a_larger_share_helps(n, share, other_share, p, other_p):
    (low, high), (small, large) = sorted((p, other_p)), sorted((share, other_share))
    confidence = functools.partial(levels.node_confidence, empty="coin")
    utility = functools.partial(levels.node_utility, empty="coin")
    rounding = 1e-14
    assert confidence(n, share, low) <= confidence(n, share, high) + rounding
    assert utility(n, share, low) <= utility(n, share, high) + rounding
    for sure in (confidence, levels.node_confidence):
        assert sure(n, small, p) <= sure(n, large, p) + rounding


def test_infinite_and_huge_numbers_of_rows_give_the_limit() -> None:
    n = np.array([1e12, 1e18, 1e300, np.inf])
    assert levels.node_confidence(n, 0.5, 0.6).tolist() == [1.0] * 4
    assert levels.node_confidence(np.inf, [0.0, 0.5, 1.0], 0.6).tolist() == [0.0, 1.0, 1.0]
    assert levels.node_confidence(np.inf, 0.0, 0.6, empty="coin") == 0.5
    assert levels.tree_levels(np.inf, [0.75, 0.25], [0.6, 0.9]) == (1.0, pytest.approx(0.675))


def test_a_tree_is_the_share_weighted_sum_of_its_nodes() -> None:
    shares, p = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.9, 0.7])
    for empty in ("coin", "miss"):
        tree = levels.tree_levels(40, shares, p, empty=empty)
        nodes = levels.node_confidence(40, shares, p, empty=empty)
        right = levels.node_utility(40, shares, p, empty=empty)
        assert tree.confidence == pytest.approx((shares * nodes).sum(), abs=1e-15)
        assert tree.utility == pytest.approx((shares * right).sum(), abs=1e-15)


def test_trees_broadcast_over_all_but_the_last_axis() -> None:
    n = np.array([[10], [20], [40]])
    shares = np.array([[0.5, 0.5], [0.9, 0.1]])
    found = levels.tree_levels(n, shares, [0.6, 0.8])
    assert found.confidence.shape == found.utility.shape == (3, 2)
    one = levels.tree_levels(20, [0.9, 0.1], [0.6, 0.8])
    assert (found.confidence[1, 1], found.utility[1, 1]) == one
    assert type(one.confidence) is type(one.utility) is float
    assert levels.tree_levels([], [0.5, 0.5], 0.6).confidence.shape == (0,)


@pytest.mark.parametrize(
    ("n", "shares", "p", "message"),
    [
        (10, [0.5, 0.4], 0.6, r"shares must be 0 or more and add up to 1; got .* with sum 0\.9"),
        (10, [1.5, -0.5], 0.6, "shares must be"),
        (10, [], 0.6, "shares must have a last axis"),
        (10, 0.5, 0.6, "shares must have a last axis"),
        (10, [0.5, 0.5], [0.6, 0.4], "p_max must be from 0.5 to 1; got 0.4"),
        (10, [0.5, 0.5], [0.6, 0.7, 0.8], "shapes must broadcast"),
        (10, [1.0], [0.6, 0.7], "p_max must have one value for each of the 1 shares"),
        (-1, [0.5, 0.5], 0.6, r"n must be a number of rows, 0 or more; got -1\.0"),
        (float("nan"), [0.5, 0.5], 0.6, "n must be"),
    ],
)
def test_bad_trees_raise_and_are_named(n, shares, p, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        levels.tree_levels(n, shares, p)


@pytest.mark.parametrize("level", [levels.node_confidence, levels.node_utility])
def test_bad_nodes_raise_as_scalars_and_are_nan_in_arrays(level) -> None:
    for bad in ((-1, 0.5, 0.6), (10, 1.5, 0.6), (10, -0.1, 0.6), (10, 0.5, 0.4), (10, np.nan, 0.6)):
        with pytest.raises(InvalidArgumentError):
            level(*bad)
        both = level(*np.transpose([bad, (10, 0.5, 0.6)]))
        assert np.isnan(both[0])
        assert both[1] == level(10, 0.5, 0.6)
    assert level([], 0.5, 0.6).shape == (0,)


def test_an_unknown_convention_for_empty_nodes_is_named() -> None:
    for call in (levels.node_confidence, levels.node_utility):
        with pytest.raises(InvalidArgumentError, match="empty must be 'coin' or 'miss'; got 'x'"):
            call(10, 0.5, 0.6, empty="x")

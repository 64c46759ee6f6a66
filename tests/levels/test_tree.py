"""Levels of nodes that share rows at random, (9), and of trees, (10) and (11)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import levels
from sureleaf.errors import InvalidArgumentError
from tests.naive import node_levels as naive


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
        (10**9, 0.02, 0.5 + 1e-4),
        (10**9, 1 - 1e-9, 0.5 + 1e-5),
        (10**9, 0.99, 0.5 + 1e-5),
    ],
)
def test_nodes_of_many_rows_are_within_1e_12(n: int, share: float, p: float) -> None:
    truth = naive.node_confidence_of_many(n, share, p)
    assert naive.error(levels.node_confidence(n, share, p), truth) < 1e-12


def test_figures_of_the_theory_for_one_node() -> None:
    assert levels.node_confidence(5, 0.5, 0.6, empty="miss") == pytest.approx(0.606330, abs=5e-7)
    assert levels.node_confidence(100, 0.5, 0.6) == pytest.approx(0.922662, abs=5e-7)


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
    found = levels.tree_levels(14, np.array(shares) / 14, p_max, empty="miss")
    assert found.confidence == pytest.approx(confidence, abs=5e-5)
    assert found.utility == pytest.approx(utility, abs=5e-5)


@given(st.integers(0, 10**9), st.floats(0.5, 1))
def test_a_node_that_gets_all_rows_is_a_node_alone(n: int, p: float) -> None:
    assert levels.node_confidence(n, 1.0, p) == levels.confidence(n, p)


@given(st.integers(0, 10**9), st.floats(0.5, 1))
def test_a_node_that_gets_no_rows_guesses_or_misses(n: int, p: float) -> None:
    assert levels.node_confidence(n, 0.0, p) == 0.5
    assert levels.node_confidence(n, 0.0, p, empty="miss") == 0.0
    assert levels.node_utility(n, 0.0, p) == pytest.approx(0.5, abs=1e-16)
    # (6) on (9) as printed: surely not the majority class, so the minority class
    assert levels.node_utility(n, 0.0, p, empty="miss") == pytest.approx(1 - p, abs=1e-16)


@given(st.integers(0, 3000), st.floats(1e-9, 1), st.floats(0.5, 1))
def test_the_conventions_differ_by_half_the_chance_of_an_empty_node(
    n: int, share: float, p: float
) -> None:
    coin = levels.node_confidence(n, share, p)
    miss = levels.node_confidence(n, share, p, empty="miss")
    empty = 1.0 if n == 0 else np.exp(n * np.log1p(-share)) if share < 1 else 0.0
    assert coin - miss == pytest.approx(empty / 2, abs=1e-15)


@given(st.floats(0, 500), st.floats(0, 1), st.floats(0.5, 1))
def test_fractional_rows_are_interpolated_linearly(n: float, share: float, p: float) -> None:
    whole = np.floor(n)
    for empty in ("coin", "miss"):
        low, high = levels.node_confidence([whole, whole + 1], share, p, empty=empty)
        expected = low + (n - whole) * (high - low)
        found = levels.node_confidence(n, share, p, empty=empty)
        assert found == pytest.approx(expected, abs=1e-15)


@given(st.integers(0, 3000), st.floats(0, 1), st.floats(0, 1), st.floats(0.5, 1), st.floats(0.5, 1))
def test_facts_3_and_4_hold_for_nodes_and_a_larger_share_helps(
    n: int, share: float, other_share: float, p: float, other_p: float
) -> None:
    (low, high), (small, large) = sorted((p, other_p)), sorted((share, other_share))
    rounding = 1e-14
    assert (
        levels.node_confidence(n, share, low) <= levels.node_confidence(n, share, high) + rounding
    )
    assert levels.node_utility(n, share, low) <= levels.node_utility(n, share, high) + rounding
    assert levels.node_confidence(n, small, p) <= levels.node_confidence(n, large, p) + rounding


def test_infinite_and_huge_numbers_of_rows_give_the_limit() -> None:
    n = np.array([1e12, 1e18, 1e300, np.inf])
    assert levels.node_confidence(n, 0.5, 0.6).tolist() == [1.0] * 4
    assert levels.node_confidence(np.inf, [0.0, 0.5, 1.0], 0.6).tolist() == [0.5, 1.0, 1.0]
    assert levels.node_confidence(np.inf, 0.0, 0.6, empty="miss") == 0.0
    assert levels.tree_levels(np.inf, [0.75, 0.25], [0.6, 0.9]) == (1.0, pytest.approx(0.675))


def test_a_tree_is_the_share_weighted_sum_of_its_nodes() -> None:
    shares, p = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.9, 0.7])
    for empty in ("coin", "miss"):
        tree = levels.tree_levels(40, shares, p, empty=empty)
        nodes = levels.node_confidence(40, shares, p, empty=empty)
        right = levels.node_utility(40, shares, p, empty=empty)
        assert tree.confidence == pytest.approx((shares * nodes).sum(), abs=1e-15)
        assert tree.utility == pytest.approx((shares * right).sum(), abs=1e-15)


def test_a_tree_of_one_node_is_that_node() -> None:
    expected = (levels.confidence(25, 0.7), levels.utility(25, 0.7))
    assert levels.tree_levels(25, [1.0], [0.7]) == expected


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


def test_one_bad_tree_of_several_is_nan() -> None:
    shares = [[0.5, 0.5], [0.5, 0.4], [0.2, 0.8], [0.2, 0.8]]
    p = [[0.6, 0.7], [0.6, 0.7], [0.6, 0.3], [0.6, 0.7]]
    for level in levels.tree_levels([10, 10, 10, -1], shares, p):
        assert np.isnan(level).tolist() == [False, True, True, True]


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

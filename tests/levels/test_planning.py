"""Rows that a level needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureleaf import InvalidArgumentError, UnreachableLevelError
from sureleaf.levels import confidence, sample_size, utility


def by_trying(p: float, sure: float, useful: float) -> int:
    n = 0
    while confidence(n, p) < sure - 1e-15 or utility(n, p) < useful - 1e-15:
        n += 1
    return n


@settings(max_examples=100)
@given(p=st.floats(0.55, 0.99), sure=st.floats(0, 0.999), share=st.floats(0, 0.99))
def test_the_answer_is_the_first_n_that_reaches_both_levels(p, sure, share):
    useful = 0.5 + share * (p - 0.5)
    found = sample_size(p, confidence=sure, utility=useful)
    assert found == by_trying(p, sure, useful)


def test_the_lower_end_of_a_range_counts() -> None:
    assert sample_size((0.6, 0.9), confidence=0.95) == sample_size(0.6, confidence=0.95) == 67


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7])
def test_any_number_of_rows_is_found_without_counting_up(gap: float) -> None:
    n = sample_size(0.5 + gap, confidence=0.95)
    assert n % 2 == 1
    assert confidence(n, 0.5 + gap) >= 0.95 - 1e-15 > confidence(n - 2, 0.5 + gap) - 1e-12
    assert n == pytest.approx((1.6448536 / (2 * gap)) ** 2, rel=1e-3)


def test_what_a_coin_reaches_needs_no_rows() -> None:
    assert sample_size(0.7, confidence=0.5) == 0
    assert sample_size(0.5, utility=0.5) == 0
    assert sample_size(0.5, confidence=0.5, utility=0.5) == 0


@pytest.mark.parametrize(
    ("p", "levels", "said"),
    [
        (0.75, {"utility": 0.8}, "below p_max = 0.75, its ceiling; got 0.8"),
        (0.75, {"utility": 0.75}, "below p_max = 0.75, its ceiling; got 0.75"),
        (0.5, {"confidence": 0.51}, "at most 0.5 where p_max = 0.5; got 0.51"),
        (0.5, {"utility": 0.6}, "below p_max = 0.5"),
        (0.75, {"confidence": 1.0}, "confidence must be below 1"),
        ((0.6, 0.9), {"utility": 0.8}, "below p_max = 0.6"),
        (0.5 + 1e-9, {"confidence": 0.95}, "more than 9007199254740991 rows"),
        (0.3, {"utility": 0.99, "threshold": 0.3}, r"threshold = 0\.3"),
    ],
)
def test_an_unreachable_level_is_refused_with_its_ceiling(p, levels, said):
    with pytest.raises(UnreachableLevelError, match=said):
        sample_size(p, **levels)  # type: ignore[arg-type]


def test_arrays_have_nan_where_no_number_of_rows_is_enough() -> None:
    found = sample_size([0.5, 0.6, 0.75, 1.0, 0.3, np.nan], confidence=0.95)
    assert np.array_equal(found, [np.nan, 67, 9, 1, np.nan, np.nan], equal_nan=True)
    assert sample_size(np.full((2, 1), 0.75), utility=[0.6, 0.7, 0.75]).shape == (2, 3)
    assert sample_size([], confidence=0.9).shape == (0,)


@pytest.mark.parametrize(
    ("p", "levels", "said"),
    [
        (0.75, {}, "confidence or utility must be given"),
        (0.75, {"confidence": 95}, "Did you mean 0.95"),
        (0.3, {"confidence": 0.9}, "p_max must be"),
        ((0.9, 0.6), {"confidence": 0.9}, "Swap its ends"),
        ((0.6, 0.7, 0.8), {"confidence": 0.9}, "got 3 numbers"),
        ((0.4, 0.7), {"confidence": 0.9}, "p_max must be from 0.5 to 1"),
        (0.75, {"utility": 1.5}, "utility must be from 0 to 1"),
        (0.75, {"confidence": 0.9, "threshold": 1.5}, "threshold must be"),
    ],
)
def test_what_cannot_be_used_is_named(p: object, levels: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        sample_size(p, **levels)  # type: ignore[arg-type]

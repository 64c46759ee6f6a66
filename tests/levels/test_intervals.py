"""Intervals for p_max, confidence and utility."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from sureleaf import InvalidArgumentError
from sureleaf.levels import confidence, level_intervals, p_max_interval, utility


def coverage(n: int, p: np.ndarray, level: float) -> np.ndarray:
    """Return the exact probability that the bounds hold p_max, for each p."""
    y = np.arange(n + 1)
    low, high = p_max_interval(y, n, level=level)
    held = (low <= p[:, np.newaxis]) & (p[:, np.newaxis] <= high)
    return (binom.pmf(y, n, p[:, np.newaxis]) * held).sum(axis=1)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [*range(1, 41), 53, 64, 100, 201, 500])
def test_the_bounds_hold_p_max_as_often_as_promised_whatever_it_is(n: int, level: float) -> None:
    """Exact, not simulated: on a grid, and just beside every bound, where coverage jumps."""
    low, high = p_max_interval(np.arange(n + 1), n, level=level)
    bounds = np.concatenate([low, high])
    beside = np.concatenate([bounds - 1e-9, bounds, bounds + 1e-9])
    p = np.concatenate([np.linspace(0.5, 1, 101), beside[(beside >= 0.5) & (beside <= 1)]])
    assert coverage(n, p, level).min() >= level - 1e-12


@pytest.mark.parametrize(("y", "n"), [(0, 1), (3, 7), (7, 7), (10, 20), (88, 100), (12, 100)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_bounds_are_the_folded_ones_of_clopper_and_pearson(
    y: int, n: int, level: float
) -> None:
    exact = binomtest(y, n).proportion_ci(level, method="exact")
    ends = [max(exact.low, 1 - exact.low), max(exact.high, 1 - exact.high)]
    low = 0.5 if exact.low <= 0.5 <= exact.high else min(ends)
    assert p_max_interval(y, n, level=level) == pytest.approx((low, max(ends)), abs=1e-12)


def test_either_class_may_be_counted() -> None:
    assert p_max_interval(8, 40) == p_max_interval(32, 40)


def test_levels_have_the_bounds_that_those_of_p_max_imply() -> None:
    y, n = np.array([5, 9, 30]), np.array([7, 20, 40])
    low, high = p_max_interval(y, n, level=0.9)
    found = level_intervals(y, n, level=0.9)
    assert found.confidence.low == pytest.approx(confidence(n, low))
    assert found.confidence.high == pytest.approx(confidence(n, high))
    assert found.utility.low == pytest.approx(utility(n, low))
    assert found.utility.high == pytest.approx(utility(n, high))


@pytest.mark.parametrize("n", [3, 8, 25])
def test_levels_are_held_whenever_p_max_is(n: int) -> None:
    y = np.arange(n + 1)
    low, high = p_max_interval(y, n)
    levels = level_intervals(y, n)
    for p in np.linspace(0.5, 1, 200):
        held = (low <= p) & (p <= high)
        for function, (bottom, top) in ((confidence, levels.confidence), (utility, levels.utility)):
            value = function(n, p)
            assert ((bottom <= value + 1e-12) & (value <= top + 1e-12))[held].all()


def test_without_rows_nothing_is_known() -> None:
    assert p_max_interval(0, 0) == (0.5, 1.0)
    assert level_intervals(0, 0).confidence == (0.5, 0.5)


def test_bounds_narrow_with_rows_and_widen_with_the_level() -> None:
    n = np.array([10, 100, 10_000, 10**6, 10**9])
    low, high = p_max_interval(0.7 * n, n)
    assert (np.diff(high - low) < 0).all()
    assert high[-1] - low[-1] == pytest.approx(2 * 1.959964 * np.sqrt(0.21 / 1e9), rel=1e-3)
    low, high = p_max_interval(7, 10, level=[0.5, 0.9, 0.99])
    assert (np.diff(high - low) > 0).all()


def test_fractional_counts_lie_between_whole_ones() -> None:
    low, high = p_max_interval([17, 17.5, 18], 20)
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()


def test_bad_elements_of_an_array_are_nan_and_leave_the_others_alone() -> None:
    low, high = p_max_interval([3, 9, np.nan, -1], 5)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, True, True]
    assert p_max_interval([], 5).low.shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"y": 9, "n": 5}, "y must be at most n"),
        ({"y": -1, "n": 5}, "y must be"),
        ({"y": 1, "n": np.nan}, "n must be"),
        ({"y": 3, "n": 5, "level": 95}, "level must be between 0 and 1; got 95.*Did you mean 0.95"),
        ({"y": 3, "n": 5, "level": 1.0}, "level must be between 0 and 1"),
    ],
)
def test_what_cannot_be_used_is_named(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        p_max_interval(**arguments)

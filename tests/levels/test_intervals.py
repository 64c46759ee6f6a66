"""Intervals for a probability, p_max, confidence and utility."""

import mpmath
import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from sureleaf import InvalidArgumentError
from sureleaf.levels import confidence, level_intervals, p_max_interval, utility
from sureleaf.levels.intervals import (
    clopper_pearson,
    majority_probability,
    wilson,
)
from sureleaf.levels.search import min_rows


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
def test_the_bounds_are_the_folded_ones_of_clopper_and_pearson(y, n, level):
    exact = binomtest(y, n).proportion_ci(level, method="exact")
    ends = [max(exact.low, 1 - exact.low), max(exact.high, 1 - exact.high)]
    low = 0.5 if exact.low <= 0.5 <= exact.high else min(ends)
    assert p_max_interval(y, n, level=level) == pytest.approx((low, max(ends)), abs=1e-12)


def test_levels_have_the_bounds_that_those_of_p_max_imply() -> None:
    y, n = np.array([5, 9, 30]), np.array([7, 20, 40])
    low, high = p_max_interval(y, n, level=0.9)
    found = level_intervals(y, n, level=0.9)
    assert found.confidence.low == pytest.approx(confidence(n, low))
    assert found.confidence.high == pytest.approx(confidence(n, high))
    assert found.utility.low == pytest.approx(utility(n, low))
    assert found.utility.high == pytest.approx(utility(n, high))


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


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_edges_are_closed_and_no_rows_tell_nothing(interval):
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(0, 7).low == 0.0
    assert interval(7, 7).high == 1.0
    assert 0 < interval(0, 7).high < 1
    low, high = interval([0, 1, 6, 7, 2.5], [7, 7, 7, 7, 7.5])
    assert (low <= np.array([0, 1, 6, 7, 2.5]) / np.array([7, 7, 7, 7, 7.5])).all()
    assert (high >= np.array([0, 1, 6, 7, 2.5]) / np.array([7, 7, 7, 7, 7.5])).all()


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_bad_counts_and_levels_are_named(interval):
    with pytest.raises(InvalidArgumentError, match="successes must be at most n"):
        interval(3, 2)
    with pytest.raises(InvalidArgumentError, match=r"level must be .*got 95.*0\.95"):
        interval(1, 2, level=95)
    low, high = interval([3, 1], [2, 2])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert np.isfinite(low[1])


def by_mpmath(counts, named):
    """P(G_c is the largest) as an integral over G_c."""
    shapes = [mpmath.mpf(count) + 0.5 for count in counts]
    own = shapes.pop(named)

    def density(x):
        found = mpmath.exp(-x) * x ** (own - 1) / mpmath.gamma(own)
        for other in shapes:
            found *= mpmath.gammainc(other, 0, x, regularized=True)
        return found

    top = max([own, *shapes])
    return float(mpmath.quad(density, [0, own / 4, own, top, 2 * top, 6 * top + 60]))


@pytest.mark.parametrize("counts", [(5, 2, 0), (0, 0, 0), (1, 0, 0, 0), (9, 8, 8), (3, 9, 4)])
def test_it_is_the_integral_over_the_named_class(counts):
    for named in range(len(counts)):
        found = majority_probability(np.array([counts], float), np.array([named]))
        assert found[0] == pytest.approx(by_mpmath(counts, named), abs=1e-9)


def test_two_classes_are_a_beta_tail_and_classes_of_one_node_add_up():
    counts = np.array([[k, n - k] for n in (0, 1, 7, 400) for k in {0, 1, n // 2, n - 1, n}], float)
    counts = counts[(counts >= 0).all(axis=1)]
    found = majority_probability(counts, np.zeros(len(counts), dtype=np.intp))
    assert found == pytest.approx(1 - betainc(counts[:, 0] + 0.5, counts[:, 1] + 0.5, 0.5))
    many = np.array([[40.0, 38.0, 30.0, 2.0]])
    total = sum(majority_probability(many, np.array([c]))[0] for c in range(4))
    assert total == pytest.approx(1, abs=1e-12)
    assert majority_probability(np.array([[3.0]]), np.array([0])).tolist() == [1.0]


def test_a_coin_is_rarely_called_sure():
    """At p = 1/2 a probability of .95 or more turns up in about 5 % of the samples."""
    from scipy.stats import binom

    for n in (20, 51, 200):
        k = np.arange(n + 1.0)
        sure = majority_probability(np.column_stack([k, n - k]), np.zeros(n + 1, dtype=np.intp))
        share = binom.pmf(k, n, 0.5)[sure >= 0.95].sum()
        step = binom.pmf(k, n, 0.5)[sure >= 0.95].max()
        assert abs(share - 0.05) < step


def test_the_fewest_rows_are_found_and_nan_where_there_are_none():
    enough = np.array([1.0, 2, 3, 1000, 2**20, 2**21 + 1, np.inf])
    found = min_rows(lambda n, places: n >= enough[places], len(enough))
    assert found[:5].tolist() == enough[:5].tolist()
    assert np.isnan(found[5:]).all()
    assert len(min_rows(lambda n, places: n > 0, 0)) == 0
    for guess in (0.0, 1.0, 7.5, 2.0**19, 1e12, np.inf):
        again = min_rows(
            lambda n, places: n >= enough[places], len(enough), guess=np.full(len(enough), guess)
        )
        np.testing.assert_array_equal(again, found)


CASES = [(0, 1), (1, 1), (0, 20), (1, 20), (19, 20), (20, 20), (80, 100), (4999, 5000)]


@pytest.mark.parametrize(("successes", "n"), CASES)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_both_intervals_are_those_of_statsmodels(successes: int, n: int, level: float) -> None:
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert wilson(successes, n, level=level) == pytest.approx(expected, abs=1e-12)
    expected = proportion_confint(successes, n, alpha=1 - level, method="beta")
    assert clopper_pearson(successes, n, level=level) == pytest.approx(expected, abs=1e-9)

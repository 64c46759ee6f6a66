"""The distribution (2) of the larger count."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import entropic_binomial
from tests.naive import node_levels as naive

P_MAX = (0.5, 0.5 + 2**-30, 0.6, 0.9, 1 - 2**-40, 1.0)


def larger_counts(n: int, p: float) -> dict[int, Fraction]:
    """(2) by folding (1): each y is added to the larger of y and n - y."""
    found = {y: Fraction(0) for y in range((n + 1) // 2, n + 1)}
    for y in range(n + 1):
        found[max(y, n - y)] += naive.binomial(y, n, Fraction(p))
    return found


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9, 20, 41])
@pytest.mark.parametrize("p", P_MAX)
def test_everything_equals_the_folded_binomial(n: int, p: float) -> None:
    exact, larger = larger_counts(n, p), entropic_binomial(n, p)
    y = np.array(list(exact))
    pmf = [float(each) for each in exact.values()]
    np.testing.assert_allclose(larger.pmf(y), pmf, rtol=1e-13, atol=1e-300)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(larger.logpmf(y), np.log(pmf), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(larger.cdf(y), np.cumsum(pmf), rtol=0, atol=1e-14)
    mean = sum(y * chance for y, chance in exact.items())
    variance = sum((y - mean) ** 2 * chance for y, chance in exact.items())
    assert larger.mean() == pytest.approx(float(mean), rel=1e-14)
    assert larger.var() == pytest.approx(float(variance), rel=1e-10, abs=1e-14)


def test_outside_its_support_the_probability_is_nil() -> None:
    larger = entropic_binomial(7, 0.6)
    outside = [-1, 0, 3, 3.5, 4.5, 8, np.inf, -np.inf]
    assert larger.pmf(outside).tolist() == [0.0] * 8
    assert larger.logpmf(outside).tolist() == [-np.inf] * 8
    assert larger.cdf([-1, 3, 3.9, 7, 9, np.inf]).tolist() == [0, 0, 0, 1, 1, 1]
    assert larger.cdf(4.5) == larger.cdf(4)


@pytest.mark.parametrize("n", [10**4, 10**6 + 1, 10**9])
def test_a_billion_rows_keep_their_digits(n: int) -> None:
    p = 0.5 + 0.7 / n**0.5
    larger = entropic_binomial(n, p)
    with mpmath.workdps(40):
        chance = mpmath.mpf(p)
        for y in ((n + 1) // 2, round(n * p), round(n * p + 2 * n**0.5)):
            log_ways = mpmath.loggamma(n + 1) - mpmath.loggamma(y + 1) - mpmath.loggamma(n - y + 1)
            lead = naive.entropic_log_likelihood(y, n, chance)
            truth = log_ways + lead - (mpmath.log(2) if 2 * y == n else 0)
            assert float(larger.logpmf(y)) == pytest.approx(float(truth), abs=1e-12)


@pytest.mark.parametrize("n", [5000, 5001])
def test_moments_of_many_rows_equal_the_sums(n: int) -> None:
    y = np.arange((n + 1) // 2, n + 1)
    for p in (0.5, 0.503, 0.51, 0.6):
        larger = entropic_binomial(n, p)
        pmf = larger.pmf(y)
        mean = math.fsum(y * pmf)
        assert math.fsum(pmf) == pytest.approx(1, abs=1e-12)
        assert larger.mean() == pytest.approx(mean, rel=1e-12)
        assert larger.var() == pytest.approx(math.fsum((y - mean) ** 2 * pmf), rel=1e-9)


def test_draws_have_the_distribution() -> None:
    n, p, draws = 11, 0.6, 20_000
    larger = entropic_binomial(n, p)
    drawn = larger.rvs(draws, random_state=7)
    y = np.arange(6, 12)
    counts = np.array([(drawn == each).sum() for each in y])
    assert counts.sum() == draws
    pmf = larger.pmf(y)
    # five standard deviations of each count: a false alarm in 300,000 seeds
    assert (np.abs(counts - draws * pmf) < 5 * np.sqrt(draws * pmf * (1 - pmf))).all()


def test_parameters_and_values_broadcast() -> None:
    larger = entropic_binomial([[3], [4]], [0.6, 0.7])
    assert larger.pmf(3).shape == larger.cdf(3).shape == larger.mean().shape == (2, 2)
    assert larger.pmf(np.arange(5)[:, None, None]).shape == (5, 2, 2)
    assert larger.pmf(3)[1, 0] == entropic_binomial(4, 0.6).pmf(3)
    one = entropic_binomial(4, 0.6)
    assert {
        type(each) for each in (one.pmf(3), one.logpmf(3), one.cdf(3), one.mean(), one.var())
    } == {float}
    assert (one.n, one.p_max) == (4.0, 0.6)
    assert one.pmf([]).shape == (0,)


@pytest.mark.parametrize(
    ("n", "p", "message"),
    [
        (-1, 0.6, r"n must be a finite whole number of rows, 0 or more; got -1\.0"),
        (2.5, 0.6, r"n must be a finite whole number .* got 2\.5"),
        (float("inf"), 0.6, "n must be a finite whole number"),
        (3, 0.4, "p_max must be from 0.5 to 1; got 0.4"),
    ],
)
def test_bad_parameters_raise_and_are_named(n: float, p: float, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        entropic_binomial(n, p)


def test_bad_elements_are_nan() -> None:
    larger = entropic_binomial([4, 2.5, -1, 4], [0.6, 0.6, 0.6, 0.4])
    for values in (larger.pmf(3), larger.logpmf(3), larger.cdf(3), larger.mean(), larger.var()):
        assert np.isnan(values).tolist() == [False, True, True, True]
    with pytest.raises(InvalidArgumentError, match="y must be a number; got nan"):
        larger.pmf(float("nan"))
    assert np.isnan(entropic_binomial(4, 0.6).cdf([3, np.nan])).tolist() == [False, True]

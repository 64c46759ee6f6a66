"""Intervals for a probability, and how often they cover it."""

import mpmath
import numpy as np
import pytest

from sureleaf import InvalidArgumentError
from sureleaf.levels.proportions import (
    INTERVALS,
    clopper_pearson,
    exact_coverage,
    jeffreys,
    wilson,
)

GRID = np.linspace(0.0, 1.0, 1001)


def tail_at_least(k: int, n: int, p: mpmath.mpf) -> mpmath.mpf:
    return mpmath.fsum(mpmath.binomial(n, y) * p**y * (1 - p) ** (n - y) for y in range(k, n + 1))


@pytest.mark.parametrize(("k", "n"), [(1, 5), (3, 7), (9, 10), (80, 100)])
def test_the_ends_of_clopper_and_pearson_have_tails_of_half_the_rest(k, n):
    low, high = clopper_pearson(k, n, level=0.9)
    assert float(tail_at_least(k, n, mpmath.mpf(low))) == pytest.approx(0.05, abs=1e-12)
    assert float(1 - tail_at_least(k + 1, n, mpmath.mpf(high))) == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 7), (10, 10), (80, 100)])
def test_the_ends_of_wilson_solve_its_equation(k, n):
    z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf("0.95"))
    for end in wilson(k, n):
        if end not in (0.0, 1.0):
            assert abs(k / n - end) == pytest.approx(
                float(z * mpmath.sqrt(end * (1 - end) / n)), abs=1e-12
            )


@pytest.mark.parametrize(("k", "n"), [(1, 5), (3, 7), (80, 100)])
def test_the_ends_of_jeffreys_are_quantiles_of_the_posterior(k, n):
    low, high = jeffreys(k, n)
    a, b = k + mpmath.mpf("0.5"), n - k + mpmath.mpf("0.5")
    assert float(mpmath.betainc(a, b, 0, low, regularized=True)) == pytest.approx(0.025, abs=1e-12)
    assert float(mpmath.betainc(a, b, high, 1, regularized=True)) == pytest.approx(0.025, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 100, 1000])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_clopper_and_pearson_cover_every_probability_at_least_at_the_level(n, level):
    assert exact_coverage(n, GRID, method="clopper_pearson", level=level).min() >= level - 1e-12


@pytest.mark.parametrize("method", ["wilson", "jeffreys"])
@pytest.mark.parametrize("n", [20, 100, 1000])
def test_wilson_and_jeffreys_cover_at_the_level_on_average(method, n):
    # Not for each p: with 1000 rows the worst p of the grid has 0.84 to 0.93.
    assert exact_coverage(n, GRID, method=method).mean() == pytest.approx(0.95, abs=0.01)


def test_coverage_is_what_counting_gives():
    found = exact_coverage(5, 0.3, method="wilson")
    counted = sum(
        float(mpmath.binomial(5, k) * mpmath.mpf(0.3) ** k * mpmath.mpf(0.7) ** (5 - k))
        for k in range(6)
        if wilson(k, 5).low <= 0.3 <= wilson(k, 5).high
    )
    assert found == pytest.approx(counted, abs=1e-12)


@pytest.mark.parametrize("interval", INTERVALS.values(), ids=list(INTERVALS))
def test_edges_are_closed_and_no_rows_tell_nothing(interval):
    assert interval(0, 0) == (0.0, 1.0)
    assert interval(0, 7).low == 0.0
    assert interval(7, 7).high == 1.0
    assert 0 < interval(0, 7).high < 1
    low, high = interval([0, 1, 6, 7, 2.5], [7, 7, 7, 7, 7.5])
    assert (low <= np.array([0, 1, 6, 7, 2.5]) / np.array([7, 7, 7, 7, 7.5])).all()
    assert (high >= np.array([0, 1, 6, 7, 2.5]) / np.array([7, 7, 7, 7, 7.5])).all()


@pytest.mark.parametrize("interval", INTERVALS.values(), ids=list(INTERVALS))
def test_bad_counts_and_levels_are_named(interval):
    with pytest.raises(InvalidArgumentError, match="hits must be at most n"):
        interval(3, 2)
    with pytest.raises(InvalidArgumentError, match=r"level must be .*got 95.*0\.95"):
        interval(1, 2, level=95)
    low, high = interval([3, 1], [2, 2])
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert np.isfinite(low[1])


def test_bad_arguments_of_the_coverage_are_named():
    with pytest.raises(InvalidArgumentError, match="method must be one of 'wilson'"):
        exact_coverage(5, 0.5, method="wald")
    with pytest.raises(InvalidArgumentError, match="n must be a whole number"):
        exact_coverage(0, 0.5)

"""Intervals for rates: against statsmodels, the definition and the lecture."""

import math

import pytest
from scipy.stats import binom, norm
from statsmodels.stats.proportion import proportion_confint

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import clopper_pearson, wilson

CASES = [(0, 1), (1, 1), (0, 20), (1, 20), (19, 20), (20, 20), (80, 100), (4999, 5000)]


@pytest.mark.parametrize(("hits", "n"), CASES)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_both_intervals_are_those_of_statsmodels(hits: int, n: int, level: float) -> None:
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert wilson(hits, n, level=level) == pytest.approx(expected, abs=1e-12)
    expected = proportion_confint(hits, n, alpha=1 - level, method="beta")
    assert clopper_pearson(hits, n, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("hits", "n"), CASES)
def test_the_ends_of_wilson_solve_its_equation(hits: int, n: int) -> None:
    z = norm.ppf(0.975)
    for end in wilson(hits, n):
        if 0 < end < 1:
            assert abs(hits / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n))


def test_the_ends_of_clopper_pearson_have_the_tail_they_promise() -> None:
    low, high = clopper_pearson(7, 30, level=0.9)
    assert binom.sf(6, 30, low) == pytest.approx(0.05)
    assert binom.cdf(7, 30, high) == pytest.approx(0.05)


def test_the_accuracy_of_the_lecture_has_its_wilson_interval() -> None:
    assert wilson(80, 100) == pytest.approx((0.7112, 0.8666), abs=5e-5)


def test_no_rows_say_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "n"), [(-1, 5), (6, 5), (1, math.inf), (math.nan, 5)])
def test_impossible_counts_are_refused(hits: float, n: float) -> None:
    with pytest.raises(InvalidArgumentError, match="hits must be between 0 and n"):
        wilson(hits, n)


def test_a_level_in_percent_is_recognised() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got 95. Did you mean 0.95\?"):
        wilson(8, 10, level=95)

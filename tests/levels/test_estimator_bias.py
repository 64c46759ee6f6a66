"""Exact bias and mean squared error."""

import mpmath
import numpy as np
import pytest

from sureleaf import InvalidArgumentError, UnreachableLevelError
from sureleaf.levels import estimate_p_max, exact_bias, exact_mse, sample_size_for_bias, utility
from sureleaf.levels.p_max_estimates import METHODS
from tests.naive.accuracy import mean_power_of_error

METHOD_NAMES = ["mle", "entropic", "blend"]


@pytest.mark.parametrize("method", METHOD_NAMES)
@pytest.mark.parametrize("of", ["p_max", "confidence", "utility"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 37])
def test_the_windowed_sums_equal_sums_over_every_count(n: int, of: str, method: str) -> None:
    p = np.array([0.5, 0.6, 0.93, 1.0])
    bias = exact_bias(n, p, method=method, of=of)
    mse = exact_mse(n, p, method=method, of=of)
    for i, truth in enumerate(p):
        wanted = [mean_power_of_error(n, truth, method, of, power) for power in (1, 2)]
        assert [bias[i], mse[i]] == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize(("n", "p"), [(1000, 0.5), (1001, 0.52), (100_000, 0.503)])
def test_the_bias_of_the_mle_equals_a_sum_in_forty_digits(n: int, p: float) -> None:
    """It is E (n - 2Y)^+ / n; counts below the first here have chances below 1e-30."""
    with mpmath.workdps(40):
        odds = mpmath.mpf(p) / (1 - mpmath.mpf(p))
        first = max(0, n // 2 - int(8 * np.sqrt(n)))
        term = mpmath.binomial(n, first) * odds**first * (1 - mpmath.mpf(p)) ** n
        wanted = mpmath.mpf(0)
        for y in range(first, n // 2 + 1):
            wanted += (n - 2 * y) * term / n
            term *= odds * (n - y) / (y + 1)
    assert exact_bias(n, p, method="mle") == pytest.approx(float(wanted), abs=1e-14)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: exact_bias(2.5, 0.6), "whole number of rows.*2.5.*round"),
        (lambda: exact_bias(-1, 0.6), "n must be"),
        (lambda: exact_mse(5, 0.4), "p_max must be"),
        (lambda: exact_mse(5, 0.6, of="cost"), "of must be one of 'p_max'.*'cost'"),
        (lambda: exact_bias(5, 0.6, method="best"), "method must be one of"),
        (lambda: exact_bias([], 0.6, method="best"), "method must be one of"),
        (lambda: sample_size_for_bias((0.6, 0.9), bias=0.0), "bias must be above 0"),
        (lambda: sample_size_for_bias((0.6, 0.9), of="cost"), "of must be one of"),
        (lambda: sample_size_for_bias((0.6, 0.9), method="best"), "method must be one of"),
        (lambda: sample_size_for_bias((0.4, 0.9)), "p_range must be from 0.5 to 1"),
        (lambda: sample_size_for_bias((0.9, 0.6)), "Swap its ends"),
    ],
)
def test_what_cannot_be_used_is_named(call: object, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        call()  # type: ignore[operator]


def by_trying(p_range: tuple[float, float], bound: float, method: str, of: str, upto: int) -> int:
    """Check every n up to a limit on a grid of p, evenly spaced and fine."""
    p = np.unique(np.linspace(*p_range, 21))
    n = np.arange(1, upto + 1)
    worst = np.abs(exact_bias(n[:, np.newaxis], p, method=method, of=of)).max(axis=1)
    assert (worst[upto * 3 // 4 :] < bound).all()
    return int(n[worst > bound].max(initial=0)) + 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("of", ["p_max", "confidence", "utility"])
@pytest.mark.parametrize(("p_range", "bound"), [((0.7, 0.7), 0.01), ((0.65, 1.0), 0.05)])
def test_the_answer_is_that_of_trying_every_n(p_range, bound, of, method):
    found = sample_size_for_bias(p_range, bias=bound, method=method, of=of)
    assert found == by_trying(p_range, bound, method, of, upto=180)


def test_a_wave_that_just_exceeds_the_bound_is_found() -> None:
    """At n = 81 the bias is back at 0.00427, after smaller ones from n = 38 on."""
    found = sample_size_for_bias((0.61, 0.619), bias=0.0042, method="blend", of="utility")
    assert found == by_trying((0.61, 0.619), 0.0042, "blend", "utility", upto=200) == 82


def test_the_papers_advice_of_20_and_40_rows() -> None:
    """Recommendation 2 over [.6, .9]: 20 rows for the blend are exact, 40 for the mle ample."""
    assert sample_size_for_bias((0.6, 0.9)) == 20
    assert sample_size_for_bias((0.6, 0.9), method="mle") == 34


def test_the_statements_of_section_2_5() -> None:
    """At p_max = .51 the mle "needs n = 200" for 2 % and "n = 500" for 1 %, and so on."""
    assert sample_size_for_bias(0.51, bias=0.02, method="mle") == 190
    assert sample_size_for_bias(0.51, bias=0.01, method="mle") == 476
    confidences = [sample_size_for_bias(p, method="mle", of="confidence") for p in (0.6, 0.7)]
    assert confidences == [261, 61]  # printed, from a simulation without ties: 300 and 70
    utilities = [sample_size_for_bias(p, method="mle", of="utility") for p in (0.6, 0.7)]
    assert utilities == [46, 15]  # printed: 70 and 20


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_as_near_the_mle_as_the_horizon_supposes(method: str) -> None:
    for n in (3, 4, 5, 10, 99, 1000, 12_345):
        y = np.arange(np.ceil(n / 2), n + 1)
        gap = estimate_p_max(y, n, method=method) - y / n
        assert gap.min() >= -0.5 / np.sqrt(n) - 1e-12
        assert gap.max() <= 0.05 / np.sqrt(n)


@pytest.mark.parametrize("n", [3, 4, 5, 7, 20, 101, 10_000])
def test_utility_is_no_steeper_than_the_horizon_supposes(n: int) -> None:
    p = np.linspace(0.5, 1, 5001)
    assert (np.diff(utility(n, p)) / np.diff(p)).max() <= np.sqrt(2)


def test_a_bias_that_does_not_vanish_is_refused() -> None:
    with pytest.raises(UnreachableLevelError, match="exceeded at 100000 rows"):
        sample_size_for_bias((0.5, 0.9), of="confidence")
    found = sample_size_for_bias((0.5, 0.9), bias=0.3, of="confidence")
    assert found == by_trying((0.5, 0.9), 0.3, "blend", "confidence", upto=100)

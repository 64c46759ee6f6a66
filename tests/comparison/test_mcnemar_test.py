"""McNemar's test and Tango's interval, against statsmodels, enumeration and likelihood."""

from math import comb

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

from sureleaf.comparison import mcnemar
from sureleaf.comparison.mcnemar_test import THESE_MODELS
from sureleaf.errors import InvalidArgumentError

COUNTS = [(0, 0), (1, 0), (0, 1), (5, 5), (12, 4), (30, 10), (0, 25), (100, 140)]


@pytest.mark.parametrize(("b", "c"), COUNTS[1:])
def test_the_exact_p_value_is_statsmodels(b: int, c: int) -> None:
    expected = statsmodels_mcnemar([[10, b], [c, 10]], exact=True).pvalue
    assert mcnemar(b, c, b + c + 20, exact=True).p_value == pytest.approx(min(expected, 1.0))


@pytest.mark.parametrize(("b", "c"), COUNTS)
def test_mid_p_counts_half_of_what_was_observed(b: int, c: int) -> None:
    m, smaller = b + c, min(b, c)
    masses = [comb(m, k) / 2**m for k in range(m + 1)]
    expected = 2 * (sum(masses[:smaller]) + masses[smaller] / 2)
    assert mcnemar(b, c, 300).p_value == pytest.approx(min(1.0, expected))


@pytest.mark.parametrize(("b", "c"), COUNTS[1:])
def test_the_interval_holds_0_exactly_when_the_statistic_is_small(b: int, c: int) -> None:
    test = mcnemar(b, c, 300)
    assert (test.low <= 0 <= test.high) == (abs(test.statistic) <= 1.959963984540054)


def profile_score(b: int, c: int, n: int, delta: float) -> float:
    """Score statistic with the nuisance share found by maximising the likelihood."""

    def loss(q: float) -> float:
        p = q + delta
        rest = 1 - p - q
        if p < 0 or q < 0 or rest < 0:
            return np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [x * np.log(s) if x else 0.0 for x, s in ((b, p), (c, q), (n - b - c, rest))]
        return -sum(parts)

    q = minimize_scalar(
        loss, bounds=(max(0, -delta), (1 - delta) / 2), method="bounded", options={"xatol": 1e-13}
    ).x
    return (b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))


@pytest.mark.parametrize(("b", "c", "n"), [(12, 4, 100), (30, 10, 80), (5, 5, 50), (1, 9, 20)])
def test_the_interval_inverts_the_score_test(b: int, c: int, n: int) -> None:
    test = mcnemar(b, c, n)
    assert profile_score(b, c, n, test.low) == pytest.approx(1.959964, abs=1e-4)
    assert profile_score(b, c, n, test.high) == pytest.approx(-1.959964, abs=1e-4)


@pytest.mark.parametrize("n", [1, 20, 5000])
def test_models_that_never_disagree_still_have_an_interval_of_wilsons_width(n: int) -> None:
    test = mcnemar(0, 0, n)
    bound = proportion_confint(0, n, method="wilson")[1]
    assert (test.low, test.high) == pytest.approx((-bound, bound))
    assert test.p_value == 1.0


def test_swapping_the_models_swaps_the_signs() -> None:
    one, other = mcnemar(12, 4, 100), mcnemar(4, 12, 100)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p_value == other.p_value


@pytest.mark.parametrize(("b", "c", "n"), [(10, 0, 10), (0, 10, 10), (1, 0, 1)])
def test_the_interval_stays_within_one(b: int, c: int, n: int) -> None:
    test = mcnemar(b, c, n)
    assert -1 <= test.low < test.high <= 1
    assert test.low <= test.difference <= test.high


@pytest.mark.parametrize("bad", [(-1, 2, 10), (6, 6, 10), (0, 0, 0)])
def test_counts_that_do_not_fit_are_refused(bad: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="at most n"):
        mcnemar(*bad)


@pytest.mark.parametrize(("exact", "name"), [(False, "mid-p"), (True, "exact")])
def test_the_result_names_its_method_and_has_the_statistic_of_mcnemar(
    exact: bool, name: str
) -> None:
    test = mcnemar(8, 2, 40, exact=exact, level=0.9)
    assert test.statistic == pytest.approx(6 / np.sqrt(10))
    assert test.standard_error == pytest.approx(np.sqrt(10) / 40)
    assert test.method == f"McNemar, {name}; Tango's interval"
    assert test.level == 0.9
    assert test.assumption == THESE_MODELS
    assert mcnemar(0, 0, 40).statistic == 0.0

"""Rates and means of differences from plain numbers, against statsmodels, scipy and the lecture."""

import math
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_confint,
    proportions_ztest,
    samplesize_proportions_2indep_onetail,
)

from sureleaf.comparison import (
    auc_difference,
    bootstrap_difference,
    compare_rates,
    mcnemar,
    one_sample_t,
    paired_t,
    rate_interval,
    rows_for_width,
    rows_to_detect,
)
from sureleaf.comparison.plain_numbers import THESE_MODELS
from sureleaf.errors import InvalidArgumentError, SureleafError

CASES = [(9, 100, 20, 100), (0, 30, 3, 40), (15, 30, 1250, 5000), (30, 30, 39, 40), (1, 500, 9, 20)]


def test_the_lecture_example() -> None:
    test = compare_rates(0.15, 30, 0.25, 5000)
    assert round(test.standard_error**2, 7) == 0.0042875
    assert round(test.high - test.difference, 5) == 0.12834
    assert round(abs(test.statistic), 4) == 1.5272
    # The lecture's .937 is one-sided; two-sided it is .873.
    assert round(1 - test.p_value, 3) == 0.873
    assert round(1 - test.p_value / 2, 3) == 0.937


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), CASES)
def test_pooled_z_is_statsmodels(x1: int, n1: int, x2: int, n2: int) -> None:
    statistic, p_value = proportions_ztest([x1, x2], [n1, n2])
    test = compare_rates(x1 / n1, n1, x2 / n2, n2, pooled=True)
    assert (test.statistic, test.p_value) == pytest.approx((statistic, p_value))


def profile_score(x1: int, n1: int, x2: int, n2: int, delta: float) -> float:
    """Score statistic with the common nuisance found by maximising the likelihood."""

    def loss(p: float) -> float:
        parts = ((x1, p), (n1 - x1, 1 - p), (x2, p - delta), (n2 - x2, 1 - p + delta))
        return -sum(count * np.log(share) for count, share in parts if count)

    bounds = (max(0.0, delta) + 1e-15, min(1.0, 1 + delta) - 1e-15)
    p = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-14}).x
    q = p - delta
    return (x1 / n1 - x2 / n2 - delta) / np.sqrt(p * (1 - p) / n1 + q * (1 - q) / n2)


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), CASES)
def test_the_score_interval_inverts_the_score_test(x1: int, n1: int, x2: int, n2: int) -> None:
    # statsmodels' score interval is no oracle here: its restricted rates miss the maximum.
    test = compare_rates(x1 / n1, n1, x2 / n2, n2, pooled=True)
    assert profile_score(x1, n1, x2, n2, test.low) == pytest.approx(1.959964, abs=1e-4)
    assert profile_score(x1, n1, x2, n2, test.high) == pytest.approx(-1.959964, abs=1e-4)


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [CASES[0], CASES[2], CASES[4]])
def test_the_unpooled_interval_is_statsmodels(x1: int, n1: int, x2: int, n2: int) -> None:
    expected = confint_proportions_2indep(x1, n1, x2, n2, method="wald", compare="diff")
    test = compare_rates(x1 / n1, n1, x2 / n2, n2)
    low, high = max(expected[0], -1), min(expected[1], 1)
    assert (test.low, test.high) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [CASES[1], CASES[3], (0, 1, 1, 1)])
def test_a_rate_without_variance_gets_the_score_interval(x1, n1, x2, n2) -> None:
    pooled = compare_rates(x1 / n1, n1, x2 / n2, n2, pooled=True)
    test = compare_rates(x1 / n1, n1, x2 / n2, n2)
    assert (test.low, test.high, test.p_value) == (pooled.low, pooled.high, pooled.p_value)
    assert test.method == pooled.method + ", since a rate of 0 or 1 has no variance"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((15, 30, 0.25, 5000), r"e1 must be between 0 and 1; got 15\. Did you mean 0\.15\?"),
        ((0.15, 0, 0.25, 5000), "n1 must be"),
        ((0.15, 30, float("nan"), 5000), "e2 must be"),
        ((0.15, 30, 0.25, 0), "n2 must be"),
    ],
)
def test_rates_that_are_none_are_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        compare_rates(*arguments)


def test_an_unknown_interval_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidArgumentError, match="wilson"):
        rate_interval(0.8, 100, method="wald?")


# ---- McNemar's test and Tango's interval, against statsmodels, enumeration and likelihood

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


def paired_profile_score(b: int, c: int, n: int, delta: float) -> float:
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
    assert paired_profile_score(b, c, n, test.low) == pytest.approx(1.959964, abs=1e-4)
    assert paired_profile_score(b, c, n, test.high) == pytest.approx(-1.959964, abs=1e-4)


@pytest.mark.parametrize("n", [1, 20, 5000])
def test_models_that_never_disagree_still_have_an_interval_of_wilsons_width(n: int) -> None:
    test = mcnemar(0, 0, n)
    bound = proportion_confint(0, n, method="wilson")[1]
    assert (test.low, test.high) == pytest.approx((-bound, bound))
    assert test.p_value == 1.0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ((-1, 2, 10), "only_first must be at least 0"),
        ((6, 6, 10), "at most n"),
        ((0, 0, 0), "n must be at least 1"),
        ((np.array(["yes", "no"]), 2, 10), "only_first must be a whole number"),
    ],
)
def test_counts_that_do_not_fit_are_refused(bad: tuple[Any, int, int], message: str) -> None:
    with pytest.raises(SureleafError, match=message):
        mcnemar(*bad)


@pytest.mark.parametrize(("exact", "name"), [(False, "mid-p"), (True, "exact")])
def test_the_result_names_its_method_and_has_the_statistic_of_mcnemar(exact, name) -> None:
    test = mcnemar(8, 2, 40, exact=exact, level=0.9)
    assert test.statistic == pytest.approx(6 / np.sqrt(10))
    assert test.standard_error == pytest.approx(np.sqrt(10) / 40)
    assert test.method == f"McNemar, {name}; Tango's interval"
    assert test.level == 0.9
    assert test.assumption == THESE_MODELS
    assert mcnemar(0, 0, 40).statistic == 0.0


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson"])
@pytest.mark.parametrize(("half_width", "rate"), [(0.05, 0.5), (0.1, 0.9), (0.08, 0.0)])
def test_rows_for_a_width_are_the_fewest(method: str, half_width: float, rate: float) -> None:
    def width(n: int) -> float:
        interval = rate_interval(rate, n, method=method)
        return (interval.high - interval.low) / 2

    n = rows_for_width(half_width, rate=rate, method=method)
    assert n == next(m for m in range(1, 10_000) if width(m) <= half_width)


def test_rows_of_two_test_sets_are_statsmodels() -> None:
    expected = samplesize_proportions_2indep_onetail(0.02, 0.10, 0.8, alpha=0.05)
    assert abs(rows_to_detect(0.02, rate=0.10, paired=False) - expected) <= 1


def exact_power(n: int, only_first: float, only_second: float) -> float:
    """Power of the mid-p McNemar test: over all counts of discordant rows and winners."""
    discordance = only_first + only_second
    total = 0.0
    for m in range(n + 1):
        weight = binom.pmf(m, n, discordance)
        if weight < 1e-10:
            continue
        wins = np.arange(m + 1)
        smaller = np.minimum(wins, m - wins)
        p_value = binom.cdf(smaller, m, 0.5) + binom.cdf(smaller - 1, m, 0.5)
        total += weight * binom.pmf(wins, m, only_first / discordance)[p_value <= 0.05].sum()
    return total


@pytest.mark.parametrize(("difference", "discordance"), [(0.05, 0.1), (0.1, 0.3), (0.04, 0.05)])
def test_the_rows_give_the_power_that_was_asked_for(difference: float, discordance: float) -> None:
    n = rows_to_detect(difference, rate=0.2, discordance=discordance)
    power = exact_power(n, (discordance + difference) / 2, (discordance - difference) / 2)
    # The test is discrete: its power is known up to the largest mass of the winner's lead,
    # which moves in steps of 2 with variance n (discordance - difference²).
    step = 0.8 / np.sqrt(n * (discordance - difference**2))
    assert abs(power - 0.8) < step


@pytest.mark.parametrize(
    "bad",
    [
        {"difference": 0.0, "rate": 0.1},
        {"difference": 0.5, "rate": 0.6},
        {"difference": np.nan, "rate": 0.1},
        {"difference": 0.02, "rate": 0.1, "power": 80},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.01},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.5},
        {"difference": 0.02, "rate": 0.1, "discordance": 0.1, "paired": False},
    ],
)
def test_questions_without_an_answer_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidArgumentError):
        rows_to_detect(**bad)


@pytest.mark.parametrize("bad", [0.0, 0.5, 2, float("nan")])
def test_a_width_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(InvalidArgumentError, match="half_width"):
        rows_for_width(bad)


@pytest.mark.parametrize("paired", [True, False])
def test_less_power_never_takes_more_rows(paired: bool) -> None:
    """Below a power of (1 - level)/2 chance alone does it: one row."""
    powers = (0.001, 0.01, 0.025, 0.1, 0.5, 0.9, 0.999999)
    rows = [rows_to_detect(0.02, rate=0.1, paired=paired, power=power) for power in powers]
    assert rows == sorted(rows)
    assert rows[0] == rows[1] == 1


# ---- Student's t

FIRST = [1200, 1219, 1103, 1213, 1258, 1325, 1295]
SECOND = [1247, 1098, 1185, 1087, 1377, 1363, 1121]
LECTURE = [(a - b) / 2000 for a, b in zip(FIRST, SECOND, strict=True)]


def test_plain_t_is_scipys() -> None:
    expected = stats.ttest_rel(FIRST, SECOND)
    test = paired_t(np.subtract(FIRST, SECOND))
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (test.low, test.high) == pytest.approx((interval.low, interval.high))


def test_one_sample_t_is_scipys() -> None:
    values = [5.1, 4.9, 5.6, 5.8, 5.3]
    expected = stats.ttest_1samp(values, 5.0)
    test = one_sample_t(values, 5.0, level=0.9)
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.9)
    assert (test.low + 5, test.high + 5) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("ratio", [1 / 9, 0.5])
def test_the_correction_widens_by_nadeau_and_bengios_factor(ratio: float) -> None:
    plain, corrected = paired_t(LECTURE), paired_t(LECTURE, corrected=ratio)
    widening = math.sqrt((1 / 7 + ratio) / (1 / 7))
    assert corrected.high - corrected.low == pytest.approx((plain.high - plain.low) * widening)
    assert corrected.statistic == pytest.approx(plain.statistic / widening)


def test_corrected_true_is_one_cross_validation() -> None:
    assert paired_t(LECTURE, corrected=True) == paired_t(LECTURE, corrected=1 / 6)


def test_differences_that_never_differ_from_zero_are_no_evidence() -> None:
    test = paired_t([0.0, 0.0, 0.0])
    assert (test.low, test.high, test.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("bad", [[], [0.1], [0.1, math.nan], [[0.1, 0.2]], [0.1, 0.1, 0.1]])
def test_differences_that_cannot_be_judged_are_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidArgumentError):
        paired_t(bad)


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan, math.inf])
def test_a_ratio_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(InvalidArgumentError, match="n_test / n_train"):
        paired_t(LECTURE, corrected=bad)


def test_a_level_in_percent_is_refused_with_the_right_one() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got 95\. Did you mean 0\.95\?"):
        paired_t(LECTURE, level=95)


# ---- AUC differences and the paired bootstrap, against enumeration and each other


def test_two_perfect_rankings_keep_an_interval() -> None:
    positive = np.repeat([True, False], 20)
    ranking = np.arange(40)[::-1]
    test = auc_difference(positive, ranking, ranking * 2.0)
    assert test.low < 0 < test.high
    assert test.p_value == 1.0


def test_perfect_against_constant_is_found_though_delong_has_no_variance() -> None:
    positive = np.repeat([True, False], 30)
    test = auc_difference(positive, positive.astype(float), np.ones(60))
    assert test.difference == 0.5
    assert 0 < test.low < test.high <= 1
    assert 0 < test.p_value < 0.001


def test_the_bootstrap_of_a_mean_is_the_paired_t() -> None:
    gap = np.random.default_rng(3).normal(0.3, 1, size=80)
    boot = bootstrap_difference(lambda rows: float(gap[rows].mean()), 80)
    exact = paired_t(gap)
    tolerance = 4 / np.sqrt(2 * 2000)  # relative error of a deviation from 2,000 resamples
    assert boot.difference == pytest.approx(exact.difference)
    assert boot.standard_error == pytest.approx(exact.standard_error, rel=tolerance)
    assert boot.statistic == pytest.approx(exact.statistic, rel=tolerance)


def test_resamples_without_a_value_are_left_aside() -> None:
    rare = np.arange(30) < 2

    def statistic(rows: np.ndarray) -> float:
        hits = rare[rows]
        return float(hits.mean()) if hits.any() else float("nan")

    test = bootstrap_difference(statistic, 30)
    assert np.isfinite([test.low, test.high, test.p_value]).all()


def test_groups_are_drawn_whole() -> None:
    rng = np.random.default_rng(5)
    gap = np.repeat(rng.normal(size=40), 10)  # ten copies of forty rows
    groups = np.repeat(np.arange(40), 10)

    def statistic(rows: np.ndarray) -> float:
        return float(gap[rows].mean())

    alone = bootstrap_difference(statistic, 400)
    whole = bootstrap_difference(statistic, 400, groups=groups)
    assert whole.standard_error / alone.standard_error == pytest.approx(np.sqrt(10), rel=0.1)
    assert "groups" in whole.method


def test_a_bootstrap_needs_rows_and_groups_that_fit() -> None:
    with pytest.raises(InvalidArgumentError, match="at least two"):
        bootstrap_difference(lambda rows: 0.0, 1)
    with pytest.raises(InvalidArgumentError, match="group of each"):
        bootstrap_difference(lambda rows: 0.0, 3, groups=[1, 2])

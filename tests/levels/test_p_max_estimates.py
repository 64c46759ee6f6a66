"""The distribution (2) of the larger count; estimates of p_max: (14), its maximiser, (20), (21)."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import levels
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import (
    entropic_binomial,
    entropic_joint_log_likelihood,
    exact_bias,
    exact_mse,
    joint_log_likelihood,
    sample_size_for_bias,
)
from sureleaf.levels.p_max_estimates import METHODS
from tests.naive import node_levels as naive

IN_ORDER = ("entropic", "blend", "mle")


@st.composite
def counts(draw, max_n: int = 10**9) -> tuple[float, float]:
    """Draw y <= n, whole or fractional, and often close to half of n or to all of it."""
    n = draw(st.one_of(st.integers(0, 50), st.integers(0, max_n), st.floats(0, max_n)))
    near = draw(st.sampled_from([0.0, 0.5, 1.0]))
    apart = draw(st.one_of(st.integers(0, 20), st.floats(0, 4))) * draw(
        st.sampled_from([1, n**0.5])
    )
    y = n * near + apart * (-1 if near == 1 else 1)
    return min(max(y if isinstance(n, float) else round(y), 0), n), n


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 9, 10, 16, 25, 30])
def test_the_entropic_estimate_maximises_the_likelihood_of_the_larger_count(n: int) -> None:
    y = np.arange((n + 1) // 2, n + 1)
    truth = [naive.entropic_estimate(int(each), n) for each in y] if n > 1 else [0.5]
    found = levels.estimate_p_max(y, n, method="entropic")
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("y", "n"),
    [
        (3.7, 5.2),
        (1.2, 1.5),
        (2.999, 3.0),
        (0.7, 0.9),
        (12.5, 20.0),
        (50_005_001, 10**8),  # d * d just above n: the root is close to 0
        (50_005_100, 10**8),
        (500_015_812, 10**9),
        (500_100_000, 10**9),
        (999_999_999, 10**9),
    ],
)
def test_the_entropic_estimate_holds_for_fractional_and_large_counts(y: float, n: float) -> None:
    found = levels.estimate_p_max(y, n, method="entropic")
    assert found == pytest.approx(naive.entropic_estimate(y, n), abs=1e-13)


@given(counts())
def test_the_entropic_estimate_is_exact_where_the_evidence_is_nil_or_full(given_counts) -> None:
    y, n = given_counts
    lead = abs(2 * y - n)
    found = levels.estimate_p_max(y, n, method="entropic")
    if lead * lead <= n:
        assert found == 0.5
    elif y in (0, n):
        assert found == 1.0
    else:
        assert 0.5 < found <= 1.0


def test_a_single_row_or_none_says_nothing() -> None:
    assert levels.estimate_p_max([0, 0, 1], [0, 1, 1], method="entropic").tolist() == [0.5] * 3
    for method in METHODS:
        assert levels.estimate_p_max(0, 0, method=method) == 0.5
    assert levels.estimate_p_max([1, 2], [1, 2], method="mle").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [*range(0, 60), 999, 1000])
def test_order_22_holds_for_every_count_of_a_node(n: int) -> None:
    y = np.arange(n + 1)
    low, middle, high = (levels.estimate_p_max(y, n, method=method) for method in IN_ORDER)
    assert (low <= middle).all()
    assert (middle <= high).all()


@given(counts())
def test_orders_23_and_24_hold_for_the_levels(given_counts) -> None:
    y, n = given_counts
    p = [levels.estimate_p_max(y, n, method=method) for method in IN_ORDER]
    for level in (levels.confidence, levels.utility):
        for low, high in pairwise(level(n, p)):
            assert low <= high + 4e-16  # two roundings


@given(st.integers(1, 30), st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100))
def test_fact_2_the_mle_overestimates(n: int, p: Fraction) -> None:
    estimates = levels.estimate_p_max(np.arange(n + 1), n, method="mle")
    exact = [Fraction(max(y, n - y), n) for y in range(n + 1)]
    assert all(
        abs(Fraction(each) - truth) < 2e-16 for each, truth in zip(estimates, exact, strict=True)
    )
    expected = sum(naive.binomial(y, n, p) * exact[y] for y in range(n + 1))
    assert expected > max(p, 1 - p)


def test_example_2_of_the_paper() -> None:
    assert levels.estimate_p_max(5, 7, method="mle") == pytest.approx(5 / 7, abs=1e-16)
    assert levels.estimate_p_max(5, 7, method="entropic") == pytest.approx(2 / 3, abs=1e-15)
    # (21) is 103/147 = .7007; the paper prints .7000, which is the weight .7 rounded from 5/7
    assert levels.estimate_p_max(5, 7) == pytest.approx(103 / 147, abs=1e-15)
    assert levels.estimate_p_max(5, 7, weight=0.7) == pytest.approx(0.7, abs=1e-15)


@given(counts(), st.floats(0, 1))
def test_the_weight_leads_from_entropic_to_mle(given_counts, weight: float) -> None:
    y, n = given_counts
    low, high = (levels.estimate_p_max(y, n, method=m) for m in ("entropic", "mle"))
    mixed = levels.estimate_p_max(y, n, weight=[0.0, weight, 1.0])
    expected = [low, weight * high + (1 - weight) * low, high]
    np.testing.assert_allclose(mixed, expected, rtol=0, atol=3e-16)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": 5, "n": 4}, r"y must be at most n, the rows of both classes; got 5\.0"),
        ({"y": -1, "n": 4}, r"y must be a finite count of rows, 0 or more; got -1\.0"),
        ({"y": 1, "n": -4}, "n must be a finite count"),
        ({"y": 1, "n": float("inf")}, "n must be a finite count"),
        ({"y": float("nan"), "n": 3}, "y must be a finite count .* got nan"),
        ({"y": 1, "n": 0}, "y must be at most n"),
        ({"y": [1, 2], "n": [3, 4, 5]}, "shapes must broadcast"),
        ({"y": 1, "n": 3, "method": "best"}, "method must be one of .*; got 'best'"),
        ({"y": 1, "n": 3, "weight": 1.5}, "weight must be from 0 to 1; got 1.5"),
        ({"y": 1, "n": 3, "method": "mle", "weight": 0.5}, "weight belongs to method='blend'"),
    ],
)
def test_bad_scalars_raise_and_are_named(arguments, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        levels.estimate_p_max(**arguments)


@pytest.mark.parametrize("method", METHODS)
def test_one_bad_element_is_nan_and_leaves_the_others_alone(method: str) -> None:
    y, n = [3, 6, -1, np.nan, 3, 1, 3], [5, 5, 5, 5, np.inf, 0, -5]
    found = levels.estimate_p_max(y, n, method=method)
    assert np.isnan(found).tolist() == [False] + [True] * 6
    assert found[0] == levels.estimate_p_max(3, 5, method=method)
    assert levels.estimate_p_max([], 5, method=method).shape == (0,)
    assert type(levels.estimate_p_max(3, 5, method=method)) is float


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "estimators.md").read_text("utf-8")
METHOD_NAMES = ["mle", "entropic", "blend"]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table rows under a heading of the page."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_exact_figures_are_exact() -> None:
    p = np.linspace(0.5, 1, 501)
    table = [row for row in rows("Exact figures") if row[0].isdigit()]
    assert [int(row[0]) for row in table] == [5, 10, 20, 50, 100, 200]
    for n, *cells in table:
        for i, method in enumerate(METHOD_NAMES):
            bias = np.abs(exact_bias(int(n), p, method=method)).max()
            mse = exact_mse(int(n), p, method=method).mean()
            assert cells[2 * i : 2 * i + 2] == [f"{bias:.4f}", f"{1000 * mse:.3f}"]


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", METHOD_NAMES)
def test_the_numbers_of_rows_are_those_of_sample_size_for_bias(method: str, quick: bool) -> None:
    table = [row for row in rows("How many rows for a bias of 1 or 2 %?") if "%" in row[1]]
    assert len(table) == 9
    for where, bound, *cells in table:
        if (bound[0] == "2" or where.startswith("0.7")) != quick:
            continue
        p, _, of = where.partition(", ") if "[" not in where else (where, "", "")
        p_range = tuple(float(end) for end in p.strip("[]").split(", "))
        found = sample_size_for_bias(
            p_range, bias=float(bound[0]) / 100, method=method, of=of or "p_max"
        )
        assert int(cells[METHOD_NAMES.index(method)]) == found


SHARES, P = (0.2, 0.5, 0.3), (0.9, 0.4, 0.5)
Counts = tuple[tuple[int, int], ...]


def all_samples(n: int, *, larger: bool) -> dict[Counts, float]:
    """Probability of each node's (y, n) by listing what each of the n rows may be."""
    found: dict[Counts, float] = defaultdict(float)
    for sample in product(product(range(3), (0, 1)), repeat=n):
        chance = 1.0
        counts = [[0, 0] for _ in SHARES]
        for node, label in sample:
            chance *= SHARES[node] * (P[node] if label else 1 - P[node])
            counts[node][0] += label
            counts[node][1] += 1
        key = tuple((max(y, m - y) if larger else y, m) for y, m in counts)
        found[key] += chance
    return found


@pytest.mark.parametrize("n", [1, 2, 5])
def test_3_is_the_probability_of_the_counts(n: int) -> None:
    for counts, chance in all_samples(n, larger=False).items():
        y, sizes = zip(*counts, strict=True)
        found = joint_log_likelihood(y, sizes, SHARES, P)
        assert np.exp(found) == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_4_is_the_probability_of_the_larger_counts(n: int) -> None:
    p_max = [max(p, 1 - p) for p in P]
    for counts, chance in all_samples(n, larger=True).items():
        y, sizes = zip(*counts, strict=True)
        found = entropic_joint_log_likelihood(y, sizes, SHARES, p_max)
        assert np.exp(found) == pytest.approx(chance, rel=1e-12)
        smaller = np.subtract(sizes, y)
        assert entropic_joint_log_likelihood(smaller, sizes, SHARES, p_max) == found


def test_what_cannot_happen_has_minus_infinity() -> None:
    assert joint_log_likelihood([1], [2], [1.0], [1.0]) == -np.inf
    assert joint_log_likelihood([1, 1], [1, 1], [1.0, 0.0], [0.5, 0.5]) == -np.inf
    assert entropic_joint_log_likelihood([1], [2], [1.0], [1.0]) == -np.inf
    assert joint_log_likelihood([2], [2], [1.0], [1.0]) == 0.0


@pytest.mark.parametrize("likelihood", [joint_log_likelihood, entropic_joint_log_likelihood])
def test_trees_broadcast_and_bad_ones_are_nan(likelihood) -> None:
    y, n = [[1, 2], [3, 2], [1, 2], [-1, 2]], [[2, 3], [2, 3], [2, 3], [2, 3]]
    shares = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.6], [0.5, 0.5]]
    found = likelihood(y, n, shares, [0.6, 0.7])
    assert np.isnan(found).tolist() == [False, True, True, True]
    one = likelihood(y[0], n[0], shares[0], [0.6, 0.7])
    assert type(one) is float
    assert found[0] == one


@pytest.mark.parametrize("likelihood", [joint_log_likelihood, entropic_joint_log_likelihood])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3, 0], [2, 2], [0.5, 0.5], [0.6, 0.6]), "y must be at most n"),
        (([-1, 0], [2, 2], [0.5, 0.5], [0.6, 0.6]), "y must be a finite count"),
        (([1, 0], [2, 2], [0.5, 0.6], [0.6, 0.6]), "shares must be 0 or more and add up to 1"),
        (([1, 0], [2, 2], [0.5, 0.5], [0.6, 1.6]), "must be from"),
        (([1, 0, 1], [2, 2], [0.5, 0.5], [0.6, 0.6]), "shapes must broadcast"),
        (([1], [2, 2], [0.5, 0.5], [0.6, 0.6]), "one value per node"),
        ((1, 2, [1.0], 0.6), "one value per node"),
    ],
)
def test_bad_trees_raise_and_are_named(likelihood, arguments, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        likelihood(*arguments)


# ---- the distribution of the larger count --------------------------------------------------------

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

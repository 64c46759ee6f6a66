"""Estimates of p_max: mle (14), entropic mle (maximiser of (2)), blend (20), (21)."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sureleaf import levels
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.estimates import METHODS
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


@given(counts())
def test_order_22_entropic_blend_mle(given_counts) -> None:
    y, n = given_counts
    found = [levels.estimate_p_max(y, n, method=method) for method in IN_ORDER]
    assert 0.5 <= found[0] <= found[1] <= found[2] <= 1.0


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


@given(counts())
def test_either_class_may_be_counted(given_counts) -> None:
    y, n = given_counts
    assume(n - (n - y) == y)
    for method in METHODS:
        one, other = levels.estimate_p_max([y, n - y], n, method=method)
        assert one == other


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


def test_a_method_is_added_by_naming_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "laplace", lambda y_max, n: (y_max + 1) / (n + 2))
    assert levels.estimate_p_max([0, 2, 0], [4, 4, 0], method="laplace").tolist() == [
        5 / 6,
        0.5,
        0.5,
    ]


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

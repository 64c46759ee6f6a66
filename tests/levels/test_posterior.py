"""The posterior estimate of p_max, and the claim that it beats the blend."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from sureleaf.levels import estimate_p_max, exact_bias, exact_mse

GRID = np.linspace(0.5, 1, 101)


@pytest.mark.parametrize("n", [*range(5, 201), 300, 1000, 3001])
def test_its_worst_bias_is_smaller_and_its_mean_mse_no_larger_than_the_blends(n: int) -> None:
    worst, mean = {}, {}
    for method in ("posterior", "blend"):
        worst[method] = np.abs(exact_bias(n, GRID, method=method)).max()
        mean[method] = exact_mse(n, GRID, method=method).mean()
    assert worst["posterior"] < 0.98 * worst["blend"]
    assert mean["posterior"] < mean["blend"]


@pytest.mark.parametrize(("y", "n"), [(1, 1), (5, 7), (10, 20), (20, 20), (61.5, 100.25)])
def test_it_is_the_posterior_mean_less_most_of_a_multiple_of_the_density_at_a_half(
    y: float, n: float
) -> None:
    belief = beta(y + 0.5, n - y + 0.5)
    mean = (
        quad(lambda p: (1 - p) * belief.pdf(p), 0, 0.5)[0]
        + quad(lambda p: p * belief.pdf(p), 0.5, 1)[0]
    )
    wanted = mean - 13 / 14 * belief.pdf(0.5) / (2 * (n + 1))
    assert estimate_p_max(y, n, method="posterior") == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7.5, 20, 1000, 10**6, 10**9])
def test_it_grows_with_the_majority_and_stays_between_a_half_and_one(n: float) -> None:
    near = n / 2 + np.minimum(np.linspace(0, 6 * np.sqrt(n), 400), n / 2)
    for y in (np.linspace(n / 2, n, 400), near):
        found = estimate_p_max(y, n, method="posterior")
        assert found.min() >= 0.5
        assert found.max() <= 1.0
        assert np.diff(found).min() >= -1e-12


def test_it_does_not_trust_a_pure_node_of_few_rows() -> None:
    assert estimate_p_max(3, 3, method="posterior") == pytest.approx(0.8524, abs=5e-5)
    assert estimate_p_max(3, 3, method="blend") == 1.0


def test_either_class_may_be_counted_and_no_rows_say_nothing() -> None:
    assert estimate_p_max(2, 7, method="posterior") == estimate_p_max(5, 7, method="posterior")
    assert estimate_p_max(0, 0, method="posterior") == 0.5

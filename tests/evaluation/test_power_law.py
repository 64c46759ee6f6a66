"""The power law: recovered where it is true, bounded where it is not."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.learning_curves import PowerLaw, fit_power_law

N = np.array([50, 100, 200, 400, 800])


@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("height", [0.4, 3.0])
def test_an_exact_law_is_found_again(rate: float, height: float) -> None:
    law = fit_power_law(N, 0.9 - height * N**-rate, high=1.0, low=-np.inf)
    assert law.limit == pytest.approx(0.9, abs=1e-4)
    assert law.rate == pytest.approx(rate, rel=1e-2)
    np.testing.assert_allclose(law(N), 0.9 - height * N**-rate, atol=1e-6)


def test_the_fit_is_the_least_squares_one_of_scipy() -> None:
    generator = np.random.default_rng(0)
    y = 0.3 + 2 * N**-0.6 + generator.normal(0, 0.005, 5)
    w = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
    law = fit_power_law(N, y, weights=w, increasing=False, low=0.0)
    best, _ = curve_fit(
        lambda n, a, b, c: a + b * n**-c, N, y, p0=[0.3, 2, 0.6], sigma=1 / np.sqrt(w)
    )
    ours = (w * (law(N) - y) ** 2).sum()
    theirs = (w * (best[0] + best[1] * N ** -best[2] - y) ** 2).sum()
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_a_limit_outside_the_range_is_held_at_its_edge() -> None:
    law = fit_power_law(N, 1.05 - 2 * N**-0.5, high=1.0, low=0.0)
    assert law.limit == 1.0


def test_a_curve_that_goes_the_wrong_way_is_flat() -> None:
    law = fit_power_law(N, 0.8 + 1 / N)
    assert law.height == 0.0
    assert law.limit == pytest.approx(np.mean(0.8 + 1 / N))
    assert law.rows_for(0.9) == math.inf


def test_rows_for_inverts_the_law() -> None:
    law = fit_power_law(N, 0.9 - 2 * N**-0.5)
    for n in (30, 1000, 10**6):
        assert law.rows_for(law(n)) == pytest.approx(n, rel=1e-3)
    assert law.rows_for(0.95) == math.inf


def test_two_sizes_are_too_few() -> None:
    with pytest.raises(InvalidArgumentError, match="three or more sizes; got 2"):
        fit_power_law([1, 2], [0.1, 0.2])


def test_rows_beyond_all_numbers_are_none() -> None:
    assert PowerLaw(0.9, 1.0, 0.05).rows_for(0.9 - 1e-16) == np.inf
    assert PowerLaw(0.9, 1.0, 0.5).rows_for(0.8) == pytest.approx(100)

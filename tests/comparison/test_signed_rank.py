"""The Bayesian signed-rank test against direct integration and symmetry."""

import numpy as np
import pytest

from sureleaf.comparison import bayesian_signed_rank
from sureleaf.errors import InvalidArgumentError


def test_one_data_set_is_the_beta_integral() -> None:
    # Weights (w0, w1) ~ Dirichlet(1/2, 1); the pairs (1,1) and (0,1) lie above: w1² + 2 w0 w1,
    # which is the larger share when w0² < 1/2.
    from scipy.stats import beta

    expected = beta(0.5, 1).cdf(np.sqrt(0.5))
    found = bayesian_signed_rank([0.3], draws=200_000)
    assert abs(found.better - expected) < 4 * found.simulation_error
    assert found.worse == 0.0


def test_a_slow_twin_counts_the_same_draws() -> None:
    differences, margin = [0.03, -0.02, 0.01, 0.04], 0.01
    points = [0.0, *differences]
    rng = np.random.default_rng(0)
    won = np.zeros(3)
    for weights in rng.dirichlet([0.5, 1, 1, 1, 1], size=500):
        shares = np.zeros(3)
        for wi, zi in zip(weights, points, strict=True):
            for wj, zj in zip(weights, points, strict=True):
                mean = (zi + zj) / 2
                shares[0 if mean > margin else 2 if mean < -margin else 1] += wi * wj
        won[shares.argmax()] += 1 / 500
    found = bayesian_signed_rank(differences, margin=margin, draws=500)
    assert (found.better, found.equivalent, found.worse) == pytest.approx(tuple(won))


def test_swapping_the_algorithms_swaps_the_answer() -> None:
    differences = np.random.default_rng(4).normal(0.01, 0.02, size=15)
    one = bayesian_signed_rank(differences, margin=0.01)
    other = bayesian_signed_rank(-differences, margin=0.01)
    assert (one.better, one.worse) == pytest.approx((other.worse, other.better))
    assert one.better + one.equivalent + one.worse == pytest.approx(1)


def test_no_differences_at_all_are_equivalent_within_any_margin() -> None:
    assert bayesian_signed_rank(np.zeros(8), margin=0.01).equivalent == 1.0


@pytest.mark.parametrize("bad", [{"margin": -1.0}, {"prior_strength": 0.0}, {"draws": 0}])
def test_bad_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidArgumentError):
        bayesian_signed_rank([0.1, 0.2], **bad)


def test_differences_must_be_numbers() -> None:
    with pytest.raises(InvalidArgumentError, match="finite"):
        bayesian_signed_rank([0.1, np.nan])

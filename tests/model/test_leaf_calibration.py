import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import betabinom

from sureleaf.model.leaf_calibration import (
    fit_leaf_calibration,
    fit_shared_rows,
    largest_error_share,
    leaf_strength,
    shift_to_mean,
)


def simulate(n, slopes, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 2))
    correct = (rng.random(n) < expit(0.5 + features @ slopes)).astype(float)
    return features, correct


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_rows_that_are_all_correct_or_all_wrong_give_a_flat_curve_short_of_certainty(value):
    rate = fit_leaf_calibration(np.zeros((5, 2)), np.full(5, value), np.ones(5))(np.zeros((1, 2)))[
        0
    ]
    assert rate == pytest.approx(0.9 if value else 0.1)


@pytest.mark.parametrize("target", [0.01, 0.5, 0.99])
def test_the_shift_meets_its_target(target):
    rates, shares = np.array([0.0, 0.3, 1.0]), np.array([0.2, 0.5, 0.3])
    shifted = shift_to_mean(rates, shares, target)
    assert shares @ shifted == pytest.approx(target, abs=1e-9)
    moved = shift_to_mean(np.array([0.2, 0.4]), np.array([0.5, 0.5]), target)
    assert np.diff(np.log(moved / (1 - moved))) == pytest.approx(np.log(8 / 3))


@pytest.mark.parametrize(("c", "most"), [(1 / 16, 512.0), (1.0, 8.0), (1.0, 512.0)])
def test_the_strength_is_that_of_the_beta_that_made_the_leaves(c, most):
    rng = np.random.default_rng(3)
    size = 10
    rows = np.repeat([3.0, 15.0, 255.0], 3000)
    strength = 1 / (1 / (c * (rows + 1)) + 1 / most)
    correct = betabinom(size, 0.7 * strength, 0.3 * strength).rvs(random_state=rng)
    n = len(rows)
    found = leaf_strength(correct.astype(float), np.full(n, float(size)), np.full(n, 0.7), rows)
    assert found(np.array([15.0])) == pytest.approx(1 / (1 / (c * 16) + 1 / most), rel=0.15)
    assert found(np.array([255.0])) == pytest.approx(1 / (1 / (c * 256) + 1 / most), rel=0.4)


def test_the_curve_is_the_best_one_with_slopes_that_are_not_negative():
    for seed in range(20):
        features, correct = simulate(60, np.array([0.8, -0.3]) * (seed % 5), seed)
        features[:, 1] += features[:, 0]
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], 60)
        if correct.min() == correct.max():
            continue
        center = weights @ features / weights.sum()
        scale = np.sqrt(weights @ (features - center) ** 2 / weights.sum())
        scaled = np.column_stack([np.ones(60), (features - center) / scale])

        def loss(terms, scaled=scaled, correct=correct, weights=weights):
            odds = scaled @ terms
            misfit = weights @ (np.logaddexp(0, odds) - correct * odds)
            slope = scaled.T @ (weights * (expit(odds) - correct))
            slope[1:] += terms[1:]
            return misfit + 0.5 * terms[1:] @ terms[1:], slope

        bounds = [(None, None), (0, None), (0, None)]
        best = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B", bounds=bounds).fun
        curve = fit_leaf_calibration(features, weights * correct, weights)
        slopes = np.array(curve.slopes)
        assert (slopes >= 0).all()
        terms = np.concatenate([[curve.constant + slopes @ center], slopes * scale])
        assert loss(terms)[0] <= best + 1e-9


def test_equal_features_and_weights_beside_which_the_ridge_vanishes_give_a_finite_curve():
    features, correct = simulate(60, np.array([0.8, 0.3]))
    features[:, 1] = features[:, 0]
    few = fit_leaf_calibration(features, 1e6 * correct, np.full(60, 1e6))
    many = fit_leaf_calibration(features, 1e30 * correct, np.full(60, 1e30))
    assert many(features) == pytest.approx(few(features), abs=1e-3)


@pytest.mark.parametrize("weights", [[0.02] * 5, [3.0, 0.05, 0, 1], [40.0, 35, 20, 0.1]])
def test_the_largest_error_share_is_the_mean_over_the_dirichlet_distribution(weights):
    drawn = np.random.default_rng(0).dirichlet([each for each in weights if each], 40_000)
    error = drawn.max(axis=1).std() / 200
    found = largest_error_share(np.array([weights]))[0]
    assert found == pytest.approx(drawn.max(axis=1).mean(), abs=4 * error)


@pytest.mark.parametrize("truth", [1.0, 8.0, 64.0])
def test_the_shared_rows_are_those_of_the_errors_that_were_drawn(truth):
    rng = np.random.default_rng(0)
    shares = np.full((4000, 5), [0, 0.4, 0.3, 0.2, 0.1])
    grown = rng.integers(0, 3, (4000, 5)) * (shares > 0)
    of_leaf = [rng.dirichlet(each[1:]) for each in grown + truth * shares]
    wrong = np.array([[0, *rng.multinomial(6, each)] for each in of_leaf], float)
    assert fit_shared_rows(grown.astype(float), wrong, shares) == pytest.approx(truth, rel=0.4)

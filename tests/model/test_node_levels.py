"""Levels of nodes: the posterior confidence, and the exact tie of a tree of one leaf."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, norm

from sureleaf import TreeClassifier
from sureleaf.levels.decisions import CostRule
from sureleaf.model import node_levels as module
from sureleaf.model.node_levels import levels_of_accuracy, posterior_confidence, tie_prior
from tests.naive.rows_to_lead import naive_factor_to_lead


def slow_confidence(accuracy, strength, tie, prior):
    """Bayes' rule over two cases: an exact tie, or an accuracy that is not one."""
    above = beta.sf(tie, accuracy * strength, (1 - accuracy) * strength)
    error = np.sqrt(accuracy * (1 - accuracy) / (strength + 1))
    if_tied = norm.pdf(accuracy, tie, error)
    if_not = quad(
        lambda truth: norm.pdf(truth, tie, 0.2) * norm.pdf(accuracy, truth, error),
        accuracy - 12 * error,
        accuracy + 12 * error,
        epsabs=1e-13,
    )[0]
    tied = prior * if_tied / (prior * if_tied + (1 - prior) * if_not)
    return 0.5 * tied + (1 - tied) * above


@pytest.mark.parametrize("strength", [3.0, 40.0, 900.0])
@pytest.mark.parametrize("accuracy", [0.31, 0.5, 0.54, 0.7])
def test_the_confidence_is_the_mean_over_a_tie_and_a_lead(accuracy, strength):
    stated = posterior_confidence(np.array([accuracy]), np.array([strength]), np.array([0.5]), 0.5)
    assert stated[0] == pytest.approx(slow_confidence(accuracy, strength, 0.5, 0.5), abs=1e-8)


def test_near_a_tie_more_rows_make_a_lead_less_probable():
    """At the same number of standard errors, as pure noise has them for any number of rows."""
    rows = np.array([100.0, 1_000.0, 10_000.0])
    accuracy = 0.5 + 1.5 * 0.5 / np.sqrt(rows)
    stated = posterior_confidence(accuracy, rows, np.full(3, 0.5), 0.5)
    assert (np.diff(stated) < 0).all()
    assert stated[-1] < 0.7
    assert (posterior_confidence(accuracy, rows, np.full(3, 0.5)) > 0.9).all()


def test_a_clear_majority_stays_certain():
    rows = np.array([100.0, 1_000.0])
    stated = posterior_confidence(np.full(2, 0.7), rows, np.full(2, 0.5), 0.5)
    assert (stated > 0.99).all()


def test_only_a_tree_of_one_leaf_without_costs_may_tie_exactly():
    rule = CostRule(np.array([[0.0, 1.0], [5.0, 0.0]]))
    assert tie_prior(1, None) > 0
    assert tie_prior(3, None) == 0
    assert tie_prior(1, rule) == 0


def test_rows_needed_of_a_tree_of_one_leaf_reach_its_confidence():
    counts = np.array([[45.0, 55.0]])
    known = np.array([100.0])
    levels = levels_of_accuracy(counts, known, counts / 100, np.array([0.55]), known)
    assert levels.confidence[0] < 0.8
    needed = levels.rows_needed(np.array([0]), 0.95, None)[0]

    def confidence_with(rows):
        share = 0.55 * 100 / 101  # as `rows_needed` counts it, with an error in the next row
        return posterior_confidence(np.array([share]), np.array([rows]), np.array([0.5]), 0.5)[0]

    assert confidence_with(needed) >= 0.95
    assert confidence_with(needed - 2) < 0.95


def test_on_pure_noise_a_tree_of_one_leaf_is_not_sure_of_its_class():
    rng = np.random.default_rng(0)
    stated = []
    for seed in range(12):
        X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
        model = TreeClassifier(max_leaves=1, random_state=seed).fit(X, y)
        stated.append(model.leaves().confidence[0])
    assert np.mean(stated) < 0.65  # .5 is right, and 0.75 is what an accuracy alone would state
    assert max(stated) < 0.95


@pytest.mark.parametrize("against", [0.0, 1.0])
@pytest.mark.parametrize("limit", [0.9, 0.975, 0.9999])
def test_the_rows_to_lead_are_those_of_a_bisection(limit, against):
    rng = np.random.default_rng(0)
    n = 400
    known = np.concatenate([[0.0], 10 ** rng.uniform(-1, 6, n - 1)])
    tie = rng.uniform(0.05, 0.6, n)
    share = np.clip(tie + rng.choice([-0.1, 0.0, 1e-8, 1e-4, 0.01, 0.1, 0.4], n), 0.0, 1.0)
    share[-20:] = 1.0
    found = module._factor_to_lead(known, share, tie, limit, against)
    slow = naive_factor_to_lead(known, share, tie, limit, against)
    assert np.array_equal(np.isnan(found), np.isnan(slow))
    np.testing.assert_allclose(found, slow, rtol=1e-6)
    assert np.isnan(slow).any()
    assert (slow > 1).any()
    assert (slow < 1).any()

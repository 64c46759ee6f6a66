"""Levels of nodes: the posterior confidence, and the exact tie of a tree of one leaf."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from sureleaf import TreeClassifier
from sureleaf.levels.decisions import CostRule
from sureleaf.model.node_levels import (
    error_ties,
    levels_of_accuracy,
    posterior_confidence,
    tie_prior,
)


def slow_confidence(accuracy, strength, tie, prior):
    """Bayes' rule over two cases: an exact tie, or any accuracy, all being as likely."""
    y, n = accuracy * strength, strength
    above = beta.sf(tie, y, n - y)

    def likelihood(truth):
        return truth**y * (1 - truth) ** (n - y)

    scale = likelihood(accuracy)
    if_not = quad(lambda truth: likelihood(truth) / scale, 0, 1, points=[accuracy], epsabs=1e-13)[0]
    if_tied = likelihood(tie) / scale
    tied = prior * if_tied / (prior * if_tied + (1 - prior) * if_not)
    return tie * tied + (1 - tied) * above


@pytest.mark.parametrize("tie", [0.5, 0.1])
@pytest.mark.parametrize("strength", [3.0, 40.0, 500.0])
@pytest.mark.parametrize("accuracy", [0.31, 0.5, 0.54, 0.7])
def test_the_confidence_is_the_mean_over_a_tie_and_a_lead(accuracy, strength, tie):
    stated = posterior_confidence(np.array([accuracy]), np.array([strength]), np.array([tie]), 0.5)
    assert stated[0] == pytest.approx(slow_confidence(accuracy, strength, tie, 0.5), abs=1e-6)


def test_near_a_tie_more_rows_make_a_lead_less_probable():
    """At the same number of standard errors, as pure noise has them for any number of rows."""
    rows = np.array([100.0, 1_000.0, 10_000.0])
    accuracy = 0.5 + 1.5 * 0.5 / np.sqrt(rows)
    stated = posterior_confidence(accuracy, rows, np.full(3, 0.5), 0.5)
    assert (np.diff(stated) < 0).all()
    assert stated[-1] < 0.7
    assert (posterior_confidence(accuracy, rows, np.full(3, 0.5)) > 0.9).all()


def test_only_a_tree_of_one_leaf_without_costs_may_tie_exactly():
    rule = CostRule(np.array([[0.0, 1.0], [5.0, 0.0]]))
    assert tie_prior(1, None) > 0
    assert tie_prior(3, None) == 0
    assert tie_prior(1, rule) == 0


def test_on_pure_noise_a_tree_of_one_leaf_is_not_sure_of_its_class():
    rng = np.random.default_rng(0)
    stated = []
    for seed in range(12):
        X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
        model = TreeClassifier(max_leaves=1, random_state=seed).fit(X, y)
        stated.append(model.leaves().confidence[0])
    assert np.mean(stated) < 0.65  # .5 is right, and 0.75 is what an accuracy alone would state
    assert max(stated) < 0.95


def test_on_noise_of_ten_classes_a_tree_of_one_leaf_states_a_tenth():
    rng = np.random.default_rng(0)
    stated = []
    for seed in range(6):
        X, y = rng.normal(size=(400, 3)), rng.integers(0, 10, 400)
        stated.append(TreeClassifier(max_leaves=1, random_state=seed).fit(X, y).leaves().confidence)
    assert np.mean(stated) == pytest.approx(0.1, abs=0.08)  # it was .5, whatever the classes


def test_classes_whose_errors_go_to_one_neighbour_tie_far_above_a_share_of_26():
    counts, predicted = np.array([[60.0] * 26, [5.0] + [0.0] * 25]), np.array([0, 0])
    spread, concentrated = (error_ties(counts, predicted, m)[1] for m in (1000.0, 1.0))
    assert spread < 0.06  # a leaf of five rows among 26 classes would seem to lead with .1
    assert concentrated > 0.35


def test_a_leaf_is_flagged_below_a_wanted_level_or_a_tie_or_without_rows_and_by_no_other_rule():
    """A leaf of .96 was flagged at a wanted .95, because its interval reached a tie."""
    accuracy = np.array([0.62, 0.62, 0.4, 0.62])
    strength = np.array([50.0, 30.0, 50.0, 50.0])
    counts = np.array([[30.0, 20.0]] * 4)
    n = np.array([50.0, 50.0, 50.0, 0.0])
    levels = levels_of_accuracy(counts, n, counts / 50, accuracy, strength)
    assert 0.95 <= levels.confidence[0] < 0.975
    assert levels.confidence[1] < 0.95
    assert levels.is_weak(0.95).tolist() == [False, True, True, True]
    assert levels.is_weak(None).tolist() == [False, False, True, True]
    assert levels.is_weak(None, 0.7).tolist() == [True] * 4
    for low in (levels.is_weak(0.1), levels.is_weak(None, 0.1)):
        assert low.tolist() == [False, False, True, True]

"""What a leaf states with the nodes above it."""

import dataclasses

import numpy as np
import pytest

from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.probability import Averaging, Frequency, Shrinkage
from tests.naive.leaf_estimates import average, shrink
from tests.probability.trees import small_tree

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strength", [0.5, 10.0])
def test_shrinkage_walks_the_path(seed, strength):
    tree = small_tree(seed)
    found = Shrinkage(strength)(tree, tree.class_counts)
    slow = [shrink(tree, node, strength) for node in range(tree.n_nodes)]
    np.testing.assert_allclose(found, slow, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("added", [0.5, 1.0])
def test_averaging_is_the_mean_over_all_prunings_listed(seed, added):
    tree = small_tree(seed)
    found = Averaging(added)(tree, tree.class_counts)
    for leaf in tree.leaf_ids:
        np.testing.assert_allclose(found[leaf], average(tree, int(leaf), added), rtol=1e-10)


def test_little_strength_is_the_frequency_and_much_is_no_class_at_all():
    tree = small_tree(0)
    weak = Shrinkage(1e-9)(tree, tree.class_counts)
    filled = tree.counts_or_parent.sum(axis=1) == tree.class_counts.sum(axis=1)
    np.testing.assert_allclose(
        weak[filled], Frequency()(tree, tree.class_counts)[filled], atol=1e-6
    )
    strong = Shrinkage(1e12)(tree, tree.class_counts)
    np.testing.assert_allclose(strong, 1 / 3, atol=1e-6)


def test_averaging_cuts_off_splits_that_explain_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), rng.random(2000) < 0.3
    model = TreeClassifier.c45(
        criterion="gini",
        min_samples_leaf=1,
        collapse=False,
        pruning=None,
        leaf_estimate="averaging",
    ).fit(X, y)
    assert model.tree_.n_leaves > 300
    # Each row's standard error of a share of 0.3 of 2000 rows is 0.01.
    assert np.abs(model.predict_proba(X)[:, 1] - 0.3).mean() < 0.05


def test_averaging_believes_a_split_that_explains_everything():
    X = np.arange(1000.0)[:, np.newaxis]
    model = TreeClassifier.c45(leaf_estimate="averaging").fit(X, X[:, 0] >= 500)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[500.5 / 501, 0.5 / 501]], rtol=1e-9)


@pytest.mark.parametrize("strength", [0, -1, np.nan, np.inf])
def test_a_strength_is_above_zero(strength):
    with pytest.raises(InvalidArgumentError, match="strength must be a number of rows above 0"):
        Shrinkage(strength)


def test_bad_parameters_of_averaging_are_named():
    with pytest.raises(InvalidArgumentError, match="added must be"):
        Averaging(0)
    with pytest.raises(InvalidArgumentError, match="added must be"):
        Averaging(np.inf)
    for charge in (-1, np.inf):
        with pytest.raises(InvalidArgumentError, match="charge must be"):
            Averaging(0.5, charge)


def test_without_a_charge_a_split_is_as_likely_as_a_leaf():
    tree = small_tree(2)
    counts = np.zeros((len(tree.class_counts), 3))
    counts[:, 0] = tree.class_counts[:, 0]  # one class: every pruning explains the rows as well
    free, charged = (Averaging(1.0, charge)(tree, counts)[-1, 0] for charge in (0, 1))
    assert free < charged  # leaves have fewer rows than the nodes above them


@pytest.mark.parametrize("share", [0.01, 0.37])
def test_averaging_takes_parts_of_rows_at_their_weight(share):
    tree = small_tree(3)
    tree = dataclasses.replace(tree, class_counts=share * tree.class_counts)
    found = Averaging(0.5)(tree, tree.class_counts)
    for leaf in np.flatnonzero(tree.is_leaf):
        np.testing.assert_allclose(found[leaf], average(tree, leaf, 0.5), rtol=1e-10)


def test_huge_counts_overflow_nothing():
    tree = small_tree(1)
    for estimate in (Averaging(), Shrinkage()):
        found = estimate(tree, tree.class_counts * 1e9)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)

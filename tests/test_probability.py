"""What a leaf states: from its own counts, and with the nodes above it."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import InvalidArgumentError, TreeClassifier, levels
from sureleaf.levels.decisions import cost_rule
from sureleaf.probability import (
    ESTIMATES,
    Averaging,
    Blend,
    Frequency,
    Jeffreys,
    KeepDecision,
    KeepMajority,
    Laplace,
    MEstimate,
    Shrinkage,
    find_estimate,
    is_built_in,
)
from sureleaf.tree import Tree
from tests.naive.leaf_estimates import average, shrink


def one_leaf(counts: Sequence[float]) -> Tree:
    """Give a tree that is one leaf with these counts."""
    return Tree(
        feature=np.array([-1]),
        threshold=np.array([np.nan]),
        child_offset=np.array([0, 0]),
        children=np.array([], dtype=np.int32),
        branch_share=np.array([]),
        category_offset=np.array([0, 0]),
        category_branch=np.array([], dtype=np.int32),
        class_counts=np.array([counts], dtype=float),
        n_columns=1,
    )


def small_tree(seed: int, n_rows: int = 40, n_classes: int = 3) -> Tree:
    """Give a tree of a few leaves, with a many-way split among them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 9, n_rows), rng.integers(0, 3, n_rows)])
    y = rng.integers(0, n_classes, n_rows)
    model = TreeClassifier.c45(
        criterion="gini",
        categorical_features=[1],
        max_depth=2,
        min_samples_leaf=1,
        collapse=False,
        pruning=None,
    )
    return model.fit(X, y).tree_


def stated(estimate, *counts):
    return estimate(one_leaf(counts), np.array([counts], dtype=float))[0]


def test_the_laplace_estimates_of_the_source_paper():
    assert stated(Laplace(), 5, 0)[0] == pytest.approx(6 / 7)
    assert stated(Laplace(), 50, 0)[0] == pytest.approx(51 / 52)


def test_jeffreys_adds_half_a_row_of_each_class():
    np.testing.assert_allclose(stated(Jeffreys(), 3, 1, 0), [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5])


def test_the_m_estimate_adds_ten_rows_of_the_rarest_class():
    tree = TreeClassifier.c45(max_depth=1, min_samples_leaf=1, pruning=None, collapse=False)
    tree.fit([[1]] * 6 + [[2]] * 4, [0] * 6 + [0, 0, 1, 1])
    found = MEstimate()(tree.tree_, tree.tree_.class_counts)
    m = 10 / 0.2
    np.testing.assert_allclose(found[1], [(6 + 0.8 * m) / (6 + m), (0.2 * m) / (6 + m)])


def test_an_m_of_zero_is_the_frequency_and_a_negative_one_an_error():
    np.testing.assert_allclose(stated(MEstimate(m=0), 3, 1), [0.75, 0.25])
    with pytest.raises(InvalidArgumentError, match="m must be a number of rows"):
        MEstimate(m=-1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_blend_of_two_classes_is_that_of_the_levels(first, second):
    if first + second == 0:
        return
    p_max = levels.estimate_p_max(max(first, second), first + second, method="blend")
    found = stated(Blend(), first, second)
    assert found.max() == pytest.approx(p_max, abs=1e-12)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.integers(0, 30), min_size=3, max_size=6))
def test_the_blend_of_more_classes_keeps_the_others_and_the_order(counts):
    if sum(counts) == 0:
        return
    found, frequency = stated(Blend(), *counts), np.array(counts) / sum(counts)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.max() == pytest.approx(found[frequency.argmax()], abs=1e-12)
    for a in range(len(counts)):
        for b in range(len(counts)):
            if counts[a] == counts[b] < max(counts):
                assert found[a] == pytest.approx(found[b], abs=1e-12)
    runner_up = np.sort(counts)[-2]
    others = np.array(counts) < runner_up
    np.testing.assert_allclose(found[others], frequency[others], atol=1e-12)


@pytest.mark.parametrize("name", ESTIMATES)
def test_an_empty_leaf_and_an_empty_tree_have_probabilities(name):
    model = TreeClassifier.c45(criterion="gini", pruning=None, collapse=False, min_samples_leaf=1)
    model.fit([["a"], ["a"], ["b"], ["c"], ["c"]], [0, 1, 1, 0, 0])
    tree = model.tree_
    for counts in (tree.class_counts, np.where(tree.is_leaf[:, None], 0.0, tree.class_counts)):
        found = find_estimate(name)(tree, counts)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    nothing = find_estimate(name)(tree, np.zeros_like(tree.class_counts))
    np.testing.assert_allclose(nothing, 0.5) if name != "m_estimate" else None
    assert np.isfinite(nothing).all()


@pytest.mark.parametrize("name", ESTIMATES)
def test_one_class_is_certain(name):
    model = TreeClassifier.c45(leaf_estimate=name).fit([[1], [2], [3]], ["only", "only", "only"])
    assert model.predict_proba([[2]]).tolist() == [[1.0]]


def test_an_unknown_name_a_class_and_a_number_are_no_estimates():
    with pytest.raises(InvalidArgumentError, match="leaf_estimate must be one of auto"):
        find_estimate("laplas")
    with pytest.raises(InvalidArgumentError, match="A class is not yet an object"):
        find_estimate(Laplace)
    with pytest.raises(InvalidArgumentError, match="leaf_estimate must be a name or an object"):
        find_estimate(3)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_kept_decision_is_the_cheapest_one_of_the_counts(n_classes):
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, n_classes, 200)
    tree = TreeClassifier(pruning=None, min_samples_leaf=2).fit(X, y).tree_
    n_changed = 0
    for _ in range(20):
        cost = np.exp(rng.normal(size=(n_classes, n_classes)))
        np.fill_diagonal(cost, 0.0)
        rule, inner = cost_rule(cost), Shrinkage(20)
        given, kept = (e(tree, tree.class_counts) for e in (inner, KeepDecision(inner, cost)))
        own = rule.decide(tree.class_counts / tree.class_counts.sum(axis=1, keepdims=True))
        np.testing.assert_array_equal(rule.decide(kept), own)
        np.testing.assert_allclose(kept.sum(axis=1), 1.0)
        changed = rule.decide(given) != own
        n_changed += changed.sum()
        np.testing.assert_array_equal(kept[~changed], given[~changed])
        # Not further than needed: with half of the way it is still overturned.
        half = (given + kept) / 2
        assert (rule.decide(half)[changed] != own[changed]).all()
    assert n_changed > 100


def test_with_equal_costs_two_classes_are_kept_as_by_the_majority():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    tree = TreeClassifier(pruning=None, min_samples_leaf=2).fit(X, y).tree_
    kept = KeepDecision(Shrinkage(20), [[0, 1], [1, 0]])(tree, tree.class_counts)
    by_majority = KeepMajority(Shrinkage(20))(tree, tree.class_counts)
    np.testing.assert_allclose(kept, by_majority, atol=1e-8)


@pytest.mark.parametrize("m", [0.5, 7.0])
def test_the_m_estimate_adds_m_rows_at_the_shares_of_the_whole_table(m):
    tree = small_tree(1)
    counts = tree.class_counts
    expected = counts + m * counts[0] / counts[0].sum()
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(MEstimate(m)(tree, counts), expected, rtol=1e-12)


def test_a_kept_majority_is_the_most_probable_class():
    tree = small_tree(1)

    def reverse(tree, counts):
        shares = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
        return (1 - shares) / (1 - shares).sum(axis=1, keepdims=True)

    found = KeepMajority(reverse)(tree, tree.class_counts)
    filled = tree.class_counts.sum(axis=1) > 0
    majority = tree.class_counts[filled].argmax(axis=1)
    assert (found[filled].argmax(axis=1) == majority).all()


def test_an_estimate_is_built_in_if_the_one_that_it_keeps_is():
    def users(tree, counts):
        return counts

    assert is_built_in(KeepMajority(Shrinkage(2.0)))
    assert not is_built_in(KeepMajority(users))
    assert not is_built_in(users)


# ---- with the nodes above --------------------------------------------------------------------

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strength", [0.5, 10.0])
def test_shrinkage_walks_the_path(seed, strength):
    tree = small_tree(seed)
    found = Shrinkage(strength)(tree, tree.class_counts)
    slow = [shrink(tree, node, strength) for node in range(tree.n_nodes)]
    np.testing.assert_allclose(found, slow, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("added", "share"), [(0.5, 1), (1.0, 1), (0.5, 0.01), (0.5, 0.37)])
def test_averaging_is_the_mean_over_all_prunings_listed(seed, added, share):
    """Also of parts of rows, which count at their weight."""
    tree = small_tree(seed)
    tree = dataclasses.replace(tree, class_counts=share * tree.class_counts)
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


def test_huge_counts_overflow_nothing():
    tree = small_tree(1)
    for estimate in (Averaging(), Shrinkage()):
        found = estimate(tree, tree.class_counts * 1e9)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)

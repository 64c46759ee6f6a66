"""Limits of growth: max_leaves and max_features."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, Tree, grow
from tests.long_runs import examples
from tests.naive import c45
from tests.reference.compare import first_difference
from tests.tree.encoded import fit, training_rows
from tests.tree.test_kernel_against_oracle import CRITERIA, rules, tables

LIMITS = {
    "max_leaves": st.sampled_from([None, 1, 2, 3, 5, 8]),
    "max_features": st.sampled_from([None, 1, 2]),
    "seed": st.integers(0, 2**64 - 1),
    "tree": st.integers(0, 1000),
}


@pytest.mark.parametrize("criterion", CRITERIA)
@given(data=st.data())
@examples(200)
def test_the_tree_is_that_of_the_naive_twin(criterion, data):
    drawn, ordered = data.draw(tables())
    limits = {name: data.draw(values) for name, values in LIMITS.items()}
    missing = data.draw(st.sampled_from(["fraction", "branch"]))
    by = data.draw(rules(criterion=criterion, missing=missing, **limits))
    expected = c45.fit(drawn, by)
    for n_threads in (1, 3):
        tree = fit(training_rows(drawn, ordered), by, n_threads)
        assert first_difference(tree, expected) is None


def noisy_rows(n: int = 400, n_columns: int = 6, seed: int = 0) -> TrainingRows:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_columns))
    labels = (X[:, 0] + X[:, 1] + random.normal(size=n) > 0).astype(np.int32)
    return TrainingRows(read_table(X), labels, 2)


FULL = GrowthRules(criterion="gini", min_samples_leaf=1)


@pytest.mark.parametrize("max_leaves", [1, 2, 5, 17, 1000])
def test_max_leaves_is_reached_exactly_by_binary_splits(max_leaves):
    rows = noisy_rows()
    tree = grow(rows, replace(FULL, max_leaves=max_leaves))
    assert tree.n_leaves == min(max_leaves, grow(rows, FULL).n_leaves)


def same(a: Tree, b: Tree) -> bool:
    arrays = ("feature", "threshold", "children", "class_counts", "missing_branch")
    return all(np.array_equal(getattr(a, x), getattr(b, x), equal_nan=True) for x in arrays)


def test_without_a_binding_limit_best_first_growth_gives_the_same_tree():
    rows = noisy_rows()
    assert same(grow(rows, replace(FULL, max_leaves=10_000)), grow(rows, FULL))


def test_max_leaves_gives_the_tree_of_scikit_learn():
    rows = noisy_rows()
    X = np.column_stack(rows.table.columns)
    peer = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, rows.labels)
    tree = grow(rows, replace(FULL, max_leaves=12))
    assert tree.n_leaves == peer.get_n_leaves()
    theirs = peer.tree_.value[peer.tree_.feature == -2, 0]
    sizes = peer.tree_.weighted_n_node_samples[peer.tree_.feature == -2]
    expected = sorted(np.round(theirs * sizes[:, np.newaxis]).tolist())
    assert sorted(tree.class_counts[tree.leaf_ids].tolist()) == expected


def test_drawn_columns_depend_on_seed_and_tree_but_not_on_threads():
    rows = noisy_rows(3000)
    by = replace(FULL, max_features=2, seed=7, tree=3)
    tree = grow(rows, by)
    assert all(same(tree, grow(rows, by, n_threads=n)) for n in (2, 4))
    assert not same(tree, grow(rows, replace(by, seed=8)))
    assert not same(tree, grow(rows, replace(by, tree=4)))
    assert not same(tree, grow(rows, FULL))


def test_every_column_is_drawn_equally_often():
    rows = noisy_rows(60, 5)
    roots = [
        int(grow(rows, replace(FULL, max_features=1, max_depth=1, tree=t)).feature[0])
        for t in range(2000)
    ]
    shares = np.bincount(roots, minlength=5) / len(roots)
    assert np.abs(shares - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / len(roots))


def test_columns_are_drawn_until_one_has_a_split():
    X = np.zeros((20, 30))
    X[:, 11] = np.arange(20)
    labels = (X[:, 11] > 9).astype(np.int32)
    rows = TrainingRows(read_table(X), labels, 2)
    for seed in range(20):
        tree = grow(rows, replace(FULL, max_features=1, seed=seed))
        assert tree.feature.tolist() == [11, -1, -1]


@pytest.mark.parametrize("limit", ["max_leaves", "max_features"])
def test_a_limit_of_zero_is_refused(limit):
    with pytest.raises(ValueError, match="at least 1"):
        grow(noisy_rows(), replace(FULL, **{limit: 0}))


def test_a_split_of_no_decrease_is_made_whatever_its_rounding():
    value = np.array([0, 0, np.nan, np.nan, 0, 0, 0, 0, 0, 0, 0, np.nan, 0, np.nan, 0, 0])[
        :, np.newaxis
    ]
    labels = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0], np.int32)
    rows = TrainingRows(read_table(value), labels, 2)
    tree = grow(rows, GrowthRules("entropy", min_samples_leaf=1, missing="branch"))
    assert tree.n_leaves == 2
    assert tree.threshold[0] == np.inf


def test_limits_and_seeds_beyond_the_numbers_of_the_kernel_are_taken():
    labels = (np.arange(30) // 15).astype(np.int32)
    rows = TrainingRows(read_table(np.arange(60.0).reshape(30, 2)), labels, 2)
    huge = dict.fromkeys(("max_leaves", "max_features", "max_depth", "seed"), 2**70)
    assert first_difference(grow(rows, GrowthRules(**huge)), grow(rows, GrowthRules())) is None

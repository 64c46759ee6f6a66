"""Limits of growth: max_leaves and max_features."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow
from tests.long_runs import examples
from tests.reference.compare import first_difference
from tests.tree.test_kernel_against_oracle import CRITERIA, assert_is_the_oracles, rules, tables

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
    assert_is_the_oracles(drawn, ordered, by)


def noisy_rows(n: int = 400, n_columns: int = 6, seed: int = 0) -> TrainingRows:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_columns))
    labels = (X[:, 0] + X[:, 1] + random.normal(size=n) > 0).astype(np.int32)
    return TrainingRows(read_table(X), labels, 2)


FULL = GrowthRules(criterion="gini", min_samples_leaf=1)


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


def test_every_column_is_drawn_equally_often():
    rows = noisy_rows(60, 5)
    roots = [
        int(grow(rows, replace(FULL, max_features=1, max_depth=1, tree=t)).feature[0])
        for t in range(2000)
    ]
    shares = np.bincount(roots, minlength=5) / len(roots)
    assert np.abs(shares - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / len(roots))


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

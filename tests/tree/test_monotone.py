"""Monotone constraints: the probability of a class never falls, or never rises, along a column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from sureleaf.errors import InvalidArgumentError
from sureleaf.probability import Frequency
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, Tree, grow, mixture
from tests.long_runs import examples
from tests.tree.test_kernel_against_oracle import assert_is_the_oracles, rules, tables
from tests.tree.test_missing_branch import categorical


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@given(data=st.data())
@examples(250)
def test_the_tree_is_that_of_the_naive_twin(criterion, data):
    drawn, ordered = data.draw(tables())
    signs = [
        [0 if count else data.draw(st.sampled_from([-1, 0, 1])) for _ in range(drawn.n_classes)]
        for count in drawn.categories
    ]
    fixed = {"criterion": criterion, "pruning": None, "monotone": tuple(map(tuple, signs))}
    missing = data.draw(st.sampled_from(["fraction", "branch"]))
    by = data.draw(rules(**fixed, missing=missing))
    assert_is_the_oracles(drawn, ordered, by)


def make_rows(n_classes: int, seed: int, weights: bool = False) -> TrainingRows:
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 3)).round(1)
    score = X[:, 0] - 0.5 * X[:, 1] + random.normal(size=300)
    labels = np.digitize(score, np.linspace(-1, 1, n_classes - 1)).astype(np.int32)
    weight = random.random(300) * 2 if weights else None
    return TrainingRows(read_table(X), labels, n_classes, weight)


def rises(tree: Tree, column: int, seed: int) -> np.ndarray:
    """Changes of the class probabilities along a column, other columns fixed."""
    random = np.random.default_rng(seed)
    grid = np.linspace(-4, 4, 60)
    changes = []
    for point in random.normal(size=(40, 3)):
        X = np.repeat(point[np.newaxis], len(grid), axis=0)
        X[:, column] = grid
        p = mixture(tree, read_table(X), Frequency()(tree, tree.class_counts))
        changes.append(np.diff(p, axis=0))
    return np.concatenate(changes)


def test_the_tree_is_that_of_scikit_learn_if_all_columns_are_constrained():
    """Splits of free columns differ: scikit-learn clips their leaves, ours stay counts."""
    for seed in range(5):
        rows = make_rows(2, seed)
        X = np.column_stack(rows.table.columns)
        peer = DecisionTreeClassifier(
            monotonic_cst=[1, -1, 1], min_samples_leaf=10, random_state=0
        ).fit(X, rows.labels)
        by = GrowthRules(criterion="gini", min_samples_leaf=10, monotone=(1, -1, 1))
        tree = grow(rows, by)
        ours = mixture(tree, rows.table, Frequency()(tree, tree.class_counts))
        np.testing.assert_allclose(ours, peer.predict_proba(X))


def test_best_first_growth_keeps_the_constraints():
    by = GrowthRules(criterion="gini", min_samples_leaf=1, monotone=(1, 0, 0), max_leaves=12)
    tree = grow(make_rows(2, 0), by)
    assert tree.n_leaves == 12
    assert rises(tree, 0, 0)[:, 1].min() >= -1e-9


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ((1, 0), "one sign for each of 3 columns"),
        ((1, 2, 0), "signs are -1, 0 and 1"),
        (((1, 0, 0),) * 3, "with 2 signs"),
    ],
)
def test_wrong_signs_are_refused(monotone, message):
    with pytest.raises(InvalidArgumentError, match=message):
        grow(make_rows(2, 0), GrowthRules(criterion="gini", monotone=monotone))


def test_categories_without_order_cannot_be_monotone():
    rows = categorical([0, 1, 2, 2], 3, [0, 1, 1, 0])
    with pytest.raises(InvalidArgumentError, match="whose categories have no order"):
        grow(rows, GrowthRules(criterion="gini", monotone=(1,)))

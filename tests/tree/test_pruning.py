"""Pruning by utility cuts the subtrees that add too little utility."""

import numpy as np
import pytest

from sureleaf import TreeClassifier
from sureleaf.levels import class_utility, estimate_p_max, utility
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow
from sureleaf.tree.pruning import cut, node_utilities, utility_alphas


def make_tree(n_classes=2, n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    labels = np.digitize(X[:, 0] + rng.normal(size=n), np.arange(n_classes - 1) * 0.7)
    rows = TrainingRows(read_table(X), labels.astype(np.int32), n_classes)
    return grow(rows, GrowthRules("gini", min_samples_leaf=1))


def total_utility(tree):
    n = tree.class_counts.sum(axis=1)
    leaves = tree.leaf_ids
    return float(n[leaves] @ node_utilities(tree)[leaves]) / n[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_node_has_the_utility_of_its_counts(n_classes):
    tree = make_tree(n_classes)
    utilities = node_utilities(tree)
    for node, counts in enumerate(tree.class_counts):
        n = counts.sum()
        if n_classes == 2:
            expected = utility(n, estimate_p_max(counts.max(), n))
        else:
            expected = class_utility(n, (counts + 1 / 3) / (n + 1))
        assert utilities[node] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_pruning_has_a_larger_utility_minus_the_gain_per_leaf(seed):
    tree = make_tree(n=25, seed=seed)
    for gain in (0.0, 0.01, 0.05, 0.2):
        pruned = cut(tree, utility_alphas(tree) <= gain)
        assert total_utility(pruned) - gain * pruned.n_leaves == pytest.approx(
            naive_best(tree, gain)
        )


def naive_best(tree, gain):
    n, utilities = tree.class_counts.sum(axis=1), node_utilities(tree)

    def best(node):
        as_leaf = n[node] / n[0] * utilities[node] - gain
        if tree.is_leaf[node]:
            return as_leaf
        return max(as_leaf, sum(best(int(child)) for child in tree.branches(node)))

    return best(0)


def test_noise_is_cut_and_signal_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    noise = rng.integers(0, 2, 400)
    model = TreeClassifier.c45(pruning="utility", random_state=0)
    assert model.fit(X, noise).tree_.n_leaves <= 2
    plain = model.fit(X, X[:, 2] > 0.3)
    assert plain.tree_.n_leaves == 2


def test_many_classes_are_not_cut_to_fewer_leaves_than_there_are_classes():
    group = np.repeat(np.arange(12), 6)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(len(group)) < 0.05, rng.integers(0, 12, len(group)), group)
        X = np.column_stack([group, rng.normal(size=(len(group), 2))])
        model = TreeClassifier.c45(pruning="utility", random_state=0).fit(X, y)
        assert model.score(X, group) == 1.0

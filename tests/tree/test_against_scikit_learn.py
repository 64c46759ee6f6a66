"""Trees, importances and cost-complexity pruning equal those of scikit-learn on numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from sureleaf import TreeClassifier
from sureleaf.tree import Tree

LIMITS = [(None, 1), (None, 5), (1, 1), (3, 1), (4, 20), (8, 5)]
N_SEEDS = 8


def random_table(seed: int, decimals: int, n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n_rows) > 0).astype(int)
    return np.round(X, decimals), y + (random.random(n_rows) < 0.1)


def table_without_ties(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Many rows of continuous columns: with large leaves, no two splits are equally good."""
    return random_table(seed, 15, n_rows=3_000)


LARGE_LEAF = 40


TABLES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "digits": load_digits(return_X_y=True),
    "random": random_table(0, 15),
    "random with ties": random_table(1, 1),
}


def grown(X, y, max_depth=None, min_samples_leaf=1, **parameters) -> TreeClassifier:
    limits = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    plain = {"criterion": "gini", "collapse": False, "pruning": None, "leaf_estimate": "frequency"}
    return TreeClassifier.c45(**plain | limits | parameters).fit(X, y)


def peers(X, y, max_depth, min_samples_leaf, n_seeds=N_SEEDS):
    """Trees of scikit-learn, whose seed decides ties between columns."""
    return [
        DecisionTreeClassifier(
            max_depth=max_depth, min_samples_leaf=min_samples_leaf, random_state=seed
        ).fit(X, y)
        for seed in range(n_seeds)
    ]


def training_loss(tree: Tree) -> float:
    """Gini impurity of the leaves, weighted by their rows."""
    counts = tree.class_counts[tree.leaf_ids]
    n = counts.sum(axis=1)
    return float((n - (counts**2).sum(axis=1) / n).sum() / n.sum())


def peer_loss(peer: DecisionTreeClassifier) -> float:
    tree = peer.tree_
    leaves = tree.children_left < 0
    n = tree.weighted_n_node_samples
    return float((n[leaves] * tree.impurity[leaves]).sum() / n[0])


@pytest.mark.parametrize(("max_depth", "min_samples_leaf"), LIMITS)
@pytest.mark.parametrize("name", TABLES)
def test_the_training_loss_is_not_larger(name, max_depth, min_samples_leaf):
    X, y = TABLES[name]
    ours = training_loss(grown(X, y, max_depth, min_samples_leaf).tree_)
    losses = [peer_loss(peer) for peer in peers(X, y, max_depth, min_samples_leaf)]
    # If columns tie, the chosen one decides what the splits below can gain; scikit-learn chooses at
    # random. Without ties, all its losses are equal, and ours must not be larger.
    assert ours <= max(losses) + 1e-12


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("max_depth", [1, 3, 6])
def test_a_tree_without_ties_is_the_same(max_depth, criterion):
    X, y = table_without_ties(2)
    ours = grown(X, y, max_depth, LARGE_LEAF, criterion=criterion).tree_
    peer = DecisionTreeClassifier(
        criterion=criterion, max_depth=max_depth, min_samples_leaf=LARGE_LEAF, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(ours.feature < 0, peer.tree_.feature < 0)
    inner = ~ours.is_leaf
    np.testing.assert_array_equal(ours.feature[inner], peer.tree_.feature[inner])
    np.testing.assert_allclose(ours.threshold[inner], peer.tree_.threshold[inner], rtol=1e-6)
    np.testing.assert_array_equal(ours.class_counts.sum(axis=1), peer.tree_.n_node_samples)


@pytest.mark.parametrize("seed", [3, 4])
def test_importances_are_the_same(seed):
    X, y = table_without_ties(seed)
    for criterion in ("gini", "entropy"):
        ours = grown(X, y, 5, LARGE_LEAF, criterion=criterion)
        peer = DecisionTreeClassifier(
            criterion=criterion, max_depth=5, min_samples_leaf=LARGE_LEAF, random_state=0
        ).fit(X, y)
        np.testing.assert_allclose(
            ours.feature_importances_, peer.feature_importances_, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("max_depth", [1, 3, 6])
def test_the_cost_complexity_path_is_the_same(max_depth):
    X, y = table_without_ties(5)
    ours = grown(X, y, max_depth, LARGE_LEAF).cost_complexity_path()
    peer = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=LARGE_LEAF, random_state=0)
    path = peer.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.alphas, path.ccp_alphas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, path.impurities, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", [6, 7])
def test_a_tree_pruned_at_a_penalty_is_the_same(seed):
    X, y = table_without_ties(seed)
    whole = grown(X, y, 8, LARGE_LEAF)
    path = whole.cost_complexity_path()
    between = (path.alphas[1:] + path.alphas[:-1]) / 2
    for alpha, n_leaves in zip(between, path.n_leaves, strict=False):
        pruned = whole.prune("cost_complexity", ccp_alpha=alpha)
        fitted = grown(X, y, 8, LARGE_LEAF, pruning="cost_complexity", ccp_alpha=alpha)
        peer = DecisionTreeClassifier(
            max_depth=8, min_samples_leaf=LARGE_LEAF, ccp_alpha=alpha, random_state=0
        ).fit(X, y)
        assert pruned.tree_.n_leaves == fitted.tree_.n_leaves == peer.get_n_leaves() == n_leaves
        np.testing.assert_array_equal(
            pruned.tree_.class_counts.sum(axis=1), peer.tree_.n_node_samples
        )

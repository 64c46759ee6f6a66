"""Pruning in fit and after it: by a rule, by nodes, to a size; against slow twins."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.folds import hold_out
from sureleaf.model.node_levels import levels_of_counts
from sureleaf.tree import TrainingRows, Tree, count_nodes
from sureleaf.tree.routing import count_leaves

pytestmark = pytest.mark.usefixtures("few_rounds")

GROWN = {"min_samples_leaf": 3, "collapse": False, "pruning": None}


def noisy_table(seed: int, n_rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    return X, np.where(random.random(n_rows) < 0.2, random.integers(0, 3, n_rows), y)


def table_with_holes(seed: int, n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    X, y = noisy_table(seed, n_rows)
    frame = pd.DataFrame(X, columns=list("abcd")).mask(random.random(X.shape) < 0.1)
    return frame.assign(e=random.choice(["u", "v", "w", None], n_rows)), y


def is_cut_from(small: Tree, large: Tree) -> bool:
    """Whether the small tree is the large one with some subtrees cut; nothing regrown."""
    pending = [(0, 0)]
    while pending:
        a, b = pending.pop()
        if not np.array_equal(small.class_counts[a], large.class_counts[b]):
            return False
        if small.is_leaf[a]:
            continue
        same_test = small.feature[a] == large.feature[b] and np.array_equal(
            small.threshold[a], large.threshold[b], equal_nan=True
        )
        if not same_test or not np.array_equal(small.categories(a), large.categories(b)):
            return False
        pending += zip(small.branches(a), large.branches(b), strict=True)
    return True


# ---- after the fit ---------------------------------------------------------------------------


def test_prune_cuts_a_copy_and_leaves_the_model_as_it_is():
    X, y = table_with_holes(0)
    model = TreeClassifier.c45(**GROWN).fit(X, y)
    before = model.rules(), model.tree_, model.leaf_counts_, model.get_params()
    for way in (
        {"n_leaves": 5},
        {"nodes": 0},
        {"nodes": [1]},
        {"rule": "pessimistic"},
        {"rule": "cost_complexity", "ccp_alpha": 0.01},
        {"rule": "reduced_error", "X": X, "y": y},
    ):
        pruned = model.prune(**way)
        assert pruned.tree_.n_leaves < model.tree_.n_leaves
        assert (model.rules(), model.tree_, model.leaf_counts_, model.get_params()) == before
        assert pruned.leaf_counts_.counts.shape == (pruned.tree_.n_leaves, 3)
        assert pruned.predict_proba(X).shape == (len(y), 3)
        if way.get("rule") != "pessimistic":  # which also raises subtrees
            assert is_cut_from(pruned.tree_, model.tree_)


@pytest.mark.parametrize("way", [{"n_leaves": 5}, {"nodes": [1]}, {"rule": "pessimistic"}])
def test_all_that_a_copy_says_comes_from_the_rows_given(way):
    X, y = table_with_holes(2)
    later, labels = table_with_holes(3, n_rows=80)
    model = TreeClassifier.c45(**GROWN, leaf_estimate="frequency").fit(X, y)
    pruned = model.prune(**way, X=later, y=labels)
    leaves = pruned.tree_.leaf_ids
    counts = pruned.tree_.class_counts[leaves]
    np.testing.assert_allclose(counts, pruned.leaf_counts_.counts, atol=1e-12)
    n = counts.sum(axis=1)
    probabilities = pruned.model_.probabilities[leaves]
    stated = levels_of_counts(counts, n, probabilities, method="mle", n_tree=n.sum())
    table = pruned.leaves()
    np.testing.assert_allclose(table.n, counts.sum(axis=1))
    np.testing.assert_allclose(table.confidence, stated.confidence)
    np.testing.assert_allclose(table.utility, stated.utility)
    n = f"{counts[0].sum():.2f}".removesuffix(".00")
    assert f"({n} rows" in pruned.rules()


@pytest.mark.parametrize("source", ["training", "honest", "cross_fit"])
def test_importances_are_kept_by_a_cut_with_and_without_the_rows(source):
    X, y = table_with_holes(4)
    weights = np.random.default_rng(0).random(len(y)) * 3
    model = TreeClassifier.c45(**GROWN, weights="importance", levels_from=source, random_state=0)
    model.fit(X, y, sample_weight=weights)
    whole = model.leaf_counts_
    for way in ({"n_leaves": 5}, {"nodes": [1]}, {"nodes": 0}, {"n_leaves": 10_000}):
        pruned = model.prune(**way)
        assert pruned.leaf_counts_.squares.sum() == pytest.approx(whole.squares.sum())
        assert pruned.leaf_counts_.n.sum() == pytest.approx(whole.n.sum())
        np.testing.assert_allclose(
            pruned.leaf_counts_.counts, pruned.tree_.class_counts[pruned.tree_.leaf_ids]
        )
        twice = pruned.prune(n_leaves=1)
        assert twice.leaf_counts_.n_effective == pytest.approx(
            whole.n.sum() ** 2 / whole.squares.sum()
        )
    by_rows = count_leaves(pruned.tree_, model._fit.rows) if source == "cross_fit" else whole
    np.testing.assert_allclose(pruned.leaf_counts_.squares, by_rows.squares)


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 5, 10, 1000])
def test_a_number_of_leaves_is_kept_to_by_the_largest_tree_of_the_path_that_does(n_leaves):
    X, y = noisy_table(4)
    model = TreeClassifier.c45(criterion="gini", **GROWN).fit(X, y)
    sizes = model.cost_complexity_path().n_leaves
    is_met = n_leaves in sizes or n_leaves > model.get_n_leaves()
    with nullcontext() if is_met else pytest.warns(UserWarning, match="gives . lea"):
        pruned = model.prune(n_leaves=n_leaves)
    assert pruned.tree_.n_leaves == sizes[sizes <= n_leaves].max()


def test_nodes_that_are_named_become_leaves():
    X, y = noisy_table(5)
    model = TreeClassifier.c45(**GROWN).fit(X, y)
    inner = np.flatnonzero(~model.tree_.is_leaf)
    chosen = [int(inner[1]), int(inner[-1])]
    pruned = model.prune(nodes=chosen).tree_
    expected = {tuple(model.tree_.class_counts[node]) for node in chosen}
    assert expected <= {tuple(pruned.class_counts[leaf]) for leaf in pruned.leaf_ids}


def test_pruning_twice_is_pruning_once():
    X, y = noisy_table(6)
    model = TreeClassifier.c45(criterion="gini", **GROWN).fit(X, y)
    once = model.prune("cost_complexity", ccp_alpha=0.01)
    steps = model.prune("cost_complexity", ccp_alpha=0.004).prune("cost_complexity", ccp_alpha=0.01)
    assert steps.rules() == once.rules()


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ({}, "exactly one"),
        ({"rule": "pessimistic", "n_leaves": 3}, "exactly one"),
        ({"rule": "gini"}, "rule must be"),
        ({"rule": "cost_complexity"}, "ccp_alpha"),
        ({"rule": "reduced_error"}, "X and y"),
        ({"n_leaves": 0}, "at least 1"),
        ({"n_leaves": 2.5}, "n_leaves must be a whole number at least 1; got 2.5"),
        ({"n_leaves": True}, "n_leaves .* got True"),
        ({"rule": "cost_complexity", "ccp_alpha": -0.1}, "ccp_alpha .* got -0.1"),
        ({"rule": "cost_complexity", "ccp_alpha": float("nan")}, "ccp_alpha .* got nan"),
        ({"ccp_alpha": 0.1}, r"got 0\. For example prune\('cost_complexity', ccp_alpha=0.1\)"),
        ({"n_leaves": 2, "ccp_alpha": 0.1}, "ccp_alpha is only for rule='cost_complexity'"),
        ({"nodes": [[1], [1, 2]]}, "node numbers"),
        ({"n_leaves": 2, "sample_weight": [1.0]}, "together"),
        ({"nodes": 10_000}, "node numbers"),
        ({"nodes": "a"}, "node numbers"),
        ({"n_leaves": 2, "X": [[1.0] * 4]}, "together"),
        ({"n_leaves": 2, "X": [[1.0] * 4], "y": [7]}, "classes"),
    ],
)
def test_a_way_that_makes_no_sense_is_refused(way, message):
    X, y = noisy_table(7, 60)
    model = TreeClassifier.c45().fit(X, y)
    with pytest.raises(InvalidArgumentError, match=message):
        model.prune(**way)


def test_pessimistic_pruning_after_the_fit_is_that_of_the_fit_and_needs_the_rows():
    X, y = table_with_holes(8)
    grown = TreeClassifier.c45(pruning=None).fit(X, y)
    fitted = TreeClassifier.c45().fit(X, y)
    assert grown.prune("pessimistic").rules() == fitted.rules()
    grown.forget_rows()
    with pytest.raises(InvalidArgumentError, match="no longer holds"):
        grown.prune("pessimistic")
    assert grown.prune("pessimistic", X=X, y=y).rules() == fitted.rules()


# ---- slow twins ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_penalty_is_the_largest_within_one_standard_error_of_the_best(criterion, seed):
    """Every candidate penalty is tried on every fold by a fit of its own."""
    X, y = noisy_table(10 + seed, 200)
    folds = list(StratifiedKFold(4).split(X, y))
    growth = {"criterion": criterion, **GROWN, "levels_from": "training"}
    whole = TreeClassifier.c45(**growth).fit(X, y)
    alphas = whole.cost_complexity_path().alphas
    candidates = [*np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1]]
    rates = []
    for alpha in candidates:
        wrong = 0
        for train, test in folds:
            fold = TreeClassifier.c45(**growth).fit(X[train], y[train])
            pruned = fold.prune("cost_complexity", ccp_alpha=alpha)
            wrong += int((pruned.predict(X[test]) != y[test]).sum())
        rates.append(wrong / len(y))
    best = min(rates)
    limit = best + np.sqrt(best * (1 - best) / len(y))
    chosen = max(alpha for alpha, rate in zip(candidates, rates, strict=True) if rate <= limit)
    expected = whole.prune("cost_complexity", ccp_alpha=chosen)
    ours = TreeClassifier.c45(**growth | {"pruning": "cost_complexity"}, cv=folds).fit(X, y)
    assert 1 < ours.tree_.n_leaves < whole.tree_.n_leaves
    assert ours.rules() == expected.rules()


def fewest_errors(tree: Tree, node: int, rows: np.ndarray, X, y) -> tuple[int, set[int]]:
    """Errors on these rows of the subtree cut bottom-up, and the nodes that become leaves."""
    wrong = int((y[rows] != tree.class_counts[node].argmax()).sum())
    if tree.is_leaf[node]:
        return wrong, set()
    goes_left = X[rows, tree.feature[node]] <= tree.threshold[node]
    errors, cuts = 0, set()
    for child, part in zip(tree.branches(node), (rows[goes_left], rows[~goes_left]), strict=True):
        below, found = fewest_errors(tree, int(child), part, X, y)
        errors, cuts = errors + below, cuts | found
    return (wrong, {node}) if wrong <= errors else (errors, cuts)


@pytest.mark.parametrize("seed", range(4))
def test_reduced_error_pruning_cuts_what_does_not_help_on_the_held_out_third(seed):
    X, y = noisy_table(20 + seed)
    growth = {**GROWN, "criterion": "gini", "levels_from": "training"}
    ours = TreeClassifier.c45(**growth | {"pruning": "reduced_error"}, random_state=seed).fit(X, y)
    rows = TrainingRows(None, y.astype(np.int32), 3)  # what is held out depends on labels only
    is_held_out = hold_out(rows.labels, seed=seed)
    assert 0.3 < is_held_out.mean() < 0.37
    grown = TreeClassifier.c45(**growth).fit(X[~is_held_out], y[~is_held_out])
    _, cuts = fewest_errors(grown.tree_, 0, np.flatnonzero(is_held_out), X, y)
    expected = grown.prune(nodes=sorted(cuts)) if cuts else grown
    assert 1 < ours.tree_.n_leaves < grown.tree_.n_leaves
    np.testing.assert_array_equal(ours.tree_.feature, expected.tree_.feature)
    np.testing.assert_array_equal(ours.tree_.threshold, expected.tree_.threshold)
    # all rows are counted in what is left
    np.testing.assert_array_equal(
        ours.tree_.class_counts, count_nodes(ours.tree_, ours.model_.read_rows(X, y))
    )
    assert ours.leaf_counts_.n.sum() == len(y)

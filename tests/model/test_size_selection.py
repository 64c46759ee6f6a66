"""The size of the default tree: the curve, the choice, and what it must not see."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.folds import fold_numbers
from sureleaf.levels.decisions import cost_rule
from sureleaf.model.size_selection import (
    LOG_LOSS_SHARE,
    N_FOLDS,
    SHRINKAGES,
    SizeSelection,
    WantedSize,
    best_first_alphas,
    family_alphas,
    select_sizes,
)
from sureleaf.probability import sized_estimate
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, cut, grow
from tests.naive import size_selection as naive

pytestmark = pytest.mark.usefixtures("few_rounds")

RULES = GrowthRules("entropy", "subset", missing="branch")


def grow_part(rows: TrainingRows):
    return grow(rows, RULES, keep_order=True)


def select_size(tree, rows, fold_of, grow, *, margin, rule=None, **options):
    """Choose one size of the default family by one round of folds."""
    families = {"weakest_links": lambda tree: family_alphas(tree, rule)}
    wanted = [WantedSize(margin)]
    selections: list[SizeSelection] = select_sizes(
        tree, rows, [fold_of], grow, families, wanted, rule=rule, **options
    )
    return selections[0]


def noisy_rows(seed: int, n: int = 120, n_classes: int = 2, weighted: bool = False) -> TrainingRows:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).round(1)
    X[random.random((n, 4)) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 1]) > 0) + random.normal(size=n) / 2
    edges = np.quantile(score, np.arange(1, n_classes) / n_classes)
    labels = np.digitize(score, edges).astype(np.int32)
    weights = random.integers(0, 4, n).astype(float) if weighted else None
    return TrainingRows(read_table(X), labels, n_classes, weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_classes", "weighted"), [(2, False), (2, True), (4, False)])
def test_the_curve_is_that_of_trees_pruned_one_by_one(
    seed: int, n_classes: int, weighted: bool
) -> None:
    rows = noisy_rows(seed, n_classes=n_classes, weighted=weighted)
    tree, fold_of = grow_part(rows), fold_numbers(rows.labels, 5, seed=seed)
    costs = np.random.default_rng(seed).random((n_classes, n_classes))
    np.fill_diagonal(costs, 0.0)
    for rule in (None, cost_rule(costs)):
        selection = select_size(tree, rows, fold_of, grow_part, margin=0.01, rule=rule, n_at_once=2)
        curve = selection.curve
        alphas, sizes, error, log_loss = naive.curve(
            tree, rows, fold_of, grow_part, sized_estimate(rule), rule
        )
        np.testing.assert_allclose(curve.alphas, alphas)
        assert curve.n_leaves.tolist() == sizes.tolist()
        np.testing.assert_allclose(curve.error, error, atol=1e-12)
        np.testing.assert_allclose(curve.log_loss, log_loss, atol=1e-12)
        loss = error + LOG_LOSS_SHARE * log_loss / log_loss[-1]
        within = np.flatnonzero(loss <= loss.min() + 0.01 + 1e-12)
        assert selection.alpha == curve.alphas[within[-1]]


@pytest.mark.parametrize("seed", range(3))
def test_the_strength_is_the_one_with_the_least_log_loss_at_the_chosen_size(seed: int) -> None:
    rows = noisy_rows(seed, n_classes=2 + seed)
    tree, fold_of = grow_part(rows), fold_numbers(rows.labels, 5, seed=seed)
    costs = 1.0 + np.random.default_rng(seed).random((rows.n_classes, rows.n_classes))
    np.fill_diagonal(costs, 0.0)
    for rule in (None, cost_rule(costs)):
        selection = select_size(tree, rows, fold_of, grow_part, margin=0.01, rule=rule)
        losses = []
        for strength in SHRINKAGES:
            alphas, _, _, log_loss = naive.curve(
                tree, rows, fold_of, grow_part, sized_estimate(rule, strength), rule
            )
            losses.append(log_loss[np.flatnonzero(alphas == selection.alpha)[0]])
        assert selection.strength == SHRINKAGES[int(np.argmin(losses))]


@pytest.mark.parametrize(
    "changes",
    [{"leaf_estimate": sized_estimate(None)}, {"levels_from": "honest"}],
    ids=["estimate of the user", "counts of other rows"],
)
def test_the_strength_is_not_chosen_for(changes: dict) -> None:
    X = np.random.default_rng(5).normal(size=(600, 4))
    model = TreeClassifier(random_state=0, **changes).fit(X, X[:, 0] > 0).model_
    assert model.leaf_estimate == sized_estimate(None)


@pytest.mark.parametrize("n_folds", [6, 10, 12])
def test_more_folds_are_put_together(n_folds: int) -> None:
    rows = noisy_rows(1)
    fold_of = fold_numbers(rows.labels, n_folds, seed=0)
    fold_of[:3] = -1
    tree, n_grown = grow_part(rows), []

    def counted(part: TrainingRows):
        n_grown.append(part)
        return grow_part(part)

    selection = select_size(tree, rows, fold_of, counted, margin=0.0)
    assert len(n_grown) == N_FOLDS
    part_of = np.where(fold_of < 0, -1, fold_of % N_FOLDS)
    few = select_size(tree, rows, part_of, grow_part, margin=0.0)
    assert selection.alpha == few.alpha


def loss_of(model: TreeClassifier, n_leaves: int) -> float:
    curve = model.size_curve_
    return float(curve.loss[curve.n_leaves == n_leaves][0])


@pytest.mark.parametrize("n_rows", [600, 2100])
@pytest.mark.parametrize("seed", range(3))
def test_as_many_leaves_as_the_default_tree_has_give_it_or_a_better_one(
    seed: int, n_rows: int
) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n_rows) > 0).astype(int)
    default = TreeClassifier(random_state=0).fit(X, y)
    most = default.get_n_leaves()
    limited = TreeClassifier(max_leaves=most, random_state=0).fit(X, y)
    assert 1 < limited.get_n_leaves() <= most
    settings = limited._fit.settings
    if settings.family == "weakest_links":
        assert loss_of(default, limited.get_n_leaves()) <= loss_of(default, most)
    assert TreeClassifier(max_leaves=most - 1, random_state=0).fit(X, y).get_n_leaves() < most


@pytest.mark.parametrize("seed", range(4))
def test_a_limited_tree_is_the_best_of_all_trees_of_both_kinds_that_are_small_enough(
    seed: int,
) -> None:
    """Each of them is grown and tested by itself, on the same folds."""
    rows = noisy_rows(seed, n_classes=2 + seed % 2)
    full, fold_of = grow_part(rows), fold_numbers(rows.labels, 5, seed=seed)
    estimate = sized_estimate(None)
    alphas, _, error, log_loss = naive.curve(full, rows, fold_of, grow_part, estimate)
    of_root = log_loss[-1]
    loss = error + LOG_LOSS_SHARE * log_loss / of_root
    pruned = [
        (loss[at], error[at], cut(full, np.maximum(family_alphas(full), 0.0) <= alpha))
        for at, alpha in enumerate(alphas)
    ]

    def grown_to(n_leaves: int):
        rules = replace(RULES, max_leaves=n_leaves)
        return lambda part: grow(part, rules)

    first = []
    for n_leaves in range(1, 13):
        paid, lost = naive.losses(rows, fold_of, grown_to(n_leaves), estimate)
        first.append((paid + LOG_LOSS_SHARE * lost / of_root, paid, grown_to(n_leaves)(rows)))
    families = {
        "weakest_links": family_alphas,
        "best_first": lambda tree: best_first_alphas(tree, "entropy", 12),
    }
    limits = (1, 2, 3, 5, 8, 12)
    wanted = [WantedSize(0.0, most) for most in limits]
    found = select_sizes(full, rows, [fold_of], grow_part, families, wanted)
    for most, selection in zip(limits, found, strict=True):
        small = [[one for one in each if one[2].n_leaves <= most] for each in (pruned, first)]
        best, other = (min(each, key=lambda one: (one[0], one[2].n_leaves)) for each in small)
        if other[0] < best[0] and other[1] < best[1]:
            best = other
        chosen = cut(full, families[selection.family](full) <= selection.alpha)
        assert np.array_equal(chosen.class_counts, best[2].class_counts)


def test_the_size_does_not_depend_on_the_luck_of_the_folds() -> None:
    X, y = load_wine(return_X_y=True)
    sizes = [TreeClassifier(random_state=seed).fit(X, y).get_n_leaves() for seed in range(10)]
    assert sizes.count(max(set(sizes), key=sizes.count)) >= 8


def test_without_a_random_state_a_fit_gives_the_same_tree_again() -> None:
    rows = noisy_rows(0, n=200)
    X, y = np.column_stack(rows.table.columns), rows.labels
    rules = {TreeClassifier().fit(X, y).rules() for _ in range(3)}
    assert rules == {TreeClassifier(random_state=0).fit(X, y).rules()}
    forests = [BaggedTreesClassifier(n_estimators=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(*(forest.predict_proba(X) for forest in forests))


def test_a_larger_margin_never_gives_a_larger_tree() -> None:
    X = np.random.default_rng(1).normal(size=(300, 5))
    y = (X[:, 0] + X[:, 1] ** 2 + np.random.default_rng(2).normal(size=300) > 1).astype(int)
    sizes = [
        TreeClassifier(margin=margin, random_state=0).fit(X, y).tree_.n_leaves
        for margin in (0.0, 0.005, 0.01, 0.05, 0.5)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_pure_noise_gives_a_small_tree_and_rare_classes_do_not_give_one_leaf() -> None:
    random = np.random.default_rng(3)
    noise = random.normal(size=(400, 6))
    assert TreeClassifier(random_state=0).fit(noise, random.integers(0, 2, 400)).tree_.n_leaves <= 3
    X = random.normal(size=(3000, 4))
    rare = (random.random(3000) < np.where(X[:, 0] > 1.2, 0.15, 0.005)).astype(int)
    assert 0.01 < rare.mean() < 0.04
    model = TreeClassifier(random_state=0).fit(X, rare)
    assert model.tree_.n_leaves > 1
    assert model.tree_.feature[0] == 0


def test_the_root_is_tested_by_roots_where_folds_overfit_more() -> None:
    """With few rows per category, trees of folds are harder to cut than that of all rows."""
    random = np.random.default_rng(0)
    group, code = random.integers(0, 2, 1000), random.integers(0, 1000, 5000)
    y = np.where(random.random(5000) < 0.6, group[code], random.integers(0, 2, 5000))
    X = [[f"c{number}"] for number in code.tolist()]
    model = TreeClassifier(random_state=0).fit(X, y)
    assert model.tree_.n_leaves == 2
    curve = model._fit.settings.size_curve
    assert curve.error[-1] == pytest.approx(0.5, abs=0.03)  # of the root
    assert curve.error[-2] < 0.3


def test_the_tree_does_not_depend_on_the_leaf_estimate() -> None:
    random = np.random.default_rng(7)
    X = random.normal(size=(300, 4))
    y = (X[:, 0] + random.normal(size=300) > 0).astype(int)
    trees = [
        TreeClassifier(leaf_estimate=estimate, random_state=0).fit(X, y).tree_
        for estimate in ("auto", "frequency", "laplace", "averaging")
    ]
    assert trees[0].n_leaves > 1
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree.class_counts, trees[0].class_counts)

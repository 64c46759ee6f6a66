import numpy as np
import pytest

from sureleaf.folds import fold_numbers
from sureleaf.model import fold_trees as module
from sureleaf.model.fitting import TreeSettings, fit_tree, grow_unpruned, penalty_rule
from sureleaf.model.fold_trees import FoldRows, fold_trees
from sureleaf.tree import GrowthRules, cut
from tests.model.test_cross_fitting import make_rows


def assert_same_trees(found, expected):
    np.testing.assert_array_equal(found.feature, expected.feature)
    np.testing.assert_array_equal(found.threshold, expected.threshold)
    np.testing.assert_array_equal(found.class_counts, expected.class_counts)


@pytest.mark.parametrize("pruning", ["auto", "utility", "cost_complexity"])
def test_in_a_small_table_trees_that_have_not_seen_a_fold_choose_its_penalty(pruning):
    rows = make_rows(n_rows=150)
    rules = GrowthRules("entropy", min_samples_leaf=1)
    settings = TreeSettings(rules, pruning=pruning, cv=7, collapse=False)
    _, resolved, _ = fit_tree(rows, settings)
    fold_of = fold_numbers(rows.labels, 7, seed=settings.seed)
    built = fold_trees(FoldRows(rows, fold_of), range(7), resolved)
    assert sorted(built) == list(range(7))
    rule = penalty_rule(settings)
    parts = [[0, 5], [1, 6], [2], [3], [4]]
    for part in parts:
        total = 0
        for other in parts:
            if other == part:
                continue
            train = rows.with_weights((~np.isin(fold_of, [*part, *other])).astype(float))
            test = rows.with_weights(np.isin(fold_of, other).astype(float))
            tree = grow_unpruned(train, settings)
            total = total + rule.fold_sums(tree, [test], resolved.penalties)[0]
        penalty = rule.choose(resolved.penalties, total)
        for fold in part:
            tree = grow_unpruned(rows.with_weights((fold_of != fold).astype(float)), settings)
            assert_same_trees(built[fold], cut(tree, rule.node_alphas(tree) <= penalty))


def test_in_a_larger_table_the_trees_of_the_other_folds_choose(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS_OF_PAIRS", 200)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto", levels_from="cross_fit")
    _, resolved, _ = fit_tree(rows, settings)
    fold_of, tested = fold_numbers(rows.labels, settings.cv, seed=settings.seed), [0, 3, 6]
    found = fold_trees(FoldRows(rows, fold_of), tested, resolved)
    rule = penalty_rule(resolved)
    grown, sums = {}, {}
    for fold in tested:
        train = rows.with_weights(np.where(fold_of == fold, 0.0, 1.0))
        test = rows.with_weights(np.where(fold_of == fold, 1.0, 0.0))
        grown[fold] = grow_unpruned(train, resolved)
        (sums[fold],) = rule.fold_sums(grown[fold], [test], resolved.penalties)
    for fold, tree in grown.items():
        others = np.sum([sums[other] for other in tested if other != fold], axis=0)
        penalty = rule.choose(resolved.penalties, others)
        assert_same_trees(found[fold], cut(tree, rule.node_alphas(tree) <= penalty))


def test_threads_do_not_change_the_trees(monkeypatch):
    monkeypatch.setattr(module, "_FEW_ROWS", 0)
    rows = make_rows()
    _, resolved, _ = fit_tree(rows, TreeSettings(GrowthRules("gini"), pruning="auto"))
    parts = FoldRows(rows, np.arange(90) % 10)
    one, two = (fold_trees(parts, range(10), resolved, n_threads=n) for n in (1, 3))
    for fold in range(10):
        assert_same_trees(one[fold], two[fold])


def test_a_fold_without_which_no_rows_are_left_has_no_tree():
    parts = FoldRows(make_rows(), np.zeros(90, dtype=np.int64))
    assert fold_trees(parts, [0], TreeSettings(GrowthRules("gini"), pruning=None)) == {}

from dataclasses import replace

import numpy as np
import pytest

from sureleaf import TreeClassifier, folds
from sureleaf.folds import enough_folds, fold_numbers
from sureleaf.levels.decisions import CostRule
from sureleaf.model import cross_fitting, fitting
from sureleaf.model.cross_fitting import (
    FoldRows,
    cross_fit,
    fold_trees,
    levels_of_rounds,
    predict_out_of_fold,
    round_estimate,
)
from sureleaf.model.fitting import PenaltyRule, TreeSettings, fit_tree, grow_unpruned
from sureleaf.model.halves import _MOST_HALVES
from sureleaf.model.leaf_calibration import (
    LeafStrength,
    fit_leaf_calibration,
    leaf_strength,
    node_strength,
)
from sureleaf.model.node_levels import posterior_confidence
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import Laplace
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, cut, grow, route
from sureleaf.tree.routing import LeafCounts
from tests.naive import cross_fitted as naive


def build(rows):
    return grow(rows, GrowthRules("gini", min_samples_leaf=1))


def predictions(tree):
    return Laplace()(tree, tree.class_counts)


def make_rows(n_classes=2, n_rows=90, weights=None):
    rng = np.random.default_rng(n_classes)
    numbers = rng.normal(size=(n_rows, 2)).round(1)
    kinds = np.array(list("abc"))[rng.integers(0, 3, n_rows)]
    labels = (numbers[:, 0] + rng.normal(size=n_rows) > 0).astype(np.int32)
    labels += (rng.random(n_rows) < 0.3).astype(np.int32) * (n_classes - 2)
    table = read_table([[*line, kind] for line, kind in zip(numbers, kinds, strict=True)])
    return TrainingRows(table, labels, n_classes, weights)


def trees_of(parts, grow_one=build):
    grown = {fold: parts.without([fold]) for fold in parts.every_fold()}
    return {fold: grow_one(rows) for fold, rows in grown.items() if rows.total_weight}


def predict(rows, fold_of, grow_one=build):
    parts = FoldRows(rows, fold_of)
    return predict_out_of_fold(parts, trees_of(parts, grow_one), Laplace())


def model_of(tree, rows, **options):
    return TreeModel(
        rows.table.schema,
        np.arange(rows.n_classes),
        tree,
        LeafCounts.of_tree(tree),
        Laplace(),
        evidence=Evidence("cross_fit"),
        **options,
    )


def correct_of(found, n_rows):
    """Return what was predicted correctly of all rows; NaN if a row is not tested."""
    correct = np.full(n_rows, np.nan)
    correct[found.rows] = found.correct
    return correct


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_untested", [0, 30])
def test_predictions_and_accuracies_are_those_of_the_slow_twin(n_classes, n_untested):
    rows = make_rows(n_classes)
    parts = FoldRows(rows, np.where(np.arange(90) < n_untested, -1, np.arange(90) % 5))
    trees = trees_of(parts)
    found = predict_out_of_fold(parts, trees, Laplace())
    slow = naive.told_by_folds(parts, trees, predictions)
    correct = correct_of(found, 90)
    assert correct[n_untested:].tolist() == [told[0] for told in slow.values()]
    assert np.isnan(correct[:n_untested]).all()
    assert found.accuracy == pytest.approx(np.mean([told[0] for told in slow.values()]))
    of_rows = np.array([told[1] for told in slow.values()])
    order = np.argsort(found.rows)
    np.testing.assert_allclose(found.leaves.features[found.leaf[order]], of_rows, atol=1e-9)

    tree = build(rows)
    told = np.array([told[0] for told in slow.values()])
    curve = fit_leaf_calibration(of_rows, told, np.ones(len(told)))
    by_leaf = naive.leaf_accuracy(tree, parts, trees, predictions, slow, curve)
    accuracy = round_estimate(model_of(tree, rows), rows, found).accuracy
    np.testing.assert_allclose(accuracy[tree.leaf_ids], list(by_leaf.values()), atol=1e-6)


def test_a_tree_that_misses_what_the_fold_trees_find_states_less():
    """Fold trees find most of an exclusive or; the same tree cut to its first split does not."""
    rng = np.random.default_rng(0)
    signs = rng.normal(size=(400, 2))
    labels = ((signs.prod(axis=1) > 0) ^ (rng.random(400) < 0.1)).astype(np.int32)
    rows = TrainingRows(read_table(signs.tolist()), labels, 2)

    def grow_large_leaves(part):
        return grow(part, GrowthRules("gini", min_samples_leaf=20))

    found = predict(rows, np.arange(400) % 5, grow_large_leaves)
    whole = grow_large_leaves(rows)
    missed = cut(whole, np.arange(whole.n_nodes) > 0)

    def stated(tree):
        accuracy = round_estimate(model_of(tree, rows), rows, found).accuracy
        n = tree.class_counts[tree.leaf_ids].sum(axis=1)
        return n @ accuracy[tree.leaf_ids] / n.sum()

    assert stated(missed) < found.accuracy <= stated(whole)


def test_whole_weights_are_repeated_rows():
    weights = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    rows = make_rows(weights=weights)
    again = np.repeat(np.arange(90), weights.astype(int))
    columns = list(zip(*(column[again] for column in rows.table.columns), strict=True))
    names = [[a, b, "abc"[c]] for a, b, c in columns]
    repeated = TrainingRows(read_table(names), rows.labels[again], 2)
    fold_of = np.arange(90) % 5
    one, other = predict(rows, fold_of), predict(repeated, fold_of[again])
    np.testing.assert_array_equal(correct_of(one, 90)[again], correct_of(other, len(again)))
    assert one.accuracy == pytest.approx(other.accuracy)
    assert np.isnan(correct_of(one, 90)[weights == 0]).all()
    tree = build(rows)
    first = round_estimate(model_of(tree, rows), rows, one)
    second = round_estimate(model_of(tree, repeated), repeated, other)
    np.testing.assert_allclose(first.accuracy, second.accuracy, atol=1e-6)
    assert first.strength.per_leaf == pytest.approx(second.strength.per_leaf)


def test_a_tree_whose_leaves_all_name_the_majority_states_its_share():
    """A fold tree has fewer rows per leaf, which says nothing about what the tree gains."""
    labels = (np.arange(600) % 10 < 3).astype(np.int32)
    kinds = np.random.default_rng(0).choice(list("abc"), 600, p=[0.6, 0.3, 0.1])
    rows = TrainingRows(read_table([[kind] for kind in kinds]), labels, 2)

    def split_once(part):
        return grow(part, GrowthRules("entropy", "multiway", max_depth=1))

    found = predict(rows, np.arange(600) // 10 % 10, split_once)
    tree = split_once(rows)
    accuracy = round_estimate(model_of(tree, rows), rows, found).accuracy
    n = tree.class_counts[tree.leaf_ids].sum(axis=1)
    assert n @ accuracy[tree.leaf_ids] / 600 == pytest.approx(0.7, abs=0.002)


def test_importances_tell_as_much_as_their_effective_number_of_rows():
    weights = np.random.default_rng(1).exponential(size=90)
    rows = make_rows(weights=weights)
    found = predict(rows, np.arange(90) % 5)
    model = model_of(build(rows), rows, weights="importance")
    scale = weights.sum() / (weights @ weights)  # Kish's number of rows, per unit of weight
    leaves = found.leaves
    correct, total = scale * leaves.correct, scale * leaves.tested.sum(axis=1)
    curve = fit_leaf_calibration(leaves.features, correct, total)(leaves.features)
    expected = leaf_strength(correct, total, curve, leaves.grown.sum(axis=1))
    strength = round_estimate(model, rows, found).strength
    assert (strength.per_row, strength.per_leaf) == pytest.approx(
        (expected.per_row, expected.per_leaf)
    )


def test_a_class_that_only_one_fold_has_is_missed_there():
    labels = np.zeros(90, dtype=np.int32)
    labels[:6] = 1
    lone = TrainingRows(make_rows().table, labels, 2)
    found = predict(lone, (np.arange(90) >= 6).astype(np.int64))
    assert correct_of(found, 90)[:6].tolist() == [0.0] * 6
    assert np.isfinite(found.leaves.features).all()


def test_a_single_fold_measures_nothing_and_every_leaf_is_a_guess():
    rows = make_rows()
    found = predict(rows, np.zeros(90, dtype=np.int64))
    assert np.isnan(found.accuracy)
    tree = build(rows)
    accuracy = round_estimate(model_of(tree, rows), rows, found).accuracy
    assert accuracy.tolist() == [0.5] * tree.n_nodes


def test_only_correct_predictions_do_not_prove_certainty():
    table = read_table([[float(i)] for i in range(40)])
    rows = TrainingRows(table, np.repeat([0, 1], 20).astype(np.int32), 2)
    tree = build(rows)
    found = predict(rows, np.arange(40) % 2)
    accuracy = round_estimate(model_of(tree, rows), rows, found).accuracy
    assert accuracy[tree.leaf_ids].max() < 1


def test_evidence_of_rounds_is_the_mean_of_their_accuracies_and_variances():
    rows = make_rows()
    tree = build(rows)
    model = model_of(tree, rows)
    rounds = [predict(rows, np.random.default_rng(k).permutation(90) % 5) for k in range(4)]
    evidence = levels_of_rounds(model, rows, rounds).evidence
    assert evidence.n_rounds == 4
    found = [round_estimate(model, rows, each) for each in rounds]

    def levels(kept):
        accuracy = np.mean([found[k].accuracy for k in kept], axis=0)
        per_row = np.mean([found[k].strength.per_row for k in kept])
        per_leaf = np.mean([found[k].strength.per_leaf for k in kept])
        n = tree.class_counts.sum(axis=1)
        mean = n[tree.leaf_ids] @ accuracy[tree.leaf_ids] / n[0]
        variance = 1 / (1 / (per_row / (n + 1) + per_leaf) + 1)
        variance += 2 / 90 * accuracy * (1 - accuracy) / (mean * (1 - mean))
        strength = np.maximum(1 / variance - 1, 0.05)
        ties = np.full(tree.n_nodes, 0.5)
        return accuracy, strength, posterior_confidence(accuracy, strength, ties)

    accuracy, strength, _ = levels(range(4))
    np.testing.assert_allclose(evidence.accuracy, accuracy)
    np.testing.assert_allclose(evidence.strength, strength)
    without = [levels([k for k in range(4) if k != left])[2] for left in range(4)]
    np.testing.assert_allclose(evidence.confidence_error, np.sqrt(3 * np.var(without, axis=0)))


def test_the_only_leaf_of_a_tree_is_known_as_well_as_the_tree():
    rows = make_rows()
    tree = cut(build(rows), np.ones(build(rows).n_nodes, dtype=bool))
    strength = node_strength(tree, np.array([90.0]), np.array([0.6]), LeafStrength(1.0, 1.0))
    assert strength.tolist() == [90 / 2 - 1]


def test_a_leaf_whose_class_the_fold_trees_do_not_name_is_stated_as_less_accurate():
    """The fold trees are as often correct about its rows; they only name another class."""
    rows = make_rows(n_rows=90)
    tree = cut(build(rows), np.arange(build(rows).n_nodes) > 0)
    model, predicted = model_of(tree, rows), predictions(tree).argmax(axis=1)
    found = predict(rows, np.arange(90) % 5)
    leaf_of = route(tree, rows.table).heaviest()[found.rows]
    doubtful, other = tree.leaf_ids[:2]
    same = replace(found, decided=predicted[leaf_of])
    against = np.where(leaf_of == doubtful, 1 - predicted[leaf_of], predicted[leaf_of])
    agreed = round_estimate(model, rows, same).accuracy
    opposed = round_estimate(model, rows, replace(found, decided=against)).accuracy
    assert opposed[doubtful] < agreed[doubtful]
    assert opposed[other] > agreed[other]  # the mean over the leaves stays the same


def test_with_costs_every_decision_has_a_curve_of_its_own():
    """Leaves of the rare decision are right less often, however pure; the others do not show it."""
    rows = make_rows(n_rows=400)
    fold_of = np.arange(400) % 5
    rule = CostRule(np.array([[0.0, 1.0], [5.0, 0.0]]))
    parts = FoldRows(rows, fold_of)
    found = predict_out_of_fold(parts, trees_of(parts), Laplace(), rule=rule)
    model = model_of(build(rows), rows, cost=rule.cost)
    tested = found.leaves.tested.copy()
    swapped = replace(
        found.leaves,
        tested=np.where(found.leaves.predicted[:, np.newaxis] == 0, tested[:, ::-1], tested),
    )
    one = round_estimate(model, rows, found).accuracy
    other = round_estimate(model, rows, replace(found, leaves=swapped)).accuracy
    of_zero = model.predicted_classes == 0
    assert (other[of_zero] < one[of_zero]).all()
    order = np.argsort(one[~of_zero])
    assert (np.diff(other[~of_zero][order]) >= -1e-9).all()  # only shifted, all alike


@pytest.mark.parametrize("cost", [None, [[0.0, 1.0], [5.0, 0.0]]])
def test_a_tree_of_one_leaf_states_no_more_than_the_share_of_its_class(cost):
    """At costs one stated what its fold trees, which split, reach: .65 for a class with .55."""
    rows = make_rows(n_rows=400)
    parts = FoldRows(rows, np.arange(400) % 5)
    rule = CostRule(np.array(cost)) if cost else None
    found = predict_out_of_fold(parts, trees_of(parts), Laplace(), rule=rule)
    found = replace(found, correct=np.ones(400))
    whole = build(rows)
    model = model_of(
        cut(whole, np.full(whole.n_nodes, True)), rows, cost=np.array(cost) if cost else None
    )
    share = model.tree.class_counts[0, model.predicted_classes[0]] / 400
    np.testing.assert_allclose(round_estimate(model, rows, found).accuracy, [share])


def test_a_large_table_tests_some_folds(monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH_TESTED", 60)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto", levels_from="cross_fit")
    _, resolved, _ = fit_tree(rows, settings)
    fold_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed)
    out_of_fold = cross_fit(rows, resolved)
    tested = enough_folds(fold_of, least=2)
    assert tested == [0, 3, 6]
    np.testing.assert_array_equal(
        out_of_fold.rows,
        np.flatnonzero(np.isin(fold_of, tested))[
            np.argsort(fold_of[np.isin(fold_of, tested)], kind="stable")
        ],
    )
    assert out_of_fold.leaves.shares.sum() == pytest.approx(1)


def test_the_size_is_chosen_by_the_folds_that_are_tested(monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH_TESTED", 60)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto")
    _, resolved, _ = fit_tree(rows, settings)
    part_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed) % 5
    rule, total = PenaltyRule(resolved), 0
    for part in (0, 2):
        train = rows.with_weights(np.where(part_of == part, 0.0, 1.0))
        test = rows.with_weights(np.where(part_of == part, 1.0, 0.0))
        tree = grow_unpruned(train, settings)
        total = total + rule.fold_sums(tree, [test], resolved.penalties)[0]
    assert resolved.penalty == rule.choose(resolved.penalties, total)


@pytest.mark.parametrize(("n_rows", "per_round", "most"), [(90, 20, 824), (1100, 10, 424)])
def test_leaves_grows_at_most_as_many_trees_as_its_docstring_says(
    n_rows, per_round, most, monkeypatch
):
    model = TreeClassifier(random_state=0)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 2))
    model.fit(X, X[:, 0] + rng.normal(size=n_rows) > 0)
    n_most_rounds = cross_fitting.MAX_ROUNDS
    monkeypatch.setattr(cross_fitting, "MAX_ROUNDS", 2)
    grown = []
    monkeypatch.setattr(
        fitting, "grow", lambda rows, *rest, **how: grown.append(1) or grow(rows, *rest, **how)
    )
    model.leaves()
    assert len(grown) == 2 * per_round + 2 * 2  # two halves per round
    assert n_most_rounds * per_round + _MOST_HALVES == most
    assert f" {most}" in TreeClassifier.leaves.__doc__


# ---- fold trees ----


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
    rule = PenaltyRule(settings)
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
    monkeypatch.setattr(cross_fitting, "_MOST_ROWS_OF_PAIRS", 200)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto", levels_from="cross_fit")
    _, resolved, _ = fit_tree(rows, settings)
    fold_of, tested = fold_numbers(rows.labels, settings.cv, seed=settings.seed), [0, 3, 6]
    found = fold_trees(FoldRows(rows, fold_of), tested, resolved)
    rule = PenaltyRule(resolved)
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


def test_a_fold_without_which_no_rows_are_left_has_no_tree():
    parts = FoldRows(make_rows(), np.zeros(90, dtype=np.int64))
    assert fold_trees(parts, [0], TreeSettings(GrowthRules("gini"), pruning=None)) == {}

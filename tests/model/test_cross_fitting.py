from dataclasses import replace

import numpy as np
import pytest

from sureleaf import folds
from sureleaf.folds import enough_folds, fold_numbers
from sureleaf.model import cross_fitting
from sureleaf.model.cross_fitting import (
    cross_fit,
    levels_of_rounds,
    node_accuracy,
    predict_out_of_fold,
)
from sureleaf.model.fitting import TreeSettings, fit_tree, grow_unpruned, penalty_rule
from sureleaf.model.leaf_calibration import fit_leaf_calibration
from sureleaf.model.leaf_counts import LeafCounts
from sureleaf.model.node_levels import posterior_confidence
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import Laplace
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, cut, grow, mixture, route
from tests.naive import cross_fitted as naive


def build(rows, fold=-1):
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_correctness_and_accuracy_are_those_of_the_slow_twin(n_classes):
    rows = make_rows(n_classes)
    fold_of = np.arange(90) % 5
    found = predict_out_of_fold(rows, fold_of, build, Laplace(), n_threads=2)
    slow = naive.correct_and_features(rows, fold_of, build, predictions)
    assert found.correct.tolist() == [slow[row][0] for row in range(90)]
    np.testing.assert_allclose(found.features, [slow[row][1] for row in range(90)], atol=1e-9)
    assert found.accuracy == pytest.approx(np.mean([told[0] for told in slow.values()]))

    tree = build(rows)
    predicted = predictions(tree).argmax(axis=1)
    rates, _ = node_accuracy(tree, rows, predicted, found)
    curve = fit_leaf_calibration(found.features, found.correct, np.ones(90))
    shift = naive.tree_shift(rows, fold_of, build, predictions, tree, curve)
    target = found.accuracy + 0.3 * found.correction + 0.7 * shift
    by_leaf = naive.leaf_accuracy(tree, rows, predicted, slow, curve, target)
    np.testing.assert_allclose(rates[tree.leaf_ids], list(by_leaf.values()), atol=1e-9)


def test_leaves_together_state_the_corrected_accuracy():
    rows = make_rows()
    fold_of = np.arange(90) % 10
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    tree = build(rows)
    n = tree.class_counts.sum(axis=1)
    rates, _ = node_accuracy(tree, rows, predictions(tree).argmax(axis=1), found)
    shares = n[tree.leaf_ids] / n[0]
    curve = fit_leaf_calibration(found.features, found.correct, np.ones(90))
    shift = naive.tree_shift(rows, fold_of, build, predictions, tree, curve)
    stated = found.accuracy + 0.3 * found.correction + 0.7 * shift
    assert shares @ rates[tree.leaf_ids] == pytest.approx(stated)


def test_a_tree_that_misses_what_the_fold_trees_find_states_less():
    """Fold trees find most of an exclusive or; the same tree cut to its first split does not."""
    rng = np.random.default_rng(0)
    signs = rng.normal(size=(400, 2))
    labels = ((signs.prod(axis=1) > 0) ^ (rng.random(400) < 0.1)).astype(np.int32)
    rows = TrainingRows(read_table(signs.tolist()), labels, 2)

    def grow_large_leaves(part, fold=-1):
        return grow(part, GrowthRules("gini", min_samples_leaf=20))

    found = predict_out_of_fold(rows, np.arange(400) % 5, grow_large_leaves, Laplace())
    whole = grow_large_leaves(rows)
    missed = cut(whole, np.arange(whole.n_nodes) > 0)

    def stated(tree):
        rates, _ = node_accuracy(tree, rows, predictions(tree).argmax(axis=1), found)
        n = tree.class_counts[tree.leaf_ids].sum(axis=1)
        return n @ rates[tree.leaf_ids] / n.sum()

    assert stated(missed) < found.accuracy <= stated(whole)


def test_the_correction_is_what_accuracy_gains_by_the_logarithm_of_the_rows():
    rows = make_rows()
    fold_of = np.arange(90) % 10
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    half = predict_out_of_fold(rows, (fold_of >= 5).astype(np.int64), build, Laplace())
    assert half.correction == 0  # two folds have no halves
    per_log = (found.accuracy - half.accuracy) / (np.log(0.9) - np.log(0.5))
    assert found.correction == pytest.approx(per_log * -np.log(0.9))


def test_whole_weights_are_repeated_rows():
    weights = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    rows = make_rows(weights=weights)
    again = np.repeat(np.arange(90), weights.astype(int))
    columns = list(zip(*(column[again] for column in rows.table.columns), strict=True))
    names = [[a, b, "abc"[c]] for a, b, c in columns]
    repeated = TrainingRows(read_table(names), rows.labels[again], 2)
    fold_of = np.arange(90) % 5
    one = predict_out_of_fold(rows, fold_of, build, Laplace())
    other = predict_out_of_fold(repeated, fold_of[again], build, Laplace())
    np.testing.assert_array_equal(one.correct[again], other.correct)
    assert one.accuracy == pytest.approx(other.accuracy)
    assert np.isnan(one.correct[weights == 0]).all()


def test_a_class_that_only_one_fold_has_is_missed_there():
    rows = make_rows()
    labels = np.zeros(90, dtype=np.int32)
    labels[:6] = 1
    lone = TrainingRows(rows.table, labels, 2)
    found = predict_out_of_fold(lone, (np.arange(90) >= 6).astype(np.int64), build, Laplace())
    assert found.correct[:6].tolist() == [0.0] * 6
    assert np.isfinite(found.features).all()


def test_rows_that_no_fold_tests_are_neither_correct_nor_wrong():
    rows = make_rows()
    fold_of = np.where(np.arange(90) < 30, -1, np.arange(90) % 3)
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    assert np.isnan(found.correct[:30]).all()
    assert np.isfinite(found.correct[30:]).all()


def test_a_single_fold_measures_nothing_and_every_leaf_is_a_guess():
    rows = make_rows()
    found = predict_out_of_fold(rows, np.zeros(90, dtype=np.int64), build, Laplace())
    assert np.isnan(found.accuracy)
    tree = build(rows)
    rates, _ = node_accuracy(tree, rows, np.zeros(tree.n_nodes, dtype=int), found)
    assert rates.tolist() == [0.5] * tree.n_nodes


def test_only_correct_predictions_do_not_prove_certainty():
    table = read_table([[float(i)] for i in range(40)])
    rows = TrainingRows(table, np.repeat([0, 1], 20).astype(np.int32), 2)
    fold_of = np.arange(40) % 2
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    tree = build(rows)
    rates, _ = node_accuracy(tree, rows, np.array([0, 0, 1]), found)
    assert rates[tree.leaf_ids].max() < 1


def test_threads_do_not_change_the_result():
    rows = make_rows()
    fold_of = np.arange(90) % 10
    one = predict_out_of_fold(rows, fold_of, build, Laplace(), n_threads=1)
    two = predict_out_of_fold(rows, fold_of, build, Laplace(), n_threads=3)
    np.testing.assert_array_equal(one.correct, two.correct)
    np.testing.assert_array_equal(one.features, two.features)


def test_every_fold_is_built_under_its_own_number():
    rows, fold_of = make_rows(), np.arange(90) % 5
    seen = []

    def numbered(part, fold):
        seen.append(fold)
        return build(part)

    predict_out_of_fold(rows, fold_of, numbered, Laplace())
    assert sorted(seen) == [-2, -1, *sorted(set(fold_of.tolist()))]


@pytest.mark.parametrize("pruning", ["auto", "utility", "cost_complexity"])
def test_the_penalty_of_a_fold_is_chosen_without_its_test_rows(pruning, monkeypatch):
    """Trees that choose have not seen it; the choice for a half is that of the trees of folds."""
    rows = make_rows(n_rows=150)
    rules = GrowthRules("entropy", min_samples_leaf=1)
    settings = TreeSettings(rules, pruning=pruning, cv=7, collapse=False)
    _, resolved, _ = fit_tree(rows, settings)
    fold_of = fold_numbers(rows.labels, 7, seed=settings.seed)
    built = {}
    real = cross_fitting.predict_out_of_fold

    def remembered(rows, fold_of, build, estimate, **options):
        def keep(part, fold):
            built[fold] = build(part, fold)
            return built[fold]

        return real(rows, fold_of, keep, estimate, **options)

    monkeypatch.setattr(cross_fitting, "predict_out_of_fold", remembered)
    cross_fit(rows, resolved)
    assert sorted(built) == [-2, -1, 0, 1, 2, 3, 4, 5, 6]
    rule = penalty_rule(settings)

    def chosen(unseen, tested):
        """The penalty by tests on parts, of trees without the part and without what is unseen."""
        total = 0
        for part in tested:
            train = rows.with_weights((~np.isin(fold_of, [*unseen, *part])).astype(float))
            test = rows.with_weights(np.isin(fold_of, part).astype(float))
            tree = grow_unpruned(train, settings)
            total = total + rule.fold_sums(tree, [test], resolved.penalties)[0]
        return rule.choose(resolved.penalties, total)

    parts = [[0, 5], [1, 6], [2], [3], [4]]
    for part in parts:
        penalty = chosen(part, [other for other in parts if other != part])
        for fold in part:
            tree = grow_unpruned(rows.with_weights((fold_of != fold).astype(float)), settings)
            expected = cut(tree, rule.node_alphas(tree) <= penalty)
            np.testing.assert_array_equal(built[fold].feature, expected.feature)
    half = grow_unpruned(rows.with_weights((fold_of >= 3).astype(float)), settings)
    penalty = chosen([], [[3], [4], [5], [6]])
    expected = cut(half, rule.node_alphas(half) <= penalty)
    np.testing.assert_array_equal(built[-1].feature, expected.feature)


def test_evidence_of_rounds_is_the_mean_of_their_accuracies_and_variances():
    rows = make_rows()
    tree = build(rows)
    model = TreeModel(
        rows.table.schema,
        np.arange(2),
        tree,
        LeafCounts.of_tree(tree),
        Laplace(),
        evidence=Evidence("cross_fit"),
    )
    rounds = [
        predict_out_of_fold(rows, np.random.default_rng(k).permutation(90) % 5, build, Laplace())
        for k in range(4)
    ]
    evidence = levels_of_rounds(model, rows, rounds).evidence
    assert evidence.n_rounds == 4
    predicted = predictions(tree).argmax(axis=1)
    found = [node_accuracy(tree, rows, predicted, each) for each in rounds]

    def of_tree(kept):
        of_rounds = [rounds[k].accuracy for k in kept]
        measured = np.mean(of_rounds)
        return max(2, 3 * np.var(of_rounds, ddof=1) / (measured * (1 - measured) / 90))

    def strength(parts, accuracy, measured, multiple):
        per_row = np.mean([part.per_row for part in parts])
        per_leaf = np.mean([part.per_leaf for part in parts])
        n = tree.class_counts.sum(axis=1)
        variance = 1 / (1 / (per_row / (n + 1) + per_leaf) + 1)
        shape = accuracy * (1 - accuracy) / (measured * (1 - measured))
        variance = variance + multiple / 90 * shape
        return np.maximum(1 / variance - 1, 0.05)

    def confidence(kept):
        accuracy = np.mean([found[k][0] for k in kept], axis=0)
        measured = np.mean([rounds[k].accuracy for k in kept])
        s = strength([found[k][1] for k in kept], accuracy, measured, of_tree(kept))
        return accuracy, s, posterior_confidence(accuracy, s, np.full(tree.n_nodes, 0.5))

    accuracy, s, _ = confidence(range(4))
    np.testing.assert_allclose(evidence.accuracy, accuracy)
    np.testing.assert_allclose(evidence.strength, s)
    without = [confidence([k for k in range(4) if k != left])[2] for left in range(4)]
    np.testing.assert_allclose(evidence.confidence_error, np.sqrt(3 * np.var(without, axis=0)))
    assert evidence.tree_strength == pytest.approx(90 / of_tree(range(4)) - 1)


def test_rounds_that_differ_make_the_accuracy_of_the_tree_less_certain():
    variance = cross_fitting._tree_variance
    assert variance(np.array([0.6]), 100.0) == 2
    assert variance(np.array([np.nan, np.nan]), 100.0) == 2
    assert variance(np.full(40, 0.6), 100.0) == 2  # rounds that agree prove nothing
    assert variance(np.full(40, 1.0), 100.0) == 2
    differ = np.where(np.arange(40) % 2, 0.5, 0.9)
    assert variance(differ, 100.0) == pytest.approx(3 * np.var(differ, ddof=1) / (0.7 * 0.3 / 100))


def test_a_leaf_whose_class_the_fold_trees_do_not_name_is_stated_as_less_accurate():
    """The fold trees are as often correct about its rows; they only name another class."""
    rows = make_rows(n_rows=90)
    tree = cut(build(rows), np.arange(build(rows).n_nodes) > 0)
    predicted = predictions(tree).argmax(axis=1)
    found = predict_out_of_fold(rows, np.arange(90) % 5, build, Laplace())
    leaf_of = route(tree, rows.table).heaviest()
    doubtful, other = tree.leaf_ids[:2]
    same = replace(found, decided=predicted[leaf_of])
    against = np.where(leaf_of == doubtful, 1 - predicted[leaf_of], predicted[leaf_of])
    agreed, _ = node_accuracy(tree, rows, predicted, same)
    opposed, _ = node_accuracy(tree, rows, predicted, replace(found, decided=against))
    assert opposed[doubtful] < agreed[doubtful]
    assert opposed[other] > agreed[other]  # the mean over the leaves stays the same


def test_predictions_of_one_decision_alone_are_not_compared_with_other_decisions():
    rows = make_rows()
    tree = build(rows)
    predicted = predictions(tree).argmax(axis=1)
    found = predict_out_of_fold(rows, np.arange(90) % 5, build, Laplace())
    part, nodes = found.of_decision(0, np.ones(90)), predicted == 0
    rates, _ = node_accuracy(tree, rows, predicted, part, nodes=nodes)
    elsewhere = np.isnan(part.correct)
    swapped = replace(part, decided=np.where(elsewhere, 1 - part.decided, part.decided))
    again, _ = node_accuracy(tree, rows, predicted, swapped, nodes=nodes)
    assert elsewhere.any()
    np.testing.assert_array_equal(rates[nodes], again[nodes])


def test_a_leaf_without_tested_rows_has_the_accuracy_of_the_curve():
    rows = make_rows()
    tree = build(rows)
    predicted = predictions(tree).argmax(axis=1)
    leaf_of = route(tree, rows.table).heaviest()
    left_out = tree.leaf_ids[0]
    fold_of = np.where(leaf_of == left_out, -1, np.arange(90) % 5)
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    rates, _ = node_accuracy(tree, rows, predicted, found)
    slow = naive.correct_and_features(rows, fold_of, build, predictions)
    tested = fold_of >= 0
    curve = fit_leaf_calibration(
        found.features[tested], found.correct[tested], np.ones(sum(tested))
    )
    shift = naive.tree_shift(rows, fold_of, build, predictions, tree, curve)
    target = found.accuracy + 0.3 * found.correction + 0.7 * shift
    by_leaf = naive.leaf_accuracy(tree, rows, predicted, slow, curve, target)
    assert rates[left_out] == pytest.approx(by_leaf[left_out])


def test_some_folds_are_predicted_as_among_all():
    rows, fold_of = make_rows(), np.arange(90) % 6
    every = predict_out_of_fold(rows, fold_of, build, Laplace())
    some = predict_out_of_fold(rows, fold_of, build, Laplace(), folds=[0, 3])
    tested = np.isin(fold_of, [0, 3])
    np.testing.assert_array_equal(np.isnan(some.correct), ~tested)
    np.testing.assert_array_equal(some.correct[tested], every.correct[tested])
    np.testing.assert_array_equal(some.features[tested], every.features[tested])
    assert some.accuracy == every.correct[tested].mean()
    # Half trees lack whole halves, and are compared on the same rows.
    half_correct = np.full(90, np.nan)
    for half in (fold_of < 3, fold_of >= 3):
        tree = build(rows.with_weights(np.where(half, 0.0, 1.0)))
        leaf = route(tree, rows.table).heaviest()
        half_correct[half] = (predictions(tree).argmax(axis=1)[leaf] == rows.labels)[half]
    gain = np.log(1 / (5 / 6)) / np.log((5 / 6) / 0.5)
    expected = (some.accuracy - half_correct[tested].mean()) * gain
    assert some.correction == pytest.approx(expected)


def test_a_large_table_tests_some_folds_and_chooses_penalties_by_the_others(monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH_TESTED", 60)
    monkeypatch.setattr(cross_fitting, "_MOST_ROWS_OF_PAIRS", 200)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto", levels_from="cross_fit")
    _, resolved, _ = fit_tree(rows, settings)
    fold_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed)
    out_of_fold = cross_fit(rows, resolved)
    tested = enough_folds(fold_of, least=2)
    assert tested == [0, 3, 6]
    np.testing.assert_array_equal(~np.isnan(out_of_fold.correct), np.isin(fold_of, tested))
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
        tree = cut(tree, rule.node_alphas(tree) <= penalty)
        probabilities = resolved.leaf_estimate(tree, tree.class_counts)
        own = fold_of == fold
        decided = mixture(tree, rows.table, probabilities).argmax(axis=1)
        np.testing.assert_array_equal(out_of_fold.correct[own], (decided == rows.labels)[own])


def test_the_size_is_chosen_by_the_folds_that_are_tested(monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH_TESTED", 60)
    rows = make_rows(n_rows=240)
    settings = TreeSettings(GrowthRules("gini"), pruning="auto")
    _, resolved, _ = fit_tree(rows, settings)
    part_of = fold_numbers(rows.labels, settings.cv, seed=settings.seed) % 5
    rule, total = penalty_rule(resolved), 0
    for part in (0, 2):
        train = rows.with_weights(np.where(part_of == part, 0.0, 1.0))
        test = rows.with_weights(np.where(part_of == part, 1.0, 0.0))
        tree = grow_unpruned(train, settings)
        total = total + rule.fold_sums(tree, [test], resolved.penalties)[0]
    assert resolved.penalty == rule.choose(resolved.penalties, total)

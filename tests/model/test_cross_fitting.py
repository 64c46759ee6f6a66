import numpy as np
import pytest

from sureleaf.model.cross_fitting import node_accuracy, predict_out_of_fold
from sureleaf.model.leaf_calibration import fit_leaf_calibration
from sureleaf.probability import Laplace
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow
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
    assert found.accuracy == pytest.approx(np.mean([correct for correct, _, _ in slow.values()]))

    tree = build(rows)
    predicted = predictions(tree).argmax(axis=1)
    rates, _ = node_accuracy(tree, rows, predicted, tree.class_counts.sum(axis=1), found)
    curve = fit_leaf_calibration(found.features, found.correct, np.ones(90))
    target = found.accuracy + found.correction
    by_leaf = naive.leaf_accuracy(tree, rows, predicted, slow, curve, target)
    np.testing.assert_allclose(rates[tree.leaf_ids], list(by_leaf.values()), atol=1e-9)


def test_leaves_together_state_the_corrected_accuracy():
    rows = make_rows()
    found = predict_out_of_fold(rows, np.arange(90) % 10, build, Laplace())
    tree = build(rows)
    n = tree.class_counts.sum(axis=1)
    rates, _ = node_accuracy(tree, rows, predictions(tree).argmax(axis=1), n, found)
    shares = n[tree.leaf_ids] / n[0]
    assert shares @ rates[tree.leaf_ids] == pytest.approx(found.accuracy + found.correction)


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
    n = tree.class_counts.sum(axis=1)
    rates, _ = node_accuracy(tree, rows, np.zeros(tree.n_nodes, dtype=int), n, found)
    assert rates.tolist() == [0.5] * tree.n_nodes


def test_only_correct_predictions_do_not_prove_certainty():
    table = read_table([[float(i)] for i in range(40)])
    rows = TrainingRows(table, np.repeat([0, 1], 20).astype(np.int32), 2)
    fold_of = np.arange(40) % 2
    found = predict_out_of_fold(rows, fold_of, build, Laplace())
    tree = build(rows)
    n = tree.class_counts.sum(axis=1)
    rates, _ = node_accuracy(tree, rows, np.array([0, 0, 1]), n, found)
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
    assert sorted(seen) == [-1, -1, *sorted(set(fold_of.tolist()))]

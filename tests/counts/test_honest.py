import numpy as np
import pytest

from sureleaf import TreeClassifier
from sureleaf.counts import honest_hits, recount, split_rows
from sureleaf.counts.hit_rates import shrink_to_parent
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, count_nodes, grow


def make_rows(n=60, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    labels = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int32)
    return TrainingRows(read_table(X), labels, 2, weights)


@pytest.mark.parametrize("weights", [None, np.arange(60.0)])
def test_every_row_grows_or_is_counted(weights):
    rows = make_rows(weights=weights)
    is_counted = np.arange(60) % 3 == 0
    growing, counted = split_rows(rows, is_counted)
    assert (growing.weights[is_counted] == 0).all()
    assert (counted.weights[~is_counted] == 0).all()
    assert growing.total_weight + counted.total_weight == rows.total_weight


def test_recounting_keeps_the_splits_and_replaces_the_counts():
    growing, counted = split_rows(make_rows(), np.arange(60) % 2 == 0)
    tree = grow(growing, GrowthRules("gini"))
    other = recount(tree, counted)
    np.testing.assert_array_equal(other.feature, tree.feature)
    np.testing.assert_array_equal(other.threshold, tree.threshold)
    np.testing.assert_array_equal(other.class_counts, count_nodes(tree, counted))


def test_leaving_a_row_out_is_counting_without_it():
    tree = grow(make_rows(), GrowthRules("gini"))
    left_out = shrink_to_parent(tree, tree.class_counts, 3.0, leave_out=1.0)
    for leaf in tree.leaf_ids:
        for label in (0, 1):
            if tree.class_counts[leaf, label] < 1:
                continue
            counts, node = tree.class_counts.copy(), int(leaf)
            while node >= 0:
                counts[node, label] -= 1
                node = int(tree.parent[node])
            expected = shrink_to_parent(tree, counts, 3.0)[leaf, label]
            assert left_out[leaf, label] == pytest.approx(expected)


def test_leaves_that_differ_are_trusted_and_leaves_alike_are_not():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 20, 4000)
    table = read_table([[str(k)] for k in kind], categorical_features=[0])
    for spread, low, high in ((0.5, 0.3, 1.0), (0.0, 0.0, 0.05)):
        chance = 0.5 + spread * (kind % 2 - 0.5) * 1.8
        rows = TrainingRows(table, (rng.random(4000) < chance).astype(np.int32), 2)
        tree = grow(rows, GrowthRules("gini", min_samples_leaf=1, max_depth=1))
        rates = honest_hits(tree, np.ones(tree.n_nodes, dtype=int)).rates[tree.leaf_ids]
        assert low <= rates.std() <= high


def test_honest_levels_do_not_promise_what_noise_cannot_keep():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = TreeClassifier(criterion="gini", pruning=None, levels_from="honest", random_state=0)
    # 200 rows are counted: a rate of one half has a standard error of 3.5 points.
    assert abs(model.fit(X, y).levels().utility - 0.5) < 3 * 0.035

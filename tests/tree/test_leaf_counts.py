"""Counts of two halves add up to the counts of the whole."""

import numpy as np
import pandas as pd
import pytest

from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier
from sureleaf.model.leaf_calibration import honest_accuracy, shrink_to_parent
from sureleaf.table import encode, read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow
from sureleaf.tree.routing import LeafCounts, count_leaves


def table(seed: int, n_rows: int, holes: float) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    y = ((X["a"] > 0).astype(int) + (X["b"] > 1)).to_numpy()
    X["d"] = random.choice(["u", "v"], n_rows)
    return X.mask(random.random(X.shape) < holes), y


def rows_for(model: TreeClassifier, X, y, weights=None) -> TrainingRows:
    return TrainingRows(encode(X, model.schema_), y.astype(np.int32), 3, weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_two_halves_merged_equal_one_pass(holes, weighted):
    X, y = table(0, 400, holes)
    weights = np.random.default_rng(1).random(400) if weighted else None
    model = TreeClassifier.c45(criterion="gini", min_samples_leaf=5).fit(
        X, y, sample_weight=weights
    )
    whole = count_leaves(model.tree_, rows_for(model, X, y, weights))
    first, second = slice(0, 150), slice(150, None)
    parts = [
        count_leaves(
            model.tree_,
            rows_for(model, X.iloc[half], y[half], None if weights is None else weights[half]),
        )
        for half in (first, second)
    ]
    for merged in (parts[0] + parts[1], model.leaf_counts_):
        np.testing.assert_array_equal(merged.leaf_ids, whole.leaf_ids)
        np.testing.assert_allclose(merged.counts, whole.counts, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(merged.squares, whole.squares, rtol=1e-12, atol=1e-12)
    # and they are what the tree counted while it grew
    grown = model.tree_.class_counts[model.tree_.leaf_ids]
    np.testing.assert_allclose(whole.counts, grown, rtol=1e-9, atol=1e-9)
    assert whole.n.sum() == pytest.approx(400 if weights is None else weights.sum())


def test_a_part_of_a_row_counts_as_that_part_of_a_row():
    X = [[1.0, 0], [1.0, 0], [2.0, 0], [2.0, 0], [np.nan, 0], [np.nan, 0]]
    model = TreeClassifier.c45(criterion="gini", pruning=None).fit(X, [0, 0, 1, 1, 0, 1])
    np.testing.assert_allclose(model.leaf_counts_.n, [3.0, 3.0])
    np.testing.assert_allclose(model.leaf_counts_.squares, [3.0, 3.0])
    np.testing.assert_allclose(model.leaf_counts_.n_effective, [3.0, 3.0])


def test_the_effective_number_of_rows_is_kishs():
    counts = LeafCounts(np.array([1, 2]), np.array([[2.0, 1.0], [0.0, 0.0]]), np.array([5.0, 0.0]))
    np.testing.assert_allclose(counts.n_effective, [9 / 5, 0.0])
    assert repr(counts) == "LeafCounts of 2 leaves, 3 rows"


def test_only_counts_of_the_same_leaves_and_classes_can_be_added():
    a = LeafCounts(np.array([1, 2]), np.ones((2, 2)), np.ones(2))
    other_leaves = LeafCounts(np.array([1, 3]), np.ones((2, 2)), np.ones(2))
    other_classes = LeafCounts(np.array([1, 2]), np.ones((2, 3)), np.ones(2))
    with pytest.raises(InvalidArgumentError, match="same leaves"):
        a + other_leaves
    with pytest.raises(InvalidTypeError, match="same classes"):
        a + other_classes
    with pytest.raises(TypeError):
        a + 1


def make_rows(n=60, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    labels = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int32)
    return TrainingRows(read_table(X), labels, 2, weights)


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
        rates = honest_accuracy(tree, np.ones(tree.n_nodes, dtype=int))[0][tree.leaf_ids]
        assert low <= rates.std() <= high


def test_honest_levels_do_not_promise_what_noise_cannot_keep():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = TreeClassifier.c45(criterion="gini", pruning=None, levels_from="honest", random_state=0)
    # 200 rows are counted: a rate of one half has a standard error of 3.5 points.
    assert abs(model.fit(X, y).levels().utility - 0.5) < 3 * 0.035

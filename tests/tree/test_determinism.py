"""The tree does not depend on threads, on the order of rows, or on weights versus copies."""

import numpy as np
import pandas as pd
import pytest

from sureleaf.table import read_table
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, Tree, grow, prune_pessimistic

ARRAYS = ("feature", "threshold", "child_offset", "children", "branch_share")
ARRAYS += ("category_offset", "category_branch", "class_counts")


def assert_identical(a: Tree, b: Tree) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_same_tree(a: Tree, b: Tree) -> None:
    """Check equality up to the last bits of sums of fractional weights."""
    for name in ARRAYS:
        if name in ("branch_share", "class_counts"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def mixed_columns(n_rows: int, seed: int, missing: float) -> tuple[list[np.ndarray], np.ndarray]:
    """Continuous, few-valued, binary and categorical columns, with this share of missing values."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, n_rows)
    numbers = [random.normal(size=n_rows) + 0.3 * labels for _ in range(4)]
    numbers += [random.integers(0, 30, n_rows).astype(float) + labels]
    numbers += [(random.random(n_rows) < 0.3 + 0.2 * (labels == 1)).astype(float)]
    texts = [np.array([f"v{c}" for c in random.integers(0, 7, n_rows)], dtype=object)]
    texts += [np.where(random.random(n_rows) < 0.5, "a", "b").astype(object)]
    for column in (*numbers[:2], *numbers[4:]):
        column[random.random(n_rows) < missing] = np.nan
    texts[0][random.random(n_rows) < missing] = None
    return [*numbers, *texts], labels


def rows_of(columns: list[np.ndarray], labels: np.ndarray, weights=None) -> TrainingRows:
    table = read_table(pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)}))
    return TrainingRows(table, labels.astype(np.int32), 3, weights)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini"])
def test_the_tree_is_identical_for_any_number_of_threads(criterion, split, missing):
    columns, labels = mixed_columns(8_000, 1, missing)
    growth = GrowthRules(criterion, split)
    trees = []
    for n_threads in (1, 2, 7, 7):
        rows = rows_of(columns, labels)
        tree = grow(rows, growth, n_threads=n_threads, keep_order=n_threads != 2)
        trees += [tree, prune_pessimistic(tree, rows)]
    assert trees[0].n_leaves > 50
    for number in range(2, len(trees)):
        assert_identical(trees[number % 2], trees[number])


def test_a_tree_of_many_columns_and_fractional_weights_is_identical_for_any_threads():
    random = np.random.default_rng(2)
    X = np.round(random.normal(size=(5_000, 60)), 2)
    labels = (X[:, 0] + X[:, 7] + random.normal(size=5_000) > 0).astype(np.int32)
    weights = random.random(5_000)
    trees = [
        grow(
            TrainingRows(read_table(X), labels, 2, weights),
            GrowthRules("gini", min_samples_leaf=0.1),
            n_threads=n_threads,
        )
        for n_threads in (1, 2, 7)
    ]
    assert trees[0].depth > 10
    assert_identical(trees[0], trees[1])
    assert_identical(trees[0], trees[2])


@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini"])
def test_a_second_tree_on_the_same_sorted_rows_is_identical(criterion):
    columns, labels = mixed_columns(2_000, 3, 0.05)
    rows = rows_of(columns, labels)
    growth = GrowthRules(criterion)
    first = grow(rows, growth, n_threads=2)
    weights = np.random.default_rng(0).integers(0, 3, 2_000).astype(float)
    other = grow(rows.with_weights(weights), growth, n_threads=2)
    assert other.n_leaves != first.n_leaves
    assert_identical(grow(rows, growth, n_threads=2), first)


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini"])
def test_the_order_of_rows_does_not_change_the_tree(criterion, split):
    # Values differ by more than 1e-6: for closer ones, rule 6 of C4.5 depends on the order.
    columns, labels = mixed_columns(1_500, 4, 0.05)
    columns = [np.round(c, 3) if c.dtype == float else c for c in columns]
    growth = GrowthRules(criterion, split)
    expected = rows_of(columns, labels)
    order = np.random.default_rng(5).permutation(1_500)
    shuffled = rows_of([column[order] for column in columns], labels[order])
    a, b = grow(expected, growth), grow(shuffled, growth)
    assert_same_tree(a, b)
    assert_same_tree(prune_pessimistic(a, expected), prune_pessimistic(b, shuffled))


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini"])
def test_a_row_of_weight_k_equals_k_rows_and_weight_0_is_ignored(criterion, split):
    columns, labels = mixed_columns(800, 6, 0.1)
    labels[:3] = [0, 1, 2]
    weights = np.random.default_rng(7).integers(0, 4, 800).astype(float)
    growth = GrowthRules(criterion, split, min_samples_leaf=3)
    weighted = rows_of(columns, labels, weights)
    times = weights.astype(int)
    # The codes are those of all rows: categories of rows without weight are not unseen.
    table = weighted.table
    repeated_table = type(table)(
        table.schema, ArrayColumns(np.repeat(c, times) for c in table.columns), int(times.sum())
    )
    repeated = TrainingRows(repeated_table, np.repeat(weighted.labels, times), 3)
    for n_threads in (1, 2):
        a = grow(weighted, growth, n_threads=n_threads)
        b = grow(repeated, growth, n_threads=n_threads)
        assert_same_tree(a, b)
        assert_same_tree(prune_pessimistic(a, weighted), prune_pessimistic(b, repeated))

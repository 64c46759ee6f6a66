"""category_penalty: columns of many meaningless categories do not win."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.table import Column, EncodedTable, Schema
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, grow
from tests.long_runs import examples, runs
from tests.naive.splits import IMPURITIES, gain, gain_by_chance, groupings
from tests.tree.encoded import fit, training_rows
from tests.tree.test_kernel_against_oracle import (
    assert_is_the_oracles,
    assert_tests_the_oracles_column,
    rules,
    tables,
)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@given(data=st.data())
@examples(150)
def test_the_tree_is_that_of_the_naive_twin(criterion, data):
    drawn, ordered = data.draw(tables())
    missing = data.draw(st.sampled_from(["fraction", "branch"]))
    factor = data.draw(st.sampled_from([0.5, 1.0, 1.5]))
    fixed = {"criterion": criterion, "missing": missing, "category_penalty": factor}
    by = data.draw(rules(**fixed, pruning=None))
    assert_is_the_oracles(drawn, ordered, by)
    subset = replace(by, categorical_split="subset", max_depth=1)
    tree = fit(training_rows(drawn, ordered), subset)
    assert_tests_the_oracles_column(tree, drawn, subset)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n_categories", [3, 8])
def test_the_expected_gain_of_meaningless_categories_is_about_right(
    criterion, n_classes, n_categories
):
    """Of a split into all categories, and of the best grouping in two, with 20 rows per category.

    The first is exact for gini; the second is an approximation, within a third.
    """
    random = np.random.default_rng(n_categories)
    impurity, n = IMPURITIES[criterion], 20 * n_categories
    multiway, grouped, expected = [], [], []
    for _ in range(runs(300)):
        codes = np.repeat(np.arange(n_categories), 20)
        counts = np.zeros((n_categories, n_classes))
        np.add.at(counts, (codes, random.integers(0, n_classes, n)), 1)
        multiway.append(float(gain(counts, 1, impurity)))
        grouped.append(max(float(gain(sides, 1, impurity)) for _, sides in groupings(0, counts)))
        expected.append([gain_by_chance(counts, criterion, each) for each in (False, True)])
    by_chance = np.mean(expected, axis=0)
    error = np.std(multiway) / np.sqrt(len(multiway))
    assert np.mean(multiway) == pytest.approx(by_chance[0], abs=4 * error, rel=0.1)
    assert np.mean(grouped) == pytest.approx(by_chance[1], rel=1 / 3)


def test_identifiers_alone_are_not_split():
    n = 300
    codes = np.arange(n, dtype=np.int32)
    names = tuple(f"c{i:05d}" for i in range(n))
    schema = Schema((Column("id", "categorical", names),), named=False)
    labels = np.random.default_rng(0).integers(0, 3, n).astype(np.int32)
    rows = TrainingRows(EncodedTable(schema, ArrayColumns((codes,)), n), labels, 3)
    for criterion in ("gini", "entropy"):
        for categorical_split in ("multiway", "subset"):
            by = GrowthRules(criterion, categorical_split, None, 1, category_penalty=1.0)
            assert grow(rows, by).n_leaves == 1
            assert grow(rows, replace(by, category_penalty=0.0)).n_leaves > 1

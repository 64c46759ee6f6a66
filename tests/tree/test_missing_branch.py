"""missing="branch": every test learns where missing values go."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.probability import Frequency
from sureleaf.table import Column, EncodedTable, Schema
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, count_nodes, grow, mixture, route
from tests.long_runs import examples
from tests.naive import c45
from tests.naive.tree import predict_proba
from tests.tree.encoded import fit, training_rows
from tests.tree.test_kernel_against_oracle import (
    CRITERIA,
    assert_tests_the_oracles_column,
    rules,
    tables,
)

NAN = float("nan")


@pytest.mark.parametrize("criterion", CRITERIA)
@given(data=st.data())
@examples(100)
def test_subsets_with_missing_values_as_a_category_reach_the_best_decrease(criterion, data):
    drawn, ordered = data.draw(tables())
    fixed = {"criterion": criterion, "categorical_split": "subset", "missing": "branch"}
    by = data.draw(rules(**fixed, pruning=None))
    assert_tests_the_oracles_column(fit(training_rows(drawn, ordered), by), drawn, by)


@given(data=st.data())
@examples(100)
def test_rows_end_in_one_leaf_and_predictions_are_those_of_the_naive_twin(data):
    drawn, ordered = data.draw(tables())
    by = data.draw(rules(missing="branch", pruning=None))
    rows = training_rows(drawn, ordered)
    tree, expected = fit(rows, by), c45.fit(drawn, by)
    routes = route(tree, rows.table)
    assert len(routes.nodes) == rows.table.n_rows
    assert not routes.imputed_share.any()
    np.testing.assert_allclose(count_nodes(tree, rows), tree.class_counts, atol=1e-9)
    ours = mixture(tree, rows.table, Frequency()(tree, tree.class_counts), n_threads=2)
    np.testing.assert_allclose(ours, predict_proba(expected, drawn), rtol=0, atol=1e-9)


def numeric(columns: list[list[float]], labels: list[int]) -> TrainingRows:
    schema = Schema(tuple(Column(f"x{j}", "numeric") for j in range(len(columns))), named=False)
    arrays = tuple(np.array(column, dtype=np.float64) for column in columns)
    table = EncodedTable(schema, ArrayColumns(arrays), len(labels))
    return TrainingRows(table, np.array(labels, dtype=np.int32), max(labels) + 1)


BRANCH = GrowthRules(criterion="gini", min_samples_leaf=1, missing="branch")


def test_a_column_with_one_known_value_is_tested_for_being_missing():
    rows = numeric([[1.0, 1.0, NAN, NAN]], [0, 0, 1, 1])
    tree = grow(rows, BRANCH)
    assert tree.threshold[0] == np.inf
    assert tree.missing_branch.tolist() == [1, -1, -1]
    assert tree.class_counts.tolist() == [[2, 2], [2, 0], [0, 2]]
    assert grow(rows, replace(BRANCH, missing="fraction")).n_leaves == 1


def test_without_missing_training_rows_a_missing_value_takes_the_heaviest_branch():
    rows = numeric([[1.0, 2.0, 3.0, 4.0, 5.0]], [0, 0, 1, 1, 1])
    tree = grow(rows, BRANCH)
    assert tree.missing_branch[0] == 1
    new = EncodedTable(rows.table.schema, ArrayColumns((np.array([NAN]),)), 1)
    assert route(tree, new).nodes.tolist() == [2]


def test_c45_thresholds_belong_to_gain_ratio():
    with pytest.raises(ValueError, match="needs criterion='gain_ratio'"):
        grow(numeric([[1.0, 2.0]], [0, 1]), replace(BRANCH, thresholds="c45"))


def categorical(codes: list[int], n_categories: int, labels: list[int]) -> TrainingRows:
    names = tuple(f"c{i}" for i in range(n_categories))
    schema = Schema((Column("x0", "categorical", names),), named=False)
    table = EncodedTable(schema, ArrayColumns((np.array(codes, dtype=np.int32),)), len(codes))
    return TrainingRows(table, np.array(labels, dtype=np.int32), 2)


@pytest.mark.parametrize("categorical_split", ["multiway", "subset"])
def test_unseen_categories_stay_a_matter_of_their_own(categorical_split):
    rows = categorical([0, 0, 1, 1, -1, -1], 3, [0, 0, 1, 1, 1, 1])
    tree = grow(rows, replace(BRANCH, categorical_split=categorical_split))
    new = EncodedTable(rows.table.schema, ArrayColumns((np.array([-1, -2], dtype=np.int32),)), 2)
    routes = route(tree, new)
    assert routes.offsets[1] == 1  # missing: one leaf
    assert routes.offsets[2] - 1 == np.count_nonzero(tree.branch_share)  # unseen: all of them
    assert routes.imputed_share.tolist() == [0.0, 1.0]
    assert route(tree, new, stop_at_unseen=True).nodes[-1] == 0


def test_rows_with_a_missing_value_are_predicted_alike_alone_and_together():
    """Packed and unpacked routing, with ordered, categorical and numeric columns."""
    random = np.random.default_rng(0)
    n = 3000
    kinds = (
        Column("a", "numeric"),
        Column("b", "categorical", tuple("abcdef")),
        Column("c", "ordered", tuple("uvwxyz")),
    )
    columns = (
        np.where(random.random(n) < 0.2, NAN, random.normal(size=n)),
        random.integers(-1, 6, n).astype(np.int32),
        random.integers(-1, 6, n).astype(np.int32),
    )
    labels = (random.random(n) < 0.2 + 0.1 * columns[1]).astype(np.int32)
    table = EncodedTable(Schema(kinds), ArrayColumns(columns), n)
    for categorical_split in ("multiway", "subset"):
        by = replace(BRANCH, categorical_split=categorical_split)
        tree = grow(TrainingRows(table, labels, 2), by)
        new = tuple(np.roll(column, shift) for shift, column in enumerate(columns))
        new[1][::7] = new[2][::5] = -2
        values = np.arange(float(tree.n_nodes))[:, np.newaxis]
        together = mixture(tree, EncodedTable(Schema(kinds), ArrayColumns(new), n), values)
        alone = [
            mixture(
                tree,
                EncodedTable(Schema(kinds), ArrayColumns(c[i : i + 1] for c in new), 1),
                values,
            )
            for i in range(0, n, 3)
        ]
        np.testing.assert_allclose(together[::3], np.vstack(alone), rtol=1e-12)

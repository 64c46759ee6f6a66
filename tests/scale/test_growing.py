import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

from sureleaf import _kernel
from sureleaf.scale import Roles, growing, read_rows, training
from sureleaf.scale.growing import LocalParts, count_part, start_part
from sureleaf.scale.training import SpilledRows
from sureleaf.tree import GrowthRules, grow
from tests.naive import scale as naive
from tests.scale.tables import assert_same_tree, few_valued_table, in_parts

SETTINGS = list(
    itertools.product(
        ("gini", "entropy", "gain_ratio"),
        ("subset", "multiway"),
        ("branch", "fraction"),
        (False, True),
    )
)


@pytest.fixture(scope="module")
def rows_of():
    table = few_valued_table(900)
    known = few_valued_table(900, missing=0.0)
    return {
        (has_missing, is_weighted): read_rows(
            in_parts(data if is_weighted else data.drop_columns(["weight"]), 250),
            Roles("class", weight="weight" if is_weighted else None),
        )
        for has_missing, data in ((True, table), (False, known))
        for is_weighted in (False, True)
    }


def spilled(rows, memory, chunk_rows=200):
    return replace(rows, store=SpilledRows(memory, chunk_rows))


@pytest.mark.parametrize(("criterion", "split", "missing", "is_weighted"), SETTINGS)
def test_a_tree_grown_by_levels_is_that_of_rows_in_memory(
    rows_of, criterion, split, missing, is_weighted
):
    few = 9 if split == "subset" else 320  # a column has 300 branches
    for has_missing, most in ((True, None), (False, None), (False, few)):
        source = rows_of[has_missing, is_weighted]
        rows = source.training_rows(source.weights)
        penalty = float(split == "subset")
        rules = GrowthRules(
            criterion, split, missing=missing, max_leaves=most, category_penalty=penalty
        )
        expected = grow(rows, rules)
        assert expected.n_nodes > 2
        # Nodes are never, soon or at once finished in memory.
        for memory in (30_000, 150_000, 10**9):
            assert_same_tree(grow(spilled(rows, memory), rules), expected)


class DistantParts(LocalParts):
    """Parts of a cluster with three places, whose groups of nodes and trees are pickled."""

    n_places = 3
    reads_again = False

    def map(self, *args, **options):
        return DistantParts(super().map(*args, **options).parts)

    def regroup(self, select, finish, groups):
        assert len(groups) > 1
        for group in pickle.loads(pickle.dumps(groups)):
            yield pickle.loads(pickle.dumps(finish(list(self.results(select, group)), group)))


def test_depth_and_draws_and_constraints_hold_below_a_finished_node(rows_of, monkeypatch):
    source = rows_of[True, False]
    rows = source.training_rows(None)
    n_columns = len(rows.table.columns)
    signs = [[0, 0, 0]] * n_columns
    signs[0] = [0, 1, -1]
    for rules in (
        GrowthRules("entropy", max_depth=4, missing="branch"),
        GrowthRules("gini", "subset", max_features=2, seed=5, missing="branch"),
        GrowthRules("entropy", "subset", monotone=signs, missing="branch"),
        GrowthRules("gain_ratio", missing="branch"),
    ):
        expected = grow(rows, rules)
        for memory in (30_000, 150_000):
            assert_same_tree(grow(spilled(rows, memory), rules), expected)
        with monkeypatch.context() as cluster:
            cluster.setattr(training, "LocalParts", lambda parts, n_threads: DistantParts(parts))
            cluster.setattr(growing, "_SMALL_GROUP", 30)
            assert_same_tree(grow(spilled(rows, 10**9), rules), expected)


def test_uneven_nodes_are_finished_after_some_levels(rows_of, monkeypatch):
    source = rows_of[False, False]
    rows, rules = source.training_rows(None), GrowthRules("entropy", "subset")
    monkeypatch.setattr(training, "LocalParts", lambda parts, n_threads: DistantParts(parts))
    monkeypatch.setattr(growing, "_SMALL_GROUP", 1)
    monkeypatch.setattr(growing, "_MAX_LEVELS", 3)
    finished = []
    monkeypatch.setattr(DistantParts, "regroup", lambda self, *args: finished.append(args) or
                        LocalParts.regroup(self, *args))  # fmt: skip
    assert_same_tree(grow(spilled(rows, 10**9), rules), grow(rows, rules))
    assert len(finished) == 1


def test_fractional_weights_give_the_same_tree_for_every_number_of_chunks(rows_of):
    source = rows_of[False, False]
    weights = np.random.default_rng(3).random(len(source.labels)) + 0.5
    rows = source.training_rows(weights)
    rules = GrowthRules("entropy", missing="branch")
    trees = [grow(spilled(rows, 30_000, n), rules) for n in (10_000, 7, 400)]
    for tree in trees[1:]:
        assert_same_tree(tree, trees[0])
    exact = grow(rows, rules)
    np.testing.assert_array_equal(trees[0].feature, exact.feature)
    np.testing.assert_allclose(trees[0].class_counts, exact.class_counts, rtol=1e-9)


def test_counts_are_those_of_the_slow_twin(rows_of):
    source = rows_of[True, True]
    columns, weights = source.table.columns, source.weights.astype(np.int64)
    part = start_part(columns, source.labels, source.table.schema, 3, weights)
    nodes = np.random.default_rng(0).integers(0, 3, len(source.labels)).astype(np.int32)
    counts = count_part(replace(part, node_of=nodes), np.array([1, -1, 0], np.int32), 2)
    n_codes = [
        len(values) if values is not None else n
        for values, n in zip(columns.values, columns.n_categories, strict=True)
    ]
    codes = np.column_stack(
        [
            np.where(column < 0, n, column)
            if values is None
            else np.where(np.isnan(column), n, np.searchsorted(values, column))
            for column, values, n in zip(columns, columns.values, n_codes, strict=True)
        ]
    ).astype(int)
    for slot, node in ((1, 0), (0, 2)):
        expected = naive.class_counts(codes, source.labels, weights, nodes, node, n_codes, 3)
        np.testing.assert_array_equal(counts[slot], expected)


def test_parts_are_worked_on_by_threads_in_order():
    parts = LocalParts(list(range(20)), 3)
    assert list(parts.results(pow, 2)) == [i * i for i in range(20)]
    assert parts.map(pow, 2).total(max, -1) == sum(i * i for i in range(20))
    assert list(parts.results(pow, each=[1] * 20)) == list(range(20))
    assert len(parts) == 20


def test_an_error_in_one_part_is_raised():
    with pytest.raises(ZeroDivisionError):
        LocalParts([1, 0, 2], 2).total(divmod_of_10)


def divmod_of_10(part):
    return 10 // part


def test_the_kernel_refuses_wrong_codes_nodes_and_histograms(rows_of):
    source = rows_of[True, False]
    rows = source.training_rows(None)
    table, n = rows.kernel, len(rows.labels)
    zeros = np.zeros(n, np.int32)
    with pytest.raises(ValueError, match="a row is in no node"):
        _kernel.count_level(table, rows.labels, 3, None, zeros + 1, zeros[:1], 1)
    with pytest.raises(ValueError, match="a slot is out of range"):
        _kernel.count_level(table, rows.labels, 3, None, zeros, zeros[:1] + 1, 1)
    grower = _kernel.LevelGrower(table, np.ones(3), True, GrowthRules().kernel)
    with pytest.raises(ValueError, match="another size"):
        grower.split(0, np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="must have the rows of the node"):
        _kernel.LevelGrower(table, np.full(3, 9.0), True, GrowthRules().kernel).split(
            0, np.full(grower.n_cells, 2**40, np.int64)
        )
    with pytest.raises(ValueError, match="still open"):
        _kernel.LevelGrower(table, np.full(3, 9.0), True, GrowthRules().kernel).finish()
    with pytest.raises(ValueError, match="slots without node"):
        _kernel.count_level(table, rows.labels, 3, None, zeros, zeros[:1] - 1, 2**63)
    with pytest.raises(ValueError, match="histograms are too large"):
        _kernel.count_level(table, rows.labels, 2**24, None, zeros, zeros[:1], 1)
    with pytest.raises(ValueError, match="their sum is above"):
        _kernel.count_level(table, rows.labels, 3, np.full(n, 2**62, np.int64), zeros, zeros[:1], 1)
    with pytest.raises(ValueError, match="where none can be"):
        grower.graft(7, grow(rows, GrowthRules()).kernel)
    codes = rows.table.columns.codes.copy()
    codes[3, 0] = 255
    wrong = replace(rows.table, columns=replace(rows.table.columns, codes=codes))
    with pytest.raises(ValueError, match="a code is not one of its column"):
        grow(replace(rows, table=wrong), GrowthRules())
    splits = zeros[:1], zeros[:1].astype(np.int64), zeros[:1] + 1, np.zeros(300, np.int32)
    for use in (
        lambda table: _kernel.count_level(table, rows.labels, 3, None, zeros, zeros[:1], 1),
        lambda table: _kernel.advance_rows(table, 3, zeros, *splits),
    ):
        use(table)
        with pytest.raises(ValueError, match="a code is not one of its column"):
            use(wrong.kernel)
    with pytest.raises(ValueError, match="a child is out of range"):
        _kernel.advance_rows(table, 3, zeros, *splits[:2], zeros[:1] - 1, splits[3])
    with pytest.raises(TypeError, match="wrong type or shape"):
        _kernel.make_table([np.array(["a"], object)], [-1], [False], 1)

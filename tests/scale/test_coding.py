from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
import pytest

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.scale import coding as coding_module
from sureleaf.scale.batches import TablePart
from sureleaf.scale.coding import (
    Coding,
    Roles,
    RowSample,
    encode_part,
    join_parts,
    plan_columns,
    summarize,
    summarize_parts,
)
from sureleaf.scale.growing import LocalParts
from sureleaf.table import encode_labels, read_table
from tests.naive import scale as naive
from tests.scale.tables import few_valued_table, in_parts


def coding_of(source, roles, **options):
    plan = plan_columns(source.parts, roles, **options)
    return Coding.of(reduce(add, [summarize(part, plan) for part in source.parts]), plan)


def coded(source, roles, **options):
    coding = coding_of(source, roles, **options)
    return coding, join_parts([encode_part(part, coding) for part in source.parts])


def test_hashes_and_codes_are_those_of_the_slow_twin():
    rng = np.random.default_rng(0)
    numbers = np.asfortranarray(rng.integers(-3, 4, (500, 3)) * 0.5)
    numbers[rng.random((500, 3)) < 0.1] = np.nan
    numbers[:5, 0] = -0.0
    expected = [naive.row_hash(row) for row in numbers]
    assert _kernel.hash_rows(numbers).tolist() == expected
    sample = RowSample.join([RowSample.of(numbers, _kernel.hash_rows(numbers))])
    assert list(zip(sample.hashes, sample.counts, strict=True)) == naive.lowest_rows(numbers, 999)
    for n_values in (0, 1, 2, 7, 255):
        values = np.sort(rng.normal(size=n_values))
        codes = np.zeros((500, 2), np.uint8)
        column = np.concatenate([numbers[:, 0], rng.normal(size=0)])
        _kernel.code_numbers(column, values, codes, 1)
        assert codes[:, 1].tolist() == [naive.code_of(x, values) for x in column]
        assert not codes[:, 0].any()


def test_few_values_are_found_and_more_than_255_are_none():
    column = np.array([2.0, np.nan, -0.0, 0.0, np.inf, 2.0])
    assert _kernel.few_values(column).tolist() == [0.0, 2.0, np.inf]
    flags = np.array([0, 1, 1, 1, 1, 0], np.uint8)
    assert _kernel.few_values(column, flags).tolist() == [0.0, np.inf]
    assert len(_kernel.few_values(np.arange(255.0))) == 255
    assert _kernel.few_values(np.arange(256.0)) is None


@pytest.mark.parametrize("n_rows", [29, 137, 5000])
def test_codes_stand_for_the_table_in_memory_in_parts_of_any_size(n_rows):
    table = few_valued_table(400).drop_columns(["weight"])
    coding, part = coded(in_parts(table, n_rows), Roles("class"))
    expected = read_table(table.drop_columns(["class"]))
    labels, classes = encode_labels(table["class"])
    assert coding.schema == expected.schema
    assert coding.classes.tolist() == classes.tolist()
    np.testing.assert_array_equal(part.labels, labels)
    for column, other in zip(part.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(column, other)
    expected_missing = [c.has_missing for c in expected.schema_with_missing()]
    assert list(part.columns.has_missing) == expected_missing


def test_a_summary_does_not_depend_on_the_order_or_the_size_of_the_parts(monkeypatch):
    monkeypatch.setattr(coding_module, "SAMPLE_ROWS", 50)
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.normal(size=900), "z": rng.normal(size=900), "y": ["a", "b"] * 450})
    first = coding_of(in_parts(table, 900), Roles("y"))
    for n_rows in (50, 400):
        mixed = table.take(rng.permutation(900))
        other = coding_of(in_parts(mixed, n_rows), Roles("y"))
        for values, expected in zip(other.values, first.values, strict=True):
            np.testing.assert_array_equal(values, expected)
    assert [len(values) for values in first.values] == [51, 51]  # the sample, and the highest


def test_ranges_have_about_the_same_number_of_rows_and_end_at_the_highest_value():
    rng = np.random.default_rng(2)
    x = np.where(rng.random(60_000) < 0.5, 0.0, rng.exponential(size=60_000))
    table = pa.table({"x": x, "y": (x > 1).astype(int)})
    coding, part = coded(in_parts(table, 7000), Roles("y"))
    assert coding.is_exact == (False,)
    assert coding.values[0][-1] == x.max()
    counts = np.bincount(part.columns.codes[:, 0])
    assert 0.0 in coding.values[0]
    assert counts[0] == (x == 0).sum()
    assert counts[1:].max() < 3 * 60_000 / 255
    codes = part.columns.codes[:, 0]
    assert (x <= coding.values[0][codes]).all()
    assert (x[codes > 0] > coding.values[0][codes[codes > 0] - 1]).all()


def test_a_part_with_other_columns_is_an_error_that_names_it():
    table = pa.table({"x": [1.0, 2.0], "s": ["a", "b"], "y": [0, 1]})

    def plan_with(other):
        return plan_columns([TablePart(table, "first"), TablePart(other, "second")], Roles("y"))

    for other, problem in (
        (table.drop_columns(["s"]), "second has no column 's'"),
        (table.append_column("t", pa.array([1, 2])), "second has a further column 't'"),
        (table.select(["s", "x", "y"]), "second has the columns in another order"),
        (table.set_column(0, "x", pa.array(["1", "2"])), "second has string in column 'x'"),
    ):
        with pytest.raises(InvalidArgumentError, match=problem):
            plan_with(other)
    empty = table.set_column(1, "s", pa.nulls(2))  # a column without values has no type
    assert plan_with(empty).schema.names == ("x", "s")


def test_classes_and_categories_that_only_one_part_has_are_known():
    first = pa.table({"s": ["a", "b"], "y": ["no", "no"]})
    second = pa.table({"s": ["c", None], "y": ["yes", "maybe"]})
    source = in_parts(pa.concat_tables([first, second]), 2)
    coding, part = coded(source, Roles("y"))
    assert coding.classes.tolist() == ["maybe", "no", "yes"]
    assert coding.schema.columns[0].categories == ("a", "b", "c")
    assert part.columns.codes[:, 0].tolist() == [0, 1, 2, 3]


def test_rows_of_weight_0_take_no_part_in_the_coding():
    table = pa.table({"s": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "y": [0, 1, 1], "w": [1, 2, 0]})
    coding = coding_of(in_parts(table, 1), Roles("y", weight="w"))
    assert coding.schema.columns[0].categories == ("a", "b")
    assert coding.values[1].tolist() == [1.0, 2.0]


def test_bad_roles_weights_and_labels_are_clear_errors():
    table = pa.table({"x": [1.0, 2.0], "y": [0, None], "w": [1.0, -1.0], "z": [1, 2]})
    source = in_parts(table, 2)
    with pytest.raises(InvalidArgumentError, match=r"target must be a column.*got 'u'"):
        plan_columns(source.parts, Roles("u"))
    with pytest.raises(InvalidArgumentError, match="must not be the target"):
        plan_columns(source.parts, Roles("y", weight="y"))
    with pytest.raises(InvalidArgumentError, match="a column to predict from"):
        plan_columns(source.parts, Roles("y", weight="w", drop=("x", "z")))
    with pytest.raises(InvalidArgumentError, match="part 0 has 1 rows without a value in 'y'"):
        coding_of(source, Roles("y"))
    with pytest.raises(InvalidArgumentError, match=r"part 0 has -1\.0"):
        coding_of(source, Roles("z", weight="w", drop=("y",)))
    text = pa.table({"x": [1.0], "y": [0], "w": ["heavy"]})
    with pytest.raises(InvalidTypeError, match="weights must be numbers"):
        coding_of(in_parts(text, 1), Roles("y", weight="w"))


def test_given_categories_and_kinds_are_used():
    table = pa.table({"s": ["m", "s", "l"], "code": [1, 2, 1], "y": [0, 1, 1]})
    features = {"s": ["s", "m", "l"], "code": "categorical"}
    coding, part = coded(in_parts(table, 1), Roles("y"), categorical_features=features)
    assert (
        coding.schema == read_table(table.drop_columns(["y"]), categorical_features=features).schema
    )
    assert part.columns.codes.tolist() == [[1, 0], [0, 1], [2, 0]]
    other = pa.table({"s": ["m", "xl"], "code": [1, 2], "y": [0, 1]})
    with pytest.raises(InvalidArgumentError, match="part 0 has 1 other values"):
        coded(in_parts(other, 2), Roles("y"), categorical_features=features)


@pytest.mark.parametrize("n_distinct", [2000, 300])
def test_expected_rows_change_no_range(monkeypatch, n_distinct):
    # Of 300 distinct rows too few have low hashes, and all are summarized again.
    monkeypatch.setattr(coding_module, "SAMPLE_ROWS", 400)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_distinct, 2))[rng.integers(0, n_distinct, 3000)]
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] > 0).astype(int)})
    source = in_parts(table, 700)
    plan = plan_columns(source.parts, Roles("y"))
    parts = LocalParts(source.parts)
    summaries = [summarize_parts(parts, plan, n) for n in (0, 3000, 10**9)]
    for summary in summaries:
        np.testing.assert_array_equal(summary.sample.hashes, summaries[0].sample.hashes)
        np.testing.assert_array_equal(summary.sample.counts, summaries[0].sample.counts)
        np.testing.assert_array_equal(summary.sample.numbers, summaries[0].sample.numbers)

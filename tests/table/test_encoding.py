"""A table to predict is encoded by the schema of the fit, or is an error."""

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sureleaf import TreeClassifier, _kernel
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table import UNSEEN, Column, Schema, encode, read_table

FRAME = pd.DataFrame({"n": [1.5, 2.5], "t": ["b", "a"], "k": [3, 7]})
SCHEMA = read_table(FRAME, categorical_features={"k": "categorical"}).schema


def test_columns_are_matched_by_name_in_any_order() -> None:
    table = encode(FRAME[["k", "t", "n"]], SCHEMA)
    assert [column.tolist() for column in table.columns] == [[1.5, 2.5], [1, 0], [0, 1]]
    assert table.unseen_counts == {}


def test_extra_columns_are_ignored_with_one_warning_that_names_them() -> None:
    extra = FRAME.assign(**{f"more{i}": [[], []] for i in range(7)})
    with pytest.warns(UserWarning, match="'more0', 'more1'.* and 2 more") as caught:
        encode(extra, SCHEMA)
    assert len(caught) == 1
    assert "columns that the fitted table did not have" in str(caught[0].message)


def test_missing_columns_are_an_error_that_names_them() -> None:
    message = "yet now missing:\n- n\n- k\nAdd them .* X has 't'"
    with pytest.raises(InvalidArgumentError, match=message):
        encode(FRAME[["t"]], SCHEMA)


def test_a_wrong_number_of_array_columns_has_the_message_of_scikit_learn() -> None:
    schema = read_table(np.zeros((2, 4))).schema
    message = "X has 3 features, but MyTree is expecting 4 features as input"
    with pytest.raises(InvalidArgumentError, match=message):
        encode(np.zeros((2, 3)), schema, estimator="MyTree")


def test_names_only_at_fit_or_only_at_predict_have_the_warning_of_scikit_learn() -> None:
    without = "X does not have valid feature names, but TreeClassifier was fitted with"
    with pytest.warns(UserWarning, match=without):
        encode(FRAME.to_numpy(), SCHEMA)
    schema = read_table(np.zeros((2, 3))).schema
    with pytest.warns(UserWarning, match="X has feature names, but TreeClassifier was fitted wi"):
        encode(pd.DataFrame(np.zeros((2, 3)), columns=list("abc")), schema)


def test_a_table_without_rows_can_be_encoded() -> None:
    table = encode(FRAME.iloc[:0], SCHEMA)
    assert table.n_rows == 0
    assert [column.dtype.name for column in table.columns] == ["float64", "int32", "int32"]


def test_unseen_categories_are_coded_and_counted() -> None:
    X = pl.DataFrame({"n": [1, 2, 3], "t": ["b", "z", None], "k": [7, 8, 9]})
    table = encode(X, SCHEMA)
    assert table.columns[1].tolist() == [1, UNSEEN, -1]
    assert table.columns[2].tolist() == [1, UNSEEN, UNSEEN]
    assert table.unseen_counts == {"t": 1, "k": 2}
    assert "unseen in k: 2" in repr(table)


@pytest.mark.parametrize("values", [[3, 9], [3.0, 9.5], [3.0, None], [True, False]])
def test_whole_number_categories_match_numbers_of_any_type(values: list[Any]) -> None:
    schema = Schema((Column("k", "categorical", (1, 3)),))
    expected = [{1: 0, 3: 1, None: -1}.get(value, UNSEEN) for value in values]
    for X in (pd.DataFrame({"k": values}), pl.DataFrame({"k": values}), pa.table({"k": values})):
        assert encode(X, schema).columns[0].tolist() == expected


def test_bools_match_numbers_and_numbers_match_bools() -> None:
    bools = read_table([[True], [False]]).schema
    assert encode(np.array([[1.0], [0.0], [np.nan], [2.0]]), bools).columns[0].tolist() == [
        1, 0, -1, UNSEEN,
    ]  # fmt: skip
    numbers = read_table([[0.5], [1.5]]).schema
    assert encode([[True], [None]], numbers).columns[0][0] == 1.0


def test_categories_in_a_declared_order_are_matched() -> None:
    schema = Schema((Column("k", "ordered", (7, -1, 3)), Column("t", "ordered", ("b", "a"))))
    table = encode(pa.table({"k": [3, 7, -1, 5], "t": ["a", "b", "c", None]}), schema)
    assert [column.tolist() for column in table.columns] == [[2, 0, 1, -2], [1, 0, -2, -1]]


def test_null_columns_match_every_kind() -> None:
    schema = read_table(FRAME.assign(d=pd.to_datetime(["2024-01-01", None]))).schema
    table = encode(pa.table({name: pa.nulls(2) for name in schema.names}), schema)
    for column, array in zip(schema.columns, table.columns, strict=True):
        assert (array == -1).all() if column.is_coded else np.isnan(array).all()


@pytest.mark.parametrize(
    "all_missing",
    [
        np.array([np.nan, np.nan]),
        pd.array([pd.NA, pd.NA], dtype="Int64"),
        pd.array([pd.NA, pd.NA], dtype="string"),
        pd.array([pd.NA, pd.NA], dtype="boolean"),
        pd.Categorical([None, None]),
        pd.Categorical([None, None], categories=["a"]),
        pd.to_datetime([None, None]),
        pd.to_timedelta([None, None]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_a_column_with_only_missing_values_matches_whatever_its_type(all_missing: Any) -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    size = pd.Categorical(["s", "l"], ["s", "l"], ordered=True)
    frame = FRAME.assign(d=days, o=size, b=[True, False])
    schema = read_table(frame, categorical_features={"k": "categorical"}).schema
    for for_routing in (False, True):
        empty = pd.DataFrame(dict.fromkeys(frame, all_missing))
        table = encode(empty, schema, for_routing=for_routing)
        for column, array in zip(schema, table.columns, strict=True):
            assert (array == -1).all() if column.is_coded else np.isnan(array).all()
        assert table.unseen_counts == {}


def test_dates_match_timestamps_without_time_zone_and_the_reverse() -> None:
    days = [datetime.date(2024, 2, 29), None]
    stamps = [datetime.datetime(2024, 2, 29, 12), None]
    by_day = read_table(pa.table({"d": days})).schema
    by_stamp = read_table(pa.table({"d": stamps})).schema
    assert encode(pa.table({"d": stamps}), by_day).columns[0][0] == 19782.5
    assert encode(pa.table({"d": days}), by_stamp).columns[0][0] == 19782 * 86400e6
    as_category = pa.table({"d": pa.array(days).dictionary_encode()})
    assert encode(as_category, by_day).columns[0][0] == 19782


@pytest.mark.parametrize(
    ("fitted", "new", "message"),
    [
        ([1, 2], ["3", "x"], "'a' must hold numbers, as at fit; got text, first 'x' in row 1"),
        ([1, 2], [None, "3"], "'a' must hold numbers, as at fit; got text, first '3' in row 1"),
        (["u", "v"], [None, 5], "'a' must hold categories of text, as at fit; got numbers, fir"),
        ([True, False], ["u", "v"], "'a' must hold categories of bools, .*got text, first 'u'"),
        ([datetime.date(2024, 1, 1)], [5], "date type 'date', as at fit; got numbers, first 5"),
        (
            [datetime.date(2024, 1, 1)],
            [datetime.timedelta(1)],
            "date type 'date', as at fit; got the date type 'duration', first",
        ),
        (
            [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)],
            [datetime.datetime(2024, 1, 1)],
            "date type 'utc', as at fit; got the date type 'timestamp'",
        ),
        ([1.5], [datetime.date(2024, 1, 1)], "must hold numbers, as at fit; got the date type"),
    ],
)
def test_another_type_than_at_fit_is_an_error_with_column_and_value(fitted, new, message) -> None:
    schema = read_table(pa.table({"a": fitted})).schema
    for X in (pa.table({"a": new}), pl.DataFrame({"a": new})):
        with pytest.raises(InvalidTypeError, match=message):
            encode(X, schema)
    if fitted == ["u", "v"]:
        with pytest.raises(InvalidTypeError, match=r"got numbers, first 5\.5 in row 1"):
            encode(pd.DataFrame({"a": [np.nan, 5.5]}), schema)


def test_cached_codes_are_used_only_for_the_same_labels() -> None:
    def column(values: list[Any], labels: list[str]) -> pd.DataFrame:
        return pd.DataFrame({"t": pd.Categorical(values, labels)})

    first = column(["b", "a", None, "c"], ["a", "b", "c"])
    others = [
        (first.iloc[1:], [0, -1, 2]),
        (column(["b", "a", None, "c"], ["c", "b", "a"]), [1, 0, -1, 2]),
        (column(["d", "a", "d"], ["d", "a"]), [UNSEEN, 0, UNSEEN]),
        (column([None, None], ["d"]), [-1, -1]),
        (column(["c"], ["a", "b", "c"]), [2]),
        (first.iloc[:0], []),
    ]
    schema = read_table(first).schema
    for _ in range(2):
        for frame, codes in others:
            table = encode(frame, schema)
            assert table.columns[0].tolist() == codes
            assert table.unseen_counts == ({"t": 2} if UNSEEN in codes else {})
            assert encode(first, schema).columns[0].tolist() == [1, 0, -1, 2]


def test_a_frame_of_the_wrong_type_is_an_error_every_time() -> None:
    schema = read_table(pd.DataFrame({"t": pd.Categorical(["a", "b"])})).schema
    wrong = pd.DataFrame({"t": pd.Categorical([1, 2])})
    for _ in range(2):
        with pytest.raises(InvalidTypeError, match="'t' must hold categories of text"):
            encode(wrong, schema)


def test_cached_codes_are_not_pickled() -> None:
    frame = pd.DataFrame({"t": pd.Categorical(["a", "b"])})
    schema = read_table(frame).schema
    before = pickle.dumps(schema)
    encode(frame, schema)
    assert schema.columns[0].cached_codes(frame["t"].dtype.categories) is not None
    assert pickle.dumps(schema) == before
    assert pickle.loads(before) == schema


def _mixed_frame(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    letters = pd.Categorical(rng.choice(["a", "b", "c", None], n), categories=["a", "b", "c"])
    sizes = pd.Categorical(rng.choice(["s", "m", "l"], n), categories=["s", "m", "l"], ordered=True)
    whole = 16 * rng.integers(-50, 50, n) + 2**55  # beyond the exact integers of float64
    return pd.DataFrame({"letter": letters, "size": sizes, "whole": whole, "x": rng.normal(size=n)})


def test_a_table_for_routing_keeps_narrow_columns() -> None:
    frame = _mixed_frame(50, 0)
    schema = read_table(frame).schema
    plain, narrow = encode(frame, schema), encode(frame, schema, for_routing=True)
    assert [c.dtype.name for c in plain.columns] == ["int32", "int32", "float64", "float64"]
    assert [c.dtype.name for c in narrow.columns] == ["int8", "int8", "int64", "float64"]
    for wide, kept in zip(plain.columns, narrow.columns, strict=True):
        np.testing.assert_array_equal(wide, kept.astype(wide.dtype))
    assert np.shares_memory(narrow.columns[2], frame["whole"].to_numpy())


def test_codes_of_labels_in_another_order_are_translated() -> None:
    frame = _mixed_frame(50, 1)
    schema = read_table(frame).schema
    other = frame.assign(letter=frame["letter"].cat.reorder_categories(["c", "a", "b"]))
    codes = encode(other, schema, for_routing=True).columns[0]
    assert codes.dtype == np.int32
    np.testing.assert_array_equal(codes, encode(frame, schema).columns[0])


@pytest.mark.parametrize("unseen", ["mixture", "stop"])
@pytest.mark.parametrize("n_rows", [1, 3, 3000])
def test_rows_of_narrow_columns_reach_the_same_leaves(unseen: str, n_rows: int) -> None:
    frame = _mixed_frame(3000, 2)
    y = (frame["x"] + (frame["letter"] == "a") > 0.5) ^ (frame["whole"] % 3 == 0)
    model = TreeClassifier.c45(unseen=unseen, pruning=None, min_samples_leaf=1).fit(frame, y)
    rows = frame.iloc[:n_rows]
    wide = pd.DataFrame({"letter": rows["letter"].astype(object), "size": rows["size"]})
    wide = wide.assign(whole=rows["whole"].astype(float), x=rows["x"])
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(wide))
    np.testing.assert_array_equal(model.apply(rows), model.apply(wide))


def test_columns_of_other_types_are_an_error_in_the_kernel() -> None:
    with pytest.raises(ValueError, match="must hold float64, float32"):
        _kernel.make_table([np.zeros(3, np.float16)], [-1], [False], 3)
    with pytest.raises(ValueError, match="codes must be int32 or int8"):
        _kernel.make_table([np.zeros(3, np.int16)], [2], [False], 3)
    with pytest.raises(ValueError, match="must hold float64, float32"):
        _kernel.make_matrix(np.zeros((3, 2), np.uint64))


EMPTY = {
    "None": pd.DataFrame({"n": [0.0, 1.0], "z": pd.Series([None, None], dtype=object)}),
    "NaN": pd.DataFrame({"n": [0.0, 1.0], "z": [np.nan, np.nan]}),
    "str": pd.DataFrame({"n": [0.0, 1.0], "z": pd.Series([None, None], dtype="str")}),
    "polars": pl.DataFrame({"n": [0.0, 1.0], "z": [None, None]}),
    "Arrow": pa.table({"n": [0.0, 1.0], "z": pa.nulls(2)}),
}
VALUES = ["text", 1.5, 7, True, datetime.date(2020, 2, 29), b"bytes"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("library", EMPTY)
def test_a_column_without_a_value_at_fit_accepts_anything_as_unseen(library, value) -> None:
    schema = read_table(EMPTY[library]).schema
    for rows in (
        pd.DataFrame({"n": [1.0], "z": pd.Series([value], dtype=object)}),
        pl.DataFrame({"n": [1.0], "z": [value]}),
        pa.table({"n": [1.0], "z": [value]}),
    ):
        table = encode(rows, schema)
        assert table.unseen_counts == {"z": 1}
        assert np.asarray(table.columns[0]).tolist() == [1.0]

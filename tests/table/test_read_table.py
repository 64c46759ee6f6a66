"""The schema of a table is inferred from its types, and can be overridden."""

import dataclasses
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table import Column, Schema, encode, read_table
from sureleaf.table.frames import as_float64

FRAME = pd.DataFrame({"n": [1, 2, 2], "t": ["b", "a", "b"], "b": [True, False, True]})
SIZES = pd.Categorical(["m", "s", None], categories=["s", "m", "l"], ordered=True)


def kinds(X: Any, **arguments: Any) -> list[str]:
    return [column.kind for column in read_table(X, **arguments).schema.columns]


def test_types_decide_kinds() -> None:
    assert kinds(FRAME) == ["numeric", "categorical", "categorical"]
    assert read_table(FRAME).schema.columns[2].categories == (False, True)


@pytest.mark.parametrize("listed", [["n", "t"], [0, 1], [True, True, False], np.array([0, 1])])
def test_a_list_of_categorical_columns_may_be_names_indices_or_a_mask(listed: Any) -> None:
    table = read_table(FRAME, categorical_features=listed)
    assert [c.kind for c in table.schema.columns] == ["categorical", "categorical", "numeric"]
    assert table.schema.columns[0].categories == (1, 2)
    assert table.columns[2].tolist() == [1.0, 0.0, 1.0]


def test_no_categorical_columns_means_numbers_only() -> None:
    assert kinds(FRAME[["n", "b"]], categorical_features=None) == ["numeric", "numeric"]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["n"], "column 't' must be in categorical_features, because it holds text"),
        (["nope"], "must name columns of X; got 'nope'. X has 'n', 't', 'b'"),
        ([3], "indices from 0 to 2; got 3"),
        ([-1], "indices from 0 to 2; got -1"),
        ([True], "one bool per column, 3; got 1"),
        ("t", r"got 't'. Did you mean \['t'\]\?"),
    ],
)
def test_a_wrong_list_of_categorical_columns_is_an_error(listed: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        read_table(FRAME, categorical_features=listed)
    with pytest.raises(InvalidTypeError, match=r"names or indices of columns; got 1\.5"):
        read_table(FRAME, categorical_features=[1.5])
    with pytest.raises(InvalidTypeError, match=r"a mapping.*got 3\. Did you mean \[3\]\?"):
        read_table(FRAME, categorical_features=3)


def test_ordered_categories_keep_their_declared_order_and_those_without_rows() -> None:
    arrow = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, None], pa.int8()), ["s", "m", "l"], ordered=True
    )
    for X in (pd.DataFrame({"size": SIZES}), pa.table({"size": arrow})):
        table = read_table(X)
        assert table.schema.columns == (Column("size", "ordered", ("s", "m", "l")),)
        assert table.columns[0].tolist() == [1, 0, -1]


def test_unordered_categories_are_sorted_and_those_without_rows_are_dropped() -> None:
    for X in (
        pd.DataFrame({"size": SIZES.as_unordered()}),
        pl.DataFrame({"size": pl.Series(["m", "s", None], dtype=pl.Enum(["s", "m", "l"]))}),
    ):
        table = read_table(X)
        assert table.schema.columns == (Column("size", "categorical", ("m", "s")),)
        assert table.columns[0].tolist() == [0, 1, -1]
    table = read_table(X, categorical_features={"size": "ordered"})  # the Enum, on request
    assert table.schema.columns[0].categories == ("s", "m", "l")
    assert table.columns[0].tolist() == [1, 0, -1]


def test_an_ordered_column_listed_as_categorical_is_categorical() -> None:
    X = pd.DataFrame({"size": SIZES})
    assert read_table(X, categorical_features=["size"]).schema.columns[0].categories == ("m", "s")


def test_categories_may_be_numbers_dates_or_intervals() -> None:
    X = pd.DataFrame(
        {
            "number": pd.Categorical([2.0, 1.0, np.nan]),
            "date": pd.Categorical(pd.to_datetime(["2024-02-29", "2024-01-01", None])),
            "interval": pd.cut([1.0, 9.0, np.nan], [0, 5, 10]),
        }
    )
    table = read_table(X)
    assert [column.categories for column in table.schema.columns] == [
        (1, 2),
        ("2024-01-01T00:00:00", "2024-02-29T00:00:00"),
        ("(0, 5]", "(5, 10]"),
    ]
    assert [column.kind for column in table.schema.columns] == ["categorical"] * 2 + ["ordered"]
    assert [column.tolist() for column in table.columns] == [[1, 0, -1], [1, 0, -1], [0, 1, -1]]


def test_arrow_dictionaries_may_repeat_a_value_or_hold_a_null() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), ["b", "a", "b", None])
    assert read_table(pa.table({"a": values})).columns[0].tolist() == [1, 0, 1, -1]
    table = read_table(pa.table({"a": values}), categorical_features={"a": "ordered"})
    assert table.schema.columns[0].categories == ("b", "a")
    assert table.columns[0].tolist() == [0, 1, 0, -1]


def test_given_kinds_take_precedence_over_types() -> None:
    X = FRAME.assign(s=["lo", "hi", None], d=pd.to_datetime(["2024-01-01"] * 3))
    given = {"n": "ordered", "b": "numeric", 3: ["lo", "mid", "hi"], "d": "categorical"}
    table = read_table(X, categorical_features=given)
    kinds = ["ordered", "categorical", "numeric", "ordered", "categorical"]
    assert [column.kind for column in table.schema.columns] == kinds
    assert table.schema.columns[3].categories == ("lo", "mid", "hi")
    assert table.columns[3].tolist() == [0, 2, -1]
    numbers = pd.DataFrame({"a": pd.Categorical([5, 3, None])})
    as_numbers = read_table(numbers, categorical_features={"a": "numeric"})
    np.testing.assert_array_equal(as_numbers.columns[0], [5.0, 3.0, np.nan])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"t": "numeric"}, "'t' cannot be numeric; it holds text"),
        ({"t": "date"}, "'t' cannot be date; it holds text"),
        ({"t": "ordered"}, "'t' must declare an order to be ordered; got text"),
        ({"t": "nominal"}, "one of numeric, categorical, ordered, date.*got 'nominal'"),
        ({"t": ["a"]}, "'t' must hold the given categories.*got b in row 0"),
        ({"t": [1, 2]}, "'t' cannot be ordered by '1', '2'; it holds text"),
        ({"t": 5}, "must be a kind or a list of categories; got 5"),
        ({"t": ["a", "b", "a"]}, "must all be different"),
        ({"x": "numeric"}, "categorical_features must name columns of X; got 'x'"),
    ],
)
def test_an_impossible_kind_is_an_error(given: Any, message: str) -> None:
    with pytest.raises((InvalidArgumentError, InvalidTypeError), match=message):
        read_table(FRAME, categorical_features=given)


def test_a_whole_schema_may_be_given_and_the_table_must_match_it() -> None:
    inferred = read_table(FRAME).schema
    wider = dataclasses.replace(inferred.columns[1], categories=("a", "b", "c"))
    schema = Schema((inferred.columns[0], wider, inferred.columns[2]))
    table = read_table(FRAME, categorical_features=schema)
    assert table.schema is schema
    stream = pa.Table.from_pandas(FRAME, preserve_index=False).to_reader()
    assert read_table(stream, categorical_features=schema).columns[1].tolist() == [1, 0, 1]
    assert table.columns[1].tolist() == [1, 0, 1]
    narrow = Schema((Column("t", "categorical", ("a",)),))
    with pytest.raises(InvalidArgumentError, match=r"'t' must hold categories.*got 2 other values"):
        read_table(FRAME[["t"]], categorical_features=narrow)


@pytest.mark.parametrize("n_categories", [3, 100, 101, 200, 40_000])
def test_category_types_have_the_codes_of_the_sorted_categories_that_rows_have(n_categories):
    rng = np.random.default_rng(n_categories)
    declared = [f"c{number}" for number in rng.permutation(n_categories)]
    codes = rng.integers(-1, n_categories - 1, 600)  # the last one has no rows
    column = pd.Series(pd.Categorical.from_codes(codes, declared))
    for rows in (column, column[::3], column[:0:-1]):
        table = read_table(pd.DataFrame({"x": rows}))
        values = [None if value != value else value for value in rows]
        expected = sorted(set(values) - {None})
        assert list(table.schema.columns[0].categories) == expected
        code_of = {None: -1} | {category: code for code, category in enumerate(expected)}
        assert table.columns[0].tolist() == [code_of[value] for value in values]
        encoded = encode(pd.DataFrame({"x": column}), table.schema).columns[0]
        all_values = [None if value != value else value for value in column]
        assert encoded.tolist() == [code_of.get(value, -2) for value in all_values]


def _spellings(values: np.ndarray) -> dict[str, Any]:
    frame = pd.DataFrame({"t": values})
    return {
        "array": values[:, None],
        "frame": frame,
        "nullable": frame.convert_dtypes(),
        "polars": pl.from_pandas(frame),
        "Arrow": pa.Table.from_pandas(frame),
    }


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("spelling", ["array", "frame", "nullable", "polars", "Arrow"])
def test_integers_that_float64_does_not_tell_apart_are_an_error(dtype: Any, spelling: str) -> None:
    close = np.arange(100).astype(dtype) + dtype(2**60)
    message = f"float64 tells apart.*got {2**60 + 1} and {2**60 + 2}.*Subtract a constant, such as"
    with pytest.raises(InvalidArgumentError, match=message):
        read_table(_spellings(close)[spelling])
    apart = 256 * np.arange(100).astype(dtype) + dtype(2**60)
    table = read_table(_spellings(apart)[spelling])
    assert np.asarray(table.columns[0]).astype(dtype).tolist() == apart.tolist()


_LONG = [10**22 + one for one in range(40)]
_LONG_SPELLINGS = {
    "objects": pd.DataFrame({"t": pd.Series(_LONG, dtype=object)}),
    "lists": [[one] for one in _LONG],
    "decimals": pd.DataFrame({"t": list(map(Decimal, _LONG))}),
    "fractions": pa.table({"t": pa.array([one + Decimal("0.5") for one in _LONG])}),
    "decimal256": pa.table({"t": pa.array(list(map(Decimal, _LONG)), pa.decimal256(60, 0))}),
    "polars": pl.DataFrame({"t": pl.Series(_LONG, dtype=pl.Int128)}),
    "polars decimals": pl.DataFrame({"t": pl.Series(list(map(Decimal, _LONG)))}),
}


@pytest.mark.parametrize("spelling", _LONG_SPELLINGS)
def test_decimals_and_integers_of_more_than_64_bits_are_told_apart_or_an_error(spelling: str):
    with pytest.raises(InvalidArgumentError, match=r"float64 tells apart.*1\d{22}"):
        read_table(_LONG_SPELLINGS[spelling])


def test_decimals_that_float64_tells_apart_are_numbers() -> None:
    close = [Decimal("0.1"), Decimal("0.100000000000000000001"), Decimal(2**53), Decimal(2**60)]
    table = read_table(pd.DataFrame({"t": close}))
    assert table.schema.columns[0].kind == "numeric"
    assert np.asarray(table.columns[0]) == pytest.approx([0.1, 0.1, 2.0**53, 2.0**60])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("spelling", ["array", "frame", "nullable", "polars", "Arrow"])
def test_integers_beyond_2_53_are_compared_with_thresholds_exactly(dtype, spelling) -> None:
    """Of 2**60 + {0, ..., 2047}, exactly those up to the threshold go left."""
    trained = np.array([0, 512, 1024, 2048]).astype(dtype) + dtype(2**60)
    tree = TreeClassifier(pruning=None, min_samples_leaf=1, levels_from="training")
    model = tree.fit(_spellings(trained)[spelling], [0, 0, 1, 1])
    threshold = int(model.tree_.threshold[0])
    assert 2**60 + 512 <= threshold < 2**60 + 1024
    rows = np.arange(2048).astype(dtype) + dtype(2**60)
    is_right = [int(value) > threshold for value in rows]
    for n in (1, 7, len(rows)):  # few rows are read in another way than many
        some = rows[512 : 512 + n] if n < len(rows) else rows
        expected = is_right[512 : 512 + n] if n < len(rows) else is_right
        assert (model.predict(_spellings(some)[spelling]) == 1).tolist() == expected


def test_the_largest_integers_are_rounded_up_to_their_end() -> None:
    ends = np.array([2**63 - 1, -(2**63), -(2**63) + 1, 2**62 + 1, 5])
    assert as_float64(ends).tolist() == [2.0**63, -(2.0**63), -(2.0**63) + 1024, 2.0**62 + 1024, 5]
    assert as_float64(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2.0**64]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_integer_that_float64_rounds_is_rounded_up_too(sign: int) -> None:
    """The float64 nearest to 2**53 + 1 is 2**53 itself, which is not beyond it."""
    first = sign * 2**53
    ends = np.array([first - 1, first, first + 1])
    floats = [int(one) for one in as_float64(ends)]
    assert floats == ([2**53 - 1, 2**53, 2**53 + 2] if sign > 0 else [first, first, first + 1])
    with pytest.raises(InvalidArgumentError, match="float64 tells apart"):
        read_table((sign * np.array([2**53, 2**53 + 1, 2**53 + 2]))[:, None])
    with pytest.raises(InvalidArgumentError, match="float64 tells apart"):
        read_table(pd.DataFrame({"t": [Decimal(first), Decimal(first + sign)]}))

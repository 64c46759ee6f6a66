"""The same content gives the same EncodedTable, whatever library holds it."""

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureleaf.table import EncodedTable, Schema, encode, read_table
from tests.naive.table import code_of, encode_column

Content = dict[str, list[Any]]


class OnlyAStream:
    """A table of an unknown library, which has only an Arrow C stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def as_objects(content: Content) -> np.ndarray:
    array = np.empty((len(next(iter(content.values()))), len(content)), dtype=object)
    for index, values in enumerate(content.values()):
        array[:, index] = values
    return array


def as_arrow(content: Content) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in content.items()})


def as_chunks(content: Content) -> pa.Table:
    table = as_arrow(content)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])


def as_pandas_nullable(content: Content) -> pd.DataFrame:
    with np.errstate(invalid="ignore"):  # pandas 2 tries whether infinity is a whole number
        return pd.DataFrame(as_objects(content), columns=list(content)).convert_dtypes()


def as_pandas_arrow(content: Content) -> pd.DataFrame:
    return as_arrow(content).to_pandas(types_mapper=pd.ArrowDtype)


NAMED: dict[str, Callable[[Content], Any]] = {
    "arrow": as_arrow,
    "arrow chunks": as_chunks,
    "arrow batch": lambda content: as_arrow(content).combine_chunks().to_batches()[0],
    "arrow reader": lambda content: as_arrow(content).to_reader(),
    "arrow stream": lambda content: OnlyAStream(as_chunks(content)),
    "arrow dictionaries": lambda content: pa.table(
        {
            name: column.dictionary_encode() if column.type == pa.string() else column
            for name, column in zip(content, as_chunks(content).columns, strict=True)
        }
    ),
    "pandas": lambda content: as_arrow(content).to_pandas(),
    "pandas objects": lambda content: pd.DataFrame(as_objects(content), columns=list(content)),
    "pandas nullable": as_pandas_nullable,
    "pandas arrow": as_pandas_arrow,
    "pandas categories": lambda content: pd.DataFrame(
        {
            name: pd.Categorical(values, categories=["z", *sorted(set(values) - {None, "z"})][::-1])
            if any(isinstance(value, str) for value in values)
            else as_arrow({name: values}).to_pandas()[name]
            for name, values in content.items()
        }
    ),
    "polars": lambda content: pl.DataFrame(as_arrow(content)),
    "polars chunks": lambda content: pl.concat(
        [pl.DataFrame(as_arrow(content))[:1], pl.DataFrame(as_arrow(content))[1:]], rechunk=False
    ),
    "polars categories": lambda content: pl.DataFrame(as_arrow(content)).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars enums": lambda content: pl.DataFrame(as_arrow(content)).with_columns(
        pl.col(name).cast(pl.Enum(sorted({"z", *values} - {None}, reverse=True)))
        for name, values in content.items()
        if any(isinstance(value, str) for value in values)
    ),
}

UNNAMED: dict[str, Callable[[Content], Any]] = {
    "list": lambda content: [list(row) for row in zip(*content.values(), strict=True)],
    "tuple of tuples": lambda content: tuple(zip(*content.values(), strict=True)),
    "NumPy objects": as_objects,
    "NumPy objects, F order": lambda content: np.asfortranarray(as_objects(content)),
    "masked NumPy objects": lambda content: np.ma.masked_equal(as_objects(content), None),
    "pandas without names": lambda content: pd.DataFrame(as_objects(content)),
}

text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3)
numbers = st.floats(allow_nan=False, width=64)
dates = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))


@st.composite
def contents(draw: st.DrawFn) -> Content:
    """One column of each type with missing values, but not in the first row: types are known."""
    n_rows = draw(st.integers(0, 6))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        cells_or_missing = st.one_of(st.none(), cells)
        return [draw(cells), *draw(st.lists(cells_or_missing, min_size=n_rows, max_size=n_rows))]

    return {
        "text": column(text),
        "whole": column(st.integers(-(2**53), 2**53)),
        "real": column(numbers),
        "bool": column(st.booleans()),
        "time": column(dates),
        "day": column(dates.map(datetime.datetime.date)),
    }


def check_equals_naive(table: EncodedTable, content: Content, label: str) -> None:
    assert table.n_rows == len(content["text"]), label
    for column, array, values in zip(
        table.schema.columns, table.columns, content.values(), strict=True
    ):
        kind, categories, expected = encode_column(values)
        assert column.kind == kind, (label, column)
        assert list(column.categories) == categories, (label, column)
        assert array.dtype == (np.int32 if kind == "categorical" else np.float64), (label, column)
        np.testing.assert_array_equal(array, expected, err_msg=f"{label} {column}")


@settings(max_examples=40)
@given(contents())
def test_every_library_gives_the_encoding_of_the_naive_twin(content: Content) -> None:
    for label, spelling in NAMED.items():
        table = read_table(spelling(content))
        assert table.schema.named
        assert table.schema.names == tuple(content)
        check_equals_naive(table, content, label)
    for label, spelling in UNNAMED.items():
        table = read_table(spelling(content))
        assert not table.schema.named
        assert table.schema.names == tuple(f"x{index}" for index in range(len(content)))
        check_equals_naive(table, content, label)


@settings(max_examples=25)
@given(contents(), contents())
def test_every_library_gives_the_unseen_values_of_the_naive_twin(fitted, new) -> None:
    schema = read_table(NAMED["arrow"](fitted)).schema
    for label, spelling in NAMED.items():
        table = encode(spelling(new), schema)
        for column, array in zip(schema.columns, table.columns, strict=True):
            if column.is_coded:
                expected = [code_of(v, list(column.categories)) for v in new[column.name]]
                np.testing.assert_array_equal(array, expected, err_msg=label)
                assert table.unseen_counts.get(column.name, 0) == expected.count(-2), label


@settings(max_examples=25)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**62), 2**62)), min_size=1, max_size=6))
def test_whole_numbers_as_categories_are_the_same_in_every_library(values: list[Any]) -> None:
    values = [7, *values]
    expected = encode_column([None if v is None else f"{v + 2**63:020d}" for v in values])
    tables = {
        label: NAMED[label]({"id": values})
        for label in ("arrow", "polars", "pandas arrow", "pandas objects")
    }
    # pandas' own convert_dtypes goes through floats here
    tables["pandas nullable"] = pd.DataFrame({"id": pd.array(values, "Int64")})
    for label, X in tables.items():
        table = read_table(X, categorical_features=["id"])
        assert table.schema.columns[0].categories == tuple(sorted(set(values) - {None}))
        np.testing.assert_array_equal(table.columns[0], expected[2], err_msg=label)


def test_whole_numbers_that_a_library_stores_as_floats_are_the_same_categories() -> None:
    integers = read_table(NAMED["arrow"]({"a": [3, None, 1]}), categorical_features=["a"])
    floats = read_table(NAMED["pandas"]({"a": [3, None, 1]}), categorical_features=["a"])
    assert integers.schema == floats.schema
    assert repr(floats.schema.columns[0]) == "Column('a', categorical: 1, 3)"


@pytest.mark.parametrize("label", [*NAMED])
def test_json_keeps_the_schema_of_every_library(label: str) -> None:
    content = {"a": ["x", None], "b": [1.5, None], "c": [True, False], "d": [dates_of(1), None]}
    schema = read_table(NAMED[label](content)).schema
    assert Schema.from_json(schema.to_json()) == schema


def dates_of(day: int) -> datetime.datetime:
    return datetime.datetime(2024, 1, day)

"""A schema is checked, and JSON keeps it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.errors import InvalidArgumentError
from sureleaf.table import MISSING, UNSEEN, Column, EncodedTable, Schema, read_table
from sureleaf.table.encoded_table import ArrayColumns

categories = st.one_of(
    st.lists(st.text(max_size=3), unique=True),
    st.lists(st.booleans(), unique=True),
    st.lists(st.integers(), unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True),
).map(tuple)
columns = st.one_of(
    st.builds(Column, st.text(), st.just("numeric")),
    st.builds(Column, st.text(), st.sampled_from(["categorical", "ordered"]), categories),
    st.builds(
        Column,
        st.text(),
        st.just("date"),
        st.just(()),
        st.sampled_from(["date", "timestamp", "utc", "duration", "time"]),
    ),
)


@given(st.lists(columns, unique_by=lambda column: column.name), st.booleans())
def test_a_schema_read_from_its_json_is_the_same(columns: list[Column], named: bool) -> None:
    schema = Schema(tuple(columns), named)
    read = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert read == schema
    for column, same in zip(schema, read, strict=True):
        assert [type(c) for c in column.categories] == [type(c) for c in same.categories]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "nominal"), "must be one of numeric, categorical, ordered, date; got 'nominal'"),
        (("a", "numeric", ("x",)), "'a' must be empty, because it is numeric; got 1"),
        (("a", "ordered", ("x", 1)), "all text, all bools or all numbers; got int, str"),
        (("a", "ordered", (None,)), "all text, all bools or all numbers; got NoneType"),
        (("a", "ordered", (True, 0)), "all text, all bools or all numbers; got bool, int"),
        (("a", "ordered", ("x", "x")), "must all be different; got some more than once"),
        (("a", "date"), "temporal of column 'a' must be one of date"),
        (("a", "numeric", (), "date"), "None for the others; got 'date', kind 'numeric'"),
    ],
)
def test_an_impossible_column_is_an_error(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Column(*arguments)


def test_two_columns_of_the_same_name_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="got 'a' more than once"):
        Schema((Column("a", "numeric"), Column("a", "numeric")))


@pytest.mark.parametrize(
    "plain", [{}, {"columns": [{}], "named": True}, {"columns": 3, "named": True}, [], None]
)
def test_json_that_is_not_a_schema_is_an_error(plain: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="a schema must be a dict with"):
        Schema.from_json(plain)


def test_values_are_written_as_people_write_them() -> None:
    number = Column("n", "numeric")
    assert [number.render(v) for v in (0.1, -0.0, 1e300, float("nan"), float("inf"))] == [
        "0.1", "0", "1e+300", "missing", "inf",
    ]  # fmt: skip
    size = Column("s", "ordered", ("s", "l"))
    assert [size.render(code) for code in (1, MISSING, UNSEEN)] == ["l", "missing", "unseen"]
    assert Column("d", "date", temporal="date").render(float("nan")) == "missing"


def test_only_the_first_of_many_categories_are_shown() -> None:
    wide = Column("a", "categorical", tuple(range(1000)))
    assert repr(wide) == "Column('a', categorical: 0, 1, 2, 3, 4, 5, ... 1000 in all)"
    assert repr(Column("a", "categorical")) == "Column('a', categorical: no categories)"


def test_an_encoded_table_shows_its_shape_and_columns() -> None:
    table = EncodedTable(Schema((), named=False), ArrayColumns(()), 1)
    assert (repr(table), len(table)) == ("EncodedTable of 1 row x 0 columns", 1)


def test_a_column_remembers_missing_values_but_is_equal_without_them():
    schema = read_table([[1.5, "b"], [None, "a"]]).schema_with_missing()
    assert [column.has_missing for column in schema] == [True, False]
    plain = schema.to_json()
    assert plain["columns"][0] == {"name": "x0", "kind": "numeric", "has_missing": True}
    assert [column.has_missing for column in Schema.from_json(plain)] == [True, False]
    assert schema == read_table([[1.5, "b"], [2.5, "a"]]).schema

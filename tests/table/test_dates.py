"""Dates become exact numbers, and these are written as the dates they were."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.table import read_table
from sureleaf.table.dates import iso_text

moments = st.datetimes(datetime.datetime(1685, 1, 1), datetime.datetime(2255, 1, 1))


def only_column(values: Any) -> tuple[Any, np.ndarray]:
    table = read_table(pa.table({"a": values}))
    return table.schema.columns[0], table.columns[0]


@given(moments)
def test_a_timestamp_is_exact_to_the_microsecond(moment: datetime.datetime) -> None:
    column, numbers = only_column([moment])
    assert datetime.datetime.fromisoformat(column.render(numbers[0])) == moment


@given(st.dates())
def test_a_date_is_written_as_it_was_read(day: datetime.date) -> None:
    column, numbers = only_column([day])
    assert column.render(numbers[0]) == day.isoformat()


@given(st.times())
def test_a_time_of_day_is_written_as_it_was_read(time: datetime.time) -> None:
    column, numbers = only_column([time])
    assert datetime.time.fromisoformat(column.render(numbers[0])) == time


def test_a_time_zone_is_converted_to_utc() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=zone)
    for values in (pa.array([moment]), pd.Series([moment]), pl.Series([moment])):
        table = read_table(pa.table({"a": values}))
        assert table.schema.columns[0].temporal == "utc"
        assert table.schema.columns[0].render(table.columns[0][0]) == "2024-02-29T10:30:00Z"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_gives_the_same_numbers(unit: str) -> None:
    stamps = np.array(["2024-02-29T12:30:01", "1969-12-31T23:59:59", "NaT"], f"M8[{unit}]")
    expected = [1709209801e6, -1e6, np.nan]
    spans = np.array([5, -1, "NaT"], "m8[s]").astype(f"m8[{unit}]")
    for X in (stamps[:, None], pd.DataFrame({"a": stamps}), pa.table({"a": pa.array(stamps)})):
        np.testing.assert_array_equal(read_table(X).columns[0], expected)
    np.testing.assert_array_equal(read_table(spans[:, None]).columns[0], [5e6, -1e6, np.nan])


def test_nanoseconds_are_rounded_to_a_quarter_of_a_microsecond() -> None:
    numbers = read_table(np.array([["2024-02-29T12:30:01.123456750"]], "M8[ns]")).columns[0]
    assert numbers[0] == 1709209801123456.75


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "ps"])
def test_units_that_arrow_lacks_are_read(unit: str) -> None:
    table = read_table(np.array([["1970-01-01"], ["NaT"]], f"M8[{unit}]"))
    np.testing.assert_array_equal(table.columns[0], [0.0, np.nan])
    assert table.schema.columns[0].kind == "date"
    if unit not in ("Y", "M"):
        np.testing.assert_array_equal(read_table(np.array([[0]], f"m8[{unit}]")).columns[0], [0.0])


def test_a_time_among_dates_keeps_its_hours() -> None:
    table = read_table([[datetime.date(1970, 1, 2)], [datetime.datetime(1970, 1, 1, 1)]])
    assert table.columns[0].tolist() == [86400e6, 3600e6]


@pytest.mark.parametrize(
    ("number", "temporal", "text"),
    [
        (0.0, "date", "1970-01-01"),
        (-0.5, "date", "1969-12-31T12:00:00"),
        (1.5e6, "timestamp", "1970-01-01T00:00:01.5"),
        (0.0, "utc", "1970-01-01T00:00:00Z"),
        (0.0, "duration", "PT0S"),
        (-90e6, "duration", "-PT1M30S"),
        (86400e6, "duration", "P1D"),
        (10e6, "duration", "PT10S"),
        (36000e6, "duration", "PT10H"),
        (0.25e6, "duration", "PT0.25S"),
        (float("inf"), "timestamp", "inf"),
        (1e18, "timestamp", "1e+18"),
        (1e9, "date", "1000000000.0"),
    ],
)
def test_numbers_of_dates_are_written_as_iso_text(number: float, temporal: str, text: str) -> None:
    assert iso_text(number, temporal) == text

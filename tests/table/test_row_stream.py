"""A file read some rows at a time gives what it gives read at once, by the schema of a fit."""

import datetime
import os
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table import (
    Column,
    CsvFormat,
    Schema,
    encode,
    read_file,
    read_table,
    stream_rows,
)

N_ROWS = 200_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Rows of several blocks: codes that are numbers in most, a column without values, dates."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, N_ROWS).astype(str).astype(object)
    codes[-5:] = "x"
    late = np.full(N_ROWS, np.nan)
    late[-3:] = 1.5
    days = rng.integers(0, 9999, N_ROWS).astype("datetime64[D]")
    return pa.table(
        {
            "id": [f"row {i}" for i in range(N_ROWS)],
            "code": pa.array(codes, pa.string()),
            "late": pa.array(late, from_pandas=True),
            "day": pa.array(days),
            "yes": rng.random(N_ROWS) < 0.5,
            "text": pa.array([None if i % 7 == 0 else "a, b" for i in range(N_ROWS)], pa.string()),
        }
    )


@pytest.fixture(scope="module")
def schema(table: pa.Table) -> Schema:
    return read_table(table.drop_columns(["id"])).schema


@pytest.fixture(scope="module", params=["csv", "csv.gz", "parquet", "arrow", "stream"])
def path(
    request: pytest.FixtureRequest, table: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    place = tmp_path_factory.mktemp("batches") / f"rows.{request.param}"
    if request.param == "csv":
        pa.csv.write_csv(table, place)
    elif request.param == "csv.gz":
        with pa.CompressedOutputStream(str(place), "gzip") as stream:
            pa.csv.write_csv(table, stream)
    elif request.param == "parquet":
        pa.parquet.write_table(table, place)
    else:
        writer = pa.ipc.new_file if request.param == "arrow" else pa.ipc.new_stream
        with writer(place, table.schema) as file:
            file.write_table(table)
    return place


def encoded(rows: Any, schema: Schema) -> list[np.ndarray]:
    return list(encode(rows.drop_columns(["id"]), schema).columns)


def check(batches: Iterator[Any], table: pa.Table, schema: Schema) -> None:
    parts = list(batches)
    assert len(parts) > 1
    found = pa.concat_tables([part.select(["id"]) for part in parts])
    assert found["id"].to_pylist() == table["id"].to_pylist()
    whole = encoded(table, schema)
    for place, arrays in enumerate(zip(*(encoded(part, schema) for part in parts), strict=True)):
        np.testing.assert_array_equal(np.concatenate(arrays), whole[place])


def test_batches_are_the_table_in_order(
    path: pathlib.Path, table: pa.Table, schema: Schema
) -> None:
    check(stream_rows(path, schema, keep=["id"]).batches, table, schema)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_as_it_comes(
    path: pathlib.Path, table: pa.Table, schema: Schema, tmp_path: pathlib.Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    thread.start()
    check(stream_rows(pipe, schema, keep=["id"]).batches, table, schema)
    thread.join()


def test_it_is_about_known_how_many_rows_there_are(
    path: pathlib.Path, schema: Schema, table: pa.Table
) -> None:
    expected = stream_rows(path, schema).expected
    if path.name.endswith((".csv", ".parquet")):
        assert expected == pytest.approx(table.num_rows, rel=0.1)
    else:
        assert expected is None


def read(tmp_path: pathlib.Path, text: str, *columns: Column, **given: Any) -> list[Any]:
    (tmp_path / "new.csv").write_text(text)
    keep = given.pop("keep", ())
    rows = stream_rows(
        tmp_path / "new.csv", Schema(columns), keep=keep, csv=CsvFormat(**given)
    ).batches
    return [part.to_pydict() for part in rows]


def test_cells_are_what_the_schema_says_and_not_what_they_look_like(
    tmp_path: pathlib.Path,
) -> None:
    text = "zip,n,b,d,t,empty\n01234,NA,true,2024-02-29,2024-02-29T10:00:00.5,\n,?,,,?,\n"
    assert read(
        tmp_path,
        text,
        Column("zip", "categorical", ("01234", "x")),
        Column("n", "numeric"),
        Column("b", "categorical", (False, True)),
        Column("d", "date", temporal="date"),
        Column("t", "date", temporal="timestamp"),
        Column("empty", "categorical", (7, 2**60)),
    ) == [
        {
            "zip": ["01234", None],
            "n": [None, None],
            "b": [True, None],
            "d": [datetime.date(2024, 2, 29), None],
            "t": [datetime.datetime(2024, 2, 29, 10, 0, 0, 500_000), None],
            "empty": [None, None],
        }
    ]


def test_a_header_without_rows_has_no_batches(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, "n\n", Column("n", "numeric")) == []


def test_a_column_may_be_known_and_kept(tmp_path: pathlib.Path) -> None:
    found = read(tmp_path, "n,id\n1,07\n", Column("n", "numeric"), keep=["id", "n"])
    assert found == [{"n": [1.0], "id": ["07"]}]


def test_columns_without_names_are_found_by_place(tmp_path: pathlib.Path) -> None:
    (tmp_path / "new.csv").write_text("a,id,b\n1,7,2\n")
    schema = Schema((Column("x0", "numeric"), Column("x1", "numeric")), named=False)
    rows = list(stream_rows(tmp_path / "new.csv", schema, keep=["id"]).batches)
    assert rows[0].to_pydict() == {"x0": [1.0], "x1": [2.0], "id": ["7"]}
    with pytest.raises(InvalidArgumentError, match=r"must have 2 columns besides.*got 3"):
        stream_rows(tmp_path / "new.csv", schema)


NUMBER = Column("size", "numeric")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("siez\n1\n", r"must have the column 'size', as .* fit had. Did you mean 'siez'\?"),
        ("size,b\n1,2\n3\n", "must have 2 cells, as its header has; got 1 in line 3"),
        ("size,b\n" + "1,2\n" * 900_000 + "huge,2\n", "got 'huge' in row 900,001.*--missing 'hug"),
        ("size;b\n1;2\n1,5;2\n1.5;2\n", "if the comma is a decimal point: --decimal ,"),
        ('size,b\n1,2\n3,"4\n5,6\n', "quotes of new.csv must be closed; got one in line 3"),
        ("size,b\n1,2\n3,ü\n", r"not utf-8 text: byte 14 \(line 3\)"),
        ("size,b\n1," + "x" * 9_000_000 + "\n", "must be shorter than 4 MB"),
    ],
    ids=["no column", "ragged", "no number", "decimal comma", "open quote", "encoding", "long"],
)
def test_what_is_wrong_is_told_while_rows_are_read(
    tmp_path: pathlib.Path, text: str, words: str
) -> None:
    path = tmp_path / "new.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises((InvalidArgumentError, InvalidTypeError), match=words):
        list(stream_rows(path, Schema((NUMBER,))).batches)


def test_a_damaged_file_is_told_after_its_good_rows(table: pa.Table, tmp_path: Any) -> None:
    path = tmp_path / "cut.stream"
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=1000)
    path.write_bytes(path.read_bytes()[:-100_000])
    rows = stream_rows(path, Schema((Column("code", "categorical", ("1",)),))).batches
    next(rows)
    with pytest.raises(InvalidArgumentError, match="damaged or cut Arrow file"):
        list(rows)


def test_streamed_and_whole_reading_agree_on_the_fit_that_made_the_schema(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "fit.csv"
    path.write_text('code;n;when\n"01";1,5;2024-01-01 10:00\n"2";;2024-01-02 11:30\n')
    learnt = read_table(read_file(path))
    (rows,) = stream_rows(path, learnt.schema).batches
    for streamed, whole in zip(encode(rows, learnt.schema).columns, learnt.columns, strict=True):
        np.testing.assert_array_equal(streamed, whole)

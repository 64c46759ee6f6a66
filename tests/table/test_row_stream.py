"""A file read in batches gives the same table as the file read at once."""

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
from sureleaf.files import CsvFormat, read_file
from sureleaf.table import Column, Schema, encode, read_table
from sureleaf.table.row_stream import stream_rows

N_ROWS = 200_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Several blocks of rows; codes that mostly look like numbers, a nearly empty column, dates."""
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
    file_path = tmp_path_factory.mktemp("batches") / f"rows.{request.param}"
    if request.param == "csv":
        pa.csv.write_csv(table, file_path)
    elif request.param == "csv.gz":
        with pa.CompressedOutputStream(str(file_path), "gzip") as stream:
            pa.csv.write_csv(table, stream)
    elif request.param == "parquet":
        pa.parquet.write_table(table, file_path)
    else:
        writer = pa.ipc.new_file if request.param == "arrow" else pa.ipc.new_stream
        with writer(file_path, table.schema) as file:
            file.write_table(table)
    return file_path


def encoded(rows: Any, schema: Schema) -> list[np.ndarray]:
    return list(encode(rows.drop_columns(["id"]), schema).columns)


def check(batches: Iterator[Any], table: pa.Table, schema: Schema) -> None:
    parts = list(batches)
    assert len(parts) > 1
    ids = pa.concat_tables([part.select(["id"]) for part in parts])
    assert ids["id"].to_pylist() == table["id"].to_pylist()
    whole = encoded(table, schema)
    for index, arrays in enumerate(zip(*(encoded(part, schema) for part in parts), strict=True)):
        np.testing.assert_array_equal(np.concatenate(arrays), whole[index])


def test_batches_are_the_rows_of_the_table_in_order(path, table, schema) -> None:
    check(stream_rows(path, schema, keep=["id"]).batches, table, schema)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_in_batches(path, table, schema, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    thread.start()
    check(stream_rows(pipe, schema, keep=["id"]).batches, table, schema)
    thread.join()


def test_the_number_of_rows_is_estimated_if_the_size_is_known(path, schema, table) -> None:
    expected = stream_rows(path, schema).expected_rows
    if path.name.endswith((".csv", ".parquet")):
        assert expected == pytest.approx(table.num_rows, rel=0.1)
    else:
        assert expected is None


def read(tmp_path: pathlib.Path, text: str, *columns: Column, **csv_format: Any) -> list[Any]:
    (tmp_path / "new.csv").write_text(text)
    chosen = {role: csv_format.pop(role, ()) for role in ("keep", "exact")}
    rows = stream_rows(
        tmp_path / "new.csv", Schema(columns), **chosen, csv=CsvFormat(**csv_format)
    ).batches
    return [part.to_pydict() for part in rows]


def test_the_schema_decides_the_type_of_a_column_and_not_its_cells(tmp_path: pathlib.Path) -> None:
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


def test_a_column_of_the_schema_may_be_kept_too(tmp_path: pathlib.Path) -> None:
    batches = read(tmp_path, "n,id\n1,07\n", Column("n", "numeric"), keep=["id", "n"])
    assert batches == [{"n": [1.0], "id": ["07"]}]


def test_columns_without_names_are_matched_by_position(tmp_path: pathlib.Path) -> None:
    (tmp_path / "new.csv").write_text("a,id,b\n1,7,2\n")
    schema = Schema((Column("x0", "numeric"), Column("x1", "numeric")), named=False)
    rows = list(stream_rows(tmp_path / "new.csv", schema, keep=["id"]).batches)
    assert rows[0].to_pydict() == {"x0": [1.0], "x1": [2.0], "id": ["7"]}
    with pytest.raises(InvalidArgumentError, match=r"must have 2 columns besides.*got 3"):
        stream_rows(tmp_path / "new.csv", schema)


NUMBER = Column("size", "numeric")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("siez\n1\n", r"must have the column 'size', which .* fitted on. Did you mean 'siez'\?"),
        ("size,b\n1,2\n3\n", "must have 2 cells, like its header; got 1 in line 3"),
        ("size,b\n" + "1,2\n" * 900_000 + "huge,2\n", "'huge' in row 900,001.*--csv missing='h"),
        ("size;b\n1;2\n1,5;2\n1.5;2\n", "if the comma is a decimal mark: --csv decimal=comma"),
        ('size,b\n1,2\n3,"4\n5,6\n', "quotes of new.csv must be closed; the one in line 3"),
        ("size,b\n1,2\n3,ü\n", r"not utf-8 text: byte 14 \(line 3\)"),
        ("size,b\n1," + "x" * 9_000_000 + "\n", "must be shorter than 4 MB"),
    ],
    ids=["no column", "ragged", "not a number", "decimal comma", "open quote", "encoding", "long"],
)
def test_a_wrong_row_is_an_error_while_rows_are_read(tmp_path, text, message) -> None:
    path = tmp_path / "new.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises((InvalidArgumentError, InvalidTypeError), match=message):
        list(stream_rows(path, Schema((NUMBER,))).batches)


def test_a_damaged_file_is_an_error_after_its_good_rows(table: pa.Table, tmp_path: Any) -> None:
    path = tmp_path / "truncated.stream"
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table, max_chunksize=1000)
    path.write_bytes(path.read_bytes()[:-100_000])
    rows = stream_rows(path, Schema((Column("code", "categorical", ("1",)),))).batches
    next(rows)
    with pytest.raises(InvalidArgumentError, match="damaged or truncated Arrow file"):
        list(rows)


def test_batches_and_the_whole_file_are_encoded_equally(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "fit.csv"
    path.write_text('code;n;when\n"01";1,5;2024-01-01 10:00\n"2";;2024-01-02 11:30\n')
    table = read_table(read_file(path))
    (rows,) = stream_rows(path, table.schema).batches
    for streamed, whole in zip(encode(rows, table.schema).columns, table.columns, strict=True):
        np.testing.assert_array_equal(streamed, whole)


def test_thousands_separators_are_read_if_given(tmp_path: pathlib.Path) -> None:
    size = Column("size", "numeric")
    text = "size;b\n2.113,16;1\n57,5;2\n-;3\n"
    assert read(tmp_path, text, size, thousands=".") == [{"size": [2113.16, 57.5, None]}]
    with pytest.raises(InvalidTypeError, match=r"thousands separator: --csv thousands=point"):
        read(tmp_path, text, size)
    with pytest.raises(InvalidTypeError, match="must hold numbers, as at fit; got 'x'"):
        read(tmp_path, "size;b\n2.113,16;1\nx;2\n", size, thousands=".")


def test_integers_of_exact_columns_are_rounded_up_as_in_memory(tmp_path: pathlib.Path) -> None:
    text = f"n,m\n{2**53 + 1},{2**53 + 1}\n?,?\n{-(2**60) - 1},1.5\n"
    columns = Column("n", "numeric"), Column("m", "numeric")
    (part,) = read(tmp_path, text, *columns, exact=["n"])
    assert part == {"n": [2.0**53 + 2, None, -(2.0**60)], "m": [2.0**53, None, 1.5]}
    (part,) = read(tmp_path, f"n;m\n1,5;1\n{2**60};2\n", *columns, exact=["n"], decimal=",")
    assert part["n"] == [1.5, 2.0**60]
    with pytest.raises(InvalidTypeError, match=r"'n' of new\.csv must hold numbers.*got 'red'"):
        read(tmp_path, "n,m\n1,2\nred,3\n", *columns, exact=["n"])

"""A file of any format gives the table that was written."""

import datetime
import itertools
import json
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.files import CsvFormat, read_file
from sureleaf.files.read_file import parquet_batches
from sureleaf.table import encode, read_table
from sureleaf.table.row_stream import stream_rows
from tests.shared_files import SHARED, needs_shared

TABLE = pa.table({"a": [1.5, None], "t": ["x", None]})


def test_the_check_of_ascii_texts_says_what_a_loop_says() -> None:
    rng = np.random.default_rng(0)
    answers = set()
    for _ in range(300):
        data = rng.integers(0, rng.choice([129, 256]), rng.integers(0, 40)).astype(np.uint8)
        offsets = np.sort(rng.integers(0, len(data) + 1, rng.integers(1, 20)))
        if rng.random() < 0.3:
            offsets[rng.integers(len(offsets))] += rng.integers(-9, 9)
        expected = bool(
            offsets[0] >= 0
            and offsets[-1] <= len(data)
            and all(low <= high for low, high in itertools.pairwise(offsets))
            and all(letter < 128 for letter in data[offsets[0] : offsets[-1]])
        )
        for dtype in (np.int32, np.int64):
            assert _kernel.are_ascii(offsets.astype(dtype), data) == expected
        answers.add(expected)
    assert answers == {True, False}
    assert not _kernel.are_ascii(np.zeros(0, np.int32), np.zeros(3, np.uint8))


def columns(path: pathlib.Path, **arguments: Any) -> dict[str, list[Any]]:
    return read_file(path, **arguments).to_pydict()


def test_parquet_arrow_feather_and_stream_files_are_detected_from_their_bytes(tmp_path) -> None:
    paths = [tmp_path / str(number) for number in range(4)]
    pa.parquet.write_table(TABLE, paths[0])
    pa.feather.write_feather(TABLE, paths[1])
    with pa.ipc.new_file(paths[2], TABLE.schema) as file:
        file.write_table(TABLE)
    with pa.ipc.new_stream(paths[3], TABLE.schema) as stream:
        stream.write_table(TABLE)
    for path in paths:
        assert read_file(path).equals(TABLE)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_delimiter_is_detected(write: Any, delimiter: str, ending: str) -> None:
    lines = ["a,b,c", '1,"x;|\t,y",u', '2,"z ""q""",', ""]
    text = ending.join(line.replace(",", delimiter) for line in lines)
    text = text.replace(f"x;|\t{delimiter}y", "x;|\t,y")
    assert columns(write(text)) == {"a": [1, 2], "b": ["x;|\t,y", 'z "q"'], "c": ["u", None]}


def test_a_single_column_and_a_last_line_without_line_ending_are_read(write: Any) -> None:
    assert columns(write("a\n1\n2")) == {"a": [1, 2]}
    assert columns(write("a,b\n1,2")) == {"a": [1], "b": [2]}
    assert columns(write("a,b\n1,")) == {"a": [1], "b": [None]}


def test_empty_cells_are_missing_and_na_is_missing_among_numbers(write: Any) -> None:
    path = write("n,t,d\n1,x,2024-02-29\nNA,NA,\n,,?\n")
    day = datetime.date(2024, 2, 29)
    with pytest.warns(UserWarning, match="'NA' is read as a category in column 't'.*--csv missi"):
        read = columns(path)
    assert read == {"n": [1, None, None], "t": ["x", "NA", None], "d": [day, None, None]}
    assert columns(path, csv=CsvFormat(missing=("NA",)))["t"] == ["x", None, None]


def test_numbers_are_text_if_quoted_mixed_with_text_or_on_request(write: Any) -> None:
    for text, expected in (
        ('a,n\n"01234",5\n"10115",6\n', {"a": ["01234", "10115"], "n": [5, 6]}),
        ('a,n\n"01234","5"\n"10115","6"\n', {"a": [1234, 10115], "n": [5, 6]}),
        ("a,n\n1,5\nx,6\n", {"a": ["1", "x"], "n": [5, 6]}),
    ):
        assert columns(write(text)) == expected
    on_request = CsvFormat(text_columns=("a", "b"))
    assert columns(write("a,n\n01,5\n2,6\n"), csv=on_request)["a"] == ["01", "2"]


def test_bools_dates_and_times_are_detected(write: Any) -> None:
    path = write("b,d,s,t\ntrue,2024-01-01,2024-01-01T10:00:00,10:30:00\n")
    kinds = [column.kind for column in read_table(read_file(path)).schema]
    assert kinds == ["categorical", "date", "date", "date"]


def test_the_text_columns_of_a_schema_are_read_as_text_from_a_new_file(write: Any) -> None:
    schema = read_table(read_file(write("code,n\n1,5\nx,6\n"))).schema
    new = read_file(write("code,n\n1,5\n2,6\n"), csv=CsvFormat(text_columns=schema.text_columns))
    assert encode(new, schema).columns[0].tolist() == [0, -2]


@needs_shared
@pytest.mark.parametrize("name", ["adult", "credit-g", "hypothyroid", "labor", "vote", "iris"])
def test_real_files_have_the_documented_rows_kinds_and_missing_values(name: str) -> None:
    documented = json.loads((SHARED / "data" / f"{name}.schema.json").read_text())
    table = read_file(
        SHARED / "data" / f"{name}.csv", csv=CsvFormat(text_columns=documented["categorical"])
    )
    encoded = read_table(table.drop_columns([documented["target"]]))
    assert encoded.n_rows == documented["rows"]
    kinds = {column.name: column.kind for column in encoded.schema}
    without_values = [name for name in kinds if table[name].null_count == table.num_rows]
    assert kinds == (
        dict.fromkeys(documented["numeric"], "numeric")
        | dict.fromkeys(documented["categorical"], "categorical")
        | dict.fromkeys(without_values, "categorical")  # any value is unseen there
    )
    missing = sum(
        np.count_nonzero(array < 0 if column.is_coded else np.isnan(array))
        for column, array in zip(encoded.schema, encoded.columns, strict=True)
    )
    assert missing == documented["missing_cells"]


def test_every_flipped_bit_of_an_arrow_file_is_read_or_refused(tmp_path: pathlib.Path) -> None:
    """The first cases crashed: offsets beyond the text, codes beyond the dictionary."""
    table = pa.table({"t": ["x", "yy"] * 4, "c": pa.array(["u", "v"] * 4).dictionary_encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content = sink.getvalue().to_pybytes()
    path = tmp_path / "rows.arrow"
    outcomes = set()
    for position in range(4, len(content), 3):
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 64]) + content[position + 1 :]
        )
        try:
            read_table(read_file(path))
            outcomes.add("read")
        except InvalidArgumentError as error:
            outcomes.add("rows.arrow" in str(error) or "column" in str(error))
    assert outcomes == {"read", True}


@pytest.mark.parametrize("kind", ["offset", "code", "utf-8"])
def test_arrow_data_of_a_frame_is_checked(kind: str) -> None:
    offsets = np.array([0, 9_999 if kind == "offset" else 1, 2], np.int32)
    text = b"a\xff" if kind == "utf-8" else b"ab"
    values = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(text))
    if kind == "code":
        values = pa.DictionaryArray.from_arrays(pa.array([0, 7]), values, safe=False)
    with pytest.raises(InvalidArgumentError, match="column 'x' must be valid Arrow data"):
        read_table(pa.table({"x": values}))


def test_a_file_that_shrinks_while_it_is_read_is_an_error(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": np.random.default_rng(0).normal(size=2_000_000)})
    schema = read_table(table).schema
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(table, path, row_group_size=100_000)
    batches = stream_rows(path, schema).batches
    next(batches)
    with path.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(InvalidArgumentError, match=r"rows\.parquet is a damaged or truncated"):
        list(batches)


def test_feather_of_version_1_is_refused_with_a_way_out(write: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="Feather file of version 1"):
        read_file(write(b"FEA1" + bytes(20), "rows.feather"))


def test_text_views_are_read_as_text(tmp_path: pathlib.Path) -> None:
    table = pa.table(
        {"v": pa.array(["x", None, "a text longer than a view holds"], pa.string_view())}
    )
    with pa.ipc.new_file(tmp_path / "views.arrow", table.schema) as file:
        file.write_table(table)
    assert read_file(tmp_path / "views.arrow").to_pydict() == table.to_pydict()


def test_a_parquet_file_must_have_the_rows_that_it_states(tmp_path: pathlib.Path) -> None:
    table = pa.table({"x": range(10)})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=5)
    file = pa.parquet.ParquetFile(tmp_path / "rows.parquet")
    assert sum(batch.num_rows for batch in parquet_batches(file, 10)) == 10
    with pytest.raises(OSError, match="it states 11 rows, and 10 can be read"):
        list(parquet_batches(file, 11))


def test_a_page_that_states_two_gigabytes_takes_no_memory(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({"x": np.arange(99.0)}), path, None, compression="none")
    content, start = path.read_bytes(), 4
    # The header of the first page begins with its type and two sizes, as numbers of seven bits.
    first_size = start + 3
    second_size = first_size + 2 + (content[first_size] >= 0x80)
    assert [content[at] for at in (start, first_size - 1, second_size - 1)] == [0x15] * 3
    end = second_size + 1 + (content[second_size] >= 0x80)
    path.write_bytes(content[:second_size] + b"\xa6\xff\xff\xff\x0f" + content[end:])
    most = pa.default_memory_pool().max_memory()
    with pytest.raises(InvalidArgumentError, match=r"rows.parquet is a damaged .*Page was"):
        read_file(path)
    assert pa.default_memory_pool().max_memory() - most < 1 << 30


@pytest.mark.skipif(not pathlib.Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="zero must be a file or a pipe; got a device"):
        read_file("/dev/zero")
    with pytest.raises(InvalidArgumentError, match="null must hold a table; got an empty file"):
        read_file("/dev/null")


def test_run_end_encoded_columns_are_read_as_their_values(tmp_path: pathlib.Path) -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(["a", "b"]))
    with pa.ipc.new_file(tmp_path / "rows.arrow", pa.schema([("x", runs.type)])) as file:
        file.write_batch(pa.record_batch({"x": runs}))
    assert read_file(tmp_path / "rows.arrow")["x"].to_pylist() == ["a", "a", "b", "b", "b"]

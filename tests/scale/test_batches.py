import errno
import os
import warnings

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.files import csv_reader
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.read_file import read_file
from sureleaf.scale.batches import OpenedPart, open_source, read_part, read_schema, reserve

TABLE = pa.table({"x": [1, 2, 3, 4], "s": ["a", "b", None, "a"], "y": [0, 1, 0, 1]})


def rows_of(source):
    batches = [batch for part in source.parts for batch in read_part(part)]
    return pa.Table.from_batches(batches).to_pydict()


def sources(folder):
    pq.write_table(TABLE, folder / "rows.parquet", row_group_size=2)
    with pa.ipc.new_file(folder / "rows.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE)
    (folder / "rows.csv").write_text("x,s,y\n1,a,0\n2,b,1\n3,,0\n4,a,1\n")
    connection = duckdb.connect()
    connection.register("arrow_table", TABLE)
    yield from (folder / name for name in ("rows.parquet", "rows.arrow", "rows.csv"))
    yield [folder / "rows.parquet"]
    yield pl.from_arrow(TABLE).lazy()
    yield connection.sql("select * from arrow_table")
    yield TABLE.to_reader(max_chunksize=3)
    yield pl.from_arrow(TABLE)  # an object with an Arrow C stream
    yield lambda: iter(TABLE.to_batches(max_chunksize=3))
    yield TABLE


def test_every_source_gives_its_rows_again_and_again(tmp_path):
    for X in sources(tmp_path):
        source = open_source(X)
        assert rows_of(source) == rows_of(source) == TABLE.to_pydict(), X


def test_a_folder_is_read_file_by_file_without_hidden_files(tmp_path):
    for name, start in (("b.parquet", 2), ("a.parquet", 0), ("_metadata", 0), (".crc", 0)):
        pq.write_table(TABLE.slice(start, 2), tmp_path / name)
    source = open_source(tmp_path)
    assert [part.name for part in source.parts] == ["a.parquet", "b.parquet"]
    assert rows_of(source) == TABLE.to_pydict()


def test_a_csv_column_gets_the_type_that_fits_all_cells_however_far_down(tmp_path):
    path = tmp_path / "rows.csv"
    body = "".join(f"{i},{i},,2024-01-01,{i % 2 == 0}\n" for i in range(3000))
    path.write_text(f"whole,late,text,day,flag\n{body}1,2.5,word,2024-01-02,true\n")
    source = open_source(path)
    assert source.parts[0].schema().types == read_file(path).schema.types
    assert rows_of(source) == read_file(path).to_pydict()


def test_a_stream_of_categories_with_different_dictionaries_is_kept(tmp_path):
    batches = [
        pa.record_batch({"c": pa.array(values).dictionary_encode()})
        for values in (["a", "b"], ["b", "c"])
    ]
    source = open_source(pa.RecordBatchReader.from_batches(batches[0].schema, batches))
    assert rows_of(source) == {"c": ["a", "b", "b", "c"]}
    assert pa.types.is_dictionary(source.parts[0].schema().types[0])


def test_damaged_and_missing_sources_are_errors_that_name_them(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE, path)
    source = open_source(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidArgumentError, match=r"rows\.parquet must not change while"):
        rows_of(source)
    with pytest.raises(InvalidArgumentError, match=r"rows\.parquet is a damaged or truncated"):
        open_source(path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidArgumentError, match="which has none"):
        open_source(empty)
    with pytest.raises(InvalidArgumentError, match="there is no file"):
        open_source(tmp_path / "nowhere.parquet")
    (tmp_path / "header.csv").write_text("x,y\n")
    with pytest.raises(InvalidArgumentError, match="only a header"):
        open_source(tmp_path / "header.csv")
    with pytest.raises(InvalidTypeError, match="must be a path"):
        open_source(3)


def test_a_part_that_fails_while_it_is_read_is_named():
    def opener():
        yield TABLE.to_batches()[0]
        raise OSError("the disk is gone")

    with pytest.raises(InvalidArgumentError, match="part 7 cannot be read: the disk is gone"):
        list(read_part(OpenedPart(opener, "part 7")))


def test_batches_of_a_stream_with_other_columns_are_an_error():
    def batches():
        yield TABLE.to_batches()[0]
        yield TABLE.drop_columns(["s"]).to_batches()[0]

    with pytest.raises(InvalidArgumentError, match="no column 's'"):
        open_source(batches())
    reader = TABLE.slice(0, 0).to_reader()
    with pytest.raises(InvalidArgumentError, match="must have rows"):
        open_source(reader)


def test_a_column_that_cannot_be_used_is_named_and_not_the_temporary_file():
    words = pa.array(["a", "b", "a"]).dictionary_encode()
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), words)
    with pytest.raises(InvalidTypeError, match="column 'c' must hold numbers, text"):
        open_source(pa.table({"c": column}).to_reader())


def test_runs_of_equal_values_are_read_from_every_source():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array([7, 8]))
    table = pa.table({"r": runs})
    for X in (table, table.to_reader(), lambda: table.to_batches()):
        source = open_source(X)
        assert read_schema(source.parts[0]).types == [pa.int64()]
        assert rows_of(source) == {"r": [7, 7, 8, 8, 8]}


def test_a_full_temporary_folder_is_named_and_the_file_is_not_blamed(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("x,y\n1,0\n")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(csv_reader, "copy_csv", fail)
    with pytest.raises(InvalidArgumentError, match=r"temporary folder .* disk is full.*TMPDIR"):
        open_source(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("header", "rows", "separator"),
    [
        ("zip,a,b", ['"01234","1,500",x', '"10115",NA,1.5', '"10115","-2,500.5",y'], ","),
        ("zip;a;b", ["01234;1.500;x", "10115;12,5;2.000", "10115;;y"], "."),
        ("zip;a;b", ["1;1 500;1 000,5", "2;2 000;2", "3;7;1 000"], " "),
    ],
)
def test_thousands_separators_are_read_in_batches_as_in_memory(
    tmp_path, monkeypatch, header, rows, separator
):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *rows * 4000]) + "\n")
    monkeypatch.setattr(csv_reader, "BLOCK", 1 << 14)  # so that types follow from many batches
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = read_file(path, csv=CsvFormat(thousands=separator))
    source = open_source(path, csv=CsvFormat(thousands=separator))
    read = pa.Table.from_batches([batch for part in source.parts for batch in read_part(part)])
    assert read.to_pydict() == whole.to_pydict()
    assert read["a"].type == "double"


def test_the_file_behind_a_map_has_its_blocks_before_it_is_mapped(tmp_path):
    with (tmp_path / "codes").open("w+b") as file:
        reserve(file, 5_000_001)
        facts = os.fstat(file.fileno())
    assert facts.st_size == 5_000_001
    assert 512 * facts.st_blocks >= 5_000_001

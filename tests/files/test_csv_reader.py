"""Files that people have: read as they are meant, or refused in a sentence that helps."""

import bz2
import gzip
import lzma
import os
import pathlib
import stat
import threading
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.table import CsvFormat, column_names, read_file


@pytest.fixture
def write(tmp_path: pathlib.Path) -> Any:
    def written(content: bytes | str, name: str = "data.csv") -> pathlib.Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def columns(path: pathlib.Path, **given: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = read_file(path, csv=CsvFormat(**given)).to_pydict()
    return found


def refused(path: Any, words: str, **given: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        read_file(path, csv=CsvFormat(**given))
    assert "\n" not in str(caught.value)


def parquet_bytes() -> bytes:
    buffer = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"a": list(range(1000))}), buffer)
    return bytes(buffer.getvalue())


def arrow_bytes(writer: Any) -> bytes:
    buffer, table = pa.BufferOutputStream(), pa.table({"a": list(range(1000))})
    with writer(buffer, table.schema) as file:
        file.write_table(table)
    return bytes(buffer.getvalue())


# ---- how a CSV file may be written -------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_will_do(write: Any, ending: str) -> None:
    assert columns(write(f"a,b{ending}1,2{ending}3,4")) == {"a": [1, 3], "b": [2, 4]}


def test_the_delimiter_may_be_named(write: Any) -> None:
    expected = {"a": [1, 3], "b": [2, 4]}
    assert columns(write("a:b\n1:2\n3:4\n"), delimiter=":") == expected
    assert columns(write("a b\n1 2\n3 4\n"), delimiter="space") == expected
    # Both a comma and a semicolon split every row in two: the first is seen, the other may be said.
    both = write("a;b,c\n1;x,3\n")
    assert columns(both) == {"a;b": ["1;x"], "c": [3]}
    assert columns(both, delimiter=";") == {"a": [1], "b,c": ["x,3"]}
    with pytest.raises(InvalidArgumentError, match=r"delimiter must be one character.*got '::'"):
        CsvFormat(delimiter="::")


def test_blank_lines_are_no_rows(write: Any) -> None:
    assert columns(write("\n\r\na,b\n\n1,2\n\n\n3,4\n\n")) == {"a": [1, 3], "b": [2, 4]}
    assert columns(write("a\n1\n\n2\n")) == {"a": [1, 2]}


def test_quotes_may_hold_delimiters_quotes_and_newlines(write: Any) -> None:
    text = 'a,b\n"x, ""y""\nz",1\n"last\none",2\n'
    assert columns(write(text)) == {"a": ['x, "y"\nz', "last\none"], "b": [1, 2]}
    assert columns(write('a,b\n1,"x\ny"')) == {"a": [1], "b": ["x\ny"]}


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_quote_that_is_never_closed_swallows_no_rows_in_silence(write: Any, end: str) -> None:
    path = write(f'a,b\n0,z\n1,"x\n3,4\n5,6{end}')
    refused(path, r"quotes of data.csv must be closed; got one in line 3 that is open to the end")


def test_a_line_may_have_a_million_characters_and_more(write: Any) -> None:
    for length in (10**6, 5 * 10**6):
        found = columns(write(f"a,b\n1,{'x' * length}\n2,y\n"))
        assert [len(text) for text in found["b"]] == [length, 1]
    names = [f"column number {place}" for place in range(20_000)]
    wide = write(",".join(names) + "\n" + ",".join("1" * 20_000) + "\n")
    assert read_file(wide).num_columns == len(column_names(wide)) == 20_000


def test_a_ragged_row_is_named_by_its_line_and_both_counts(write: Any) -> None:
    refused(write("a,b\n1,2\n\n3\n4,5\n"), "must have 2 cells.*got 1 in line 4")
    refused(write('a,b\n"x\ny",2\n3,4,5\n'), "must have 2 cells.*got 3 in line 4")
    refused(write(f"a,b\n1,2\n{'x' * 200_000}\n"), "got 1 in line 3")
    refused(write("a,b\n" + "1,2\n" * 400_000 + "3\n"), "got 1 in line 400002")
    refused(write("some words\nmore, of them\n"), "must have 1 cell, as its header has; got 2")


# ---- encodings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("length", [1, 40_000])
def test_unicode_is_read_across_blocks(write: Any, encoding: str, length: int) -> None:
    text = "größe,n\n" + "über €,1\n" * length
    given = {"encoding": encoding} if encoding == "utf-16-be" else {}
    found = columns(write(text.encode(encoding)), **given)
    assert found == {"größe": ["über €"] * length, "n": [1] * length}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("größe,n\na,1\n", r"byte 3 \(line 1\) is 0xf6"),
        ("a,n\nüber,1\n", r"byte 5 \(line 2\) is 0xfc"),
        ("a,n\n" + "b,2\n" * 400_000 + "über,1\n", r"byte 1,600,005 \(line 400,002\) is 0xfc"),
    ],
    ids=["in the header", "in the first rows", "far down"],
)
def test_what_is_not_utf_8_is_refused_with_its_place_and_read_if_it_is_said(
    write: Any, text: str, place: str
) -> None:
    path = write(text.encode("windows-1252"))
    refused(path, f"data.csv is not utf-8 text: {place}.*--encoding windows-1252")
    assert columns(path, encoding="windows-1252") == columns(write(text, "utf8.csv"))


def test_what_cannot_be_text_is_refused(write: Any) -> None:
    refused(write(b"a,b\n1,x\0y\n"), "byte 8 is 0")
    refused(write("a,b\n1,ü\n".encode("utf-16-le")), "byte 2 is 0.*--encoding utf-16-le")
    refused(write(b"a,b\n1,\x81\n"), "not cp1252 text: byte 7", encoding="windows-1252")
    refused(write("a,b\n1,ü".encode()[:-1]), r"not utf-8 text: byte 7 \(line 2\)")
    refused(write("a,b\n1,2\n"), "encoding must be one that Python knows", encoding="klingon")


# ---- names of columns --------------------------------------------------------------------------


def test_a_name_given_twice_is_refused_with_its_places(write: Any, tmp_path: pathlib.Path) -> None:
    refused(write("a,b,a\n1,2,3\n"), "different names; got 'a' for columns 1 and 3")
    table = pa.table([[1], [2]], names=["a", "a"])
    with pa.ipc.new_file(tmp_path / "twice.arrow", table.schema) as file:
        file.write_table(table)
    refused(tmp_path / "twice.arrow", "different names; got 'a' more than once")


def test_a_column_without_a_name_is_called_by_its_place_and_doubted(write: Any) -> None:
    with pytest.warns(UserWarning, match="no name and is called 'column 1'.*--drop 'column 1'"):
        assert columns(write(",a\n0,5\n1,6\n")) == {"column 1": [0, 1], "a": [5, 6]}


def test_a_delimiter_at_the_end_of_each_row_makes_no_column(write: Any) -> None:
    assert columns(write("a,b,\n1,2,\n3,4,\n")) == {"a": [1, 3], "b": [2, 4]}


def test_blanks_around_names_are_no_part_of_them(write: Any) -> None:
    assert columns(write('a, b ," c"\n1,2,3\n')) == {"a": [1], "b": [2], " c": [3]}


def test_the_index_that_pandas_writes_without_a_name_is_no_column(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": [1], "__index_level_0__": [7]})
    pa.parquet.write_table(table, tmp_path / "indexed.parquet")
    assert read_file(tmp_path / "indexed.parquet").column_names == ["a"]


# ---- what cells are ----------------------------------------------------------------------------


@pytest.mark.parametrize("late", ["text", "1.5", "1,5", "?", "12345678901234567890"])
def test_a_type_does_not_depend_on_where_in_the_file_a_cell_stands(write: Any, late: str) -> None:
    rows = "".join(f"{i % 50};8\n" for i in range(400_000))  # more than two blocks
    early_file = write(f"a;b\n{late};8\n{rows}", "early.csv")
    late_file = write(f"a;b\n{rows}{late};8\n", "late.csv")
    if late == "text":
        with pytest.warns(UserWarning, match="is text, because 'text' is no number"):
            early, last = read_file(early_file), read_file(late_file)
    else:
        early, last = read_file(early_file), read_file(late_file)
    assert early.schema == last.schema
    assert early["a"][0] == last["a"][-1]


def test_a_decimal_comma_is_read_where_it_cannot_delimit_and_stays_text_elsewhere(
    write: Any,
) -> None:
    assert columns(write('a,b\n"1,5",2\n"2,5",3\n')) == {"a": ["1,5", "2,5"], "b": [2, 3]}
    assert columns(write("a;b\n1,5;2.5\n"), decimal=",") == {"a": [1.5], "b": ["2.5"]}
    with pytest.raises(InvalidArgumentError, match="decimal and delimiter must differ"):
        CsvFormat(delimiter=",", decimal=",")


def test_cells_may_be_said_to_be_missing(write: Any) -> None:
    path = write("a,b\n" + "".join(f"{i},x\n" for i in range(50)) + "unknown,unknown\n")
    with pytest.warns(UserWarning, match="because 'unknown' is no number.*--missing 'unknown'"):
        assert columns(path)["a"][-1] == "unknown"
    found = columns(path, missing=("unknown",))
    assert (found["a"][-2:], found["b"][-2:]) == ([49, None], ["x", None])


@pytest.mark.parametrize("n_odd", [1, 4])
def test_a_word_among_numbers_with_decimal_commas_is_told(write: Any, n_odd: int) -> None:
    numbers = "".join(f"{i},5;x\n" for i in range(50))
    path = write(f"Einkommen;b\n{numbers}n/a;x\n" + "unbekannt;x\n" * n_odd)
    with pytest.warns(UserWarning, match="'Einkommen' .* is text, because 'unbekannt' is no numb"):
        assert columns(path)["Einkommen"][0] == "0,5"
    found = columns(path, missing=("unbekannt",))["Einkommen"]
    assert found == [i + 0.5 for i in range(50)] + [None] * (n_odd + 1)


# ---- what a file may be ------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_a_compressed_file_is_told_by_its_bytes(write: Any, compress: Any, name: str) -> None:
    assert columns(write(compress(b"a;b\n1;2\n"), name)) == {"a": [1], "b": [2]}


def test_a_compressed_arrow_file_is_read(write: Any) -> None:
    path = write(gzip.compress(arrow_bytes(pa.ipc.new_file)))
    assert read_file(path).num_rows == 1000
    assert columns(write(pa.compress(b"a,b\n1,2\n", "zstd", asbytes=True))) == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "data.csv must hold a table; got nothing"),
        (b"\n \n\n", "must hold a table; got only blank lines"),
        (parquet_bytes()[:300], "damaged or cut Parquet file"),
        (parquet_bytes()[:40] + b"\xff" * 200 + parquet_bytes()[240:], "damaged or cut Parquet"),
        (arrow_bytes(pa.ipc.new_file)[:2000], "damaged or cut Arrow file"),
        (arrow_bytes(pa.ipc.new_stream)[:2000], "damaged or cut Arrow file"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "cannot be read: Compressed file ended"),
        (b"PK\x03\x04 and so on", "got a zip archive or an Excel workbook. Save the table as CSV"),
        (b"SQLite format 3\0", "got an SQLite database"),
        (b'\xef\xbb\xbf{"a": 1}', "got JSON"),
        (b"<!doctype html><p>", "got a web page"),
    ],
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_what_is_no_table_is_refused(write: Any, content: bytes, words: str) -> None:
    refused(write(content), words)


def test_what_is_no_file_is_refused(write: Any, tmp_path: pathlib.Path) -> None:
    write("a\n1\n")
    refused(tmp_path, "a table must be a file; got the folder")
    refused(tmp_path / "nofile.csv", r"there is no file .*nofile\.csv'\. Check its name\.")
    refused(tmp_path / "dta.csv", r"there is no file .*dta\.csv'\. Did you mean .*data\.csv'\?")
    refused(tmp_path / "no" / "data.csv", "There is no folder .* either")


def test_a_file_that_may_not_be_read_is_refused(write: Any) -> None:
    path = write("a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.chmod(stat.S_IRUSR)
        pytest.skip("this user may read every file")
    refused(path, "data.csv cannot be read: Permission denied")


def test_a_header_without_rows_is_a_table_of_no_rows(write: Any) -> None:
    for text in ("a,b\n", "a,b"):
        assert read_file(write(text)).column_names == ["a", "b"]
        assert read_file(write(text)).num_rows == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_pipe_is_read_to_its_end(tmp_path: pathlib.Path, compress: Any) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = compress(b"a,b\n" + b"1,2\n" * 100_000)
    thread = threading.Thread(target=pipe.write_bytes, args=[content])
    thread.start()
    assert read_file(pipe).num_rows == 100_000
    thread.join()

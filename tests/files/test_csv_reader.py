"""CSV files as people write them are read as meant, or refused with an error that helps."""

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
from sureleaf.files import CsvFormat, read_file


def columns(path: pathlib.Path, **csv_format: Any) -> dict[str, list[Any]]:
    read: dict[str, list[Any]] = read_file(path, csv=CsvFormat(**csv_format)).to_pydict()
    return read


def check_error(path: Any, message: str, **csv_format: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        read_file(path, csv=CsvFormat(**csv_format))
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
def test_every_line_ending_is_read(write: Any, ending: str) -> None:
    assert columns(write(f"a,b{ending}1,2{ending}3,4")) == {"a": [1, 3], "b": [2, 4]}


def test_the_delimiter_may_be_given(write: Any) -> None:
    expected = {"a": [1, 3], "b": [2, 4]}
    assert columns(write("a:b\n1:2\n3:4\n"), delimiter=":") == expected
    assert columns(write("a b\n1 2\n3 4\n"), delimiter="space") == expected
    # Comma and semicolon split every row in two: the comma is detected, the other can be given.
    both = write("a;b,c\n1;x,3\n")
    assert columns(both) == {"a;b": ["1;x"], "c": [3]}
    assert columns(both, delimiter=";") == {"a": [1], "b,c": ["x,3"]}
    with pytest.raises(InvalidArgumentError, match=r"must be one ASCII character.*got '::'"):
        CsvFormat(delimiter="::")


def test_blank_lines_are_skipped(write: Any) -> None:
    assert columns(write("\n\r\na,b\n\n1,2\n\n\n3,4\n\n")) == {"a": [1, 3], "b": [2, 4]}
    assert columns(write("a\n1\n\n2\n")) == {"a": [1, 2]}


def test_quoted_cells_may_hold_delimiters_quotes_and_newlines(write: Any) -> None:
    text = 'a,b\n"x, ""y""\nz",1\n"last\none",2\n'
    assert columns(write(text)) == {"a": ['x, "y"\nz', "last\none"], "b": [1, 2]}
    assert columns(write('a,b\n1,"x\ny"')) == {"a": [1], "b": ["x\ny"]}


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_quote_that_is_not_closed_is_an_error(write: Any, end: str) -> None:
    path = write(f'a,b\n0,z\n1,"x\n3,4\n5,6{end}')
    check_error(path, r"quotes of data.csv must be closed; the one in line 3 is open to the end")


def test_a_line_may_have_millions_of_characters(write: Any) -> None:
    read = columns(write(f"a,b\n1,{'x' * 5_000_000}\n2,y\n"))
    assert [len(text) for text in read["b"]] == [5_000_000, 1]
    names = [f"column number {index}" for index in range(20_000)]
    wide = write(",".join(names) + "\n" + ",".join("1" * 20_000) + "\n")
    assert read_file(wide).num_columns == 20_000


def test_the_error_for_a_ragged_row_has_its_line_and_both_counts(write: Any) -> None:
    check_error(write("a,b\n1,2\n\n3\n4,5\n"), "must have 2 cells.*got 1 in line 4")
    check_error(write('a,b\n"x\ny",2\n3,4,5\n'), "must have 2 cells.*got 3 in line 4")
    check_error(write(f"a,b\n1,2\n{'x' * 200_000}\n"), "got 1 in line 3")
    check_error(write('a,b\n1,2\n"3,4\n5,6\n'), "got 1 in line 3, where a quote is open to line 4")
    check_error(write("a,b\n" + "1,2\n" * 400_000 + "3\n"), "got 1 in line 400002")
    check_error(write("some words\nmore, of them\n"), "must have 1 cell, like its header; got 2")


# ---- encodings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("length", [1, 40_000])
def test_unicode_is_read_across_blocks(write: Any, encoding: str, length: int) -> None:
    text = "größe,n\n" + "über €,1\n" * length
    csv_format = {"encoding": encoding} if encoding == "utf-16-be" else {}
    read = columns(write(text.encode(encoding)), **csv_format)
    assert read == {"größe": ["über €"] * length, "n": [1] * length}


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("größe,n\na,1\n", r"byte 3 \(line 1\) is 0xf6"),
        ("a,n\nüber,1\n", r"byte 5 \(line 2\) is 0xfc"),
        ("a,n\n" + "b,2\n" * 400_000 + "über,1\n", r"byte 1,600,005 \(line 400,002\) is 0xfc"),
    ],
    ids=["in the header", "in the first rows", "far down"],
)
def test_text_in_another_encoding_needs_its_name_and_the_error_has_the_first_wrong_byte(
    write, text, position
) -> None:
    path = write(text.encode("windows-1252"))
    check_error(path, f"data.csv is not utf-8 text: {position}.*--csv encoding=windows-1252")
    assert columns(path, encoding="windows-1252") == columns(write(text, "utf8.csv"))


def test_bytes_that_are_not_text_are_an_error(write: Any) -> None:
    check_error(write(b"a,b\n1,x\0y\n"), "byte 8 is 0")
    check_error(write("a,b\n1,ü\n".encode("utf-16-le")), "byte 2 is 0.*--csv encoding=utf-16-le")
    check_error(write(b"a,b\n1,\x81\n"), "not cp1252 text: byte 7", encoding="windows-1252")
    check_error(write("a,b\n1,ü".encode()[:-1]), r"not utf-8 text: byte 7 \(line 2\)")
    check_error(write("a,b\n1,2\n"), "encoding must be one that Python knows", encoding="klingon")


# ---- names of columns --------------------------------------------------------------------------


def test_a_repeated_name_is_an_error_with_its_columns(write: Any, tmp_path: pathlib.Path) -> None:
    check_error(write("a,b,a\n1,2,3\n"), "different names; got 'a' for columns 1 and 3")
    table = pa.table([[1], [2]], names=["a", "a"])
    with pa.ipc.new_file(tmp_path / "twice.arrow", table.schema) as file:
        file.write_table(table)
    check_error(tmp_path / "twice.arrow", "different names; got 'a' more than once")


def test_a_column_without_a_name_is_called_by_its_position_with_a_warning(write: Any) -> None:
    with pytest.warns(UserWarning, match="no name and is called 'column 1'.*--drop 'column 1'"):
        assert columns(write(",a\n0,5\n1,6\n")) == {"column 1": [0, 1], "a": [5, 6]}


def test_a_delimiter_at_the_end_of_each_row_adds_no_column(write: Any) -> None:
    assert columns(write("a,b,\n1,2,\n3,4,\n")) == {"a": [1, 3], "b": [2, 4]}


def test_spaces_around_names_are_removed(write: Any) -> None:
    assert columns(write('a, b ," c"\n1,2,3\n')) == {"a": [1], "b": [2], " c": [3]}


def test_the_unnamed_index_that_pandas_writes_is_dropped(tmp_path: pathlib.Path) -> None:
    table = pa.table({"a": [1], "__index_level_0__": [7]})
    pa.parquet.write_table(table, tmp_path / "indexed.parquet")
    assert read_file(tmp_path / "indexed.parquet").column_names == ["a"]


# ---- types of columns ----------------------------------------------------------------------------


@pytest.mark.parametrize("late", ["text", "1,5", "12345678901234567890"])
def test_the_type_of_a_column_does_not_depend_on_the_order_of_its_cells(write, late) -> None:
    rows = "".join(f"{i % 50};8\n" for i in range(250_000))  # more than one block
    early_file = write(f"a;b\n{late};8\n{rows}", "early.csv")
    late_file = write(f"a;b\n{rows}{late};8\n", "late.csv")
    if late == "text":
        with pytest.warns(UserWarning, match="is text, because 'text' is not a number"):
            early, last = read_file(early_file), read_file(late_file)
    else:
        early, last = read_file(early_file), read_file(late_file)
    assert early.schema == last.schema
    assert early["a"][0] == last["a"][-1]


def test_a_decimal_comma_is_read_unless_the_comma_is_the_delimiter(write: Any) -> None:
    assert columns(write("a;b\n1,5;2\n-3,25;4\n")) == {"a": [1.5, -3.25], "b": [2, 4]}
    with pytest.warns(UserWarning, match=r"'2\.5' has another decimal mark than the comma"):
        assert columns(write("a;b\n1,5;2.5\n"), decimal=",") == {"a": [1.5], "b": ["2.5"]}
    with pytest.raises(InvalidArgumentError, match="decimal and delimiter must differ"):
        CsvFormat(delimiter=",", decimal=",")


def test_further_missing_values_may_be_given(write: Any) -> None:
    path = write("a,b\n" + "".join(f"{i},x\n" for i in range(50)) + "unknown,unknown\n")
    with pytest.warns(UserWarning, match="'unknown' is not a number.*--csv missing='unknown'"):
        assert columns(path)["a"][-1] == "unknown"
    read = columns(path, missing=("unknown",))
    assert (read["a"][-2:], read["b"][-2:]) == ([49, None], ["x", None])


@pytest.mark.parametrize("n_words", [1, 4])
def test_a_word_among_numbers_with_decimal_commas_is_a_warning(write: Any, n_words: int) -> None:
    numbers = "".join(f"{i},5;x\n" for i in range(50))
    path = write(f"Einkommen;b\n{numbers}n/a;x\n" + "unbekannt;x\n" * n_words)
    with pytest.warns(UserWarning, match="'Einkommen' .* is text, because 'unbekannt' is not a"):
        assert columns(path)["Einkommen"][0] == "0,5"
    read = columns(path, missing=("unbekannt",))["Einkommen"]
    assert read == [i + 0.5 for i in range(50)] + [None] * (n_words + 1)


# ---- sources ------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_compression_is_detected_from_the_bytes(write: Any, compress: Any, name: str) -> None:
    assert columns(write(compress(b"a;b\n1;2\n"), name)) == {"a": [1], "b": [2]}


def test_a_compressed_arrow_file_is_read(write: Any) -> None:
    path = write(gzip.compress(arrow_bytes(pa.ipc.new_file)))
    assert read_file(path).num_rows == 1000
    assert columns(write(pa.compress(b"a,b\n1,2\n", "zstd", asbytes=True))) == {"a": [1], "b": [2]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "data.csv must hold a table; got an empty file"),
        (b"\n \n\n", "must hold a table; got only blank lines"),
        (parquet_bytes()[:300], "damaged or truncated Parquet file"),
        (parquet_bytes()[:40] + b"\xff" * 200 + parquet_bytes()[240:], "damaged or truncated P"),
        (arrow_bytes(pa.ipc.new_file)[:2000], "damaged or truncated Arrow file"),
        (arrow_bytes(pa.ipc.new_stream)[:2000], "damaged or truncated Arrow file"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "cannot be read: Compressed file ended"),
        (b"PK\x03\x04 and so on", "got a zip archive. Save the table as CSV"),
        (b"SQLite format 3\0", "got an SQLite database"),
        (b'\xef\xbb\xbf{"a": 1}', "got JSON"),
        (b"<!doctype html><p>", "got a web page"),
    ],
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_a_file_that_is_not_a_table_is_an_error(write: Any, content: bytes, message: str) -> None:
    check_error(write(content), message)


def test_a_path_that_is_not_a_file_is_an_error(write: Any, tmp_path: pathlib.Path) -> None:
    write("a\n1\n")
    check_error(tmp_path, "a table must be a file; got the folder")
    check_error(tmp_path / "nofile.csv", r"there is no file .*nofile\.csv'\. Check its name\.")
    check_error(tmp_path / "dta.csv", r"there is no file .*dta\.csv'\. Did you mean .*data\.csv'\?")
    check_error(tmp_path / "no" / "data.csv", "There is no folder .* either")


def test_a_file_without_read_permission_is_an_error(write: Any) -> None:
    path = write("a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.chmod(stat.S_IRUSR)
        pytest.skip("this user may read every file")
    check_error(path, "data.csv cannot be read: Permission denied")


def test_a_header_without_rows_is_a_table_without_rows(write: Any) -> None:
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


@pytest.mark.parametrize(
    ("text", "cell", "mark"),
    [
        ("a;b;c\n1,5;2.5;x\n2,5;3.5;y\n3;4.5;x\n", "1,5", "point"),
        ("a;b\n1,5;2\n2.5;3\n3,25;1\n4.0;9\n", "1,5", "point"),
        ('a,b\n"1,5",2.5\n"2,5",3\n', "1,5", "point"),
    ],
)
def test_mixed_decimal_marks_are_a_note(tmp_path, text, cell, mark):
    path = tmp_path / "mixed.csv"
    path.write_text(text)
    words = f"column 'a' of mixed.csv is text, because '{cell}' has another decimal mark than the"
    with pytest.warns(UserWarning, match=f"{words} {mark}"):
        assert read_file(path)["a"].type == "string"


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b\n2.113,16;x\n-57,5;y\n;x\n1.000;x\n", "."),
        ('a,b\n"2.113,16",x\n"-57,5",y\n,x\n"1.000,0",x\n', "."),
        ('a,b\n"2,113.16",x\n-57.5,y\n,x\n"1,000",x\n', ","),
        ("a;b\n2'113.16;x\n-57.5;y\n-;x\n1'000;x\n", "'"),
        ("a;b\n2 113,16;x\n-57,5;y\nNA;x\n1\u202f000;x\n", " "),
    ],
)
def test_thousands_separators_are_read_if_given_and_noted_if_not(write, text, separator):
    path = write(text)
    note = "column 'a' of data.csv is text, because .2.*113.*16. has a "
    with pytest.warns(UserWarning, match=note):
        assert read_file(path)["a"].type == "string"
    assert columns(path, thousands=separator)["a"] == [2113.16, -57.5, None, 1000.0]


@pytest.mark.parametrize(
    ("first", "second", "is_date"),
    [
        ("01.02.2020", "28.2.2021", True),
        ("12/31/20", "1/5/21", True),
        ("31-12-2020", "01-01-2021", True),
        ("31.12.2020 12:30", "01.01.2021 7:05:09", True),
        ("1.2.10", "1.2.11", False),  # versions
        ("01.02.2020", "unknown", False),
    ],
)
def test_dates_that_are_not_read_as_dates_are_noted(write, recwarn, first, second, is_date):
    path = write(f"a;b\n{first};x\n;y\n{second};y\n")
    assert read_file(path)["a"].type == "string"
    notes = [str(one.message) for one in recwarn if "dates are read" in str(one.message)]
    expected = f"column 'a' of data.csv is text, because '{first}' is not written like 2020-12-31"
    assert [note.startswith(expected) for note in notes] == [True] * is_date


def test_whole_thousands_are_noted_only_if_they_are_not_decimals(write):
    assert columns(write("a;b\n1.234;x\n"))["a"] == [1.234]
    assert columns(write("a;b\n1.234;x\n"), thousands=".")["a"] == [1234.0]
    assert columns(write('a,b\n"1.234",x\n'))["a"] == ["1.234"]
    note = "has a thousands separator; .*--csv thousands"
    with pytest.warns(UserWarning, match=f"'1,234' {note}=comma"):
        columns(write('a,b\n"1,234",x\n'))
    with pytest.warns(UserWarning, match=f"'1.234' {note}=point"):
        columns(write("a;b\n1.234;1,5\n"), decimal=",")


def test_thousands_do_not_change_texts_and_codes(write):
    path = write('zip,a,b\n"01234","1,500",x\n"10115","2,500",1.5\n')
    assert columns(path, thousands=",") == {
        "zip": ["01234", "10115"], "a": [1500.0, 2500.0], "b": ["x", "1.5"],
    }  # fmt: skip
    with pytest.warns(UserWarning, match="column 'a' of data.csv is text"):
        kept = read_file(path, csv=CsvFormat(thousands=",", text_columns=("a",)))
    assert kept["a"].to_pylist() == ["1,500", "2,500"]


@pytest.mark.parametrize("cell", ["57,6 %", "57.6%", "2.113,5 %"])
def test_percent_signs_are_a_note(write, cell):
    with pytest.warns(UserWarning, match=f"'{cell}' has a percent sign; remove the signs"):
        assert columns(write(f"a;b\n{cell};x\n"))["a"] == [cell]


def test_the_thousands_separator_is_checked():
    with pytest.raises(InvalidArgumentError, match=r"must be a point, a comma, .* got '_'"):
        CsvFormat(thousands="_")
    with pytest.raises(InvalidArgumentError, match="thousands and decimal must differ"):
        CsvFormat(thousands=",", decimal=",")


def test_a_file_without_names_is_told_to_have_a_first_line(write: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"got '0' .* Write a first line with the names"):
        columns(write("0,0,x\n1,2,z\n"))

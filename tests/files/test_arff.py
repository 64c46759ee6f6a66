"""ARFF files, and Excel workbooks: tables as they were declared."""

import datetime
import sys
import zipfile

import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.files import arff, read_file

WEATHER = """% The weather, with every kind of value
@RELATION 'the weather'

@attribute outlook {sunny, 'over cast', "ra'in", '10,5'}
@attribute 'wind speed' REAL
@ATTRIBUTE code {1, 2}
@attribute note string
@attribute day date "yyyy-MM-dd"

@DATA
sunny, 85.5, 1, 'it\\'s, hot', 2024-02-29
'over cast',?,2,?,?

% a comment between rows
"ra'in", -1e3, 1, plain words, 2024-03-01
"10,5", 7, 1, 'a b', ?
"""


@pytest.fixture
def weather(tmp_path):
    path = tmp_path / "weather.arff"
    path.write_text(WEATHER)
    return path


def test_values_quotes_and_comments_are_read_as_declared(weather):
    table = read_file(weather)
    found = table.to_pydict()
    assert found["outlook"] == ["sunny", "over cast", "ra'in", "10,5"]
    assert found["wind speed"] == [85.5, None, -1000.0, 7.0]
    assert found["code"] == ["1", "2", "1", "1"]  # a category, although it looks like a number
    assert str(table["code"].type).startswith("dictionary")
    assert found["note"] == ["it's, hot", None, "plain words", "a b"]
    assert found["day"][1] is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("sunny, 85.5, 1,", "sunny, 85.5,", "line 11 .* must have 5 values"),
        ("sunny, 85.5", "hail, 85.5", "'outlook' .* must hold values that its @attribute lists"),
        ("sunny, 85.5", "sunny, warm", "'wind speed' .* must hold numbers"),
        ("sunny, 85.5", "sunny, 8_5", "'wind speed' .* must hold numbers"),
        ("wind speed' REAL", "wind speed' relational", "line 5 .* must be @attribute"),
        ("@DATA", "% nothing", "line 11 .* must be @relation"),
        ("\"10,5\", 7, 1, 'a b', ?", "{0 '10,5', 1 7}", "line 16 .* a sparse row. .* SparseToNon"),
        ("@ATTRIBUTE code", "@ATTRIBUTE outlook", "different names"),
    ],
)
def test_what_is_not_arff_is_an_error_with_its_place(weather, old, new, words):
    assert old in WEATHER
    weather.write_text(WEATHER.replace(old, new))
    with pytest.raises(InvalidArgumentError, match=words):
        read_file(weather)


def test_a_line_takes_time_by_its_length(tmp_path):
    n = 300_000  # spaces, tried in every way, would take hours
    lines = ["@relation r", "@attribute a string", "@attribute b string", "@data"]
    (tmp_path / "r.arff").write_text("\n".join([*lines, "x" + " " * n + "y, 'z'" + " " * n]))
    found = read_file(tmp_path / "r.arff").to_pydict()
    assert len(found["a"][0]) == n + 2
    assert found["b"] == ["z"]


def test_rows_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(arff, "_BLOCK_CELLS", 6)
    lines = [
        "@relation r",
        "@attribute n real",
        "@attribute c {a, b}",
        "@attribute d date",
        "@data",
    ]
    rows = ["1, a, 2024-01-01", "0, b, 2024-01-02", "0, a, 2024-01-03", "4, a, soon"]
    path = tmp_path / "r.arff"
    path.write_text("\n".join(lines + rows[:3]))
    found = read_file(path)
    assert (found["n"].to_pylist(), found["c"].to_pylist()) == ([1, 0, 0], ["a", "b", "a"])
    assert str(found["d"].type) == "timestamp[s]"
    path.write_text("\n".join(lines + rows))
    assert read_file(path)["d"].to_pylist()[2:] == ["2024-01-03", "soon"]


def test_the_first_sheet_of_a_workbook_is_a_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    day = datetime.datetime(2024, 2, 29)
    for row in (
        ["age", "name", "mixed", "day", "member"],
        [38.5, "Ada", 1, day, True],
        [None, "Bo", "x", None, False],
        [40, None, 2.5, day, None],
        [None] * 5,
    ):
        book.active.append(row)
    book.save(tmp_path / "people.xlsx")
    found = read_file(tmp_path / "people.xlsx").to_pydict()
    assert found["age"] == [38.5, None, 40.0]
    assert found["name"] == ["Ada", "Bo", None]
    assert found["mixed"] == ["1", "x", "2.5"]
    assert found["day"] == [day, None, day]
    assert found["member"] == [True, False, None]
    book.active["G3"] = "stray"
    book.save(tmp_path / "stray.xlsx")
    with pytest.raises(InvalidArgumentError, match="must have a name in the first row"):
        read_file(tmp_path / "stray.xlsx")
    damaged = (tmp_path / "people.xlsx").read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(damaged[: len(damaged) // 2])
    with pytest.raises(InvalidArgumentError, match=r"cut\.xlsx is a damaged or truncated Excel"):
        read_file(tmp_path / "cut.xlsx")


def altered(path, *changes):
    """Change the XML of the first sheet of a workbook."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    for old_text, new_text in changes:
        sheet = parts["xl/worksheets/sheet1.xml"]
        assert old_text in sheet
        parts["xl/worksheets/sheet1.xml"] = sheet.replace(old_text, new_text)
    with zipfile.ZipFile(path, "w") as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return path


def test_other_sheets_that_are_not_empty_are_a_note(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book, path = openpyxl.Workbook(), tmp_path / "rows.xlsx"
    book.active.append(["n"])
    book.active.append([1])
    book.create_sheet("empty")
    book.save(path)
    assert read_file(path).to_pydict() == {"n": [1.0]}
    book.create_sheet("Year 2").append(["n"])
    book.save(path)
    with pytest.warns(UserWarning, match="more sheets than 'Sheet', .* not read: 'Year 2'$"):
        assert read_file(path).to_pydict() == {"n": [1.0]}


def test_what_a_sheet_says_of_its_size_loses_no_row_and_takes_no_memory(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["n", "word"], [1, "a"], [2, "b"]):
        book.active.append(row)
    size, path = b'ref="A1:B3"', tmp_path / "rows.xlsx"
    for stated in (b'ref="A1"', b'ref="A1:XFD1048576"'):
        book.save(path)
        altered(path, (size, stated))
        assert read_file(path).to_pydict() == {"n": [1.0, 2.0], "word": ["a", "b"]}
    wide = [f"column {i}" for i in range(200)]
    for column, name in enumerate(wide, start=1):
        book.active.cell(1, column, name)
    book.save(path)
    altered(path, (b'<row r="3"', b'<row r="1048576"'), (b'"A3"', b'"A1048576"'))
    with pytest.raises(InvalidArgumentError, match="rows without wide gaps"):
        read_file(path)


def test_a_workbook_that_repeats_one_long_text_is_refused(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book, long = openpyxl.Workbook(), "x" * 30_000
    for row in (["word"], *([long] for _ in range(200))):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    assert len(read_file(tmp_path / "rows.xlsx")) == 200
    # Here the text is written in every cell; other programs write it once.
    for name, value in (("_EXCEL_BYTES", 4_000_000), ("_EXCEL_LETTERS", 0)):
        monkeypatch.setattr(sys.modules["sureleaf.files.read_file"], name, value)
    with pytest.raises(InvalidArgumentError, match=r"got 5 MB of repeated texts\. Save the"):
        read_file(tmp_path / "rows.xlsx")

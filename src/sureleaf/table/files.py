"""A table from a CSV, Parquet or Arrow file."""

import codecs
import csv
import io
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError

__all__ = ["read_file"]

_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE_BYTES: Final = 1 << 16
_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL: Final = re.compile(r"[+-]?\d*([.,])\d+")
_MISSING_NUMBERS: Final = (
    "", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-",
)  # fmt: skip
"""What is missing in a column of numbers, bools or dates, where it can be nothing else."""


def read_file(
    path: str | os.PathLike[str],
    *,
    text_columns: Sequence[str] = (),
    missing: Sequence[str] = ("",),
) -> Any:
    r"""Read a CSV, Parquet or Arrow file as an Arrow table.

    What the file is, is seen from its first bytes; a compressed CSV (``.csv.gz``) is
    decompressed. A CSV file has a header; its delimiter is the one of comma, semicolon, tab and
    bar that splits its first rows alike; with another delimiter than a comma, ``1,5`` may be a
    number. Text is UTF-8 (or UTF-16 with a byte order mark); a file that is not is read as
    latin-1 with a warning. A column of numbers is text if they are quoted while other columns are
    not, or if not all cells are numbers.

    Parameters
    ----------
    path : str or path
        The file.
    text_columns : sequence of str
        Columns to keep as text even if all cells look like numbers, such as
        ``schema.text_columns`` of a schema learnt before.
    missing : sequence of str
        Cells of text columns that are missing: by default, empty ones. In columns of numbers or
        dates, NA, NaN, null, ? and the like are missing too.

    Returns
    -------
    pyarrow.Table
        Ready for `read_table` and `encode`.

    Raises
    ------
    InvalidArgumentError
        If there is no such file, it is empty or damaged, or a row has too few or too many cells
        (the message has the line number).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text('zip;age;sex\n"01234";38,5;f\n"10115";;m\n')
    >>> read_file(path).to_pydict()
    {'zip': ['01234', '10115'], 'age': [38.5, None], 'sex': ['f', 'm']}
    """
    import pyarrow as pa

    path = Path(path)
    if not path.is_file():
        raise InvalidArgumentError(f"path must be a file that exists; got {str(path)!r}.")
    try:
        with pa.input_stream(str(path)) as stream:
            head = stream.read(_SAMPLE_BYTES)
        if not head:
            raise InvalidArgumentError(f"{path.name} must hold a table; got an empty file.")
        if head.startswith(b"PAR1"):
            return _read_parquet(path)
        if head.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
            return _read_arrow(path, head)
        return _read_csv(path, head, text_columns, missing)
    except (pa.ArrowException, OSError) as error:
        raise InvalidArgumentError(
            f"{path.name} must be a whole CSV, Parquet or Arrow file; got one where reading "
            f"failed: {error}"
        ) from error


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _read_arrow(path: Path, head: bytes) -> Any:
    import pyarrow as pa
    from pyarrow import feather

    if head.startswith(b"FEA1"):
        return feather.read_table(path)
    with pa.memory_map(str(path)) as source:
        if head.startswith(b"ARROW1"):
            return pa.ipc.open_file(source).read_all()
        return pa.ipc.open_stream(source).read_all()


@dataclass(frozen=True)
class _Dialect:
    encoding: str
    delimiter: str
    decimal_point: str
    quoted_numbers: tuple[str, ...]


def _read_csv(path: Path, head: bytes, text_columns: Sequence[str], missing: Sequence[str]) -> Any:
    encoding = _encoding(head)
    table = _parsed(path, _sniffed(head, encoding), text_columns, missing)
    if table is None:
        encoding = "latin-1"
        table = _parsed(path, _sniffed(head, encoding), text_columns, missing)
    if encoding == "latin-1":
        warnings.warn(
            f"{path.name} is not UTF-8 text and was read as latin-1; save it as UTF-8 if names or "
            "categories look wrong",
            UserWarning,
            stacklevel=3,
        )
    return _with_missing_text(table, missing)


def _parsed(path: Path, dialect: _Dialect, texts: Sequence[str], missing: Sequence[str]) -> Any:
    """Read the file as the dialect says; None if it is to be UTF-8 and is not."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(encoding=dialect.encoding),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys([*texts, *dialect.quoted_numbers], pa.string()),
                null_values=[*_MISSING_NUMBERS, *missing],
                decimal_point=dialect.decimal_point,
            ),
        )
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):  # in a column that is asked to be text
            return None
        raise _ragged(path, dialect) or error from error
    # In other columns, Arrow leaves as bytes what it cannot read as UTF-8.
    return None if any(map(pa.types.is_binary, table.schema.types)) else table


def _with_missing_text(table: Any, missing: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pa.array(missing, pa.string())
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = table.column(place)
            is_missing = pc.is_in(column, value_set=gone)
            if pc.any(is_missing).as_py():
                kept = pc.if_else(is_missing, pa.scalar(None, pa.string()), column)
                table = table.set_column(place, field, kept)
    return table


def _encoding(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # its last character may be cut
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _sniffed(head: bytes, encoding: str) -> _Dialect:
    """See from the first rows how the file is written."""
    text = head.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="replace")
    if len(head) == _SAMPLE_BYTES and "\n" in text:
        text = text[: text.rindex("\n")]  # the last row may be cut
    best, best_score = [[""]], (0.0, 0)
    delimiter = _DELIMITERS[0]
    for candidate in _DELIMITERS:
        rows = _cells(text, candidate)
        width = len(rows[0])
        score = (sum(len(row) == width for row in rows) / len(rows), width)
        if width > 1 and score > best_score:
            best, best_score, delimiter = rows, score, candidate
    columns = list(zip(*(row for row in best if len(row) == len(best[0])), strict=True))
    cells = [cell for column in columns for cell in column[1:]]
    marks = {found[1] for cell in cells if (found := _DECIMAL.fullmatch(cell.strip('"')))}
    comma = delimiter != "," and marks == {","}
    return _Dialect(encoding, delimiter, "," if comma else ".", _quoted_numbers(columns))


def _cells(text: str, delimiter: str) -> list[list[str]]:
    """Rows of cells with their quotes; blank lines are no rows."""
    part = re.escape(delimiter)
    cell = re.compile(rf'("(?:[^"]|"")*"|[^{part}\r\n]*)({part}|\r?\n|\r|\Z)')
    rows: list[list[str]] = [[]]
    place = 0
    while place < len(text):
        found = cell.match(text, place)
        if found is None:  # text behind a closing quote: take the rest up to the delimiter
            found = re.compile(rf"([^{part}\r\n]*)({part}|\r?\n|\r|\Z)").match(text, place)
            assert found is not None  # this pattern matches everywhere
        rows[-1].append(found[1])
        place = found.end()
        if found[2] != delimiter and place < len(text):
            rows.append([])
        elif found[2] == delimiter and place == len(text):
            rows[-1].append("")
    return [row for row in rows if row != [""]] or [[""]]


def _quoted_numbers(columns: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Names of columns of quoted numbers, where the file leaves other cells unquoted."""
    bodies = [[cell for cell in column[1:] if cell] for column in columns]
    if all(cell.startswith('"') for body in bodies for cell in body):
        return ()
    return tuple(
        column[0].strip('"')
        for column, body in zip(columns, bodies, strict=True)
        if body and all(cell[0] == '"' and _NUMBER.fullmatch(cell.strip('"')) for cell in body)
    )


def _ragged(path: Path, dialect: _Dialect) -> InvalidArgumentError | None:
    """Make the error for the first row that has not as many cells as the header, if any."""
    import pyarrow as pa

    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    with pa.input_stream(str(path)) as stream:
        text = io.TextIOWrapper(stream, encoding, errors="replace", newline="")
        reader = csv.reader(text, delimiter=dialect.delimiter)
        header = next(reader, [])
        for row in reader:
            if row and len(row) != len(header):
                return InvalidArgumentError(
                    f"every row of {path.name} must have {len(header)} cells, as its header has; "
                    f"got {len(row)} in the row that ends in line {reader.line_num}. Correct it, "
                    'or put cells that contain the delimiter in "quotes".'
                )
    return None

"""A CSV file as an Arrow table or file: every row is read, or the first wrong one is named."""

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from sureleaf.errors import InvalidArgumentError, TextColumnWarning, warn_caller
from sureleaf.files.csv_dialect import MISSING_NUMBERS, CsvDialect, CsvFormat, detect_dialect
from sureleaf.files.source import ByteSource
from sureleaf.files.utf8_stream import Utf8Stream, find_codec

_MISSING_MARKS: Final = tuple(mark for mark in MISSING_NUMBERS if mark not in ("", "None", "-"))
"""Cells of text columns that programs write for a missing value, but that may be categories."""

_BLOCK_SIZES: Final = (1 << 20, 1 << 25, 1 << 30)
"""Bytes per block; a row must fit into two blocks, so a longer row needs a larger block."""

BLOCK: Final = 1 << 22
"""Bytes per block, where rows are read in batches."""

BAD_CELL: Final = re.compile(
    r"column #(\d+): (?:Row #\d+: )?(?:CSV conversion error|The string) .*'(.*)'", re.S
)
"""What Arrow says of a cell that is not of the type of its column."""

_COMMA_NUMBER: Final = r"^[+-]?\d*,\d+$"
_WHOLE_OR_COMMA_NUMBER: Final = r"^[+-]?\d*(\d|,\d+)$"


def read_csv(source: ByteSource, csv_format: CsvFormat) -> Any:
    """Read a CSV file as an Arrow table; the type of a column fits all of its cells."""
    file = CsvText(source, csv_format)
    table = _parse(file)
    if not file.dialect.decimal_known and _has_decimal_commas(file, table):
        file = CsvText(source, replace(csv_format, decimal=","))
        table = _parse(file)
    table = _drop_empty_unnamed(table, file.dialect)
    table = _with_thousands(table, file)
    for message in _warnings(table, file):
        warn_caller(message)
    for index, field in enumerate(table.schema):
        if field.type == pa.string():
            texts = nullify(table.column(index), csv_format.missing_texts)
            table = table.set_column(index, field, texts)
    return table


class CsvText:
    """The text of a CSV file, and how it is written."""

    def __init__(self, source: ByteSource, csv_format: CsvFormat) -> None:
        self.source, self.csv_format = source, csv_format
        self.codec = find_codec(csv_format.encoding, source.head)
        self.dialect = detect_dialect(self._first_rows(), csv_format, source.name)

    @property
    def text_columns(self) -> list[str]:
        """Columns that are text whatever they hold."""
        asked = (*self.csv_format.text_columns, *self.dialect.quoted_numbers)
        return [name for name in self.dialect.header if name in asked]

    def _first_rows(self) -> str:
        head = Utf8Stream(io.BytesIO(self.source.head), self.codec, self.source.name)
        parts = []
        try:
            while part := head.read(1 << 16):
                parts.append(part)
        except InvalidArgumentError:
            # The last character may be cut. A wrong byte is reported when the rows are read.
            if not parts:
                raise
        text = b"".join(parts).decode()
        end = max(text.rfind("\n"), text.rfind("\r"))
        return text if end < 0 or self.source.is_short else text[: end + 1]

    @property
    def has_no_rows(self) -> bool:
        """Whether the whole file is a header."""
        return self.dialect.is_header_only and self.source.is_short

    def expected_rows(self) -> float | None:
        """Estimate the number of rows from the length of the first ones; None if unknown."""
        head = self.source.head
        n_lines = head.count(b"\n") or head.count(b"\r")
        return None if self.source.size is None else self.source.size * n_lines / len(head)

    def stream(self) -> Utf8Stream:
        """Open the text from its start, as UTF-8."""
        return Utf8Stream(self.source.open(), self.codec, self.source.name)

    def options(self, *, block_size: int, types: dict[str, Any], **convert: Any) -> dict[str, Any]:
        """Return the options of Arrow's CSV reader for this file."""
        return {
            "read_options": arrow_csv.ReadOptions(
                block_size=block_size,
                column_names=list(self.dialect.header),
                skip_rows_after_names=1,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.dialect.delimiter, newlines_in_values=True
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=types,
                null_values=self.csv_format.missing_numbers,
                decimal_point=self.dialect.decimal,
                check_utf8=False,  # the stream has checked it
                **convert,
            ),
        }

    def batches(
        self,
        types: dict[str, Any],
        *,
        on_ragged: Callable[[Any], str] = lambda row: "error",
        **convert: Any,
    ) -> Iterator[Any]:
        """Read the rows in blocks, with the type of each column, as record batches."""
        options = self.options(block_size=BLOCK, types=types, **convert)
        options["parse_options"].invalid_row_handler = on_ragged
        last_cell = None
        with self.stream() as stream:
            with arrow_csv.open_csv(stream, **options) as reader:
                for batch in reader:
                    if batch.num_rows:
                        yield batch
                        last_cell = batch.column(self.dialect.header[-1])[-1].as_py()
            self.check_last_quote(stream, last_cell)

    def find_ragged_row(self) -> InvalidArgumentError | None:
        """Return the error for the first row with too few or too many cells, if there is one."""
        expected = len(self.dialect.header)
        limit = csv.field_size_limit(sys.maxsize)
        try:
            with self.stream() as stream:
                text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", newline="")
                reader = csv.reader(text, delimiter=self.dialect.delimiter)
                n_before = 0
                for row in reader:
                    if row and len(row) != expected:
                        where = f"line {n_before + 1}"
                        if reader.line_num > n_before + 1:
                            where += f", where a quote is open to line {reader.line_num}"
                        return self.ragged_row_error(len(row), where)
                    n_before = reader.line_num
        finally:
            csv.field_size_limit(limit)
        return None

    def ragged_row_error(self, n_cells: int, where: str) -> InvalidArgumentError:
        """Return the error for a row with too few or too many cells."""
        expected = len(self.dialect.header)
        cells = "1 cell" if expected == 1 else f"{expected} cells"
        return InvalidArgumentError(
            f"every row of {self.source.name} must have {cells}, like its header; got {n_cells} "
            f"in {where}. Correct the row, put cells that contain the delimiter "
            f'{self.dialect.delimiter!r} in "quotes", or give another delimiter '
            "(--csv delimiter=...)."
        )

    def check_last_quote(self, stream: Utf8Stream, last_cell: Any) -> None:
        """Raise an error if the last quote is not closed: its cell holds all rows that follow."""
        if not isinstance(last_cell, str) or not re.search(r"[\r\n]", last_cell):
            return
        if not stream.tail.rstrip(b"\r\n").endswith(b'"'):
            n_inside = last_cell.count("\n") or last_cell.count("\r")
            raise InvalidArgumentError(
                f"quotes of {self.source.name} must be closed; the one in line "
                f"{stream.n_lines - n_inside + 1} is open to the end of the file. Close it, or "
                'write "" for a quote that is part of the text.'
            )


def _parse(file: CsvText) -> Any:
    if file.has_no_rows:
        return pa.table({name: pa.nulls(0) for name in file.dialect.header})
    types = dict.fromkeys(file.text_columns, pa.string())
    for block_size in _BLOCK_SIZES:
        options = file.options(block_size=block_size, types=types)
        with file.stream() as stream:
            try:
                table = arrow_csv.read_csv(stream, **options)
            except pa.ArrowInvalid as error:
                row_is_too_long = "straddl" in str(error)
                if row_is_too_long and block_size != _BLOCK_SIZES[-1]:
                    continue
                raise file.find_ragged_row() or error from error
            if table.num_rows and table.num_columns:
                file.check_last_quote(stream, table.column(-1)[-1].as_py())
        return _with_long_integers(table, file, block_size)
    raise AssertionError  # pragma: no cover - the last block size returns or raises


def _with_long_integers(table: Any, file: CsvText, block_size: int) -> Any:
    """Read the columns again whose integers need more than 64 bits, which Arrow has rounded."""
    for index, name in enumerate(table.column_names):
        if not _may_be_long_integers(table.column(index)):
            continue
        options = file.options(
            block_size=block_size, types={name: _LONG_INTEGER}, include_columns=[name]
        )
        with suppress(pa.ArrowInvalid), file.stream() as stream:  # raised by other numbers
            table = table.set_column(index, name, arrow_csv.read_csv(stream, **options).column(0))
    return table


_LONG_INTEGER: Final = pa.decimal128(38, 0)
"""The type of integers that need more than 64 bits."""


def _may_be_long_integers(column: Any) -> bool:
    """Return whether a column of float64 may be text of integers of more than 64 bits."""
    if column.type != "double":
        return False
    ends = pc.min_max(column).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) >= 2.0**63


def _has_decimal_commas(file: CsvText, table: Any) -> bool:
    """Return whether decimal numbers appear only below the first rows, with commas."""
    if file.dialect.delimiter == "," or any(map(pa.types.is_floating, table.schema.types)):
        return False
    missing = pa.array(file.csv_format.missing_numbers)
    for column in table.columns:
        if not pa.types.is_string(column.type):
            continue
        present = _without(column, missing)
        has_comma = pc.any(pc.match_substring_regex(present, _COMMA_NUMBER)).as_py()
        if has_comma and _all_match(present, _WHOLE_OR_COMMA_NUMBER):
            return True
    return False


def _drop_empty_unnamed(table: Any, dialect: CsvDialect) -> Any:
    """Drop empty columns without a name: they come from a delimiter at the end of each row."""
    empty = [name for name in dialect.unnamed if table[name].null_count == table.num_rows]
    kept = [name for name in dialect.unnamed if name not in empty]
    if kept:
        columns = "1 column has" if len(kept) == 1 else f"{len(kept)} columns have"
        called = "is called" if len(kept) == 1 else "are called"
        warn_caller(
            f"{columns} no name and {called} {', '.join(map(repr, kept))}; if it only numbers the "
            f"rows, leave it out (--drop {kept[0]!r})",
            UserWarning,
        )
    return table.drop_columns(empty)


def _with_thousands(table: Any, file: CsvText) -> Any:
    """Make columns of numbers with the given thousands separator numbers, except those to keep."""
    separator = file.csv_format.thousands
    if separator is None:
        return table
    for index, name in enumerate(table.column_names):
        column = table.column(index)
        if column.type != "string" or name in file.csv_format.text_columns:
            continue
        texts = nullify(column, file.csv_format.missing_numbers)
        if not _has_separator(texts, separator):
            continue
        numbers = read_thousands(texts, separator, file.dialect.decimal)
        if numbers is not None:
            table = table.set_column(index, name, numbers)
    return table


def read_thousands(texts: Any, separator: str, decimal: str) -> Any:
    """Return texts as numbers, which may have thousands separators; None if one is not a number.

    Where a value is missing, texts are null. If the separator is an apostrophe or a space, both
    decimal marks are tried.
    """
    marks = _decimal_marks(texts, separator, decimal)
    return _to_numbers(texts, separator, marks[0]) if marks else None


def _decimal_marks(texts: Any, separator: str, decimal: str) -> list[str]:
    """Return the decimal marks with which all texts are numbers, the expected one first."""
    return [
        mark
        for mark in (decimal, "," if decimal == "." else ".")
        if mark != separator
        and pc.all(pc.match_substring_regex(texts, _thousands_pattern(separator, mark))).as_py()
        is not False
    ]


def _to_numbers(texts: Any, separator: str, mark: str) -> Any:
    """Return texts that are numbers with thousands separators and this decimal mark as float64."""
    digits = pc.replace_substring_regex(texts, rf"^\+|[{_SEPARATORS[separator]}]", "")
    return pc.replace_substring(digits, mark, ".").cast("float64")


_SEPARATORS: Final = {".": ".", ",": ",", "'": "'\u2019", " ": " \u00a0\u2009\u202f"}
"""The characters that are written for a thousands separator."""


def _thousands_pattern(separator: str, decimal: str) -> str:
    groups = rf"\d{{1,3}}([{_SEPARATORS[separator]}]\d{{3}})+"
    return rf"^[+-]?(({groups}|\d+)([{decimal}]\d*)?|[{decimal}]\d+)([eE][+-]?\d+)?$"


def _has_separator(texts: Any, separator: str) -> bool:
    """Return whether any text has a thousands separator; postal codes in quotes have none."""
    found = pc.match_substring_regex(texts, rf"\d[{_SEPARATORS[separator]}]\d{{3}}")
    return bool(pc.any(found).as_py())


def nullify(texts: Any, missing: Sequence[str]) -> Any:
    """Return an Arrow array in which the texts that mean a missing value are null."""
    is_missing = pc.is_in(texts, value_set=pa.array(missing, pa.string()))
    if not pc.any(is_missing).as_py():
        return texts
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), texts)


def _without(texts: Any, excluded: Any) -> Any:
    return texts.filter(pc.invert(pc.is_in(texts, value_set=excluded)))


# ---- a copy of the rows as an Arrow file, where they may not fit into memory ---------------------

_TYPES: Final = (
    pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"), pa.timestamp("s"),
    pa.timestamp("ns"), pa.float64(), pa.string(),
)  # fmt: skip
"""A column has the first of these types that fits all of its cells, as Arrow decides in memory."""


def copy_csv(source: ByteSource, csv_format: CsvFormat, path: str) -> None:
    """Copy a CSV file to an Arrow file; the type of each column fits all of its cells.

    When a cell does not fit, the file is read again from its start with the next type.
    """
    file = CsvText(source, csv_format)
    if file.has_no_rows:
        raise InvalidArgumentError(f"{source.name} must have rows; got only a header.")
    types = dict.fromkeys(file.dialect.header, _TYPES[0])
    types |= dict.fromkeys(file.text_columns, pa.string())
    while (refused := _try_copy(file, types, path)) is not None:
        types[refused] = _TYPES[_TYPES.index(types[refused]) + 1]
    with pa.OSFile(path) as opened:
        long = {
            name
            for batch in _batches(pa.ipc.open_file(opened))
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
            if _may_be_long_integers(column)
        }
    if long:
        types |= dict.fromkeys(long, _LONG_INTEGER)
        while (refused := _try_copy(file, types, path)) is not None:
            types[refused] = pa.float64()
    if csv_format.thousands is not None:
        _convert_thousands(file, csv_format.thousands, path)


def _batches(reader: Any) -> Iterator[Any]:
    return map(reader.get_batch, range(reader.num_record_batches))


def _try_copy(file: CsvText, types: dict[str, Any], path: str) -> str | None:
    """Copy the file with these types; return the column with a cell that does not fit, or None."""
    missing = file.csv_format.missing_texts
    schema = pa.schema([(name, types[name]) for name in file.dialect.header])
    try:
        with pa.ipc.new_file(path, schema) as writer:
            for batch in file.batches(types):
                columns = [
                    nullify(column, missing) if column.type == pa.string() else column
                    for column in batch.columns
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    except pa.ArrowInvalid as error:
        cell = BAD_CELL.search(str(error))
        if cell is None:
            raise file.find_ragged_row() or error from error
        return file.dialect.header[int(cell[1])]
    return None


def _convert_thousands(file: CsvText, separator: str, path: str) -> None:
    """Make columns of numbers with thousands separators numbers, in the copy of a CSV file.

    A column is converted if all of its cells are such numbers and one has a separator, as for a
    file in memory. So all cells are read before the first is converted.
    """
    missing = file.csv_format.missing_numbers
    with pa.OSFile(path) as opened:
        reader = pa.ipc.open_file(opened)
        schema = reader.schema
        marks = {
            index: [".", ","]
            for index, field in enumerate(schema)
            if field.type == pa.string() and field.name not in file.csv_format.text_columns
        }
        separated = set()
        for batch in _batches(reader):
            for index in marks:
                texts = nullify(batch.column(index), missing)
                found = _decimal_marks(texts, separator, file.dialect.decimal)
                marks[index] = [mark for mark in found if mark in marks[index]]
                separated |= {index} if _has_separator(texts, separator) else set()
        mark_of = {
            index: found[0] for index, found in marks.items() if found and index in separated
        }
        for index in mark_of:
            schema = schema.set(index, pa.field(schema.names[index], pa.float64()))
        converted = f"{path}.numbers"
        with pa.ipc.new_file(converted, schema) as writer:
            for batch in _batches(reader):
                columns = list(batch.columns)
                for index, mark in mark_of.items():
                    columns[index] = _to_numbers(nullify(columns[index], missing), separator, mark)
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    os.replace(converted, path)


# ---- warnings ----------------------------------------------------------------------------------

_CHECKED_ROWS: Final = 1 << 16
_MOSTLY_NUMBERS: Final = 0.9
_MIN_DISTINCT: Final = 20
"""A column with fewer distinct values may hold codes rather than numbers."""


def _warnings(table: Any, file: CsvText) -> Iterator[Warning]:
    """Yield a message for each text column that probably was meant to be something else.

    Either nearly all of its cells are numbers, or all are with thousands separators, percent signs,
    or decimal commas and points mixed, or all are dates such as 01.02.2020, or it has a category
    such as "?" or "NA".

    Empty cells are empty text in the table.
    """
    file_name, csv_format = file.source.name, file.csv_format
    all_missing = pa.array(csv_format.missing_numbers, pa.string())
    marks = [mark for mark in _MISSING_MARKS if mark not in csv_format.missing]
    are_marks = pa.array(marks, pa.string())
    decimal = file.dialect.decimal
    number = rf"^[+-]?(\d+[{decimal}]?\d*|[{decimal}]\d+)([eE][+-]?\d+)?$"
    columns_of: dict[str, list[str]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type != "string":
            continue
        first = _without(column.slice(0, _CHECKED_ROWS), all_missing)
        why = (
            _why_formatted(first, decimal)
            or _why_local_dates(first)
            or _why_other_decimal(first, number, decimal)
            or _why_not_numbers(first, column, all_missing, number)
        )
        if why is not None:
            text = f"column {name!r} of {file_name} is text, because {why}"
            yield TextColumnWarning(text, name)
            continue
        distinct = pc.unique(column)
        for mark in distinct.filter(pc.is_in(distinct, value_set=are_marks)).to_pylist():
            columns_of.setdefault(mark, []).append(name)
    for mark, names in columns_of.items():
        shown = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
        columns = "column" if len(names) == 1 else "columns"
        yield UserWarning(
            f"{mark!r} is read as a category in {columns} {shown} of {file_name}; if it means "
            f"missing: --csv missing={mark!r}"
        )


def _why_formatted(first: Any, decimal: str) -> str | None:
    """Name a cell if all are numbers with separators or percent signs."""
    if not _all_match(first.slice(0, 20), r"^[+-]?[.,]?\d"):
        return None  # most columns: without looking at all cells
    bare = pc.replace_substring_regex(first, r"\s*%$", "")
    percents = pc.not_equal(first, bare)
    has_percents = bool(pc.any(percents).as_py())
    forms = ((".", ","), (",", "."), ("'", "."), ("'", ","), (" ", ","), (" ", "."))
    for separator, mark in forms:
        # A separator that is the decimal mark here must have the other mark behind it.
        behind = "[.,]" if separator == decimal else ""
        found = pc.match_substring_regex(bare, rf"\d[{_SEPARATORS[separator]}]\d{{3}}{behind}")
        if not pc.any(found).as_py() or not _all_match(bare, _thousands_pattern(separator, mark)):
            continue
        if not has_percents:
            cell = bare.filter(found)[0].as_py()
            typed = {".": "point", ",": "comma", "'": "apostrophe", " ": "space"}[separator]
            return f"{cell!r} has a thousands separator; to read numbers: --csv thousands={typed}"
        break
    else:
        if not has_percents or not _all_match(bare, r"^[+-]?(\d+[.,]?\d*|[.,]\d+)$"):
            return None
    cell = first.filter(percents)[0].as_py()
    return f"{cell!r} has a percent sign; remove the signs from the file to read numbers"


def _why_local_dates(first: Any) -> str | None:
    """Name a cell if all are dates such as 31.12.2020 or 12/31/20."""
    time = r"( \d{1,2}:\d{2}(:\d{2})?)?$"
    for mark, year in ((".", r"\d{4}"), ("/", r"(\d{4}|\d{2})"), ("-", r"\d{4}")):
        pattern = rf"^\d{{1,2}}[{mark}]\d{{1,2}}[{mark}]{year}{time}"
        # Most columns: without looking at all cells.
        if _all_match(first.slice(0, 20), pattern) and _all_match(first, pattern):
            return (
                f"{first[0].as_py()!r} is not written like 2020-12-31, the form in which dates are "
                "read; write dates so"
            )
    return None


def _why_other_decimal(first: Any, number: str, decimal: str) -> str | None:
    """Name a cell with the other decimal mark, if all cells are numbers."""
    other = {".": ",", ",": "."}[decimal]
    has_other = pc.match_substring_regex(first, rf"^[+-]?(\d+[{other}]\d*|[{other}]\d+)$")
    is_number = pc.or_(has_other, pc.match_substring_regex(first, number))
    if not pc.any(has_other).as_py() or not pc.all(is_number).as_py():
        return None
    mark = {".": "point", ",": "comma"}[decimal]
    cure = "; for commas, put semicolons between the cells" if decimal == "." else ""
    return (
        f"{first.filter(has_other)[0].as_py()!r} has another decimal mark than the {mark}, with "
        f"which this file is read; write all numbers with the same decimal mark{cure}"
    )


def _why_not_numbers(first: Any, column: Any, missing: Any, number: str) -> str | None:
    """Name a cell that is not a number, if nearly all of the first cells are."""
    share = pc.mean(pc.match_substring_regex(first, number)).as_py() if len(first) else None
    if share is None or share < _MOSTLY_NUMBERS or pc.count_distinct(first).as_py() < _MIN_DISTINCT:
        return None
    present = _without(column, missing)
    index = pc.index(pc.match_substring_regex(present, number), False).as_py()
    if index < 0:  # all are numbers: the column is text because it is quoted, or on request
        return None
    cell: str = present[index].as_py()
    shown = cell if len(cell) <= 40 else cell[:39] + "…"
    return f"{shown!r} is not a number; if that means missing: --csv missing={shown!r}"


def _all_match(texts: Any, pattern: str) -> bool:
    """Return whether there are texts, and all match a pattern."""
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())

"""A CSV file as an Arrow table: every row read, or the first wrong one named."""

import codecs
import csv
import io
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.csv_dialect import CsvFormat, Dialect, doubts, sniff
from sureleaf.files.source import Source

__all__ = ["MISSING_NUMBERS", "CsvText", "Utf8Stream", "find_codec", "read_csv"]


# Bytes of any encoding as UTF-8, checked, with the place of the first that is wrong.

_NO_TEXT: Final = b"\0"


def find_codec(encoding: str | None, head: bytes) -> str:
    """Name the encoding: what is given, else what the byte order mark says, else UTF-8.

    Parameters
    ----------
    encoding : str or None
        A name that Python knows.
    head : bytes
        The first bytes.

    Returns
    -------
    str

    Raises
    ------
    InvalidArgumentError
        If there is no such encoding.

    Examples
    --------
    >>> find_codec(None, "a".encode("utf-16")), find_codec("latin-1", b"a")
    ('utf-16', 'iso8859-1')
    """
    if encoding is not None:
        try:
            return codecs.lookup(encoding).name
        except LookupError:
            raise InvalidArgumentError(
                "encoding must be one that Python knows, such as utf-8, windows-1252, latin-1 or "
                f"utf-16; got {encoding!r}."
            ) from None
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


class Utf8Stream(io.RawIOBase):
    r"""A stream of UTF-8 text from bytes of some encoding.

    A byte order mark and blank lines before the header are left out. A byte that is none of the
    encoding, or a zero byte, is an error that says where it is. What ends the text is kept, to see
    whether the last quote is closed.

    Parameters
    ----------
    raw : binary stream
        The bytes.
    codec : str
        Their encoding.
    name : str
        The file, for messages.

    Examples
    --------
    >>> Utf8Stream(io.BytesIO(b"\n\xfcber"), "iso8859-1", "data.csv").read().decode()
    'über'
    """

    def __init__(self, raw: BinaryIO, codec: str, name: str) -> None:
        self._raw, self._codec, self._name = raw, codec, name
        self._decoder = codecs.getincrementaldecoder(codec)()
        self._ahead = self._cut = b""
        self._n_bytes = self.n_lines = 0
        self._started = self._ended = False
        self.tail = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes of UTF-8: at most so many, none only at the end."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        while not self._ahead and not self._ended:
            self._ahead = self._next(max(size, 1))
        part, self._ahead = self._ahead[:size], self._ahead[size:]
        if part:
            self.tail = (self.tail + part)[-8:] if len(part) < 8 else part[-8:]
        return part

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, for readers that bring their own."""
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the bytes, too."""
        self._raw.close()
        super().close()

    def _next(self, size: int) -> bytes:
        block = self._raw.read(size)
        self._ended = not block
        found = self._as_utf8(block)
        if _NO_TEXT in found:
            raise self._zero(found.index(_NO_TEXT))
        self._n_bytes += len(block)
        if not self._started:
            found = found.removeprefix(codecs.BOM_UTF8)
            blank = len(found) - len(found.lstrip(b"\r\n"))
            self.n_lines += _count_lines(found[:blank])
            found = found[blank:]
            self._started = bool(found)
        self.n_lines += _count_lines(found)
        return found

    def _as_utf8(self, block: bytes) -> bytes:
        data = self._cut + block
        try:
            if self._codec == "utf-8":  # nothing to convert: only to check
                _, whole = codecs.utf_8_decode(data, "strict", self._ended)
                self._cut = data[whole:]
                return data[:whole]
            return self._decoder.decode(block, final=self._ended).encode()
        except UnicodeDecodeError as problem:
            raise self._wrong(problem, len(problem.object) - len(block)) from None

    def _wrong(self, problem: UnicodeDecodeError, n_kept: int) -> InvalidArgumentError:
        """Say where the wrong byte is; some bytes of the block before may be among those read."""
        if _NO_TEXT in problem.object[: problem.start]:
            return self._zero(problem.object.index(_NO_TEXT))
        line = self.n_lines + 1 + _count_lines(problem.object[: problem.start])
        place = self._n_bytes - n_kept + problem.start + 1
        byte = problem.object[problem.start]
        other = "windows-1252" if self._codec.startswith("utf") else "utf-8"
        return InvalidArgumentError(
            f"{self._name} is not {self._codec} text: byte {place:,} (line {line:,}) is "
            f"0x{byte:02x}. Say how it is encoded, such as encoding={other!r} (--encoding "
            f"{other}), or save it as UTF-8."
        )

    def _zero(self, place: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self._name} is not text: byte {self._n_bytes + place + 1:,} is 0. If it is UTF-16 "
            "without a byte order mark, say encoding='utf-16-le' (--encoding utf-16-le); else "
            "save the table as CSV."
        )


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") or text.count(b"\r")


MISSING_NUMBERS: Final = (
    "", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-",
)  # fmt: skip
"""What is missing in a column of numbers, bools or dates, where it can be nothing else."""

_BLOCKS: Final = (1 << 20, 1 << 25, 1 << 30)
"""Bytes read at a time; a row must fit into two blocks, so longer ones take larger blocks."""

_COMMA_NUMBER: Final = r"^[+-]?\d*,\d+$"
_WHOLE_OR_COMMA_NUMBER: Final = r"^[+-]?\d*(\d|,\d+)$"


class CsvText:
    r"""A CSV file that has been looked at: its text, and how it is written.

    Parameters
    ----------
    source : Source
        The bytes.
    given : CsvFormat
        What is known about the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sureleaf.files.source import find_source
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("a;b\n1;2\n")
    >>> CsvText(find_source(path), CsvFormat()).dialect.header
    ('a', 'b')
    """

    def __init__(self, source: Source, given: CsvFormat) -> None:
        self.source, self.given = source, given
        self.codec = find_codec(given.encoding, source.head)
        self.dialect = sniff(self._first_rows(), given, source.name)

    def _first_rows(self) -> str:
        head = Utf8Stream(io.BytesIO(self.source.head), self.codec, self.source.name)
        parts = []
        try:
            while part := head.read(1 << 16):
                parts.append(part)
        except InvalidArgumentError:
            # The last character may be cut; a wrong one is told when the rows are read.
            if not parts:
                raise
        text = b"".join(parts).decode()
        end = max(text.rfind("\n"), text.rfind("\r"))
        return text if end < 0 or self.source.is_short else text[: end + 1]

    def expected_rows(self) -> float | None:
        """Estimate the rows by the length of the first ones."""
        head = self.source.head
        n_lines = head.count(b"\n") or head.count(b"\r")
        return None if self.source.size is None else self.source.size * n_lines / len(head)

    def stream(self) -> Utf8Stream:
        """Give the text from its start, as UTF-8."""
        return Utf8Stream(self.source.open(), self.codec, self.source.name)

    def options(self, *, block: int, types: dict[str, Any], **convert: Any) -> dict[str, Any]:
        """Say to Arrow's reader how the file is written."""
        from pyarrow import csv as arrow_csv

        return {
            "read_options": arrow_csv.ReadOptions(
                block_size=block,
                column_names=list(self.dialect.header),
                skip_rows_after_names=1,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.dialect.delimiter, newlines_in_values=True
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=types,
                null_values=[*MISSING_NUMBERS, *self.given.missing],
                decimal_point=self.dialect.decimal,
                check_utf8=False,  # the stream has
                **convert,
            ),
        }

    def ragged(self) -> InvalidArgumentError | None:
        """Make the error for the first row that has not as many cells as the header, if any."""
        wanted = len(self.dialect.header)
        limit = csv.field_size_limit(sys.maxsize)
        try:
            with self.stream() as stream:
                text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", newline="")
                reader = csv.reader(text, delimiter=self.dialect.delimiter)
                for row in reader:
                    if row and len(row) != wanted:
                        return self.wrong_width(len(row), f"line {reader.line_num}")
        finally:
            csv.field_size_limit(limit)
        return None

    def wrong_width(self, got: int, where: str) -> InvalidArgumentError:
        """Make the error for a row that has not as many cells as the header."""
        wanted = len(self.dialect.header)
        return InvalidArgumentError(
            f"every row of {self.source.name} must have {wanted} cell{'s' if wanted > 1 else ''}, "
            f"as its header has; got {got} in {where}. Correct it, put cells that contain the "
            f'delimiter {self.dialect.delimiter!r} in "quotes", or name another delimiter '
            "(--delimiter)."
        )

    def check_closed(self, stream: Utf8Stream, last_cell: Any) -> None:
        """Refuse a file whose last quote is open: it has swallowed all rows that follow."""
        if not isinstance(last_cell, str) or not re.search(r"[\r\n]", last_cell):
            return
        if not stream.tail.rstrip(b"\r\n").endswith(b'"'):
            swallowed = last_cell.count("\n") or last_cell.count("\r")
            raise InvalidArgumentError(
                f"quotes of {self.source.name} must be closed; got one in line "
                f"{stream.n_lines - swallowed + 1} that is open to the end of the file. Close it, "
                'or write "" for a quote that is part of the text.'
            )


def read_csv(
    source: Source, given: CsvFormat, *, text_columns: Sequence[str] = (), missing: Sequence[str]
) -> Any:
    r"""Read a CSV file as an Arrow table; a column's type is one that fits all of its cells.

    Parameters
    ----------
    source : Source
        The file.
    given : CsvFormat
        What is known about it.
    text_columns : sequence of str
        Columns to keep as text.
    missing : sequence of str
        Cells of text columns that are missing.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sureleaf.files.source import find_source
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("a;b\n1;x\n")
    >>> read_csv(find_source(path), CsvFormat(), missing=[""]).to_pydict()
    {'a': [1], 'b': ['x']}
    """
    file = CsvText(source, given)
    table = _parsed(file, text_columns)
    if not file.dialect.decimal_seen and _has_decimal_commas(file, table):
        file = CsvText(source, _with_comma(given))
        table = _parsed(file, text_columns)
    table = _without_empty_nameless(table, file.dialect)
    found = doubts(
        table,
        source.name,
        missing,
        decimal=file.dialect.decimal,
        missing_numbers=MISSING_NUMBERS,
    )
    for doubt in found:
        warnings.warn(doubt, UserWarning, stacklevel=4)
    return _with_missing_text(table, missing)


def _parsed(file: CsvText, texts: Sequence[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if file.dialect.is_bare and file.source.is_short:
        return pa.table({name: pa.nulls(0) for name in file.dialect.header})
    types = dict.fromkeys([*texts, *file.dialect.quoted_numbers], pa.string())
    for block in _BLOCKS:
        with file.stream() as stream:
            try:
                table = arrow_csv.read_csv(stream, **file.options(block=block, types=types))
            except pa.ArrowInvalid as error:
                if _is_too_long(error) and block != _BLOCKS[-1]:
                    continue
                raise file.ragged() or error from error
            if table.num_rows and table.num_columns:
                file.check_closed(stream, table.column(-1)[-1].as_py())
        return table
    raise AssertionError  # pragma: no cover - the last block returns or raises


def _is_too_long(error: Exception) -> bool:
    return "straddl" in str(error)


def _has_decimal_commas(file: CsvText, table: Any) -> bool:
    """Whether decimals came below the first rows, and have commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if file.dialect.delimiter == "," or any(map(pa.types.is_floating, table.schema.types)):
        return False
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    gone = pa.array([*MISSING_NUMBERS, *file.given.missing])
    for column in texts:
        known = column.filter(pc.invert(pc.is_in(column, value_set=gone)))
        commas = pc.any(pc.match_substring_regex(known, _COMMA_NUMBER)).as_py()
        if commas and pc.all(pc.match_substring_regex(known, _WHOLE_OR_COMMA_NUMBER)).as_py():
            return True
    return False


def _with_comma(given: CsvFormat) -> CsvFormat:
    return CsvFormat(given.delimiter, given.encoding, ",", given.missing)


def _without_empty_nameless(table: Any, dialect: Dialect) -> Any:
    """Drop columns without name and cells: they come from a delimiter at the end of each row."""
    empty = [name for name in dialect.nameless if table[name].null_count == table.num_rows]
    table = table.drop_columns(empty)
    named = [name for name in dialect.nameless if name not in empty]
    if named:
        warnings.warn(
            f"{len(named)} column{'s have' if len(named) > 1 else ' has'} no name and "
            f"{'are' if len(named) > 1 else 'is'} called {', '.join(map(repr, named))}; if it only "
            f"numbers the rows, leave it out (--drop {named[0]!r})",
            UserWarning,
            stacklevel=5,
        )
    return table


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

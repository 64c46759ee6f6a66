"""How a CSV file is written: delimiter, decimal mark and header, detected from its first rows."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from sureleaf.errors import InvalidArgumentError

_DELIMITERS: Final = (",", ";", "\t", "|")
_DELIMITER_NAMES: Final = {
    "comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " ",
}  # fmt: skip
_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL: Final = re.compile(r"[+-]?\d*([.,])\d+")


MISSING_NUMBERS: Final = (
    "", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-",
)  # fmt: skip
"""Cells that mean a missing value in columns of numbers, bools or dates."""


@dataclass(frozen=True)
class CsvFormat:
    """What the user says about a CSV file; None means: detect it from the file."""

    delimiter: str | None = None  # one character, or comma, semicolon, tab, bar or space
    # By default UTF-8, or UTF-16 if the file starts with its byte order mark.
    encoding: str | None = None
    decimal: str | None = None
    # Cells that mean a missing value in text columns, besides empty ones.
    missing: tuple[str, ...] = ()
    # The thousands separator of numbers; by default, numbers have none. If it is a point or a
    # comma, the other one is the decimal mark.
    thousands: str | None = None
    # Columns that are text, also if all of their cells look like numbers.
    text_columns: tuple[str, ...] = ()

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The cells that mean a missing value in columns of text."""
        return ("", *self.missing)

    @property
    def missing_numbers(self) -> tuple[str, ...]:
        """The cells that mean a missing value in columns of numbers, bools or dates."""
        return (*MISSING_NUMBERS, *self.missing)

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            character = _DELIMITER_NAMES.get(self.delimiter.lower(), self.delimiter)
            object.__setattr__(self, "delimiter", character)
            is_plain = character.isascii() and (character.isprintable() or character == "\t")
            if len(character) != 1 or not is_plain or character == '"':
                raise InvalidArgumentError(
                    "delimiter must be one ASCII character, or comma, semicolon, tab, bar or "
                    f"space; got {self.delimiter!r}."
                )
        if self.decimal not in (None, ".", ","):
            raise InvalidArgumentError(f"decimal must be '.' or ','; got {self.decimal!r}.")
        if self.thousands not in (None, ".", ",", "'", " "):
            raise InvalidArgumentError(
                "thousands must be a point, a comma, an apostrophe or a space; got "
                f"{self.thousands!r}."
            )
        if self.thousands is not None and self.thousands == self.decimal:
            raise InvalidArgumentError(
                f"thousands and decimal must differ; got {self.decimal!r} for both."
            )
        if self.decimal == self.delimiter == ",":
            raise InvalidArgumentError(
                "decimal and delimiter must differ; got ',' for both. If the numbers are in "
                "quotes, save the file with semicolons between the cells."
            )


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written."""

    delimiter: str  # one character
    decimal: str  # one character
    # The column names; a column without a name is called by its position, such as "column 1".
    header: tuple[str, ...]
    unnamed: tuple[str, ...] = ()  # those names in the header that stand for a missing name
    # Columns whose numbers are in quotes although other cells of the file are not: they are text,
    # such as postal codes.
    quoted_numbers: tuple[str, ...] = ()
    decimal_known: bool = True  # whether the decimal mark was given or occurs in the first rows
    is_header_only: bool = False  # whether the first rows hold nothing but the header


def detect_dialect(text: str, csv_format: CsvFormat, file_name: str) -> CsvDialect:
    """Detect from the first rows how a file is written.

    The delimiter is the one of comma, semicolon, tab and bar that gives most rows as many cells
    as the header, which must have at least two. If it is not a comma and all decimal numbers have
    commas, the comma is the decimal mark.
    """
    delimiter, rows = _detect_delimiter(text, csv_format.delimiter)
    width = len(rows[0])
    header, unnamed = _column_names(rows[0], file_name)
    columns = list(zip(*(row for row in rows[1:] if len(row) == width), strict=True))
    marks = {
        match[1]
        for column in columns
        for cell in column
        if (match := _DECIMAL.fullmatch(cell.strip('"')))
    }
    known = csv_format.decimal or {".": ",", ",": "."}.get(csv_format.thousands or "")
    return CsvDialect(
        delimiter,
        known or ("," if delimiter != "," and marks == {","} else "."),
        header,
        unnamed,
        quoted_numbers=tuple(header[index] for index in _quoted_numbers(columns)),
        decimal_known=known is not None or bool(marks),
        is_header_only=len(rows) == 1,
    )


def _detect_delimiter(text: str, known: str | None) -> tuple[str, list[list[str]]]:
    """Return the delimiter and the rows of cells that it makes."""
    candidates = [
        (delimiter, _split_cells(text, delimiter))
        for delimiter in (_DELIMITERS if known is None else [known])
    ]

    def fit(candidate: tuple[str, list[list[str]]]) -> tuple[float, int]:
        rows = candidate[1]
        width = len(rows[0])
        share = sum(len(row) == width for row in rows) / len(rows)
        return (share, width) if width > 1 else (0.0, 0)

    return max(candidates, key=fit)


def _split_cells(text: str, delimiter: str) -> list[list[str]]:
    """Return rows of cells, which keep their quotes; blank lines are skipped."""
    end = rf"({re.escape(delimiter)}|\r?\n|\r|\Z)"
    unquoted = rf"[^{re.escape(delimiter)}\r\n]*"
    cell = re.compile(rf'("[^"]*(?:""[^"]*)*"|{unquoted}){end}')
    rest = re.compile(rf"({unquoted}){end}")
    rows: list[list[str]] = [[]]
    position = 0
    while position < len(text):
        match = cell.match(text, position)
        if match is None:  # text behind a closing quote: take the rest up to the delimiter
            match = rest.match(text, position)
            assert match is not None  # this pattern matches everywhere
        rows[-1].append(match[1])
        position = match.end()
        if match[2] != delimiter and position < len(text):
            rows.append([])
        elif match[2] == delimiter and position == len(text):
            rows[-1].append("")
    return [row for row in rows if row != [""]] or [[""]]


def _column_names(cells: list[str], file_name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all columns, and those that stand for a missing name."""
    written = [
        cell[1:-1].replace('""', '"') if cell[:1] == '"' == cell[-1:] else cell.strip()
        for cell in cells
    ]
    repeated = [name for name, count in Counter(written).items() if count > 1 and name]
    if repeated:
        numbers = [str(number) for number, name in enumerate(written, 1) if name == repeated[0]]
        cure = (
            "Write a first line with the names of the columns"
            if _NUMBER.fullmatch(repeated[0])
            else "Rename or drop the duplicates in its first line"
        )
        raise InvalidArgumentError(
            f"columns of {file_name} must have different names; got {repeated[0]!r} for columns "
            f"{' and '.join(numbers)}. {cure}."
        )
    unnamed = {index: f"column {index + 1}" for index, name in enumerate(written) if not name}
    names = tuple(unnamed.get(index, name) for index, name in enumerate(written))
    return names, tuple(unnamed.values())


def _quoted_numbers(columns: list[tuple[str, ...]]) -> list[int]:
    """Return the indices of columns of quoted numbers, if other cells are not quoted."""
    filled = [[cell for cell in column if cell] for column in columns]
    if all(cell.startswith('"') for column in filled for cell in column):
        return []
    return [
        index
        for index, column in enumerate(filled)
        if column and all(cell[0] == '"' and _NUMBER.fullmatch(cell.strip('"')) for cell in column)
    ]

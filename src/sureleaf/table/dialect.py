"""How a CSV file is written, seen from its first rows."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from sureleaf.errors import InvalidArgumentError

__all__ = ["CsvFormat", "Dialect", "sniff"]

_DELIMITERS: Final = (",", ";", "\t", "|")
_DELIMITER_NAMES: Final = {
    "comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " ",
}  # fmt: skip
_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL: Final = re.compile(r"[+-]?\d*([.,])\d+")


@dataclass(frozen=True)
class CsvFormat:
    r"""What is known about a CSV file beforehand; None where it is to be seen from the file.

    Parameters
    ----------
    delimiter : str, optional
        One character, or comma, semicolon, tab, bar or space.
    encoding : str, optional
        By default UTF-8, or UTF-16 if the file starts with its byte order mark.
    decimal : {".", ","}, optional
        What stands before the decimals of a number.
    missing : tuple of str
        Cells that are missing in columns of text, besides empty ones.

    Examples
    --------
    >>> CsvFormat(delimiter="tab").delimiter
    '\t'
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            named = _DELIMITER_NAMES.get(self.delimiter.lower(), self.delimiter)
            object.__setattr__(self, "delimiter", named)
            if len(named) != 1 or named in '"\r\n':
                raise InvalidArgumentError(
                    "delimiter must be one character, or comma, semicolon, tab, bar or space; "
                    f"got {self.delimiter!r}."
                )
        if self.decimal not in (None, ".", ","):
            raise InvalidArgumentError(f"decimal must be '.' or ','; got {self.decimal!r}.")
        if self.decimal == self.delimiter == ",":
            raise InvalidArgumentError(
                "decimal and delimiter must differ; got ',' for both. If numbers are in quotes, "
                "save the file with semicolons."
            )


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written.

    Parameters
    ----------
    delimiter, decimal : str
        One character each.
    header : tuple of str
        Names of the columns: of one without a name, its place, such as "column 1".
    nameless : tuple of str
        Those of the names that the file does not have.
    quoted_numbers : tuple of str
        Columns of numbers in quotes, where the file leaves other cells unquoted: they are text.
    decimal_seen : bool
        Whether the decimal mark was given or seen.
    is_bare : bool
        Whether there is no row below the header.

    Examples
    --------
    >>> sniff("size;n\n1,5;2\n", CsvFormat(), "data.csv").decimal
    ','
    """

    delimiter: str
    decimal: str
    header: tuple[str, ...]
    nameless: tuple[str, ...] = ()
    quoted_numbers: tuple[str, ...] = ()
    decimal_seen: bool = True
    is_bare: bool = False


def sniff(text: str, given: CsvFormat, name: str) -> Dialect:
    r"""See from the first rows how a file is written.

    The delimiter is the one of comma, semicolon, tab and bar that splits the header and divides the
    most rows into as many cells; where it is no comma and all decimals have commas, these are
    decimal points.

    Parameters
    ----------
    text : str
        The header and whole rows.
    given : CsvFormat
        What is known.
    name : str
        The file, for messages.

    Returns
    -------
    Dialect

    Raises
    ------
    InvalidArgumentError
        If two columns have the same name.

    Examples
    --------
    >>> sniff("a|b\n1|2\n", CsvFormat(), "data.csv").header
    ('a', 'b')
    """
    delimiter, rows = _divide(text, given.delimiter)
    width = len(rows[0])
    header, nameless = _names(rows[0], name)
    columns = list(zip(*(row for row in rows[1:] if len(row) == width), strict=True))
    marks = {
        found[1]
        for column in columns
        for cell in column
        if (found := _DECIMAL.fullmatch(cell.strip('"')))
    }
    decimal = given.decimal or ("," if delimiter != "," and marks == {","} else ".")
    texts = tuple(header[place] for place in _quoted_numbers(columns))
    seen = given.decimal is not None or bool(marks)
    return Dialect(delimiter, decimal, header, nameless, texts, seen, len(rows) == 1)


def _divide(text: str, given: str | None) -> tuple[str, list[list[str]]]:
    if given is not None:
        return given, _cells(text, given)
    best, delimiter, best_score = [[""]], _DELIMITERS[0], (-1.0, 0)
    for candidate in _DELIMITERS:
        rows = _cells(text, candidate)
        width = len(rows[0])
        alike = sum(len(row) == width for row in rows) / len(rows)
        score = (alike, width) if width > 1 else (0.0, 0)
        if score > best_score:
            best, best_score, delimiter = rows, score, candidate
    return delimiter, best


def _cells(text: str, delimiter: str) -> list[list[str]]:
    """Rows of cells with their quotes; blank lines are no rows."""
    part = re.escape(delimiter)
    cell = re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{part}\r\n]*)({part}|\r?\n|\r|\Z)')
    rest = re.compile(rf"([^{part}\r\n]*)({part}|\r?\n|\r|\Z)")
    rows: list[list[str]] = [[]]
    place = 0
    while place < len(text):
        found = cell.match(text, place)
        if found is None:  # text behind a closing quote: take the rest up to the delimiter
            found = rest.match(text, place)
            assert found is not None  # this pattern matches everywhere
        rows[-1].append(found[1])
        place = found.end()
        if found[2] != delimiter and place < len(text):
            rows.append([])
        elif found[2] == delimiter and place == len(text):
            rows[-1].append("")
    return [row for row in rows if row != [""]] or [[""]]


def _names(cells: list[str], file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    bare = [
        cell[1:-1].replace('""', '"') if cell[:1] == '"' == cell[-1:] else cell.strip()
        for cell in cells
    ]
    again = [name for name, count in Counter(bare).items() if count > 1 and name]
    if again:
        places = [str(place) for place, name in enumerate(bare, 1) if name == again[0]]
        raise InvalidArgumentError(
            f"columns of {file} must have different names; got {again[0]!r} for columns "
            f"{' and '.join(places)}. Rename or drop the duplicates in its first line."
        )
    nameless = {place: f"column {place + 1}" for place, name in enumerate(bare) if not name}
    names = tuple(nameless.get(place, name) for place, name in enumerate(bare))
    return names, tuple(nameless.values())


def _quoted_numbers(columns: list[tuple[str, ...]]) -> list[int]:
    """Places of columns of quoted numbers, where the file leaves other cells unquoted."""
    bodies = [[cell for cell in column if cell] for column in columns]
    if all(cell.startswith('"') for body in bodies for cell in body):
        return []
    return [
        place
        for place, body in enumerate(bodies)
        if body and all(cell[0] == '"' and _NUMBER.fullmatch(cell.strip('"')) for cell in body)
    ]

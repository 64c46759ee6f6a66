"""How a CSV file is written, seen from its first rows."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError

__all__ = ["CsvFormat", "Dialect", "doubts", "sniff"]


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


# What looks wrong in a table of text and may be meant otherwise.

_MARKS: Final = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
"""What programs write for a missing value."""

_LOOKED_AT: Final = 1 << 16
_MOSTLY: Final = 0.9
_MANY: Final = 20
"""Fewer different values may well be codes."""
_NUMBER_doubts: Final = {
    mark: rf"^[+-]?(\d+[{mark}]?\d*|[{mark}]\d+)([eE][+-]?\d+)?$" for mark in (".", ",")
}
"""By the decimal mark of the file."""


def doubts(
    table: Any,
    name: str,
    missing: Sequence[str],
    *,
    decimal: str = ".",
    missing_numbers: Sequence[str] = _MARKS,
) -> Iterator[str]:
    """Yield a sentence for each doubt: numbers that are text, marks that are categories.

    Parameters
    ----------
    table : pyarrow.Table
        As read, empty cells of text still being empty text.
    name : str
        The file.
    missing : sequence of str
        Cells of text columns that count as missing.
    decimal : {".", ","}
        What stands before the decimals of a number.
    missing_numbers : sequence of str
        Cells that count as missing in columns of numbers: they make no column text.

    Yields
    ------
    str

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"n": [str(i) for i in range(20)] + ["unknown"]})
    >>> next(doubts(table, "data.csv", [""])).split(";")[0]
    "column 'n' of data.csv is text, because 'unknown' is no number"
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [
        n for n, t in zip(table.column_names, table.schema.types, strict=True) if t == "string"
    ]
    marked: dict[str, list[str]] = {}
    gone = pa.array([*missing, *missing_numbers, ""], pa.string())
    marks = pa.array([mark for mark in _MARKS if mark not in missing], pa.string())
    for column in texts:
        odd = _odd_one(table[column], gone, _NUMBER_doubts[decimal])
        if odd is not None:
            yield (
                f"column {column!r} of {name} is text, because {odd!r} is no number; if that "
                f"means missing: --missing {odd!r}"
            )
            continue
        different = pc.unique(table[column])
        for mark in different.filter(pc.is_in(different, value_set=marks)).to_pylist():
            marked.setdefault(mark, []).append(column)
    for mark, columns in marked.items():
        shown = ", ".join(map(repr, columns[:3])) + (", ..." if len(columns) > 3 else "")
        several = "s" if len(columns) > 1 else ""
        yield (
            f"{mark!r} is a category like others in column{several} {shown} of {name}; if it means "
            f"missing: --missing {mark!r}"
        )


def _odd_one(values: Any, gone: Any, number: str) -> str | None:
    """Find the first cell that is no number, in a column whose first cells mostly are."""
    import pyarrow.compute as pc

    first = _known(values.slice(0, _LOOKED_AT), gone)
    share = pc.mean(pc.match_substring_regex(first, number)).as_py() if len(first) else None
    if share is None or share < _MOSTLY or pc.count_distinct(first).as_py() < _MANY:
        return None
    known = _known(values, gone)
    place = pc.index(pc.match_substring_regex(known, number), False).as_py()
    if place < 0:  # all are numbers: the column is text because it is quoted, or asked to be
        return None
    odd: str = known[place].as_py()
    return odd if len(odd) <= 40 else odd[:39] + "…"


def _known(values: Any, gone: Any) -> Any:
    import pyarrow.compute as pc

    return values.filter(pc.invert(pc.is_in(values, value_set=gone)))

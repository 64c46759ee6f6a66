r"""ARFF files, the format of Weka and of many public tables, as Arrow tables.

An ARFF file declares its columns, then has comma-separated rows. Nominal columns become Arrow
dictionaries, so that categories that look like numbers stay categories.

    @relation weather
    @attribute outlook {sunny, 'over cast'}
    @attribute temperature numeric
    @data
    sunny, 85
    'over cast', ?
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError

_QUOTED: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
# Spaces around a value are not part of the patterns: they would be tried in every way.
_CELL: Final = re.compile(rf"\s*(?:({_QUOTED})\s*(,|$)|([^,]*)(,|$))")
_ATTRIBUTE: Final = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
_LINE: Final = re.compile(r"([^\r\n]*)(?:\r\n?|\n|$)")
_ESCAPE: Final = re.compile(r"\\(.)")
_NUMBERS: Final = ("numeric", "real", "integer")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_BLOCK_CELLS: Final = 1 << 20
"""So many cells are text at a time, which needs more memory than numbers and codes."""


@dataclass(frozen=True)
class _Attribute:
    """A column: its name, its kind and, if it is nominal, its categories."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()


def is_arff(head: bytes) -> bool:
    """Return whether a file begins as ARFF: with comments, then @relation or @attribute."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        start = line.strip().lower()
        if start and not start.startswith(b"%"):
            return start.startswith((b"@relation", b"@attribute"))
    return False


def read_arff(text: str, file_name: str) -> Any:
    r"""Return the rows of an ARFF file as an Arrow table.

    Numbers become float64, nominal values dictionaries, other values text. The error of a line that
    is not ARFF has its number.

    Examples
    --------
    >>> lines = ["@relation r", "@attribute kind {a, 'b c'}", "@attribute n real", "@data"]
    >>> read_arff("\n".join([*lines, "'b c', 2.5", "?, 3"]), "r.arff").to_pydict()
    {'kind': ['b c', None], 'n': [2.5, 3.0]}
    """
    import pyarrow as pa

    lines = ((n, found[1]) for n, found in enumerate(_LINE.finditer(text), start=1))
    attributes = _header(lines, file_name)
    rows: list[list[str | None]] = []
    blocks: list[list[Any]] = [[] for _ in attributes]

    def convert() -> None:
        for column, (block, attribute) in enumerate(zip(blocks, attributes, strict=True)):
            block.append(_array(attribute, [row[column] for row in rows], file_name))
        rows.clear()

    for number, line in lines:
        start = line.lstrip()
        if not start or start.startswith("%"):
            continue
        cells = _cells(line)
        if start[0] == "{":
            raise InvalidArgumentError(
                f"line {number} of {file_name} must have all of its values; got a sparse row. "
                "Convert the file, for example with Weka's filter SparseToNonSparse."
            )
        if len(cells) != len(attributes):
            raise InvalidArgumentError(
                f"line {number} of {file_name} must have {len(attributes)} values, one per "
                f"@attribute; got {len(cells)} values. Correct the line."
            )
        rows.append(cells)
        if len(rows) * len(attributes) >= _BLOCK_CELLS:
            convert()
    convert()
    columns = [pa.chunked_array(block) for block in blocks]
    for index, attribute in enumerate(attributes):
        if attribute.kind == "date":
            with suppress(pa.ArrowInvalid):  # one is not written as a date: all stay text
                columns[index] = columns[index].cast(pa.timestamp("s"))
    return pa.Table.from_arrays(columns, names=[attribute.name for attribute in attributes])


def _header(lines: Iterator[tuple[int, str]], file_name: str) -> list[_Attribute]:
    """Return the columns, and take the lines up to the first one of data."""
    attributes: list[_Attribute] = []
    for number, raw in lines:
        line = raw.strip()
        word = line.lower().partition(" ")[0].partition("\t")[0]
        if word == "@data":
            return attributes
        if word == "@attribute":
            attributes.append(_attribute(line, number, file_name))
        elif line and word != "@relation" and not line.startswith("%"):
            raise InvalidArgumentError(
                f"line {number} of {file_name} must be @relation, @attribute, @data or a "
                f"comment; got {line[:80]!r}. Correct the line."
            )
    raise InvalidArgumentError(f"{file_name} must have a line @data before its rows; got none.")


def _attribute(line: str, number: int, file_name: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is not None:
        name, kind = _plain(match[1]), match[2].strip()
        if kind.startswith("{") and kind.endswith("}"):
            categories = _cells(kind[1:-1])
            return _Attribute(
                name, "nominal", tuple("?" if each is None else each for each in categories)
            )
        word = kind.split()[0].lower()
        if word in _NUMBERS or word in ("string", "date"):
            return _Attribute(name, "numeric" if word in _NUMBERS else word)
    raise InvalidArgumentError(
        f"line {number} of {file_name} must be @attribute, a name and a type (numeric, real, "
        f"integer, string, date or {{a, b}}); got {line[:80]!r}. Correct the line."
    )


def _cells(line: str) -> list[str | None]:
    """Return the values of a line as text; None for a question mark, a missing value."""
    cells: list[str | None] = []
    position, is_last = 0, False
    while not is_last:
        match = _CELL.match(line, position)
        assert match is not None, "anything up to the next comma is a value"
        text = match[3].strip() if match[1] is None else match[1]
        cells.append(None if text == "?" else _plain(text))
        position, is_last = match.end(), not (match[2] or match[4])
    return cells


def _plain(cell: str) -> str:
    """Return a value without its quotes and escapes."""
    if len(cell) < 2 or cell[0] not in "'\"" or cell[-1] != cell[0]:
        return cell
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), cell[1:-1])


def _array(attribute: _Attribute, values: list[str | None], file_name: str) -> Any:
    import pyarrow as pa

    if attribute.kind == "numeric":
        try:
            return pa.array([None if v is None else _number(v) for v in values], pa.float64())
        except ValueError as error:
            raise InvalidArgumentError(
                f"column {attribute.name!r} of {file_name} must hold numbers, as its @attribute "
                f"says; got other text ({str(error)[:80]}). Correct it, or declare it as string."
            ) from None
    if attribute.kind != "nominal":
        return pa.array(values, pa.string())
    code_of = {category: code for code, category in enumerate(attribute.categories)}
    unknown = next((v for v in values if v is not None and v not in code_of), None)
    if unknown is not None:
        raise InvalidArgumentError(
            f"column {attribute.name!r} of {file_name} must hold values that its @attribute "
            f"lists; got {unknown[:80]!r}. Add it to the list, or correct it."
        )
    codes = pa.array([None if v is None else code_of[v] for v in values], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(attribute.categories, pa.string()))


def _number(text: str) -> float:
    if "_" in text:  # Python reads 1_000 as a number
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)

"""What looks wrong in a table of text and may be meant otherwise."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

__all__ = ["doubts"]

_MARKS: Final = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")
"""What programs write for a missing value."""

_LOOKED_AT: Final = 1 << 16
_MOSTLY: Final = 0.9
_MANY: Final = 20
"""Fewer different values may well be codes."""
_NUMBER: Final = {
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
        odd = _odd_one(table[column], gone, _NUMBER[decimal])
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

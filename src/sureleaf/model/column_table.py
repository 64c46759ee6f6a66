"""Results whose attributes are columns: they print as a table and turn into data frames."""

import math
from collections.abc import Mapping
from dataclasses import fields
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import optional_library

_SHOWN = 40
_LONGEST = 64


class ColumnTable:
    """Base of frozen dataclasses whose array fields are columns, all of one length."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def notes(self) -> list[str]:
        """Lines below the table."""
        return []

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def _plain(self) -> dict[str, list[Any]]:
        return {name: value.tolist() for name, value in self.columns().items()}

    def records(self) -> list[dict[str, Any]]:
        """Return one dict per row, with values that JSON can hold."""
        columns = {name: values.tolist() for name, values in self.columns().items()}
        return [
            {name: json_value(values[row]) for name, values in columns.items()}
            for row in range(len(self))
        ]

    def to_pandas(self) -> Any:
        """Return a pandas data frame; a column of several numbers per row holds lists."""
        return optional_library("pandas").DataFrame(self._plain())

    def to_polars(self) -> Any:
        """Return a polars data frame; what is not a number is null."""
        plain = {
            name: [None if value != value else value for value in values]
            for name, values in self._plain().items()
        }
        return optional_library("polars").DataFrame(plain, strict=False)

    def _cells(self) -> list[list[str]]:
        columns = self.columns()
        lines = [list(columns)]
        lines += [
            [_cell(value[i]) for value in columns.values()] for i in range(len(self))[:_SHOWN]
        ]
        return lines

    def _more(self) -> list[str]:
        hidden = len(self) - _SHOWN
        return ([f"... {hidden} more"] if hidden > 0 else []) + self.notes()

    def __repr__(self) -> str:
        lines = [[end_of(cell) for cell in line] for line in self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*padded, *self._more()])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._more())
        return f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def end_of(text: str, longest: int = _LONGEST) -> str:
    """Shorten a long rule at its beginning, between two tests: its end distinguishes leaves.

    Examples
    --------
    >>> end_of("size > 3 and colour = red and age <= 40", 30)
    '… colour = red and age <= 40'
    """
    if len(text) <= longest:
        return text
    width = longest - len("… ")
    whole = text[-width - len(" and ") :].partition(" and ")[2]
    return f"… {whole or text[-width:]}"


def json_value(value: Any) -> Any:
    """Return a value that JSON can hold; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {name: json_value(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [json_value(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> str:
    if isinstance(value, np.ndarray | list):
        return "/".join(_cell(item) for item in value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            return "-" if np.isnan(value) else f"{value:g}"
        return (
            f"{value:.0f}" if value == round(value) and abs(float(value)) < 1e15 else f"{value:.3f}"
        )
    return str(value)

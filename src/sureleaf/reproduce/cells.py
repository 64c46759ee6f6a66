"""Compare the figures that a document prints with the same figures recomputed.

A printed figure gets one of three verdicts.

- It *agrees* when the document's own definition gives it: the computed value rounds to it. For a
  figure that the document simulated, the computed value may be `STANDARD_ERRORS` standard errors
  and one unit of the last decimal away.
- It comes from an *other computation* when another formula gives it, or the same formula
  truncated instead of rounded.
- Otherwise it is a *misprint*.

Every recomputed value also has a `Basis`. It is computed either by a function of this library,
and then the comparison tests the library, or by arithmetic that repeats the document, and then
the comparison tests the document only. The two groups are counted separately.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError

STANDARD_ERRORS = 4.0
"""Allowed deviation of a simulated figure; by chance it is exceeded in one of 16,000 cells."""

TRUNCATED = "truncated instead of rounded"

# Computed values are exact to about 1e-9. A value halfway between two decimals may therefore be
# rounded either way.
_TOLERANCE = 1e-9


class CellVerdict(StrEnum):
    """How a printed figure compares with the recomputed one."""

    AGREES = "agrees"
    OTHER = "other computation"
    MISPRINT = "misprint"


class Basis(StrEnum):
    """Who computed a value: a function of this library, or arithmetic that repeats the document."""

    LIBRARY = "library"
    ARITHMETIC = "arithmetic"


@cache
def read_printed(package: str, name: str) -> Any:
    """Return the figures that a document prints, from the JSON file beside its module."""
    return json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))


Counts = dict[CellVerdict, int]
Scalar = float | NDArray[np.float64]
"""A number, or an array that holds one: functions of arrays may return either."""


@dataclass(frozen=True)
class Computed:
    """A recomputed value."""

    value: float
    basis: Basis  # who computed it
    # Exact standard error of the document's simulation, if the printed figure was simulated.
    standard_error: float | None = None

    def explains(self, printed: float, decimals: int) -> bool:
        """Return whether the printed figure follows from this value."""
        unit, error = 10.0**-decimals, self.standard_error
        margin = unit / 2 if error is None else STANDARD_ERRORS * error + unit
        return abs(printed - self.value) <= margin + _TOLERANCE

    def explains_truncated(self, printed: float, decimals: int) -> bool:
        """Return whether the printed figure is this value truncated instead of rounded."""
        if self.standard_error is not None:
            return False
        unit = 10.0**-decimals
        return abs(printed - math.floor(self.value / unit + _TOLERANCE) * unit) <= _TOLERANCE


def by_library(value: Scalar, standard_error: float | None = None) -> Computed:
    """Mark a value as the result of a function of this library."""
    return Computed(float(value), Basis.LIBRARY, standard_error)


def by_arithmetic(value: Scalar, standard_error: float | None = None) -> Computed:
    """Mark a value as the result of arithmetic that repeats the document."""
    return Computed(float(value), Basis.ARITHMETIC, standard_error)


@dataclass(frozen=True)
class PrintedCell:
    """One printed figure beside its recomputed value."""

    row: str
    column: str
    printed: float  # the figure as printed
    decimals: int  # number of printed decimals; -1 means rounded to tens
    defined: Computed  # the value that the document's own definition gives
    other: Computed | None  # the value of the other computation, if there is one
    verdict: CellVerdict  # how the figure compares
    note: str = ""  # an explanation, if one is known

    @property
    def basis(self) -> Basis:
        """Who computed the value that the figure is compared with first."""
        return self.defined.basis

    def format(self, value: float) -> str:
        """Format a value with the decimals of this cell and without a leading zero."""
        decimals = max(0, self.decimals)
        text = f"{round(value, self.decimals) + 0.0:.{decimals}f}"  # + 0.0 turns -0 into 0
        return text.replace("0.", ".", 1) if abs(value) < 1 and self.decimals else text

    def expected(self) -> Computed:
        """Return the value that the document should have printed, by its own computation."""
        return self.defined if self.other is None else self.other

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain values for JSON."""
        return {
            "row": self.row,
            "column": self.column,
            "printed": self.printed,
            "decimals": self.decimals,
            "defined": self.defined.value,
            "other": None if self.other is None else self.other.value,
            "standard_error": self.defined.standard_error,
            "basis": str(self.basis),
            "verdict": str(self.verdict),
            "note": self.note,
        }

    def __repr__(self) -> str:
        return (
            f"PrintedCell({self.row}, {self.column}: printed {self.format(self.printed)}, defined "
            f"{self.format(self.defined.value)}, {self.verdict}"
            f"{', ' if self.note else ''}{self.note})"
        )


def check_cell(
    row: str,
    column: str,
    printed: float,
    decimals: int,
    defined: Computed,
    other: Computed | None = None,
    *,
    note: str = "",
) -> PrintedCell:
    """Compare a printed figure with its recomputed values.

    The note is kept only if the figure does not agree.

    Examples
    --------
    >>> check_cell("n = 5", "(.6, .6)", 0.5358, 4, by_library(0.6063), by_arithmetic(0.5358))
    PrintedCell(n = 5, (.6, .6): printed .5358, defined .6063, other computation)
    """
    cell = PrintedCell(row, column, printed, decimals, defined, other, CellVerdict.AGREES)
    if defined.explains(printed, decimals):
        return cell
    if other is not None and other.explains(printed, decimals):
        return replace(cell, verdict=CellVerdict.OTHER, note=note)
    candidates = (defined,) if other is None else (defined, other)
    if any(computed.explains_truncated(printed, decimals) for computed in candidates):
        return replace(cell, verdict=CellVerdict.OTHER, note=TRUNCATED)
    return replace(cell, verdict=CellVerdict.MISPRINT, note=note)


class _Counted:
    """Counts of cells by verdict, of a part or of a document."""

    cells: Any  # the cells that are counted

    @property
    def counts(self) -> Counts:
        """Number of cells by verdict."""
        return self.counts_of(*Basis)

    def counts_of(self, *bases: Basis) -> Counts:
        """Return the number of cells with one of these bases, by verdict."""
        verdicts = [cell.verdict for cell in self.cells if cell.basis in bases]
        return {verdict: verdicts.count(verdict) for verdict in CellVerdict}

    def _counts_record(self) -> dict[str, Any]:
        by_basis = {str(basis): self.counts_of(basis) for basis in Basis}
        return {"counts": self.counts, "counts_by_basis": by_basis}

    def _counts_text(self) -> str:
        return ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())


@dataclass(frozen=True)
class Part(_Counted):
    """A table, example or passage of a document, compared cell by cell."""

    name: str  # such as ``"table 3"``
    title: str  # what its figures are
    definition: str  # how the document defines them
    # How the document seems to have computed them instead; empty if there is no other way.
    other_computation: str
    cells: tuple[PrintedCell, ...]  # row by row; empty for a part without figures to recompute

    def of(self, verdict: CellVerdict) -> list[PrintedCell]:
        """Return the cells with this verdict."""
        return [cell for cell in self.cells if cell.verdict is verdict]

    def with_exchanges_noted(self) -> "Part":
        """Return the part with a note on each misprint that fits the position of another one."""
        misprints = self.of(CellVerdict.MISPRINT)

        def noted(cell: PrintedCell) -> PrintedCell:
            for other in misprints if cell in misprints else ():
                if other is not cell and other.expected().explains(cell.printed, cell.decimals):
                    return replace(cell, note=f"fits {other.row}, {other.column}")
            return cell

        return replace(self, cells=tuple(map(noted, self.cells)))

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "definition": self.definition,
            "other_computation": self.other_computation,
            **self._counts_record(),
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def __repr__(self) -> str:
        return f"Part({self.name!r}: {len(self.cells)} cells, {self._counts_text()})"


@dataclass(frozen=True)
class Reproduction(_Counted):
    """A recomputed document."""

    document: str  # its short name
    source: str  # its full citation
    parts: tuple[Part, ...]  # in the order of the document

    @property
    def cells(self) -> list[PrintedCell]:
        """The cells of all parts."""
        return [cell for part in self.parts for cell in part.cells]

    def part(self, name: str) -> Part:
        """Return the part with this name."""
        for part in self.parts:
            if part.name.casefold() == name.casefold():
                return part
        first, last = self.parts[0].name, self.parts[-1].name
        raise InvalidArgumentError(
            f"part must be a part of {self.document}, {first} to {last}; got {name!r}. "
            f"List them with: sureleaf reproduce {self.document}"
        )

    def only(self, names: Iterable[str]) -> "Reproduction":
        """Return the reproduction with these parts only, in the order given."""
        return replace(self, parts=tuple(self.part(name) for name in names))

    def to_dict(self) -> dict[str, Any]:
        """Return the reproduction as plain values for JSON."""
        return {
            "document": self.document,
            "source": self.source,
            **self._counts_record(),
            "parts": [part.to_dict() for part in self.parts],
        }

    def __repr__(self) -> str:
        return f"Reproduction({self.document!r}: {len(self.parts)} parts, {self._counts_text()})"

"""Whether a printed figure follows from its definition, another computation, or neither.

A figure that was **computed** agrees when the definition's value rounds to it. A figure that
was **simulated** agrees when it is within `STANDARD_ERRORS` exact standard errors of the
definition's value, plus one unit of its last decimal place (some documents cut off, others
round). What does not agree is tried against the other computation that the document seems to
have used, then against cutting off instead of rounding; what fits nothing is a misprint.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sureleaf.errors import InvalidArgumentError

__all__ = ["STANDARD_ERRORS", "Cell", "Computed", "Part", "Reproduction", "Verdict", "judge"]


STANDARD_ERRORS = 4.0
"""How far a simulated figure may be off; beyond this by chance once in 16,000 cells."""

CUT_OFF = "cut off instead of rounded"

_ARITHMETIC = (
    1e-9  # floats are that exact here; a value halfway between two decimals may go to either
)


class Verdict(StrEnum):
    """What became of a printed figure.

    Examples
    --------
    >>> [str(verdict) for verdict in Verdict]
    ['agrees', 'other computation', 'misprint']
    """

    AGREES = "agrees"
    OTHER = "other computation"
    MISPRINT = "misprint"


@dataclass(frozen=True)
class Computed:
    """A recomputed value; with a standard error if the printed figure was simulated.

    Parameters
    ----------
    value : float
        The exact value.
    standard_error : float, optional
        Exact standard error of the simulation that the document ran.

    Examples
    --------
    >>> Computed(0.5467).explains(0.55, decimals=2), Computed(0.5467).explains(0.54, decimals=2)
    (True, False)
    """

    value: float
    standard_error: float | None = None

    def explains(self, printed: float, decimals: int) -> bool:
        """Tell whether the figure could have come from this value."""
        unit = 10.0**-decimals
        if self.standard_error is None:
            margin = unit / 2
        else:
            margin = STANDARD_ERRORS * self.standard_error + unit
        return abs(printed - self.value) <= margin + _ARITHMETIC

    def cut_off_explains(self, printed: float, decimals: int) -> bool:
        """Tell whether the figure is this value without its further decimals."""
        if self.standard_error is not None:
            return False
        unit = 10.0**-decimals
        return abs(printed - math.floor(self.value / unit + _ARITHMETIC) * unit) <= _ARITHMETIC


@dataclass(frozen=True)
class Cell:
    """One printed figure and what was recomputed in its place.

    Parameters
    ----------
    row, column : str
        Where it stands.
    printed : float
        The figure, with so many ``decimals``.
    defined : Computed
        What the document's own definition gives.
    other : Computed or None
        What the other computation gives, where there is one.
    verdict : Verdict
        What became of the figure.
    note : str
        What else is known about it.

    Examples
    --------
    >>> judge("n = 9", ".60", 0.54, 2, Computed(0.5467))
    Cell(n = 9, .60: printed .54, defined .55, other computation, cut off instead of rounded)
    """

    row: str
    column: str
    printed: float
    decimals: int
    defined: Computed
    other: Computed | None
    verdict: Verdict
    note: str = ""

    def shown(self, value: float) -> str:
        """Return a value with the decimals of this cell, without a leading zero."""
        decimals = max(0, self.decimals)  # below 0: rounded to tens
        text = f"{round(value, self.decimals) + 0.0:.{decimals}f}"  # + 0.0 turns -0 into 0
        return text.replace("0.", ".", 1) if abs(value) < 1 and self.decimals else text

    def expected(self) -> Computed:
        """Return what should have been printed: by the document's own way of computing."""
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
            "verdict": str(self.verdict),
            "note": self.note,
        }

    def __repr__(self) -> str:
        parts = [
            f"{self.row}, {self.column}: printed {self.shown(self.printed)}",
            f"defined {self.shown(self.defined.value)}",
            str(self.verdict),
        ]
        return f"Cell({', '.join([*parts, self.note] if self.note else parts)})"


def judge(
    row: str,
    column: str,
    printed: float,
    decimals: int,
    defined: Computed,
    other: Computed | None = None,
    *,
    note: str = "",
) -> Cell:
    """Return the cell with its verdict.

    Parameters
    ----------
    row, column, printed, decimals, defined, other
        As in `Cell`.
    note : str
        What is known about the cell if it turns out not to agree.

    Examples
    --------
    >>> judge("n = 5", "(.6, .6)", 0.5358, 4, Computed(0.6063), Computed(0.5358)).verdict
    <Verdict.OTHER: 'other computation'>
    """
    cell = Cell(row, column, printed, decimals, defined, other, Verdict.AGREES)
    if defined.explains(printed, decimals):
        return cell
    if other is not None and other.explains(printed, decimals):
        return replace(cell, verdict=Verdict.OTHER, note=note)
    candidates = (defined,) if other is None else (defined, other)
    if any(computed.cut_off_explains(printed, decimals) for computed in candidates):
        return replace(cell, verdict=Verdict.OTHER, note=CUT_OFF)
    return replace(cell, verdict=Verdict.MISPRINT, note=note)


@dataclass(frozen=True)
class Part:
    """A table, example or passage of a document, judged cell by cell.

    Parameters
    ----------
    name : str
        Such as ``"table 3"``.
    title : str
        What its figures are.
    definition : str
        How the document defines them.
    other_computation : str
        How it seems to have computed them instead; empty if there is no need for that.
    cells : tuple of Cell
        Row by row; empty for a part without figures to recompute.

    Examples
    --------
    >>> cell = judge("n = 1", ".60", 0.60, 2, Computed(0.6))
    >>> Part("table 1", "confidence", "(5)", "", (cell,))
    Part('table 1': 1 cells, 1 agrees, 0 other computation, 0 misprint)
    """

    name: str
    title: str
    definition: str
    other_computation: str
    cells: tuple[Cell, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of cells by verdict."""
        return {v: sum(cell.verdict is v for cell in self.cells) for v in Verdict}

    def of(self, verdict: Verdict) -> list[Cell]:
        """Return the cells with this verdict."""
        return [cell for cell in self.cells if cell.verdict is verdict]

    def with_exchanges_noted(self) -> "Part":
        """Return the part with a note on each misprint that fits another misprint's place."""
        misprints = self.of(Verdict.MISPRINT)

        def noted(cell: Cell) -> Cell:
            for place in misprints:
                fits = place.expected().explains(cell.printed, cell.decimals)
                if cell in misprints and place is not cell and fits:
                    return replace(cell, note=f"fits {place.row}, {place.column}")
            return cell

        return replace(self, cells=tuple(noted(cell) for cell in self.cells))

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "definition": self.definition,
            "other_computation": self.other_computation,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        return f"Part({self.name!r}: {len(self.cells)} cells, {counts})"


@dataclass(frozen=True)
class Reproduction:
    """A document recomputed.

    Parameters
    ----------
    document, source : str
        Its short name and its citation.
    parts : tuple of Part
        In the order of the document.

    Examples
    --------
    >>> Reproduction("zhang2024", "Zhang 2024", ()).counts[Verdict.MISPRINT]
    0
    """

    document: str
    source: str
    parts: tuple[Part, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of cells by verdict, over all parts."""
        return {v: sum(part.counts[v] for part in self.parts) for v in Verdict}

    def part(self, name: str) -> Part:
        """Return the part of that name, or raise an error."""
        for part in self.parts:
            if part.name == name:
                return part
        first, last = self.parts[0].name, self.parts[-1].name
        raise InvalidArgumentError(
            f"{self.document} has no {name}; its parts go from {first} to {last}."
        )

    def only(self, names: Iterable[str]) -> "Reproduction":
        """Return the reproduction with these parts only, in the order given."""
        return replace(self, parts=tuple(self.part(name) for name in names))

    def to_dict(self) -> dict[str, Any]:
        """Return the reproduction as plain values for JSON."""
        return {
            "document": self.document,
            "source": self.source,
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "parts": [part.to_dict() for part in self.parts],
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        return f"Reproduction({self.document!r}: {len(self.parts)} parts, {counts})"

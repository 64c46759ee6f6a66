"""One simulated or exact rate, its nominal level, and the document of all of them.

A row is sorted by rules that are the same for all rows:

- *at the nominal level*: coverage and power are not below, false positives not above the nominal
  level, by more than `SIMULATION_ERRORS` simulation errors;
- *within a stated deviation*: the same with a deviation that was derived for the method, never
  fitted to the result;
- *misses its level*: everything else. Such a row is shown as a warning with the size of the miss.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

__all__ = [
    "LEVEL",
    "Deviation",
    "Promise",
    "Section",
    "Status",
    "coverage",
    "document",
    "false_positives",
    "lattice",
    "load",
    "power",
    "save",
    "share_error",
    "shown",
    "tables",
]

LEVEL = 0.95

SIMULATION_ERRORS = 4
"""With this many, the chance that any of 430 valid rows is called a miss is below 2 %."""

_PRECISION = 0.05
"""Where so many simulation errors are more than this, a miss within them proves nothing."""

_EXACT_ROUNDING = 1e-6
"""Exact sums leave out outcomes of smaller total probability."""

_DENSITY = math.exp(-(1.959964**2) / 2) / math.sqrt(2 * math.pi)


class Status(Enum):
    AT_LEVEL = "at the nominal level"
    WITHIN_DEVIATION = "within the stated deviation"
    TOO_FEW = "too few runs to tell"
    MISSES = "**misses its level**"
    NOT_COUNTED = "-"


@dataclass(frozen=True)
class Deviation:
    """How far a method may be from its level, and where that figure is derived."""

    size: float
    derivation: str


def lattice(standard_deviation: float, *, smallest_count: float, ends: int = 2) -> Deviation | None:
    """Return the deviation that comes from counting whole rows; None for very few rows.

    ``standard_deviation`` is that of the statistic, in steps of its lattice. The first term of
    Esseen's expansion for lattice distributions is at most half a step times the normal density,
    for each end of the interval. It is not used below 5 expected rows of one kind, where the
    normal approximation that it corrects does not hold.
    """
    if round(smallest_count, 9) < 5:
        return None
    return Deviation(ends * _DENSITY / (2 * standard_deviation), "whole counts (Esseen 1945)")


@dataclass(frozen=True)
class Promise:
    """A coverage, a false-positive rate or a power, beside its nominal level.

    ``runs`` is 0 for an exact sum. ``warning`` says why a method is known to miss its level here;
    it does not change how the row is sorted. ``default`` marks methods that are used unless the
    caller asks for another one.
    """

    what: str
    setting: str
    nominal: float
    found: float
    runs: int
    at_least: bool = True
    deviation: Deviation | None = None
    warning: str = ""
    default: bool = False

    @property
    def simulation_error(self) -> float:
        """Standard error of the share if the nominal level is true."""
        return math.sqrt(self.nominal * (1 - self.nominal) / self.runs) if self.runs else 0.0

    @property
    def miss(self) -> float:
        """How far the share is on the wrong side of the nominal level; 0 or less if it is not."""
        return self.nominal - self.found if self.at_least else self.found - self.nominal

    @property
    def status(self) -> Status:
        if math.isnan(self.nominal):
            return Status.NOT_COUNTED
        unexplained = self.miss - SIMULATION_ERRORS * self.simulation_error - _EXACT_ROUNDING
        if unexplained <= 0:
            allowed = 0.0 if self.deviation is None else self.deviation.size
            is_vague = SIMULATION_ERRORS * self.simulation_error > _PRECISION
            return Status.TOO_FEW if is_vague and self.miss > allowed else Status.AT_LEVEL
        if self.deviation is not None and unexplained <= self.deviation.size:
            return Status.WITHIN_DEVIATION
        return Status.MISSES

    @property
    def is_known(self) -> bool:
        """Whether the row meets its level or deviation, or its miss is explained."""
        return self.status is not Status.MISSES or bool(self.warning)


def coverage(what: str, setting: str, found: float, runs: int = 0, **options: Any) -> Promise:
    """An interval at .95: it holds the truth in at least that share of the samples."""
    return Promise(what, setting, LEVEL, found, runs, **options)


def false_positives(
    what: str, setting: str, found: float, runs: int = 0, *, nominal: float = 0.05, **options: Any
) -> Promise:
    """A test: it rejects a true hypothesis in at most the nominal share of the samples."""
    return Promise(what, setting, nominal, found, runs, at_least=False, **options)


def power(what: str, setting: str, nominal: float, found: float, runs: int) -> Promise:
    """The power that the rows were planned for, or more."""
    return Promise(what, setting, nominal, found, runs)


def shown(what: str, setting: str, found: float, runs: int) -> Promise:
    """A figure to compare methods by, for which nothing is promised."""
    return Promise(what, setting, math.nan, found, runs)


def share_error(share: float, runs: int) -> float:
    """Standard error of a share of simulated runs; never 0, for a share of 0 or 1 is no proof."""
    padded = (share * runs + 1) / (runs + 2)
    return math.sqrt(padded * (1 - padded) / runs)


@dataclass(frozen=True)
class Section:
    """The rows under one title, and the day on which they were computed."""

    day: str
    rows: tuple[Promise, ...]


def save(sections: Mapping[str, Section], path: Path) -> None:
    """Store sections as JSON, one row per line."""
    lines = []
    for title, section in sections.items():
        rows = ",\n".join(f"    {json.dumps(asdict(row))}" for row in section.rows)
        lines.append(f'  {json.dumps(title)}: {{"day": "{section.day}", "rows": [\n{rows}\n  ]}}')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load(path: Path) -> dict[str, Section]:
    """Read what `save` has stored."""
    return {
        title: Section(section["day"], tuple(_promise(row) for row in section["rows"]))
        for title, section in json.loads(path.read_text(encoding="utf-8")).items()
    }


def _promise(row: dict[str, Any]) -> Promise:
    stated = row.pop("deviation")
    return Promise(**row, deviation=Deviation(**stated) if stated else None)


def document(opening: str, sections: Mapping[str, Section]) -> str:
    """The whole document: the four counts, the misses, and all tables."""
    rows = [row for section in sections.values() for row in section.rows]
    of = {status: [row for row in rows if row.status is status] for status in Status}
    text = opening.format(
        at_level=len(of[Status.AT_LEVEL]),
        within=len(of[Status.WITHIN_DEVIATION]),
        too_few=len(of[Status.TOO_FEW]),
        misses=len(of[Status.MISSES]),
    )
    text += _misses(of[Status.MISSES])
    for title, section in sections.items():
        text += f"\n## {title}\n\nComputed on {section.day}.\n{tables(section.rows)}\n"
    return text


def _misses(rows: list[Promise]) -> str:
    lines = [
        "\n## Methods that miss their level\n",
        "| method | setting | nominal | found | miss | used by default | reason |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.what} | {row.setting} | {row.nominal:.3g} | {_found(row)} | {row.miss:.4f} "
        f"| {'**yes**' if row.default else 'no'} | {row.warning or 'unknown'} |"
        for row in sorted(rows, key=lambda row: (not row.default, row.what, -row.miss))
    ]
    return "\n".join(lines) + "\n"


def tables(promises: Iterable[Promise]) -> str:
    """The rows as tables, one for each method."""
    methods: dict[str, list[Promise]] = {}
    for row in promises:
        methods.setdefault(row.what, []).append(row)
    return "\n".join(_table(what, rows) for what, rows in methods.items())


def _table(what: str, rows: list[Promise]) -> str:
    default = " (used by default)" if rows[0].default else ""
    lines = [
        f"\n### {what[0].upper()}{what[1:]}{default}\n",
        "| setting | nominal | found | stated deviation | result |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        nominal = "-" if math.isnan(row.nominal) else f"{row.nominal:.3g}"
        stated = row.deviation
        deviation = f"{stated.size:.4f}, {stated.derivation}" if stated else ""
        result = row.status.value
        if row.status is Status.MISSES:
            result += f" by {row.miss:.4f}"
        lines.append(f"| {row.setting} | {nominal} | {_found(row)} | {deviation} | {result} |")
    return "\n".join(lines)


def _found(row: Promise) -> str:
    error = "exact" if row.runs == 0 else f"± {share_error(row.found, row.runs):.4f}"
    return f"{row.found:.4f} {error}"

"""One simulated or exact rate, its nominal level, and the record and page of all of them.

A row is sorted by rules that are the same for all rows:

- *at the nominal level*: coverage and power are not below, false positives not above the nominal
  level, by more than `SIMULATION_ERRORS` simulation errors;
- *within a stated deviation*: the same with a deviation that was derived for the method, never
  fitted to the result;
- *misses its level*: everything else. Such a row is shown as a warning with the size of the miss.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import evidence

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


def save(sections: Mapping[str, Section], path: Path = evidence.RECORD) -> None:
    """Store sections in the record: one entry per method, one line per row."""
    stored = {}
    for title, section in sections.items():
        grouped = groupby(section.rows, key=lambda row: {f: getattr(row, f) for f in _SHARED})
        methods = [
            {name: _plain(value) for name, value in shared.items()}
            | {"rows": [[_plain(getattr(row, f)) for f in _OWN] for row in rows]}
            for shared, rows in grouped
        ]
        stored[title] = {"day": section.day, "methods": methods}
    evidence.write_part("promises", stored, path)


def load(path: Path = evidence.RECORD) -> dict[str, Section]:
    """Read what `save` has stored."""
    stored = evidence.read_part("promises", path) or {}
    return {
        title: Section(
            section["day"],
            tuple(
                _promise(
                    {name: method[name] for name in _SHARED} | dict(zip(_OWN, row, strict=True))
                )
                for method in section["methods"]
                for row in method["rows"]
            ),
        )
        for title, section in stored.items()
    }


_SHARED = ("what", "nominal", "at_least", "warning", "default")
_OWN = ("setting", "found", "runs", "deviation")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; shares are kept to six digits."""
    if isinstance(value, Deviation):
        return [_plain(value.size), value.derivation]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


def _promise(row: dict[str, Any]) -> Promise:
    stated, nominal = row.pop("deviation"), row.pop("nominal")
    return Promise(
        **row,
        nominal=math.nan if nominal is None else nominal,
        deviation=Deviation(*stated) if stated else None,
    )


def filled(page: str, sections: Mapping[str, Section]) -> str:
    """Return the page with the four counts, the misses and all tables at their marks."""
    rows = [row for section in sections.values() for row in section.rows]
    of = {status: [row for row in rows if row.status is status] for status in Status}
    counts = (
        f"**{len(of[Status.AT_LEVEL])} rows at the nominal level, "
        f"{len(of[Status.WITHIN_DEVIATION])} within a stated deviation, "
        f"{len(of[Status.MISSES])} miss it and are shown as a warning; "
        f"{len(of[Status.TOO_FEW])} have too few runs to tell.**"
    )
    all_tables = "\n".join(
        f"## {title}\n\nComputed on {section.day}.\n{tables(section.rows)}\n"
        for title, section in sections.items()
    )
    page = page.replace("<!-- promises: counts -->", counts)
    page = page.replace("<!-- promises: misses -->", _misses(of[Status.MISSES]))
    return page.replace("<!-- promises: tables -->", all_tables)


def _misses(rows: list[Promise]) -> str:
    lines = [
        "| method | setting | nominal | found | miss | used by default | reason |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.what} | {row.setting} | {row.nominal:.3g} | {_found(row)} | {row.miss:.4f} "
        f"| {'**yes**' if row.default else 'no'} | {row.warning or 'unknown'} |"
        for row in sorted(rows, key=lambda row: (not row.default, row.what, -row.miss))
    ]
    return "\n".join(lines)


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

"""Run benchmarks, keep what they measured, and write it into the pages of the documentation.

A benchmark is a function ``run()`` that yields rows. With ``--record``, the rows are kept in the
record (`benchmarks.evidence`) with the command, the day, the machine and its load, in place of the
last run of the same command. The documentation shows them where a page has the line
``<!-- run: COMMAND -->``.
"""

import contextlib
import datetime
import importlib
import importlib.metadata
import multiprocessing
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypedDict, TypeVar

from benchmarks import evidence

RECORD = "--record"
SETTING = "SURELEAF_"  # environment variables that change what a benchmark measures
LIBRARIES = (
    *("sureleaf", "numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "polars", "distributed"),
    *("lightgbm", "ydf", "c50py", "mapie", "crepes", "venn-abers"),
)
MODULES = {"scikit-learn": "sklearn", "venn-abers": "venn_abers"}
Item = TypeVar("Item")
Result = TypeVar("Result")
MARK = re.compile(r"^<!-- run: (.+?) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What was measured at once: a row of the table with this title, with a text per column."""

    table: str
    cells: dict[str, str]


class Table(TypedDict):
    title: str
    columns: list[str]
    rows: list[list[str]]


class Run(TypedDict):
    """A benchmark that was run, and what it measured."""

    command: str
    day: str
    machine: str
    load_before: float
    load_after: float
    seconds: int
    tables: list[Table]


# ---- what a benchmark writes into a cell -----------------------------------------------------


def duration(seconds: float) -> str:
    """Return a time with three digits.

    >>> duration(0.0000132), duration(0.9), duration(95.13)
    ('13.2 µs', '900 ms', '95.1 s')
    """
    unit, factor = ("µs", 1e6) if seconds < 999.5e-6 else ("ms", 1e3)
    if seconds >= 0.9995:
        unit, factor = "s", 1.0
    shown = seconds * factor
    return f"{shown:,.0f} {unit}" if shown >= 99.95 else f"{shown:.3g} {unit}"


def goal(text: str, is_met: bool) -> str:
    """Return a goal, and whether it was met."""
    return f"{text}: {'met' if is_met else '**not met**'}"


# ---- running ---------------------------------------------------------------------------------


def run_benchmarks(package: ModuleType, arguments: list[str], path: Path = evidence.RECORD) -> None:
    """Run the modules of a package that have a function ``run()``, or those that are named."""
    available = benchmarks_of(package)
    names = [name for name in arguments if name != RECORD]
    unknown = [name for name in names if name not in available]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(available)}")
    for name in names or available:
        rows = importlib.import_module(f"{package.__name__}.{name}").run()
        command = f"python -m {package.__name__} {name}"
        measure(command, rows, is_recorded=RECORD in arguments, path=path)


def in_processes(call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Call a function of a module for each item, on all cores, and yield the results in order.

    For benchmarks that measure no time.
    """
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(call, items)


def benchmarks_of(package: ModuleType) -> list[str]:
    """Return the modules with a benchmark, without importing what each of them compares."""
    sources = {path.stem: path for folder in package.__path__ for path in Path(folder).glob("*.py")}
    is_benchmark = re.compile(r"^def run\(", re.MULTILINE)
    return sorted(
        name for name, path in sources.items() if is_benchmark.search(path.read_text("utf-8"))
    )


def measure(
    command: str, rows: Iterable[Row], *, is_recorded: bool, path: Path = evidence.RECORD
) -> list[Table]:
    """Print the rows of a benchmark as they come, and keep them if they are to be recorded."""
    settings = {k: v for k, v in os.environ.items() if k.startswith(SETTING) and "DATA" not in k}
    command = " ".join([*(f"{name}={settings[name]}" for name in sorted(settings)), command])
    print(f"== {command}", flush=True)
    load, start = os.getloadavg()[0], time.perf_counter()
    tables = collect(show(rows))
    run: Run = {
        "command": command,
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "load_before": round(load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "seconds": round(time.perf_counter() - start),
        "tables": tables,
    }
    print(f"{run['seconds']} s, load {run['load_before']} to {run['load_after']}\n", flush=True)
    if is_recorded:
        record(run, path)
    return tables


def show(rows: Iterable[Row]) -> Iterator[Row]:
    """Print each row when it comes, below a head where another table begins."""
    title = None
    for row in rows:
        if row.table != title:
            title = row.table
            print(f"\n{title}\n{_line(row.cells, list(row.cells))}", flush=True)
        print(_line(row.cells, list(row.cells.values())), flush=True)
        yield row


def _line(columns: Iterable[str], cells: list[str]) -> str:
    widths = [max(11, len(column)) for column in columns]
    first, *others = cells
    padded = [f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True)]
    return "  ".join([f"{first:<44}", *padded]).rstrip()


def collect(rows: Iterable[Row]) -> list[Table]:
    """Join the rows of each title, which must have the same columns."""
    tables: dict[str, Table] = {}
    for row in rows:
        columns = list(row.cells)
        table = tables.setdefault(row.table, {"title": row.table, "columns": columns, "rows": []})
        if table["columns"] != columns:
            raise ValueError(
                f"the rows of the table {row.table!r} must have the columns {table['columns']}; "
                f"got {columns}"
            )
        table["rows"].append(list(row.cells.values()))
    return list(tables.values())


def machine() -> str:
    """Processor, cores, system, and the versions of the libraries that took part."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    used = [name for name in LIBRARIES if MODULES.get(name, name) in sys.modules]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in used]
    system = f"{processor}, {os.cpu_count()} cores, {platform.system()}"
    return f"{system}; {', '.join([f'Python {platform.python_version()}', *versions])}"


def record(run: Run, path: Path) -> None:
    """Keep a run; an earlier one of the same command goes."""
    kept = [one for one in load_runs(path) if one["command"] != run["command"]]
    evidence.write_part("runs", sorted([*kept, run], key=lambda one: one["command"]), path)


def load_runs(path: Path = evidence.RECORD) -> list[Run]:
    return evidence.read_part("runs", path) or []


# ---- the pages of the documentation ----------------------------------------------------------


def markdown(run: Run) -> str:
    """Return the command, the day, the machine and the tables of a run."""
    day = datetime.date.fromisoformat(run["day"])
    parts = [
        f"*`{run['command']}`, {day.day} {day:%B %Y}, {run['seconds']} s, load "
        f"{run['load_before']} to {run['load_after']}. {run['machine']}.*"
    ]
    for table in run["tables"]:
        lines = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
        cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        parts += [f"**{table['title']}**"] if table["title"] else []
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in cells))
    return "\n\n".join(parts)


def filled(page: str, runs: list[Run]) -> str:
    """Return a page with the tables of the runs at its marks."""
    run_of = {run["command"]: run for run in runs}

    def block(found: re.Match[str]) -> str:
        run = run_of.get(found[1])
        return markdown(run) if run else f"*`{found[1]}` is not recorded yet.*"

    return MARK.sub(block, page)

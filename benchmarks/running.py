"""Run the benchmarks of a package: all of its modules that define ``run()``, or some of them.

With ``--record``, what each of them prints is kept in docs/runs.json with its day, machine and
load, and the page "Recorded runs" of the documentation shows it: nobody copies figures by hand.
"""

import contextlib
import datetime
import importlib
import io
import json
import os
import pkgutil
import platform
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import TextIO, TypedDict

RUNS = Path(__file__).resolve().parents[1] / "docs" / "runs.json"


class Run(TypedDict):
    """A benchmark that was run, and what it printed."""

    command: str
    day: str
    machine: str
    load_before: float
    load_after: float
    seconds: float
    text: str


def run_benchmarks(package: ModuleType, arguments: list[str], runs: Path = RUNS) -> None:
    available = {module.name for module in pkgutil.iter_modules(package.__path__)}
    modules = {
        name: importlib.import_module(f"{package.__name__}.{name}")
        for name in sorted(available - {"__main__"})
    }
    benchmarks = {name: module.run for name, module in modules.items() if hasattr(module, "run")}
    names = [name for name in arguments if name != "--record"]
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(benchmarks)}")
    for name in names or benchmarks:
        print(f"== {name}", flush=True)
        if "--record" not in arguments:
            benchmarks[name]()
            continue
        load, start, printed = os.getloadavg()[0], time.perf_counter(), Echo(sys.stdout)
        with contextlib.redirect_stdout(printed):
            benchmarks[name]()
        record(
            {
                "command": f"python -m {package.__name__} {name}",
                "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "machine": machine(),
                "load_before": round(load, 1),
                "load_after": round(os.getloadavg()[0], 1),
                "seconds": round(time.perf_counter() - start),
                "text": printed.getvalue(),
            },
            runs,
        )


class Echo(io.StringIO):
    """Keeps what is written, and shows it."""

    def __init__(self, shown: TextIO) -> None:
        super().__init__()
        self.shown = shown

    def write(self, text: str) -> int:
        self.shown.write(text)
        self.shown.flush()
        return super().write(text)


def machine() -> str:
    """Processor, cores, system and the versions that decide about speed."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    libraries = [importlib.import_module(name) for name in ("numpy", "sklearn", "sureleaf")]
    versions = ", ".join(f"{library.__name__} {library.__version__}" for library in libraries)
    python = f"Python {platform.python_version()}"
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}; {python}, {versions}"


def record(run: Run, path: Path) -> None:
    """Keep a run; an earlier one of the same command goes."""
    known: list[Run] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    kept = [one for one in known if one["command"] != run["command"]]
    runs = sorted([*kept, run], key=lambda one: one["command"])
    path.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def page(runs: Path = RUNS) -> str:
    """Return the recorded runs as Markdown."""
    return "\n".join(
        f"## `{run['command']}`\n\n{run['day']}, {run['seconds']} seconds, load "
        f"{run['load_before']} to {run['load_after']}. {run['machine']}.\n\n"
        f"```text\n{run['text'].rstrip()}\n```\n"
        for run in json.loads(runs.read_text(encoding="utf-8"))
    )

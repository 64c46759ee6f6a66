"""The time of ``import sureleaf`` in a new interpreter, minus that of starting the interpreter."""

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.running import Row
from benchmarks.speed.clock import limit, seconds


def _start(code: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeats=5)


def run() -> Iterator[Row]:
    empty = _start("pass")
    yield limit("import sureleaf", _start("import sureleaf") - empty, at_most=0.3)
    yield limit("import sureleaf.levels", _start("import sureleaf.levels") - empty)
    yield limit("import numpy, for comparison", _start("import numpy") - empty)

"""The time of ``import sureleaf`` in a new interpreter, minus that of starting the interpreter."""

import subprocess
import sys

from benchmarks.speed.clock import limit, seconds


def _start(code: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeats=5)


def run() -> None:
    empty = _start("pass")
    limit("import sureleaf", _start("import sureleaf") - empty, 0.3)
    print(f"{'import sureleaf.levels':40} {_start('import sureleaf.levels') - empty:9.4f} s")
    print(f"{'(import numpy)':40} {_start('import numpy') - empty:9.4f} s")

"""Time and memory of ``sureleaf predict`` on 10 million rows: the memory must not grow with them.

The installed command predicts a tenth of a CSV file and the whole file; for comparison,
pandas.read_csv reads it. Each runs in its own process.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.running import Row, duration
from benchmarks.speed.clock import limit
from sureleaf import TreeClassifier

ROWS = 10_000_000
CHUNK = 500_000

# Runs a program and prints what it used.
MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, wall, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def rows_of(rng: np.random.Generator, n: int) -> pa.Table:
    numbers = {f"n{index}": rng.normal(size=n).round(4) for index in range(6)}
    words = {
        f"w{index}": pa.DictionaryArray.from_arrays(
            pa.array(rng.integers(0, 5, n).astype(np.int32)), [f"word {c}" for c in "abcde"]
        ).cast(pa.string())
        for index in range(4)
    }
    noise = rng.normal(size=n) + 0.5 * (np.asarray(words["w0"]) == "word a")
    label = pa.array(np.where(numbers["n0"] + numbers["n1"] * 0.5 + noise > 0, "yes", "no"))
    return pa.table({"id": np.arange(n)} | numbers | words | {"class": label})


def measured(*command: str) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and peak memory in MB of a program."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True
    )
    code, wall, cpu, kilobytes = done.stdout.split()
    if code != "0":
        sys.exit(f"{' '.join(command)} failed: {done.stderr}")
    return float(wall), float(cpu), float(kilobytes) / 1024


@contextmanager
def prepared(n_rows: int) -> Iterator[tuple[Path, Path, Path]]:
    """Yield the files of a model, of all rows and of a tenth of the rows."""
    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(0)
    try:
        chunk = rows_of(rng, CHUNK)
        fitted = chunk.slice(0, 50_000)
        X = fitted.drop_columns(["id", "class"])
        model = TreeClassifier.c45(min_samples_leaf=50, random_state=0).fit(X, fitted["class"])
        model.save(folder / "model.sureleaf")
        paths = folder / "model.sureleaf", folder / "all.csv", folder / "tenth.csv"
        for path, n in ((paths[1], n_rows), (paths[2], n_rows // 10)):
            with csv.CSVWriter(str(path), chunk.schema) as writer:
                for start in range(0, n, CHUNK):
                    writer.write_table(chunk.slice(0, min(CHUNK, n - start)))
        yield paths
    finally:
        shutil.rmtree(folder)


def used_row(name: str, n_rows: int, used: tuple[float, float, float]) -> Row:
    wall, processor, memory = used
    return Row(
        "Rows of a CSV file",
        {
            "work": name,
            "time": duration(wall),
            "processor time": duration(processor),
            "rows per second of it": f"{n_rows / processor:,.0f}",
            "peak memory": f"{memory:,.0f} MB",
        },
    )


def run(n_rows: int = ROWS) -> Iterator[Row]:
    sureleaf = str(Path(sys.executable).with_name("sureleaf"))
    with prepared(n_rows) as (model, every, tenth):
        out = str(every.with_name("out.csv"))
        used = []
        for path, n in ((tenth, n_rows // 10), (every, n_rows)):
            used.append(
                measured(sureleaf, "predict", str(model), str(path), "-o", out, "--keep", "id")
            )
            yield used_row(f"sureleaf predict, {n:,} rows", n, used[-1])
            os.remove(out)
        size = every.stat().st_size / 1e6
        reading = f"import pandas; pandas.read_csv({str(every)!r})"
        peer = measured(sys.executable, "-c", reading)
        yield used_row(f"pandas.read_csv of these {size:,.0f} MB, no predictions", n_rows, peer)
        memory = used[1][2] / used[0][2]
        yield limit("memory of all rows", memory, "times that of a tenth")
        yield limit("processor time", used[1][1] / peer[1], "times that of pandas.read_csv")

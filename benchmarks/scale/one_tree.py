"""One tree from a Parquet file: Sureleaf in batches, and LightGBM's first tree, in one run.

Several sizes show how time grows with the number of rows (SURELEAF_ROWS: one size). Each fit is a
process of its own: its time is from before the file is opened until the tree is grown, and its
memory the largest resident size.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.running import Row, duration

N_COLUMNS = 20
SIZES = (1_000_000, 4_000_000, 20_000_000)
LEAVES = 255

SURELEAF = """
from sureleaf import TreeClassifier
model = TreeClassifier(pruning=None, levels_from="training", max_leaves={leaves},
                       min_samples_leaf=20, criterion="entropy")
start = time.perf_counter(), time.process_time()
model.fit(path, "y")
end = time.perf_counter(), time.process_time()
predict = lambda X: model.predict_proba(X)[:, 1]
"""
LIGHTGBM = """
import lightgbm
start = time.perf_counter(), time.process_time()
table = pq.read_table(path)
data = lightgbm.Dataset(table.drop_columns(["y"]), table["y"].to_numpy())
booster = lightgbm.train(
    {{"objective": "binary", "num_leaves": {leaves}, "min_data_in_leaf": 20, "verbose": -1,
      "learning_rate": 1.0}}, data, num_boost_round=1)
end = time.perf_counter(), time.process_time()
predict = lambda X: booster.predict(X)
"""
FRAME = """
import json, resource, sys, time
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
path, test = sys.argv[1:]
{fit}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rows = pq.read_table(test)
y = rows["y"].to_numpy()
p = np.clip(predict(rows.drop_columns(["y"])), 1e-9, 1 - 1e-9)
print(json.dumps({{
    "seconds": end[0] - start[0], "processor": end[1] - start[1], "peak": peak,
    "accuracy": float(np.mean((p > 0.5) == y)),
    "log_loss": float(-np.mean(np.where(y, np.log(p), np.log(1 - p)))),
}}))
"""


def write_table(path: Path, n_rows: int, seed: int) -> None:
    """Continuous columns, of which five matter, in row groups of a million rows."""
    rng = np.random.default_rng(seed)
    writer = None
    for start in range(0, n_rows, 1_000_000):
        n = min(1_000_000, n_rows - start)
        X = rng.normal(size=(n, N_COLUMNS))
        score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * (X[:, 4] > 1)
        y = (rng.random(n) < 1 / (1 + np.exp(-2 * score))).astype(np.int64)
        table = pa.table({f"x{j}": X[:, j] for j in range(N_COLUMNS)} | {"y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=["y"])
        writer.write_table(table)
    assert writer is not None
    writer.close()


def measure(fit: str, path: Path, test: Path) -> dict[str, float]:
    code = FRAME.format(fit=textwrap.dedent(fit.format(leaves=LEAVES)))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(test)], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def run() -> Iterator[Row]:
    named = os.environ.get("SURELEAF_ROWS")
    sizes = [int(named)] if named else SIZES
    times = []
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "test.parquet"
        write_table(test, 200_000, seed=99)
        for n_rows in sizes:
            path = Path(folder) / "rows.parquet"
            write_table(path, n_rows, seed=1)
            for name, fit in (("LightGBM", LIGHTGBM), ("Sureleaf", SURELEAF)):
                result = measure(fit, path, test)
                library = f"{name} {version(name.lower())}"
                yield _row(n_rows, path.stat().st_size, library, result)
            times.append([result[clock] for clock in ("seconds", "processor")])
    if len(sizes) > 1:
        slopes = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        for name, slope in zip(("time", "processor time"), slopes, strict=True):
            yield Row(
                "How the time of Sureleaf grows",
                {"logarithm of": name, "slope against that of the rows": f"{slope:.2f}"},
            )


def _row(n_rows: int, n_bytes: int, name: str, result: dict[str, float]) -> Row:
    return Row(
        f"A tree of {LEAVES} leaves from {N_COLUMNS} columns of numbers",
        {
            "rows": f"{n_rows:,}",
            "file": f"{n_bytes / 1e9:.2f} GB",
            "library": name,
            "time": duration(result["seconds"]),
            "processor time": duration(result["processor"]),
            "rows per second": f"{n_rows / result['seconds'] / 1e6:.2f} million",
            "peak memory": f"{result['peak'] / 1e9:.2f} GB",
            "accuracy": f"{100 * result['accuracy']:.1f} %",
            "log loss": f"{result['log_loss']:.3f}",
        },
    )

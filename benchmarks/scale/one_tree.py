"""One tree from a Parquet file: Sureleaf in batches, and LightGBM's first tree, in one run.

``ROWS=20000000 python -m benchmarks.scale one_tree`` measures one size. By default, small sizes
show how time grows with the number of rows. Each fit is a process of its own: its time is from
before the file is opened until the tree is grown, and its memory the largest resident size.
"""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_COLUMNS = 20
SIZES = (500_000, 1_000_000, 2_000_000, 4_000_000)
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


def run() -> None:
    sizes = [int(os.environ["ROWS"])] if "ROWS" in os.environ else SIZES
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "test.parquet"
        write_table(test, 200_000, seed=99)
        for n_rows in sizes:
            path = Path(folder) / "rows.parquet"
            write_table(path, n_rows, seed=1)
            size = path.stat().st_size / 1e9
            print(f"{n_rows:,} rows x {N_COLUMNS} columns, {size:.2f} GB", flush=True)
            results = {}
            for name, fit in (("LightGBM", LIGHTGBM), ("Sureleaf", SURELEAF)):
                results[name] = result = measure(fit, path, test)
                rate = n_rows / result["seconds"] / 1e6
                print(
                    f"  {name:9} {result['seconds']:7.1f} s  {rate:6.2f} million rows/s  "
                    f"all threads {result['processor']:6.1f} s  "
                    f"peak {result['peak'] / 1e9:5.2f} GB  "
                    f"accuracy {result['accuracy']:.4f}  log loss {result['log_loss']:.4f}",
                    flush=True,
                )
            seconds.append([results["Sureleaf"][clock] for clock in ("seconds", "processor")])
            ratio = results["LightGBM"]["seconds"] / results["Sureleaf"]["seconds"]
            print(f"  throughput of Sureleaf / LightGBM: {ratio:.2f}", flush=True)
    if len(sizes) > 1:
        slopes = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"slope of time against rows: {slopes[0]:.2f}, of all threads: {slopes[1]:.2f}")

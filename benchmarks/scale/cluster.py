"""Trees on a Dask cluster of processes: time against rows and workers, bytes moved, memory.

``python -m benchmarks.scale cluster`` fits 250,000, 500,000, 1 and 2 million rows of 20 columns;
with ``SURELEAF_ROWS=20000000`` up to 20 million.
"""

import os
import tempfile
import time
from pathlib import Path

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sureleaf import TreeClassifier
from sureleaf.scale.growing import count_part

N_COLUMNS, FILE_ROWS = 20, 125_000
MOST_ROWS = int(os.environ.get("SURELEAF_ROWS", "2000000"))


def write_files(folder: Path, n_files: int) -> list[Path]:
    """Write files of equal size; the class depends on eight columns, and a tenth is noise."""
    paths = []
    for index in range(n_files):
        rng = np.random.default_rng(index)
        X = rng.normal(size=(FILE_ROWS, N_COLUMNS)).astype(np.float32)
        is_yes = (X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) > 0.8) ^ (X[:, 4:8].sum(axis=1) > 3)
        is_yes ^= rng.random(FILE_ROWS) < 0.1
        columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
        path = folder / f"{index:04}.parquet"
        pq.write_table(pa.table(columns | {"y": np.where(is_yes, "yes", "no")}), path)
        paths.append(path)
    return paths


def peak_memory() -> int:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def bytes_received(dask_worker: distributed.Worker) -> int:
    return sum(record["total"] for record in dask_worker.transfer_incoming_log)


def fit(paths: list[Path], n_workers: int) -> None:
    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit="4GB",
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        n_levels = 0
        original = distributed.Client.submit

        def counted(self, function, *args, **options):
            nonlocal n_levels
            n_levels += bool(args) and args[0] is count_part
            return original(self, function, *args, **options)

        distributed.Client.submit = counted
        try:
            started = time.perf_counter()
            model = TreeClassifier(
                pruning=None, max_depth=12, levels_from="training", random_state=0
            ).fit([str(path) for path in paths], "y", client=client, memory="256MB")
            seconds = time.perf_counter() - started
        finally:
            distributed.Client.submit = original
        n_levels //= len(paths)
        moved = sum(client.run(bytes_received).values())
        memory = max(client.run(peak_memory).values())
        n_rows = len(paths) * FILE_ROWS
        print(
            f"{n_rows:>12,} rows, {n_workers} workers: {seconds:7.1f} s, "
            f"{n_rows / seconds:>10,.0f} rows/s, {n_levels:3} passes, "
            f"{moved / max(n_levels, 1) / 1e6:6.2f} MB per pass between workers, "
            f"{memory / 1e6:6.0f} MB per worker, {model.tree_.n_leaves:,} leaves",
            flush=True,
        )


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), MOST_ROWS // FILE_ROWS)
        for n_workers in (1, 2):
            for share in (8, 4, 2, 1):
                fit(paths[: len(paths) // share], n_workers)

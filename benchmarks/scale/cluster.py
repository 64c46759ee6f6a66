"""Trees on a Dask cluster of processes: time against rows and workers, bytes moved, memory.

Half and all of 4 million rows of 20 columns, with one worker process and with two.
``SURELEAF_ROWS=20000000`` takes other rows, and ``SURELEAF_SHARES=1`` all of them only.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.running import Row, duration
from sureleaf import TreeClassifier
from sureleaf.scale.growing import _LevelGrowth

N_COLUMNS, N_FILES = 20, 32
MOST_ROWS = int(os.environ.get("SURELEAF_ROWS", "4000000"))
FILE_ROWS = MOST_ROWS // N_FILES
ROW_TASKS = ("encodepart", "start", "advancepart", "selectrows")
SHARES = tuple(map(int, os.environ.get("SURELEAF_SHARES", "2,1").split(",")))


def write_files(folder: Path) -> list[Path]:
    """Write files of equal size; the class depends on eight columns, and a tenth is noise."""
    paths = []
    for index in range(N_FILES):
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


def cpu_seconds() -> float:
    return time.process_time()


def bytes_received(dask_worker: distributed.Worker) -> Counter[str]:
    """Return the bytes that came from other workers, by what they were."""
    received: Counter[str] = Counter()
    for record in dask_worker.transfer_incoming_log:
        for key, n_bytes in record["keys"].items():
            is_rows = any(name in str(key) for name in ROW_TASKS)
            received["rows" if is_rows else "counts"] += n_bytes
    return received


def fit(paths: list[Path], n_workers: int) -> tuple[float, Row]:
    n_levels = 0
    split_level = _LevelGrowth._split_level

    def counted(self, *args):
        nonlocal n_levels
        n_levels += 1
        return split_level(self, *args)

    with (
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit="6GB",
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(lambda: __import__("sureleaf.scale.dask_parts"))
        _LevelGrowth._split_level = counted
        try:
            before = sum(client.run(cpu_seconds).values())
            started, client_started = time.perf_counter(), time.process_time()
            model = TreeClassifier(
                pruning=None, max_depth=12, levels_from="training", random_state=0
            ).fit([str(path) for path in paths], "y", client=client, memory="256MB")
            seconds = time.perf_counter() - started
        finally:
            _LevelGrowth._split_level = split_level
        client_seconds = time.process_time() - client_started
        worker_seconds = sum(client.run(cpu_seconds).values()) - before
        moved = sum(client.run(bytes_received).values(), Counter())
        memory = max(client.run(peak_memory).values())
        n_rows = len(paths) * FILE_ROWS
        return seconds, Row(
            f"A tree of depth 12 from {N_COLUMNS} columns, {FILE_ROWS:,} rows per file",
            {
                "rows": f"{n_rows:,}",
                "workers": str(n_workers),
                "time": duration(seconds),
                "processor time of workers": duration(worker_seconds),
                "of client and scheduler": duration(client_seconds),
                "rows per second": f"{n_rows / seconds:,.0f}",
                "rows moved": f"{moved['rows'] / 1e6:.0f} MB",
                "counts moved per level": f"{moved['counts'] / max(n_levels, 1) / 1e6:.2f} MB",
                "levels": str(n_levels),
                "peak memory per worker": f"{memory / 1e9:.2f} GB",
                "leaves": f"{model.tree_.n_leaves:,}",
            },
        )


def run() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder))
        times = {}
        for share in SHARES:
            for n_workers in (1, 2):
                times[share, n_workers], row = fit(paths[: N_FILES // share], n_workers)
                yield row
    for share in SHARES:
        ratio = times[share, 1] / times[share, 2]
        yield Row(
            "Two workers beside one",
            {"rows": f"{MOST_ROWS // share:,}", "times as fast": f"{ratio:.2f}"},
        )

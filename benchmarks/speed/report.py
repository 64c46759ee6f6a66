"""Seconds of each stage of ``make_report`` on a million rows and ten columns, two of them words.

The goal is 60 seconds on two cores. On a busy machine, processor time is what can be compared.
"""

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from benchmarks.running import Row, duration
from benchmarks.speed.clock import limit
from sureleaf.report import make_report

N_ROWS = 1_000_000
GOAL = 60.0


def noisy_table(n_rows: int) -> tuple[pa.Table, np.ndarray]:
    """Return eight columns of numbers, two of words, and two classes of which 12 % are flipped."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 8))
    region = rng.choice(["north", "south", "east", "west", "centre"], n_rows)
    product = rng.choice([f"p{index}" for index in range(12)], n_rows)
    score = X[:, 0] + 0.7 * (X[:, 1] > 0.3) * X[:, 2] - 0.5 * np.abs(X[:, 3])
    score += 0.4 * (region == "north") - 0.6 * (product == "p3") + 0.3
    is_yes = (score > 0) ^ (rng.random(n_rows) < 0.12)
    columns = {f"x{index}": X[:, index] for index in range(8)}
    columns |= {"region": region, "product": product}
    return pa.table(columns), np.where(is_yes, "yes", "no")


def run(n_rows: int = N_ROWS) -> Iterator[Row]:
    X, y = noisy_table(n_rows)
    begun: list[tuple[str, float, float]] = []

    def tell(stage: str, _: float = 0.0) -> None:
        if not begun or begun[-1][0] != stage:
            begun.append((stage, time.perf_counter(), time.process_time()))

    tell("begin")
    make_report(X, y, progress=tell)
    tell("end")
    for (stage, wall, processor), (_, next_wall, next_processor) in pairwise(begun):
        if stage not in ("begin", "Done"):
            yield Row(
                f"Stages of the report of {n_rows:,} rows x 10 columns",
                {
                    "stage": stage,
                    "time": duration(next_wall - wall),
                    "processor time": duration(next_processor - processor),
                },
            )
    yield limit("the report", begun[-1][1] - begun[0][1], at_most=GOAL)
    yield limit("the report, processor time", begun[-1][2] - begun[0][2])

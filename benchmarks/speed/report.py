"""Seconds of each stage of ``make_report`` on a million rows and ten columns, two of them words.

The goal is 75 seconds on two cores. Processor time is printed, too: on a busy machine it is what
can be compared.
"""

import time

import numpy as np
import pyarrow as pa

from benchmarks.speed.clock import limit
from sureleaf.report import make_report

N_ROWS = 1_000_000
GOAL = 75.0


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


def run(n_rows: int = N_ROWS) -> None:
    X, y = noisy_table(n_rows)
    begun: list[tuple[str, float, float]] = []

    def tell(stage: str, _: float) -> None:
        if begun and begun[-1][0] == stage:
            return
        now = stage, time.perf_counter(), time.process_time()
        if begun:
            name, wall, processor = begun[-1]
            print(
                f"{name:44} {now[1] - wall:7.1f} s   {now[2] - processor:7.1f} s of processors",
                flush=True,
            )
        begun.append(now)

    begin = time.perf_counter(), time.process_time()
    make_report(X, y, progress=tell)
    print(f"{'all, time of processors':44} {time.process_time() - begin[1]:7.1f} s")
    limit(f"report, {n_rows:,} x 10", time.perf_counter() - begin[0], GOAL)

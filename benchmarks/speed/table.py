"""How long does it take to read a table, against scikit-learn's OrdinalEncoder in the same run?

``python -m benchmarks.speed.table`` prints milliseconds and ratios. The mixed table has the shape
of the Adult census data: 48,842 rows, six columns of integers, eight of text, some missing.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.preprocessing import OrdinalEncoder

from sureleaf.table import encode, encode_labels, read_table

__all__ = ["run"]

N_ROWS = 48_842
CATEGORIES_A_COLUMN = (8, 16, 7, 14, 6, 5, 2, 41)


def best_time(work: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the quickest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def mixed_table(rng: np.random.Generator) -> pd.DataFrame:
    columns: dict[str, object] = {
        f"number{place}": rng.integers(0, 10 ** (place + 1), N_ROWS) for place in range(6)
    }
    for place, n_categories in enumerate(CATEGORIES_A_COLUMN):
        words = pd.Series([f"some category {code}" for code in range(n_categories)])
        drawn = words.take(rng.integers(0, n_categories, N_ROWS)).reset_index(drop=True)
        columns[f"text{place}"] = drawn.mask(rng.random(N_ROWS) < 0.02) if place < 3 else drawn
    return pd.DataFrame(columns)


def report(title: str, ours: float, peer: float) -> None:
    print(f"{title:<44} {1e3 * ours:9.2f} ms {1e3 * peer:9.2f} ms {peer / ours:8.1f} x")


def run() -> None:
    rng = np.random.default_rng(0)
    print(f"{'':<44} {'sureleaf':>12} {'peer':>12} {'ratio':>10}")
    frame = mixed_table(rng)
    texts = frame[[name for name in frame if name.startswith("text")]]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2)
    learn_peer = best_time(lambda: encoder.fit_transform(texts), 3)
    encode_peer = best_time(lambda: encoder.transform(texts), 3)
    schema = read_table(frame).schema
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "Arrow": pa.Table.from_pandas(frame, preserve_index=False),
    }
    for library, X in tables.items():
        report(f"learn and encode, {library}", best_time(lambda X=X: read_table(X)), learn_peer)
        report(f"encode, {library}", best_time(lambda X=X: encode(X, schema)), encode_peer)

    numbers = rng.normal(size=(1_000_000, 20))
    copied = best_time(lambda: numbers.copy(), 3)
    report("1,000,000 x 20 float64 (peer: a copy)", best_time(lambda: read_table(numbers)), copied)

    ids = pd.DataFrame({"id": rng.permutation(1_000_000).astype(str)})
    ordinal = best_time(lambda: OrdinalEncoder().fit_transform(ids), 1)
    report("a million categories", best_time(lambda: read_table(ids), 2), ordinal)

    labels = rng.integers(0, 7, 1_000_000)
    unique = best_time(lambda: np.unique(labels, return_inverse=True), 3)
    report(
        "1,000,000 labels (peer: numpy.unique)", best_time(lambda: encode_labels(labels)), unique
    )


if __name__ == "__main__":
    run()

"""The time to encode a table, compared with scikit-learn's OrdinalEncoder in the same run.

The mixed table has the shape of the Adult census data: 48,842 rows, six columns of integers, eight
of text, with missing values. Then reading of files, a large array, many categories and labels.
"""

import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import compute, csv, feather, parquet
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.running import Row
from benchmarks.speed.clock import compare, seconds
from sureleaf.files import read_file
from sureleaf.table import encode, encode_labels, read_table

N_ROWS = 48_842
N_TURNS = 24
CATEGORIES_PER_COLUMN = (8, 16, 7, 14, 6, 5, 2, 41)


def mixed_table(rng: np.random.Generator) -> pd.DataFrame:
    columns: dict[str, object] = {
        f"number{index}": rng.integers(0, 10 ** (index + 1), N_ROWS) for index in range(6)
    }
    for index, n_categories in enumerate(CATEGORIES_PER_COLUMN):
        words = pd.Series([f"some category {code}" for code in range(n_categories)])
        drawn = words.take(rng.integers(0, n_categories, N_ROWS)).reset_index(drop=True)
        columns[f"text{index}"] = drawn.mask(rng.random(N_ROWS) < 0.02) if index < 3 else drawn
    return pd.DataFrame(columns)


def read_files(rng: np.random.Generator) -> Iterator[Row]:
    """Checked reading beside pyarrow's, which checks nothing, in processor time.

    The ways take turns, so that other work on the machine disturbs them alike; the ratio is the
    median of the ratios within a turn. The cells are summed or measured at the end of each way,
    because a memory map reads them only then.
    """
    n_rows = 500_000
    words = np.array([f"word {i}" for i in range(1000)])
    table = pa.table(
        {f"number{i}": rng.normal(size=n_rows) for i in range(8)}
        | {f"text{i}": words[rng.integers(0, 1000, n_rows)] for i in range(5)}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows"
        parquet.write_table(table, f"{path}.parquet")
        feather.write_feather(table, f"{path}.arrow", compression="uncompressed")
        feather.write_feather(table, f"{path}.lz4", compression="lz4")
        csv.write_csv(table.slice(0, n_rows // 10), f"{path}.csv")
        peers: list[tuple[str, str, str, Callable[[str], pa.Table]]] = [
            ("Parquet", "parquet", "pyarrow", parquet.read_table),
            (
                "Parquet",
                "parquet",
                "pyarrow, memory map",
                lambda file: parquet.ParquetFile(pa.memory_map(file), pre_buffer=True).read(),
            ),
            ("Arrow", "arrow", "pyarrow", lambda file: _read_arrow(pa.OSFile(file))),
            ("Arrow", "arrow", "pyarrow, memory map", lambda f: _read_arrow(pa.memory_map(f))),
            ("Feather, LZ4", "lz4", "pyarrow", lambda file: _read_arrow(pa.OSFile(file))),
            ("CSV", "csv", "pyarrow", csv.read_csv),
        ]
        for title, ending, peer, read in peers:
            file, used = f"{path}.{ending}", np.empty((N_TURNS, 2))
            for turn in range(N_TURNS):
                for way in (0, 1) if turn % 2 else (1, 0):
                    start = time.process_time()
                    _touch((read_file, read)[way](file))
                    used[turn, way] = time.process_time() - start
            ours = float(np.median(used[:, 0]))
            theirs = ours * float(np.median(used[:, 1] / used[:, 0]))
            yield compare(f"read {title}, processor time", ours, peer, theirs)


def _read_arrow(file: pa.NativeFile) -> pa.Table:
    return pa.ipc.open_file(file).read_all()


def _touch(table: pa.Table) -> None:
    for column in table.columns:
        compute.sum(column if pa.types.is_floating(column.type) else compute.binary_length(column))


def run() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    frame = mixed_table(rng)
    texts = frame[[name for name in frame if name.startswith("text")]]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2)
    fit_peer = seconds(lambda: encoder.fit_transform(texts), 3)
    encode_peer = seconds(lambda: encoder.transform(texts), 3)
    schema = read_table(frame).schema
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "Arrow": pa.Table.from_pandas(frame, preserve_index=False),
    }
    peer = "OrdinalEncoder, text columns only"
    for library, X in tables.items():
        ours = seconds(lambda X=X: read_table(X), 7)
        yield compare(f"infer schema and encode, {library}", ours, peer, fit_peer)
        ours = seconds(lambda X=X: encode(X, schema), 7)
        yield compare(f"encode, {library}", ours, peer, encode_peer)

    yield from read_files(rng)

    numbers = rng.normal(size=(1_000_000, 20))
    copied = seconds(lambda: numbers.copy(), 3)
    ours = seconds(lambda: read_table(numbers), 7)
    yield compare("1,000,000 x 20 float64", ours, "a copy", copied)

    ids = pd.DataFrame({"id": rng.permutation(1_000_000).astype(str)})
    ordinal = seconds(lambda: OrdinalEncoder().fit_transform(ids), 1)
    ours = seconds(lambda: read_table(ids), 2)
    yield compare("a million categories", ours, "OrdinalEncoder", ordinal)

    labels = rng.integers(0, 7, 1_000_000)
    unique = seconds(lambda: np.unique(labels, return_inverse=True), 3)
    ours = seconds(lambda: encode_labels(labels), 7)
    yield compare("1,000,000 labels", ours, "numpy.unique", unique)

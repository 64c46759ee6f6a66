"""What is tried: each target is a function of a random generator and a folder.

It returns what happened in a word, or raises; errors of Sureleaf are what is expected.
"""

import datetime
import functools
import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import sureleaf
from tests.fuzz.damage import damage

__all__ = ["TARGETS", "largest_file"]

Target = Callable[[Random, Path], str]

largest_file = 0
"""Bytes of the largest file that the last case has written; memory is compared with it."""


def _written(path: Path, content: bytes) -> Path:
    global largest_file
    path.write_bytes(content)
    largest_file = max(largest_file, len(content))
    return path


@functools.cache
def _rows() -> Any:
    """A small table with every kind of column."""
    import pyarrow as pa

    random = Random(1)
    n = 60
    words = ["a", "bb", "ccc", None, "dddd dddd dddd"]
    return pa.table(
        {
            "size": [None if i % 11 == 3 else random.random() for i in range(n)],
            "count": pa.array([random.randrange(9) for _ in range(n)], pa.int16()),
            "word": [random.choice(words) for _ in range(n)],
            "code": pa.array([random.choice(words) for _ in range(n)]).dictionary_encode(),
            "flag": [random.random() < 0.5 for _ in range(n)],
            "day": [datetime.date(2020, 1, 1 + i % 28) for i in range(n)],
            "large": pa.array([random.choice(words) for _ in range(n)], pa.large_string()),
            "class": ["yes" if i % 3 else "no" for i in range(n)],
        }
    )


@functools.cache
def _model() -> Any:
    rows = _rows()
    return sureleaf.TreeClassifier(levels_from="training", min_samples_leaf=2, pruning=None).fit(
        rows.drop_columns(["class"]), rows["class"]
    )


def _use_table(path: Path, random: Random) -> str:
    """Fit on the rows of a file, or predict them."""
    from sureleaf.report.predictions import write_predictions
    from sureleaf.report.question import read_question
    from sureleaf.table import stream_rows

    if random.random() < 0.5:
        question = read_question(path, "class")
        model = sureleaf.TreeClassifier(levels_from="training").fit(question.X, question.y)
        model.leaves()
        return "fitted"
    keep = random.choice(([], ["word"], ["class", "code"]))
    kind = random.choice(("csv", "parquet", "arrow"))
    rows = stream_rows(path, _model().schema_, keep=keep)
    write_predictions(_model(), rows, io.BytesIO(), kind, keep=keep)
    return "predicted"


def arrow(random: Random, folder: Path) -> str:
    """Damaged Arrow streams and files."""
    import pyarrow as pa

    sink = io.BytesIO()
    packed = random.choice((None, None, None, "lz4", "zstd"))
    options = pa.ipc.IpcWriteOptions(compression=packed)
    new = random.choice((pa.ipc.new_stream, pa.ipc.new_file))
    with new(sink, _rows().schema, options=options) as writer:
        writer.write_table(_rows(), max_chunksize=random.choice((17, 60)))
    path = _written(folder / "rows.arrow", damage(sink.getvalue(), random))
    return _use_table(path, random)


def parquet(random: Random, folder: Path) -> str:
    """Damaged Parquet files."""
    from pyarrow import parquet as pq

    sink = io.BytesIO()
    pq.write_table(
        _rows(),
        sink,
        compression=random.choice(("none", "none", "snappy", "zstd", "gzip")),
        use_dictionary=random.random() < 0.5,
        row_group_size=random.choice((20, 60)),
        data_page_version=random.choice(("1.0", "2.0")),
    )
    path = _written(folder / "rows.parquet", damage(sink.getvalue(), random))
    return _use_table(path, random)


def csv(random: Random, folder: Path) -> str:
    """Damaged CSV files, compressed or not."""
    import gzip

    from pyarrow import csv as arrow_csv

    sink = io.BytesIO()
    arrow_csv.write_csv(_rows(), sink)
    content = sink.getvalue()
    if random.random() < 0.3:
        content = content.replace(b",", random.choice((b";", b"\t", b"|", b" ", b"\r\n")))
    if random.random() < 0.2:
        content = content.decode().encode(random.choice(("utf-16", "utf-8-sig", "utf-16-le")))
    content = damage(content, random)
    if random.random() < 0.2:
        content = damage(gzip.compress(content), random)
    return _use_table(_written(folder / "rows.csv", content), random)


TARGETS: dict[str, Target] = {
    "arrow": arrow,
    "parquet": parquet,
    "csv": csv,
}

"""Any source of record batches as parts that can be read again and again."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol

from sureleaf.errors import DISK_FULL, InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.read_file import (
    BATCH_ROWS,
    check_arrow,
    open_arrow,
    open_parquet,
    parquet_batches,
    plain_type,
    read_whole,
    reading,
    without_views,
)
from sureleaf.files.source import list_files, open_bytes
from sureleaf.table.raw_column import unusable_type_error

_PART_ROWS: Final = 1 << 20
"""Row groups are put together to parts of about so many rows."""


Stamp = tuple[int, int]
"""The size of a file in bytes, and when it was last changed, in nanoseconds."""


class RawPart(Protocol):
    """Some rows of a table: the unit of work. It can be pickled, and read any number of times."""

    @property
    def name(self) -> str:
        """For messages: the file, and which of its rows."""

    @property
    def n_rows(self) -> int:
        """The number of rows, if it is known without reading them; else 0."""

    def schema(self) -> Any:
        """Return the Arrow schema without reading rows."""

    def batches(self) -> Iterator[Any]:
        """Read the rows as Arrow record batches."""


@dataclass(frozen=True)
class FilePart:
    """Row groups of a Parquet file, record batches of an Arrow file, or a whole Arrow stream."""

    path: str
    name: str
    n_rows: int
    span: range = range(0)  # the numbers of the row groups or batches; of a stream, all are read
    stamp: Stamp | None = None  # the size and time of the file; one that has others has changed

    def schema(self) -> Any:
        """Return the Arrow schema of the file."""
        with _reading_file(self.path, self.stamp) as source:
            if source.format == "parquet":
                return open_parquet(source).schema_arrow
            return open_arrow(source).schema

    def batches(self) -> Iterator[Any]:
        """Read the row groups or the batches."""
        with _reading_file(self.path, self.stamp) as source:
            if source.format == "parquet":
                options = {"row_groups": list(self.span), "use_threads": False}
                file = open_parquet(source)
                yield from parquet_batches(file, self.n_rows, batch_size=BATCH_ROWS, **options)
            elif source.format == "arrow stream":
                yield from open_arrow(source)
            else:
                yield from map(open_arrow(source).get_batch, self.span)


@dataclass(frozen=True)
class TablePart:
    """Rows that are in memory."""

    table: Any
    name: str = "the table"

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def schema(self) -> Any:
        """Return the Arrow schema."""
        return self.table.schema

    def batches(self) -> Iterator[Any]:
        """Return the rows in batches."""
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)


@dataclass(frozen=True)
class OpenedPart:
    """Batches of a function that opens them anew with every call."""

    # Returns an iterable of record batches, or of anything that has an Arrow C stream.
    opener: Callable[[], Iterable[Any]]
    name: str = "the batches"
    n_rows: int = 0

    def schema(self) -> Any:
        """Return the schema of the first batch."""
        for batch in self.batches():
            return batch.schema
        raise InvalidArgumentError(f"{self.name} must have rows; got no batch.")

    def batches(self) -> Iterator[Any]:
        """Open the batches, and read them."""
        yield from _as_batches(self.opener())


@dataclass(frozen=True, eq=False)
class Source:
    """The parts of one table."""

    parts: tuple[RawPart, ...]  # in the order of the rows
    name: str
    temporary: Any = field(default=None, repr=False)  # holds files that are deleted with it
    drop: tuple[str, ...] = ()  # columns to leave out
    # Whether rows without a class are left out; otherwise they are an error.
    skips_unlabelled: bool = False


class _TemporaryFolder:
    """A folder that is deleted with this object, or when the process ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="sureleaf-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


@contextmanager
def copying() -> Iterator[None]:
    """Word the error of a full disk while something is copied to the temporary folder."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise InvalidArgumentError(
            f"the temporary folder {tempfile.gettempdir()!r} must have room for a copy of the "
            "rows; its disk is full. Free some room, or name another folder in the environment "
            "variable TMPDIR."
        ) from error


def reserve(file: Any, n_bytes: int) -> None:
    """Give an empty file its size on the disk. A map of a file that has none ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(1 << 22)
    for start in range(0, n_bytes, len(zeros)):
        file.write(zeros[: n_bytes - start])
    file.flush()


def is_source(X: Any) -> bool:
    """Return whether this is a table that is read in batches, not a table in memory."""
    kind = f"{type(X).__module__}.{type(X).__name__}"
    is_lazy = kind.startswith("polars") and kind.endswith("LazyFrame")
    is_relation = "duckdb" in kind.lower() and kind.endswith("Relation")
    is_dataset = hasattr(X, "to_batches") and hasattr(X, "scanner")  # of pyarrow
    return (
        isinstance(X, Source | str | os.PathLike)
        or is_dask(X)
        or _are_paths(X)
        or is_lazy
        or is_relation
        or is_dataset
        or isinstance(X, Iterator)  # such as a RecordBatchReader
        or (callable(X) and not hasattr(X, "shape"))
    )


def is_dask(X: Any) -> bool:
    """Return whether this is a Dask DataFrame, or a list of delayed partitions or futures."""
    items = X if isinstance(X, list | tuple) and X else [X]
    return all(type(item).__module__.partition(".")[0] in _DASK for item in items)


_DASK: Final = ("dask", "dask_expr", "distributed")


def join_series(X: Any, given: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Make columns of a Dask DataFrame of Dask's Series beside it; return their names for them.

    A Series whose name the table has already, or that has none, gets a new one.
    """
    named = list(given)
    for index, series in enumerate(given):
        if hasattr(X, "assign") and is_dask(series) and hasattr(series, "name"):
            name = str(series.name)
            while name in X.columns:
                name += "_"
            X = X.assign(**{name: series})
            named[index] = name
    return X, named


def _are_paths(X: Any) -> bool:
    return (
        isinstance(X, list | tuple)
        and len(X) > 0
        and all(isinstance(path, str | os.PathLike) for path in X)
    )


def open_source(X: Any, *, csv: CsvFormat | None = None) -> Source:
    """Divide a table into parts.

    A folder of Parquet, Arrow or CSV files, one such file, a list of files, a polars LazyFrame, a
    DuckDB relation, a pyarrow dataset, a function that opens batches anew with every call, or any
    object with an Arrow C stream. A stream that can be read only once, and a CSV file, are first
    copied to a temporary Arrow file.
    """
    import pyarrow as pa

    if isinstance(X, Source):
        return X
    if isinstance(X, str | os.PathLike):
        return _open_files(list_files(Path(X)), Path(X).name, csv)
    if _are_paths(X):
        return _open_files([Path(path) for path in X], f"{len(X)} files", csv)
    if isinstance(X, pa.Table | pa.RecordBatch):
        return Source((TablePart(pa.table(X)),), "the table")
    if callable(X):
        return Source((OpenedPart(X),), "the batches")
    folder = _TemporaryFolder()
    path = os.path.join(folder.name, "rows.arrow")
    name = type(X).__name__
    if hasattr(X, "sink_ipc"):  # polars writes without holding all rows
        import polars as pl

        X.sink_ipc(path, compression="uncompressed", compat_level=pl.CompatLevel.oldest())
    else:
        with copying():
            return Source(tuple(_spill(_as_batches(X), path, name)), name, folder)
    return Source(tuple(_arrow_parts(path, name)), name, folder)


def read_part(part: RawPart) -> Iterator[Any]:
    """Read the batches of a part that have rows; every error names the part."""
    import pyarrow as pa

    try:
        for batch in part.batches():
            if batch.num_rows:
                check_arrow(batch)
                yield _without_views(batch)
    except SureleafError:
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        cause = " ".join(str(error).split()).rstrip(".")[:200]
        raise InvalidArgumentError(
            f"{part.name} cannot be read: {cause}. Write or copy it again."
        ) from error


# ---- files ---------------------------------------------------------------------------------------


def _open_files(paths: Sequence[Path], name: str, csv: CsvFormat | None) -> Source:
    from sureleaf.files.csv_reader import copy_csv

    parts: list[RawPart] = []
    folder: Any = None
    for path in paths:
        stamp = _stamp(path)
        source = open_bytes(path)
        with reading(source):
            if source.format == "parquet" and source.path is not None:
                parts += _parquet_parts(path, open_parquet(source).metadata, stamp)
            elif source.format == "arrow file" and source.path is not None:
                parts += _arrow_parts(str(path), path.name, stamp)
            elif source.format in ("arff", "excel"):
                parts.append(TablePart(read_whole(source), path.name))
            else:
                folder = folder or _TemporaryFolder()
                spilled = os.path.join(folder.name, f"{len(parts)}.arrow")
                with copying():
                    if source.format == "csv":
                        copy_csv(source, csv or CsvFormat(), spilled)
                        parts += _arrow_parts(spilled, path.name)
                    elif source.format == "parquet":
                        file = open_parquet(source)
                        rows = parquet_batches(file, file.metadata.num_rows, batch_size=BATCH_ROWS)
                        parts += _spill(rows, spilled, path.name)
                    else:
                        parts += _spill(_as_batches(open_arrow(source)), spilled, path.name)
    if not parts:
        raise InvalidArgumentError(f"{name} must have rows; got none.")
    return Source(tuple(parts), name, folder)


@contextmanager
def _reading_file(path: str, stamp: Stamp | None = None) -> Iterator[Any]:
    """Open a file; if it has a stamp, it must be as it was when the source was opened."""
    if stamp is not None and _stamp(path) != stamp:
        raise changed_error(Path(path).name)
    source = open_bytes(path)
    try:
        with reading(source):
            yield source
    finally:
        source.close()


def _stamp(path: str | Path) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:  # gone; to open it is an error that says so
        return None
    return status.st_size, status.st_mtime_ns


def changed_error(name: str) -> InvalidArgumentError:
    """Return the error for rows that are not those of the first pass."""
    return InvalidArgumentError(
        f"{name} must not change while rows are read, because they are read more than once; a "
        "change was found. Wait until everything is complete, or give a copy."
    )


def _parquet_parts(path: Path, metadata: Any, stamp: Stamp | None) -> Iterator[RawPart]:
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    spans = list(_spans(sizes))
    for first, last in spans:
        groups = f"{first}-{last - 1}" if last > first + 1 else str(first)
        name = path.name if len(spans) == 1 else f"{path.name}, row groups {groups}"
        yield FilePart(str(path), name, sum(sizes[first:last]), range(first, last), stamp)


def _arrow_parts(path: str, label: str, stamp: Stamp | None = None) -> Iterator[RawPart]:
    with _reading_file(path, stamp) as source:
        reader = open_arrow(source)
        sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    for first, last in _spans(sizes):
        name = f"{label}, batches {first} to {last - 1}"
        yield FilePart(path, name, sum(sizes[first:last]), range(first, last), stamp)


def _spans(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Put neighbours together until there are enough rows."""
    first, n_rows = 0, 0
    for index, size in enumerate(sizes):
        n_rows += size
        if n_rows >= _PART_ROWS or index == len(sizes) - 1:
            if n_rows:
                yield first, index + 1
            first, n_rows = index + 1, 0


# ---- streams that can be read only once ----------------------------------------------------------


def _as_batches(stream: Any) -> Iterator[Any]:
    """Return the record batches of a reader, a frame or an iterable of either."""
    import pyarrow as pa

    if isinstance(stream, pa.Table):
        yield from stream.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(stream, pa.RecordBatch):
        yield stream
    elif hasattr(stream, "to_arrow_reader"):  # DuckDB
        yield from stream.to_arrow_reader(BATCH_ROWS)
    elif hasattr(stream, "fetch_record_batch"):  # DuckDB before 1.4
        yield from stream.fetch_record_batch(BATCH_ROWS)
    elif hasattr(stream, "to_batches") and hasattr(stream, "scanner"):  # a pyarrow dataset
        yield from stream.to_batches(batch_size=BATCH_ROWS)
    elif isinstance(stream, pa.RecordBatchReader):
        yield from stream
    elif hasattr(stream, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(stream)
    elif isinstance(stream, Iterable):
        for item in stream:
            yield from _as_batches(item)
    else:
        raise InvalidTypeError(
            "a table that is read in batches must be a path, a list of paths, a LazyFrame, a "
            "relation, a function that opens batches, or an object with an Arrow C stream; got "
            f"{type(stream).__name__}."
        )


def _spill(batches: Iterable[Any], path: str, label: str) -> list[RawPart]:
    """Copy batches to files that can be read again, one with the rows of each part.

    They are streams, because batches may have different dictionaries, which an Arrow file cannot
    hold.
    """
    import pyarrow as pa

    waiting = (_without_views(given) for given in batches)
    first = next(waiting, None)
    if first is None:
        raise InvalidArgumentError(
            "a stream must have rows; got none. A reader gives its rows only once: open it again."
        )
    schema = first.schema
    _check_dictionaries(schema)

    def checked() -> Iterator[Any]:
        for batch in chain([first], waiting):
            if not batch.schema.equals(schema):
                raise InvalidArgumentError(
                    "batches of one stream must have the same columns; got "
                    f"{schema_difference(schema, batch.schema)}. Give each batch the same columns."
                )
            yield batch

    parts: list[RawPart] = []
    rows = checked()
    for start in rows:
        own, n_rows = f"{path}.{len(parts)}", 0
        with pa.ipc.new_stream(own, schema) as writer:
            for batch in chain([start], rows):
                writer.write_batch(batch)
                n_rows += batch.num_rows
                if n_rows >= _PART_ROWS:
                    break
        parts.append(FilePart(own, f"{label}, part {len(parts) + 1}", n_rows))
    return parts


def _check_dictionaries(schema: Any) -> None:
    """Raise if Arrow could write a column to a file, but not read it again."""
    import pyarrow as pa

    for column in schema:
        if pa.types.is_dictionary(column.type):
            values = column.type.value_type
            if pa.types.is_nested(values) or pa.types.is_dictionary(values):
                raise unusable_type_error(column.name, f"type {column.type}")


def schema_difference(expected: Any, got: Any) -> str:
    """Say how a schema differs from the expected one; empty if it does not.

    A column without any value may have Arrow's type null.
    """
    import pyarrow as pa

    if expected.names != got.names:
        missing = [name for name in expected.names if name not in got.names]
        extra = [name for name in got.names if name not in expected.names]
        if missing:
            return f"no column {missing[0]!r}"
        return f"a further column {extra[0]!r}" if extra else "the columns in another order"
    for name, first, other in zip(expected.names, expected.types, got.types, strict=True):
        if first != other and not pa.types.is_null(first) and not pa.types.is_null(other):
            return f"{other} in column {name!r} instead of {first}"
    return ""


def read_schema(part: RawPart) -> Any:
    """Return the schema that the batches of a part have."""
    import pyarrow as pa

    schema = part.schema()
    return pa.schema([pa.field(field.name, plain_type(field.type)) for field in schema])


def _without_views(batch: Any) -> Any:
    import pyarrow as pa

    columns = [_without_null_category(without_views(column)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _without_null_category(column: Any) -> Any:
    """Return a dictionary array in which rows of a null category are null themselves."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type) or not column.dictionary.null_count:
        return column
    values = column.dictionary
    index_of = pc.subtract(pc.cumulative_sum(values.is_valid().cast(pa.int64())), 1)
    known = pc.if_else(values.is_valid(), index_of, pa.scalar(None, pa.int64()))
    indices = known.take(column.indices).cast(column.type.index_type)
    ordered = column.type.ordered
    return pa.DictionaryArray.from_arrays(indices, values.drop_null(), ordered=ordered)

"""A table from a CSV, Parquet or Arrow file."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.csv_reader import CsvText, read_csv
from sureleaf.files.source import READ_ERRORS, Format, Source, open_source

__all__ = ["check_arrow", "column_names", "open_arrow", "open_parquet", "read_file", "reading"]

_FORMAT_NAMES: Final[dict[Format, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow file": "Arrow",
    "arrow stream": "Arrow",
}
_PANDAS_INDEX: Final = re.compile(r"__index_level_\d+__")
"""The name that pandas gives an unnamed index when it writes Parquet."""

_MAX_CAUSE: Final = 200


def read_file(
    path: str | os.PathLike[str],
    *,
    text_columns: Sequence[str] = (),
    missing: Sequence[str] = ("",),
    csv: CsvFormat | None = None,
) -> Any:
    r"""Read a CSV, Parquet or Arrow file as an Arrow table.

    The format is detected from the first bytes, whatever the file is called. A compressed file
    (gzip, bzip2, xz, zstandard) is decompressed, a pipe is read to its end, and "-" is standard
    input.

    A CSV file has a header. Its delimiter (comma, semicolon, tab or bar) is detected from the
    first rows; if it is not a comma, ``1,5`` may be a number. The encoding is UTF-8, or UTF-16
    with a byte order mark, unless another one is given. A column is text if one of its cells is
    not a number, however far down, or if its numbers are in quotes and other columns are not.

    Parameters
    ----------
    path : str or path
        The file, or "-".
    text_columns : sequence of str
        Columns to read as text even if all cells look like numbers, such as
        ``schema.text_columns`` of the schema of a fitted model.
    missing : sequence of str
        Cells of text columns that mean a missing value; by default, empty ones. In columns of
        numbers or dates, NA, NaN, null, ? and similar marks mean a missing value, too.
    csv : CsvFormat, optional
        Delimiter, encoding, decimal mark and further missing values of a CSV file.

    Returns
    -------
    pyarrow.Table
        Ready for `sureleaf.table.read_table` and `sureleaf.table.encode`.

    Raises
    ------
    InvalidArgumentError
        If the file does not exist, is empty, damaged or in another encoding, if a row has too few
        or too many cells (the message has the line number), or if two columns have the same name.

    Warns
    -----
    UserWarning
        If a column has no name, is text because of a few cells, or has a category such as ``?``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text('zip;age;sex\n"01234";38,5;f\n"10115";;m\n')
    >>> read_file(path).to_pydict()
    {'zip': ['01234', '10115'], 'age': [38.5, None], 'sex': ['f', 'm']}
    """
    csv_format = csv or CsvFormat()
    source = open_source(path)
    with reading(source):
        if source.format == "csv":
            all_missing = [*missing, *csv_format.missing]
            return read_csv(source, csv_format, text_columns=text_columns, missing=all_missing)
        is_parquet = source.format == "parquet"
        table = open_parquet(source).read() if is_parquet else open_arrow(source).read_all()
        check_arrow(table)
        return _drop_pandas_index(_without_views(table), source.name)


def column_names(path: str | os.PathLike[str], csv: CsvFormat | None = None) -> tuple[str, ...]:
    r"""Return the column names of a file; only its first bytes are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip;age\n01234;38\n")
    >>> column_names(path)
    ('zip', 'age')
    """
    source = open_source(path)
    with reading(source):
        if source.format == "csv":
            return CsvText(source, csv or CsvFormat()).dialect.header
        if source.format == "parquet":
            return tuple(open_parquet(source).schema_arrow.names)
        return tuple(open_arrow(source).schema.names)


def open_parquet(source: Source, *, in_batches: bool = False) -> Any:
    """Open a Parquet file without reading its rows; in batches, it is never wholly in memory."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(source.seekable(), pre_buffer=not in_batches)


def open_arrow(source: Source) -> Any:
    """Open an Arrow file or stream without reading its rows."""
    import pyarrow as pa

    if source.format == "arrow file":
        return pa.ipc.open_file(source.seekable())
    if source.can_reopen:
        return pa.ipc.open_stream(source.seekable())
    return pa.ipc.open_stream(pa.PythonFile(source.open(), "r"))


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Turn every error that damaged bytes raise into one that names the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> _ = path.write_bytes(b"PAR1, and then nothing")
    >>> read_file(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: rows.parquet is a damaged or truncated Parquet file: ...
    """
    import pyarrow as pa

    errors: tuple[type[Exception], ...] = (pa.ArrowException, *READ_ERRORS)
    if source.format != "csv":  # names and types that are nonsense
        errors = (*errors, ValueError, TypeError, LookupError, OverflowError, NotImplementedError)
    try:
        yield
    except SureleafError:
        raise
    except errors as error:
        cause = " ".join(str(error).split()).rstrip(".")[:_MAX_CAUSE]
        raise InvalidArgumentError(
            f"{source.name} is a damaged or truncated {_FORMAT_NAMES[source.format]} file: "
            f"{cause}. Write or copy it again."
        ) from error


def check_arrow(values: Any) -> None:
    """Check every offset, text and dictionary code of Arrow data.

    Arrow itself trusts them: a wrong one makes it read foreign memory, or crash.

    Parameters
    ----------
    values : pyarrow.Table, RecordBatch, ChunkedArray or Array

    Raises
    ------
    pyarrow.ArrowInvalid
        If one is wrong.

    Examples
    --------
    >>> import pyarrow
    >>> indices = pyarrow.array([0, 5])
    >>> codes = pyarrow.DictionaryArray.from_arrays(indices, ["a", "b"], safe=False)
    >>> check_arrow(codes)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    pyarrow.lib.ArrowInvalid: Dictionary indices invalid: value at position 1 out of bounds
    """
    for column in getattr(values, "columns", [values]):
        for chunk in getattr(column, "chunks", [column]):
            chunk.validate(full=not _is_plain_ascii(chunk))


def _is_plain_ascii(texts: Any) -> bool:
    """Return whether an array is text in ASCII with correct offsets.

    This says within a microsecond per kilobyte what Arrow's full check says text by text, which
    takes as long as reading a Parquet file.
    """
    import pyarrow as pa

    is_large = pa.types.is_large_string(texts.type)
    if not is_large and not pa.types.is_string(texts.type):
        return False
    _, offset_buffer, data = texts.buffers()
    if offset_buffer is None or data is None:
        return False
    offset_type = np.dtype(np.int64 if is_large else np.int32)
    if offset_buffer.size < (texts.offset + len(texts) + 1) * offset_type.itemsize:
        return False
    offsets = np.frombuffer(
        offset_buffer, offset_type, len(texts) + 1, texts.offset * offset_type.itemsize
    )
    first, last = int(offsets[0]), int(offsets[-1])
    if not 0 <= first <= last <= data.size or (offsets[1:] < offsets[:-1]).any():
        return False
    letters = np.frombuffer(data, np.int8)[first:last]
    return last == first or bool(letters.min() >= 0)


def _without_views(table: Any) -> Any:
    """Return a table whose text views are plain text: Arrow can hardly compute with views."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    for index, field in enumerate(table.schema):
        if field.type in plain:
            column = table.column(index).cast(plain[field.type])
            table = table.set_column(index, field.name, column)
    return table


def _drop_pandas_index(table: Any, file_name: str) -> Any:
    names = table.column_names
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidArgumentError(
            f"columns of {file_name} must have different names; got {repeated[0]!r} more than "
            "once. Rename or drop the duplicates."
        )
    return table.drop_columns([name for name in names if _PANDAS_INDEX.fullmatch(name)])

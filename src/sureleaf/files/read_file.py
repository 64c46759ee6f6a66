"""A table from a CSV, Parquet, Arrow, ARFF or Excel file."""

import io
import itertools
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from sureleaf import _kernel
from sureleaf.errors import (
    DISK_FULL,
    InvalidArgumentError,
    SureleafError,
    optional_library,
    warn_caller,
)
from sureleaf.files.arff import read_arff
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.source import READ_ERRORS, ByteSource, TableFormat, open_bytes

_FORMAT_NAMES: Final[dict[TableFormat, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow file": "Arrow",
    "arrow stream": "Arrow",
    "arff": "ARFF",
    "excel": "Excel",
}
_PANDAS_INDEX: Final = re.compile(r"__index_level_\d+__")
"""The name that pandas gives an unnamed index when it writes Parquet."""

_MAX_CAUSE: Final = 200

BATCH_ROWS: Final = 1 << 16
"""Rows of a batch, where a file does not say it."""


def read_file(path: str | os.PathLike[str], *, csv: CsvFormat | None = None) -> Any:
    r"""Read a CSV, Parquet, Arrow, ARFF or Excel file as an Arrow table.

    The format is detected from the first bytes, whatever the file is called. A compressed file
    (gzip, bzip2, xz, zstandard) is decompressed, a pipe is read to its end, and "-" is standard
    input.

    A CSV file has a header. Its delimiter (comma, semicolon, tab or bar) is detected from the
    first rows; if it is not a comma, ``1,5`` may be a number. The encoding is UTF-8, or UTF-16
    with a byte order mark, unless another one is given. A column is text if one of its cells is
    not a number, however far down, or if its numbers are in quotes and other columns are not.

    Of an Excel workbook (.xlsx), the first sheet is read, whose first row has the names; this needs
    ``pip install sureleaf[excel]``. Nominal columns of an ARFF file are categories.

    An empty cell is a missing value; in columns of numbers or dates, NA, NaN, null, ? and similar
    marks are, too.

    Wrong rows, damaged bytes and repeated names are errors with the place. Columns without a name,
    or that probably were meant to be something else, and further sheets are warnings.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text('zip;age;sex\n"01234";38,5;f\n"10115";;m\n')
    >>> read_file(path).to_pydict()
    {'zip': ['01234', '10115'], 'age': [38.5, None], 'sex': ['f', 'm']}
    """
    import pyarrow as pa

    from sureleaf.files.csv_reader import read_csv

    source = open_bytes(path)
    with reading(source):
        if source.format == "csv":
            return read_csv(source, csv or CsvFormat())
        if source.format in ("arff", "excel"):
            return read_whole(source)
        if source.format == "parquet":
            file = open_parquet(source)
            table = file.read()
            _check_row_count(table.num_rows, file.metadata.num_rows)
        else:
            table = open_arrow(source).read_all()
        check_arrow(table)
        columns = [without_views(column) for column in table.columns]
        table = pa.Table.from_arrays(columns, names=table.column_names)
        return _drop_pandas_index(table, source.name)


def read_whole(source: ByteSource) -> Any:
    """Return the table of a format that cannot be read in pieces."""
    with source.open() as stream:
        content = stream.read()
    if source.format == "excel":
        return _drop_pandas_index(_read_excel(content, source.name), source.name)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # every sequence of bytes is text in it
    return _drop_pandas_index(read_arff(text, source.name), source.name)


_EXCEL_GROWTH: Final = 200
_EXCEL_BYTES: Final = 100 << 20
"""A workbook may unpack to so many times its size, and so many bytes more."""
_EXCEL_CELLS: Final = 5_000_000
"""A sheet may have so many cells more than bytes of XML."""
_EXCEL_LETTERS: Final = 10
"""The cells may have so many times more letters than the workbook has bytes of XML."""


def _read_excel(content: bytes, name: str) -> Any:
    """Return the first sheet of a workbook."""
    import pyarrow as pa

    openpyxl = optional_library("openpyxl", needed="to read an Excel file")
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        unpacked = sum(part.file_size for part in parts.infolist())
    if unpacked > _EXCEL_GROWTH * len(content) + _EXCEL_BYTES:
        raise InvalidArgumentError(
            f"{name} must be a workbook of ordinary size; got one that unpacks to "
            f"{unpacked >> 20} MB. Save the table as CSV."
        )
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # the size that a sheet states of itself may be wrong
    header, rows = _excel_rows(sheet.iter_rows(values_only=True), name, unpacked + _EXCEL_CELLS)
    others = [other.title for other in book.worksheets[1:] if _has_cells(other)]
    book.close()
    if others:
        warn_caller(
            f"{name} has more sheets than {sheet.title!r}, the first one, which is read; not read: "
            f"{', '.join(map(repr, others[:5]))}{', ...' if len(others) > 5 else ''}",
            UserWarning,
        )
    # Any number of cells may point to one long text.
    n_letters = sum(len(cell) for row in rows for cell in row if isinstance(cell, str))
    if n_letters > _EXCEL_LETTERS * unpacked + _EXCEL_BYTES:
        raise InvalidArgumentError(
            f"{name} must be a workbook of ordinary size; got {n_letters >> 20} MB of repeated "
            "texts. Save the table as CSV."
        )
    names = [f"column {i + 1}" if cell is None else str(cell) for i, cell in enumerate(header)]
    columns = [
        _excel_column([row[i] if i < len(row) else None for row in rows])
        for i in range(len(header))
    ]
    return pa.Table.from_arrays(columns, names=names)


def _has_cells(sheet: Any) -> bool:
    """Return whether one of the first rows of a sheet has a value."""
    sheet.reset_dimensions()
    first = itertools.islice(sheet.iter_rows(values_only=True), 20)
    return any(cell is not None for row in first for cell in row)


def _excel_rows(
    rows: Iterator[tuple[Any, ...]], name: str, most_cells: int
) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return the cells of the first row, and those of the others without the empty last ones.

    A sheet of a few bytes may place a cell in its last row and column: cells are counted.
    """
    header = _without_empty_end(next(rows, ()))
    if not header:
        raise InvalidArgumentError(
            f"the first row of the first sheet of {name} must have the names of the columns; got "
            "an empty row. Move the table to the first cell."
        )
    table: list[tuple[Any, ...]] = []
    n_rows = 0
    for number, cells in enumerate(rows, start=1):
        row = _without_empty_end(cells)
        if len(row) > len(header):
            raise InvalidArgumentError(
                f"every column of the first sheet of {name} must have a name in the first row; got "
                f"cells to the right of the {len(header)} names. Name the columns, delete titles "
                "above the names, or delete these cells."
            )
        if number * len(header) > most_cells:
            raise InvalidArgumentError(
                f"{name} must have rows without wide gaps; got more than {most_cells:,} cells, and "
                "most of them are empty. Move the table to the first cell, or save it as CSV."
            )
        table.append(row)
        n_rows = number if row else n_rows
    return header, table[:n_rows]


def _without_empty_end(cells: Sequence[Any]) -> tuple[Any, ...]:
    end = len(cells)
    while end and cells[end - 1] is None:
        end -= 1
    return tuple(cells[:end])


def _excel_column(cells: list[Any]) -> Any:
    """Return a column of one type: numbers, bools, dates, or text if they are mixed."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if len(kinds) > 1:
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return pa.array(cells)


def open_parquet(source: ByteSource) -> Any:
    """Open a Parquet file without reading its rows."""
    import pyarrow.parquet as pq

    # No buffer_size: Arrow would allocate what a damaged page states as its size, up to 2 GB.
    return pq.ParquetFile(source.seekable(), pre_buffer=False)


def parquet_batches(file: Any, n_rows: int, **options: Any) -> Iterator[Any]:
    """Read the batches of a Parquet file; it is an error if they have fewer rows than it states.

    Arrow 17 ends without a word where a file has become shorter.
    """
    n_read = 0
    for batch in file.iter_batches(**options):
        n_read += batch.num_rows
        yield batch
    _check_row_count(n_read, n_rows)


def _check_row_count(n_read: int, n_rows: int) -> None:
    if n_read != n_rows:
        raise OSError(f"it states {n_rows:,} rows, and {n_read:,} can be read")


def open_arrow(source: ByteSource) -> Any:
    """Open an Arrow file or stream without reading its rows."""
    import pyarrow as pa

    if source.format == "arrow file":
        return pa.ipc.open_file(source.seekable())
    if source.can_reopen:
        return pa.ipc.open_stream(source.seekable())
    return pa.ipc.open_stream(pa.PythonFile(source.open(), "r"))


def record_batches(reader: Any) -> Iterator[Any]:
    """Return the batches of an opened Arrow file or stream."""
    if not hasattr(reader, "num_record_batches"):
        return iter(reader)
    return (reader.get_batch(index) for index in range(reader.num_record_batches))


@contextmanager
def reading(source: ByteSource) -> Iterator[None]:
    """Turn every error that damaged bytes raise into one that names the file."""
    import pyarrow as pa

    errors: tuple[type[Exception], ...] = (pa.ArrowException, *READ_ERRORS)
    if source.format != "csv":  # names and types that are nonsense
        errors = (*errors, ValueError, TypeError, LookupError, OverflowError, RuntimeError)
        errors = (*errors, zipfile.BadZipFile, SyntaxError, AttributeError)
    try:
        yield
    except SureleafError:
        raise
    except errors as error:
        if getattr(error, "errno", None) in DISK_FULL:  # of a copy; reading needs no room
            raise
        cause = " ".join(str(error).split()).rstrip(".")[:_MAX_CAUSE]
        raise InvalidArgumentError(
            f"{source.name} is a damaged or truncated {_FORMAT_NAMES[source.format]} file: "
            f"{cause}. Write or copy it again."
        ) from error


def check_arrow(values: Any) -> None:
    """Check every offset, text and dictionary code of Arrow data.

    Arrow itself trusts them: a wrong one makes it read foreign memory, or crash.
    """
    for column in getattr(values, "columns", [values]):
        for chunk in getattr(column, "chunks", [column]):
            chunk.validate(full=not _is_plain_ascii(chunk))


def _is_plain_ascii(texts: Any) -> bool:
    """Return whether an array is text in ASCII with correct offsets.

    Arrow's full check says the same text by text, which takes as long as reading the file.
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
    return _kernel.are_ascii(offsets, np.frombuffer(data, np.uint8))


def without_views(values: Any) -> Any:
    """Return an array, chunked or not, without views and runs: Arrow hardly computes with them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(values.type):
        return without_views(pc.run_end_decode(values))
    plain = plain_type(values.type)
    if plain == values.type:
        return values
    try:
        return values.cast(plain)
    except pa.ArrowNotImplementedError:  # pyarrow 17 has no such cast
        chunks = getattr(values, "chunks", [values])
        arrays = [pa.array(chunk.to_pylist(), plain) for chunk in chunks]
        is_chunked = isinstance(values, pa.ChunkedArray)
        return pa.chunked_array(arrays, plain) if is_chunked else arrays[0]


def plain_type(arrow_type: Any) -> Any:
    """Return the type of values without views and runs; other types as they are."""
    import pyarrow as pa

    if pa.types.is_run_end_encoded(arrow_type):
        return plain_type(arrow_type.value_type)
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return plain.get(arrow_type, arrow_type)


def _drop_pandas_index(table: Any, file_name: str) -> Any:
    names = table.column_names
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidArgumentError(
            f"columns of {file_name} must have different names; got {repeated[0]!r} more than "
            "once. Rename or drop the duplicates."
        )
    return table.drop_columns([name for name in names if _PANDAS_INDEX.fullmatch(name)])

"""A table from a CSV, Parquet or Arrow file."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.csv_reader import CsvText, read_csv
from sureleaf.files.source import READ_ERRORS, Format, Source, open_source

__all__ = ["column_names", "damaged_file_error", "open_arrow", "open_parquet", "read_file"]

_FORMAT_NAMES: Final[dict[Format, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow file": "Arrow",
    "arrow stream": "Arrow",
    "feather 1": "Feather",
}
_PANDAS_INDEX: Final = re.compile(r"__index_level_\d+__")
"""The name that pandas gives an unnamed index when it writes Parquet."""


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
    import pyarrow as pa

    csv_format = csv or CsvFormat()
    source = open_source(path)
    try:
        if source.format == "csv":
            all_missing = [*missing, *csv_format.missing]
            return read_csv(source, csv_format, text_columns=text_columns, missing=all_missing)
        table = open_parquet(source).read() if source.format == "parquet" else _read_arrow(source)
    except (pa.ArrowException, *READ_ERRORS) as error:
        raise damaged_file_error(source, error) from error
    return _drop_pandas_index(table, source.name)


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
    import pyarrow as pa

    source = open_source(path)
    try:
        if source.format == "csv":
            return CsvText(source, csv or CsvFormat()).dialect.header
        if source.format == "parquet":
            return tuple(open_parquet(source).schema_arrow.names)
        return tuple(open_arrow(source).schema.names)
    except (pa.ArrowException, *READ_ERRORS) as error:
        raise damaged_file_error(source, error) from error


def open_parquet(source: Source) -> Any:
    """Open a Parquet file without reading its rows."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(source.seekable())


def open_arrow(source: Source) -> Any:
    """Open an Arrow file or stream without reading its rows."""
    import pyarrow as pa

    if source.format == "arrow file":
        return pa.ipc.open_file(source.seekable())
    if source.can_reopen:
        return pa.ipc.open_stream(source.seekable())
    return pa.ipc.open_stream(pa.PythonFile(source.open(), "r"))


def _read_arrow(source: Source) -> Any:
    if source.format == "feather 1":
        from pyarrow import feather

        return feather.read_table(source.seekable())
    return open_arrow(source).read_all()


def damaged_file_error(source: Source, error: Exception) -> InvalidArgumentError:
    """Return the error for a file whose first bytes are right and whose rows cannot be read."""
    cause = " ".join(str(error).split()).rstrip(".")
    return InvalidArgumentError(
        f"{source.name} is a damaged or truncated {_FORMAT_NAMES[source.format]} file: {cause}. "
        "Write or copy it again."
    )


def _drop_pandas_index(table: Any, file_name: str) -> Any:
    names = table.column_names
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidArgumentError(
            f"columns of {file_name} must have different names; got {repeated[0]!r} more than "
            "once. Rename or drop the duplicates."
        )
    return table.drop_columns([name for name in names if _PANDAS_INDEX.fullmatch(name)])

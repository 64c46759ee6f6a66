"""A table from a CSV, Parquet or Arrow file."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.csv_reader import CsvText, read_csv
from sureleaf.files.source import BROKEN, Format, Source, find_source

__all__ = ["column_names", "damaged", "open_arrow", "open_parquet", "read_file"]


_KIND_NAMES: Final[dict[Format, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow file": "Arrow",
    "arrow stream": "Arrow",
    "feather 1": "Feather",
}
_PANDAS_INDEX: Final = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name when it writes Parquet."""


def read_file(
    path: str | os.PathLike[str],
    *,
    text_columns: Sequence[str] = (),
    missing: Sequence[str] = ("",),
    csv: CsvFormat | None = None,
) -> Any:
    r"""Read a CSV, Parquet or Arrow file as an Arrow table.

    What the file is, is seen from its first bytes, whatever its name; a compressed CSV (gzip,
    bzip2, xz, zstandard) is decompressed, a pipe is read to its end, and "-" is standard input. A
    CSV file has a header; its delimiter is the one of comma, semicolon, tab and bar that splits its
    first rows alike; with another delimiter than a comma, ``1,5`` may be a number. Text is UTF-8
    (or UTF-16 with a byte order mark) if no encoding is given. A column of numbers is text if they
    are quoted while other columns are not, or if not all cells are numbers, however late those
    come.

    Parameters
    ----------
    path : str or path
        The file, or "-".
    text_columns : sequence of str
        Columns to keep as text even if all cells look like numbers, such as
        ``schema.text_columns`` of a schema learnt before.
    missing : sequence of str
        Cells of text columns that are missing: by default, empty ones. In columns of numbers or
        dates, NA, NaN, null, ? and the like are missing too.
    csv : CsvFormat, optional
        What is known about a CSV file: its delimiter, encoding, decimal mark and further cells
        that are missing.

    Returns
    -------
    pyarrow.Table
        Ready for `read_table` and `encode`.

    Raises
    ------
    InvalidArgumentError
        If there is no such file, it is empty, damaged or of another encoding, a row has too few or
        too many cells (the message has the line number), or two columns have one name.

    Warns
    -----
    UserWarning
        If a column has no name, is text because of a few cells, or keeps marks such as ``?`` as
        categories.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text('zip;age;sex\n"01234";38,5;f\n"10115";;m\n')
    >>> read_file(path).to_pydict()
    {'zip': ['01234', '10115'], 'age': [38.5, None], 'sex': ['f', 'm']}
    """
    import pyarrow as pa

    given = csv or CsvFormat()
    source = find_source(path)
    kind = source.format
    try:
        if kind == "csv":
            gone = [*missing, *given.missing]
            return read_csv(source, given, text_columns=text_columns, missing=gone)
        table = open_parquet(source).read() if kind == "parquet" else _read_arrow(source)
    except (pa.ArrowException, *BROKEN) as error:
        raise damaged(source, error) from error
    return _plain(table, source.name)


def column_names(path: str | os.PathLike[str], csv: CsvFormat | None = None) -> tuple[str, ...]:
    r"""Name the columns of a file, of which only the first bytes are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip;age\n01234;38\n")
    >>> column_names(path)
    ('zip', 'age')
    """
    import pyarrow as pa

    source = find_source(path)
    try:
        if source.format == "csv":
            return CsvText(source, csv or CsvFormat()).dialect.header
        if source.format == "parquet":
            return tuple(open_parquet(source).schema_arrow.names)
        return tuple(open_arrow(source).schema.names)
    except (pa.ArrowException, *BROKEN) as error:
        raise damaged(source, error) from error


def open_parquet(source: Source) -> Any:
    """Open a Parquet file without reading its rows.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.parquet"
    >>> pyarrow.parquet.write_table(pyarrow.table({"age": [38]}), path)
    >>> open_parquet(find_source(path)).schema_arrow.names
    ['age']
    """
    import pyarrow.parquet as pq

    return pq.ParquetFile(source.seekable())


def open_arrow(source: Source) -> Any:
    """Open an Arrow file or stream without reading its rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.arrow"
    >>> table = pyarrow.table({"age": [38]})
    >>> with pyarrow.ipc.new_file(path, table.schema) as file:
    ...     file.write_table(table)
    >>> open_arrow(find_source(path)).schema.names
    ['age']
    """
    import pyarrow as pa

    if source.format == "arrow file":
        return pa.ipc.open_file(source.seekable())
    if source.again:
        return pa.ipc.open_stream(source.seekable())
    return pa.ipc.open_stream(pa.PythonFile(source.open(), "r"))


def _read_arrow(source: Source) -> Any:
    if source.format == "feather 1":
        from pyarrow import feather

        return feather.read_table(source.seekable())
    return open_arrow(source).read_all()


def damaged(source: Source, error: Exception) -> InvalidArgumentError:
    """Make the error for a file that starts well and cannot be read.

    Examples
    --------
    >>> import io
    >>> source = Source("data.csv", b"PAR1", None, io.BytesIO)
    >>> str(damaged(source, OSError("too short")))
    'data.csv is a damaged or cut Parquet file: too short. Write or copy it again.'
    """
    kind = _KIND_NAMES[source.format]
    said = " ".join(str(error).split()).rstrip(".")
    return InvalidArgumentError(
        f"{source.name} is a damaged or cut {kind} file: {said}. Write or copy it again."
    )


def _plain(table: Any, name: str) -> Any:
    names = table.column_names
    again = [column for column, count in Counter(names).items() if count > 1]
    if again:
        raise InvalidArgumentError(
            f"columns of {name} must have different names; got {again[0]!r} more than once. Rename "
            "or drop the duplicates."
        )
    return table.drop_columns([column for column in names if _PANDAS_INDEX.fullmatch(column)])

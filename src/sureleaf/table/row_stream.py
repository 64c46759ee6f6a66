"""The rows of a file some at a time, as a schema wants them, in memory that does not grow."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, suggestion
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.csv_reader import MISSING_NUMBERS, CsvText
from sureleaf.files.read_file import damaged, open_arrow, open_parquet
from sureleaf.files.source import BROKEN, Source, find_source
from sureleaf.table.schema import Column, Schema

__all__ = ["RowStream", "stream_rows"]


_BLOCK: Final = 1 << 22
_BATCH_ROWS: Final = 1 << 16
_EXACT: Final = 2**53
_BAD_CELL: Final = re.compile(r"column #(\d+): (?:Row #\d+: )?CSV conversion error .*'(.*)'", re.S)


@dataclass(frozen=True, eq=False)
class RowStream:
    """The rows of a file, on their way.

    Parameters
    ----------
    batches : iterator of pyarrow.Table
        Some rows each: the schema's columns by its names and types, and those to be kept.
    expected : float or None
        How many rows there are, or about how many; None where nobody knows.

    Examples
    --------
    >>> RowStream(iter([]), 0).expected
    0
    """

    batches: Iterator[Any]
    expected: float | None = None


def stream_rows(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    keep: Sequence[str] = (),
    csv: CsvFormat | None = None,
) -> RowStream:
    r"""Read the rows of a file some at a time, each column as the schema wants it.

    What a column is does not depend on which rows come together: text stays text where some rows
    look like numbers, and a column without any value is of its type all the same.

    Parameters
    ----------
    path : str or path
        A CSV, Parquet or Arrow file, or "-" for standard input.
    schema : Schema
        What a model has learnt.
    keep : sequence of str
        Further columns; text as it is written, of a CSV file.
    csv : CsvFormat, optional
        What is known about a CSV file.

    Returns
    -------
    RowStream

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If a column is not there or holds something else; also while rows are read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> _ = path.write_text("id,zip,age\n7,01234,\n8,10115,38\n")
    >>> schema = Schema((Column("age", "numeric"), Column("zip", "categorical", ("01234",))))
    >>> [rows.to_pydict() for rows in stream_rows(path, schema, keep=["id"]).batches]
    [{'age': [None, 38.0], 'zip': ['01234', '10115'], 'id': ['7', '8']}]
    """
    source = find_source(path, once=True)
    if source.format == "csv":
        file = CsvText(source, csv or CsvFormat())
        rows, expected = _csv_rows(file, schema, keep), file.expected_rows()
    else:
        rows, expected = _typed_rows(source, schema, keep)
    return RowStream(_guarded(rows, source), expected)


def _guarded(rows: Iterator[Any], source: Source) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from rows
    except (pa.ArrowException, *BROKEN) as error:
        raise damaged(source, error) from error
    finally:
        source.close()


def _wanted(there: Sequence[str], schema: Schema, keep: Sequence[str], file: str) -> list[str]:
    """Names in the file of the schema's columns; for a schema without names, by place."""
    names = list(schema.names)
    if not schema.named and not set(names) <= set(there):
        names = [name for name in there if name not in keep]
        if len(names) != len(schema):
            raise InvalidArgumentError(
                f"{file} must have {len(schema)} columns besides those kept, because the model was "
                f"fitted on columns without names; got {len(names)}."
            )
    missing = [name for name in [*names, *keep] if name not in there]
    if missing:
        more = f" and {len(missing) - 1} more columns" if len(missing) > 1 else ""
        raise InvalidArgumentError(
            f"{file} must have the column {missing[0]!r}{more}"
            f"{' to be kept' if missing[0] in keep else ', as the rows of the fit had'}."
            f"{suggestion(missing[0], there)}"
        )
    return names


# ---- CSV ---------------------------------------------------------------------------------------


def _csv_rows(file: CsvText, schema: Schema, keep: Sequence[str]) -> Iterator[Any]:
    names = _wanted(file.dialect.header, schema, keep, file.source.name)
    return _parsed_rows(file, schema, names, keep)


def _parsed_rows(
    file: CsvText, schema: Schema, names: list[str], keep: Sequence[str]
) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if file.dialect.is_bare and file.source.is_short:
        return
    # The last column of the file is always among them: an open quote ends there.
    further = [name for name in (*keep, file.dialect.header[-1]) if name not in names]
    kept = list(dict.fromkeys(further))
    types = dict.fromkeys([*names, *kept], pa.string()) | {
        name: _csv_type(column) for name, column in zip(names, schema.columns, strict=True)
    }
    options = file.options(block=_BLOCK, types=types, include_columns=[*names, *kept])
    end = [*names, *kept].index(file.dialect.header[-1])
    last = None
    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    options["parse_options"].invalid_row_handler = note
    with file.stream() as stream:
        try:
            with arrow_csv.open_csv(stream, **options) as reader:
                for batch in reader:
                    if batch.num_rows:
                        yield _as_learnt(pa.table(batch), schema, names, keep, file)
                        last = batch.column(end)[-1].as_py()
        except pa.ArrowInvalid as error:
            raise _told(error, file, wrong) from error
        file.check_closed(stream, last)


def _told(error: Exception, file: CsvText, wrong: list[Any]) -> Exception:
    if wrong:
        if file.source.again and (found := file.ragged()) is not None:
            return found
        start = wrong[0].text[:60]
        return file.wrong_width(wrong[0].actual_columns, f"the row that starts with {start!r}")
    if "straddl" in str(error):
        return InvalidArgumentError(
            f"rows of {file.source.name} must be shorter than {_BLOCK >> 20} MB each to be read as "
            "they come; got a longer one. Convert the file to Parquet."
        )
    cell = _BAD_CELL.search(str(error))
    if cell is None:
        return error
    name, value = file.dialect.header[int(cell[1])], cell[2]
    remedy = f"if it means missing: --missing {value!r}"
    if re.fullmatch(r"[+-]?\d+,\d+", value):
        remedy = "if the comma is a decimal point: --decimal ,"
    return InvalidTypeError(
        f"column {name!r} of {file.source.name} must hold numbers or dates, as at fit; got "
        f"{value!r}{_row_of(file, name, value)}. Correct it, or {remedy}."
    )


def _row_of(file: CsvText, name: str, value: str) -> str:
    """Say in which row a cell is, by reading the file again if that can be done."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    if not file.source.again:
        return ""
    options = file.options(block=_BLOCK, types={name: pa.string()}, include_columns=[name])
    n_before = 0
    with file.stream() as stream, arrow_csv.open_csv(stream, **options) as reader:
        for batch in reader:
            place = pc.index(batch.column(0), value).as_py()
            if place >= 0:
                return f" in row {n_before + place + 1:,}"
            n_before += batch.num_rows
    return ""


def _csv_type(column: Column) -> Any:
    import pyarrow as pa

    family = column.category_family
    if column.kind == "numeric":
        return pa.float64()
    if family == "bool":
        return pa.bool_()
    if family == "number":
        whole = all(isinstance(category, int) for category in column.categories)
        large = whole and max(abs(category) for category in column.categories) > _EXACT  # type: ignore[arg-type]
        return pa.int64() if large else pa.float64()
    return pa.string()


def _as_learnt(
    rows: Any, schema: Schema, names: list[str], keep: Sequence[str], file: CsvText
) -> Any:
    """Columns by the schema's names; missing texts as null, dates as dates."""
    import pyarrow as pa

    found = {}
    for name, column in zip(names, schema.columns, strict=True):
        values = rows[name]
        if column.kind == "date":
            values = _as_dates(values, column, file)
        elif pa.types.is_string(values.type):
            values = _nulled(values, ("", *file.given.missing))
        found[column.name] = values
    return pa.table(found | {name: rows[name] for name in keep if name not in found})


def _nulled(values: Any, gone: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_missing = pc.is_in(values, value_set=pa.array(gone, pa.string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), values)


def _as_dates(values: Any, column: Column, file: CsvText) -> Any:
    import pyarrow as pa

    types: dict[str | None, list[Any]] = {
        "date": [pa.date32(), pa.timestamp("us"), pa.timestamp("ns")],
        "timestamp": [pa.timestamp("us"), pa.timestamp("ns"), pa.date32()],
        "utc": [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")],
        "time": [pa.time64("us"), pa.time64("ns")],
    }
    texts = _nulled(values, (*MISSING_NUMBERS, *file.given.missing))
    said: Exception | None = None
    for wanted in types.get(column.temporal, []):
        try:
            return texts.cast(wanted)
        except pa.ArrowInvalid as error:
            said = error
    raise InvalidTypeError(
        f"column {column.name!r} of {file.source.name} must hold values of the date type "
        f"{column.temporal!r}, as at fit; got text that is none ({said})."
    )


# ---- Parquet and Arrow -------------------------------------------------------------------------


def _typed_rows(
    source: Source, schema: Schema, keep: Sequence[str]
) -> tuple[Iterator[Any], float | None]:
    expected = None
    if source.format == "parquet":
        file = open_parquet(source)
        names = _wanted(file.schema_arrow.names, schema, keep, source.name)
        expected = file.metadata.num_rows
        columns = list(dict.fromkeys([*names, *keep]))
        batches = file.iter_batches(batch_size=_BATCH_ROWS, columns=columns)
    elif source.format == "feather 1":
        from pyarrow import feather

        table = feather.read_table(source.seekable())
        names = _wanted(table.column_names, schema, keep, source.name)
        batches = iter(table.to_batches(max_chunksize=_BATCH_ROWS))
    else:
        reader = open_arrow(source)
        names = _wanted(reader.schema.names, schema, keep, source.name)
        batches = _arrow_batches(reader)
    return _renamed(batches, schema, names, keep), expected


def _arrow_batches(reader: Any) -> Iterator[Any]:
    whole = (
        (reader.get_batch(place) for place in range(reader.num_record_batches))
        if hasattr(reader, "num_record_batches")
        else reader
    )
    for batch in whole:
        for start in range(0, batch.num_rows, _BATCH_ROWS):
            yield batch.slice(start, _BATCH_ROWS)


def _renamed(
    batches: Iterator[Any], schema: Schema, names: list[str], keep: Sequence[str]
) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            rows = pa.table(batch)
            found = {
                column.name: rows[name] for name, column in zip(names, schema.columns, strict=True)
            }
            yield pa.table(found | {name: rows[name] for name in keep if name not in found})

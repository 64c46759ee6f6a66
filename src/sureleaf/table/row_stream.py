"""The rows of a file in batches, typed by a schema, in memory that does not grow."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, suggestion
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.csv_reader import BAD_CELL, BLOCK, CsvText, nullify, read_thousands
from sureleaf.files.read_file import (
    BATCH_ROWS,
    check_arrow,
    open_arrow,
    open_parquet,
    parquet_batches,
    read_whole,
    reading,
    record_batches,
    without_views,
)
from sureleaf.files.source import ByteSource, list_files, open_bytes
from sureleaf.table.frames import as_float64
from sureleaf.table.raw_column import MAX_EXACT
from sureleaf.table.schema import Column, Schema


@dataclass(frozen=True, eq=False)
class RowStream:
    """The rows of a file, in batches."""

    # The columns of the schema, with its names and types, and the columns to keep.
    batches: Iterator[Any]
    # The number of rows, exact or estimated; None if it is not known.
    expected_rows: float | None = None


def stream_rows(
    path: str | os.PathLike[str],
    schema: Schema,
    *,
    keep: Sequence[str] = (),
    exact: Sequence[str] = (),
    csv: CsvFormat | None = None,
) -> RowStream:
    """Read the rows of a file in batches, each column with the type that the schema needs.

    The type of a column does not depend on the batch: text stays text in a batch in which all
    cells look like numbers, and a column without a value in a batch keeps its type.

    The path may be a folder of files, or "-" for standard input. Further columns to `keep` are text
    if the file is CSV. In `exact` columns of a CSV file, integers beyond 2**53 are rounded up as in
    memory (see `as_float64`), which is slower than Arrow's rounding to the nearest float64. A
    missing column is an error at once; a wrong value, while rows are read.
    """
    if Path(path).is_dir():
        streams = [
            stream_rows(file, schema, keep=keep, exact=exact, csv=csv)
            for file in list_files(Path(path))
        ]
        sizes = [stream.expected_rows for stream in streams]
        expected = None if None in sizes else sum(size for size in sizes if size is not None)
        return RowStream(chain.from_iterable(stream.batches for stream in streams), expected)
    source = open_bytes(path, as_stream=True)
    with reading(source):
        if source.format == "csv":
            file = CsvText(source, csv or CsvFormat())
            # Here, so that a missing column is an error before the first batch is requested.
            names = _file_columns(file.dialect.header, schema, keep, source.name)
            batches = _csv_batches(file, schema, names, keep, exact)
            expected_rows = file.expected_rows()
        else:
            batches, expected_rows = _arrow_batches(source, schema, keep)
    return RowStream(_close_at_end(batches, source), expected_rows)


def _close_at_end(batches: Iterator[Any], source: ByteSource) -> Iterator[Any]:
    try:
        with reading(source):
            yield from batches
    finally:
        source.close()


def _file_columns(
    available: Sequence[str], schema: Schema, keep: Sequence[str], file_name: str
) -> list[str]:
    """Return the name in the file of each column of the schema.

    Columns of a schema without names are matched by position.
    """
    names = list(schema.names)
    if not schema.named and not set(names) <= set(available):
        names = [name for name in available if name not in keep]
        if len(names) != len(schema):
            raise InvalidArgumentError(
                f"{file_name} must have {len(schema)} columns besides those to keep, because the "
                f"model was fitted on columns without names; got {len(names)}."
            )
    missing = [name for name in [*names, *keep] if name not in available]
    if missing:
        n_more = len(missing) - 1
        more = f" and {n_more} more column{'s' * (n_more > 1)}" if n_more else ""
        reason = " to be kept" if missing[0] in keep else ", which the model was fitted on"
        raise InvalidArgumentError(
            f"{file_name} must have the column {missing[0]!r}{more}{reason}."
            f"{suggestion(missing[0], available)}"
        )
    return names


def _select(rows: Any, schema: Schema, names: list[str], keep: Sequence[str]) -> dict[str, Any]:
    """Return the columns by the names of the schema, and the columns to keep."""
    columns = {column.name: rows[name] for name, column in zip(names, schema.columns, strict=True)}
    return columns | {name: rows[name] for name in keep if name not in columns}


# ---- CSV ---------------------------------------------------------------------------------------


def _csv_batches(
    file: CsvText, schema: Schema, names: list[str], keep: Sequence[str], exact: Sequence[str]
) -> Iterator[Any]:
    if file.has_no_rows:
        return
    # The last column is always read, because a quote that is not closed ends there.
    included = list(dict.fromkeys([*names, *keep, file.dialect.header[-1]]))
    types = dict.fromkeys(included, pa.string()) | {
        name: _csv_type(column) for name, column in zip(names, schema.columns, strict=True)
    }
    types |= {name: pa.string() for name in exact if types.get(name) == pa.float64()}
    if file.csv_format.thousands is not None:
        types = {name: pa.string() if t == pa.float64() else t for name, t in types.items()}
    ragged_rows: list[Any] = []

    def record(row: Any) -> str:
        ragged_rows.append(row)
        return "error"

    try:
        for batch in file.batches(types, on_ragged=record, include_columns=included):
            yield _convert(pa.table(batch), schema, names, keep, file)
    except pa.ArrowInvalid as error:
        raise _explain(error, file, ragged_rows) from error


def _explain(error: Exception, file: CsvText, ragged_rows: list[Any]) -> Exception:
    """Return an error of ours for one of Arrow's, if its cause is known."""
    if ragged_rows:
        if file.source.can_reopen and (located := file.find_ragged_row()) is not None:
            return located
        row = ragged_rows[0]
        start = row.text[:60]
        return file.ragged_row_error(row.actual_columns, f"the row that starts with {start!r}")
    if "straddl" in str(error):
        return InvalidArgumentError(
            f"rows of {file.source.name} must be shorter than {BLOCK >> 20} MB each to be read in "
            "batches; got a longer one. Convert the file to Parquet."
        )
    cell = BAD_CELL.search(str(error))
    if cell is None:
        return error
    name, value = file.dialect.header[int(cell[1])], cell[2]
    advice = f"if it means missing: --csv missing={value!r}"
    if re.fullmatch(r"[+-]?\d+,\d+", value):
        advice = "if the comma is a decimal mark: --csv decimal=comma"
    for separator, mark in ((".", ","), (",", ".")):
        if re.fullmatch(rf"[+-]?\d{{1,3}}(\{separator}\d{{3}})+(\{mark}\d+)?", value) and (
            mark in value or file.dialect.decimal == mark
        ):
            typed = "point" if separator == "." else "comma"
            advice = f"if it has a thousands separator: --csv thousands={typed}"
    return InvalidTypeError(
        f"column {name!r} of {file.source.name} must hold numbers or dates, as at fit; got "
        f"{value!r}{_find_row(file, name, value)}. Correct it, or {advice}."
    )


def _find_row(file: CsvText, name: str, value: str) -> str:
    """Return in which row a cell is, by reading the file again; empty if that is impossible."""
    if not file.source.can_reopen:
        return ""
    options = file.options(block_size=BLOCK, types={name: pa.string()}, include_columns=[name])
    n_before = 0
    with file.stream() as stream, arrow_csv.open_csv(stream, **options) as reader:
        for batch in reader:
            index = pc.index(batch.column(0), value).as_py()
            if index >= 0:
                return f" in row {n_before + index + 1:,}"
            n_before += batch.num_rows
    return ""


def _csv_type(column: Column) -> Any:
    family = column.category_family
    if column.kind == "numeric":
        return pa.float64()
    if family == "bool":
        return pa.bool_()
    if family == "number":
        whole = all(isinstance(category, int) for category in column.categories)
        large = whole and max(map(abs, column.categories)) >= MAX_EXACT  # type: ignore[arg-type]
        return pa.int64() if large else pa.float64()
    return pa.string()


def _convert(
    rows: Any, schema: Schema, names: list[str], keep: Sequence[str], file: CsvText
) -> Any:
    """Return a batch with missing texts as null and dates as dates."""
    columns = _select(rows, schema, names, keep)
    for column in schema.columns:
        values = columns[column.name]
        if column.kind == "date":
            columns[column.name] = _parse_dates(values, column, file)
        elif pa.types.is_string(values.type) and _csv_type(column) == pa.float64():
            columns[column.name] = _parse_numbers(values, column, file)
        elif pa.types.is_string(values.type):
            columns[column.name] = nullify(values, file.csv_format.missing_texts)
    return pa.table(columns)


def _parse_numbers(values: Any, column: Column, file: CsvText) -> Any:
    """Return cells with thousands separators, or large integers, as numbers."""
    texts = nullify(values, file.csv_format.missing_numbers)
    numbers = _numbers_of(texts, file)
    if numbers is not None:
        return numbers
    wrong = next(
        text
        for text in texts.drop_null().to_pylist()
        if _numbers_of(pa.array([text]), file) is None
    )
    raise InvalidTypeError(
        f"column {column.name!r} of {file.source.name} must hold numbers, as at fit; got "
        f"{wrong!r}. Correct it, or if it means missing: --csv missing={wrong!r}."
    )


def _numbers_of(texts: Any, file: CsvText) -> Any:
    """Return texts as float64, whole numbers rounded up; None if one is not a number."""
    separator, decimal = file.csv_format.thousands, file.dialect.decimal
    if separator is not None:
        return read_thousands(texts, separator, decimal)
    for whole in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            integers = texts.cast(whole)
            rounded_up = as_float64(integers.fill_null(0).to_numpy(zero_copy_only=False))
            return pa.array(rounded_up, mask=np.asarray(integers.is_null()))
    with suppress(pa.ArrowInvalid):
        return pc.replace_substring(texts, decimal, ".").cast(pa.float64())
    return None


def _parse_dates(values: Any, column: Column, file: CsvText) -> Any:
    candidates: dict[str | None, list[Any]] = {
        "date": [pa.date32(), pa.timestamp("us"), pa.timestamp("ns")],
        "timestamp": [pa.timestamp("us"), pa.timestamp("ns"), pa.date32()],
        "utc": [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")],
        "time": [pa.time64("us"), pa.time64("ns")],
    }
    texts = nullify(values, file.csv_format.missing_numbers)
    cause: Exception | None = None
    for arrow_type in candidates.get(column.temporal, []):
        try:
            return texts.cast(arrow_type)
        except pa.ArrowInvalid as error:
            cause = error
    raise InvalidTypeError(
        f"column {column.name!r} of {file.source.name} must hold values of the date type "
        f"{column.temporal!r}, as at fit; got other text ({cause})."
    )


# ---- Parquet and Arrow -------------------------------------------------------------------------


def _arrow_batches(
    source: ByteSource, schema: Schema, keep: Sequence[str]
) -> tuple[Iterator[Any], float | None]:
    """Return the batches, and the number of rows if the file states it."""
    expected_rows = None
    if source.format == "parquet":
        file = open_parquet(source)
        names = _file_columns(file.schema_arrow.names, schema, keep, source.name)
        expected_rows = file.metadata.num_rows
        columns = list(dict.fromkeys([*names, *keep]))
        batches = parquet_batches(file, expected_rows, batch_size=BATCH_ROWS, columns=columns)
    elif source.format in ("arff", "excel"):
        table = read_whole(source)
        names = _file_columns(table.column_names, schema, keep, source.name)
        expected_rows = table.num_rows
        batches = iter([table])
    else:
        reader = open_arrow(source)
        names = _file_columns(reader.schema.names, schema, keep, source.name)
        batches = record_batches(reader)
    return _select_batches(batches, schema, names, keep), expected_rows


def _select_batches(
    batches: Iterator[Any], schema: Schema, names: list[str], keep: Sequence[str]
) -> Iterator[Any]:
    for batch in batches:
        columns = _select(batch, schema, names, keep)
        for column in columns.values():
            check_arrow(column)
        table = pa.table({name: without_views(column) for name, column in columns.items()})
        for start in range(0, table.num_rows, BATCH_ROWS):
            yield table.slice(start, BATCH_ROWS)

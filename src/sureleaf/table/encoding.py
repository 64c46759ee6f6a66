"""Encoding a table by a known schema, as before a prediction."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, warn_caller
from sureleaf.table.categories import look_up, match_categories
from sureleaf.table.dates import temporal_numbers, temporal_of, to_temporal
from sureleaf.table.encoded_table import ArrayColumns, EncodedTable, MatrixColumns
from sureleaf.table.frames import (
    LabelledColumn,
    RawTable,
    array_of_numbers,
    as_float64,
    frame_of_numbers,
    open_table,
)
from sureleaf.table.raw_column import RawColumn
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema

__all__ = ["encode", "encode_opened", "float_numbers", "is_number", "quoted"]


def float_numbers(column: RawColumn) -> NDArray[np.float64]:
    """Return the numbers of a column as float64, with NaN for missing.

    This is a view of the caller's memory (read-only perhaps, of any stride) if that holds float64
    without nulls. Integers beyond 2**53 are rounded up, see `as_float64`.
    """
    if column.family == "null":
        return np.full(len(column.values), np.nan)
    if column.is_category:
        label_numbers = np.append(float_numbers(column.categories), np.nan)
        numbers: NDArray[np.float64] = label_numbers[column.indices]
        return numbers
    values = column.values
    array = values if isinstance(values, np.ndarray) else _arrow_numbers(values)
    if array.dtype != np.float64 or not array.dtype.isnative or not array.flags.aligned:
        return as_float64(array)
    return array


def _arrow_numbers(values: Any) -> NDArray[Any]:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(values.type) or types.is_decimal(values.type):
        values = values.cast(pa.float64())
    array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


_SHOWN_NAMES: Final = 5
_FAMILY_NAMES: Final = {
    "number": "numbers",
    "bool": "bools",
    "text": "text",
    "date": "dates or times",
    "null": "only missing values",
}


def encode(
    X: Any, schema: Schema, *, estimator: str = "TreeClassifier", for_routing: bool = False
) -> EncodedTable:
    """Encode a table by a schema, as before a prediction.

    Columns are matched by name, in any order, or by position if the schema has no names. Columns
    that are not in the schema are ignored with a warning.

    A value that is not a category of the schema has code -2 and is counted. With `for_routing`, the
    table will only be routed through trees, which read numbers of most dtypes and int8 codes: these
    need not be copied. A missing column, or one of another type than at fit, is an error.

    Examples
    --------
    >>> import pyarrow
    >>> from sureleaf.table import read_table
    >>> schema = read_table(pyarrow.table({"age": [38, 21], "sex": ["f", "m"]})).schema
    >>> table = encode(pyarrow.table({"sex": ["m", "x"], "age": [1, 2]}), schema)
    >>> [column.tolist() for column in table.columns], table.unseen_counts
    ([[1.0, 2.0], [1, -2]], {'sex': 1})
    """
    if schema.is_numeric:  # without a Python object per column, of which there may be thousands
        matrix = array_of_numbers(X)
        if matrix is not None:
            _check_positions(matrix.shape[1], schema, estimator, named=False)
            return EncodedTable(schema, MatrixColumns(matrix), matrix.shape[0])
        matrix = frame_of_numbers(X, schema.names) if schema.named else None
        if matrix is not None:
            return EncodedTable(schema, MatrixColumns(matrix), matrix.shape[0])
    return encode_opened(open_table(X), schema, estimator, for_routing=for_routing)


def encode_opened(
    raw: RawTable, schema: Schema, estimator: str, *, for_routing: bool = False
) -> EncodedTable:
    """Encode a table that is already open: a stream can be opened only once."""
    indices = _match_columns(raw, schema, estimator)
    # Trees that test only numbers are routed by a faster loop over columns of one dtype.
    for_routing = for_routing and any(column.is_coded for column in schema.columns)
    arrays = ArrayColumns(
        _encode_column(raw.column(index), column, for_routing)
        for index, column in zip(indices, schema.columns, strict=True)
    )
    counts = (
        (column.name, _count_unseen(array))
        for column, array in zip(schema.columns, arrays, strict=True)
        if column.is_coded
    )
    return EncodedTable(schema, arrays, raw.n_rows, {name: n for name, n in counts if n})


def _count_unseen(codes: NDArray[np.int32]) -> int:
    has_unseen = len(codes) > 0 and codes.min() <= UNSEEN
    return int(np.count_nonzero(codes == UNSEEN)) if has_unseen else 0


def quoted(names: Sequence[str]) -> str:
    """Return names for a message: the first ones in quotes, and how many more there are."""
    shown = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _match_columns(raw: RawTable, schema: Schema, estimator: str) -> Sequence[int]:
    """Return the index in X of each column of the schema."""
    if raw.named and schema.named:
        return _match_by_name(raw, schema, estimator)
    _check_positions(len(raw.names), schema, estimator, named=raw.named)
    return range(len(schema))


def _check_positions(n_columns: int, schema: Schema, estimator: str, *, named: bool) -> None:
    """Check that columns can be matched by position, and warn as scikit-learn does."""
    if n_columns != len(schema):
        raise InvalidArgumentError(
            f"X has {n_columns} features, but {estimator} is expecting {len(schema)} "
            "features as input. Give the columns of the fit, in their order."
        )
    if schema.named:
        warn_caller(
            f"X does not have valid feature names, but {estimator} was fitted with feature names",
            UserWarning,
        )
    elif named:
        warn_caller(
            f"X has feature names, but {estimator} was fitted without feature names", UserWarning
        )


def _match_by_name(raw: RawTable, schema: Schema, estimator: str) -> Sequence[int]:
    index_of = {name: index for index, name in enumerate(raw.names)}
    missing = [name for name in schema.names if name not in index_of]
    if missing:
        raise InvalidArgumentError(
            "The feature names should match those that were passed during fit.\n"
            "Feature names seen at fit time, yet now missing:\n"
            + "".join(f"- {name}\n" for name in missing)
            + f"Add them to X (with missing values if unknown); X has {quoted(raw.names)}."
        )
    known = set(schema.names)
    extra = [name for name in raw.names if name not in known]
    if extra:
        warn_caller(
            f"X has columns that {estimator} was not fitted with; ignored: {quoted(extra)}",
            UserWarning,
        )
    return [index_of[name] for name in schema.names]


def _encode_column(raw: RawColumn, column: Column, for_routing: bool) -> NDArray[Any]:
    if column.is_coded:
        return _encode_categories(raw, column, for_routing)
    if column.kind == "date":
        return _encode_dates(raw, column)
    if raw.family not in ("number", "bool", "null"):
        return _all_missing_or_error(raw, column, "numbers")
    if for_routing and not raw.is_category and MatrixColumns.can_read(raw.values):
        return raw.values  # type: ignore[no-any-return]
    return float_numbers(raw)


def _encode_categories(
    raw: RawColumn, column: Column, for_routing: bool
) -> NDArray[np.integer[Any]]:
    if not isinstance(raw, LabelledColumn):
        if not _has_family(raw, column):
            return _all_missing_or_error(raw, column, _expected_categories(column))
        return match_categories(raw, column.categories)
    code_of = column.cached_codes(raw.labels)
    if code_of is None:
        if not _has_family(raw, column):
            return _all_missing_or_error(raw, column, _expected_categories(column))
        code_of = match_categories(raw.categories, column.categories)
        column.cache_codes(raw.labels, code_of)
    if for_routing and raw.codes.dtype == np.int8 and _are_in_order(code_of):
        return raw.codes
    return look_up(code_of, raw.codes)


def _are_in_order(codes: NDArray[np.int32]) -> bool:
    return bool((codes == np.arange(len(codes), dtype=np.int32)).all())


def _has_family(raw: RawColumn, column: Column) -> bool:
    family = column.category_family
    is_text = raw.family in ("text", "date")
    # Without categories (all values were missing at fit), every value is unseen.
    return raw.family == "null" or family is None or is_text == (family == "text")


def _expected_categories(column: Column) -> str:
    return f"categories of {_FAMILY_NAMES[str(column.category_family)]}"


def _encode_dates(raw: RawColumn, column: Column) -> NDArray[Any]:
    if raw.family == "null":
        return float_numbers(raw)
    values = raw.values
    if raw.is_category:
        values = values.dictionary_decode()
    temporal = temporal_of(values.type) if raw.family == "date" else None
    numbers = None
    if temporal is not None:
        numbers = to_temporal(temporal_numbers(values), temporal, str(column.temporal))
    if numbers is None:
        return _all_missing_or_error(raw, column, f"values of the date type {column.temporal!r}")
    return numbers


def _all_missing_or_error(raw: RawColumn, column: Column, expected: str) -> NDArray[Any]:
    """Encode a column of another type if all its values are missing; else raise an error.

    With few rows, such a column is frequent: in pandas, a column of only NaN has a number type.
    """
    row, value = _first_wrong_value(raw)
    if row is not None:
        raise _wrong_type_error(raw, column, expected, f"first {value!r} in row {row}")
    n_rows = len(raw.values)
    return np.full(n_rows, MISSING, np.int32) if column.is_coded else np.full(n_rows, np.nan)


def _wrong_type_error(
    raw: RawColumn, column: Column, expected: str, first: str
) -> InvalidTypeError:
    got = _FAMILY_NAMES[raw.family]
    if raw.family == "date":
        arrow_type = raw.values.type.value_type if raw.is_category else raw.values.type
        got = f"the date type {temporal_of(arrow_type)!r}"
    example = ", for example by pandas.to_numeric" if expected == "numbers" else ""
    if column.kind == "date" and raw.family == "text":
        example = ", for example by pandas.to_datetime"
    return InvalidTypeError(
        f"column {column.name!r} must hold {expected}, as at fit; got {got}, {first}. Convert the "
        f"column to the type it had at fit{example}."
    )


def _first_wrong_value(raw: RawColumn) -> tuple[int | None, object]:
    """Return row and value of the first text that is not a number, else of the first value."""
    values = raw.values.tolist() if isinstance(raw.values, np.ndarray) else raw.values.to_pylist()
    present = [(row, v) for row, v in enumerate(values) if v is not None and v == v]
    if raw.family == "text":
        for row, value in present:
            if not is_number(value):
                return row, value
    return present[0] if present else (None, None)


def is_number(text: str) -> bool:
    """Return whether a text is written like a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True

"""A table encoded by a schema that is known, as for a prediction."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, warn_caller
from sureleaf.table.categories import look_up, match_categories
from sureleaf.table.dates import temporal_numbers, temporal_of, to_temporal
from sureleaf.table.encoded_table import EncodedTable, recode
from sureleaf.table.frames import LabelledColumn, RawTable, open_table
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema
from sureleaf.table.values import RawColumn

__all__ = ["encode", "encode_opened", "float_numbers", "quoted"]


# A column as float64 numbers, without a copy where there is a way.


def float_numbers(column: RawColumn) -> NDArray[np.float64]:
    """Give the column's numbers as float64, missing as NaN.

    Parameters
    ----------
    column : RawColumn
        Of numbers or bools, or wholly missing; or of a category type of these.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        A view of the caller's memory, maybe read-only and of any stride, if that holds float64
        without nulls. Integers beyond 2**53 are rounded to the nearest float64.

    Examples
    --------
    >>> import numpy
    >>> from sureleaf.table.values import from_numpy
    >>> table = numpy.ones((3, 2))
    >>> numpy.shares_memory(float_numbers(from_numpy("x1", table[:, 1])), table)
    True
    """
    if column.family == "null":
        return np.full(len(column.values), np.nan)
    if column.is_category:
        known = np.append(float_numbers(column.categories), np.nan)
        taken: NDArray[np.float64] = known[column.indices]
        return taken
    values = column.values
    found = values if isinstance(values, np.ndarray) else _from_arrow(values)
    if found.dtype != np.float64 or not found.dtype.isnative or not found.flags.aligned:
        with np.errstate(over="ignore"):  # a long double beyond float64 is infinite
            found = found.astype(np.float64)
    return found


def _from_arrow(values: Any) -> NDArray[Any]:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(values.type) or types.is_decimal(values.type):
        values = values.cast(pa.float64())
    found: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return found


_SHOWN_NAMES: Final = 5
_FAMILY_WORDS: Final = {
    "number": "numbers",
    "bool": "bools",
    "text": "text",
    "date": "dates or times",
    "null": "nothing",
}


def encode(
    X: Any, schema: Schema, *, estimator: str = "TreeClassifier", to_walk: bool = False
) -> EncodedTable:
    """Encode a table by a schema, as before a prediction.

    Columns are found by name, in any order, if the schema has names, else by place. Columns
    that the schema does not know are ignored with a warning.

    Parameters
    ----------
    X : table
        NumPy, pandas, polars, Arrow, anything with an Arrow C stream, or a list of rows; any
        number of rows, none included.
    schema : Schema
        What the columns must be.
    estimator : str
        Who was fitted, for messages.
    to_walk : bool
        The table is only sent through trees: whole numbers and codes that are right already may
        stay int64 and int8, without a copy.

    Returns
    -------
    EncodedTable
        A value that is no category of the schema has code -2 and is counted.

    Raises
    ------
    InvalidArgumentError
        If a column is not there, or the number of columns of a bare array is wrong.
    InvalidTypeError
        If a column holds another type than at fit.

    Examples
    --------
    >>> import pyarrow
    >>> from sureleaf.table import read_table
    >>> schema = read_table(pyarrow.table({"age": [38, 21], "sex": ["f", "m"]})).schema
    >>> table = encode(pyarrow.table({"sex": ["m", "x"], "age": [1, 2]}), schema)
    >>> [column.tolist() for column in table.columns], table.unseen_counts
    ([[1.0, 2.0], [1, -2]], {'sex': 1})
    """
    if isinstance(X, EncodedTable):
        return recode(X, schema)
    return encode_opened(open_table(X), schema, estimator, to_walk=to_walk)


def encode_opened(
    raw: RawTable, schema: Schema, estimator: str, *, to_walk: bool = False
) -> EncodedTable:
    """Encode a table that is open already: a stream can be read but once.

    Examples
    --------
    >>> schema = Schema((Column("x0", "numeric"),), named=False)
    >>> encode_opened(open_table([[1.5]]), schema, "TreeClassifier").columns[0].tolist()
    [1.5]
    """
    places = _places(raw, schema, estimator)
    # A tree of numbers alone has a walk of its own, along columns of float64.
    to_walk = to_walk and any(column.is_coded for column in schema.columns)
    arrays = tuple(
        _encode_column(raw.column(place), column, to_walk)
        for place, column in zip(places, schema.columns, strict=True)
    )
    counts = (
        (column.name, _count_unseen(array))
        for column, array in zip(schema.columns, arrays, strict=True)
        if column.is_coded
    )
    return EncodedTable(schema, arrays, raw.n_rows, {name: n for name, n in counts if n})


def _count_unseen(codes: NDArray[np.int32]) -> int:
    has_some = len(codes) > 0 and codes.min() <= UNSEEN
    return int(np.count_nonzero(codes == UNSEEN)) if has_some else 0


def quoted(names: Sequence[str]) -> str:
    """Names for a message: the first few in quotes, and how many more.

    Examples
    --------
    >>> quoted(["age", "sex"])
    "'age', 'sex'"
    """
    shown = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _places(raw: RawTable, schema: Schema, estimator: str) -> Sequence[int]:
    """Which column of X is which of the schema's."""
    if raw.named and schema.named:
        return _places_by_name(raw, schema, estimator)
    if len(raw.names) != len(schema):
        raise InvalidArgumentError(
            f"X has {len(raw.names)} features, but {estimator} is expecting {len(schema)} "
            "features as input. Give the columns of the fit, in their order."
        )
    if schema.named:
        warn_caller(
            f"X does not have valid feature names, but {estimator} was fitted with feature names",
            UserWarning,
        )
    elif raw.named:
        warn_caller(
            f"X has feature names, but {estimator} was fitted without feature names", UserWarning
        )
    return range(len(schema))


def _places_by_name(raw: RawTable, schema: Schema, estimator: str) -> Sequence[int]:
    place_of = {name: place for place, name in enumerate(raw.names)}
    missing = [name for name in schema.names if name not in place_of]
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
    return [place_of[name] for name in schema.names]


def _encode_column(raw: RawColumn, column: Column, to_walk: bool) -> NDArray[Any]:
    if column.is_coded:
        return _encode_categories(raw, column, to_walk)
    if column.kind == "date":
        return _encode_dates(raw, column)
    if raw.family not in ("number", "bool", "null"):
        return _missing_or_wrong(raw, column, "numbers")
    if to_walk and _is_plain_int64(raw):
        return raw.values  # type: ignore[no-any-return]
    return float_numbers(raw)


def _is_plain_int64(raw: RawColumn) -> bool:
    if raw.is_category or not isinstance(raw.values, np.ndarray):
        return False
    return raw.values.dtype == np.int64 and raw.values.flags.aligned


def _encode_categories(raw: RawColumn, column: Column, to_walk: bool) -> NDArray[np.integer[Any]]:
    if not isinstance(raw, LabelledColumn):
        if not _is_of_family(raw, column):
            return _missing_or_wrong(raw, column, _expected_categories(column))
        return match_categories(raw, column.categories)
    code_of = column.recall(raw.labels)
    if code_of is None:
        if not _is_of_family(raw, column):
            return _missing_or_wrong(raw, column, _expected_categories(column))
        code_of = match_categories(raw.categories, column.categories)
        column.remember(raw.labels, code_of)
    if to_walk and raw.codes.dtype == np.int8 and _are_in_order(code_of):
        return raw.codes
    return look_up(code_of, raw.codes)


def _are_in_order(codes: NDArray[np.int32]) -> bool:
    return bool((codes == np.arange(len(codes), dtype=np.int32)).all())


def _is_of_family(raw: RawColumn, column: Column) -> bool:
    family = column.category_family
    is_text = raw.family in ("text", "date")
    # Without categories (wholly missing at fit) whatever comes now was never seen.
    return raw.family == "null" or family is None or is_text == (family == "text")


def _expected_categories(column: Column) -> str:
    return f"categories of {_FAMILY_WORDS[str(column.category_family)]}"


def _encode_dates(raw: RawColumn, column: Column) -> NDArray[Any]:
    if raw.family == "null":
        return float_numbers(raw)
    values = raw.values
    if raw.is_category:
        values = values.dictionary_decode()
    given = temporal_of(values.type) if raw.family == "date" else None
    numbers = to_temporal(temporal_numbers(values), given, str(column.temporal)) if given else None
    if numbers is None:
        return _missing_or_wrong(raw, column, f"values of the date type {column.temporal!r}")
    return numbers


def _missing_or_wrong(raw: RawColumn, column: Column, expected: str) -> NDArray[Any]:
    """Encode a column of another type without a value, as a few rows often have one, or refuse it.

    pandas makes numbers of a column that is nothing but NaN, whatever it was at fit.
    """
    row, value = _first_offender(raw)
    if row is not None:
        raise _wrong_type(raw, column, expected, f"first {value!r} in row {row}")
    n_rows = len(raw.values)
    return np.full(n_rows, MISSING, np.int32) if column.is_coded else np.full(n_rows, np.nan)


def _wrong_type(raw: RawColumn, column: Column, expected: str, first: str) -> InvalidTypeError:
    got = _FAMILY_WORDS[raw.family]
    if raw.family == "date":
        given = raw.values.type.value_type if raw.is_category else raw.values.type
        got = f"the date type {temporal_of(given)!r}"
    return InvalidTypeError(
        f"column {column.name!r} must hold {expected}, as at fit; got {got}, {first}. Convert the "
        "column to the type it had at fit."
    )


def _first_offender(raw: RawColumn) -> tuple[int | None, object]:
    """Find the first value that could not even be read as a number, else the first value."""
    given = raw.values
    values = given.tolist() if isinstance(given, np.ndarray) else given.to_pylist()
    present = [(row, v) for row, v in enumerate(values) if v is not None and v == v]
    if raw.family == "text":
        odd = next(((row, value) for row, value in present if not _reads_as_number(value)), None)
        if odd is not None:
            return odd
    return present[0] if present else (None, None)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

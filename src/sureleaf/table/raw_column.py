"""One column of any library: numbers, bools, text, dates, or only missing values.

Every column is converted to one of two forms: a NumPy array of numbers or bools, or an Arrow
array. None, NaN, NaT, NA and null of any library then are NaN or an Arrow null.
"""

import datetime
import decimal
import numbers
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.files.read_file import check_arrow, without_views
from sureleaf.table.dates import temporal_of

Family = Literal["number", "bool", "text", "date", "null"]

MAX_EXACT: Final = 2**53
"""float64 holds every integer up to this one exactly."""

_NUMPY_KINDS: Final = "fiub"
_MAX_OFFSET: Final = 2**31 - 1


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column before it is encoded."""

    name: str
    # Numbers or bools as a NumPy array, any type as an Arrow array. Text may be in chunks.
    values: Any
    ordered: bool = False  # whether its library declares an order of its categories

    @property
    def is_category(self) -> bool:
        """Whether the column has a category type, and not just text."""
        return not isinstance(self.values, np.ndarray) and hasattr(self.values, "dictionary")

    @property
    def family(self) -> Family:
        """The type of the values; for a category type, that of its categories."""
        if isinstance(self.values, np.ndarray):
            return "bool" if self.values.dtype.kind == "b" else "number"
        arrow_type = self.values.type
        family = _arrow_family(arrow_type.value_type if self.is_category else arrow_type)
        if family is None:
            raise unusable_type_error(self.name, f"type {arrow_type}")
        return family

    @property
    def categories(self) -> "RawColumn":
        """The declared categories of a category type, as a column of their own."""
        return from_arrow(self.name, self.values.dictionary)

    @property
    def indices(self) -> NDArray[np.integer[Any]]:
        """For a category type, the index into `categories` of each row; -1 for missing."""
        import pyarrow as pa

        indices: NDArray[np.int32] = (
            self.values.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
        )
        return indices


def from_numpy(name: str, values: NDArray[Any]) -> RawColumn:
    """Make a column from a 1-D NumPy array of any dtype.

    Numbers and bools are not copied; everything else becomes an Arrow array. Masked values are
    missing.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = _fill_masked(values)
    kind = values.dtype.kind
    if kind in _NUMPY_KINDS:
        return RawColumn(name, values)
    import pyarrow as pa

    if kind == "O":
        return from_arrow(name, _infer_type(name, values))
    if kind in "mM":
        return from_arrow(name, pa.array(_to_arrow_unit(values), from_pandas=True))
    if kind == "T":  # not every version of Arrow knows NumPy's variable-width text
        return from_arrow(name, _infer_type(name, values.astype(object)))
    if kind in "US":
        return from_arrow(name, pa.array(values, from_pandas=True))
    if kind == "c":
        raise _complex_error(name, f"dtype {values.dtype}")
    raise unusable_type_error(name, f"dtype {values.dtype}")


def from_arrow(name: str, values: Any, *, ordered: bool | None = None) -> RawColumn:
    """Make a column from an Arrow array, chunked or not.

    A single chunk is not copied. `ordered` says whether a category type is ordered; by default, as
    the Arrow type declares. A type that cannot be used is an error when the column is encoded;
    damaged data are one at once.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        check_arrow(values)
    except pa.ArrowInvalid as error:
        raise InvalidArgumentError(
            f"column {name!r} must be valid Arrow data; got damaged data ({str(error)[:200]}). "
            "Read or make the table again."
        ) from error
    if isinstance(values, pa.ChunkedArray) and not _is_plain_text(values.type):
        try:
            values = _one_chunk(values)
        except pa.ArrowNotImplementedError as error:  # of categories that are lists or structs
            raise unusable_type_error(name, f"type {values.type}") from error
    types = pa.types
    if types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if types.is_dictionary(values.type):
        declared = values.type.ordered if ordered is None else ordered
        return RawColumn(name, values, declared)
    values = without_views(values)
    if _is_binary(values.type):
        try:
            values = values.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid as error:
            raise unusable_type_error(name, "bytes that are not UTF-8 text") from error
    return RawColumn(name, values)


def _one_chunk(values: Any) -> Any:
    import pyarrow as pa

    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_dictionary(values.type):
        return values.unify_dictionaries().combine_chunks()
    if pa.types.is_string(values.type) and values.nbytes > _MAX_OFFSET:
        values = values.cast(pa.large_string())  # offsets of 32 bits are too small
    return values.combine_chunks()


def _fill_masked(values: Any) -> NDArray[Any]:
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    as_float = values.dtype.kind in "fiu"
    filled = values.data.astype(np.float64 if as_float else object)
    filled[values.mask] = np.nan if as_float else None
    return np.asarray(filled)


def _infer_type(name: str, values: NDArray[Any]) -> Any:
    """Convert Python objects to an Arrow array of their common type."""
    import pyarrow as pa

    try:
        array = pa.array(values, from_pandas=True)
        if array.type == pa.date32() and any(map(_is_datetime, values)):
            # Among dates, Arrow would drop the hours of datetimes.
            return pa.array([_as_datetime(value) for value in values], from_pandas=True)
        if pa.types.is_timestamp(array.type):
            _check_time_zones(name, values)
        return _with_nanoseconds(array, values)
    except InvalidTypeError:
        raise
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        cause = error
    objects = [None if _is_missing(value) else value for value in values]
    try:  # again, with every kind of missing value as None
        return pa.array(objects)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        times = _numpy_times(objects)
        if times is not None:
            return pa.array(_to_arrow_unit(times), from_pandas=True)
        if all(value is None or type(value) is int for value in objects):
            with suppress(pa.ArrowException):  # of more than 76 digits
                decimals = [None if value is None else decimal.Decimal(value) for value in objects]
                return pa.array(decimals)
        if all(map(_is_real, objects)):
            return pa.array([None if value is None else _as_float(value) for value in objects])
        raise _mixed_types_error(name, objects, cause) from cause


def _with_nanoseconds(array: Any, values: NDArray[Any]) -> Any:
    """Return the array with the nanoseconds of pandas' times, which Arrow has cut off."""
    import pyarrow as pa

    is_time, is_duration = pa.types.is_timestamp(array.type), pa.types.is_duration(array.type)
    if is_time and any(getattr(value, "nanosecond", 0) for value in values):
        return pa.array(values, pa.timestamp("ns", array.type.tz), from_pandas=True)
    if is_duration and any(getattr(value, "nanoseconds", 0) for value in values):
        return pa.array(values, pa.duration("ns"), from_pandas=True)
    return array


def _numpy_times(objects: list[Any]) -> NDArray[Any] | None:
    """Return NumPy datetimes or durations as one array; None if the objects are neither."""
    present = [value for value in objects if value is not None]
    for scalar in (np.datetime64, np.timedelta64):
        if present and all(isinstance(value, scalar) for value in present):
            missing = np.array("NaT", present[0].dtype)[()]  # without a unit, NumPy 2.5 warns
            array = np.array([missing if value is None else value for value in objects])
            return array if array.dtype.kind in "mM" else None  # years and days cannot be mixed
    return None


def _is_real(value: Any) -> bool:
    # A NumPy duration counts as an integer in Python.
    is_number = isinstance(value, numbers.Real | decimal.Decimal)
    return value is None or (is_number and not isinstance(value, np.timedelta64))


def _check_time_zones(name: str, values: NDArray[Any]) -> None:
    """Raise an error if only some datetimes have a time zone: Arrow would ignore it."""
    row_of = {value.tzinfo is None: row for row, value in enumerate(values) if _is_datetime(value)}
    if len(row_of) == 2:
        raise InvalidTypeError(
            f"column {name!r} must hold times that all have a time zone, or none; got "
            f"{values[row_of[False]]} in row {row_of[False]} and {values[row_of[True]]} in row "
            f"{row_of[True]}. Convert the column, for example by pandas.to_datetime(utc=True)."
        )


def _is_datetime(value: Any) -> bool:
    return isinstance(value, datetime.datetime) and not _is_missing(value)


def _as_datetime(value: Any) -> Any:
    is_day = type(value) is datetime.date
    return datetime.datetime.combine(value, datetime.time()) if is_day else value


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, numbers.Number | decimal.Decimal) and bool(value != value)


def _complex_error(name: str, got: str) -> InvalidArgumentError:
    """Return a ValueError, although it is about a type: scikit-learn's checks require one."""
    return InvalidArgumentError(
        f"Complex data not supported: column {name!r} must hold real numbers; got {got}. Give "
        "the real and the imaginary part as two columns."
    )


def _mixed_types_error(name: str, objects: list[Any], cause: Exception) -> SureleafError:
    first_of: dict[str, str] = {}
    for row, value in enumerate(objects):
        if value is None:
            continue
        if isinstance(value, complex):
            return _complex_error(name, f"{value!r} in row {row}")
        first_of.setdefault(type(value).__name__, f"{type(value).__name__} {value!r} in row {row}")
    # scikit-learn's checks look for "argument must be a string or a number".
    return InvalidTypeError(
        f"column {name!r} must hold values of one type; got {', '.join(first_of.values())} "
        f"({cause}). Convert the column to one type first: each cell of the argument must be a "
        "string or a number, or a bool or a date."
    )


def _to_arrow_unit(values: NDArray[Any]) -> NDArray[Any]:
    """Convert datetimes or durations to a unit that Arrow has, without rounding if possible."""
    unit, _ = np.datetime_data(values.dtype)
    letter = values.dtype.kind
    if unit in ("Y", "M", "W") or (unit == "D" and letter == "m"):
        unit = "D" if letter == "M" else "s"
    elif unit in ("h", "m", "generic"):
        unit = "s"
    elif unit in ("ps", "fs", "as"):
        unit = "ns"
    return values.astype(f"{letter}8[{unit}]")


def _arrow_family(arrow_type: Any) -> Family | None:
    from pyarrow import types

    is_number = types.is_integer(arrow_type) or types.is_floating(arrow_type)
    if is_number or types.is_decimal(arrow_type):
        return "number"
    if types.is_boolean(arrow_type):
        return "bool"
    if _is_plain_text(arrow_type) or types.is_string_view(arrow_type) or _is_binary(arrow_type):
        return "text"
    if temporal_of(arrow_type):
        return "date"
    return "null" if types.is_null(arrow_type) else None


def _is_plain_text(arrow_type: Any) -> bool:
    """Return whether text is in plain buffers, which are encoded chunk by chunk in place."""
    from pyarrow import types

    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type))


def _is_binary(arrow_type: Any) -> bool:
    from pyarrow import types

    is_plain = types.is_binary(arrow_type) or types.is_large_binary(arrow_type)
    is_other = types.is_fixed_size_binary(arrow_type) or types.is_binary_view(arrow_type)
    return bool(is_plain or is_other)


def unusable_type_error(name: str, got: str) -> InvalidTypeError:
    """Return the error for a column of a type that cannot be used."""
    return InvalidTypeError(
        f"column {name!r} must hold numbers, text, bools, categories or dates; got {got}. "
        "Convert the column, or leave it out."
    )

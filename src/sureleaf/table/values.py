"""One column of any library: numbers, bools, text, dates or nothing.

Every column is brought to one of two forms: a NumPy array of numbers or bools, or one Arrow
array. What a library spells None, NaN, NaT, NA or null is then NaN or an Arrow null.
"""

import datetime
import decimal
import numbers
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.table.dates import temporal_of

__all__ = ["Family", "RawColumn", "from_arrow", "from_numpy", "unusable"]

Family = Literal["number", "bool", "text", "date", "null"]

_PLAIN_KINDS: Final = "fiub"
_BIGGEST_OFFSET: Final = 2**31 - 1


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column before it is encoded.

    Parameters
    ----------
    name : str
        The column's name.
    values : ndarray, pyarrow.Array or pyarrow.ChunkedArray
        Numbers or bools as a NumPy array, anything as an Arrow array; text may be in chunks.
    ordered : bool
        Whether its library says that its categories have an order.

    Examples
    --------
    >>> RawColumn("age", np.array([20.0, 30.0])).family
    'number'
    """

    name: str
    values: Any
    ordered: bool = False

    @property
    def is_category(self) -> bool:
        """Whether the column is of a category type (and not merely of text)."""
        return not isinstance(self.values, np.ndarray) and hasattr(self.values, "dictionary")

    @property
    def family(self) -> Family:
        """What the values are; for a category type, what its categories are."""
        if isinstance(self.values, np.ndarray):
            return "bool" if self.values.dtype.kind == "b" else "number"
        arrow_type = self.values.type
        found = _arrow_family(arrow_type.value_type if self.is_category else arrow_type)
        if found is None:
            raise unusable(self.name, f"type {arrow_type}")
        return found

    @property
    def categories(self) -> "RawColumn":
        """The declared categories of a category type, as a column of their own."""
        return from_arrow(self.name, self.values.dictionary)

    @property
    def indices(self) -> NDArray[np.integer[Any]]:
        """For a category type, which of `categories` each row has; -1 for missing."""
        import pyarrow as pa

        found: NDArray[np.int32] = (
            self.values.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
        )
        return found


def from_numpy(name: str, values: NDArray[Any]) -> RawColumn:
    """Bring a 1-D NumPy array of any dtype to one of the two forms.

    Parameters
    ----------
    name : str
        The column's name, for error messages.
    values : ndarray of shape (n_rows,)
        Any dtype; a masked array's masked values are missing.

    Returns
    -------
    RawColumn
        Numbers and bools as they are, not copied; everything else as an Arrow array.

    Examples
    --------
    >>> import numpy
    >>> from_numpy("x0", numpy.array(["a", None, float("nan")], dtype=object)).family
    'text'
    """
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values)
    kind = values.dtype.kind
    if kind in _PLAIN_KINDS:
        return RawColumn(name, values)
    import pyarrow as pa

    if kind == "O":
        return from_arrow(name, _inferred(name, values))
    if kind in "mM":
        return from_arrow(name, pa.array(_arrow_unit(values), from_pandas=True))
    if kind in "UST":
        return from_arrow(name, pa.array(values, from_pandas=True))
    if kind == "c":
        raise _complex(name, f"dtype {values.dtype}")
    raise unusable(name, f"dtype {values.dtype}")


def from_arrow(name: str, values: Any, *, ordered: bool | None = None) -> RawColumn:
    """Bring an Arrow array, chunked or not, to a single array of a type we know.

    Parameters
    ----------
    name : str
        The column's name, for error messages.
    values : pyarrow.Array or pyarrow.ChunkedArray
        Of any type; one that cannot be a column raises an error when it is used.
    ordered : bool, optional
        Whether a category type is ordered; by default, what the Arrow type says.

    Returns
    -------
    RawColumn
        Not copied where there is one chunk.

    Examples
    --------
    >>> import pyarrow
    >>> from_arrow("x0", pyarrow.chunked_array([["a"], ["b", None]])).values.null_count
    1
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray) and not _is_plain_text(values.type):
        values = _one_chunk(values)
    types = pa.types
    if types.is_run_end_encoded(values.type):
        values = pc.run_end_decode(values)
    if types.is_dictionary(values.type):
        declared = values.type.ordered if ordered is None else ordered
        return RawColumn(name, values, declared)
    if types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    elif _is_binary(values.type):
        try:
            values = values.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid as error:
            raise unusable(name, "bytes that are not UTF-8 text") from error
    return RawColumn(name, values)


def _one_chunk(values: Any) -> Any:
    import pyarrow as pa

    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_dictionary(values.type):
        return values.unify_dictionaries().combine_chunks()
    if pa.types.is_string(values.type) and values.nbytes > _BIGGEST_OFFSET:
        values = values.cast(pa.large_string())  # 32-bit offsets do not reach the end
    return values.combine_chunks()


def _unmasked(values: Any) -> NDArray[Any]:
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    as_float = values.dtype.kind in "fiu"
    filled = values.data.astype(np.float64 if as_float else object)
    filled[values.mask] = np.nan if as_float else None
    return np.asarray(filled)


def _inferred(name: str, values: NDArray[Any]) -> Any:
    """Make an Arrow array of Python objects, of the one type they have in common."""
    import pyarrow as pa

    try:
        found = pa.array(values, from_pandas=True)
        if found.type == pa.date32() and any(map(_is_moment, values)):
            # Arrow would drop the hours of those that have some.
            return pa.array([_as_moment(value) for value in values], from_pandas=True)
        if pa.types.is_timestamp(found.type):
            _check_zones(name, values)
        return found
    except InvalidTypeError:
        raise
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        cause = error
    known = [None if _is_missing(value) else value for value in values]
    try:  # with the rarer spellings of missing out of the way
        return pa.array(known)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        moments = _numpy_moments(known)
        if moments is not None:
            return pa.array(_arrow_unit(moments), from_pandas=True)
        if all(map(_is_real, known)):
            return pa.array([None if value is None else _as_float(value) for value in known])
        raise _mixed(name, known, cause) from cause


def _numpy_moments(known: list[Any]) -> NDArray[Any] | None:
    """Dates or durations of NumPy in an array of their own; None if they are something else."""
    for kind in (np.datetime64, np.timedelta64):
        if all(isinstance(value, kind) for value in known if value is not None):
            found = np.array([kind("NaT") if value is None else value for value in known])
            return found if found.dtype.kind in "mM" else None  # years and days do not add up
    return None


def _is_real(value: Any) -> bool:
    # Python takes a duration of NumPy for an integer.
    is_number = isinstance(value, numbers.Real | decimal.Decimal)
    return value is None or (is_number and not isinstance(value, np.timedelta64))


def _check_zones(name: str, values: NDArray[Any]) -> None:
    """Refuse moments with and without a time zone together, of which Arrow would make one kind."""
    row_of = {value.tzinfo is None: row for row, value in enumerate(values) if _is_moment(value)}
    if len(row_of) == 2:
        raise InvalidTypeError(
            f"column {name!r} must hold times that all have a time zone, or none; got "
            f"{values[row_of[False]]} in row {row_of[False]} and {values[row_of[True]]} in row "
            f"{row_of[True]}. Convert the column, for example by pandas.to_datetime(utc=True)."
        )


def _is_moment(value: Any) -> bool:
    return isinstance(value, datetime.datetime) and not _is_missing(value)


def _as_moment(value: Any) -> Any:
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


def _complex(name: str, got: str) -> InvalidArgumentError:
    """Make a value error, though it is about a type: scikit-learn's checks want one."""
    return InvalidArgumentError(
        f"Complex data not supported: column {name!r} must hold real numbers; got {got}. Give "
        "real and imaginary parts as two columns."
    )


def _mixed(name: str, known: list[Any], cause: Exception) -> SureleafError:
    first_of: dict[str, str] = {}
    for row, value in enumerate(known):
        if value is None:
            continue
        if isinstance(value, complex):
            return _complex(name, f"{value!r} in row {row}")
        first_of.setdefault(type(value).__name__, f"{type(value).__name__} {value!r} in row {row}")
    # "argument must be a string or a number" is what scikit-learn's checks look for.
    return InvalidTypeError(
        f"column {name!r} must hold values of one type, and every value of the argument must be "
        f"a string or a number (or a bool or a date); got {', '.join(first_of.values())} "
        f"({cause}). Convert the column to one type first."
    )


def _arrow_unit(values: NDArray[Any]) -> NDArray[Any]:
    """Dates in a unit that Arrow has, exactly where there is one."""
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

    if types.is_integer(arrow_type) or types.is_floating(arrow_type):
        return "number"
    if types.is_decimal(arrow_type):
        return "number"
    if types.is_boolean(arrow_type):
        return "bool"
    if _is_text(arrow_type) or _is_binary(arrow_type):
        return "text"
    if temporal_of(arrow_type):
        return "date"
    return "null" if types.is_null(arrow_type) else None


def _is_plain_text(arrow_type: Any) -> bool:
    """Whether text lies in buffers that can be coded where they are, chunk by chunk."""
    from pyarrow import types

    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type))


def _is_text(arrow_type: Any) -> bool:
    from pyarrow import types

    is_string = types.is_string(arrow_type) or types.is_large_string(arrow_type)
    return bool(is_string or types.is_string_view(arrow_type))


def _is_binary(arrow_type: Any) -> bool:
    from pyarrow import types

    is_plain = types.is_binary(arrow_type) or types.is_large_binary(arrow_type)
    is_other = types.is_fixed_size_binary(arrow_type) or types.is_binary_view(arrow_type)
    return bool(is_plain or is_other)


def unusable(name: str, got: str) -> InvalidTypeError:
    """Say that a column is of a type that cannot be one.

    Examples
    --------
    >>> "got type list" in str(unusable("x0", "type list"))
    True
    """
    return InvalidTypeError(
        f"column {name!r} must hold numbers, text, bools, categories or dates; got {got}. "
        "Convert the column, or leave it out."
    )

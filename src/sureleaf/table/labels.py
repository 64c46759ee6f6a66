"""Labels of any type -> class codes."""

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Final

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, warn_caller
from sureleaf.table.categories import infer_categories, sorted_codes
from sureleaf.table.frames import series_column
from sureleaf.table.raw_column import MAX_EXACT, RawColumn, from_arrow, from_numpy


def encode_labels(
    y: Any, *, estimator: str = "TreeClassifier"
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Encode labels as codes 0 to K-1 of the sorted classes.

    ``classes[codes]`` are the labels. Classes are sorted as by numpy.unique and have the dtype of
    the labels; declared categories that no row has are not classes. No labels at all, missing
    labels and continuous ones are errors.

    Examples
    --------
    >>> codes, classes = encode_labels(["no", "yes", "no"])
    >>> codes.tolist(), classes.tolist()
    ([0, 1, 0], ['no', 'yes'])
    """
    encoded = _encode_text_objects(y)
    if encoded is not None:
        return encoded
    integers = _large_integers(y)
    if integers is not None:
        return _encode_integers(integers)
    column = _label_column(y, estimator)
    if len(column.values) == 0:
        raise InvalidArgumentError("y must have at least one label; got none. Add rows.")
    _check_no_missing(column)
    if column.family == "text":
        codes, categories = infer_categories(column)
        # NumPy text keeps its dtype; text of data frames has dtype object.
        is_text_array = isinstance(y, np.ndarray | list | tuple) and np.asarray(y).dtype.kind == "U"
        return codes, np.array(categories, dtype=np.str_ if is_text_array else object)
    values = column.values
    if not isinstance(values, np.ndarray):
        values = _to_numpy(values)
    if values.dtype.kind == "f":
        return _encode_floats(values)
    classes, codes = sorted_codes(values)
    return codes, classes


def _encode_text_objects(y: Any) -> tuple[NDArray[np.int32], NDArray[Any]] | None:
    """Encode an array of text objects, twice as fast as through Arrow; None for other labels."""
    dtype = getattr(y, "dtype", None)
    has_objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    if not has_objects or isinstance(y, np.ma.MaskedArray) or y.ndim != 1 or not len(y):
        return None
    codes = np.empty(len(y), np.int32)
    distinct = _kernel.code_objects(np.asarray(y), codes)
    if distinct is None:
        return None
    classes = np.array(sorted(distinct), dtype=object)
    if distinct != classes.tolist():
        rank_of = {text: rank for rank, text in enumerate(classes)}
        _kernel.recode(codes, np.array([rank_of[text] for text in distinct], np.int32))
    return codes, classes


_WIDE: Final = ("object", "int128", "uint128", "decimal")
"""Types that may hold integers beyond 64 bits."""


def _large_integers(y: Any) -> list[int] | None:
    """Return integer labels of which float64 would merge some; None for all other labels.

    Lists, object arrays and decimals would become float64 on their way.
    """
    dtype = str(getattr(y, "dtype", getattr(y, "type", "")))
    if not isinstance(y, list | tuple) and not dtype.lower().startswith(_WIDE):
        return None
    if isinstance(y, np.ma.MaskedArray) or getattr(y, "ndim", 1) != 1:
        return None
    if isinstance(y, list | tuple):
        if not y or not isinstance(y[0], Real | Decimal) or _label_array(y).dtype.kind in "iub":
            return None
        values: Sequence[Any] = y
    else:
        methods = (getattr(y, name, None) for name in ("to_pylist", "to_list", "tolist"))
        values = next(method for method in methods if method is not None)()
    integers = [_as_integer(value) for value in values]
    if not any(integer is not None and abs(integer) > MAX_EXACT for integer in integers):
        return None
    # Missing values and fractions are errors, which other functions raise.
    exact = [integer for integer in integers if integer is not None]
    return exact if len(exact) == len(integers) else None


def _as_integer(value: Any) -> int | None:
    """Return a whole number as an int; None for everything else."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        return int(value)
    return None


def _encode_integers(integers: list[int]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    classes, codes = np.unique(np.array(integers, object), return_inverse=True)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= classes[0] and classes[-1] <= np.iinfo(dtype).max:
            classes = classes.astype(dtype)
            break
    return codes.astype(np.int32), classes


def _label_column(y: Any, estimator: str) -> RawColumn:
    if y is None:
        raise InvalidArgumentError(
            f"{estimator} requires y to be passed, but the target y is None. Give one label per "
            "row."
        )
    frame = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        _check_one_column(frame.shape)
        frame = frame.get_column(frame.columns[0])
    if isinstance(frame, nw.Series):
        return series_column("y", frame)
    if hasattr(y, "__arrow_c_array__"):
        import pyarrow as pa

        return from_arrow("y", pa.array(y))
    labels = _label_array(y)
    if labels.ndim == 2:
        _check_one_column(labels.shape)
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidArgumentError(
            f"y should be a 1d array, got an array of shape {labels.shape} instead."
        )
    if labels.dtype.kind == "S":
        raise InvalidTypeError(
            "labels must be text, bools or whole numbers; got bytes. Decode them: y.astype(str)."
        )
    return from_numpy("y", labels)


def _label_array(y: Any) -> NDArray[Any]:
    if isinstance(y, np.ndarray):
        return y
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise InvalidArgumentError(
            f"y should be a 1d array, got labels of different lengths instead ({error})."
        ) from error
    if labels.dtype.kind == "U" and labels.ndim == 1 and not all(isinstance(v, str) for v in y):
        return np.asarray(y, dtype=object)  # NumPy has converted numbers or NaN to text
    return labels


def _check_one_column(shape: tuple[int, ...]) -> None:
    from sklearn.exceptions import DataConversionWarning

    if shape[1] != 1:
        raise InvalidArgumentError(
            f"y should be a 1d array, got an array of shape {shape} instead. Give one label per "
            "row."
        )
    warn_caller(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
    )


def _check_no_missing(column: RawColumn) -> None:
    values = column.values
    if not isinstance(values, np.ndarray):
        missing = values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    elif values.dtype.kind == "f":
        missing = np.isnan(values)
    else:
        return
    if missing.any():
        raise InvalidArgumentError(
            f"Input y contains NaN: every row must have a label; got {np.count_nonzero(missing)} "
            f"missing, the first in row {int(np.argmax(missing))}. Drop these rows."
        )


def _to_numpy(values: Any) -> NDArray[Any]:
    """Convert an Arrow array of numbers, bools or dates without nulls."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


def _encode_floats(values: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise InvalidArgumentError(
            "Input y contains infinity or a value too large for "
            f"{values.dtype!r}. Labels must be finite; got {values[row]} in row {row}."
        )
    fractional = values != np.rint(values)
    if fractional.any():
        row = int(np.argmax(fractional))
        raise InvalidArgumentError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values. Labels "
            f"must be text, bools or whole numbers; got {values[row]} in row {row}."
        )
    are_small = np.abs(values).max() < 2.0**31
    classes, codes = sorted_codes(values.astype(np.int64) if are_small else values)
    return codes, classes.astype(values.dtype)

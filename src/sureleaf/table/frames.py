"""X of any library, as a table whose columns are converted on demand."""

import reprlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table.encoded_table import MatrixColumns
from sureleaf.table.raw_column import (
    MAX_EXACT,
    Family,
    RawColumn,
    from_arrow,
    from_numpy,
    unusable_type_error,
)


class LabelledColumn(RawColumn):
    """A column of pandas' category type: codes and labels.

    Most tables can be encoded from these two, without a conversion to Arrow.
    """

    # The declared categories, an immutable object that columns derived from each other share.
    labels: Any
    codes: NDArray[np.integer[Any]]  # the index into the labels of each row; -1 for missing
    is_category = True

    def __init__(
        self, name: str, labels: Any, codes: NDArray[np.integer[Any]], *, ordered: bool
    ) -> None:
        self.__dict__.update(name=name, labels=labels, codes=codes, ordered=ordered)

    @property
    def indices(self) -> NDArray[np.integer[Any]]:
        """The codes."""
        return self.codes

    @property
    def family(self) -> Family:
        """The type of the labels."""
        return self.categories.family

    @cached_property
    def categories(self) -> RawColumn:
        """The labels as a column of their own."""
        import pyarrow as pa

        labels = self.labels
        if str(labels.dtype).startswith(("interval", "period")):  # Arrow has no such types
            labels = [str(label) for label in labels]
        try:
            values = pa.array(labels, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise unusable_type_error(self.name, f"dtype category ({error})") from error
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        return from_arrow(self.name, values)

    @cached_property
    def values(self) -> Any:
        """The column as an Arrow array."""
        import pyarrow as pa

        indices = pa.array(self.codes, mask=self.codes < 0)
        labels = self.categories.values
        return pa.DictionaryArray.from_arrays(indices, labels, ordered=self.ordered, safe=False)


_ACCEPTED: Final = (
    "a NumPy array, a pandas, polars or Arrow table, anything with an Arrow C stream, or a list "
    "of rows"
)

_COLLECTING: Final = {
    "dask": "its method compute()",
    "polars": "its method collect()",
    "pyspark": "its method toArrow()",
    "sqlframe": "its method toPandas()",
    "ibis": "its method to_pyarrow()",
}
"""How the rows of a lazy frame are had, by the name that narwhals has for its library."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table of any library; a column is converted when it is requested."""

    names: tuple[str, ...]  # or ``x0``, ``x1``, ... if the table has none.
    named: bool  # whether the table itself names its columns
    n_rows: int
    column: Callable[[int], RawColumn]  # returns the RawColumn at a column index


def open_table(X: Any) -> RawTable:
    """Open X as a table, without converting its columns yet.

    Errors are a wrong number of dimensions, a lazy frame without an Arrow C stream, a reader whose
    rows have been read, and repeated names.
    """
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if _is_pandas(X):
        return _open_pandas(X)
    if _is_sparse(X):
        return _open_array(X.toarray())
    # The Arrow stream of xarray would be a table of one row per cell.
    if _is_of(X, "xarray", "DataArray"):
        return _open_pandas(X.to_pandas()) if X.ndim == 2 else _open_array(X.values)
    if isinstance(X, Sequence) and len(X) and all(isinstance(row, Mapping) for row in X):
        return _open_records(X)
    frame = _as_frame(X)
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    if isinstance(frame, nw.Series):
        raise _not_two_dimensional_error(X)
    # A lazy frame with an Arrow stream, such as a DuckDB relation, gives its rows when read.
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return _open_stream(X)
    if isinstance(frame, nw.LazyFrame):
        method = _COLLECTING.get(frame.implementation.value, "its method that returns the rows")
        raise InvalidTypeError(
            f"X must hold its rows; got a lazy {type(X).__module__}.{type(X).__qualname__}. "
            f"Call {method} first."
        )
    return _open_array(_as_array(X))


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame; X itself if narwhals does not know its type."""
    try:
        return nw.from_native(X, allow_series=True, pass_through=True)
    except DuplicateError:
        raise _duplicate_names_error(_labels(X)) from None


def _is_of(X: Any, module: str, name: str) -> bool:
    """Return whether X is of a type of a library, which whoever has it has imported."""
    library = sys.modules.get(module)
    return library is not None and isinstance(X, getattr(library, name))


def _is_pandas(X: Any) -> bool:
    return _is_of(X, "pandas", "DataFrame")


def _open_stream(X: Any) -> RawTable:
    import pyarrow as pa

    try:
        rows = pa.table(X)
    except (pa.ArrowException, TypeError) as error:  # a single array
        raise _not_two_dimensional_error(X) from error
    table = _open_frame(_as_frame(rows))
    if table.n_rows == 0 and type(X).__name__ == "RecordBatchReader":
        raise InvalidArgumentError(
            "X must have rows; got a RecordBatchReader without any. A reader gives its rows only "
            "once: keep them with table = reader.read_all(), and give the table."
        )
    return table


def _is_sparse(X: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _not_two_dimensional_error(X: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Expected a 2-dimensional container but got {type(X)} instead. Pass a data frame of one "
        "column if your data has a single feature, or of one row if it contains a single sample."
    )


def _open_records(rows: Sequence[Mapping[str, Any]]) -> RawTable:
    """Open a list of dicts; a column that a dict lacks is missing in that row."""
    labels = list(dict.fromkeys(label for row in rows for label in row))
    names, named = _names(labels)

    def column(index: int) -> RawColumn:
        values = np.empty(len(rows), dtype=object)
        values[:] = [row.get(labels[index]) for row in rows]
        return from_numpy(names[index], values)

    return RawTable(names, named, len(rows), column)


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, str | bytes | Mapping | set) or not (
        isinstance(X, Sequence) or hasattr(X, "__array__") or hasattr(X, "__array_interface__")
    ):
        if np.isscalar(X):
            return np.asarray(X)
        cure = " Use pandas.DataFrame(X) or pyarrow.table(X)." if isinstance(X, dict) else ""
        if hasattr(X, "to_dataframe"):  # an xarray Dataset
            cure = " Call its method to_dataframe() first."
        raise InvalidTypeError(f"X must be {_ACCEPTED}; got {type(X).__name__}.{cure}")
    if not isinstance(X, Sequence):
        return np.asarray(X)
    try:
        array = np.array(X, dtype=object)  # so that a row of 1.5 and "a" does not become text
    except ValueError as error:  # rows of arrays with different shapes
        raise _ragged_error(X) from error
    if array.ndim == 1 and any(isinstance(row, Sequence | np.ndarray) for row in X):
        raise _ragged_error(X)
    return array


def _ragged_error(X: Sequence[Any]) -> InvalidArgumentError:
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
    row = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
    return InvalidArgumentError(
        f"rows of X must all have {lengths[0]} values, like the first one; got {lengths[row]} "
        f"in row {row}. Fill short rows with None."
    )


def array_of_numbers(X: Any) -> NDArray[Any] | None:
    """Return a two-dimensional array of numbers as the kernel reads it; None for anything else.

    The kernel reads most dtypes where they are in memory; the others become float64. Sparse arrays
    and lists of rows of Python's numbers become arrays of float64.
    """
    if type(X) is list:
        X = _list_of_numbers(X)
    elif type(X) is not np.ndarray and _is_sparse(X):
        X = X.toarray()
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "iuf":
        return None
    return X if MatrixColumns.can_read(X) else as_float64(X)


def _list_of_numbers(rows: list[Any]) -> NDArray[np.float64] | None:
    """Return a list of rows of Python's numbers as an array; None if a cell is something else.

    A row of 10,000 cells takes 0.2 ms, and 200 ms with one object array per column.
    """
    width = len(rows[0]) if rows and type(rows[0]) in (list, tuple) else 0
    for row in rows:
        if type(row) not in (list, tuple) or len(row) != width:
            return None
        # Bools and None are left to the reader of columns. Integers that float64 cannot hold, too.
        kinds = set(map(type, row))
        if not kinds <= {float, int}:
            return None
        if int in kinds and any(type(cell) is int and abs(cell) > MAX_EXACT for cell in row):
            return None
    return np.array(rows, dtype=np.float64) if width else None


def as_float64(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64; integers beyond 2**53 are rounded up.

    Rounded up, an integer is at most a threshold exactly if it was before, because thresholds are
    float64. The kernel does the same where it reads integers.
    """
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite
        floats: NDArray[np.float64] = numbers.astype(np.float64)
    if numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8:
        end = 2.0**63 if numbers.dtype.kind == "i" else 2.0**64  # cannot be converted back
        is_wide = (np.abs(floats) >= MAX_EXACT) & (floats < end)  # 2**53 + 1 became 2**53
        is_below = floats[is_wide].astype(numbers.dtype) < numbers[is_wide]
        floats[is_wide] = np.where(is_below, np.nextafter(floats[is_wide], np.inf), floats[is_wide])
    return floats


def frame_of_numbers(X: Any, names: tuple[str, ...]) -> NDArray[Any] | None:
    """Return a pandas frame of exactly these columns, all of one number dtype, as one array."""
    if not _is_pandas(X) or X.shape[1] != len(names) or len(set(X.dtypes)) != 1:
        return None
    dtype = X.dtypes.iloc[0]
    if not isinstance(dtype, np.dtype) or tuple(X.columns) != names:
        return None
    return array_of_numbers(X.to_numpy())


def _open_array(X: NDArray[Any]) -> RawTable:
    if X.dtype.kind == "V":
        raise InvalidTypeError(
            f"X must be {_ACCEPTED}; got a structured array. Use pandas.DataFrame(X)."
        )
    if X.ndim != 2:
        raise InvalidArgumentError(_wrong_dimensions(X))
    if not isinstance(X, np.ma.MaskedArray):
        X = np.asarray(X)  # a column of a numpy.matrix would be a matrix
    if X.dtype.kind in "iuf" and not isinstance(X, np.ma.MaskedArray) and _fits_float64(X):
        # One pass in memory order is much faster than one pass per column.
        X = X.astype(np.float64, copy=False)
    n_rows, n_columns = X.shape
    names = tuple(f"x{index}" for index in range(n_columns))
    return RawTable(names, False, n_rows, lambda index: from_numpy(names[index], X[:, index]))


def _fits_float64(X: NDArray[Any]) -> bool:
    """Return whether float64 holds every number exactly, as integer categories need."""
    if X.dtype.kind == "f" or X.dtype.itemsize <= 4:
        return X.dtype.itemsize <= 8
    return X.size == 0 or bool(
        X.max() <= MAX_EXACT and (X.dtype.kind == "u" or X.min() >= -MAX_EXACT)
    )


def _wrong_dimensions(X: NDArray[Any]) -> str:
    """Return the message of scikit-learn, which its own checks require."""
    if X.ndim > 2:
        return f"Found array with dim {X.ndim}, while dim <= 2 is required. Flatten each row of X."
    shape = "1D" if X.ndim else "scalar"
    cells = [reprlib.repr(cell) for cell in X.ravel()[:_SHOWN_CELLS].tolist()]
    shown = ", ".join([*cells, "..."] if X.size > _SHOWN_CELLS else cells)
    return (
        f"Expected 2D array, got {shape} array instead: [{shown}]. "
        "Reshape your data either using array.reshape(-1, 1) if your data has a single "
        "feature or array.reshape(1, -1) if it contains a single sample."
    )


_SHOWN_CELLS: Final = 4


def _open_pandas(frame: Any) -> RawTable:
    """Open a pandas frame without narwhals, whose overhead is large for few rows."""
    labels = frame.columns.tolist()
    if not frame.columns.is_unique:
        raise _duplicate_names_error(labels)
    levels_joined = frame.columns.nlevels > 1
    names, named = _names(
        [".".join(map(str, label)) for label in labels] if levels_joined else labels
    )
    if len(set(names)) < len(names):
        raise _duplicate_names_error(list(names))
    return RawTable(
        names, named, len(frame), lambda index: _pandas_column(names[index], frame[labels[index]])
    )


def _open_frame(frame: nw.DataFrame[Any]) -> RawTable:
    labels = _labels(frame.to_native())
    names, named = _names(labels)
    return RawTable(
        names,
        named,
        len(frame),
        lambda index: series_column(names[index], frame.get_column(labels[index])),
    )


def _names(labels: list[Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether they come from the table.

    As in scikit-learn, strings are names, and numbers are not.
    """
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds and any(isinstance(label, str) for label in labels):
        raise InvalidTypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {sorted(kinds | {'str'})} as feature name / column name types. Convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    if labels and not kinds:
        return tuple(labels), True
    return tuple(f"x{index}" for index in range(len(labels))), False


def _labels(native: Any) -> list[Any]:
    return list(native.column_names if hasattr(native, "column_names") else native.columns)


def _duplicate_names_error(labels: list[Any]) -> InvalidArgumentError:
    repeated = [repr(label) for label, count in Counter(labels).items() if count > 1]
    return InvalidArgumentError(
        f"columns of X must have different names; got {', '.join(repeated)} more than once. "
        "Rename or drop the duplicates."
    )


def series_column(name: str, series: nw.Series[Any]) -> RawColumn:
    """Make a column from a series of any library that narwhals knows."""
    if series.implementation.is_pandas_like():
        return _pandas_column(name, series.to_native())
    if series.implementation.is_pyarrow():
        return from_arrow(name, series.to_native())
    if not series.implementation.is_polars():
        return from_arrow(name, series.to_arrow())
    if series.dtype == nw.Object:  # Arrow would get the addresses of the objects
        return from_numpy(name, series.to_numpy())
    if series.dtype in (nw.Int128, nw.UInt128):  # Arrow does not have these types
        ends = [end for end in (series.min(), series.max()) if end is not None]
        largest = max(map(abs, ends), default=0)
        if largest < 10**38:
            import polars as pl

            kind: Any = pl.Int64 if largest < 2**63 else pl.Decimal(38, 0)
            return from_arrow(name, series.to_native().cast(kind).to_arrow())
        series = series.cast(nw.Float64)
    # polars exports every Enum as ordered; its order is often arbitrary.
    return from_arrow(name, series.to_arrow(), ordered=False)


def _pandas_column(name: str, series: Any) -> RawColumn:
    import pyarrow as pa

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        values = series.to_numpy()
        if dtype.kind == "f" and len(values) and np.isnan(values[0]) and np.isnan(values).all():
            # pandas makes a column without values float64, whatever it is.
            return from_arrow(name, pa.nulls(len(values)))
        return from_numpy(name, values)
    if dtype.name == "category":
        codes = np.ascontiguousarray(series.array.codes)
        return LabelledColumn(name, dtype.categories, codes, ordered=bool(dtype.ordered))
    if str(dtype).startswith("Sparse"):
        return from_numpy(name, np.asarray(series))
    try:
        return from_arrow(name, pa.array(series, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise unusable_type_error(name, f"dtype {dtype} ({error})") from error


def without_dictionaries(table: Any) -> Any:
    """Return an Arrow table whose columns hold values in place of codes."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            values = table.column(index).cast(field.type.value_type)
            table = table.set_column(index, field.name, values)
    return table

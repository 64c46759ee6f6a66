"""The columns of X, whatever library it comes from."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table.values import Family, RawColumn, from_arrow, from_numpy, unusable

__all__ = ["LabelledColumn", "RawTable", "open_table", "series_column"]


# A column of pandas' category type: codes, and labels that many columns share.


class LabelledColumn(RawColumn):
    """A column of a category type as pandas has it, codes and labels apart.

    Most tables are encoded by these two alone, so that Arrow is only asked where it must be.

    Parameters
    ----------
    name : str
        The column's name.
    labels : pandas.Index
        The declared categories. Columns that are derived from each other share it, and it never
        changes.
    codes : ndarray of int
        Which of the labels each row has; -1 for missing.
    ordered : bool
        Whether the labels have an order.

    Examples
    --------
    >>> import pandas
    >>> column = LabelledColumn("x0", pandas.Index(["a", "b"]), np.array([1, -1]), ordered=False)
    >>> column.family, column.values.to_pylist()
    ('text', ['b', None])
    """

    labels: Any
    codes: NDArray[np.integer[Any]]
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
        """What the labels are."""
        return self.categories.family

    @cached_property
    def categories(self) -> RawColumn:
        """The labels as a column of their own."""
        import pyarrow as pa

        try:
            labels = pa.array(_plain(self.labels), from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise unusable(self.name, f"dtype category ({error})") from error
        return from_arrow(self.name, _one_array(labels))

    @cached_property
    def values(self) -> Any:
        """The column as an Arrow array."""
        import pyarrow as pa

        indices = pa.array(self.codes, mask=self.codes < 0)
        labels = self.categories.values
        return pa.DictionaryArray.from_arrays(indices, labels, ordered=self.ordered, safe=False)


def _one_array(values: Any) -> Any:
    return values.combine_chunks() if hasattr(values, "combine_chunks") else values


def _plain(labels: Any) -> Any:
    """Give labels of a type that Arrow has; the intervals of pandas.cut are written as text."""
    is_foreign = str(labels.dtype).startswith(("interval", "period"))
    return [str(label) for label in labels] if is_foreign else labels


_ACCEPTED: Final = (
    "a NumPy array, a pandas, polars or Arrow table, anything with an Arrow C stream, or a list "
    "of rows"
)

_EXACT: Final = 2**53
"""Up to here every integer is a float64."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table of any library; a column is converted when it is asked for.

    Parameters
    ----------
    names : tuple of str
        The columns' names; ``x0``, ``x1``, ... where the table has none.
    named : bool
        Whether the table itself names its columns, by strings.
    n_rows : int
        The number of rows.
    column : callable
        Column number -> RawColumn.

    Examples
    --------
    >>> open_table([[1, "a"], [2, "b"]]).names
    ('x0', 'x1')
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    column: Callable[[int], RawColumn]


def open_table(X: Any) -> RawTable:
    """See X as a table without converting it yet.

    Parameters
    ----------
    X : table
        A 2-D NumPy array, a pandas, polars or Arrow table, anything with an Arrow C stream, a
        list of rows, or anything that converts to a 2-D array.

    Returns
    -------
    RawTable
        Names, shape and the columns on demand.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If X is no table with two dimensions, is sparse, is lazy without an Arrow C stream, or
        names two columns alike.

    Examples
    --------
    >>> import pyarrow
    >>> table = open_table(pyarrow.table({"age": [38, None], "sex": ["f", "m"]}))
    >>> table.names, table.n_rows, table.column(1).family
    (('age', 'sex'), 2, 'text')
    """
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if _is_pandas(X):
        return _open_pandas(X)
    _refuse_sparse(X)
    frame = _as_frame(X)
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    if isinstance(frame, nw.Series):
        raise _one_dimensional(X)
    # A lazy frame with a stream, such as a DuckDB relation, gives its rows when it is read.
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return _open_frame(_as_frame(_as_arrow(X)))
    if isinstance(frame, nw.LazyFrame):
        raise InvalidTypeError(
            f"X must hold its rows; got a lazy {type(X).__module__}.{type(X).__qualname__}. "
            "Call its collect() or fetch method first."
        )
    return _open_array(_as_array(X))


def _as_frame(X: Any) -> Any:
    """X as narwhals has it; X itself if that knows it not."""
    try:
        return nw.from_native(X, allow_series=True, pass_through=True)
    except DuplicateError:
        raise _duplicates(_labels(X)) from None


def _is_pandas(X: Any) -> bool:
    pandas = sys.modules.get("pandas")  # a frame has imported it
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _as_arrow(X: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.table(X)
    except (pa.ArrowException, TypeError) as error:  # an array, not a table
        raise _one_dimensional(X) from error


def _one_dimensional(X: Any) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Expected a 2-dimensional container but got {type(X)} instead. Pass a data frame of one "
        "column if your data has a single feature, or of one row if it contains a single sample."
    )


def _refuse_sparse(X: Any) -> None:
    sparse = sys.modules.get("scipy.sparse")  # a sparse X has imported it
    if sparse is not None and sparse.issparse(X):
        raise InvalidTypeError(
            f"Sparse data was passed, but dense data is required: X must be {_ACCEPTED}; got "
            f"{type(X).__name__}. Use X.toarray() to convert to a dense NumPy array."
        )


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, str | bytes | dict | set) or not (
        isinstance(X, Sequence) or hasattr(X, "__array__") or hasattr(X, "__array_interface__")
    ):
        if np.isscalar(X):
            return np.asarray(X)
        raise InvalidTypeError(f"X must be {_ACCEPTED}; got {type(X).__name__}.")
    if not isinstance(X, Sequence):
        return np.asarray(X)
    # As objects, so that a row of 1.5 and "a" does not become a row of text.
    array = _rows_as_objects(X)
    if array.ndim == 1 and any(isinstance(row, Sequence | np.ndarray) for row in X):
        raise _ragged(X)
    return array


def _rows_as_objects(X: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.array(X, dtype=object)
    except ValueError as error:  # rows of arrays with different shapes
        raise _ragged(X) from error


def _ragged(X: Sequence[Any]) -> InvalidArgumentError:
    lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
    return InvalidArgumentError(
        f"rows of X must have as many values as the first one, {lengths[0]}; got {lengths[odd]} "
        f"in row {odd}. Fill short rows with None."
    )


def _open_array(X: NDArray[Any]) -> RawTable:
    if X.dtype.kind == "V":
        raise InvalidTypeError(
            f"X must be {_ACCEPTED}; got a structured array. Use pandas.DataFrame(X)."
        )
    if X.ndim != 2:
        raise InvalidArgumentError(_wrong_dimensions(X))
    if not isinstance(X, np.ma.MaskedArray):
        X = np.asarray(X)  # a column of numpy.matrix would be a matrix
    if X.dtype.kind in "iuf" and not isinstance(X, np.ma.MaskedArray) and _fits_float64(X):
        # One pass over memory in its own order is 7 times quicker than one for each column.
        X = X.astype(np.float64, copy=False)
    n_rows, n_columns = X.shape
    names = tuple(f"x{place}" for place in range(n_columns))
    return RawTable(names, False, n_rows, lambda place: from_numpy(names[place], X[:, place]))


def _fits_float64(X: NDArray[Any]) -> bool:
    """Whether float64 holds every number of X exactly, which integers as categories need."""
    if X.dtype.kind == "f" or X.dtype.itemsize <= 4:
        return X.dtype.itemsize <= 8
    return X.size == 0 or bool(X.max() <= _EXACT and (X.dtype.kind == "u" or X.min() >= -_EXACT))


def _wrong_dimensions(X: NDArray[Any]) -> str:
    """Say it in scikit-learn's words, which its own checks and many users know."""
    if X.ndim == 0:
        return (
            f"Expected 2D array, got scalar array instead:\narray={X}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    if X.ndim == 1:
        return (
            f"Expected 2D array, got 1D array instead:\narray={X}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    return f"Found array with dim {X.ndim}, while dim <= 2 is required. Flatten each row of X."


def _open_pandas(frame: Any) -> RawTable:
    """Open the usual table without narwhals, which takes longer than the columns of a row."""
    labels = frame.columns.tolist()
    if not frame.columns.is_unique:
        raise _duplicates(labels)
    names, named = _names(labels)
    return RawTable(
        names, named, len(frame), lambda place: _pandas_column(names[place], frame[labels[place]])
    )


def _open_frame(frame: nw.DataFrame[Any]) -> RawTable:
    labels = _labels(frame.to_native())
    names, named = _names(labels)
    return RawTable(
        names,
        named,
        len(frame),
        lambda place: series_column(names[place], frame.get_column(labels[place])),
    )


def _names(labels: list[Any]) -> tuple[tuple[str, ...], bool]:
    """Names of columns, and whether the table gave them."""
    if _are_names(labels):
        return tuple(labels), True
    return tuple(f"x{place}" for place in range(len(labels))), False


def _labels(native: Any) -> list[Any]:
    return list(native.column_names if hasattr(native, "column_names") else native.columns)


def _duplicates(labels: list[Any]) -> InvalidArgumentError:
    again = [repr(label) for label, count in Counter(labels).items() if count > 1]
    return InvalidArgumentError(
        f"columns of X must have different names; got {', '.join(again)} more than once. Rename "
        "or drop the duplicates."
    )


def _are_names(labels: list[Any]) -> bool:
    """As scikit-learn decides it: strings are names, numbers and tuples are places."""
    kinds = {type(label).__name__ for label in labels if not isinstance(label, str)}
    if kinds and any(isinstance(label, str) for label in labels):
        raise InvalidTypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {sorted(kinds | {'str'})} as feature name / column name types. Convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return bool(labels) and not kinds


def series_column(name: str, series: nw.Series[Any]) -> RawColumn:
    """Take one column of a data frame, of whichever library.

    Examples
    --------
    >>> import polars
    >>> series_column("x0", nw.from_native(polars.Series([1, None]), series_only=True)).family
    'number'
    """
    if series.implementation.is_pandas_like():
        return _pandas_column(name, series.to_native())
    if series.implementation.is_pyarrow():
        return from_arrow(name, series.to_native())
    if not series.implementation.is_polars():
        return from_arrow(name, series.to_arrow())
    if series.dtype == nw.Object:  # which leaves for Arrow as addresses
        return from_numpy(name, series.to_numpy())
    if series.dtype in (nw.Int128, nw.UInt128):  # which Arrow has not
        ends = [end for end in (series.min(), series.max()) if end is not None]
        is_small = all(-(2**63) <= end < 2**63 for end in ends)
        series = series.cast(nw.Int64 if is_small else nw.Float64)
    # polars calls every Enum ordered when it leaves for Arrow; its order is often arbitrary.
    return from_arrow(name, series.to_arrow(), ordered=False)


def _pandas_column(name: str, series: Any) -> RawColumn:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return from_numpy(name, series.to_numpy())
    if dtype.name == "category":
        codes = np.ascontiguousarray(series.array.codes)
        return LabelledColumn(name, dtype.categories, codes, ordered=bool(dtype.ordered))
    if str(dtype).startswith("Sparse"):
        return from_numpy(name, np.asarray(series))
    import pyarrow as pa

    try:
        return from_arrow(name, pa.array(series, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise unusable(name, f"dtype {dtype} ({error})") from error

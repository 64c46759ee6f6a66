"""A column as float64 numbers, without a copy where there is a way."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.table.values import RawColumn

__all__ = ["float_numbers"]


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

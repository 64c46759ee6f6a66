"""Sums and maxima of the lines of a table of many short lines.

NumPy goes line by line where it reduces the last axis, which for two classes costs thirty times as
much as adding two columns.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["line_maxima", "line_sums"]


def line_sums(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of each line.

    Examples
    --------
    >>> line_sums(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    sums: NDArray[np.float64] = np.ascontiguousarray(table.T).sum(axis=0)
    return sums


def line_maxima(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest number of each line.

    Examples
    --------
    >>> line_maxima(np.array([[1.0, 2.0], [4.0, 3.0]])).tolist()
    [2.0, 4.0]
    """
    maxima: NDArray[np.float64] = np.ascontiguousarray(table.T).max(axis=0)
    return maxima

"""A table as numbers for classifiers of other libraries: one column a frequent category."""

import numpy as np
from numpy.typing import NDArray

from sureleaf.table import EncodedTable

__all__ = ["MOST_CATEGORIES", "as_numbers"]

MOST_CATEGORIES = 50
"""Categories of a column that get a column of their own, the most frequent ones."""


def as_numbers(table: EncodedTable) -> NDArray[np.float32]:
    """Return numbers as they are (NaN missing) and 0/1 columns for categories.

    The categories of all rows are known beforehand; a column that is 0 in all training rows
    tells a classifier nothing.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> as_numbers(read_table([[1.5, "b"], [None, "a"]])).tolist()
    [[1.5, 0.0, 1.0], [nan, 1.0, 0.0]]
    """
    parts: list[NDArray[np.float32]] = []
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "categorical":
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])
            parts.append((values[:, None] == kept[None, :]).astype(np.float32))
        else:
            numbers = values.astype(np.float64)
            if column.is_coded:
                numbers = np.where(values < 0, np.nan, numbers)
            # scikit-learn takes no infinities and no numbers beyond float32
            largest = float(np.finfo(np.float32).max)
            parts.append(np.clip(numbers, -largest, largest).astype(np.float32)[:, None])
    return np.hstack(parts) if parts else np.zeros((table.n_rows, 1), dtype=np.float32)

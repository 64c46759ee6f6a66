"""Some rows of an encoded table, as if they had been read alone."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.table.encoded import EncodedTable
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema

__all__ = ["Recoding", "take_rows"]


def take_rows(table: EncodedTable, rows: NDArray[np.integer[Any]]) -> EncodedTable:
    """Give some rows of a table, in this order, by the same schema.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> take_rows(read_table([[1.5], [2.5], [3.5]]), np.array([2, 0, 0])).columns[0].tolist()
    [3.5, 1.5, 1.5]
    """
    columns = tuple(column.take(rows) for column in table.columns)
    return EncodedTable(table.schema, columns, len(rows))


@dataclass(frozen=True, eq=False)
class Recoding:
    """From the codes of a whole table to those that some of its rows would have had alone.

    A table that is read learns the categories that it holds; part of its rows may lack some. Those
    are then no categories, and rows that have them hold what the part has not seen.

    Parameters
    ----------
    schema : Schema
        With the categories that the part has. Ordered columns keep what they declare.
    codes : dict of int to ndarray
        Column number -> the new code of each old one, then those of unseen and missing values;
        columns that lack no category are left out.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([["a"], ["b"], ["c"], ["c"]])
    >>> recoding = Recoding.of(table, np.array([0, 3]))
    >>> recoding.schema.columns[0].categories
    ('a', 'c')
    >>> recoding(table).columns[0].tolist()
    [0, -2, 1, 1]
    """

    schema: Schema
    codes: dict[int, NDArray[np.int32]]

    @classmethod
    def of(cls, table: EncodedTable, rows: NDArray[np.integer[Any]]) -> "Recoding":
        """Find which categories these rows have."""
        columns, codes = list(table.schema.columns), {}
        for place, column in enumerate(columns):
            if column.kind != "categorical":
                continue
            has = np.zeros(len(column.categories) + 2, dtype=bool)
            has[table.columns[place].take(rows)] = True  # missing ones fall behind the categories
            has = has[:-2]
            if has.all():
                continue
            new = np.full(len(has) + 2, UNSEEN, dtype=np.int32)
            new[:-2][has] = np.arange(np.count_nonzero(has))
            new[MISSING] = MISSING
            kept = tuple(c for c, is_kept in zip(column.categories, has, strict=True) if is_kept)
            columns[place] = Column(column.name, column.kind, kept)
            codes[place] = new
        return cls(replace(table.schema, columns=tuple(columns)) if codes else table.schema, codes)

    def __call__(self, table: EncodedTable) -> EncodedTable:
        """Encode rows of the whole table as the part would have."""
        if not self.codes:
            return table
        columns = list(table.columns)
        for place, new in self.codes.items():
            columns[place] = new[columns[place]]
        return EncodedTable(self.schema, tuple(columns), table.n_rows)

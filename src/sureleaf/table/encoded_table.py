"""What does the tree learner get: columns of numbers and codes."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.table.schema import MISSING, UNSEEN, Column, Schema

__all__ = ["EncodedTable", "Recoding", "Recodings", "recode", "take_rows"]


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as the kernel reads it, one array a column.

    Parameters
    ----------
    schema : Schema
        What each column means.
    columns : tuple of ndarray
        Numeric and date columns: float64 with NaN for missing, infinities being numbers; of
        any stride, a view of the caller's array where that was possible, so not to be written
        to. Categorical and ordered columns: contiguous int32 codes, -1 for missing, -2 for a
        value that is no category of the schema. Where a table was encoded ``to_walk``, int64 and
        int8 instead of these, if that is what the caller had.
    n_rows : int
        The number of rows, also where there are no columns.
    unseen_counts : dict of str to int
        How many values of a column are no category of the schema; columns without any are
        left out.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([[1.5, "b"], [None, "a"]])
    >>> table
    EncodedTable of 2 rows x 2 columns
      x0  numeric
      x1  categorical: 'a', 'b'
    >>> table.columns[1].tolist()
    [1, 0]
    """

    schema: Schema
    columns: tuple[NDArray[Any], ...]
    n_rows: int
    unseen_counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns)

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> "EncodedTable":
        return take_rows(self, rows)

    def __repr__(self) -> str:
        rows = f"{self.n_rows} row{'' if self.n_rows == 1 else 's'}"
        columns = f"{len(self.schema)} column{'' if len(self.schema) == 1 else 's'}"
        _, *lines = repr(self.schema).split("\n")
        unseen = [f"  unseen in {name}: {n}" for name, n in self.unseen_counts.items()]
        return "\n".join([f"EncodedTable of {rows} x {columns}", *lines, *unseen])


# Some rows of an encoded table, as if they had been read alone.

_N_LISTED = 32


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
        places = _categorical_places(table)
        return cls.keeping(table.schema, {j: _categories_in(table, j, rows) for j in places})

    @classmethod
    def keeping(cls, schema: Schema, has: dict[int, NDArray[np.bool_]]) -> "Recoding":
        """Keep some categories: a flag for each one of each categorical column, by its number."""
        columns, codes = list(schema.columns), {}
        for place, is_kept in has.items():
            if is_kept.all():
                continue
            new = np.full(len(is_kept) + 2, UNSEEN, dtype=np.int32)
            new[:-2][is_kept] = np.arange(np.count_nonzero(is_kept))
            new[MISSING] = MISSING
            column = columns[place]
            kept = tuple(c for c, keep in zip(column.categories, is_kept, strict=True) if keep)
            columns[place] = Column(column.name, column.kind, kept)
            codes[place] = new
        return cls(replace(schema, columns=tuple(columns)) if codes else schema, codes)

    def __call__(self, table: EncodedTable) -> EncodedTable:
        """Encode rows of the whole table as the part would have."""
        if not self.codes:
            return table
        columns = list(table.columns)
        for place, new in self.codes.items():
            columns[place] = new[columns[place]]
        return EncodedTable(self.schema, tuple(columns), table.n_rows)


def recode(table: EncodedTable, schema: Schema) -> EncodedTable:
    """Encode a table that is encoded already by the schema of some of its rows.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([["a"], ["b"], ["c"]])
    >>> recoded = recode(table, read_table(table[np.array([0, 2])]).schema)
    >>> recoded.columns[0].tolist(), recoded.unseen_counts
    ([0, -2, 1], {'x0': 1})
    """
    if table.schema == schema:
        return table
    known = dict(enumerate(set(column.categories) for column in schema.columns))
    has = {
        j: np.array([c in known.get(j, ()) for c in table.schema.columns[j].categories], bool)
        for j in _categorical_places(table)
    }
    recoding = Recoding.keeping(table.schema, has)
    if recoding.schema != schema:
        raise InvalidArgumentError(
            "X must have the columns of the training rows; got an encoded table with other "
            "columns. Give the table itself."
        )
    recoded = recoding(table)
    unseen = {
        str(table.schema.columns[j].name): int((recoded.columns[j] == UNSEEN).sum())
        for j in recoding.codes
    }
    return replace(recoded, unseen_counts={name: n for name, n in unseen.items() if n})


class Recodings:
    """Recodings of many parts of one table: some rows of each category tell whether a part has it.

    Parameters
    ----------
    table : EncodedTable
        The whole table.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> recodings = Recodings(read_table([["a"], ["b"], ["c"], ["c"]]))
    >>> recodings.of(np.array([2, 0, 0, 1])).schema.columns[0].categories
    ('a', 'c')
    """

    def __init__(self, table: EncodedTable) -> None:
        self.table = table
        self._listed = {j: _list_rows(table, j) for j in _categorical_places(table)}

    def of(self, times: NDArray[np.integer[Any]]) -> Recoding:
        """Find the recoding of the part that has each row so many times."""
        has = {}
        for place, (rows, n_rows) in self._listed.items():
            has[place] = times[rows].any(axis=1) & (n_rows > 0)
            if not (has[place] | (n_rows <= _N_LISTED)).all():
                has[place] = _categories_in(self.table, place, np.flatnonzero(times))
        return Recoding.keeping(self.table.schema, has)


def _categorical_places(table: EncodedTable) -> list[int]:
    columns = table.schema.columns
    return [place for place, column in enumerate(columns) if column.kind == "categorical"]


def _categories_in(
    table: EncodedTable, place: int, rows: NDArray[np.integer[Any]]
) -> NDArray[np.bool_]:
    has = np.zeros(len(table.schema.columns[place].categories) + 2, dtype=bool)
    has[table.columns[place].take(rows)] = True  # missing ones fall behind the categories
    return has[:-2]


def _list_rows(table: EncodedTable, place: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """List some rows of each category, the last one again where they are few; and count all."""
    codes = table.columns[place]
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(table.schema.columns[place].categories) + 1))
    at = np.minimum(ends[:-1, None] + np.arange(_N_LISTED), ends[1:, None] - 1)
    return order[at], np.diff(ends)

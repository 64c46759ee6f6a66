"""The table that trees are grown on: columns of numbers and category codes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.table.schema import MISSING, UNSEEN, Schema


class Columns(ABC):
    """The columns of a table, however they are stored, and wherever."""

    are_codes: bool = False
    """Whether numbers are stored as codes, so that the numbers themselves are not known."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int) -> NDArray[Any]: ...

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return map(self.__getitem__, range(len(self)))

    @abstractmethod
    def take(self, rows: NDArray[np.integer[Any]]) -> "Columns":
        """Return the columns of some rows, in this order."""

    @abstractmethod
    def kernel_table(self, schema: Schema, n_rows: int) -> _kernel.Table:
        """Return the columns as the kernel reads them, without a copy of rows that are here."""

    def owned(self) -> "Columns":
        """Return columns that the caller of a fit cannot change."""
        return self

    def missing_in(self, schema: Schema) -> tuple[bool, ...]:
        """Return for each column whether a value is missing in any row."""
        return tuple(
            bool((values == MISSING if column.is_coded else np.isnan(values)).any())
            for values, column in zip(self, schema.columns, strict=True)
        )

    def per_part(
        self, table: "EncodedTable", function: Callable[..., Any], *shared: Any, n_threads: int = 1
    ) -> Iterator[Any]:
        """Return ``function(part, *shared)`` of every part of their table, in order.

        Rows that are here are one part, for which the function also gets the threads.
        """
        yield function(table, *shared, n_threads=n_threads)


class ArrayColumns(tuple[NDArray[Any], ...], Columns):
    """One array per column."""

    def take(self, rows: NDArray[np.integer[Any]]) -> "ArrayColumns":
        """Return copies."""
        return ArrayColumns(array.take(rows) for array in self)

    def owned(self) -> "ArrayColumns":
        """Return copies of the arrays that are views."""
        return ArrayColumns(a if a.flags.owndata else a.copy() for a in self)

    def kernel_table(self, schema: Schema, n_rows: int) -> _kernel.Table:
        """Return the arrays as the kernel reads them."""
        n_categories = [len(c.categories) if c.is_coded else -1 for c in schema.columns]
        return _kernel.make_table(list(self), n_categories, _is_ordered(schema), n_rows)


@dataclass(frozen=True, eq=False)
class MatrixColumns(Columns):
    """The columns of one array of numbers, which the kernel reads without a view per column."""

    array: NDArray[Any]

    @staticmethod
    def can_read(array: Any) -> bool:
        """Return whether this is an array whose numbers the kernel reads where they are."""
        if type(array) is not np.ndarray:
            return False
        dtype = array.dtype
        return dtype.char in "dfqlihbB" and dtype.isnative and array.flags.aligned

    def __len__(self) -> int:
        return int(self.array.shape[1])

    def __getitem__(self, index: int) -> NDArray[Any]:
        column: NDArray[Any] = self.array[:, index]
        return column

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter(self.array.T)

    def take(self, rows: NDArray[np.integer[Any]]) -> "MatrixColumns":
        """Return a copy."""
        return MatrixColumns(self.array.take(rows, axis=0))

    def owned(self) -> "MatrixColumns":
        """Return a copy."""
        return MatrixColumns(self.array.copy(order="K"))

    def kernel_table(self, schema: Schema, n_rows: int) -> _kernel.Table:
        """Return the array as the kernel reads it."""
        return _kernel.make_matrix(self.array)


@dataclass(frozen=True, eq=False)
class CodedColumns(Columns):
    """Columns as small codes, one byte per cell; a column is decoded when it is requested."""

    # The codes of the columns of numbers and of those with at most 255 categories, in order. The
    # code of a missing value is the number of codes of its column.
    codes: NDArray[np.uint8]
    # The codes of the columns with more categories; -1 is missing.
    wide: tuple[NDArray[np.int32], ...]
    # Per column of numbers, the value of each code, ascending; None for categories.
    values: tuple[NDArray[np.float64] | None, ...]
    n_categories: tuple[int, ...]  # per column, the number of categories; -1 for numbers
    # Per column, whether a code is a range of numbers, whose upper end is its value.
    are_ranges: tuple[bool, ...]
    has_missing: tuple[bool, ...]  # per column, whether a value is missing in any row

    are_codes = True

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> NDArray[Any]:
        index = range(len(self))[index]
        n_wide = sum(n > _MAX_SMALL for n in self.n_categories[:index])
        if self.n_categories[index] > _MAX_SMALL:
            return self.wide[n_wide]
        codes, values = self.codes[:, index - n_wide], self.values[index]
        if values is None:
            n = self.n_categories[index]
            return np.append(np.arange(n, dtype=np.int32), np.int32(MISSING))[codes]
        decoded: NDArray[np.float64] = np.append(values, np.nan)[codes]
        return decoded

    def take(self, rows: NDArray[np.integer[Any]] | slice) -> "CodedColumns":
        """Return the columns of some rows."""
        wide = tuple(column[rows] for column in self.wide)
        return replace(self, codes=np.ascontiguousarray(self.codes[rows]), wide=wide)

    @property
    def row_bytes(self) -> int:
        """The bytes of the codes of a row."""
        return int(self.codes.shape[1]) + 4 * len(self.wide)

    def missing_in(self, schema: Schema) -> tuple[bool, ...]:
        """Return what is known of all rows of the table, even if these are some of them."""
        return self.has_missing

    def kernel_table(self, schema: Schema, n_rows: int) -> _kernel.Table:
        """Return the codes as the kernel reads them."""
        return _kernel.make_coded(
            codes=self.codes,
            wide=list(self.wide),
            values=list(self.values),
            n_categories=list(self.n_categories),
            ordered=_is_ordered(schema),
            are_ranges=list(self.are_ranges),
            has_missing=list(self.has_missing),
        )


def _is_ordered(schema: Schema) -> list[bool]:
    return [column.kind == "ordered" for column in schema.columns]


_MAX_SMALL = 255
"""Columns with more categories do not fit into a byte, with one code for missing values."""


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as the kernel reads it: one array per column.

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
    # Numeric columns have the dtype and stride of the caller's array, if the kernel reads it, else
    # float64; they may be views and must not be written to. Dates are float64. NaN is missing.
    # Categorical and ordered columns are contiguous int32 codes, with -1 for missing and -2 for a
    # value that is not a category of the schema. A table encoded with ``for_routing`` may have int8
    # codes.
    columns: Columns
    n_rows: int
    # For each column with unseen categories, the number of such values.
    unseen_counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.n_rows, len(self.columns)

    def is_missing(self, index: int) -> NDArray[np.bool_]:
        """Return for each row whether it has no known value in this column; unseen counts, too."""
        values = self.columns[index]
        mask: NDArray[np.bool_]
        mask = values < 0 if self.schema.columns[index].is_coded else np.isnan(values)
        return mask

    def schema_with_missing(self) -> Schema:
        """Return the schema, in which each column says whether values are missing in these rows."""
        missing = self.columns.missing_in(self.schema)
        columns = (
            column if column.has_missing == known else replace(column, has_missing=known)
            for column, known in zip(self.schema.columns, missing, strict=True)
        )
        return replace(self.schema, columns=tuple(columns))

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> "EncodedTable":
        """Return the given rows, in this order, with the same schema."""
        return EncodedTable(self.schema, self.columns.take(rows), len(rows))

    @property
    def kernel(self) -> _kernel.Table:
        """The table as the kernel reads it, without a copy of rows that are here."""
        return self.columns.kernel_table(self.schema, self.n_rows)

    def __repr__(self) -> str:
        rows = f"{self.n_rows} row{'' if self.n_rows == 1 else 's'}"
        columns = f"{len(self.schema)} column{'' if len(self.schema) == 1 else 's'}"
        _, *lines = repr(self.schema).split("\n")
        unseen = [f"  unseen in {name}: {n}" for name, n in self.unseen_counts.items()]
        return "\n".join([f"EncodedTable of {rows} x {columns}", *lines, *unseen])


@dataclass(frozen=True, eq=False)
class Recoding:
    """From the codes of a whole table to the codes that a part of its rows would have alone.

    The categories of a table are inferred from its rows. A part of the rows may lack some of them;
    for the part, these are unseen categories.

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

    # With the categories that occur in the part. Ordered columns keep their declared ones.
    schema: Schema
    # Column index -> the new code of each old one, then the codes of unseen and missing values.
    # Columns that lack no category are left out.
    codes: dict[int, NDArray[np.int32]]

    @classmethod
    def of(cls, table: EncodedTable, rows: NDArray[np.integer[Any]]) -> "Recoding":
        """Make the recoding for the part of the table with these rows."""
        occurring = {}
        for index in _categorical_indices(table):
            occurs = np.zeros(len(table.schema.columns[index].categories) + 2, dtype=bool)
            occurs[table.columns[index].take(rows)] = True  # -1 and -2 are behind the categories
            occurring[index] = occurs[:-2]
        return cls.keeping(table.schema, occurring)

    @classmethod
    def keeping(cls, schema: Schema, occurring: dict[int, NDArray[np.bool_]]) -> "Recoding":
        """Make the recoding that keeps the flagged categories of each categorical column."""
        columns, codes = list(schema.columns), {}
        for index, is_kept in occurring.items():
            if is_kept.all():
                continue
            new = np.full(len(is_kept) + 2, UNSEEN, dtype=np.int32)
            new[:-2][is_kept] = np.arange(np.count_nonzero(is_kept))
            new[MISSING] = MISSING
            column = columns[index]
            kept = tuple(c for c, keep in zip(column.categories, is_kept, strict=True) if keep)
            columns[index] = replace(column, categories=kept)
            codes[index] = new
        return cls(replace(schema, columns=tuple(columns)) if codes else schema, codes)

    def __call__(self, table: EncodedTable) -> EncodedTable:
        """Recode rows of the whole table."""
        if not self.codes:
            return table
        columns = list(table.columns)
        for index, new in self.codes.items():
            columns[index] = new[columns[index]]
        return EncodedTable(self.schema, ArrayColumns(columns), table.n_rows)


def recode(table: EncodedTable, schema: Schema) -> EncodedTable:
    """Encode an encoded table by the schema of some of its rows."""
    if table.schema == schema:
        return table
    kept = [set(column.categories) for column in schema.columns]
    occurring = {
        j: np.array([c in kept[j] for c in table.schema.columns[j].categories], bool)
        for j in _categorical_indices(table)
        if j < len(kept)
    }
    recoding = Recoding.keeping(table.schema, occurring)
    if recoding.schema != schema:
        raise InvalidArgumentError(
            "X must have the columns of the training rows; got an encoded table with other "
            "columns. Give the table before it was encoded."
        )
    recoded = recoding(table)
    unseen = {
        str(table.schema.columns[j].name): int((recoded.columns[j] == UNSEEN).sum())
        for j in recoding.codes
    }
    return replace(recoded, unseen_counts={name: n for name, n in unseen.items() if n})


def _categorical_indices(table: EncodedTable) -> list[int]:
    columns = table.schema.columns
    return [index for index, column in enumerate(columns) if column.kind == "categorical"]

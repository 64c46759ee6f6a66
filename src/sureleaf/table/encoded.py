"""What does the tree learner get: columns of numbers and codes."""

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from sureleaf.table.schema import Schema

__all__ = ["EncodedTable"]


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

    def __repr__(self) -> str:
        rows = f"{self.n_rows} row{'' if self.n_rows == 1 else 's'}"
        columns = f"{len(self.schema)} column{'' if len(self.schema) == 1 else 's'}"
        _, *lines = repr(self.schema).split("\n")
        unseen = [f"  unseen in {name}: {n}" for name, n in self.unseen_counts.items()]
        return "\n".join([f"EncodedTable of {rows} x {columns}", *lines, *unseen])

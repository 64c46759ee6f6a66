"""A column of pandas' category type: codes, and labels that many columns share."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.table.values import Family, RawColumn, from_arrow, unusable

__all__ = ["LabelledColumn"]


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

"""The same content as a table of every supported library."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Content = dict[str, list[Any]]


class OnlyAStream:
    """A table of an unknown library, which has only an Arrow C stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def as_objects(content: Content) -> np.ndarray:
    array = np.empty((len(next(iter(content.values()))), len(content)), dtype=object)
    for index, values in enumerate(content.values()):
        array[:, index] = values
    return array


def as_arrow(content: Content) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in content.items()})


def as_chunks(content: Content) -> pa.Table:
    table = as_arrow(content)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])


def as_pandas_nullable(content: Content) -> pd.DataFrame:
    with np.errstate(invalid="ignore"):  # pandas 2 tries whether infinity is a whole number
        return pd.DataFrame(as_objects(content), columns=list(content)).convert_dtypes()


def as_pandas_arrow(content: Content) -> pd.DataFrame:
    return as_arrow(content).to_pandas(types_mapper=pd.ArrowDtype)


NAMED: dict[str, Callable[[Content], Any]] = {
    "arrow": as_arrow,
    "arrow chunks": as_chunks,
    "arrow batch": lambda content: as_arrow(content).combine_chunks().to_batches()[0],
    "arrow reader": lambda content: as_arrow(content).to_reader(),
    "arrow stream": lambda content: OnlyAStream(as_chunks(content)),
    "arrow dictionaries": lambda content: pa.table(
        {
            name: column.dictionary_encode() if column.type == pa.string() else column
            for name, column in zip(content, as_chunks(content).columns, strict=True)
        }
    ),
    "pandas": lambda content: as_arrow(content).to_pandas(),
    "pandas objects": lambda content: pd.DataFrame(as_objects(content), columns=list(content)),
    "pandas nullable": as_pandas_nullable,
    "pandas arrow": as_pandas_arrow,
    "pandas categories": lambda content: pd.DataFrame(
        {
            name: pd.Categorical(values, categories=["z", *sorted(set(values) - {None, "z"})][::-1])
            if any(isinstance(value, str) for value in values)
            else as_arrow({name: values}).to_pandas()[name]
            for name, values in content.items()
        }
    ),
    "polars": lambda content: pl.DataFrame(as_arrow(content)),
    "polars chunks": lambda content: pl.concat(
        [pl.DataFrame(as_arrow(content))[:1], pl.DataFrame(as_arrow(content))[1:]], rechunk=False
    ),
    "polars categories": lambda content: pl.DataFrame(as_arrow(content)).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars enums": lambda content: pl.DataFrame(as_arrow(content)).with_columns(
        pl.col(name).cast(pl.Enum(sorted({"z", *values} - {None}, reverse=True)))
        for name, values in content.items()
        if any(isinstance(value, str) for value in values)
    ),
}

UNNAMED: dict[str, Callable[[Content], Any]] = {
    "list": lambda content: [list(row) for row in zip(*content.values(), strict=True)],
    "tuple of tuples": lambda content: tuple(zip(*content.values(), strict=True)),
    "NumPy objects": as_objects,
    "NumPy objects, F order": lambda content: np.asfortranarray(as_objects(content)),
    "masked NumPy objects": lambda content: np.ma.masked_equal(as_objects(content), None),
    "pandas without names": lambda content: pd.DataFrame(as_objects(content)),
}

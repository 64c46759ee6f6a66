"""A labelled table from a file, split into what a question needs."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.files import CsvFormat, read_file


@dataclass(frozen=True, eq=False)
class Question:
    """A table split into columns, labels, groups and weights; rows without a label are left out."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    n_left_out: int


def read_question(
    path: Path,
    target: str,
    *,
    group: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    csv: CsvFormat | None = None,
) -> Question:
    """Read a file, or "-", and split off the column to predict, the groups and the weights.

    `categorical` names columns of numbers that are codes. A column that does not exist is an error
    with the name that may be meant.
    """
    table = read_file(path, csv=csv)
    name = "standard input" if str(path) == "-" else Path(path).name
    single = [("target", target), ("group", group), ("weight", weight)]
    named = [(role, column) for role, column in single if column is not None]
    several = [("drop", drop), ("categorical", categorical)]
    chosen = [*named, *((role, column) for role, columns in several for column in columns)]
    _check_columns(name, table.column_names, target, chosen)
    rows = table.filter(table[target].is_valid())
    if not len(rows):
        got = f"{len(table):,} rows without one" if len(table) else "only a header"
        raise InvalidArgumentError(f"{name} must have rows with a value in {target!r}; got {got}.")
    taken = list(dict.fromkeys(column for _, column in named))
    X = rows.drop_columns(list(dict.fromkeys([*taken, *drop])))
    for column in set(categorical) & set(X.column_names):
        if not str(X[column].type).startswith("dictionary"):
            index = X.column_names.index(column)
            X = X.set_column(index, column, X[column].combine_chunks().dictionary_encode())
    if not X.column_names:
        raise InvalidArgumentError(
            f"{name} must have a column to predict from; got only {', '.join([*taken, *drop])}. "
            "Drop fewer columns."
        )
    y = _labels(rows[target], "target", target)
    if group is not None and rows[group].null_count:
        raise InvalidArgumentError(
            f"--group must have a value in every row; got {group!r} with "
            f"{rows[group].null_count:,} missing values. Fill them in, or leave these rows out."
        )
    _check_classes(y, target)
    groups = None if group is None else _labels(rows[group], "group", group)
    weights = None if weight is None else _weights(rows[weight], weight)
    return Question(X, y, groups, weights, len(table) - len(rows))


def _check_columns(
    file: str, columns: list[str], target: str, chosen: list[tuple[str, str]]
) -> None:
    for role, column in chosen:
        if column not in columns:
            raise InvalidArgumentError(
                f"--{role} must be a column of {file}; got {column!r}.{suggestion(column, columns)}"
            )
        if role != "target" and column == target:
            raise InvalidArgumentError(
                f"--{role} must be another column than the target; got {column!r} for both."
            )


def _labels(column: Any, role: str, name: str) -> NDArray[Any]:
    """Return the labels of a column, or the error for a type that has none."""
    try:
        if pa.types.is_nested(column.type):
            raise TypeError(f"values of type {column.type}")
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp(column.type.unit))  # a model has no time zones
        values = column.to_pylist()
        if any(getattr(value, "nanosecond", 0) for value in values):
            raise ValueError("times that differ by less than a microsecond")
        is_large = any(type(value) is int and abs(value) > 2**53 for value in values)
        return np.array(values, dtype=object) if is_large else np.array(values)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise InvalidArgumentError(
            f"--{role} must be a column of labels: text, bools, whole numbers or dates; got "
            f"{name!r} with other values ({str(error)[:200]}). Convert the column."
        ) from error


def _check_classes(y: NDArray[Any], target: str) -> None:
    """Check that the target has classes, before anything is fitted."""
    if y.dtype.kind == "f" and (odd := y[y != np.rint(y)]).size:
        raise InvalidArgumentError(
            f"--target must be a column of classes: text, bools or whole numbers; got {target!r} "
            f"with numbers such as {odd[0]:g}. Divide it into ranges first."
        )
    classes = np.unique(y)
    if y.dtype.kind in "iuf" and len(classes) > max(20, min(len(y) // 10, 1000)):
        raise InvalidArgumentError(
            f"--target must be a column of classes; got {target!r} with {len(classes):,} distinct "
            f"numbers in {len(y):,} rows. Divide it into ranges first; if each number is a class, "
            "write it as text, such as 'class 7'."
        )
    if len(classes) == 1:
        raise InvalidArgumentError(
            f"--target must be a column with at least two classes; got {target!r}, which is "
            f"{classes[0]!s} in every row."
        )
    if len(classes) > max(20, len(y) // 2):
        warnings.warn(
            f"{target!r} has {len(classes):,} distinct values in {len(y):,} rows; is it the column "
            "to predict?",
            UserWarning,
            stacklevel=3,
        )


def _weights(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.array(column.to_pylist(), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # dates of other millennia overflow
        raise InvalidArgumentError(
            f"--weight must be a column of numbers; got {name!r}, of type {column.type}."
        ) from None

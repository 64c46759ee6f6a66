"""What a file asks: its columns, the column to predict, groups and weights."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.table import CsvFormat, read_file

__all__ = ["Question", "read_question"]


@dataclass(frozen=True, eq=False)
class Question:
    r"""A table split into what is known and what is asked.

    Attributes
    ----------
    X : pyarrow.Table
        The columns to predict from.
    y : ndarray of labels
    groups, weights : ndarray or None
    n_left_out : int
        Rows of the file that have no label and are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "play.csv"
    >>> _ = path.write_text("sky,wind,play\nsun,1,no\nrain,2,yes\nfog,3,\n")
    >>> asked = read_question(path, "play")
    >>> asked.y.tolist(), asked.X.column_names, asked.n_left_out
    (['no', 'yes'], ['sky', 'wind'], 1)
    """

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
    csv: CsvFormat | None = None,
) -> Question:
    r"""Read a file and take out the column to predict, the groups and the weights.

    Parameters
    ----------
    path : path
        The file, or "-" for standard input.
    target, group, weight : str
        Names of columns.
    drop : sequence of str
        Columns to leave out.
    csv : CsvFormat, optional
        What is known about a CSV file.

    Returns
    -------
    Question

    Raises
    ------
    InvalidArgumentError
        If a column is not there (with the name that may be meant), or nothing is left to learn
        from.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "play.csv"
    >>> _ = path.write_text("sky,day,play\nsun,1,no\nrain,1,yes\n")
    >>> read_question(path, "play", group="day").groups.tolist()
    [1, 1]
    """
    table = read_file(path, csv=csv)
    name = "standard input" if str(path) == "-" else Path(path).name
    named = [("target", target), ("group", group), ("weight", weight)]
    for role, column in [*named, *(("drop", column) for column in drop)]:
        if column is not None and column not in table.column_names:
            raise InvalidArgumentError(
                f"--{role} must be a column of {name}; got {column!r}."
                f"{suggestion(column, table.column_names)}"
            )
        if column is not None and role != "target" and column == target:
            raise InvalidArgumentError(
                f"--{role} must be another column than the target; got {column!r}, which is both."
            )
    labelled = np.asarray(table[target].is_valid())
    rows = table.filter(labelled)
    if not len(rows):
        got = f"{len(table):,} rows, none of them with one" if len(table) else "a header alone"
        raise InvalidArgumentError(f"{name} must have rows with a value in {target!r}; got {got}.")
    taken = list(dict.fromkeys(column for _, column in named if column is not None))
    X = rows.drop_columns(list(dict.fromkeys([*taken, *drop])))
    if not X.column_names:
        raise InvalidArgumentError(
            f"{name} has no columns besides {', '.join([*taken, *drop])}: nothing to predict from."
        )
    y = np.array(rows[target].to_pylist())
    if group is not None and rows[group].null_count:
        raise InvalidArgumentError(
            f"--group must have a value in every row; {group!r} has none in "
            f"{rows[group].null_count:,} rows. Fill them in, or leave these rows out."
        )
    _check_classes(y, target)
    groups = None if group is None else np.array(rows[group].to_pylist())
    weights = None if weight is None else _weights(rows[weight], weight)
    return Question(X, y, groups, weights, len(table) - len(rows))


def _check_classes(y: NDArray[Any], target: str) -> None:
    """Refuse what is no set of classes, before anything is fitted to it."""
    if y.dtype.kind == "f" and (odd := y[y != np.rint(y)]).size:
        raise InvalidArgumentError(
            f"--target must be a column of classes: text, bools or whole numbers; got {target!r} "
            f"with numbers such as {odd[0]:g}. Cut it into ranges first."
        )
    classes = np.unique(y)
    if y.dtype.kind in "iuf" and len(classes) > max(20, min(len(y) // 10, 1000)):
        raise InvalidArgumentError(
            f"--target must be a column of classes; got {target!r} with {len(classes):,} different "
            f"numbers in {len(y):,} rows. Cut it into ranges first; if each number is a class, "
            "make it text, such as 'class 7'."
        )
    if len(classes) == 1:
        raise InvalidArgumentError(
            f"--target must be a column of two classes or more; got {target!r}, which is "
            f"{classes[0]!s} in every row."
        )
    if len(classes) > max(20, len(y) // 2):
        warnings.warn(
            f"{target!r} has {len(classes):,} different values in {len(y):,} rows; is it the "
            "column to predict?",
            UserWarning,
            stacklevel=3,
        )


def _weights(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.array(column.to_pylist(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"--weight must be a column of numbers; got {name!r}, of type {column.type}."
        ) from None

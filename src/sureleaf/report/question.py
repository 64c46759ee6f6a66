"""What a file asks: its columns, the column to predict, groups and weights."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.table import read_file

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
    path: Path, target: str, *, group: str | None = None, weight: str | None = None
) -> Question:
    r"""Read a file and take out the column to predict, the groups and the weights.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "play.csv"
    >>> _ = path.write_text("sky,day,play\nsun,1,no\nrain,1,yes\n")
    >>> read_question(path, "play", group="day").groups.tolist()
    [1, 1]
    """
    table = read_file(path)
    named = {"target": target, "group": group, "weight": weight}
    for role, name in named.items():
        if name is not None and name not in table.column_names:
            raise InvalidArgumentError(
                f"--{role} must be a column of {path.name}; got {name!r}. "
                f"It has: {', '.join(table.column_names)}."
            )
    labelled = np.asarray(table[target].is_valid())
    rows = table.filter(labelled)
    taken = [name for name in named.values() if name is not None]
    X = rows.drop_columns(taken)
    if not X.column_names:
        raise InvalidArgumentError(
            f"{path.name} has no columns besides {', '.join(taken)}: nothing to predict from."
        )
    y = np.array(rows[target].to_pylist())
    if group is not None and rows[group].null_count:
        raise InvalidArgumentError(
            f"--group must have a value in every row; {group!r} has none in "
            f"{rows[group].null_count:,} rows. Fill them in, or leave these rows out."
        )
    groups = None if group is None else np.array(rows[group].to_pylist())
    weights = None if weight is None else np.array(rows[weight].to_pylist(), dtype=np.float64)
    return Question(X, y, groups, weights, len(table) - len(rows))

"""The columns of a table in the form and order that a fitted model reads them."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, MissingPackageError

__all__ = ["arrange_columns"]


def arrange_columns(
    X: Any, names: Sequence[str] | None, n_columns: int | None, *, takes_text: bool
) -> Any:
    """Return the table with the model's columns, by name where it has names, else by place.

    Parameters
    ----------
    X : array, sparse matrix, pandas, polars or Arrow table, or list of rows
        The rows.
    names : sequence of str or None
        What the model calls its columns, in its order. Further columns of a data frame are left
        out.
    n_columns : int or None
        How many columns it reads, if it says so.
    takes_text : bool
        Whether columns of text may be handed on to a model without names.

    Returns
    -------
    array, sparse matrix, or data frame
        Arrow tables become pandas ones, which scikit-learn reads.

    Raises
    ------
    InvalidArgumentError
        If columns are missing, or text is where a model without names wants numbers.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"b": [1.0], "id": [7], "a": [2.0]})
    >>> arrange_columns(table, ["a", "b"], 2, takes_text=False).columns.tolist()
    ['a', 'b']
    >>> arrange_columns(table[["a", "b"]], None, 2, takes_text=False).tolist()
    [[2.0, 1.0]]
    """
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        if not (isinstance(X, np.ndarray) or sp.issparse(X)):
            raise InvalidArgumentError(
                f"X must be an array, a sparse matrix or a data frame; got {type(X).__name__}."
            )
        if X.ndim != 2:
            raise InvalidArgumentError(
                f"X must have rows and columns; got an array of {X.ndim} dimension(s). "
                "Give a single column as X.reshape(-1, 1)."
            )
        _check_number(X.shape[1], n_columns)
        return X
    if names is None:
        _check_number(len(frame.columns), n_columns)
        return _as_array(frame, takes_text=takes_text)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidArgumentError(
            f"X must have the columns that the model was fitted on; it lacks "
            f"{_listed(missing)}. It has: {_listed(frame.columns)}."
        )
    chosen = frame.select(*names)
    if chosen.implementation.is_pyarrow():
        return _as_pandas(chosen)
    return chosen.to_native()


def _check_number(found: int, expected: int | None) -> None:
    if expected is not None and found != expected:
        raise InvalidArgumentError(
            f"X must have the {expected} columns that the model was fitted on; got {found}. "
            "Leave out the others, and the labels."
        )


def _as_array(frame: "nw.DataFrame[Any]", *, takes_text: bool) -> NDArray[Any]:
    text = [
        name
        for name, kind in frame.schema.items()
        if not (kind.is_numeric() or kind == nw.Boolean or kind == nw.Unknown)
    ]
    if text and not takes_text:
        raise InvalidArgumentError(
            f"X must hold numbers only: the model was fitted without column names, so that columns "
            f"are taken by place, and {_listed(text)} hold(s) something else. Give the columns as "
            "the model was given them, or save the model together with its encoding, as a Pipeline."
        )
    if text:
        return np.array([column.to_list() for column in frame.iter_columns()], dtype=object).T
    columns = [column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]
    return np.column_stack(columns).astype(float)


def _as_pandas(frame: "nw.DataFrame[Any]") -> Any:
    try:
        return frame.to_pandas()
    except ImportError:
        raise MissingPackageError(
            "pandas is needed to hand columns to the model by name, and is not installed. "
            "Install it: pip install pandas"
        ) from None


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"

"""The columns of a table in the form and order that a fitted model reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, MissingPackageError
from sureleaf.model.column_table import ColumnTable

__all__ = ["AuditedBins", "AuditedLeaves", "AuditedTrees", "arrange_columns"]


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


# What an audit finds, as tables: leaf by leaf, bin by bin, tree by tree.

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedLeaves(ColumnTable):
    """One row a leaf: what the model states there, and what the rows say.

    Parameters
    ----------
    tree : ndarray of int, or None
        Which tree of a forest; None for a single tree.
    leaf : ndarray of int
        Number of the leaf in its tree, as `apply` gives it.
    rule : ndarray of str, or None
        The tests on the way to it; None for forests.
    n : ndarray of float64
        Rows counted in it.
    counts : ndarray of float64, shape (n_leaves, n_classes)
        These rows by class.
    prediction : ndarray
        The class that the model predicts there.
    stated : ndarray of float64
        The probability that the model states for it.
    probability, low, high : ndarray of float64
        The share of that class among the rows, and the bounds of its probability.
    agrees : ndarray of bool
        Whether what is stated lies within the bounds.
    confidence : ndarray of float64
        Probability that the class predicted is the most probable one in the leaf.
    utility : ndarray of float64
        Probability that the prediction of the next row in the leaf is right.
    rows_needed : ndarray of float64
        Rows in the leaf, all told, to reach the wanted levels; NaN if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels or without rows, and those where another class is more
        frequent.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[1], [1.5], [3.5]], ["no", "yes", "yes"])
    >>> found.leaves.counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    tree: NDArray[np.intp] | None
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_] | None
    n: FloatArray
    counts: FloatArray
    prediction: NDArray[Any]
    stated: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedBins(ColumnTable):
    """One row a bin of rows with the same prediction and about the same probability.

    Parameters
    ----------
    prediction : ndarray
        The class that the model predicts for them.
    stated_from, stated_to, stated : ndarray of float64
        The smallest, largest and mean probability that it states for that class.
    n : ndarray of float64
        Rows.
    counts, probability, low, high, agrees, confidence, utility, rows_needed, flagged : ndarray
        As of leaves.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> audit(model, [[1], [1.5], [3.5]], ["no", "yes", "yes"], n_bins=2).bins.n.tolist()
    [2.0, 1.0]
    """

    prediction: NDArray[Any]
    stated_from: FloatArray
    stated_to: FloatArray
    stated: FloatArray
    n: FloatArray
    counts: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedTrees(ColumnTable):
    """One row a tree of a forest or bag.

    Parameters
    ----------
    tree : ndarray of int
        Its number.
    leaves : ndarray of int
        Its leaves.
    empty, flagged, outside : ndarray of int
        Leaves without rows, leaves flagged, and leaves whose stated probability is out of bounds.
    stated : ndarray of float64
        Mean probability that the tree states for its predictions of the rows.
    confidence, utility : ndarray of float64
        Of the tree: the sums over its leaves, weighted by their rows.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sureleaf import audit
    >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
    >>> model = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> audit(model, [[3], [17]], [0, 1]).trees.utility.tolist()
    [1.0, 1.0, 1.0]
    """

    tree: NDArray[np.intp]
    leaves: NDArray[np.intp]
    empty: NDArray[np.intp]
    flagged: NDArray[np.intp]
    outside: NDArray[np.intp]
    stated: FloatArray
    confidence: FloatArray
    utility: FloatArray

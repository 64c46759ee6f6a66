"""Rows given to a fitted model: how they are encoded, and all that the model predicts for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning, warn_caller
from sureleaf.table import EncodedTable, Schema, encode

__all__ = ["RowPredictions", "encode_rows"]


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """Everything that a model predicts for some rows, from encoding them once.

    Parameters
    ----------
    code : ndarray of int
        Index of the predicted class in ``classes_``.
    probabilities : ndarray of shape (n_rows, n_classes)
        As ``predict_proba`` returns them.
    sureness : ndarray
        Confidence of a tree, agreement of bagged trees.
    utility : ndarray
        The probability that such a prediction is correct for an unseen row.
    leaf : ndarray of int, or None
        The heaviest leaf of a tree; None for bagged trees.
    unseen_counts : dict of str to int
        Number of values per column that are not a category of the training rows.
    """

    code: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    sureness: NDArray[np.float64]
    utility: NDArray[np.float64]
    leaf: NDArray[np.int64] | None
    unseen_counts: dict[str, int]


def encode_rows(
    X: Any,
    schema: Schema,
    unseen: str,
    *,
    estimator: str,
    for_routing: bool = False,
    warn: bool = True,
) -> EncodedTable:
    """Encode rows by a schema; raise or warn if they have unseen categories.

    Parameters
    ----------
    X : table
        As in fit, or rows that are already encoded.
    schema : Schema
        Columns and categories of the training rows.
    unseen : {"mixture", "stop", "error"}
        How the model handles unseen categories.
    estimator : str
        The name of the estimator, for messages.
    for_routing : bool
        Encode only for routing through trees, which needs fewer copies.
    warn : bool
        Whether to warn of unseen categories.
    """
    if isinstance(X, EncodedTable):
        return X
    table = encode(X, schema, estimator=estimator, for_routing=for_routing)
    if table.unseen_counts and (warn or unseen == "error"):
        counts = ", ".join(f"{name!r} ({n})" for name, n in table.unseen_counts.items())
        text = f"categories that were not there in training: column {counts}"
        if unseen == "error":
            raise InvalidArgumentError(
                f"X must have the categories of the training rows; got {text}. Correct them, "
                "or set unseen='mixture' or 'stop'."
            )
        does = "go down all branches" if unseen == "mixture" else "stop where they are met"
        warn_caller(f"X has {text}; they {does}.", UnseenCategoryWarning)
    return table

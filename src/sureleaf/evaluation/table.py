"""What a classifier is judged on: the rows, their labels, weights and groups, checked."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.arguments import Floats, Integers, Labels, check_weights, read_labels
from sureleaf.evaluation.labels import class_codes, find_classes, positive_class

__all__ = ["Table", "read_table", "take_rows"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and what is known of them; labels and groups as codes too.

    Examples
    --------
    >>> read_table([[1], [2]], ["a", "b"]).classes.tolist()
    ['a', 'b']
    """

    X: Any
    y: Labels
    classes: Labels
    codes: Integers
    weights: Floats | None
    groups: Integers | None
    positive: int

    def __len__(self) -> int:
        return len(self.codes)


def read_table(
    X: Any,
    y: ArrayLike,
    *,
    positive: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Table:
    """Check what is to be judged, and code labels and groups.

    Examples
    --------
    >>> table = read_table([[1], [2], [3]], ["no", "yes", "no"])
    >>> len(table), table.codes.tolist(), table.positive
    (3, [0, 1, 0], 1)
    """
    labels = read_labels("y", y)
    if not hasattr(X, "shape") and not hasattr(X, "__array__"):
        X = np.asarray(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(labels):
        raise InvalidArgumentError(
            f"X and y must have the same number of rows; got {n_rows} and {len(labels)}."
        )
    classes = find_classes(None, labels)
    if len(classes) < 2:
        raise InvalidArgumentError(
            f"y must hold at least two classes to judge a classifier; got {classes.tolist()}."
        )
    code = 1 if positive is None else positive_class(positive, classes)
    group_codes = None
    if groups is not None:
        names = read_labels("groups", groups)
        if len(names) != len(labels):
            raise InvalidArgumentError(
                f"groups must have one entry for each of the {len(labels)} rows; got {len(names)}."
            )
        group_codes = class_codes("groups", names, find_classes(None, names))
    codes = class_codes("y", labels, classes)
    weights = check_weights(sample_weight, len(labels))
    return Table(X, labels, classes, codes, weights, group_codes, code)


def take_rows(X: Any, rows: Integers) -> Any:
    """Return some rows of an array, sparse matrix or any data frame, as the same kind.

    Examples
    --------
    >>> take_rows(np.array([[1], [2], [3]]), np.array([2, 0])).tolist()
    [[3], [1]]
    """
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows.tolist(), :].to_native()
    try:
        return X[rows]
    except (TypeError, IndexError, KeyError) as problem:
        raise InvalidTypeError(
            "X must be an array, a sparse matrix or a data frame (pandas, polars, Arrow); "
            f"got {type(X).__name__}."
        ) from problem

"""The table of an evaluation: rows, labels, weights and groups, checked and coded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sureleaf.arguments import (
    FloatArray,
    IntArray,
    LabelArray,
    check_same_length,
    check_weights,
    read_labels,
)
from sureleaf.errors import InvalidArgumentError, InvalidTypeError

SMALL_RANGE = 1 << 16
"""Whole numbers in a range of this size are coded by a look-up table."""


def read_pair(truth: ArrayLike, prediction: ArrayLike) -> tuple[LabelArray, LabelArray]:
    """Return true and predicted labels as arrays of the same length and kind of label."""
    actual, predicted = read_labels("truth", truth), read_labels("prediction", prediction)
    check_same_length(truth=actual, prediction=predicted)
    if len(actual) == 0:
        raise InvalidArgumentError("truth must have at least one row; got none.")
    if (actual.dtype.kind in "US") != (predicted.dtype.kind in "US") and object not in (
        actual.dtype,
        predicted.dtype,
    ):
        raise InvalidTypeError(
            "truth and prediction must hold the same kind of labels; "
            f"got {actual.dtype} and {predicted.dtype}, for example {actual[0]!r} and "
            f"{predicted[0]!r}. Convert one of them."
        )
    return actual, predicted


def find_classes(labels: ArrayLike | Sequence[Any] | None, *arrays: LabelArray) -> LabelArray:
    """Return the classes: those named by `labels` in that order, else those seen, sorted."""
    if labels is not None:
        classes = read_labels("labels", labels)
        if len(np.unique(classes)) != len(classes):
            raise InvalidArgumentError(f"labels must differ; got {classes.tolist()}.")
        return classes
    try:
        seen = [_distinct(array) for array in arrays]
        return seen[0] if len(seen) == 1 else np.unique(np.concatenate(seen))
    except TypeError:
        raise InvalidTypeError(
            "Labels of different types cannot be sorted; convert them to one type, for example "
            "by str."
        ) from None


def _distinct(array: LabelArray) -> LabelArray:
    if array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low < SMALL_RANGE and high < 2**63:
            # In 64 bits: 127 - -128 is more than 8 bits hold.
            offset = array.astype(np.int64, copy=False) - low
            seen = np.bincount(offset, minlength=high - low + 1)
            return (np.flatnonzero(seen) + low).astype(array.dtype)
    return np.unique(array)


def class_codes(name: str, array: LabelArray, classes: LabelArray) -> IntArray:
    """Return for each label its position among the classes; an unknown one is an error."""
    if array.dtype.kind in "iub" and classes.dtype.kind in "iub" and len(classes) and len(array):
        low, high = int(classes.min()), int(classes.max())
        span = high - low + 1
        fits = span < SMALL_RANGE and high < 2**63
        if fits and int(array.min()) >= low and int(array.max()) <= high:
            where = np.full(span, -1, dtype=np.int64)
            where[classes.astype(np.int64) - low] = np.arange(len(classes))
            offset = array.astype(np.int64) - low if low or array.dtype.kind == "b" else array
            codes: IntArray = where[offset]
            if span == len(classes) or codes.min() >= 0:
                return codes
    order = np.argsort(classes, kind="stable")
    ranks = np.searchsorted(classes, array, sorter=order)
    codes = order[np.minimum(ranks, len(classes) - 1)]
    unknown = np.flatnonzero(classes[codes] != array)
    if len(unknown):
        label = array[unknown[:1]].tolist()[0]
        raise InvalidArgumentError(
            f"{name} has the label {label!r} in row {unknown[0]}, which is not "
            f"among the classes {classes.tolist()}. Add it to labels=, or leave the row out."
        )
    return codes


def check_kind(positive: object, labels: LabelArray) -> None:
    """Refuse a positive class of another kind than the labels, which none of them can equal."""
    if labels.dtype.kind in "USiufb" and isinstance(positive, str) != (labels.dtype.kind in "US"):
        raise InvalidTypeError(
            "positive must be the same kind of label as truth and prediction; "
            f"got {positive!r} and, for example, {labels[:1].tolist()[0]!r}."
        )


def positive_class(positive: object, classes: LabelArray) -> int:
    """Return the code of the positive class; None is the second of two classes."""
    if positive is None:
        if len(classes) == 2:
            return 1
        raise InvalidArgumentError(
            f"positive must name one of the classes where there are not two; "
            f"got None and the classes {classes.tolist()}. Give positive=, or name both classes "
            "with labels=."
        )
    # tolist() would return nanoseconds as integers.
    listed = list(classes) if classes.dtype.kind in "mM" else classes.tolist()
    matches = [code for code, label in enumerate(listed) if label == positive]
    if not matches:
        raise InvalidArgumentError(
            f"positive must be one of the classes {classes.tolist()}; got {positive!r}."
        )
    return matches[0]


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows and what is known of them; labels and groups as codes too."""

    X: Any
    y: LabelArray
    classes: LabelArray
    codes: IntArray
    weights: FloatArray | None
    groups: IntArray | None
    positive: int

    def __len__(self) -> int:
        return len(self.codes)


def read_labelled_table(
    X: Any,
    y: ArrayLike,
    *,
    positive: object = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> LabelledTable:
    """Check the table of an evaluation, and code its labels and groups."""
    labels = read_labels("y", y)
    X = held_rows(X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(labels):
        raise InvalidArgumentError(
            f"X and y must have the same number of rows; got {n_rows} and {len(labels)}."
        )
    classes = find_classes(None, labels)
    if len(classes) < 2:
        raise InvalidArgumentError(
            f"y must hold at least two classes to evaluate a classifier; got {classes.tolist()}."
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
    return LabelledTable(X, labels, classes, codes, weights, group_codes, code)


def held_rows(X: Any) -> Any:
    """Return a table whose rows can be taken by their index; what gives its rows later is refused.

    Rows of numbers and text stay objects, because NumPy would make text of the numbers.
    """
    is_lazy = isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)
    is_reader = type(X).__name__ == "RecordBatchReader"
    if is_lazy or is_reader or type(X).__module__.startswith("dask."):
        method = "read_all" if is_reader else "collect" if hasattr(X, "collect") else "compute"
        raise InvalidTypeError(
            "X must hold its rows, because each of them is trained on and tested; got "
            f"{type(X).__module__.split('.')[0]}'s {type(X).__name__}. Give X.{method}()."
        )
    if hasattr(X, "shape") or hasattr(X, "__array__"):
        return X
    if isinstance(X, Sequence) and len(X) and all(isinstance(row, Mapping) for row in X):
        return list(X)
    array = np.asarray(X)
    if array.ndim == 0:
        raise InvalidTypeError(
            "X must be an array, a sparse matrix, a data frame (pandas, polars, Arrow) or a list "
            f"of rows; got {type(X).__name__}."
        )
    if array.dtype.kind == "U":
        cells = np.asarray(X, dtype=object)
        return array if all(isinstance(cell, str) for cell in cells.flat) else cells
    return array


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return some rows of an array, sparse matrix or any data frame, as the same kind."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    if isinstance(X, list):  # of dicts
        return [X[row] for row in rows.tolist()]
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

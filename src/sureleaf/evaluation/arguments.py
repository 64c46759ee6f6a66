"""What the caller gave: numbers and arrays, checked once at the door."""

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError

__all__ = [
    "Floats",
    "Integers",
    "Labels",
    "check_choice",
    "check_count",
    "check_level",
    "check_probabilities",
    "check_same_length",
    "check_share",
    "check_weights",
    "read_labels",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[Any]

SUM_TOLERANCE = 1e-3
"""How far a row of probabilities may be from 1: float32 models are allowed their rounding."""


def check_level(level: float) -> float:
    """Return a level of confidence as a float, strictly between 0 and 1.

    Examples
    --------
    >>> check_level(95)
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: level must be between 0 and 1; got 95. Did you mean 0.95?
    """
    if not 0 < level < 1:
        hint = f" Did you mean {level / 100:g}?" if 1 < level < 100 else ""
        raise InvalidArgumentError(f"level must be between 0 and 1; got {level!r}.{hint}")
    return float(level)


def check_count(name: str, value: object, *, least: int = 1) -> int:
    """Return a whole number of at least `least`.

    Examples
    --------
    >>> check_count("repeats", 3)
    3
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidTypeError(
            f"{name} must be a whole number of at least {least}; got {value!r}."
        ) from None
    if number < least:
        raise InvalidArgumentError(f"{name} must be at least {least}; got {number}.")
    return number


def check_share(name: str, value: float) -> float:
    """Return a share strictly between 0 and 1.

    Examples
    --------
    >>> check_share("test", 0.25)
    0.25
    """
    if not 0 < value < 1:
        hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
        raise InvalidArgumentError(f"{name} must be between 0 and 1; got {value!r}.{hint}")
    return float(value)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return one of the words that are allowed.

    Examples
    --------
    >>> check_choice("average", "macro", ("macro", "weighted"))
    'macro'
    """
    if value not in choices:
        allowed = ", ".join(repr(choice) for choice in choices)
        raise InvalidArgumentError(f"{name} must be one of {allowed}; got {value!r}.")
    return str(value)


def check_same_length(**arrays: NDArray[Any] | None) -> int:
    """Return the number of rows that all the arrays have.

    Examples
    --------
    >>> check_same_length(truth=np.zeros(3), prediction=np.ones(3))
    3
    """
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InvalidArgumentError(
            f"All arrays must have the same number of rows; {found}. Give one entry a row."
        )
    return next(iter(lengths.values()))


def read_labels(name: str, labels: ArrayLike) -> Labels:
    """Return labels as an array of one dimension, without missing ones.

    Object arrays of one kind of label become arrays of that kind, so that comparing them is quick.

    Examples
    --------
    >>> read_labels("y", ["a", "b"]).tolist()
    ['a', 'b']
    """
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"{name} must have one label a row; got an array of shape {array.shape}."
        )
    if array.dtype == object:
        array = _tidy_objects(name, array)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidArgumentError(f"{name} has missing labels (NaN); leave those rows out.")
    return array


def _tidy_objects(name: str, array: Labels) -> Labels:
    missing = [value is None or value != value for value in array]
    if any(missing):
        raise InvalidArgumentError(
            f"{name} has missing labels, the first in row {missing.index(True)}; "
            "leave those rows out."
        )
    if len({type(value) for value in array}) == 1:
        return np.array(array.tolist())
    return array


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Return the rows' weights: finite, not negative, not all zero; or None.

    Examples
    --------
    >>> check_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise InvalidArgumentError(
            f"sample_weight must have one weight for each of the {n_rows} rows; "
            f"got shape {weights.shape}."
        )
    lowest = weights.min(initial=0.0)
    total = weights.sum()
    if not np.isfinite(total) or lowest < 0 or total <= 0:
        raise InvalidArgumentError(
            "sample_weight must be finite, not negative and not all zero; "
            f"got a sum of {total} and a smallest weight of {lowest}."
        )
    return weights


def check_probabilities(probabilities: ArrayLike, n_classes: int) -> Floats:
    """Return probabilities as rows by classes, each row a distribution.

    One column is read as the probability of the second of two classes.

    Examples
    --------
    >>> check_probabilities([0.25], 2).tolist()
    [[0.75, 0.25]]
    """
    array = np.asarray(probabilities, dtype=np.float64)
    if array.ndim == 1 and n_classes == 2:
        array = np.column_stack([1.0 - array, array])
    if array.ndim != 2 or array.shape[1] != n_classes:
        raise InvalidArgumentError(
            f"probabilities must have one column for each of the {n_classes} classes; "
            f"got shape {array.shape}. Name the classes of the columns with labels=."
        )
    sums = array @ np.ones(n_classes)
    low = array.min(initial=0.0)
    if np.isnan(low) or not np.isfinite(sums).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InvalidArgumentError(
            f"probabilities must be numbers; row {row} has {array[row].tolist()}. "
            "Leave such rows out, or repair the model that made them."
        )
    off = np.abs(sums - 1.0)
    if low < 0 or (len(off) and off.max() > SUM_TOLERANCE):
        row = int(off.argmax()) if low >= 0 else int(array.min(axis=1).argmin())
        raise InvalidArgumentError(
            f"probabilities must be at least 0 and sum to 1 in each row; row {row} has "
            f"{array[row].tolist()}. Divide each row by its sum, or calibrate the scores first."
        )
    return array

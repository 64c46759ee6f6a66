"""What a level accepts: checks, broadcasting, and scalars out where scalars came in.

One rule for all of ``sureleaf.levels``:

- a **scalar** that cannot be used (p_max = 0.3, n = -1, NaN) raises an error that names the
  argument and the value;
- a bad **element of an array** gives NaN in its place and leaves the others alone;
- where a last axis belongs together (the nodes of a tree, the classes of a distribution), one
  **vector** is what a scalar is above: a bad vector raises, one of several gives NaN;
- shapes that do not broadcast, and values that are not numbers, raise an error;
- an empty array gives an empty array.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError

__all__ = [
    "FloatArray",
    "Floats",
    "Integers",
    "Labels",
    "Numbers",
    "as_given",
    "broadcast",
    "chance",
    "check_choice",
    "check_count",
    "check_level",
    "check_probabilities",
    "check_same_length",
    "check_share",
    "check_weights",
    "distribution",
    "finite_rows",
    "numbers",
    "p_max_of",
    "read_labels",
    "require_pairs",
    "rows",
    "within",
]


FloatArray = NDArray[np.float64]
Numbers = float | FloatArray
"""A float where every argument was a scalar, otherwise an array of the broadcast shape."""

_SUM_TOLERANCE = 1e-8


def numbers(name: str, value: ArrayLike) -> FloatArray:
    """Return a fresh float64 array of the value, or raise an error that names it.

    Examples
    --------
    >>> numbers("n", [1, 2])
    array([1., 2.])
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind in "biuf":
            return given.astype(np.float64)
        if given.dtype.kind == "O":  # fractions, decimals, integers beyond 64 bits; not None
            items = [float(item) for item in given.flat]
            return np.array(items, dtype=np.float64).reshape(given.shape)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidTypeError(
        f"{name} must be a number or an array of numbers; got {_shown(value)}. "
        "Convert it to numbers first."
    )


def within(
    name: str,
    value: ArrayLike,
    allowed: Callable[[FloatArray], NDArray[np.bool_]],
    expected: str,
    advice: Callable[[float], str] = lambda value: "",
    *,
    core: int = 0,
) -> FloatArray:
    """Return the numbers with NaN for elements not allowed; a scalar not allowed is an error.

    With ``core=1`` a bad element of a single vector is an error, too.

    Examples
    --------
    >>> within("share", [0.2, -1.0], lambda x: x >= 0, "0 or more")
    array([0.2, nan])
    """
    array = numbers(name, value)
    good = allowed(array)
    if good.all():
        return array
    if array.ndim <= core:
        number = float(array[~good].flat[0])
        raise InvalidArgumentError(f"{name} must be {expected}; got {number!r}.{advice(number)}")
    array[~good] = np.nan
    return array


def rows(name: str, value: ArrayLike, *, core: int = 0) -> FloatArray:
    """Check numbers of rows: 0 or more, fractions and infinity (the limit) included.

    Examples
    --------
    >>> rows("n", [3, -1])
    array([ 3., nan])
    """
    return within(name, value, lambda n: n >= 0, "a number of rows, 0 or more", _not_nan, core=core)


def finite_rows(name: str, value: ArrayLike, *, core: int = 0) -> FloatArray:
    """Check counted rows: 0 or more, fractions included, infinity not.

    Examples
    --------
    >>> finite_rows("y", [2.5, float("inf")])
    array([2.5, nan])
    """
    return within(
        name,
        value,
        lambda y: (y >= 0) & np.isfinite(y),
        "a finite count of rows, 0 or more",
        _not_nan,
        core=core,
    )


def p_max_of(value: ArrayLike, name: str = "p_max", *, core: int = 0) -> FloatArray:
    """Check probabilities of the more probable of two classes: from 0.5 to 1.

    Examples
    --------
    >>> p_max_of([0.6, 0.4])
    array([0.6, nan])
    """
    return within(
        name, value, lambda p: (p >= 0.5) & (p <= 1), "from 0.5 to 1", _mirrored, core=core
    )


def chance(name: str, value: ArrayLike, *, core: int = 0) -> FloatArray:
    """Check probabilities, shares and weights: from 0 to 1.

    Examples
    --------
    >>> chance("share", [0.25, 1.5])
    array([0.25,  nan])
    """
    return within(name, value, lambda p: (p >= 0) & (p <= 1), "from 0 to 1", _percent, core=core)


def distribution(name: str, value: ArrayLike) -> FloatArray:
    """Check probabilities along the last axis: 0 or more, with sum 1 (within 1e-8, then scaled).

    Examples
    --------
    >>> distribution("shares", [[0.25, 0.75], [0.5, 0.6]])
    array([[0.25, 0.75],
           [ nan,  nan]])
    """
    array = numbers(name, value)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InvalidArgumentError(
            f"{name} must have a last axis to add up along; got shape {array.shape}. "
            "Give at least one number, such as [1.0]."
        )
    total = array.sum(axis=-1, keepdims=True)
    good = (array >= 0).all(axis=-1, keepdims=True) & (np.abs(total - 1) <= _SUM_TOLERANCE)
    if array.ndim == 1 and not good.all():
        raise InvalidArgumentError(
            f"{name} must be 0 or more and add up to 1; got {_shown(array.tolist())} with sum "
            f"{float(total[0]):.10g}. Divide counts by their sum first."
        )
    return np.where(good, array / np.where(good, total, 1.0), np.nan)


def broadcast(**arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Return the arrays in their common shape, or say which shapes do not go together.

    Examples
    --------
    >>> [a.shape for a in broadcast(n=np.ones((3, 1)), p_max=np.ones(2))]
    [(3, 2), (3, 2)]
    """
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidArgumentError(
            f"shapes must broadcast to one shape; got {shapes}. "
            "Give arrays of equal length, or add an axis with [:, None]."
        ) from None


def require_pairs(
    name: str, values: FloatArray, good: NDArray[np.bool_], expected: str, *, scalars: bool
) -> FloatArray:
    """Return the values with NaN where a relation between arguments fails; scalars raise.

    Examples
    --------
    >>> y, n = np.array([2.0, 9.0]), np.array([5.0, 5.0])
    >>> require_pairs("y", y, y <= n, "at most n", scalars=False)
    array([ 2., nan])
    """
    if good.all():
        return values
    if scalars:
        bad = float(values[~good].flat[0])
        raise InvalidArgumentError(f"{name} must be {expected}; got {bad!r}.")
    return np.where(good, values, np.nan)


def as_given(result: FloatArray) -> Numbers:
    """Return a float for a result without axes, the array itself otherwise.

    Examples
    --------
    >>> as_given(np.array(0.5))
    0.5
    """
    return float(result) if result.ndim == 0 else result


def _mirrored(p: float) -> str:
    if 0 <= p < 0.5:
        return f" It is the larger of p and 1 - p: did you mean {1 - p:.6g}?"
    return _percent(p)


def _percent(p: float) -> str:
    return f" Did you mean {p / 100:.6g}?" if 1 < p <= 100 else _not_nan(p)


def _not_nan(value: float) -> str:
    return " Remove or replace missing values first." if np.isnan(value) else ""


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


# What the caller gave: numbers and arrays, checked once at the door.

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

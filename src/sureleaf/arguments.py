"""Checks of what the caller gives: every argument is checked here, before any work.

The functions `check_…` return the argument in the form the code needs, or raise an error that
names the argument, what was expected and what was got.

The arrays of `sureleaf.levels` follow one rule about bad values:

- a bad **scalar** (p_max = 0.3, n = -1, NaN) raises an error;
- a bad **element of an array** becomes NaN and leaves the other elements alone;
- where the last axis belongs together (the nodes of a tree, the classes of a distribution), a
  **vector** is treated like a scalar: one bad vector raises, one of several becomes NaN;
- shapes that do not broadcast, and values that are not numbers, raise an error;
- an empty array gives an empty array.
"""

import operator
import os
import sys
from collections.abc import Callable, Collection
from datetime import UTC
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, suggestion

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
LabelArray = NDArray[Any]
Numbers = float | FloatArray
"""A float where every argument was a scalar, otherwise an array of the broadcast shape."""

_DISTRIBUTION_TOLERANCE: Final = 1e-8
"""How far the sum of a distribution given to a formula may be from 1."""

_PREDICTION_TOLERANCE: Final = 1e-3
"""How far the sum of predicted probabilities may be from 1: models that use float32 round."""

_LARGEST_WEIGHT_SUM: Final = 1e150
"""The square of this sum is still a finite number."""

_N_CORES: Final = os.cpu_count() or 1


# Single values


def check_choice(name: str, value: object, choices: Collection[object]) -> Any:
    """Return the value if it is one of the choices."""
    if isinstance(value, list | dict | np.ndarray) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        words = [choice for choice in choices if isinstance(choice, str)]
        near = suggestion(value, words, listed=False) if isinstance(value, str) else ""
        raise InvalidArgumentError(f"{name} must be one of {listed}; got {value!r}.{near}")
    return value


def check_number(
    name: str,
    value: object,
    *,
    low: float,
    high: float = np.inf,
    whole: bool = False,
    open_low: bool = False,
) -> None:
    """Raise unless the value is a number within the bounds."""
    kind = Integral if whole else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    inside = is_number and low <= value <= high and not (open_low and value == low)  # type: ignore[operator]
    if not inside:
        what = "a whole number" if whole else "a number"
        bounds = f"above {low:g}" if open_low else f"at least {low:g}"
        upper = "" if high == np.inf else f" and at most {high if whole else format(high, 'g')}"
        is_percent = high == 1 and is_number and 1 < value <= 100  # type: ignore[operator]
        near = f" Did you mean {value / 100:g}?" if is_percent else ""  # type: ignore[operator]
        raise InvalidArgumentError(f"{name} must be {what} {bounds}{upper}; got {value!r}.{near}")


def check_count(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least `least`, and at most `most` if it is given."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidTypeError(
            f"{name} must be a whole number of at least {least}; got {value!r}."
        ) from None
    if number < least:
        raise InvalidArgumentError(f"{name} must be at least {least}; got {number}.")
    if most is not None and number > most:
        raise InvalidArgumentError(f"{name} must be at most {most:,}; got {number:,}.")
    return number


def check_share(name: str, value: float) -> float:
    """Return a share strictly between 0 and 1."""
    if not 0 < value < 1:
        hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
        raise InvalidArgumentError(f"{name} must be between 0 and 1; got {value!r}.{hint}")
    return float(value)


def check_level(level: float) -> float:
    """Return the level of an interval as a float, strictly between 0 and 1."""
    return check_share("level", level)


_ROWS_PER_THREAD: Final = 64
"""Fewer rows than this are predicted by one thread: to start others would take longer."""


def thread_count(n_jobs: Any, n_rows: int | None = None) -> int:
    """Return the number of threads for n_jobs; None and -1 are all cores that joblib allows.

    Few rows to predict need one thread. joblib is not asked then, because it reads the limits of
    the machine anew each time, which takes longer than to predict a row.
    """
    if n_jobs is not None:
        is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
        if not is_whole or n_jobs == 0:
            raise InvalidArgumentError(
                f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}. Use 1 for "
                "one thread, None or -1 for all cores."
            )
    if n_rows is not None and n_rows < _ROWS_PER_THREAD:
        return 1
    import joblib  # the pure formulas of sureleaf.levels do without it

    wanted = int(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))
    return max(1, min(wanted, _N_CORES))


def child_process(program: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a Python process that finds the modules of this one.

    A plain ``python -c`` would first look in the current folder, where others may have put files
    that have the names of modules.
    """
    folders = [folder or os.getcwd() for folder in sys.path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    return [sys.executable, "-P", "-c", program, *arguments], environment


def runs_elsewhere() -> bool:
    """Return whether joblib's active back end sends work to other machines: Dask, Ray or Spark."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    is_local = type(backend).__module__ == "joblib._parallel_backends"
    return not is_local and not getattr(backend, "supports_sharedmem", False)


def parallel(n_jobs: Any = None, **options: Any) -> Any:
    """Return joblib's `Parallel` for the active back end; results come one by one if it can.

    The back end of Ray cannot: there, they come together at the end.
    """
    from joblib.parallel import Parallel, get_active_backend

    backend, _ = get_active_backend(require=options.get("require"))
    return_as = "generator" if backend.supports_return_generator else "list"
    return Parallel(n_jobs=n_jobs, return_as=return_as, **options)


# One entry per row


def check_same_length(**arrays: NDArray[Any] | None) -> int:
    """Return the number of rows that all the arrays have."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InvalidArgumentError(
            f"All arrays must have the same number of rows; {listed}. Give one entry per row."
        )
    return next(iter(lengths.values()))


def read_labels(name: str, labels: ArrayLike) -> LabelArray:
    """Return labels as an array of one dimension, without missing ones.

    Object arrays of one kind of label become arrays of that kind, which compare much faster.
    """
    array = np.asarray(labels)
    if array.dtype.kind == "f" and isinstance(labels, list | tuple):
        exact = np.array(labels, dtype=object)  # a list of -1 and 2**63 becomes float64
        array = exact if all(isinstance(label, int) for label in exact.flat) else array
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"{name} must have one label per row; got an array of shape {array.shape}."
        )
    if array.dtype.kind == "T":  # NumPy's StringDType, which compares with no other text
        array = array.astype(object)
    if array.dtype == object:
        array = _typed_labels(name, array)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidArgumentError(f"{name} has missing labels (NaN). Remove those rows.")
    return array


def _typed_labels(name: str, array: LabelArray) -> LabelArray:
    missing = [value is None or value != value for value in array]
    if any(missing):
        raise InvalidArgumentError(
            f"{name} has missing labels, the first in row {missing.index(True)}. Remove those rows."
        )
    if any(map(_is_exact_time, array)):
        return np.array([_numpy_time(value) for value in array])
    if len({type(value) for value in array}) == 1:
        typed = np.array(array.tolist())
        return array if typed.dtype.kind == "f" and isinstance(array[0], int) else typed
    return array


def _is_exact_time(value: Any) -> bool:
    """Whether a value is a time with nanoseconds, which NumPy's tolist() returns as integers.

    Times with a zone are such values, too: models compare them in UTC.
    """
    names = ("nanosecond", "nanoseconds", "tzinfo")
    return any(getattr(value, name, None) for name in names)


def _numpy_time(value: Any) -> Any:
    if hasattr(value, "asm8"):  # of pandas
        return value.asm8
    has_zone = getattr(value, "utcoffset", lambda: None)() is not None and hasattr(value, "date")
    return value.astimezone(UTC).replace(tzinfo=None) if has_zone else value


def check_weights(
    sample_weight: Any, n_rows: int, *, ones_as_none: bool = False
) -> FloatArray | None:
    """Return sample weights as an array: finite, not negative, not all zero.

    None stays None; a scalar is the weight of every row. With `ones_as_none`, weights that are all
    1 become None, so that a fit takes the unweighted path.
    """
    if sample_weight is None:
        return None
    weights = _weight_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InvalidArgumentError(
            f"sample_weight must have one weight per row, shape ({n_rows},); got shape "
            f"{weights.shape}."
        )
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidArgumentError(
            f"sample_weight must be finite and not negative; got {weights[row]} in row {row}. "
            "Give a row weight 0 to leave it out."
        )
    if not weights.any():
        raise InvalidArgumentError(
            "sample_weight must be above 0 for at least one row; got all zeros."
        )
    if weights.max() > _LARGEST_WEIGHT_SUM / n_rows:
        raise InvalidArgumentError(
            f"sample_weight must have a sum of at most {_LARGEST_WEIGHT_SUM:g}; got weights up to "
            f"{weights.max():g}. Divide them by their largest."
        )
    return None if ones_as_none and bool((weights == 1.0).all()) else weights


def row_weights(weights: FloatArray | None, n_rows: int) -> FloatArray:
    """Return the weights; without any, each row has the weight 1."""
    return np.ones(n_rows) if weights is None else weights


def meaning_of_weights(stated: str, weights: FloatArray | None) -> str:
    """Return "importance" for weights that cannot be counts of rows, else what is stated.

    Boosting sends weights that sum to 1. As counts, they would say that the table is a single row.
    Above 2^53, sums of counts are rounded: adding a row would change nothing.
    """
    if weights is None or stated != "counts":
        return stated
    n_rows, total = np.count_nonzero(weights), weights.sum()
    are_too_few = total < 0.1 * n_rows or (total < 1.0 + 1e-9 and n_rows > 1)
    return "importance" if are_too_few or total > 2.0**53 else stated


def scale_importances(weights: FloatArray | None) -> FloatArray | None:
    """Scale importance weights to a mean of 1 over the rows of positive weight."""
    if weights is None:
        return None
    weights = weights / weights.max()  # so that no sum overflows
    scaled: FloatArray = weights / (weights.sum() / np.count_nonzero(weights))
    return scaled


def check_one_label_per_row(n_rows: int, labels: NDArray[Any]) -> None:
    """Raise unless there is one label per row."""
    if len(labels) != n_rows:
        raise InvalidArgumentError(
            "X and y must have the same number of rows (inconsistent numbers of samples); "
            f"got {n_rows} and {len(labels)}."
        )


def _weight_numbers(given: Any) -> FloatArray:
    """Return a copy of the weights as floats; masked ones become NaN, which is refused later."""
    if isinstance(given, np.ma.MaskedArray):
        given = np.where(np.ma.getmaskarray(given), np.nan, given.data)
    kind = getattr(getattr(given, "dtype", None), "kind", "O")
    try:
        if kind in "cmM":  # complex numbers and dates, which NumPy would convert silently
            raise TypeError(f"dtype {given.dtype}")
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(
            f"sample_weight must have one number per row; got a value that is not a number "
            f"({error})."
        ) from error


def check_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Return a copy of the groups as an array: one entry per row, none of them missing."""
    if groups is None:
        return None
    array = np.array(groups)
    if array.shape != (n_rows,):
        raise InvalidArgumentError(
            f"groups must have one entry per row, shape ({n_rows},); got shape {array.shape}."
        )
    try:
        distinct = np.unique(array)
        missing = distinct[distinct != distinct]
    except TypeError as error:  # None, or 1 and "a" as objects
        raise InvalidTypeError(
            f"groups must be of one type and never missing; got values that cannot be sorted "
            f"({error}). Convert them to text first."
        ) from error
    if len(missing):
        raise InvalidArgumentError(
            f"groups must have an entry for every row; got {missing[0]}. Give each row without a "
            "group one of its own."
        )
    return array


def check_probabilities(probabilities: ArrayLike, n_classes: int) -> FloatArray:
    """Return predicted probabilities with one row per row and one column per class.

    One column is read as the probability of the second of two classes.
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
            "Remove such rows, or repair the model that predicted them."
        )
    deviation = np.abs(sums - 1.0)
    if low < 0 or (len(deviation) and deviation.max() > _PREDICTION_TOLERANCE):
        row = int(deviation.argmax()) if low >= 0 else int(array.min(axis=1).argmin())
        raise InvalidArgumentError(
            f"probabilities must be at least 0 and sum to 1 in each row; row {row} has "
            f"{array[row].tolist()}. Divide each row by its sum, or calibrate the scores first."
        )
    return array


# Arrays of numbers that broadcast, for the formulas of sureleaf.levels


def check_numbers(name: str, value: ArrayLike) -> FloatArray:
    """Return a fresh float64 array of the value."""
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
        f"{name} must be a number or an array of numbers; got {_shortened(value)}. "
        "Convert it to numbers first."
    )


def check_range(
    name: str,
    value: ArrayLike,
    allowed: Callable[[FloatArray], NDArray[np.bool_]],
    expected: str,
    advice: Callable[[float], str] = lambda value: "",
    *,
    core: int = 0,
) -> FloatArray:
    """Return the numbers with NaN for elements that are not allowed; a bad scalar raises.

    With ``core=1`` a bad element of a single vector raises, too.
    """
    array = check_numbers(name, value)
    good = allowed(array)
    if good.all():
        return array
    if array.ndim <= core:
        number = float(array[~good].flat[0])
        raise InvalidArgumentError(f"{name} must be {expected}; got {number!r}.{advice(number)}")
    array[~good] = np.nan
    return array


def check_rows(name: str, value: ArrayLike) -> FloatArray:
    """Check numbers of rows: 0 or more, fractions and infinity (the limit) included."""
    return check_range(name, value, lambda n: n >= 0, "a number of rows, 0 or more", _nan_advice)


def check_finite_rows(name: str, value: ArrayLike, *, core: int = 0) -> FloatArray:
    """Check counts of rows: 0 or more, fractions included, infinity not."""
    return check_range(
        name,
        value,
        lambda y: (y >= 0) & np.isfinite(y),
        "a finite count of rows, 0 or more",
        _nan_advice,
        core=core,
    )


def check_p_max(value: ArrayLike, name: str = "p_max", *, core: int = 0) -> FloatArray:
    """Check probabilities of the more probable of two classes: from 0.5 to 1."""
    return check_range(
        name, value, lambda p: (p >= 0.5) & (p <= 1), "from 0.5 to 1", _p_max_advice, core=core
    )


def check_unit_interval(name: str, value: ArrayLike, *, core: int = 0) -> FloatArray:
    """Check probabilities, shares and mixing weights: from 0 to 1."""
    return check_range(
        name, value, lambda p: (p >= 0) & (p <= 1), "from 0 to 1", _percent_advice, core=core
    )


def check_distribution(name: str, value: ArrayLike) -> FloatArray:
    """Check probabilities along the last axis: 0 or more, with sum 1 (within 1e-8, then scaled)."""
    array = check_numbers(name, value)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InvalidArgumentError(
            f"{name} must have a last axis to add up along; got shape {array.shape}. "
            "Give at least one number, such as [1.0]."
        )
    total = array.sum(axis=-1, keepdims=True)
    is_one = np.abs(total - 1) <= _DISTRIBUTION_TOLERANCE
    good = (array >= 0).all(axis=-1, keepdims=True) & is_one
    if array.ndim == 1 and not good.all():
        raise InvalidArgumentError(
            f"{name} must be 0 or more and add up to 1; got {_shortened(array.tolist())} with sum "
            f"{float(total[0]):.10g}. Divide counts by their sum first."
        )
    return np.where(good, array / np.where(good, total, 1.0), np.nan)


def check_pairs(
    name: str, values: FloatArray, good: NDArray[np.bool_], expected: str, *, scalars: bool
) -> FloatArray:
    """Return the values with NaN where a relation between two arguments fails; scalars raise."""
    if good.all():
        return values
    if scalars:
        bad = float(values[~good].flat[0])
        raise InvalidArgumentError(f"{name} must be {expected}; got {bad!r}.")
    return np.where(good, values, np.nan)


def broadcast(**arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Return the arrays in their common shape, or name the shapes that do not fit."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InvalidArgumentError(
            f"shapes must broadcast to one shape; got {shapes}. "
            "Give arrays of equal length, or add an axis with [:, None]."
        ) from None


def scalar_or_array(result: FloatArray) -> Numbers:
    """Return a float for a result without axes, the array itself otherwise."""
    return float(result) if result.ndim == 0 else result


def _p_max_advice(p: float) -> str:
    if 0 <= p < 0.5:
        return f" It is the larger of p and 1 - p: did you mean {1 - p:.6g}?"
    return "" if 1 < p < 50 else _percent_advice(p)


def _percent_advice(p: float) -> str:
    return f" Did you mean {p / 100:.6g}?" if 1 < p <= 100 else _nan_advice(p)


def _nan_advice(value: float) -> str:
    return " Remove or replace missing values first." if np.isnan(value) else ""


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

"""Are the parameters of an estimator usable? Each is checked before any work."""

import os
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, Final

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, suggestion

__all__ = [
    "check_choice",
    "check_groups",
    "check_number",
    "check_weights",
    "draw_seed",
    "thread_count",
]


_LARGEST_WEIGHT: Final = 1e150
"""Of all rows together: its square is still a number."""

_N_CORES: Final = os.cpu_count() or 1


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise unless the value is one of the choices.

    Examples
    --------
    >>> check_choice("unseen", "stop", ("mixture", "stop", "error"))
    """
    if isinstance(value, list | dict | np.ndarray) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        words = [choice for choice in choices if isinstance(choice, str)]
        near = suggestion(value, words, listed=False) if isinstance(value, str) else ""
        raise InvalidArgumentError(f"{name} must be one of {listed}; got {value!r}.{near}")


def check_number(
    name: str,
    value: object,
    *,
    low: float,
    high: float = np.inf,
    whole: bool = False,
    open_low: bool = False,
) -> None:
    """Raise unless the value is a number within the bounds.

    Examples
    --------
    >>> check_number("max_depth", 3, low=0, whole=True)
    """
    kind = Integral if whole else Real
    is_number = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    within = is_number and low <= value <= high and not (open_low and value == low)  # type: ignore[operator]
    if not within:
        what = "a whole number" if whole else "a number"
        bounds = f"above {low:g}" if open_low else f"at least {low:g}"
        upper = "" if high == np.inf else f" and at most {high:g}"
        is_percent = high == 1 and is_number and 1 < value <= 100  # type: ignore[operator]
        near = f" Did you mean {value / 100:g}?" if is_percent else ""  # type: ignore[operator]
        raise InvalidArgumentError(f"{name} must be {what} {bounds}{upper}; got {value!r}.{near}")


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Bring sample weights into one form: None where all are 1.

    Examples
    --------
    >>> check_weights([1, 1], 2) is None
    True
    """
    if sample_weight is None:
        return None
    given = sample_weight
    if isinstance(given, np.ma.MaskedArray):
        given = np.where(np.ma.getmaskarray(given), np.nan, given.data)  # which is refused below
    kind = getattr(getattr(given, "dtype", None), "kind", "O")
    try:
        if kind in "cmM":  # NumPy would make numbers of them
            raise TypeError(f"dtype {given.dtype}")
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(
            f"sample_weight must hold numbers, one a row; got what is none ({error})."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InvalidArgumentError(
            f"sample_weight must have one weight a row, shape ({n_rows},); got shape "
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
    if weights.max() > _LARGEST_WEIGHT / n_rows:
        raise InvalidArgumentError(
            f"sample_weight must have a sum of at most {_LARGEST_WEIGHT:g}; got weights up to "
            f"{weights.max():g}. Divide them by their largest."
        )
    return None if bool((weights == 1.0).all()) else weights


def check_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Bring groups into an array of one's own: one entry a row, none of them missing.

    Examples
    --------
    >>> check_groups(["a", "a", "b"], 3).tolist()
    ['a', 'a', 'b']
    """
    if groups is None:
        return None
    found = np.array(groups)
    if found.shape != (n_rows,):
        raise InvalidArgumentError(
            f"groups must have one entry a row, shape ({n_rows},); got shape {found.shape}."
        )
    try:
        distinct = np.unique(found)
        missing = distinct[distinct != distinct]
    except TypeError as error:  # None, or 1 and "a" as objects
        raise InvalidTypeError(
            f"groups must be of one type and never missing; got what cannot be sorted ({error}). "
            "Convert them to text first."
        ) from error
    if len(missing):
        raise InvalidArgumentError(
            f"groups must have an entry for every row; got {missing[0]}. Give each row without a "
            "group one of its own."
        )
    return found


def thread_count(n_jobs: Any) -> int:
    """Threads for n_jobs: None and -1 are all cores there are, unless joblib allows fewer.

    Examples
    --------
    >>> thread_count(1)
    1
    """
    if n_jobs is not None:
        is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
        if not is_whole or n_jobs == 0:
            raise InvalidArgumentError(
                f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}. Use 1 for "
                "one thread, None or -1 for all cores."
            )
    wanted = int(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))
    return max(1, min(wanted, _N_CORES))


def draw_seed(random_state: Any) -> int:
    """Draw a seed for the counter-based generators; the same number for the same state.

    Examples
    --------
    >>> draw_seed(7)
    7
    """
    if isinstance(random_state, int | np.integer) and 0 <= random_state < 2**128:
        return int(random_state)
    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            "random_state must be a whole number from 0 on, a numpy.random.RandomState or None; "
            f"got {random_state!r}."
        ) from error
    return int(state.randint(np.iinfo(np.int32).max))

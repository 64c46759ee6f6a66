"""Are the parameters of an estimator usable? Each is checked before any work."""

import os
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sureleaf.errors import InvalidArgumentError

__all__ = ["check_choice", "check_number", "check_weights", "draw_seed", "thread_count"]


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Raise unless the value is one of the choices."""
    if isinstance(value, list | dict | np.ndarray) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidArgumentError(f"{name} must be one of {listed}; got {value!r}.")


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
    within = is_number and low <= value <= high and not (open_low and value == low)  # type: ignore[operator]
    if not within:
        what = "a whole number" if whole else "a number"
        bounds = f"above {low:g}" if open_low else f"at least {low:g}"
        upper = "" if high == np.inf else f" and at most {high:g}"
        raise InvalidArgumentError(f"{name} must be {what} {bounds}{upper}; got {value!r}.")


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Bring sample weights into one form: None where all are 1."""
    if sample_weight is None:
        return None
    weights = np.array(sample_weight, dtype=np.float64)
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
    return None if bool((weights == 1.0).all()) else weights


def thread_count(n_jobs: int | None) -> int:
    """Threads for n_jobs: None and -1 are all cores there are, unless joblib allows fewer."""
    if n_jobs is not None:
        check_number("n_jobs", n_jobs, low=-np.inf, whole=True)
        if n_jobs == 0:
            raise InvalidArgumentError(
                "n_jobs must not be 0; use 1 for one thread, None or -1 for all cores."
            )
    wanted = int(joblib.effective_n_jobs(-1 if n_jobs is None else n_jobs))
    return max(1, min(wanted, os.cpu_count() or 1))


def draw_seed(random_state: Any) -> int:
    """Draw a seed for the counter-based generators below; the same number for the same state."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

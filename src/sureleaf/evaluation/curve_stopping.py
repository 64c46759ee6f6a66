"""Sizes of a learning curve, and rules that stop it."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sureleaf.arguments import FloatArray, check_count, check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import corrected_resampled

__all__ = ["Arithmetic", "Geometric", "NoChange", "NotWorthwhile", "Schedule", "StopRule"]


class Schedule(Protocol):
    """Gives the sizes of a learning curve."""

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes for this number of training rows; all rows are the last size."""


@dataclass(frozen=True)
class Arithmetic:
    """Sizes S_i = S_0 + i C (arithmetic sampling), from `start`, S_0, by `step`, C.

    Examples
    --------
    >>> Arithmetic(100, 150).sizes(500)
    [100, 250, 400, 500]
    """

    start: int = 50
    step: int = 50

    def __post_init__(self) -> None:
        check_count("start", self.start, least=2)
        check_count("step", self.step)

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes for this number of training rows; all rows are the last size."""
        _check_start(self.start, n_rows)
        return [*range(self.start, n_rows, self.step), n_rows]


@dataclass(frozen=True)
class Geometric:
    """Sizes S_i = S_0 C^i (geometric sampling), from `start`, S_0, by `factor`, C.

    Examples
    --------
    >>> Geometric(100, 1.5).sizes(500)
    [100, 150, 225, 338, 500]
    """

    start: int = 50
    factor: float = 2.0

    def __post_init__(self) -> None:
        check_count("start", self.start, least=2)
        if not 1.001 <= self.factor < math.inf:
            raise InvalidArgumentError(
                f"factor must be at least 1.001 and finite; got {self.factor}."
            )

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes for this number of training rows; all rows are the last size."""
        _check_start(self.start, n_rows)
        sizes: list[int] = []
        size = float(self.start)
        while round(size) < n_rows:
            if not sizes or round(size) > sizes[-1]:
                sizes.append(round(size))
            size *= self.factor
        return [*sizes, n_rows]


def _check_start(start: int, n_rows: int) -> None:
    if start > n_rows:
        raise InvalidArgumentError(
            f"start must be at most the number of training rows, {n_rows}; got {start}."
        )


@dataclass(frozen=True)
class NoChange:
    """Stop when the mean of the measure no longer changes, m(i) = m(i + 1)."""

    tolerance: float = 0.001

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise InvalidArgumentError(f"tolerance must be at least 0; got {self.tolerance}.")

    def reason(self, before: FloatArray, now: FloatArray, test_to_train: float) -> str | None:
        """Return the reason to stop after these values (greater is better), or None."""
        both = np.isfinite(before) & np.isfinite(now)
        if not both.any():
            return None
        change = abs(float(np.mean(now[both]) - np.mean(before[both])))
        if change <= self.tolerance:
            return f"the mean changed by {change:.4f}, at most {self.tolerance:g}"
        return None


@dataclass(frozen=True)
class NotWorthwhile:
    """Stop when the gain of the last step is significantly below a worthwhile gain.

    The curve stops when the upper end of the interval of the mean gain over repeats (corrected
    resampled t) is below `gain`, in units of the measure.

    Examples
    --------
    >>> rule = NotWorthwhile(gain=0.05)
    >>> rule.reason(np.array([0.80, 0.81, 0.82]), np.array([0.801, 0.811, 0.822]), 0.5)
    'the gain is at most 0.0036 (95 % interval), less than 0.05'
    """

    gain: float = 0.01
    level: float = 0.95

    def __post_init__(self) -> None:
        check_level(self.level)
        if not self.gain > 0:
            raise InvalidArgumentError(f"gain must be above 0; got {self.gain}.")

    def reason(self, before: FloatArray, now: FloatArray, test_to_train: float) -> str | None:
        """Return the reason to stop after these values (greater is better), or None."""
        gains = now - before
        gains = gains[np.isfinite(gains)]
        if len(gains) < 2:
            return None
        mean = corrected_resampled(gains, test_to_train=test_to_train, level=self.level)
        if mean.high < self.gain:
            return (
                f"the gain is at most {mean.high:.4f} ({100 * self.level:g} % interval), "
                f"less than {self.gain:g}"
            )
        return None


StopRule = NoChange | NotWorthwhile
"""Decides by the values at the last two sizes whether a learning curve stops."""

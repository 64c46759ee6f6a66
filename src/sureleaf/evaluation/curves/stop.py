"""When more rows stop paying."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, check_level
from sureleaf.evaluation.intervals import corrected_resampled

__all__ = ["NoChange", "NotWorthwhile", "StopRule"]


class StopRule(Protocol):
    """Anything that looks at the last two sizes and gives a reason to stop, or None.

    Examples
    --------
    >>> NoChange(0.01).reason(np.array([0.8, 0.8]), np.array([0.8, 0.81]), 0.5) is not None
    True
    """

    def reason(self, before: Floats, now: Floats, test_to_train: float) -> str | None:
        """Return why to stop after these figures of the repeats (greater is better), or None."""


@dataclass(frozen=True)
class NoChange:
    """The lecture's rule: stop when the measure stops changing, m(i) = m(i + 1).

    Parameters
    ----------
    tolerance : float
        How much the mean may still change and count as the same.

    Examples
    --------
    >>> NoChange().reason(np.array([0.8, 0.9]), np.array([0.9, 0.9]), 0.5) is None
    True
    """

    tolerance: float = 0.001

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise InvalidArgumentError(f"tolerance must be at least 0; got {self.tolerance}.")

    def reason(self, before: Floats, now: Floats, test_to_train: float) -> str | None:
        """Return why to stop after these figures of the repeats (greater is better), or None."""
        both = np.isfinite(before) & np.isfinite(now)
        if not both.any():
            return None
        change = abs(float(np.mean(now[both]) - np.mean(before[both])))
        if change <= self.tolerance:
            return f"the mean changed by {change:.4f}, at most {self.tolerance:g}"
        return None


@dataclass(frozen=True)
class NotWorthwhile:
    """The statistical rule: stop when the next size surely gains less than is worth the rows.

    The gains of the repeats, row samples nested, are averaged with the corrected resampled t
    interval; the curve stops when its upper end is below `gain`.

    Parameters
    ----------
    gain : float
        The gain that would be worth going on, in units of the measure.
    level : float
        Level of the interval.

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

    def reason(self, before: Floats, now: Floats, test_to_train: float) -> str | None:
        """Return why to stop after these figures of the repeats (greater is better), or None."""
        gains = now - before
        gains = gains[np.isfinite(gains)]
        if len(gains) < 2:
            return None
        found = corrected_resampled(gains, test_to_train=test_to_train, level=self.level)
        if found.high < self.gain:
            return (
                f"the gain is at most {found.high:.4f} ({100 * self.level:g} % interval), "
                f"less than {self.gain:g}"
            )
        return None

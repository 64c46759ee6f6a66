"""A figure with its interval."""

from dataclasses import dataclass
from typing import NamedTuple

from sureleaf.formatting import TextDisplay

__all__ = ["Estimate", "Interval"]


class Interval(NamedTuple):
    """The two ends of an interval.

    Examples
    --------
    >>> Interval(0.2, 0.4).high
    0.4
    """

    low: float
    high: float


@dataclass(frozen=True)
class Estimate(TextDisplay):
    """A figure, the interval it lies in at a level of confidence, and how that was found.

    Attributes
    ----------
    value, low, high : float
    level : float
        Level of confidence of the interval, for example 0.95.
    method : str
        The method, and what the interval speaks of.

    Examples
    --------
    >>> print(Estimate(0.8, 0.7112, 0.8666, 0.95, "Wilson, this model"))
    0.8000 (95 % interval 0.7112 to 0.8666; Wilson, this model)
    """

    value: float
    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} ({100 * self.level:g} % interval "
            f"{self.low:.4f} to {self.high:.4f}; {self.method})"
        )

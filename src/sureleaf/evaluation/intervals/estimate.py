"""A value with its interval: what every estimate of a measure returns."""

from dataclasses import dataclass

from sureleaf.formatting import TextDisplay

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate(TextDisplay):
    """A value, its interval, and the method the interval comes from.

    Attributes
    ----------
    value, low, high : float
    level : float
        Level of the interval, for example 0.95.
    method : str
        The method, and whether the interval is for this model or for the algorithm.

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

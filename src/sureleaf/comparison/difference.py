"""What a test of two numbers hands back: the difference, its interval and the p-value."""

from dataclasses import dataclass

__all__ = ["DifferenceTest"]


@dataclass(frozen=True)
class DifferenceTest:
    """A difference, the interval that holds it, and the p-value of "there is none".

    Attributes
    ----------
    difference : float
        The first minus the second.
    low, high : float
        Ends of the two-sided interval.
    p_value : float
        Two-sided, of the hypothesis that the true difference is 0.
    statistic : float
        What was compared with the reference distribution.
    standard_error : float
        Of the difference, as the statistic used it.
    method : str
        Name of the test and of the interval.
    level : float
        How often such an interval holds the true difference.
    assumption : str
        What has to be true for that, in a sentence.

    Examples
    --------
    >>> from sureleaf.comparison import compare_rates
    >>> compare_rates(0.15, 30, 0.25, 5000)
    difference -0.1000 (-0.2283 to 0.0283 at level 0.95), p = 0.1267
      by z, unpooled; the two sets of rows are independent and both rates are far from 0 and 1
    """

    difference: float
    low: float
    high: float
    p_value: float
    statistic: float
    standard_error: float
    method: str
    level: float
    assumption: str

    def __repr__(self) -> str:
        return (
            f"difference {self.difference:.4f} ({self.low:.4f} to {self.high:.4f} "
            f"at level {self.level:g}), p = {self.p_value:.4g}\n"
            f"  by {self.method}; {self.assumption}"
        )

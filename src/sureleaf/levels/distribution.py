"""The entropic binomial distribution (2): the larger of two class counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from sureleaf import _kernel
from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_p_max,
    check_range,
    scalar_or_array,
)
from sureleaf.levels.p_max_estimates import estimate_p_max


class entropic_binomial:  # noqa: N801 - named as scipy names its distributions
    """The distribution (2) of max(Y, n - Y), Y ~ Bin(n, p); it depends on p only through p_max.

    Parameters
    ----------
    n : array_like
        Whole number of rows, 0 or more, finite.
    p_max : array_like
        The larger of p and 1 - p, from 0.5 to 1.

    Examples
    --------
    >>> larger = entropic_binomial(3, 0.75)
    >>> larger
    entropic_binomial(n=3.0, p_max=0.75)
    >>> larger.pmf([2, 3])
    array([0.5625, 0.4375])
    >>> round(larger.mean(), 6), round(larger.var(), 6)
    (2.4375, 0.246094)
    >>> round(entropic_binomial.fit(5, 7), 6)
    0.666667
    """

    def __init__(self, n: ArrayLike, p_max: ArrayLike) -> None:
        self._n, self._p = broadcast(n=_whole_rows(n), p_max=check_p_max(p_max))

    def __repr__(self) -> str:
        return f"entropic_binomial(n={self.n!r}, p_max={self.p_max!r})"

    @property
    def n(self) -> Numbers:
        """Number of rows, of the broadcast shape."""
        return scalar_or_array(self._n.copy())

    @property
    def p_max(self) -> Numbers:
        """Probability of the more probable class, of the broadcast shape."""
        return scalar_or_array(self._p.copy())

    @staticmethod
    def fit(y_max: ArrayLike, n: ArrayLike) -> Numbers:
        """Return the p_max that maximises (2) for each count: the entropic mle.

        Counts of either class may be given, and may be fractional, as in `estimate_p_max`.
        """
        return estimate_p_max(y_max, n, method="entropic")

    def logpmf(self, y: ArrayLike) -> Numbers:
        """Return the logarithm of `pmf`, minus infinity outside the support."""
        return scalar_or_array(self._logpmf(y))

    def pmf(self, y: ArrayLike) -> Numbers:
        """Return P(max(Y, n - Y) = y); 0 unless y is whole and from n / 2 to n."""
        return scalar_or_array(np.exp(self._logpmf(y)))

    def cdf(self, y: ArrayLike) -> Numbers:
        """Return P(max(Y, n - Y) <= y) = P(n - y <= Y <= y)."""
        value, n, p = self._against(y)
        value = np.floor(value)
        with np.errstate(invalid="ignore"):
            top = np.clip(value, np.ceil(n / 2), np.maximum(n - 1, 0))
            rest = np.maximum(n - top, 1)  # differs from n - top for n = 0 only
            inside = betainc(rest, top + 1, 1 - p) - betainc(top + 1, rest, 1 - p)
        unknown = np.isnan(value + n + p)
        known = np.select([value < n / 2, value >= n], [0.0, 1.0], np.maximum(inside, 0.0))
        return scalar_or_array(np.where(unknown, np.nan, known))

    def mean(self) -> Numbers:
        """Return the expected larger count: n p_max plus the excess from swapped majorities."""
        return scalar_or_array(self._n * self._p + self._excess())

    def var(self) -> Numbers:
        """Return the variance of the larger count."""
        n, p, excess = self._n, self._p, self._excess()
        return scalar_or_array(n * p * (1 - p) - excess * (n * (2 * p - 1) + excess))

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> int | NDArray[np.int64]:
        """Return random larger counts; `size` is by default the shape of n and p_max."""
        n = self._n.astype(np.int64)
        drawn = np.random.default_rng(random_state).binomial(n, self._p, size)
        larger = np.maximum(drawn, n - drawn)
        return int(larger) if np.ndim(larger) == 0 else larger

    def _against(self, y: ArrayLike) -> tuple[FloatArray, ...]:
        value = check_range("y", y, lambda y: ~np.isnan(y), "a number")
        return broadcast(y=value, n=self._n, p_max=self._p)

    def _logpmf(self, y: ArrayLike) -> FloatArray:
        value, n, p = self._against(y)
        with np.errstate(invalid="ignore"):
            outside = (value < n / 2) | (value > n) | (value != np.floor(value))
        count = np.where(outside, n, value)
        lead = 2 * count - n
        # the second term of (2) is the first times (q / p)^(2y - n); at a tie there is only one
        ratio = np.where(lead > 0, ((1 - p) / p) ** lead, 0.0)
        inside = _kernel.log_binomial(count, n, p) + np.log1p(ratio)
        return np.where(outside & ~np.isnan(inside), -np.inf, inside)

    def _excess(self) -> FloatArray:
        """Return E max(Y, n - Y) - n p = E (n - 2Y)^+, by removing one row from the sum."""
        n, p = self._n, self._p
        others = np.maximum(n - 1, 0)
        half = np.maximum(np.ceil(n / 2) - 1, 0)
        at_half = np.exp(_kernel.log_binomial(half, others, p))
        below = 1 - _kernel.confidence(others, p) - np.where(n % 2 == 1, 0.5, 1.0) * at_half
        excess: FloatArray = n * np.maximum((1 - p) * at_half - (2 * p - 1) * below, 0.0)
        return excess


def _whole_rows(n: ArrayLike) -> FloatArray:
    return check_range(
        "n",
        n,
        lambda n: (n >= 0) & np.isfinite(n) & (n == np.floor(n)),
        "a finite whole number of rows, 0 or more",
    )

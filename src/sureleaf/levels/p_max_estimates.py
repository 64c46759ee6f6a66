"""The larger of two class counts: its distribution (2), and estimates of p_max from it.

The estimates are (14), the maximiser of (2), (20) and (21).

A method is a function of two float64 arrays of one shape, ``(y_max, n)`` with
n / 2 <= y_max <= n and n > 0, that returns estimates from 0.5 to 1. To add a method, write that
function and add it to `METHODS`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

from sureleaf import _kernel
from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_choice,
    check_distribution,
    check_finite_rows,
    check_p_max,
    check_pairs,
    check_range,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError


def mle(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return y_max / n, (14)."""
    return y_max / n


def entropic(y_max: FloatArray, n: FloatArray) -> FloatArray:
    """Return the maximiser of (2), the entropic mle.

    With s = 2p - 1 and d = 2 y_max - n it solves n s = d tanh(d atanh s). It is exactly 0.5
    where d * d <= n (a majority within one standard deviation of a tie is no evidence), and
    exactly 1 where y_max = n > 1. For a single row (2) is constant; 0.5 by convention.
    """
    return _kernel.entropic_estimate(y_max, n)


def blend(y_max: FloatArray, n: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return weight * mle + (1 - weight) * entropic, (20); by default weight = mle, (21)."""
    high, low = mle(y_max, n), entropic(y_max, n)
    return np.clip(low + (high if weight is None else weight) * (high - low), low, high)


METHODS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "mle": mle,
    "entropic": entropic,
    "blend": blend,
}
"""Method name -> function of (y_max, n)."""


def estimate_p_max(
    y: ArrayLike, n: ArrayLike, *, method: str = "blend", weight: ArrayLike | None = None
) -> Numbers:
    """Return an estimate of the probability of a node's more probable class.

    ``"mle"`` (14) is the larger relative frequency, which overestimates; ``"entropic"``
    maximises (2), the likelihood of the larger count, and tends to underestimate; ``"blend"``
    (20) lies between the two. For every y and n, entropic <= blend <= mle, (22).

    Parameters
    ----------
    y : array_like
        Rows of either class, from 0 to n. Weighted rows give fractional counts, for which
        (2) uses gamma functions instead of factorials (they do not move its maximum).
    n : array_like
        Rows in the node. Without rows (n = 0) every method returns 0.5.
    method : {"blend", "mle", "entropic"}
        A key of `METHODS`.
    weight : array_like, optional
        Weight of the mle in the blend, from 0 to 1; by default the mle itself, (21).

    Returns
    -------
    float or ndarray
        From 0.5 to 1, of the broadcast shape.

    Examples
    --------
    >>> [round(estimate_p_max(5, 7, method=m), 4) for m in ("entropic", "blend", "mle")]
    [0.6667, 0.7007, 0.7143]
    >>> estimate_p_max([0, 3, 4], 6, method="entropic")
    array([1. , 0.5, 0.5])
    """
    check_choice("method", method, tuple(METHODS))
    if weight is not None and method != "blend":
        raise InvalidArgumentError(
            f"weight belongs to method='blend'; got method={method!r}. Leave weight out."
        )
    counts, n_rows, weights = broadcast(
        y=check_finite_rows("y", y),
        n=check_finite_rows("n", n),
        weight=check_unit_interval("weight", 0.5 if weight is None else weight),
    )
    scalars = np.ndim(y) == 0 and np.ndim(n) == 0
    counts = check_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=scalars
    )
    y_max = np.maximum(counts, n_rows - counts)
    empty = (n_rows == 0) & (counts == 0)
    if empty.any():  # as half a row of each class, which avoids 0 / 0 in every method
        y_max, n_rows = np.where(empty, 0.5, y_max), np.where(empty, 1.0, n_rows)
    estimates = METHODS[method](y_max, n_rows) if weight is None else blend(y_max, n_rows, weights)
    return scalar_or_array(np.where(empty, 0.5, estimates) if empty.any() else estimates)


def joint_log_likelihood(y: ArrayLike, n: ArrayLike, shares: ArrayLike, p: ArrayLike) -> Numbers:
    """Return the log-probability (3) of a tree's node sizes and class counts.

    In nats, minus infinity for impossible counts. `y` and `n` are rows of the first class and all
    rows of each node, `shares` and `p` the probabilities of the nodes, with sum 1, and of the first
    class in each. Nodes are along the last axis. Fractional counts use gamma functions. Bad
    arguments of a single tree raise an error; one of several trees gives NaN.

    Examples
    --------
    >>> round(joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)  # log(3 / 32)
    -2.367124
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, first = broadcast(
        y=counts, n=n_rows, shares=parts, p=check_unit_interval("p", p, core=1)
    )
    classes = xlogy(counts, first) + xlog1py(n_rows - counts, -first)
    return scalar_or_array((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def entropic_joint_log_likelihood(
    y: ArrayLike, n: ArrayLike, shares: ArrayLike, p_max: ArrayLike
) -> Numbers:
    """Return the log-probability (4) of a tree's node sizes and larger class counts.

    As `joint_log_likelihood`, with rows of either class and the probability of the more probable
    class.

    Examples
    --------
    >>> round(entropic_joint_log_likelihood([1, 0], [2, 1], [0.5, 0.5], [0.5, 0.5]), 6)
    -1.673976
    """
    counts, n_rows, parts = _counted(y, n, shares)
    counts, n_rows, parts, p = broadcast(
        y=counts, n=n_rows, shares=parts, p_max=check_p_max(p_max, core=1)
    )
    larger = np.maximum(counts, n_rows - counts)
    lead = 2 * larger - n_rows
    ratio = np.where(lead > 0, ((1 - p) / p) ** lead, 0.0)
    classes = xlogy(larger, p) + xlog1py(n_rows - larger, -p) + np.log1p(ratio)
    return scalar_or_array((_ways(counts, n_rows) + classes + xlogy(n_rows, parts)).sum(axis=-1))


def _counted(y: ArrayLike, n: ArrayLike, shares: ArrayLike) -> tuple[FloatArray, ...]:
    """Return y, n and shares, checked, in one shape whose last axis runs over nodes."""
    counts, n_rows, parts = broadcast(
        y=check_finite_rows("y", y, core=1),
        n=check_finite_rows("n", n, core=1),
        shares=check_distribution("shares", shares),
    )
    if not np.shape(y)[-1:] == np.shape(n)[-1:] == np.shape(shares)[-1:]:
        raise InvalidArgumentError(
            "y, n and shares must have one value per node along the last axis; got shapes "
            f"{np.shape(y)}, {np.shape(n)} and {np.shape(shares)}. Give them equal lengths."
        )
    single = counts.ndim == 1
    counts = check_pairs(
        "y", counts, ~(counts > n_rows), "at most n, the rows of both classes", scalars=single
    )
    return counts, n_rows, parts


def _ways(y: FloatArray, n: FloatArray) -> FloatArray:
    """Return log(n_total! / product of y! (n - y)!), the total's part shared among the nodes."""
    total = gammaln(n.sum(axis=-1, keepdims=True) + 1) / n.shape[-1]
    log_ways: FloatArray = total - gammaln(y + 1) - gammaln(n - y + 1)
    return log_ways


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

"""Exact bias and mean squared error of estimates of p_max, confidence and utility.

With Y the larger of the two class counts, the mean of h(Y) is the sum of h(y) P(Y = y) over y
from ceil(n / 2) to n. Counts so far from their mean that their probability is below e^-42 are
left out, so the time grows with the square root of n.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from sureleaf import _kernel
from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_choice,
    check_p_max,
    check_range,
    scalar_or_array,
)
from sureleaf.errors import UnreachableLevelError
from sureleaf.levels.nodes import confidence, utility
from sureleaf.levels.p_max_estimates import estimate_p_max
from sureleaf.levels.planning import range_of

Quantity = Callable[[ArrayLike, ArrayLike], Numbers]
Loss = Callable[[FloatArray, FloatArray], FloatArray]


QUANTITIES: dict[str, Quantity] = {
    "p_max": lambda n, p_max: scalar_or_array(np.asarray(p_max, dtype=np.float64)),
    "confidence": confidence,
    "utility": utility,
}
"""Estimated quantity -> function of (n, p_max); its estimate is its value at the estimate."""

_LOG_NEGLIGIBLE = 42.0
_COUNTS_AT_A_TIME = 200_000


def exact_bias(
    n: ArrayLike, p_max: ArrayLike, *, method: str = "blend", of: str = "p_max"
) -> Numbers:
    """Return the expected estimate minus the truth.

    Parameters
    ----------
    n : array_like
        Rows in the node, a whole number; a node without rows estimates p_max = 0.5.
    p_max : array_like
        The true probability of the more probable class, from 0.5 to 1.
    method : str
        A method of `estimate_p_max`.
    of : {"p_max", "confidence", "utility"}
        The estimated quantity: p_max, (5) or (6), the latter two at the estimated p_max.

    Returns
    -------
    float or ndarray
        Of the broadcast shape; absolute error below 1e-12 for n up to 10^9.

    Examples
    --------
    >>> round(exact_bias(20, 0.6, method="mle"), 4)
    0.0214
    >>> round(exact_bias(20, 0.6), 4)
    0.007
    """
    return _mean(n, p_max, method, of, lambda estimate, truth: estimate - truth)


def exact_mse(
    n: ArrayLike, p_max: ArrayLike, *, method: str = "blend", of: str = "p_max"
) -> Numbers:
    """Return the mean squared difference of estimate and truth; parameters as for `exact_bias`.

    Examples
    --------
    >>> round(exact_mse(20, 0.6, method="mle"), 4)
    0.0077
    """
    return _mean(n, p_max, method, of, lambda estimate, truth: (estimate - truth) ** 2)


def quantity(of: str) -> Quantity:
    """Return the function of (n, p_max) that ``of`` names."""
    return QUANTITIES[check_choice("of", of, tuple(QUANTITIES))]


def _mean(n: ArrayLike, p_max: ArrayLike, method: str, of: str, loss: Loss) -> Numbers:
    """Return the mean of loss(estimate, truth)."""
    target = quantity(of)
    whole = check_range(
        "n",
        n,
        lambda n: (n >= 0) & np.isfinite(n) & (n == np.floor(n)),
        "a whole number of rows, 0 or more",
        lambda n: " Counts need whole rows: round it." if n >= 0 else "",
    )
    n_rows, p = broadcast(n=whole, p_max=check_p_max(p_max))
    estimate_p_max(0, 1, method=method)  # reports a wrong method even for empty arrays
    result = np.full(n_rows.shape, np.nan)
    usable = ~np.isnan(n_rows) & ~np.isnan(p)
    result[usable] = _means(n_rows[usable], p[usable], method, target, loss)
    return scalar_or_array(result)


def _means(n: FloatArray, p: FloatArray, method: str, target: Quantity, loss: Loss) -> FloatArray:
    """Return the mean losses of many nodes, in chunks that bound the memory."""
    truth = np.asarray(target(n, p))
    low, high = likely_counts(n, p)
    lengths = (high - low + 1).astype(np.intp)
    share = np.cumsum(lengths) // _COUNTS_AT_A_TIME
    means = np.empty(n.shape)
    for part in np.split(np.arange(n.size), np.flatnonzero(np.diff(share)) + 1):
        node = np.repeat(part, lengths[part])
        first = np.cumsum(lengths[part]) - lengths[part]
        counts = low[node] + np.arange(node.size) - np.repeat(first, lengths[part])
        estimate = np.asarray(target(n[node], estimate_p_max(counts, n[node], method=method)))
        losses = loss(estimate, truth[node]) * probability_of_larger_count(counts, n[node], p[node])
        means[part] = np.add.reduceat(losses, first) if part.size else 0.0
    return means


def likely_counts(n: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest count of the larger class that is not negligible."""
    third = _LOG_NEGLIGIBLE / 3
    reach = third + np.sqrt(third**2 + 2 * _LOG_NEGLIGIBLE * n * p * (1 - p))
    low = np.maximum(np.ceil(n / 2), np.floor(n * p - reach))
    return low, np.minimum(n, np.ceil(n * p + reach))


def probability_of_larger_count(y_max: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return P(the larger of the two counts is y_max), (2), for arrays of one shape."""
    either = np.exp(_kernel.log_binomial(y_max, n, p)) + np.exp(
        _kernel.log_binomial(n - y_max, n, p)
    )
    return np.where(2 * y_max == n, either / 2, either)


# How many rows keep the bias of an estimate within a bound.
#
# For a range [a, b] of p_max let worst(n) be the largest absolute bias at n rows. Wanted is the
# smallest n with worst(n') <= bound for every n' >= n. The bias is not monotone in n (it changes
# sign, and odd and even n differ), so:
#
# - a horizon, derived in `_horizon`, from which on the bound holds for every n' and p;
# - below it, exact sums at every n up to 200, and above at probes 5 % apart, an odd and an even n
#   each, down to the last violation. As a function of (2p - 1) sqrt(n) the bias is a smooth curve
#   with waves about 2 wide: one that exceeds the bound between two probes does so by less than a
#   thousandth of it;
# - above that, exact sums at every n' of the following 4 sqrt(n) rows, near the p of the violation,
#   and again until a whole stretch is free of violations: the difference between neighbours is
#   of the order 1 / sqrt(n), relative to the bias, which falls by more over such a stretch.
#
# The largest bias over p is taken on a grid that holds a and b: steps of a quarter of the standard
# deviation of the observed frequency over eight of them from a, where the bias is, then sixteenths
# around the highest of these (which finds a peak to about a thousandth of its height), and eight
# steps on to b.

_FINE, _COARSE = 33, 9
_EVERY_N, _PROBE_RATIO = 200, 1.05


def sample_size_for_bias(
    p_range: ArrayLike, *, bias: float = 0.01, method: str = "blend", of: str = "p_max"
) -> int:
    """Return the smallest n from which on an estimate's exact bias stays within the bound.

    Parameters
    ----------
    p_range : (float, float) or float
        Range ``(a, b)`` of p_max, or one value.
    bias : float
        Bound on the absolute bias, above 0.
    method : str
        A method of `estimate_p_max`.
    of : {"p_max", "confidence", "utility"}
        What is estimated.

    Returns
    -------
    int
        Rows; with this many or more, the absolute bias is at most ``bias`` for every p_max in
        the range.

    Raises
    ------
    UnreachableLevelError
        If the bias does not fall below the bound however many rows there are: that of the
        confidence near p_max = 0.5.

    Examples
    --------
    >>> sample_size_for_bias((0.6, 0.9), bias=0.02), sample_size_for_bias((0.6, 0.9), bias=0.01)
    (13, 20)
    >>> sample_size_for_bias((0.6, 0.9), method="mle")
    34
    """
    a, b = range_of("p_range", p_range)
    quantity(of)  # reports a wrong quantity first
    bound = float(check_range("bias", bias, lambda bias: bias > 0, "above 0"))
    horizon = _horizon(a, bound, of)

    task = (a, b, method, of)
    peaks = ((n, *_worst(n, *task)) for n in _probes(horizon))
    last, _, index = next((peak for peak in peaks if peak[1] > bound), (0, 0.0, 0))
    if last == horizon:
        raise UnreachableLevelError(
            f"bias must be larger for the {of} over p_max from {a!r} to {b!r}; got {bound!r}, "
            f"which is exceeded at {last} rows. Raise the bound, or the lower end of the range."
        )
    n = last
    while n < last + 4 * np.sqrt(last):
        n += 1
        if _worst(n, *task, around=index)[0] > bound:
            last, index = n, _worst(n, *task)[1]
    return last + 1


def _horizon(a: float, bound: float, of: str) -> int:
    """Return a number of rows from which on every method's bias is within the bound.

    Every estimate t is within 1 / (2 sqrt(n)) of the mle, and E |mle - p_max| <= 1 / (2 sqrt(n)).

    - p_max: the mle's bias is at most 0.4 / sqrt(n), none is further up, and none further down
      than t can be below the mle: 1 / (2 sqrt(n)).
    - utility: its slope in p_max is at most sqrt(2) from n = 3 on, so sqrt(2) / sqrt(n).
    - confidence: with z = (2 a - 1) sqrt(n), Hoeffding's inequality bounds the chance of the
      wrong majority, both at p_max and at an estimate that is not less than half way up, by
      exp(-z^2 / 8), and that of a smaller estimate by exp(-(z / 2 - 1)^2 / 2); together they are
      below 2 exp(-(z / 2 - 1)^2 / 2). At a = 0.5 there is no such z; the bias has a limit,
      which 10^5 rows show.
    """
    if of == "confidence":
        if a == 0.5:
            return 100_000
        z = 2 * (1 + np.sqrt(2 * np.log(max(2 / bound, 1.0))))
        return int(np.ceil((z / (2 * a - 1)) ** 2))
    reach = 0.5 if of == "p_max" else np.sqrt(2)
    return max(3, int(np.ceil((reach / bound) ** 2)))


def _probes(horizon: int) -> Iterator[int]:
    """Yield numbers of rows from the horizon down, an odd and an even one each step."""
    n = horizon
    while n > _EVERY_N:
        yield n
        yield n - 1
        n = min(n - 2, int(n / _PROBE_RATIO))
    yield from range(min(horizon, _EVERY_N), 0, -1)


def _worst(
    n: int, a: float, b: float, method: str, of: str, around: int | None = None
) -> tuple[float, int | None]:
    """Return the largest absolute bias at n rows, and its index on the grid from a, if there.

    ``around`` limits the search to one index of that grid, which moves with n, and its neighbours.
    """
    low, high = np.arcsin(np.sqrt([a, b]))  # here the standard deviation is 1 / (2 sqrt(n))
    turn = min(low + 4 / np.sqrt(n), high)
    step = (turn - low) / (_FINE - 1)

    def at(angles: FloatArray) -> FloatArray:
        p = np.clip(np.sin(np.unique(np.clip(angles, low, turn))) ** 2, a, b)
        return np.abs(_biases_nearby(n, p, method, of))

    index = int(at(low + step * np.arange(_FINE)).argmax()) if around is None else around
    worst = float(at(low + step * (index + np.linspace(-2, 2, 17))).max())
    if around is None and turn < high:
        far = np.clip(np.sin(np.linspace(turn, high, _COARSE)) ** 2, a, b)
        beyond = float(np.abs(exact_bias(n, far, method=method, of=of)).max())
        if beyond > worst:
            return beyond, None
    return worst, index


def _biases_nearby(n: int, p: FloatArray, method: str, of: str) -> FloatArray:
    """Return the exact biases at values of p_max whose likely counts overlap, all at once."""
    low, high = likely_counts(np.full(p.shape, float(n)), p)
    counts = np.arange(low.min(), high.max() + 1)
    estimates = np.asarray(quantity(of)(n, estimate_p_max(counts, n, method=method)))
    at, truth = np.broadcast_arrays(counts, p[:, np.newaxis])
    chances = probability_of_larger_count(at, np.full(at.shape, float(n)), truth)
    return np.asarray(chances @ estimates - quantity(of)(n, p))

"""Tests and intervals that hold however often they are looked at.

A test by betting starts with a capital of 1 and stakes a part of it on every row. If the null
hypothesis is true, no stake gains on average, so the capital is a supermartingale without negative
values (an e-process). By Ville's inequality [1]_, the probability that it ever reaches 1 / alpha
is then at most alpha: one may look after every row, and stop whenever one likes. If the null
hypothesis is false, some stake gains on average and its capital grows exponentially. Which stake is
best is not known, so the capital is divided among several (a mixture, [2]_); that keeps the
guarantee [4]_. The capital depends on the counts of the outcomes alone, not on their order.

A confidence sequence is an interval that holds the truth at all times at once with this
probability. It has all values that such a test has not rejected by now; for a share, the mixture of
the binomial distribution by a beta distribution gives it in closed form [2]_ [3]_.

A change may come late, when the rows before it have used up the capital. So a test starts anew from
time to time, and each start has its part of alpha.

References
----------
.. [1] Ville, J. (1939). Etude critique de la notion de collectif. Gauthier-Villars, Paris.
.. [2] Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. Annals
   of Mathematical Statistics 41, 1397-1409.
.. [3] Howard, S. R., Ramdas, A., McAuliffe, J., Sekhon, J. (2021). Time-uniform, nonparametric,
   nonasymptotic confidence sequences. Annals of Statistics 49, 1055-1080.
.. [4] Waudby-Smith, I., Ramdas, A. (2024). Estimating means of bounded random variables by betting.
   Journal of the Royal Statistical Society B 86, 1-27.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

from sureleaf.arguments import FloatArray
from sureleaf.levels.search import halved

ODDS_RATIOS = np.exp(0.125 * 1.6 ** np.arange(8))
"""Alternatives that are bet on, as odds ratios to the null hypothesis: 1.13 to 29. The best of them
is off by a factor of 1.6 at most, which costs less than a tenth of the growth of the capital."""

FIRST_START = 16
"""A start after fewer rows would differ little from the first one."""

STARTS_PER_DOUBLING = 4
"""A start is at most 19 % of the rows away from a change."""


def log_bets(gains: ArrayLike) -> FloatArray:
    """Return by what the logarithm of each capital grows with each outcome.

    ``gains`` is what a unit stake gains by each outcome; the null hypothesis is that this is at
    most 0 on average. Shape of the result: (n_stakes, n_outcomes). For two outcomes, a stake is the
    likelihood ratio of another share, whose odds are those of the null times `ODDS_RATIOS`.

    Examples
    --------
    A share of at most 0.5 is tested by outcomes "yes" and "no":

    >>> np.exp(log_bets([0.5, -0.5])[2]).round(3)  # the share with odds 1.38 to 1
    array([1.159, 0.841])
    """
    gain = np.asarray(gains, dtype=np.float64)
    loss, span = -gain.min(), gain.max() - gain.min()
    if not loss > 0 or not span > loss:
        raise ValueError("gains must have a loss and a gain")
    more = ODDS_RATIOS - 1.0
    stakes = more / (span * (1.0 + loss / span * more))
    grown: FloatArray = np.log1p(stakes[:, np.newaxis] * gain)
    return grown


def log_capital(counts: NDArray[Any], bets: FloatArray) -> FloatArray:
    """Return the logarithm of the capital after these counts, whose last axis is the outcomes."""
    grown = counts @ bets.T
    most = grown.max(axis=-1, keepdims=True)  # scipy's logsumexp takes four times as long
    capital: FloatArray = most[..., 0] + np.log(np.exp(grown - most).mean(axis=-1))
    return capital


def capital_limit(
    successes: NDArray[Any], n: NDArray[Any], share: float, *, rises: bool
) -> FloatArray:
    """Return an upper limit of `log_capital` for a share that rises, or falls.

    No capital grows by more than n times the divergence of Kullback and Leibler between the share
    that was observed and this one; chi-squared is above that, and quick to compute.
    """
    more = (successes - share * n) * (1.0 if rises else -1.0)
    limit: FloatArray = np.maximum(more, 0.0) ** 2 / (share * (1.0 - share) * n)
    return limit


def start_times(first: int, last: int) -> list[int]:
    """Return the numbers of rows after which a test starts anew, from ``first`` to ``last``.

    Examples
    --------
    >>> start_times(0, 60)
    [0, 16, 19, 22, 26, 32, 38, 45, 53]
    """
    times, k = [0] if first <= 0 else [], 0
    while (time := int(FIRST_START * 2 ** (k / STARTS_PER_DOUBLING))) <= last:
        if time >= first:
            times.append(time)
        k += 1
    return times


def start_share(index: int) -> float:
    """Return the part of alpha of a start: a half for the first; all parts sum to 1."""
    return 0.5 if index == 0 else 0.5 / (index * (index + 1))


def confidence_sequence(
    successes: ArrayLike, n: ArrayLike, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return limits of a share that hold at all times at once with probability 1 - alpha.

    The share is not rejected by the beta(1/2, 1/2) mixture [2]_, [3]_.

    Examples
    --------
    >>> low, high = confidence_sequence([0, 45], [0, 50], 0.05)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.713]), array([1.   , 0.984]))
    """
    own, rows = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    rest = rows - own
    mixed = betaln(own + 0.5, rest + 0.5) - betaln(0.5, 0.5)
    seen = np.divide(own, rows, out=np.full(rows.shape, 0.5), where=rows > 0)

    def is_rejected(share: FloatArray) -> NDArray[np.bool_]:
        capital = mixed - xlogy(own, share) - xlog1py(rest, -share)
        return np.asarray(capital >= -np.log(alpha))

    low: FloatArray = halved(is_rejected, np.zeros(rows.shape), seen, 50)[0]
    high: FloatArray = halved(is_rejected, np.ones(rows.shape), seen, 50)[0]
    return low, high

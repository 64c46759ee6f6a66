"""Intervals of numbers: means over splits that share training rows, and the bootstrap.

The callers decide which of them is valid.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sureleaf.arguments import FloatArray, IntArray, check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import TextDisplay
from sureleaf.levels.intervals import Interval, normal_reach


@dataclass(frozen=True)
class Estimate(TextDisplay):
    """A value, its interval, and the method the interval comes from.

    The method says whether the interval is for this model or for the algorithm.

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
        if math.isnan(self.value):
            return self.method
        return (
            f"{self.value:.4f} ({100 * self.level:g} % interval "
            f"{self.low:.4f} to {self.high:.4f}; {self.method})"
        )


@dataclass(frozen=True)
class SplitVariance:
    """How the variance of a mean over splits depends on their number.

    `hidden` is the variance of the mean that the splits cannot show, such as that of the class
    proportions if all splits have the same, and `least` what it is at least, whatever they show.
    """

    spread: float  # variance of the values of the splits
    test_to_train: float  # test rows of a split per training row, n_test / n_train
    hidden: float
    least: float

    def of_mean(self, n_splits: float) -> float:
        """Return the variance of the mean of so many splits.

        It is that of Nadeau and Bengio, which corrects for shared training rows, but at least that
        of the rows alone, ``spread * n_test / n``, plus the hidden variance.
        """
        ratio = self.test_to_train
        corrected = (1 / n_splits + ratio) * self.spread
        of_rows = self.spread * ratio / (1 + ratio) + self.hidden
        return max(corrected, of_rows, self.least)


@dataclass(frozen=True)
class MeanOverSplits:
    """A mean over the splits of a design, its standard error, interval and t test against zero.

    There is one degree of freedom less than there are splits (or splits of one round).
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float
    degrees: int
    p_value: float
    variance: SplitVariance


MIN_DEGREES = 9
"""Degrees of freedom of ten folds: a round of hold-outs has fewer splits, but many repeats."""


def splits_of_one_round(n_splits: float, test_to_train: float) -> float:
    """Return the number of splits, but at most as many as have disjoint test parts.

    A recall, precision or F changes to first order with the decision boundary. All splits of a
    table share most training rows, so their boundaries move together with the sample, and no number
    of repeats shows that part of the variance. So the interval of such a measure is that of one
    round: k splits for (repeated) k-fold, n/n_test for repeated hold-outs.
    """
    return min(n_splits, 1 + 1 / test_to_train) if test_to_train > 0 else n_splits


def corrected_resampled(
    values: ArrayLike,
    *,
    test_to_train: float = 0.0,
    level: float = 0.95,
    hidden_variance: float = 0.0,
    least_variance: float = 0.0,
    one_round: bool = False,
    degrees_of_one_round: bool = False,
) -> MeanOverSplits:
    """Return a mean over splits with the interval of Nadeau and Bengio.

    The splits share training rows, so their values are correlated. The variance of the mean is
    estimated by ``(1/J + n_test/n_train) s^2`` instead of ``s^2 / J`` [1]_. It was derived for
    repeated hold-outs; for (repeated) k-fold it is an approximation that works well [2]_.
    ``test_to_train=0`` is the plain t interval, which is too short for overlapping splits.

    With `one_round`, repeats leave the interval as wide as one round of splits, for measures that
    move with the decision boundary (`splits_of_one_round`). With `degrees_of_one_round` they leave
    the degrees of freedom, because they use the same rows again; for measures that are not means
    over rows, such as the AUC. For the other variances see `SplitVariance`.

    References
    ----------
    .. [1] Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.
    .. [2] Bouckaert, R., Frank, E. (2004). Evaluating the replicability of significance tests
       for comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
    """
    check_level(level)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise InvalidArgumentError(
            f"values must hold the values of at least two splits; got shape {array.shape}. "
            "Use more folds or repeats."
        )
    if not np.isfinite(array).all():
        raise InvalidArgumentError(
            "values must be finite; got " + ", ".join(f"{value:g}" for value in array[:10]) + "."
        )
    if not 0 <= test_to_train < math.inf:
        raise InvalidArgumentError(
            f"test_to_train must be at least 0; got {test_to_train}. Give n_test / n_train."
        )
    in_a_round = splits_of_one_round(len(array), test_to_train)
    n_splits = in_a_round if one_round else len(array)
    n_free = in_a_round if degrees_of_one_round else n_splits
    degrees = max(round(n_free) - 1, min(len(array) - 1, MIN_DEGREES))
    mean = float(array.mean())
    variance = SplitVariance(
        float(array.var(ddof=1)), test_to_train, hidden_variance, least_variance
    )
    error = math.sqrt(variance.of_mean(n_splits))
    half = float(stdtrit(degrees, 0.5 + level / 2)) * error
    if error > 0:
        p_value = float(2 * stdtr(degrees, -abs(mean) / error))
    else:
        p_value = 1.0 if mean == 0 else 0.0
    return MeanOverSplits(mean, error, mean - half, mean + half, level, degrees, p_value, variance)


Statistic = Callable[[IntArray], float]
"""Row numbers, some of them repeated -> the statistic of these rows."""

N_BLOCKS = 20_000
"""Largest number of units drawn for a mean; more rows are first joined into blocks."""

N_JACKKNIFE = 200
"""Number of jackknife blocks; blocks of one row if there are fewer rows."""


def bca_limits(
    value: float,
    replicates: ArrayLike,
    left_out: ArrayLike,
    *,
    level: float = 0.95,
    times: ArrayLike | None = None,
) -> Interval[float]:
    """Return the limits of the bias-corrected and accelerated bootstrap.

    `replicates` are the statistics of the bootstrap samples, of which infinite ones are ignored.
    `left_out` are those without each row (or block of `times` rows), for the acceleration.

    References
    ----------
    .. [1] Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American
       Statistical Association 82, 171-185.
    """
    check_level(level)
    sample = np.asarray(replicates, dtype=np.float64)
    sample = np.sort(sample[np.isfinite(sample)])
    if len(sample) == 0:
        return Interval(math.nan, math.nan)
    if sample[0] == sample[-1]:
        return Interval(float(sample[0]), float(sample[-1]))
    below = (np.sum(sample < value) + np.sum(sample <= value)) / 2
    shift = float(ndtri(np.clip(below, 0.5, len(sample) - 0.5) / len(sample)))
    z = normal_reach(level)
    each = np.asarray(left_out, dtype=np.float64)
    speed = _acceleration(each, np.ones(len(each)) if times is None else np.asarray(times))
    tails = [ndtr(shift + (shift + side) / (1 - speed * (shift + side))) for side in (-z, z)]
    low, high = np.quantile(sample, tails)
    return Interval(float(low), float(high))


def _acceleration(left_out: FloatArray, times: FloatArray) -> float:
    finite = np.isfinite(left_out)
    if not finite.any():
        return 0.0
    times = times[finite]
    gaps = np.average(left_out[finite], weights=times) - left_out[finite]
    squares = float(times @ gaps**2)
    return float(times @ gaps**3 / (6 * squares**1.5)) if squares > 0 else 0.0


def bootstrap_interval(
    statistic: Statistic,
    n_rows: int,
    *,
    generator: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 1000,
    groups: ArrayLike | None = None,
) -> Estimate:
    """Return any statistic of rows with its BCa bootstrap interval.

    The statistic takes an array of row numbers. Rows of one group are drawn together, so that the
    interval is valid for clustered rows.
    """
    check_level(level)
    if n_rows < 2:
        raise InvalidArgumentError(f"The bootstrap needs at least two rows; got {n_rows}.")
    of_units, n_units = of_drawn_units(statistic, n_rows, groups)
    value = float(statistic(np.arange(n_rows)))
    draws = (generator.integers(n_units, size=n_units) for _ in range(n_resamples))
    replicates = [of_units(drawn) for drawn in draws]
    blocks = np.array_split(generator.permutation(n_units), min(n_units, N_JACKKNIFE))
    left_out = [of_units(np.delete(np.arange(n_units), block)) for block in blocks]
    ends = bca_limits(value, replicates, left_out, level=_expanded(level, n_units))
    name = "BCa bootstrap" + ("" if groups is None else " of groups")
    return Estimate(value, *ends, level, name)


def _expanded(level: float, n: float) -> float:
    """Return the level at which a bootstrap of n units has the width of Student's t.

    The bootstrap underestimates the spread by the square root of (n - 1)/n and ignores the
    uncertainty about the spread, which matters for few rows or groups.

    References
    ----------
    .. [1] Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American
       Statistician 69, 371-386.
    """
    reach = math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, 0.5 + level / 2))
    return min(2 * float(ndtr(reach)) - 1, 1 - 1e-6)


def of_drawn_units(
    statistic: Statistic, n_rows: int, groups: ArrayLike | None
) -> tuple[Statistic, int]:
    """Return the statistic of drawn units, and their number: groups of rows if there are any."""
    if groups is None:
        return statistic, n_rows
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    if len(codes) != n_rows or len(members) < 2:
        raise InvalidArgumentError(
            f"groups must name the group of each of the {n_rows} rows, at least two groups in "
            f"total; got {len(codes)} rows and {len(members)} groups."
        )
    return lambda units: statistic(np.concatenate([members[i] for i in units])), len(members)


def bootstrap_mean(
    losses: ArrayLike,
    *,
    generator: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
    sample_weight: ArrayLike | None = None,
) -> Estimate:
    """Return the (weighted) mean loss of independent rows with its BCa bootstrap interval.

    It is faster than `bootstrap_interval`: a draw is a sum, and the acceleration has a closed form.
    An infinite loss (the log of a zero probability) makes value and high infinite.
    """
    check_level(level)
    values = np.asarray(losses, dtype=np.float64)
    n = len(values)
    if n < 2:
        raise InvalidArgumentError(f"The bootstrap needs at least two rows; got {n}.")
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    mean = float(np.average(values, weights=weights))
    if not math.isfinite(mean):
        finite = np.isfinite(values)
        low = float(np.average(values[finite], weights=weights[finite])) if finite.any() else mean
        return Estimate(mean, low, math.inf, level, "no interval above: a loss is infinite")
    sums, masses = _blocks(values * weights, weights, generator)
    replicates = np.empty(n_resamples)
    for b in range(n_resamples):
        drawn = generator.integers(len(sums), size=len(sums))
        mass = masses[drawn].sum()
        replicates[b] = sums[drawn].sum() / mass if mass > 0 else math.nan
    # The influence of a row on a weighted mean; without it the mean moves by minus that.
    units = weights.sum() ** 2 / (weights**2).sum()
    drawn_at = _expanded(level, max(units, 2.0))
    ends = bca_limits(mean, replicates, weights * (mean - values), level=drawn_at)
    return Estimate(mean, *ends, level, "BCa bootstrap")


def _blocks(
    sums: FloatArray, masses: FloatArray, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Join rows at random into at most N_BLOCKS, whose mean has the same variance."""
    if len(sums) <= N_BLOCKS:
        return sums, masses
    order = generator.permutation(len(sums))
    starts = np.linspace(0, len(sums), N_BLOCKS, endpoint=False).astype(np.int64)
    return np.add.reduceat(sums[order], starts), np.add.reduceat(masses[order], starts)


def bootstrap_counts(
    statistic: Callable[[FloatArray], float],
    counts: ArrayLike,
    *,
    generator: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> Estimate:
    """Return any statistic of counts, such as a confusion matrix, with its BCa bootstrap interval.

    Rows of one cell are equal, so a bootstrap sample is a multinomial draw of the cells. The time
    does not depend on the number of rows.
    """
    check_level(level)
    cells = np.asarray(counts, dtype=np.float64)
    n = int(cells.sum())
    if n < 2:
        raise InvalidArgumentError(f"The bootstrap needs at least two rows; got {n}.")
    flat = cells.ravel()
    draws = generator.multinomial(n, flat / flat.sum(), size=n_resamples).astype(np.float64)
    replicates = [statistic(draw.reshape(cells.shape)) for draw in draws]
    left_out = []
    for cell in np.flatnonzero(flat):
        less = flat.copy()
        less[cell] -= 1
        left_out.append(statistic(less.reshape(cells.shape)))
    value, drawn_at, times = float(statistic(cells)), _expanded(level, n), flat[flat > 0]
    ends = bca_limits(value, replicates, left_out, level=drawn_at, times=times)
    return Estimate(value, *ends, level, "BCa bootstrap")


@dataclass(frozen=True, eq=False)
class OutOfBagMean:
    """Leave-one-out bootstrap estimate of a mean loss.

    The degrees of freedom say how well the samples determine the standard error, by Satterthwaite:
    twice its fourth power, divided by the Monte-Carlo variance of its square.
    """

    value: float
    standard_error: float
    rows_without_term: int  # they are in every bootstrap sample, and not in the mean
    degrees_of_freedom: float = math.inf


def out_of_bag_mean(
    losses: FloatArray, counts: NDArray[np.integer], weights: FloatArray | None = None
) -> OutOfBagMean:
    """Return the leave-one-out bootstrap: the loss of each row over the samples without it.

    Losses and counts have one row per bootstrap sample and one column per row; counts say how often
    the row is in the sample.

    The standard error is (38) of [1]_: the influence of a row is ``(2 + 1/(n-1)) (E_i - E) / n +
    sum_b (N_ib - mean N_i) q_b``, with q_b of the losses less E: so losses and gains have the same
    standard error, and less noise. From its square, the noise of a finite number of samples is
    subtracted, ``n sum_b (q_b - mean q)^2`` [2]_. The result is unbiased but varies much if there
    are fewer samples than rows, so it is at least the standard error of as many independent rows.
    How much it varies is known: with other samples, each of the n influences would differ by a
    normal error of variance ``s = sum_b (q_b - mean q)^2``, and so the sum of their squares, V, by
    a variance of ``2 n s^2 + 4 s V``.

    References
    ----------
    .. [1] Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap
       method. Journal of the American Statistical Association 92, 548-560.
    .. [2] Wager, S., Hastie, T., Efron, B. (2014). Confidence intervals for random forests: the
       jackknife and the infinitesimal jackknife. JMLR 15, 1625-1651.
    """
    out = counts == 0
    n_terms = out.sum(axis=0)
    used = (n_terms > 0) if weights is None else (n_terms > 0) & (weights > 0)
    n = int(used.sum())
    if n < 2:
        raise InvalidArgumentError(
            "At least two rows must be out of the bag of some bootstrap sample. Use more samples."
        )
    own = np.where(out, losses, 0.0)[:, used]
    row_means = own.sum(axis=0) / n_terms[used]
    scale = np.ones(n) if weights is None else weights[used] * n / weights[used].sum()
    value = float((scale * row_means).sum() / n)
    missing = int((n_terms == 0).sum())
    if not math.isfinite(value):
        return OutOfBagMean(value, math.nan, missing)
    centred_own = np.where(out[:, used], own - value, 0.0)
    shares = (centred_own * (scale / n_terms[used])).sum(axis=1) / n
    centred = counts[:, used] - counts[:, used].mean(axis=0)
    direct = scale * (row_means - value)
    influence = direct + (scale * row_means - value) * (1 + 1 / (n - 1))
    influence = influence / n + shares @ centred
    noise = n * float(((shares - shares.mean()) ** 2).sum())
    once = scale**2 * ((own - value) ** 2 * out[:, used]).sum(axis=0) / n_terms[used]
    variance = max(float(influence @ influence) - noise, float(once.sum()) / n**2)
    monte_carlo = 2 * noise**2 / n + 4 * noise / n * variance
    freedom = 2 * variance**2 / monte_carlo if monte_carlo > 0 else math.inf
    return OutOfBagMean(value, math.sqrt(variance), missing, freedom)

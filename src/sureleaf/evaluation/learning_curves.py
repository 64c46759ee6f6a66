"""Learning curves: a measure at growing numbers of training rows."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, repeat, takewhile
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from sureleaf.arguments import FloatArray, IntArray, check_count, check_level
from sureleaf.errors import FailedFitError, InvalidArgumentError
from sureleaf.evaluation.designs import RepeatedHoldout
from sureleaf.evaluation.evaluator import (
    check_estimator,
    describe,
    evaluation_of,
    fit_split,
    make_fitter,
)
from sureleaf.evaluation.intervals import Estimate, MeanOverSplits, corrected_resampled
from sureleaf.evaluation.labelled_table import read_labelled_table
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.evaluation.measures.named import Measure, find_measure
from sureleaf.evaluation.valid_intervals import has_one_round, variances_beyond_splits
from sureleaf.formatting import TextDisplay
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.progress import track
from sureleaf.random_streams import CURVE, PARTITION, generator, read_seed, shuffled

# ---- sizes, and rules that stop a curve ----


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
        grown = accumulate(repeat(self.factor), mul, initial=float(self.start))
        smaller = takewhile(lambda size: size < n_rows, map(round, grown))
        return [*dict.fromkeys(smaller), n_rows]


def _check_start(start: int, n_rows: int) -> None:
    if start > n_rows:
        raise InvalidArgumentError(
            f"start must be at most the number of training rows, {n_rows}; got {start}."
        )


Schedule = Arithmetic | Geometric
"""Gives the sizes of a learning curve."""


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


# ---- power laws ----

SLOWEST, FASTEST = 0.05, 3.0
"""Range of the exponent: beyond it a curve is flat, or has reached its limit at once."""


@dataclass(frozen=True)
class PowerLaw:
    """A measure as a function of training rows: ``limit - height n^-rate``.

    The height is positive if the measure grows with the rows, negative if it falls (losses).
    """

    limit: float
    height: float
    rate: float

    def __call__(self, n: ArrayLike) -> float | FloatArray:
        """Return the measure at n rows."""
        value = self.limit - self.height * np.asarray(n, dtype=np.float64) ** -self.rate
        return float(value) if value.ndim == 0 else value


def fit_power_laws(
    n: FloatArray, y: FloatArray, w: FloatArray, increasing: bool, low: float, high: float
) -> list[PowerLaw]:
    """Fit a power law to each row of values and weights by weighted least squares, all at a time.

    For each rate, limit and height solve a linear problem with bounds. The rate is searched on
    finer and finer grids, so that the fit cannot diverge.
    """
    if len(n) < 3:
        raise InvalidArgumentError(
            f"A power law needs the measure at three or more sizes; got {len(n)}. "
            "Use a schedule with more sizes, or no stop rule."
        )
    scale = n.min()  # keeps the two columns of the linear problem at the same scale
    rows = np.arange(len(y))
    rates = np.tile(np.geomspace(SLOWEST, FASTEST, 41), (len(y), 1))
    for _ in range(5):  # each grid is 20 times finer
        cost, limits, heights = _solve(n / scale, y, w, rates, increasing, low, high)
        best = np.argmin(cost, axis=1)
        limit, height, rate = (values[rows, best] for values in (limits, heights, rates))
        ends = rates[rows, np.maximum(best - 1, 0)], rates[rows, np.minimum(best + 1, 40)]
        rates = np.linspace(*ends, 41, axis=1)
    laws = zip(limit.tolist(), (height * scale**rate).tolist(), rate.tolist(), strict=True)
    return [PowerLaw(*law) for law in laws]


def _solve(
    n: FloatArray,
    y: FloatArray,
    w: FloatArray,
    rates: FloatArray,
    increasing: bool,
    low: float,
    high: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return cost, limit and height of the best curve for each rate, within the bounds.

    Values and weights have one row per law, rates and results one row per law and one column per
    rate. The best is the unconstrained solution if it is allowed. Otherwise it lies on the
    boundary, with the limit at a bound or the height at 0, because the problem is convex.
    """

    def total(values: FloatArray) -> FloatArray:
        """Return the weighted sum over the sizes."""
        return (values @ w[:, :, None])[:, :, 0]

    y = y[:, None, :]
    x = -(n ** -rates[:, :, None])
    n_weighted = w.sum(axis=1)[:, None]
    mean_x, mean_y = total(x) / n_weighted, total(y) / n_weighted
    from_mean = x - mean_x[:, :, None]
    slope = total(from_mean * (y - mean_y[:, :, None])) / total(from_mean**2)
    flat = np.broadcast_to(np.clip(mean_y, low, high), rates.shape)
    choices = [(mean_y - slope * mean_x, slope), (flat, np.zeros(rates.shape))]
    choices += [
        (np.full(rates.shape, bound), total(x * (y - bound)) / total(x**2))
        for bound in (low, high)
        if math.isfinite(bound)
    ]
    sign = 1 if increasing else -1
    costs = []
    for limit, height in choices:
        allowed = (sign * height >= 0) & (limit >= low) & (limit <= high)
        error = total((y - limit[:, :, None] - height[:, :, None] * x) ** 2)
        costs.append(np.where(allowed, error, np.inf))
    best = np.argmin(costs, axis=0)[None]
    cost, limits, heights = (
        np.take_along_axis(np.array(values), best, axis=0)[0]
        for values in (costs, [limit for limit, _ in choices], [height for _, height in choices])
    )
    return cost, limits, heights


N_REFITS = 200


@dataclass(frozen=True, eq=False)
class LearningCurve(TextDisplay):
    """A measure at growing numbers of training rows.

    `hidden` is the variance at each size that the repeats cannot show, because they have equal
    class proportions; `least` is what it is at least, because the decision boundary moves with the
    table.
    """

    measure: Measure
    sizes: IntArray  # training rows; each sample contains the smaller ones
    values: FloatArray  # repeats by sizes, NaN where a fit failed or the measure was undefined
    n_rows: int
    test_to_train: float  # test rows by all training rows, for the corrected intervals
    level: float
    stopped: str | None  # why, if before all rows were used
    failures: dict[tuple[int, int], str]  # by repeat and size
    seed: int
    hidden: FloatArray
    least: FloatArray

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The mean at each size, with the corrected resampled t interval over repeats."""
        return tuple(self._estimate(i) for i in range(len(self.sizes)))

    def _defined(self, i: int) -> FloatArray:
        column: FloatArray = self.values[:, i]
        return column[np.isfinite(column)]

    def _mean(self, i: int) -> MeanOverSplits | None:
        """Return the mean at one size; None without two repeats."""
        defined = self._defined(i)
        if len(defined) < 2:
            return None
        return corrected_resampled(
            defined,
            test_to_train=self.test_to_train,
            level=self.level,
            hidden_variance=float(self.hidden[i]),
            least_variance=float(self.least[i]),
            one_round=has_one_round(self.measure, RepeatedHoldout.kind),
            degrees_of_one_round=self.measure.row_values is None,
        )

    def _estimate(self, i: int) -> Estimate:
        defined, mean = self._defined(i), self._mean(i)
        if mean is None:
            value = float(defined[0]) if len(defined) else math.nan
            return Estimate(value, self.measure.low, self.measure.high, self.level, "too few")
        name = f"corrected resampled t over {len(defined)} repeats, this algorithm"
        low, high = mean.low, mean.high
        span, n_test = self.measure.high - self.measure.low, self.test_to_train * self.n_rows
        if high - low < 1e-12 and math.isfinite(span):  # equal values are still uncertain
            bound = clopper_pearson(0, n_test, level=self.level).high * span
            low, high = low - bound, high + bound
            name += (
                "; all values are equal, so the interval is as wide as Clopper-Pearson's for 0 of "
                f"{n_test:.0f} test rows"
            )
        low, high = max(low, self.measure.low), min(high, self.measure.high)
        return Estimate(mean.value, low, high, self.level, name)

    @property
    def means(self) -> FloatArray:
        """The mean at each size."""
        return np.array([estimate.value for estimate in self.estimates])

    @cached_property
    def power_law(self) -> PowerLaw:
        """The power law fitted to the means, with sizes weighted by their precision."""
        usable = np.isfinite(self.means)
        return self._fit(self.values[None, :, usable], self.sizes[usable])[0]

    def _fit(self, values: FloatArray, sizes: IntArray) -> list[PowerLaw]:
        """Return the law of each sample of repeats; values are samples by repeats by sizes."""
        means = np.nanmean(values, axis=1)
        spread = np.nanvar(values, axis=1, ddof=1) if values.shape[1] > 1 else np.zeros_like(means)
        # A size without spread is still uncertain.
        floor = np.maximum(spread.mean(axis=1, keepdims=True) / 10, 1e-12)
        return fit_power_laws(
            sizes.astype(np.float64),
            means,
            1 / np.maximum(spread, floor),
            self.measure.greater_is_better,
            self.measure.low,
            self.measure.high,
        )

    @cached_property
    def _refits(self) -> list[PowerLaw]:
        """Power laws of bootstrapped repeats."""
        usable = np.isfinite(self.values).all(axis=0)
        if usable.sum() < 3 or len(self.values) < 2:
            raise InvalidArgumentError(
                "A prediction interval needs two repeats and three sizes without failures; got "
                f"{len(self.values)} repeats and {usable.sum()} such sizes."
            )
        random = generator(self.seed, CURVE)
        n = len(self.values)
        draws = random.integers(n, size=(N_REFITS, n))
        return self._fit(self.values[draws][:, :, usable], self.sizes[usable])

    @cached_property
    def _scatter(self) -> float:
        """Standard deviation of the means around the law."""
        usable = np.isfinite(self.means)
        residuals = self.means[usable] - self.power_law(self.sizes[usable])
        return math.sqrt(float((residuals**2).sum()) / max(len(residuals) - 3, 1))

    @cached_property
    def _last_scatter(self) -> float:
        """Standard deviation around the law at the largest size; small sizes scatter more."""
        usable = np.isfinite(self.means)
        values = self.values[:, usable]
        spread = np.nanvar(values, axis=0, ddof=1) if len(values) > 1 else np.zeros(usable.sum())
        spread = np.maximum(spread, max(float(np.mean(spread)) / 10, 1e-12))
        residuals = self.means[usable] - self.power_law(self.sizes[usable])
        scale = float((residuals**2 / spread).sum()) / max(len(residuals) - 3, 1)
        return math.sqrt(scale * float(spread[-1]))

    @cached_property
    def _unseen_variance(self) -> float:
        """Variance at the largest size beyond the corrected spread of the repeats."""
        hidden, mean = float(self.hidden[-1]), self._mean(-1)
        if mean is None:
            return hidden
        shown = (1 / len(self._defined(-1)) + self.test_to_train) * mean.variance.spread
        return max(hidden, mean.standard_error**2 - shown)

    def predict(self, n_rows: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the measure at other sizes, and the ends of its prediction interval.

        The interval includes the uncertainty of the fit (repeats are bootstrapped, and their spread
        is corrected for overlapping rows), the scatter of the means around the law, and the
        variance from the class proportions and from the decision boundary.
        """
        n = np.atleast_1d(np.asarray(n_rows, dtype=np.float64))
        centre = np.asarray(self.power_law(n))
        off = math.hypot(self._scatter, math.sqrt(self._unseen_variance))
        noise = generator(self.seed, CURVE, 1).normal(0, off, size=len(self._refits))
        draws = np.array([np.asarray(law(n)) for law in self._refits])
        # A bootstrap of k repeats has (k - 1) / k of the variance of their mean.
        n_repeats = len(self.values)
        inflate = math.sqrt((1 + self.test_to_train * n_repeats) * n_repeats / (n_repeats - 1))
        draws = (draws - draws.mean(axis=0)) * inflate + noise[:, None]
        tail = (1 - self.level) / 2
        # The variance is estimated from the repeats, so the ends are as far as Student's t says.
        last = self._mean(-1)
        degrees = max(n_repeats - 1, 1) if last is None else last.degrees
        student = float(stdtrit(degrees, (1 + self.level) / 2) / ndtri(1 - tail))
        ends = centre + student * np.quantile(draws, [tail, 1 - tail], axis=0)
        low, high = ends.clip(self.measure.low, self.measure.high)
        return centre, np.minimum(low, centre), np.maximum(high, centre)

    def gain(self, from_rows: float, to_rows: float) -> Estimate:
        """Return the change of the measure between two sizes, with its prediction interval.

        It is narrower than the intervals at the two sizes suggest, because both are measured on the
        same test rows.
        """
        ends = np.array([from_rows, to_rows], dtype=np.float64)
        before, after = np.asarray(self.power_law(ends)).tolist()
        value = after - before
        draws = np.array([np.diff(np.asarray(law(ends)))[0] for law in self._refits])
        noise = generator(self.seed, CURVE, 2).normal(0, self._last_scatter, size=len(draws))
        inflate = math.sqrt(1 + self.test_to_train * len(self.values))
        draws = value + (draws - draws.mean()) * inflate + noise
        tail = (1 - self.level) / 2
        bounds = self.measure.low - before, self.measure.high - before
        low, high = np.quantile(draws, [tail, 1 - tail]).clip(*bounds)
        name = f"power law, {len(draws)} bootstraps of {len(self.values)} repeats"
        return Estimate(value, min(float(low), value), max(float(high), value), self.level, name)

    def __str__(self) -> str:
        lines = [f"{self.measure.name} by training rows ({100 * self.level:g} % intervals)"]
        for size, estimate in zip(self.sizes, self.estimates, strict=True):
            lines.append(
                f"{size:>10,}  {estimate.value:.4f}  {estimate.low:.4f} to {estimate.high:.4f}"
            )
        if self.stopped:
            lines.append(f"Stopped at {self.sizes[-1]:,} of {self.n_rows:,} rows: {self.stopped}.")
        lines += [
            f"! repeat {repeat}, {size} rows failed: {why}"
            for (repeat, size), why in self.failures.items()
        ]
        return "\n".join(lines)

    __repr__ = __str__


DEFAULT_SCHEDULE = Geometric()


def nested_order(train: IntArray, classes: IntArray, seed: int, repeat: int) -> IntArray:
    """Return training rows in an order whose every beginning has the classes' shares.

    A sample is the first rows of it, so that each sample holds the smaller ones.
    """
    order = train[shuffled(len(train), seed, PARTITION, repeat, 1)]
    own = classes[order]
    position = np.empty(len(order))
    for code in np.unique(own):
        members = np.flatnonzero(own == code)
        position[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(position, kind="stable")]


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    schedule: Schedule = DEFAULT_SCHEDULE,
    stop: StopRule | None = None,
    measure: str | Measure = "accuracy",
    repeats: int = 10,
    test: float = 1 / 3,
    level: float = 0.95,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: object = None,
) -> LearningCurve:
    """Measure a classifier on growing samples, until more rows stop paying.

    Each repeat holds out other rows to test on and grows its samples, each holding the smaller
    ones, from the rest. Repeats whose test rows say nothing of the measure (the precision of no
    positive prediction) are left out, as `Evaluation.estimate` leaves such splits out.

    Parameters
    ----------
    schedule : Geometric or Arithmetic
        The sizes; all training rows come last.
    stop : NoChange or NotWorthwhile, optional
        When to stop before all rows are used; by default never.
    repeats, test
        Number of times, at least 2 for intervals, and the share of the rows held out each time.
        Other parameters as for `sureleaf.evaluate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import Geometric, NotWorthwhile
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = learning_curve(
    ...     GaussianNB(), X, y, schedule=Geometric(20, 2), stop=NotWorthwhile(0.05),
    ...     random_state=0)
    >>> curve.sizes.tolist()
    [20, 40]
    """
    check_estimator(estimator)
    check_level(level)
    table = read_labelled_table(X, y, positive=positive, groups=groups, sample_weight=sample_weight)
    chosen, seed = find_measure(measure), read_seed(random_state)
    matrix = None if cost is None else check_cost(cost, len(table.classes))
    chosen.check_cost(matrix)
    design = RepeatedHoldout(repeats, test)
    splits = list(design.splits(table.codes, groups=table.groups, seed=seed))
    orders = [nested_order(s.train, table.codes, seed, s.repeat) for s in splits]
    n_rows = min(len(order) for order in orders)
    ratio = float(np.mean([len(s.test) for s in splits])) / n_rows
    sizes = schedule.sizes(n_rows)
    fitter, named = make_fitter(estimator, table, seed), describe(estimator)
    values, beyond = np.full((repeats, len(sizes)), np.nan), np.zeros((2, len(sizes)))
    failures: dict[tuple[int, int], str] = {}
    stopped = None
    for i, size in enumerate(
        track(sizes, total=len(sizes), what="Growing", shown=progress or None, costs=sizes)
    ):
        parts = [replace(s, train=order[:size]) for s, order in zip(splits, orders, strict=True)]
        outcomes = list(fitter.run(fit_split, ((s, s.repeat, i) for s in parts), n_jobs))
        failures |= {(r, size): one.failure for r, one in enumerate(outcomes) if one.failure}
        if not all(one.failure for one in outcomes):
            judged = evaluation_of(
                outcomes, table, design=design, seed=seed, cost=matrix, estimator=named
            )
            values[list(judged.worked), i] = judged.split_values(chosen)
            beyond[:, i] = variances_beyond_splits(chosen, judged)
        if stop is not None and 0 < i < len(sizes) - 1:
            sign = 1 if chosen.greater_is_better else -1
            stopped = stop.reason(sign * values[:, i - 1], sign * values[:, i], ratio)
            if stopped:
                sizes, values, beyond = (
                    sizes[: i + 1],
                    values[:, : i + 1].copy(),
                    beyond[:, : i + 1],
                )
                break
    if np.isnan(values).all():
        why = next(iter(failures.values()), f"{chosen.name} is undefined on the test rows")
        raise FailedFitError(f"{named} failed at every size, first with {why}")
    grown = np.array(sizes)
    return LearningCurve(
        chosen, grown, values, n_rows, ratio, level, stopped, failures, seed, *beyond
    )

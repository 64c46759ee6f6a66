"""Calibration: whether events happen as often as their predicted probabilities say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, logit, stdtrit

from sureleaf.arguments import (
    FloatArray,
    IntArray,
    check_count,
    check_level,
    check_same_length,
    check_weights,
    row_weights,
)
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.evaluation.measures.losses import read_scored
from sureleaf.levels.decisions import predicted_class
from sureleaf.levels.search import smallest_count


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Stated probability against observed rate, bin by bin, with consistency bands.

    An observed rate lies between `low` and `high`, at the level, if the predicted probabilities are
    true. A rate outside is evidence against them.
    """

    stated: FloatArray  # mean predicted probability of each bin that is not empty
    observed: FloatArray  # share of its rows that are of the class
    low: FloatArray
    high: FloatArray
    rows: FloatArray  # effective rows if they have weights
    level: float

    @property
    def outside(self) -> int:
        """Number of bins whose observed rate lies outside the band."""
        slack = 1e-12
        return int(np.sum((self.observed < self.low - slack) | (self.observed > self.high + slack)))

    def __repr__(self) -> str:
        bins = "1 bin" if len(self.stated) == 1 else f"{len(self.stated)} bins"
        return f"CalibrationCurve({bins}, {self.outside} outside their {100 * self.level:g} % band)"


def _event(
    truth: ArrayLike,
    probabilities: ArrayLike,
    positive: object,
    labels: Sequence[Any] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return probability and outcome: of the positive class, or of a correct prediction."""
    codes, table, classes = read_scored(truth, probabilities, labels)
    if positive is None and len(classes) != 2:
        winner = predicted_class(table)
        return table[np.arange(len(codes)), winner], (winner == codes).astype(np.float64)
    code = positive_class(positive, classes)
    return table[:, code], (codes == code).astype(np.float64)


def calibration_curve(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    positive: object = None,
    n_bins: int = 10,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    repeats: float = 1.0,
) -> CalibrationCurve:
    """Return observed rates against predicted probabilities, with consistency bands.

    Bins have about equally many rows. The band has quantiles of the binomial distribution at the
    bin's mean probability, a little too wide if the probabilities inside a bin differ.

    Parameters
    ----------
    positive : label, optional
        The positive class; by default the second of two classes. For more classes the rate of
        correct predictions against the largest probability.
    repeats : float
        How often each row occurs, predicted by different models; repeats do not narrow the band.
        Other parameters as for `nce`.

    References
    ----------
    .. [1] Bröcker, J., Smith, L. A. (2007). Increasing the reliability of reliability diagrams.
       Weather and Forecasting 22, 651-661.

    Examples
    --------
    >>> curve = calibration_curve([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2)
    >>> curve.observed.tolist(), curve.high.tolist()
    ([0.0, 1.0], [0.5, 1.0])
    """
    check_level(level)
    stated, happened = _event(truth, probabilities, positive)
    w = row_weights(check_weights(sample_weight, len(stated)), len(stated))
    check_count("n_bins", n_bins)
    edges = np.unique(np.quantile(stated, np.linspace(0, 1, n_bins + 1)[1:-1]))
    bins = np.searchsorted(edges, stated, side="right")  # equal probabilities stay together
    mass = np.bincount(bins, w)
    used = mass > 0
    mean = (np.bincount(bins, w * stated)[used] / mass[used]).clip(0, 1)
    rate = np.bincount(bins, w * happened)[used] / mass[used]
    rows = mass[used] ** 2 / np.bincount(bins, w * w)[used] / repeats
    whole = np.maximum(np.rint(rows), 1)
    tail = (1 - level) / 2
    low = [_quantile(tail, n, p) / n for n, p in zip(whole, mean, strict=True)]
    high = [_quantile(1 - tail, n, p) / n for n, p in zip(whole, mean, strict=True)]
    return CalibrationCurve(mean, rate, np.array(low), np.array(high), rows, level)


def _quantile(share: float, n: float, p: float) -> float:
    """Return the smallest k with P(Bin(n, p) <= k) >= share (scipy.stats is slow to import)."""
    return float(smallest_count(lambda k: bdtr(k - 1, int(n), p) >= share or k > n) - 1)


def expected_calibration_error(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean absolute difference of predicted probability and observed rate over bins of equal width.

    It depends on the bins and can be close to 0 for useless probabilities. Parameters as for
    `calibration_curve`.

    Examples
    --------
    >>> round(expected_calibration_error([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9]), 4)
    0.175
    """
    stated, happened = _event(truth, probabilities, positive, labels)
    check_count("n_bins", n_bins)
    bins = np.minimum((stated * n_bins).astype(np.int64), n_bins - 1)
    w = row_weights(check_weights(sample_weight, len(stated)), len(stated))
    return float(np.abs(np.bincount(bins, (stated - happened) * w)).sum() / w.sum())


@dataclass(frozen=True)
class CalibrationLine:
    """Intercept and slope of the logistic recalibration of predicted probabilities p.

    The intercept is calibration in the large, a in ``logit P = a + logit p``: below 0, events are
    rarer than predicted; 0 is best. The slope is b in ``logit P = a' + b logit p``: below 1, the
    probabilities are too extreme; 1 is best.
    """

    intercept: Estimate
    slope: Estimate


def calibration_line(
    truth: ArrayLike,
    probabilities: ArrayLike,
    *,
    positive: object = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> CalibrationLine:
    """Return the intercept and the slope of calibration, with intervals.

    The line is that of [1]_. Intervals are those of the sandwich estimator, with the t
    distribution; rows of a group need not be independent. Where one of the two does not exist it is
    NaN, and its method says why. Parameters as for `calibration_curve`.

    A probability of 0 or 1 has no logit. It counts as half a row of the n rows from 0 or 1, 1 / (2
    n), or as the predicted probability nearest to 0 or 1 if that is nearer. The method says so.

    References
    ----------
    .. [1] Van Calster, B. et al. (2019). Calibration: the Achilles heel of predictive analytics.
       BMC Medicine 17, 230.

    Examples
    --------
    >>> predicted = np.repeat([0.2, 0.4, 0.6, 0.8], 50)
    >>> truth = np.tile(np.arange(50), 4) < np.repeat([5, 15, 35, 45], 50)
    >>> line = calibration_line(truth, predicted)
    >>> abs(round(line.intercept.value, 3)), round(line.slope.value, 2), line.slope.low > 1
    (0.0, 1.67, True)
    """
    check_level(level)
    p, event = _event(truth, probabilities, positive)
    w = row_weights(check_weights(sample_weight, len(event)), len(event))
    units = np.arange(len(event)) if groups is None else np.unique(groups, return_inverse=True)[1]
    check_same_length(truth=event, groups=units)
    used = w > 0
    event, p, w, units = event[used], p[used], w[used], units[used]
    if not 0 < w @ event < w.sum():
        undefined = _undefined(level, "the rows are of one class")
        return CalibrationLine(undefined, undefined)
    p, note = _without_certainty(p)
    logs, codes = np.column_stack([np.zeros(len(p)), logit(p)]), event.astype(np.intp)
    large = recalibrate(logs, codes, w, np.array([0.0, 1.0]), n_free=1)
    intercept = _last_of(large, 1, units, level)
    if np.ptp(logs) < 1e-9:
        slope = _undefined(level, "all probabilities are equal")
    else:
        slope = _last_of(recalibrate(logs, codes, w, np.zeros(2)), 2, units, level)
    both = (
        found if np.isnan(found.value) else replace(found, method=found.method + note)
        for found in (intercept, slope)
    )
    return CalibrationLine(*both)


def _undefined(level: float, why: str) -> Estimate:
    return Estimate(np.nan, np.nan, np.nan, level, f"undefined: {why}")


STEPS = 50
"""Newton steps; none is longer than `LONGEST`, so that they do not diverge."""

LONGEST = 2.0

CONVERGED = 1e-9

ILL_CONDITIONED = 1e10
"""Probabilities that hardly differ determine no slope."""


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A logistic regression of the class on its predicted log probability.

    `parameters` are an intercept for each class but the first, and the slope, which comes last.
    `gradients` are those of the log likelihood of each row, and `information` is minus its second
    derivative, of the parameters that were fitted.
    """

    parameters: FloatArray
    information: FloatArray
    gradients: FloatArray


def recalibrate(
    logs: FloatArray,
    truth: IntArray,
    weights: FloatArray,
    start: FloatArray,
    *,
    n_free: int | None = None,
) -> Recalibration | None:
    """Fit ``P(k) ~ exp(intercept_k + slope logs_k)`` by Newton's method; None without a maximum.

    Only the first `n_free` parameters are fitted; the others stay as they are at the start.
    """
    parameters = start.copy()
    n_free = len(start) if n_free is None else n_free
    w = weights[:, np.newaxis]
    for _ in range(STEPS):
        scores = logs * parameters[-1]
        scores[:, 1:] += parameters[:-1]
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        residuals = -p
        residuals[np.arange(len(truth)), truth] += 1
        gradients = w * np.column_stack([residuals[:, 1:], (residuals * logs).sum(axis=1)])
        information = _information(logs, p, w)
        free = information[:n_free, :n_free]
        if not np.isfinite(free).all() or np.linalg.cond(free) > ILL_CONDITIONED:
            return None
        step = np.linalg.solve(free, gradients[:, :n_free].sum(axis=0))
        length = float(np.abs(step).max())
        if length < CONVERGED:
            return Recalibration(parameters, information, gradients)
        parameters[:n_free] += step * min(1.0, LONGEST / length)
    return None


def _information(logs: FloatArray, p: FloatArray, w: FloatArray) -> FloatArray:
    """Return minus the second derivative of the log likelihood of a recalibration."""
    q, mean = p[:, 1:], (p * logs).sum(axis=1, keepdims=True)
    result = np.empty((logs.shape[1], logs.shape[1]))
    result[:-1, :-1] = np.diag((w * q).sum(axis=0)) - q.T @ (w * q)
    result[:-1, -1] = result[-1, :-1] = (w * q * (logs[:, 1:] - mean)).sum(axis=0)
    result[-1, -1] = float((w * p * (logs - mean) ** 2).sum())
    return result


def _without_certainty(p: FloatArray) -> tuple[FloatArray, str]:
    """Return probabilities that have logits, and a note about those that had none."""
    from_the_ends = np.minimum(p, 1.0 - p)
    is_certain = from_the_ends <= 0
    n_certain = int(is_certain.sum())
    if not n_certain:
        return p, ""
    distance = from_the_ends.min(initial=1.0 / (2.0 * len(p)), where=~is_certain)
    distance = max(float(distance), float(np.finfo(float).eps))  # 1 - distance must not be 1
    rows = "1 row has" if n_certain == 1 else f"{n_certain:,} rows have"
    note = f"; {rows} a stated probability of 0 or 1, taken as {distance:.3g} away from it"
    return np.clip(p, distance, 1.0 - distance), note


def _last_of(fit: Recalibration | None, n_free: int, units: IntArray, level: float) -> Estimate:
    """Return the last free parameter with the interval of the sandwich estimator."""
    if fit is None:
        return _undefined(level, "the probabilities separate the classes")
    by_unit = np.column_stack([np.bincount(units, own) for own in fit.gradients.T[:n_free]])
    bread = np.linalg.inv(fit.information[:n_free, :n_free])
    n_units = len(np.unique(units))
    degrees = max(n_units - n_free, 1)
    variance = (bread @ by_unit.T @ by_unit @ bread)[-1, -1] * n_units / degrees
    reach = float(stdtrit(degrees, (1 + level) / 2)) * float(np.sqrt(variance))
    value = float(fit.parameters[n_free - 1])
    return Estimate(value, value - reach, value + reach, level, "sandwich")

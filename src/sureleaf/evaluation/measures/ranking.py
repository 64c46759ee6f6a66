"""Measures of ranking: the ROC curve, its area, and the average precision."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from sureleaf.arguments import (
    FloatArray,
    check_level,
    check_same_length,
    check_weights,
    read_labels,
    row_weights,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.labelled_table import check_kind, find_classes, positive_class
from sureleaf.evaluation.measures.losses import read_scored
from sureleaf.levels.intervals import Interval, normal_reach


@dataclass(frozen=True, eq=False)
class Roc:
    """Receiver operating characteristic: both rates at each threshold.

    A row is predicted positive if its score is at least the threshold; the first is infinite.
    """

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    thresholds: FloatArray
    area: float

    def __repr__(self) -> str:
        return f"Roc(area={self.area:.4f}, {len(self.thresholds)} points)"


def _binary(
    truth: ArrayLike, scores: ArrayLike, positive: object, labels: Sequence[Any] | None = None
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which rows are positive, and their scores."""
    actual = read_labels("truth", truth)
    table = np.asarray(scores, dtype=np.float64)
    check_same_length(truth=actual, scores=table)
    if positive is not None and len(actual):
        check_kind(positive, actual)
    if actual.dtype.kind == "b" and positive is None and labels is None:
        positive = True
    if positive is None or table.ndim == 2:
        classes = find_classes(labels, actual)
        if labels is None and set(classes.tolist()) < {0, 1}:
            classes = np.array([0, 1])
        code = positive_class(positive, classes)
        positive = classes[code]
        if table.ndim == 2:
            if table.shape[1] != len(classes):
                raise InvalidArgumentError(
                    f"scores must have one column for each of the {len(classes)} classes, or be "
                    f"one score per row; got shape {table.shape}."
                )
            table = table[:, code]
    if np.isnan(table).any():
        row = int(np.flatnonzero(np.isnan(table))[0])
        raise InvalidArgumentError(f"scores must be numbers; row {row} is NaN. Remove it.")
    return np.asarray(actual == positive), table


def roc(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> Roc:
    """Receiver operating characteristic of one class against the others.

    The scores are those of the positive class, by default the second of two, or one column per
    class.

    Examples
    --------
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.area, curve.true_positive_rate.tolist()
    (0.75, [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    is_positive, row = _binary(truth, scores, positive)
    weights = check_weights(sample_weight, len(row))
    counted = is_positive if weights is None else is_positive[weights > 0]
    if counted.all() or not counted.any():
        raise InvalidArgumentError(
            "A ROC curve needs rows of both classes; all rows are "
            f"{'positive' if counted.any() else 'negative'}. Check positive=."
        )
    from sklearn.metrics import roc_curve

    false, true, thresholds = roc_curve(is_positive, row, sample_weight=weights)
    return Roc(false, true, thresholds, float(np.trapezoid(true, false)))


def auc(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve: P(a positive row scores higher than a negative one), ties half.

    For more than two classes and no `positive`, it is the mean over classes of the area of each
    against the rest. NaN if all rows are of one class; a class that does not occur is not in the
    mean. `labels` are the classes of the columns, by default those of truth, sorted; other
    parameters are as for `roc`.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> auc(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.1, 0.5, 0.4]])
    0.8333333333333334
    """
    table = np.asarray(scores)
    if table.ndim == 2 and table.shape[1] > 2 and positive is None:
        codes, columns, classes = read_scored(truth, table, labels)
        weights = check_weights(sample_weight, len(codes))
        areas = [_area(codes == k, columns[:, k], weights) for k in range(len(classes))]
        ranked = [area for area in areas if not math.isnan(area)]
        return float(np.average(ranked)) if ranked else math.nan
    is_positive, row = _binary(truth, scores, positive, labels)
    return _area(is_positive, row, check_weights(sample_weight, len(row)))


def _area(is_positive: NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None) -> float:
    if is_positive.all() or not is_positive.any():
        return math.nan
    w = row_weights(weights, len(scores))
    # scikit-learn's function gives the same, but its checks take longer than the rows of a fold.
    _, rank = np.unique(scores, return_inverse=True)
    positives, negatives = np.bincount(rank, w * is_positive), np.bincount(rank, w * ~is_positive)
    pairs = float(positives.sum() * negatives.sum())
    if not pairs > 0:
        return math.nan
    below = np.cumsum(negatives) - negatives
    return float(positives @ (below + negatives / 2) / pairs)


def average_precision(
    truth: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean precision over the recalls that a falling threshold reaches.

    NaN if there is no positive row. Parameters as for `roc`.

    Examples
    --------
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    is_positive, row = _binary(truth, scores, positive)
    weights = check_weights(sample_weight, len(row))
    if not (is_positive if weights is None else is_positive & (weights > 0)).any():
        return math.nan
    # Not scikit-learn's, whose checks take longer than the sums: intervals need a thousand of them.
    order = np.argsort(-row, kind="stable")
    descending = row[order]
    is_last = np.append(descending[1:] != descending[:-1], True)  # rows of equal score are one step
    counted = row_weights(weights, len(row))[order]
    n_positive = np.cumsum(np.where(is_positive[order], counted, 0.0))[is_last]
    n_above = np.cumsum(counted)[is_last]
    steps = np.diff(n_positive, prepend=0.0)
    reached = steps > 0
    return float((steps[reached] * n_positive[reached] / n_above[reached]).sum() / n_positive[-1])


def delong_covariance(positive: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the areas under the ROC curves of m scores of the same rows, and their covariance.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves: a nonparametric approach.
       Biometrics 44, 837-845.
    .. [2] Sun, X., Xu, W. (2014). Fast implementation of DeLong's algorithm. IEEE Signal
       Processing Letters 21, 1389-1393: mid-ranks, O(n log n).
    """
    is_positive = np.asarray(positive, dtype=bool)
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    n_positive = int(is_positive.sum())
    n_negative = is_positive.size - n_positive
    if min(n_positive, n_negative) < 2:
        raise InvalidArgumentError(
            "The area under a ROC curve needs two rows of each class to have a variance; "
            f"got {n_positive} positive and {n_negative} negative rows."
        )
    ahead, behind = np.empty((len(table), n_positive)), np.empty((len(table), n_negative))
    for model, row in enumerate(table):
        ahead[model], behind[model] = _placements(is_positive, row)
    covariance = np.atleast_2d(np.cov(ahead)) / n_positive
    covariance += np.atleast_2d(np.cov(behind)) / n_negative
    return ahead.mean(axis=1), covariance


def _placements(
    is_positive: NDArray[np.bool_], scores: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of negatives that each positive outranks, and of positives above each."""
    from scipy.stats import rankdata  # slow to import, and not needed by other intervals

    ranks, own, other = rankdata(scores), scores[is_positive], scores[~is_positive]
    ahead = (ranks[is_positive] - rankdata(own)) / len(other)
    return ahead, 1 - (ranks[~is_positive] - rankdata(other)) / len(own)


def delong_interval(positive: ArrayLike, scores: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Area under the ROC curve with DeLong's interval, on the logit scale.

    The logit keeps the interval inside 0 and 1. If DeLong's variance is zero or undefined (perfect
    ranking, one positive row), Newcombe's score interval is used instead, and ``method`` reports
    it.
    """
    from scipy.stats import rankdata

    check_level(level)
    is_positive = np.asarray(positive, dtype=bool)
    row = np.asarray(scores, dtype=np.float64)
    n_positive = int(is_positive.sum())
    n_negative = is_positive.size - n_positive
    if min(n_positive, n_negative) == 0:
        raise InvalidArgumentError(
            "The area under a ROC curve needs rows of both classes; "
            f"got {n_positive} positive and {n_negative} negative rows."
        )
    if min(n_positive, n_negative) > 1:
        areas, covariance = delong_covariance(is_positive, row)
        area, variance = float(areas[0]), float(covariance[0, 0])
        if variance > 0 and 0 < area < 1:
            interval = _logit_interval(area, variance, level)
            return Estimate(area, *interval, level, "DeLong, logit scale")
    ranks = rankdata(row)[is_positive].sum() - n_positive * (n_positive + 1) / 2
    area = float(ranks / (n_positive * n_negative))
    low, high = newcombe_auc(area, n_positive, n_negative, level=level)
    return Estimate(area, low, high, level, "Newcombe's score interval")


def delong_one_vs_rest(classes: ArrayLike, scores: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean area under the ROC curves of each class against the rest, with DeLong's interval.

    Every row has one influence on the mean of the areas: where it is of the class, and, for every
    other class, where it is of the rest. Within the rows of each class these are independent, and
    for two classes the variance is DeLong's. A class without rows is left out of the mean.
    """
    codes, table = np.asarray(classes), np.asarray(scores, dtype=np.float64)
    counts = np.bincount(codes, minlength=table.shape[1])
    present = np.flatnonzero(counts)
    if len(present) < 2 or counts[present].min() < 2:
        raise InvalidArgumentError(
            "The areas of one class against the rest need two rows of each class that occurs to "
            f"have a variance; got {counts.tolist()} rows."
        )
    influence, areas = np.zeros(len(codes)), []
    for code in present:
        own = codes == code
        n_own, n_rest = int(counts[code]), len(codes) - int(counts[code])
        ahead, behind = _placements(own, table[:, code])
        influence[own] += ahead / n_own / len(present)
        influence[~own] += behind / n_rest / len(present)
        areas.append(float(ahead.mean()))
    variance = sum(float(counts[k] * influence[codes == k].var(ddof=1)) for k in present)
    area = float(np.mean(areas))
    if variance > 0 and 0 < area < 1:
        interval = _logit_interval(area, variance, check_level(level))
        return Estimate(area, *interval, level, "DeLong, one against the rest, logit scale")
    min_rows = int(counts[present].min())  # as unsure as the class with the fewest rows
    interval = newcombe_auc(area, min_rows, len(codes) - min_rows, level=level)
    return Estimate(area, *interval, level, "Newcombe's score interval of the smallest class")


def _logit_interval(area: float, variance: float, level: float) -> Interval[float]:
    half = normal_reach(level) * math.sqrt(variance) / (area * (1 - area))
    return Interval(float(expit(logit(area) - half)), float(expit(logit(area) + half)))


def newcombe_auc(
    area: float, n_positive: int, n_negative: int, *, level: float = 0.95
) -> Interval[float]:
    """Score interval for an area under the ROC curve; works at 0 and 1.

    The areas a with ``|area - a| <= z sqrt(V(a))``, V the variance of Hanley and McNeil with both
    class sizes at their mean (Newcombe's method 5).

    References
    ----------
    .. [1] Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on the
       Mann-Whitney statistic. Part 2. Statistics in Medicine 25, 559-573.
    """
    from scipy.optimize import brentq

    z = normal_reach(check_level(level))
    spread = (n_positive + n_negative) / 2 - 1

    def excess(a: float) -> float:
        shape = 1 + spread * (1 - a) / (2 - a) + spread * a / (1 + a)
        return (area - a) ** 2 - z * z * a * (1 - a) * shape / (n_positive * n_negative)

    low = 0.0 if area <= 0 or excess(0.0) <= 0 else float(brentq(excess, 0.0, area))
    high = 1.0 if area >= 1 or excess(1.0) <= 0 else float(brentq(excess, area, 1.0))
    if area >= 1:  # excess(1) is 0 there, the other root is the limit
        low = float(brentq(excess, 0.0, 1.0 - 1e-12))
    if area <= 0:
        high = float(brentq(excess, 1e-12, 1.0))
    return Interval(low, high)

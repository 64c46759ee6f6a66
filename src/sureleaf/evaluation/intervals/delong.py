"""Intervals and covariances of areas under the ROC curve."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri

from sureleaf.arguments import FloatArray, check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals.resamples import Estimate
from sureleaf.levels.intervals import Interval

__all__ = ["delong_covariance", "delong_interval", "delong_one_vs_rest", "newcombe_auc"]


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
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(variance) / (area * (1 - area))
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

    z = float(ndtri(0.5 + check_level(level) / 2))
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

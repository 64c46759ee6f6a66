"""Two models on the same rows, for measures that are no plain rate: AUC, and any other."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sureleaf.arguments import check_level
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import (
    Estimate,
    Interval,
    delong_covariance,
    delong_interval,
)

__all__ = ["auc_difference", "bootstrap_difference", "p_by_inversion", "squared_and_added"]

THESE_MODELS = "the rows are independent; it speaks of these two models, not of what grew them"


def auc_difference(
    positive: ArrayLike, first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> DifferenceTest:
    """Difference of two areas under the ROC curve on the same rows (DeLong et al. 1988).

    Where DeLong's variance of the difference is zero (two perfect rankings, constant scores), the
    limits of each area are squared and added instead (Newcombe 1998), so that the interval keeps
    a width.

    Parameters
    ----------
    positive : array-like of bool, shape (n,)
        Which rows are of the positive class; at least two of each class.
    first, second : array-like of shape (n,)
        Scores of the two models; more means more likely positive.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    DifferenceTest

    Examples
    --------
    >>> positive = [1, 1, 1, 0, 0, 0, 1, 0]
    >>> test = auc_difference(positive, [8, 7, 6, 1, 2, 3, 5, 4], [8, 2, 6, 1, 7, 3, 5, 4])
    >>> round(test.difference, 4), round(test.p_value, 4)
    (0.3125, 0.1601)
    """
    check_level(level)
    areas, covariance = delong_covariance(positive, np.vstack([first, second]))
    difference = float(areas[0] - areas[1])
    variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    if variance > 1e-14:
        standard_error = math.sqrt(variance)
        reach = float(ndtri((1 + level) / 2)) * standard_error
        low, high = difference - reach, difference + reach
        p_value = 2 * float(ndtr(-abs(difference) / standard_error))
        method = "DeLong"
    else:

        def limits(at: float) -> Interval[float]:
            return squared_and_added(
                delong_interval(positive, first, level=at),
                delong_interval(positive, second, level=at),
            )

        low, high = limits(level)
        standard_error, p_value = 0.0, p_by_inversion(limits)
        method = "Newcombe's squares of both AUC intervals, as DeLong's variance is 0"
    return DifferenceTest(
        difference=difference,
        low=max(low, -1.0),
        high=min(high, 1.0),
        p_value=p_value,
        statistic=difference / standard_error if standard_error else 0.0,
        standard_error=standard_error,
        method=method,
        level=level,
        assumption=THESE_MODELS,
    )


def bootstrap_difference(
    statistic: Callable[[NDArray[np.int64]], float],
    n_rows: int,
    *,
    groups: ArrayLike | None = None,
    n_resamples: int = 2000,
    random_state: int = 0,
    level: float = 0.95,
) -> DifferenceTest:
    """Any difference of two models on the same rows, by the paired bootstrap.

    The rows are resampled for the standard error; the interval is d ± t s.e. with n - 1 degrees
    of freedom. A paired difference is near enough symmetric for that, and quantiles of the
    resamples (percentile or BCa) find too many differences on small test sets.

    Parameters
    ----------
    statistic : callable
        Row numbers (some repeated) -> the difference on those rows.
    n_rows : int
        Rows there are.
    groups : array-like of shape (n_rows,), optional
        Rows of a group are drawn together.
    n_resamples : int, default=2000
        Bootstrap samples; those on which the measure is not defined are left aside.
    random_state : int, default=0
        Seed: the same rows give the same interval.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    DifferenceTest

    Examples
    --------
    >>> gap = np.array([0.1, -0.2, 0.3, 0.1, 0.0, 0.2, 0.4, -0.1, 0.1, 0.2])
    >>> test = bootstrap_difference(lambda rows: float(gap[rows].mean()), 10)
    >>> round(test.difference, 2), test.low < 0.11 < test.high
    (0.11, True)
    """
    check_level(level)
    members = _members(n_rows, groups)
    n_units = len(members) if members else n_rows
    if n_units < 2:
        raise InvalidArgumentError(
            f"the bootstrap needs at least two rows (or groups) to draw from; got {n_units}."
        )

    def at(units: NDArray[np.int64]) -> float:
        rows = np.concatenate([members[unit] for unit in units]) if members else units
        return float(statistic(rows))

    generator = np.random.default_rng(random_state)
    value = at(np.arange(n_units))
    drawn = np.array([at(generator.integers(n_units, size=n_units)) for _ in range(n_resamples)])
    drawn = drawn[np.isfinite(drawn)]
    # Resampling n units understates a variance by (n - 1)/n, and n - 1 degrees estimate it.
    shrunk = float(drawn.std(ddof=1)) if drawn.size > 1 else math.nan
    standard_error = shrunk * math.sqrt(n_units / (n_units - 1))
    reach = float(stdtrit(n_units - 1, (1 + level) / 2)) * standard_error
    t = value / standard_error if standard_error else 0.0
    return DifferenceTest(
        difference=value,
        low=value - reach,
        high=value + reach,
        p_value=2 * float(stdtr(n_units - 1, -abs(t))),
        statistic=t,
        standard_error=standard_error,
        method="paired bootstrap" + (" of groups" if members else ""),
        level=level,
        assumption=THESE_MODELS.replace("rows", "groups") if members else THESE_MODELS,
    )


def p_by_inversion(limits: Callable[[float], Interval[float]]) -> float:
    """Two-sided p-value of 0: 1 minus the level from which the interval holds 0.

    Examples
    --------
    >>> round(p_by_inversion(lambda level: Interval(0.3 - level, 0.3 + level)), 4)
    0.7
    """

    def holds_zero(level: float) -> bool:
        low, high = limits(level)
        return low <= 0 <= high

    inside, outside = 1.0, 1e-3  # levels; the interval of level 1 holds everything
    if holds_zero(outside):
        return 1.0
    while inside - outside > 1e-7:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds_zero(middle) else (inside, middle)
    return 1 - inside


def squared_and_added(first: Estimate, second: Estimate) -> Interval[float]:
    """Limits of a difference from the limits of both (Newcombe 1998).

    Examples
    --------
    >>> one = Estimate(0.9, 0.8, 0.95, 0.95, "")
    >>> low, high = squared_and_added(one, one)
    >>> round(low, 4), round(high, 4)
    (-0.1118, 0.1118)
    """
    difference = first.value - second.value
    return Interval(
        difference - math.hypot(first.value - first.low, second.high - second.value),
        difference + math.hypot(first.high - first.value, second.value - second.low),
    )


def _members(n_rows: int, groups: ArrayLike | None) -> list[NDArray[np.int64]] | None:
    if groups is None:
        return None
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    if codes.size != n_rows:
        raise InvalidArgumentError(
            f"groups must name the group of each of the {n_rows} rows; got {codes.size}."
        )
    return [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]

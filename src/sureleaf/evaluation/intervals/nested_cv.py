"""The mean loss of a k-fold design, its interval from cross-validation inside cross-validation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, check_level

__all__ = ["NestedFold", "NestedMean", "nested_cv"]


@dataclass(frozen=True)
class NestedFold:
    """What one outer fold gives: its rows' losses, and the losses of the folds inside the rest.

    Attributes
    ----------
    outer : ndarray
        Losses of the fold's rows under the model of all other folds.
    inner : ndarray
        Losses of the other folds' rows, each under the model of the folds that remain.

    Examples
    --------
    >>> NestedFold(np.zeros(2), np.ones(8)).inner.mean()
    np.float64(1.0)
    """

    outer: Floats
    inner: Floats


@dataclass(frozen=True)
class NestedMean:
    """Mean loss with the nested cross-validation interval.

    Attributes
    ----------
    value : float
        Estimate with the bias of the smaller training sets taken out.
    standard_error : float
        Root of the estimated mean squared error, kept between the naive standard error and
        sqrt(K) times it.
    low, high, level : float

    Examples
    --------
    >>> NestedMean(0.2, 0.05, 0.1, 0.3, 0.95).high
    0.3
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float


def nested_cv(folds: Sequence[NestedFold], *, n_splits: int, level: float = 0.95) -> NestedMean:
    """Mean loss of an algorithm with the interval of Bates, Hastie and Tibshirani.

    Outer folds measure how far a cross-validation estimate misses the error on rows it never saw:
    ``MSE = mean((inner mean - outer mean)^2) - mean(var(outer) / |fold|)`` (their Algorithm 1),
    scaled by ``(K-1)/K`` to all rows and kept between the naive variance and K times it. The
    value is ``inner mean - (1 + (K-2)/K) (inner mean - outer mean)``, their bias correction.

    Parameters
    ----------
    folds : sequence of NestedFold
        The K outer folds of every repeat.
    n_splits : int
        K, at least 3.
    level : float

    Returns
    -------
    NestedMean

    References
    ----------
    .. [1] Bates, S., Hastie, T., Tibshirani, R. (2024). Cross-validation: what does it estimate
       and how well does it do it? JASA 119, 1434-1445.

    Examples
    --------
    >>> losses = np.tile([0.0, 0.0, 1.0], 10)
    >>> folds = [NestedFold(losses, np.tile(losses, 4)) for _ in range(5)]
    >>> round(nested_cv(folds, n_splits=5).value, 4)
    0.3333
    """
    check_level(level)
    if n_splits < 3 or len(folds) < n_splits:
        raise InvalidArgumentError(
            "Nested cross-validation needs at least 3 folds and every outer fold of a repeat; "
            f"got n_splits={n_splits} and {len(folds)} outer folds."
        )
    if min(len(fold.outer) for fold in folds) < 2:
        raise InvalidArgumentError(
            "Nested cross-validation needs two rows a fold; use fewer folds."
        )
    gaps = np.array([fold.inner.mean() - fold.outer.mean() for fold in folds])
    noise = np.array([fold.outer.var(ddof=1) / len(fold.outer) for fold in folds])
    inside = float(np.concatenate([fold.inner for fold in folds]).mean())
    outside = np.concatenate([fold.outer for fold in folds])
    n_rows = len(outside) * n_splits / len(folds)
    naive = math.sqrt(float(outside.var(ddof=1)) / n_rows)
    mse = (n_splits - 1) / n_splits * float((gaps**2).mean() - noise.mean())
    error = min(max(math.sqrt(max(mse, 0.0)), naive), math.sqrt(n_splits) * naive)
    value = inside - (1 + (n_splits - 2) / n_splits) * (inside - float(outside.mean()))
    half = float(ndtri(0.5 + level / 2)) * error
    return NestedMean(value, error, value - half, value + half, level)

"""Intervals of a mean over splits whose training sets overlap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from sureleaf.arguments import FloatArray, check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import TextDisplay

__all__ = [
    "Estimate",
    "MeanOverSplits",
    "NestedFold",
    "NestedMean",
    "SplitVariance",
    "corrected_resampled",
    "nested_cv",
    "splits_of_one_round",
]


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

    Attributes
    ----------
    spread : float
        Variance of the values of the splits.
    hidden : float
        Variance of the mean that the splits cannot show, such as that of the class proportions if
        all splits have the same.
    least : float
        What the variance of the mean is at least, whatever the splits show.
    """

    spread: float
    test_to_train: float
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
    estimated by ``(1/J + n_test/n_train) s^2`` instead of ``s^2 / J``. It was derived for repeated
    hold-outs; for (repeated) k-fold it is an approximation that works well [2]_.
    ``test_to_train=0`` is the plain t interval [1]_, which is too short for overlapping splits.

    Parameters
    ----------
    hidden_variance, least_variance : float
        As in `SplitVariance`.
    one_round : bool
        Whether repeats leave the interval as wide as one round of splits, for measures that move
        with the decision boundary; see `splits_of_one_round`.
    degrees_of_one_round : bool
        Whether repeats leave the degrees of freedom as they are with one round, because they use
        the same rows again; for measures that are not means over rows, such as the AUC.

    References
    ----------
    .. [1] Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281.
    .. [2] Bouckaert, R., Frank, E. (2004). Evaluating the replicability of significance tests
       for comparing learning algorithms. PAKDD.
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


@dataclass(frozen=True)
class NestedFold:
    """Losses of the rows of one outer fold, and of the rows of the other folds.

    `outer` are those under the model of all other folds, `inner` those under the model of the
    remaining folds.
    """

    outer: FloatArray
    inner: FloatArray


@dataclass(frozen=True)
class NestedMean:
    """Mean loss with the nested cross-validation interval.

    The value is corrected for the bias of the smaller training sets. The standard error is the root
    of the estimated mean squared error, kept between the naive standard error and sqrt(K) times it.
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float


def nested_cv(folds: Sequence[NestedFold], *, n_splits: int, level: float = 0.95) -> NestedMean:
    """Return the mean loss of an algorithm with the interval of Bates et al..

    The folds are the K outer folds of every repeat. They measure how far a cross-validation
    estimate is from the error on unseen rows: ``MSE = mean((inner mean - outer mean)^2) -
    mean(var(outer) / |fold|)`` (Algorithm 1), scaled by ``(K-1)/K`` to all rows and kept between
    the naive variance and K times it. The value is ``inner mean - (1 + (K-2)/K) (inner mean - outer
    mean)``, the bias correction. The mean squared error is estimated from as many values as there
    are outer folds, so few repeats leave it uncertain; Student's t allows for that, where the paper
    has the normal quantile and hundreds of repeats.

    References
    ----------
    .. [1] Bates, S., Hastie, T., Tibshirani, R. (2024). Cross-validation: what does it estimate
       and how well does it do it? Journal of the American Statistical Association 119, 1434-1445.
    """
    check_level(level)
    if n_splits < 3 or len(folds) < n_splits:
        raise InvalidArgumentError(
            "Nested cross-validation needs at least 3 folds and every outer fold of a repeat; "
            f"got n_splits={n_splits} and {len(folds)} outer folds."
        )
    if min(len(fold.outer) for fold in folds) < 2:
        raise InvalidArgumentError(
            "Nested cross-validation needs two rows per fold; use fewer folds."
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
    half = float(stdtrit(len(folds) - 1, 0.5 + level / 2)) * error
    return NestedMean(value, error, value - half, value + half, level)

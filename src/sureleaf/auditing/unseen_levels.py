"""What rows that a model has not seen say about a prediction that it made before them.

The prediction of a leaf is fixed, so its utility is one number, the probability of the predicted
class there, and does not grow with the rows counted; only what is known about it does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from sureleaf.levels.intervals import clopper_pearson, majority_probability
from sureleaf.levels.planning import min_rows

__all__ = ["Bins", "UnseenLevels", "pooled_rates", "probability_bins", "unseen_levels"]


FloatArray = NDArray[np.float64]

_STRENGTHS = 2.0 ** np.arange(-1, 11)


@dataclass(frozen=True, eq=False)
class UnseenLevels:
    """Levels of groups of rows, leaves or bins, each with the class predicted for it.

    Parameters
    ----------
    predicted : ndarray of int, shape (n_groups,)
        The class that the model predicts.
    counts : ndarray of float64, shape (n_groups, n_classes)
        Rows by class.
    probability : ndarray of float64, shape (n_groups,)
        Share of the rows that are of the predicted class; NaN without rows.
    utility : ndarray of float64, shape (n_groups,)
        That share, small groups being drawn towards the others: see `pooled_rates`.
    confidence : ndarray of float64, shape (n_groups,)
        Probability that the predicted class is the most probable one of the group.

    Examples
    --------
    >>> found = unseen_levels(np.array([[2.0, 5.0], [30.0, 4.0]]), np.array([1, 0]))
    >>> found.confidence.round(3)
    array([0.872, 1.   ])
    """

    predicted: NDArray[np.intp]
    counts: FloatArray
    probability: FloatArray
    utility: FloatArray
    confidence: FloatArray

    @property
    def below(self) -> NDArray[np.bool_]:
        """Whether another class has more of the rows than the one predicted."""
        hits = self.counts[np.arange(len(self.counts)), self.predicted]
        more: NDArray[np.bool_] = self.counts.max(axis=1) > hits
        return more

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Bounds of Clopper and Pearson for the probability of the predicted class."""
        n = self.counts.sum(axis=1)
        hits = np.minimum(self.counts[np.arange(len(n)), self.predicted], n)
        low, high = clopper_pearson(hits, n, level=level)
        return np.asarray(low, dtype=float), np.asarray(high, dtype=float)

    def rows_needed(self, confidence: float | None, utility: float | None) -> FloatArray:
        """Rows to count in each group, all told, until it is that sure, if the shares stay.

        NaN where no number is enough: another class is as frequent, or the utility is too small,
        which further rows do not change.
        """
        total = self.counts.sum(axis=1, keepdims=True)
        line = np.arange(len(total))
        shares = np.divide(self.counts, total, out=np.zeros(self.counts.shape), where=total > 0)
        none = total[:, 0] <= 0
        n_others = max(self.counts.shape[1] - 1, 1)
        shares[none] = ((1.0 - self.utility[none]) / n_others)[:, np.newaxis]
        shares[line[none], self.predicted[none]] = self.utility[none]
        needed = _rows_until(shares, self.predicted, confidence)
        return needed if utility is None else np.where(self.utility >= utility, needed, np.nan)


def _rows_until(
    shares: FloatArray, predicted: NDArray[np.intp], confidence: float | None
) -> FloatArray:
    if confidence is None or shares.shape[1] == 1:
        return np.zeros(len(shares))
    line = np.arange(len(shares))
    own = shares[line, predicted]
    others = shares.copy()
    others[line, predicted] = -1.0
    able = np.flatnonzero(own > others.max(axis=1))
    # Which other class is which does not matter, and small groups have the same shares often.
    sets = np.column_stack([own, np.sort(others, axis=1)[:, 1:]])[able]
    vectors, back = np.unique(sets, axis=0, return_inverse=True)

    def reached(n: FloatArray, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        counts = vectors[places] * n[:, np.newaxis]
        sure = majority_probability(counts, np.zeros(len(counts), dtype=np.intp))
        return sure >= confidence

    needed = np.full(len(shares), np.nan)
    needed[able] = min_rows(reached, len(vectors))[back.reshape(-1)]
    return needed


def unseen_levels(
    counts: FloatArray, predicted: NDArray[np.intp], tree: NDArray[np.intp] | None = None
) -> UnseenLevels:
    """State what the counts say about the class that was predicted before them.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_groups, n_classes)
        Rows by class.
    predicted : ndarray of int, shape (n_groups,)
        The class predicted for each group.
    tree : ndarray of int, shape (n_groups,), optional
        The tree of each leaf: rates are drawn towards those of the same tree.

    Returns
    -------
    UnseenLevels

    Examples
    --------
    >>> found = unseen_levels(np.array([[2.0, 5.0], [0.0, 0.0]]), np.array([1, 1]))
    >>> found.probability.round(3), found.utility.round(3), found.confidence.round(3)
    (array([0.714,   nan]), array([0.714, 0.714]), array([0.872, 0.5  ]))
    """
    n = counts.sum(axis=1)
    hits = counts[np.arange(len(counts)), predicted]
    share = np.divide(hits, n, out=np.full(len(n), np.nan), where=n > 0)
    sure = majority_probability(counts, predicted)
    rates = np.empty(len(n))
    of_tree = np.zeros(len(n), dtype=np.intp) if tree is None else tree
    for number in np.unique(of_tree):
        own = of_tree == number
        rates[own] = pooled_rates(hits[own], n[own])
    return UnseenLevels(predicted, counts, share, rates, sure)


def pooled_rates(hits: FloatArray, n: FloatArray) -> FloatArray:
    """Give each group's hit rate, small groups drawn towards the mean of all.

    The rates of the groups are taken as beta distributed. A group's rate is
    ``(hits + s m) / (n + s)`` with ``m = sum(hits / (n + s)) / sum(n / (n + s))``: weighted by
    their rows, these rates add up to the share of hits among all rows, whatever s is. Of the
    strengths s, powers of two from 1/2 to 1024, the one is taken under which the hits are most
    likely.

    Parameters
    ----------
    hits, n : ndarray of float64, shape (n_groups,)
        Rows of the predicted class, and all rows.

    Returns
    -------
    ndarray of float64, shape (n_groups,)
        A group without rows has the mean m; if no group has rows, 1/2.

    Examples
    --------
    >>> hits, n = np.array([90.0, 45.0, 1.0, 0.0]), np.array([100.0, 100.0, 1.0, 1.0])
    >>> rates = pooled_rates(hits, n)
    >>> rates.round(3), float((rates @ n).round(9))
    (array([0.89 , 0.457, 0.716, 0.516]), 136.0)
    """
    if not n.sum() > 0:
        return np.full(len(n), 0.5)
    found = [_pooled(hits, n, float(s)) for s in _STRENGTHS]
    likelihoods = []
    for s, (mean, _) in zip(_STRENGTHS, found, strict=True):
        # All hits are no proof that there are no misses: the mean stays half a row away from 1.
        m = float(np.clip(mean, 0.5 / (n.sum() + 1), 1 - 0.5 / (n.sum() + 1)))
        a, b = s * m, s * (1 - m)
        likelihoods.append((betaln(a + hits, b + n - hits) - betaln(a, b)).sum())
    return found[int(np.argmax(likelihoods))][1]


def _pooled(hits: FloatArray, n: FloatArray, s: float) -> tuple[float, FloatArray]:
    mean = float((hits / (n + s)).sum() / (n / (n + s)).sum())
    return mean, (hits + s * mean) / (n + s)


# Rows grouped by what a model predicts and how probable it holds that: bins of equal size.


@dataclass(frozen=True, eq=False)
class Bins:
    """Groups of rows with one prediction and about the same probability.

    Parameters
    ----------
    of_row : ndarray of int, shape (n_rows,)
        The bin of each row.
    predicted : ndarray of int, shape (n_bins,)
        Code of the class predicted in it.
    stated : ndarray of float64, shape (n_bins,)
        Mean probability that the model states for that class.
    stated_from, stated_to : ndarray of float64, shape (n_bins,)
        The smallest and the largest.

    Examples
    --------
    >>> made = probability_bins(np.array([0, 0, 1, 1]), np.array([0.9, 0.8, 0.6, 0.7]), 4)
    >>> made.stated.tolist(), made.predicted.tolist()
    ([0.8, 0.9, 0.6, 0.7], [0, 0, 1, 1])
    """

    of_row: NDArray[np.intp]
    predicted: NDArray[np.intp]
    stated: NDArray[np.float64]
    stated_from: NDArray[np.float64]
    stated_to: NDArray[np.float64]

    def count(self, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
        """Count the rows of each class in each bin."""
        n_cells = len(self.predicted) * n_classes
        cells = np.bincount(self.of_row * n_classes + codes, minlength=n_cells)
        return cells.reshape(-1, n_classes).astype(np.float64)


def probability_bins(
    predicted: NDArray[np.intp], probability: NDArray[np.float64], n_bins: int
) -> Bins:
    """Divide the rows of each predicted class into bins of equal size.

    Each class has bins in proportion to its rows, and at least one. Rows of the same probability
    stay together, so that a model that states few different ones has fewer bins.

    Parameters
    ----------
    predicted : ndarray of int, shape (n_rows,)
        Code of the class predicted for each row.
    probability : ndarray of float64, shape (n_rows,)
        What the model states for that class.
    n_bins : int
        How many bins to make, about.

    Returns
    -------
    Bins
        By class, and by probability within it.

    Examples
    --------
    >>> stated = np.linspace(0.5, 1, 100)
    >>> made = probability_bins(np.zeros(100, dtype=np.intp), stated, 5)
    >>> np.bincount(made.of_row).tolist()
    [20, 20, 20, 20, 20]
    """
    of_row = np.empty(len(predicted), dtype=np.intp)
    classes: list[int] = []
    for code in np.unique(predicted).tolist():
        rows = np.flatnonzero(predicted == code)
        wanted = max(1, round(n_bins * len(rows) / len(predicted)))
        edges = np.quantile(probability[rows], np.arange(1, wanted) / wanted, method="higher")
        place = np.searchsorted(np.unique(edges), probability[rows], side="right")
        _, place = np.unique(place, return_inverse=True)
        of_row[rows] = len(classes) + place
        classes += [code] * (int(place.max()) + 1)
    size = np.bincount(of_row, minlength=len(classes))
    low, high = np.full(len(classes), np.inf), np.full(len(classes), -np.inf)
    np.minimum.at(low, of_row, probability)
    np.maximum.at(high, of_row, probability)
    mean = np.bincount(of_row, probability, len(classes)) / size
    return Bins(of_row, np.array(classes, dtype=np.intp), np.clip(mean, low, high), low, high)

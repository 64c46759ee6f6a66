"""Rows grouped by what a model predicts and how probable it holds that: bins of equal size."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bins", "probability_bins"]


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

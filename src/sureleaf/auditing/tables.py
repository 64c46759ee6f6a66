"""What an audit finds, as tables: leaf by leaf, bin by bin, tree by tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.estimators.column_table import ColumnTable

__all__ = ["AuditedBins", "AuditedLeaves", "AuditedTrees"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedLeaves(ColumnTable):
    """One row a leaf: what the model states there, and what the rows say.

    Parameters
    ----------
    tree : ndarray of int, or None
        Which tree of a forest; None for a single tree.
    leaf : ndarray of int
        Number of the leaf in its tree, as `apply` gives it.
    rule : ndarray of str, or None
        The tests on the way to it; None for forests.
    n : ndarray of float64
        Rows counted in it.
    counts : ndarray of float64, shape (n_leaves, n_classes)
        These rows by class.
    prediction : ndarray
        The class that the model predicts there.
    stated : ndarray of float64
        The probability that the model states for it.
    probability, low, high : ndarray of float64
        The share of that class among the rows, and the bounds of its probability.
    agrees : ndarray of bool
        Whether what is stated lies within the bounds.
    confidence : ndarray of float64
        Probability that the class predicted is the most probable one in the leaf.
    utility : ndarray of float64
        Probability that the prediction of the next row in the leaf is right.
    rows_needed : ndarray of float64
        Rows in the leaf, all told, to reach the wanted levels; NaN if no number does.
    flagged : ndarray of bool
        Leaves below the wanted levels or without rows, and those where another class is more
        frequent.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[1], [1.5], [3.5]], ["no", "yes", "yes"])
    >>> found.leaves.counts.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    tree: NDArray[np.intp] | None
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_] | None
    n: FloatArray
    counts: FloatArray
    prediction: NDArray[Any]
    stated: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedBins(ColumnTable):
    """One row a bin of rows with the same prediction and about the same probability.

    Parameters
    ----------
    prediction : ndarray
        The class that the model predicts for them.
    stated_from, stated_to, stated : ndarray of float64
        The smallest, largest and mean probability that it states for that class.
    n : ndarray of float64
        Rows.
    counts, probability, low, high, agrees, confidence, utility, rows_needed, flagged : ndarray
        As of leaves.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> audit(model, [[1], [1.5], [3.5]], ["no", "yes", "yes"], n_bins=2).bins.n.tolist()
    [2.0, 1.0]
    """

    prediction: NDArray[Any]
    stated_from: FloatArray
    stated_to: FloatArray
    stated: FloatArray
    n: FloatArray
    counts: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    agrees: NDArray[np.bool_]
    confidence: FloatArray
    utility: FloatArray
    rows_needed: FloatArray
    flagged: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class AuditedTrees(ColumnTable):
    """One row a tree of a forest or bag.

    Parameters
    ----------
    tree : ndarray of int
        Its number.
    leaves : ndarray of int
        Its leaves.
    empty, flagged, outside : ndarray of int
        Leaves without rows, leaves flagged, and leaves whose stated probability is out of bounds.
    stated : ndarray of float64
        Mean probability that the tree states for its predictions of the rows.
    confidence, utility : ndarray of float64
        Of the tree: the sums over its leaves, weighted by their rows.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sureleaf import audit
    >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
    >>> model = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> audit(model, [[3], [17]], [0, 1]).trees.utility.tolist()
    [1.0, 1.0, 1.0]
    """

    tree: NDArray[np.intp]
    leaves: NDArray[np.intp]
    empty: NDArray[np.intp]
    flagged: NDArray[np.intp]
    outside: NDArray[np.intp]
    stated: FloatArray
    confidence: FloatArray
    utility: FloatArray

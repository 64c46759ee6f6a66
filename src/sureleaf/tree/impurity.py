"""Impurity of nodes, and how much of it the splits on each column remove."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sureleaf.tree.structure import Tree

__all__ = ["impurity_importances", "node_impurity"]


def node_impurity(tree: Tree, criterion: str) -> NDArray[np.float64]:
    """Return the impurity of each node: Gini, or for other criteria the entropy in bits."""
    totals = tree.class_counts.sum(axis=1, keepdims=True)
    shares = np.divide(
        tree.class_counts, totals, out=np.zeros_like(tree.class_counts), where=totals > 0
    )
    if criterion == "gini":
        gini: NDArray[np.float64] = np.where(totals[:, 0] > 0, 1.0 - (shares**2).sum(axis=1), 0.0)
        return gini
    entropy: NDArray[np.float64] = -xlogy(shares, shares).sum(axis=1) / np.log(2.0)
    return np.abs(entropy)


def impurity_importances(tree: Tree, criterion: str) -> NDArray[np.float64]:
    """Return the share of each column in the decrease of impurity; zeros for a single leaf.

    It is computed from the rows of the fit, so columns with many values look better than they are.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None)
    >>> model = model.fit([[1, 7], [2, 7], [3, 7], [4, 7]], [0, 0, 1, 1])
    >>> impurity_importances(model.tree_, "gini").tolist()
    [1.0, 0.0]
    """
    remaining = tree.class_counts.sum(axis=1) * node_impurity(tree, criterion)
    decrease = remaining.copy()
    np.subtract.at(decrease, tree.parent[1:], remaining[1:])
    inner = ~tree.is_leaf
    sums = np.bincount(tree.feature[inner], weights=decrease[inner], minlength=tree.n_columns)
    gains: NDArray[np.float64] = np.maximum(sums, 0.0)
    return gains / gains.sum() if gains.sum() > 0 else gains

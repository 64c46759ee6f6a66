"""A leaf estimate that predicts what the leaf's rows say."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf.probability.estimates import LeafEstimate
from sureleaf.tree import Tree
from sureleaf.tree.lines import line_maxima, line_sums

__all__ = ["KeepMajority"]


@dataclass(frozen=True)
class KeepMajority:
    """Another estimate, with the majority class of a node raised to be the most probable one.

    Smoothing can overturn a leaf: three rows of four say yes, the nodes above say no, and so does
    the mean. Whoever checks the tree would be puzzled, and C4.5 would predict yes. Here the
    majority gets the probability of the class that beat it, and all are scaled to sum to 1: the
    leaf says how unsure it is, and predicts as before.

    Parameters
    ----------
    estimate : LeafEstimate
        The other estimate.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.probability import Shrinkage
    >>> X, y = [[0], [0], [1], [1], [1], [1], [1], [1], [1]], [1, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> model = TreeClassifier(leaf_estimate=Shrinkage(20)).fit(X, y)
    >>> model.predict_proba([[0]]).round(3).tolist()
    [[0.533, 0.467]]
    >>> kept = model.with_leaf_estimate(KeepMajority(Shrinkage(20)))
    >>> kept.predict_proba([[0]]).round(3).tolist(), kept.predict([[0]]).tolist()
    ([[0.5, 0.5]], [1])
    """

    estimate: LeafEstimate

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        probabilities = self.estimate(tree, counts)
        majority = tree.fill_empty(counts).argmax(axis=1)
        highest = line_maxima(probabilities)
        first = (probabilities >= highest[:, np.newaxis] - 1e-12).argmax(axis=1)
        overturned = np.flatnonzero(first != majority)
        kept = probabilities.copy()
        if kept.shape[1] == 2:  # the same tie everywhere: rounding must not rank such leaves
            kept[overturned] = highest[overturned] = 1.0
        # A touch above, since of equal ones the first class would be predicted.
        kept[overturned, majority[overturned]] = highest[overturned] * (1.0 + 1e-9)
        shares: NDArray[np.float64] = kept / line_sums(kept)[:, np.newaxis]
        return shares

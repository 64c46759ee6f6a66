"""How much utility a split adds at the sample size at hand, leaf by leaf."""

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.levels import class_utility, estimate_p_max, utility
from sureleaf.tree.structure import Tree

__all__ = ["node_utilities", "prune_by_utility", "utility_alphas"]

_MANY_ROWS = 500
"""From so many rows on, the utility of K classes is taken for its limit, the probability."""


def node_utilities(tree: Tree) -> NDArray[np.float64]:
    """State the utility of every node as a leaf, (6), by the blend (20) of its growing rows.

    With more than two classes, the K-class utility with one row of each class added. A node
    without rows predicts like its parent, and has its utility.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> node_utilities(model.tree_)
    array([0.5, 1. , 1. ])
    """
    counts = tree.counts_or_parent
    n, most = counts.sum(axis=1), counts.max(axis=1)
    if tree.n_classes == 2:
        found: NDArray[np.float64] = np.asarray(utility(n, estimate_p_max(most, n)))
        return found
    shares = (counts + 1.0) / (n + tree.n_classes)[:, np.newaxis]
    utilities: NDArray[np.float64] = shares.max(axis=1)
    few = n < _MANY_ROWS
    utilities[few] = class_utility(n[few], shares[few])
    return utilities


def utility_alphas(tree: Tree) -> NDArray[np.float64]:
    """For each inner node the utility a leaf that its subtree adds; infinity for leaves.

    The weakest link is cut first, as in cost-complexity pruning; the cost of a node is what it
    lacks to a utility of 1, times its share of the rows. A split that loses utility is below 0.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> utility_alphas(model.tree_).tolist()
    [0.5, inf, inf]
    """
    totals = tree.class_counts.sum(axis=1)
    cost = (1.0 - node_utilities(tree)) * totals / totals[0]
    alphas: NDArray[np.float64] = _kernel.cost_complexity_alphas(
        tree.kernel, np.ascontiguousarray(cost)
    )
    return alphas


def prune_by_utility(tree: Tree, gain: float) -> Tree:
    """Cut every subtree that adds no more than this utility a leaf.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> prune_by_utility(model.tree_, 0.5).n_leaves
    1
    """
    marks = np.ascontiguousarray(utility_alphas(tree) <= gain, dtype=np.uint8)
    return Tree.from_kernel(_kernel.cut_at(tree.kernel, marks), tree.n_columns)

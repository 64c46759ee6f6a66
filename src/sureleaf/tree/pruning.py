"""Making a grown tree smaller; never by growing it again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import class_utility, estimate_p_max, utility
from sureleaf.tree.growing import TrainingRows
from sureleaf.tree.routing import count_nodes
from sureleaf.tree.structure import Tree

__all__ = [
    "CostComplexityPath",
    "collapse",
    "cost_complexity_alphas",
    "cost_complexity_path",
    "cut",
    "impurity_importances",
    "node_impurity",
    "node_utilities",
    "prune_by_utility",
    "prune_cost_complexity",
    "prune_pessimistic",
    "prune_reduced_error",
    "prune_to_size",
    "utility_alphas",
]


# How much utility a split adds at the sample size at hand, leaf by leaf.

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


# How much each column tidied up the classes.


def node_impurity(tree: Tree, criterion: str) -> NDArray[np.float64]:
    """For each node its Gini impurity, or for the other criteria its entropy in bits.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> node_impurity(model.tree_, "gini").tolist()
    [0.5, 0.0, 0.0]
    """
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
    """Each column's share of the tree's decrease of impurity; zeros for a tree of one leaf.

    Measured on the growing rows, so columns with many values look better than they are.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1, 7], [2, 7], [3, 7], [4, 7]], [0, 0, 1, 1])
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


def cut(tree: Tree, becomes_leaf: NDArray[np.bool_]) -> Tree:
    """Make the marked nodes leaves.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> cut(model.tree_, np.array([True, False, False]))
    Tree of 1 node, 1 leaf, depth 0
    """
    marks = np.ascontiguousarray(becomes_leaf, dtype=np.uint8)
    return Tree.from_kernel(_kernel.cut_at(tree.kernel, marks), tree.n_columns)


def collapse(tree: Tree) -> Tree:
    """Cut subtrees that make hardly fewer training errors than their root would: C4.5's rule 8.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(criterion="gini", collapse=False, pruning=None, min_samples_leaf=1)
    >>> grown = model.fit([[1], [2], [3]], ["no", "yes", "no"]).tree_
    >>> grown, collapse(grown)
    (Tree of 5 nodes, 3 leaves, depth 2, Tree of 5 nodes, 3 leaves, depth 2)
    """
    return Tree.from_kernel(
        _kernel.cut_at(tree.kernel, _kernel.collapse_marks(tree.kernel)), tree.n_columns
    )


def prune_pessimistic(tree: Tree, rows: TrainingRows, *, confidence_factor: float = 0.25) -> Tree:
    """Replace and raise subtrees by C4.5's pessimistic estimate of their errors (rule 9).

    Parameters
    ----------
    tree : Tree
        A tree grown on these rows.
    rows : TrainingRows
        The rows; raising a subtree sends its parent's rows through it.
    confidence_factor : float
        Between 0 and 0.5 (or up to 1, where pruning is hardly felt); less prunes more.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 100).astype(np.int32)
    >>> noise = TrainingRows(read_table(rng.normal(size=(100, 3))), labels, 2)
    >>> grown = grow(noise, GrowthRules(criterion="gini"))
    >>> prune_pessimistic(grown, noise).n_leaves < grown.n_leaves
    True
    """
    pruned = _kernel.prune_pessimistic(
        tree.kernel,
        rows.kernel,
        rows.labels,
        weights=rows.weights,
        are_copies=rows.are_copies,
        confidence_factor=confidence_factor,
        quantile=float(ndtri(1.0 - confidence_factor)),
    )
    return Tree.from_kernel(pruned, tree.n_columns)


def cost_complexity_alphas(tree: Tree, criterion: str) -> NDArray[np.float64]:
    """For each inner node the penalty a leaf at which it is cut; infinity for leaves.

    The cost of a node is its impurity by the criterion times its share of the rows, as
    scikit-learn has it.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> cost_complexity_alphas(model.tree_, "gini").tolist()
    [0.5, inf, inf]
    """
    totals = tree.class_counts.sum(axis=1)
    cost = node_impurity(tree, criterion) * totals / totals[0]
    alphas: NDArray[np.float64] = _kernel.cost_complexity_alphas(
        tree.kernel, np.ascontiguousarray(cost)
    )
    return alphas


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """The trees that growing penalties a leaf choose, from the whole tree to its root.

    Parameters
    ----------
    alphas : ndarray
        The penalties at which the tree changes, ascending, the first being 0.
    n_leaves : ndarray of int
        Leaves of the tree from each penalty on.
    impurities : ndarray
        Its total impurity, weighted by the share of rows.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model.cost_complexity_path().n_leaves.tolist()
    [2, 1]
    """

    alphas: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    impurities: NDArray[np.float64]


def cost_complexity_path(tree: Tree, criterion: str) -> CostComplexityPath:
    """Find the penalties a leaf at which cost-complexity pruning cuts something.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> cost_complexity_path(model.tree_, "gini")
    CostComplexityPath(alphas=array([0. , 0.5]), n_leaves=array([2, 1]),
    impurities=array([0. , 0.5]))
    """
    node_alphas = np.maximum(cost_complexity_alphas(tree, criterion), 0.0)
    alphas = np.unique(np.concatenate(([0.0], node_alphas[~tree.is_leaf])))
    # A node is a leaf from its own alpha on (a leaf from the start) and until its parent's.
    begins = np.searchsorted(alphas, np.where(tree.is_leaf, 0.0, node_alphas))
    ends = np.full(tree.n_nodes, len(alphas))
    ends[1:] = np.searchsorted(alphas, node_alphas[tree.parent[1:]])
    totals = tree.class_counts.sum(axis=1)
    cost = node_impurity(tree, criterion) * totals / totals[0]

    def running_sum(values: NDArray[np.float64]) -> NDArray[np.float64]:
        begun = np.bincount(begins, values, len(alphas) + 1)
        ended = np.bincount(ends, values, len(alphas) + 1)
        total: NDArray[np.float64] = np.cumsum(begun - ended, dtype=np.float64)[:-1]
        return total

    n_leaves = np.rint(running_sum(np.ones(tree.n_nodes))).astype(np.int64)
    return CostComplexityPath(alphas, n_leaves, np.maximum(running_sum(cost), 0.0))


def prune_cost_complexity(tree: Tree, criterion: str, alpha: float) -> Tree:
    """Cut every subtree that is not worth this penalty a leaf.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> prune_cost_complexity(model.tree_, "gini", 0.4).n_leaves
    2
    >>> prune_cost_complexity(model.tree_, "gini", 0.5).n_leaves
    1
    """
    return cut(tree, cost_complexity_alphas(tree, criterion) <= alpha)


def prune_to_size(tree: Tree, criterion: str, n_leaves: int) -> Tree:
    """Cut the weakest links until at most so many leaves are left.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> prune_to_size(model.tree_, "gini", 1).n_leaves
    1
    """
    if n_leaves < 1:
        raise InvalidArgumentError(
            f"n_leaves must be at least 1; got {n_leaves}. One leaf is the smallest tree."
        )
    path = cost_complexity_path(tree, criterion)
    if tree.n_leaves <= n_leaves:
        return tree
    alpha = path.alphas[np.argmax(path.n_leaves <= n_leaves)]
    return prune_cost_complexity(tree, criterion, float(alpha))


def prune_reduced_error(tree: Tree, held_out: TrainingRows) -> Tree:
    """Cut, bottom-up, every subtree that makes no fewer errors on held-out rows than a leaf.

    Parameters
    ----------
    tree : Tree
        A tree grown on other rows.
    held_out : TrainingRows
        Rows it has not seen.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> seen = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> unseen = TrainingRows(table, np.array([0, 0, 0, 1], dtype=np.int32), 2)
    >>> prune_reduced_error(grow(seen, GrowthRules()), unseen).n_leaves
    1
    """
    counts = count_nodes(tree, held_out)
    predicted = tree.counts_or_parent.argmax(axis=1)
    as_leaf = counts.sum(axis=1) - counts[np.arange(tree.n_nodes), predicted]
    as_subtree = as_leaf.copy()
    becomes_leaf = np.zeros(tree.n_nodes, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        as_subtree[node] = as_subtree[tree.branches(int(node))].sum()
        if as_leaf[node] <= as_subtree[node] + 1e-9:
            becomes_leaf[node] = True
            as_subtree[node] = as_leaf[node]
    return cut(tree, becomes_leaf)

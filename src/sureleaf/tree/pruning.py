"""Making a grown tree smaller, without growing it again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import class_utility, estimate_p_max, utility
from sureleaf.levels.decisions import CostRule
from sureleaf.tree.growing import TrainingRows
from sureleaf.tree.routing import count_nodes
from sureleaf.tree.structure import Tree, node_impurity

__all__ = [
    "CostComplexityPath",
    "collapse",
    "cost_complexity_alphas",
    "cost_complexity_path",
    "cut",
    "decision_costs",
    "node_utilities",
    "prune_cost_complexity",
    "prune_pessimistic",
    "prune_reduced_error",
    "prune_to_size",
    "sums_along",
    "utility_alphas",
    "weakest_links",
]


def cut(tree: Tree, becomes_leaf: NDArray[np.bool_]) -> Tree:
    """Turn the marked nodes into leaves."""
    marks = np.ascontiguousarray(becomes_leaf, dtype=np.uint8)
    return Tree.from_kernel(_kernel.cut_at(tree.kernel, marks), tree.n_columns)


def collapse(tree: Tree) -> Tree:
    """Cut subtrees with hardly fewer training errors than a leaf in their place (C4.5, rule 8)."""
    return Tree.from_kernel(
        _kernel.cut_at(tree.kernel, _kernel.collapse_marks(tree.kernel)), tree.n_columns
    )


def prune_pessimistic(tree: Tree, rows: TrainingRows, *, confidence_factor: float = 0.25) -> Tree:
    """Replace and raise subtrees by the pessimistic estimate of their errors (C4.5, rule 9).

    Raising a subtree routes the rows of its parent through it. Smaller factors prune more; above
    0.5 there is hardly any effect.
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
    """Return the penalty per leaf at which each inner node is cut; infinity for leaves.

    The cost of a node is its impurity times its share of the rows, as in scikit-learn.
    """
    return weakest_links(tree, _impurity_costs(tree, criterion))


def weakest_links(tree: Tree, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the penalty per leaf at which each inner node of these costs is cut."""
    alphas: NDArray[np.float64] = _kernel.cost_complexity_alphas(
        tree.kernel, np.ascontiguousarray(costs)
    )
    return alphas


def _impurity_costs(tree: Tree, criterion: str) -> NDArray[np.float64]:
    totals = tree.class_counts.sum(axis=1)
    costs: NDArray[np.float64] = node_impurity(tree, criterion) * totals / totals[0]
    return costs


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """The sizes of the pruned trees for increasing penalties per leaf, down to the root.

    - `alphas`: the penalties at which the tree changes, ascending, the first being 0.
    - `n_leaves`: number of leaves of the tree from each penalty on.
    - `impurities`: impurity of its leaves, weighted by their share of the rows.
    """

    alphas: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    impurities: NDArray[np.float64]


def cost_complexity_path(tree: Tree, criterion: str) -> CostComplexityPath:
    """Compute the penalties per leaf at which cost-complexity pruning changes the tree."""
    node_alphas = cost_complexity_alphas(tree, criterion)
    alphas = np.unique(np.concatenate(([0.0], np.maximum(node_alphas[~tree.is_leaf], 0.0))))
    per_node = np.column_stack((np.ones(tree.n_nodes), _impurity_costs(tree, criterion)))
    n_leaves, costs = sums_along(tree, node_alphas, alphas, per_node).T
    return CostComplexityPath(alphas, np.rint(n_leaves).astype(np.int64), np.maximum(costs, 0.0))


def sums_along(
    tree: Tree,
    node_alphas: NDArray[np.float64],
    penalties: NDArray[np.float64],
    per_node: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum values of nodes over the leaves of the tree that is cut at each penalty.

    A node is a leaf from its own penalty on (a leaf of the tree from the start) until that of its
    parent. So every node is added once and subtracted once, whatever the number of penalties.

    `per_node` has one line per node. `penalties` ascend; one of `node_alphas` below 0 means 0. The
    result has one line per penalty.
    """
    alphas = np.maximum(node_alphas, 0.0)
    begins = np.searchsorted(penalties, np.where(tree.is_leaf, 0.0, alphas))
    ends = np.full(tree.n_nodes, len(penalties))
    ends[1:] = np.searchsorted(penalties, alphas[tree.parent[1:]])
    n_values, size = per_node.shape[1], len(penalties) + 1
    shape, column, values = (size, n_values), np.arange(n_values), per_node.ravel()

    def added_at(line: NDArray[np.intp]) -> NDArray[np.float64]:
        cell = line[:, np.newaxis] * n_values + column
        sums = np.bincount(cell.ravel(), values, size * n_values).astype(np.float64, copy=False)
        return sums.reshape(shape)

    sums: NDArray[np.float64] = np.cumsum(added_at(begins) - added_at(ends), axis=0)[:-1]
    return sums


def prune_cost_complexity(tree: Tree, criterion: str, alpha: float) -> Tree:
    """Cut every subtree that reduces the cost by no more than this penalty per leaf."""
    return cut(tree, cost_complexity_alphas(tree, criterion) <= alpha)


def prune_to_size(tree: Tree, criterion: str, n_leaves: int) -> Tree:
    """Cut the weakest links until the tree has at most this many leaves."""
    if n_leaves < 1:
        raise InvalidArgumentError(
            f"n_leaves must be at least 1; got {n_leaves}. One leaf is the smallest tree."
        )
    path = cost_complexity_path(tree, criterion)
    if tree.n_leaves <= n_leaves:
        return tree
    alpha = path.alphas[np.argmax(path.n_leaves <= n_leaves)]
    return prune_cost_complexity(tree, criterion, float(alpha))


def decision_costs(
    tree: Tree, counts: NDArray[np.float64], rule: CostRule | None
) -> NDArray[np.float64]:
    """Return what the decision of each node costs the counted rows: sums, and sums of squares.

    A node decides by the class counts that it was grown with. Without costs these are its errors.
    """
    own = tree.counts_or_parent
    if rule is None:
        predicted = own.argmax(axis=1)
        errors = counts.sum(axis=1) - counts[np.arange(tree.n_nodes), predicted]
        return np.column_stack((errors, errors))
    per_class = rule.regret[:, rule.decide(own)].T
    return np.column_stack(((counts * per_class).sum(axis=1), (counts * per_class**2).sum(axis=1)))


def prune_reduced_error(tree: Tree, held_out: TrainingRows, rule: CostRule | None = None) -> Tree:
    """Cut, bottom-up, every subtree that has no fewer errors on held-out rows than a leaf.

    With costs, every subtree whose decisions do not cost less than that of a leaf.
    """
    as_leaf = decision_costs(tree, count_nodes(tree, held_out), rule)[:, 0]
    as_subtree = as_leaf.copy()
    becomes_leaf = np.zeros(tree.n_nodes, dtype=bool)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        as_subtree[node] = as_subtree[tree.branches(int(node))].sum()
        if as_leaf[node] <= as_subtree[node] + 1e-9:
            becomes_leaf[node] = True
            as_subtree[node] = as_leaf[node]
    return cut(tree, becomes_leaf)


# ---- pruning by utility ------------------------------------------------------------------------

_MANY_ROWS = 500
"""With this many rows, the utility of K classes is replaced by its limit, the probability."""


def node_utilities(tree: Tree) -> NDArray[np.float64]:
    """Return the utility (6) of every node as a leaf, with the blend estimate (20) of p_max.

    With more than two classes, it is the K-class utility with 1 / K rows of each class added: one
    row in all. (One row of each class would hide what small leaves of many classes are worth.) A
    node without rows has the utility of its parent, because it predicts like its parent.
    """
    counts = tree.counts_or_parent
    n, most = counts.sum(axis=1), counts.max(axis=1)
    if tree.n_classes == 2:
        binary: NDArray[np.float64] = np.asarray(utility(n, estimate_p_max(most, n)))
        return binary
    shares = (counts + 1.0 / tree.n_classes) / (n + 1.0)[:, np.newaxis]
    utilities: NDArray[np.float64] = shares.max(axis=1)
    few = n < _MANY_ROWS
    utilities[few] = class_utility(n[few], shares[few])
    return utilities


def utility_alphas(tree: Tree) -> NDArray[np.float64]:
    """Return the utility per leaf that the subtree of each inner node adds; infinity for leaves.

    As in cost-complexity pruning, with one minus the utility of a node, times its share of the
    rows, as its cost. A split that reduces the utility has a value below 0.
    """
    totals = tree.class_counts.sum(axis=1)
    return weakest_links(tree, (1.0 - node_utilities(tree)) * totals / totals[0])

"""Making a grown tree smaller, without growing it again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sureleaf import _kernel
from sureleaf.arguments import FloatArray, check_number
from sureleaf.errors import InvalidArgumentError, warn_caller
from sureleaf.levels import class_utility, estimate_p_max, utility
from sureleaf.levels.decisions import CostRule
from sureleaf.tree.growing import TrainingRows
from sureleaf.tree.routing import count_nodes, route
from sureleaf.tree.structure import Tree, node_impurity


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


def cost_complexity_alphas(tree: Tree, criterion: str) -> FloatArray:
    """Return the penalty per leaf at which each inner node is cut; infinity for leaves.

    The cost of a node is its impurity times its share of the rows, as in scikit-learn.
    """
    return weakest_links(tree, _impurity_costs(tree, criterion))


def weakest_links(tree: Tree, costs: FloatArray) -> FloatArray:
    """Return the penalty per leaf at which each inner node of these costs is cut."""
    alphas: FloatArray = _kernel.cost_complexity_alphas(tree.kernel, np.ascontiguousarray(costs))
    return alphas


def _impurity_costs(tree: Tree, criterion: str) -> FloatArray:
    totals = tree.class_counts.sum(axis=1)
    return np.asarray(node_impurity(tree, criterion) * totals / totals[0])


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """The sizes of the pruned trees for increasing penalties per leaf, down to the root.

    - `alphas`: the penalties at which the tree changes, ascending, the first being 0.
    - `n_leaves`: number of leaves of the tree from each penalty on.
    - `impurities`: impurity of its leaves, weighted by their share of the rows.
    """

    alphas: FloatArray
    n_leaves: NDArray[np.int64]
    impurities: FloatArray


def cost_complexity_path(tree: Tree, criterion: str) -> CostComplexityPath:
    """Compute the penalties per leaf at which cost-complexity pruning changes the tree."""
    node_alphas = cost_complexity_alphas(tree, criterion)
    alphas = np.unique(np.concatenate(([0.0], np.maximum(node_alphas[~tree.is_leaf], 0.0))))
    per_node = np.column_stack((np.ones(tree.n_nodes), _impurity_costs(tree, criterion)))
    n_leaves, costs = sums_along(tree, node_alphas, alphas, per_node).T
    return CostComplexityPath(alphas, np.rint(n_leaves).astype(np.int64), np.maximum(costs, 0.0))


def sums_along(
    tree: Tree, node_alphas: FloatArray, penalties: FloatArray, per_node: FloatArray
) -> FloatArray:
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

    def added_at(line: NDArray[np.intp]) -> FloatArray:
        cell = line[:, np.newaxis] * n_values + column
        sums = np.bincount(cell.ravel(), values, size * n_values).astype(np.float64, copy=False)
        return sums.reshape(shape)

    return np.cumsum(added_at(begins) - added_at(ends), axis=0)[:-1]


def decision_costs(tree: Tree, counts: FloatArray, rule: CostRule | None) -> FloatArray:
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


# ---- pruning by utility ----------------------------------------------------------------------

_MANY_ROWS = 500
"""With this many rows, the utility of K classes is replaced by its limit, the probability."""


def node_utilities(tree: Tree) -> FloatArray:
    """Return the utility (6) of every node as a leaf, with the blend estimate (20) of p_max.

    With more than two classes, it is the K-class utility with 1 / K rows of each class added: one
    row in all. (One row of each class would hide what small leaves of many classes are worth.) A
    node without rows has the utility of its parent, because it predicts like its parent.
    """
    counts = tree.counts_or_parent
    n, most = counts.sum(axis=1), counts.max(axis=1)
    if tree.n_classes == 2:
        return np.asarray(utility(n, estimate_p_max(most, n)))
    shares = (counts + 1.0 / tree.n_classes) / (n + 1.0)[:, np.newaxis]
    utilities: FloatArray = shares.max(axis=1)
    few = n < _MANY_ROWS
    utilities[few] = class_utility(n[few], shares[few])
    return utilities


def utility_alphas(tree: Tree) -> FloatArray:
    """Return the utility per leaf that the subtree of each inner node adds; infinity for leaves.

    As in cost-complexity pruning, with one minus the utility of a node, times its share of the
    rows, as its cost. A split that reduces the utility has a value below 0.
    """
    totals = tree.class_counts.sum(axis=1)
    return weakest_links(tree, (1.0 - node_utilities(tree)) * totals / totals[0])


# ---- pruning on request --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Repruning:
    """Pruning a finished tree on request: by a rule, at chosen nodes, or to a number of leaves.

    A tree that was pruned on request keeps its cross-fitted levels: the trees of the folds are
    pruned in the same way, by the same `Repruning`.

    - `rule`, `nodes`, `n_leaves`, `ccp_alpha`: as for `TreeClassifier.prune`.
    - `criterion`: the impurity of cost-complexity pruning.
    - `confidence_factor`: of pessimistic pruning.
    - `held_out`: for reduced-error pruning.
    - `of_tree`: the tree that the nodes are of.
    - `costs`: if errors have different costs, what decisions cost. Reduced-error pruning then
      compares costs; pessimistic pruning, which counts errors, is refused.
    """

    rule: str | None = None
    nodes: Any = None
    n_leaves: int | None = None
    ccp_alpha: float | None = None
    criterion: str = "gain_ratio"
    confidence_factor: float = 0.25
    held_out: TrainingRows | None = None
    of_tree: Tree | None = None
    costs: CostRule | None = None

    def __post_init__(self) -> None:
        ways = [way for way in (self.rule, self.nodes, self.n_leaves) if way is not None]
        alpha = self.ccp_alpha
        if len(ways) != 1:
            example = "n_leaves=8" if alpha is None else f"'cost_complexity', ccp_alpha={alpha}"
            raise InvalidArgumentError(
                "prune needs exactly one of rule, nodes and n_leaves; got "
                f"{len(ways)}. For example prune({example})."
            )
        if self.n_leaves is not None:
            check_number("n_leaves", self.n_leaves, low=1, whole=True)
        if alpha is not None:
            check_number("ccp_alpha", alpha, low=0)
            if self.rule != "cost_complexity":
                raise InvalidArgumentError(
                    "ccp_alpha is only for rule='cost_complexity'; got another way to prune. Leave "
                    "one of them out."
                )
        if self.rule == "pessimistic" and self.costs is not None:
            raise InvalidArgumentError(
                "rule must be 'reduced_error' or 'cost_complexity' where errors have different "
                "costs; got 'pessimistic', which counts errors. reduced_error compares costs on "
                "held-out rows; n_leaves= and nodes= can be used, too."
            )

    def __call__(self, tree: Tree, rows: TrainingRows | None = None) -> Tree:
        """Prune a tree; pessimistic pruning needs the rows that its counts are of."""
        if self.n_leaves is not None:
            path = cost_complexity_path(tree, self.criterion)
            alpha = path.alphas[np.argmax(path.n_leaves <= self.n_leaves)]
            return tree if tree.n_leaves <= self.n_leaves else self._cut_links(tree, float(alpha))
        if self.nodes is not None:
            return cut(tree, _chosen_nodes(tree, self.nodes))
        if self.rule == "pessimistic":
            if rows is None:
                raise InvalidArgumentError(
                    "rule='pessimistic' needs the training rows, and the model no longer holds "
                    "them. Give X and y."
                )
            return prune_pessimistic(tree, rows, confidence_factor=self.confidence_factor)
        if self.rule == "cost_complexity":
            if self.ccp_alpha is None:
                raise InvalidArgumentError(
                    "rule='cost_complexity' needs ccp_alpha; cost_complexity_path() lists those "
                    "that change the tree."
                )
            return self._cut_links(tree, self.ccp_alpha)
        if self.rule == "reduced_error":
            if self.held_out is None:
                raise InvalidArgumentError(
                    "rule='reduced_error' needs X and y of rows that were not used to grow the "
                    "tree."
                )
            return prune_reduced_error(tree, self.held_out, self.costs)
        raise InvalidArgumentError(
            "rule must be 'pessimistic', 'cost_complexity' or 'reduced_error'; got "
            f"{self.rule!r}. Pruning by utility is done when a tree is fitted: "
            "TreeClassifier(pruning='utility')."
        )

    def _cut_links(self, tree: Tree, alpha: float) -> Tree:
        """Cut every subtree that reduces the impurity by no more than this penalty per leaf."""
        return cut(tree, cost_complexity_alphas(tree, self.criterion) <= alpha)

    def of_fold_tree(self, tree: Tree, rows: TrainingRows) -> Tree:
        """Prune the tree of a fold as the tree of all rows was pruned.

        Nodes that were chosen by hand have no counterpart in another tree. There, a node becomes
        a leaf if at least four of five of its rows lie in one of the chosen nodes.
        """
        if self.nodes is None or self.of_tree is None:
            return self(tree, rows)
        region_of_node = _highest_marked(self.of_tree, _chosen_nodes(self.of_tree, self.nodes))
        outside = self.of_tree.n_nodes
        region_of_row = region_of_node[route(self.of_tree, rows.table).heaviest()]
        codes = np.where(region_of_row < 0, outside, region_of_row)
        regions, index = np.unique(np.append(codes, outside), return_inverse=True)
        labels: NDArray[np.int32] = index[:-1].astype(np.int32)
        counts = count_nodes(tree, rows.with_labels(labels, len(regions)))
        inside = counts[:, :-1].max(axis=1, initial=0.0)  # the last column is outside
        return cut(tree, (inside > 0) & (inside >= _MOSTLY * counts.sum(axis=1)))


_MOSTLY = 0.8


def _highest_marked(tree: Tree, marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each node the highest marked node on its path from the root; -1 if none is."""
    highest = np.where(marks, np.arange(tree.n_nodes), -1)
    for node in range(1, tree.n_nodes):  # a parent's number is below its child's
        above = highest[tree.parent[node]]
        if above >= 0:
            highest[node] = above
    return highest


def _chosen_nodes(tree: Tree, nodes: Any) -> NDArray[np.bool_]:
    try:
        chosen = np.atleast_1d(np.asarray(nodes))
    except ValueError:  # lists of different lengths
        chosen = np.empty(1, dtype=object)
    if not chosen.size:
        chosen = np.empty(0, dtype=np.intp)
    if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= tree.n_nodes)):
        raise InvalidArgumentError(
            f"nodes must be node numbers from 0 to {tree.n_nodes - 1}; got {nodes!r}."
        )
    marks = np.zeros(tree.n_nodes, dtype=bool)
    marks[chosen] = True
    marks &= ~tree.is_leaf
    if not marks.any():
        inner = np.flatnonzero(~tree.is_leaf)
        known = ", ".join(map(str, inner[:8].tolist())) + (", ..." if len(inner) > 8 else "")
        advice = (
            f"Nodes with branches are {known}; name the parent of leaves to merge them."
            if len(inner)
            else "The tree is a single leaf."
        )
        warn_caller(
            f"prune(nodes={nodes!r}) cuts nothing: these nodes have no branches. {advice}",
            UserWarning,
        )
    return marks

"""Pruning a finished tree on request, by exactly one of several ways.

A tree that was pruned on request keeps its cross-fitted levels: the trees of the folds are pruned
in the same way, by the same `Repruning`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import check_number
from sureleaf.errors import InvalidArgumentError, warn_caller
from sureleaf.levels.decisions import CostRule
from sureleaf.tree import (
    TrainingRows,
    Tree,
    count_nodes,
    cut,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
    prune_to_size,
    route,
)

__all__ = ["Repruning"]


@dataclass(frozen=True, eq=False)
class Repruning:
    """One of: a rule, chosen nodes, a number of leaves.

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
        _check_choice(self.rule, self.nodes, self.n_leaves, self.ccp_alpha)
        if self.rule == "pessimistic" and self.costs is not None:
            raise InvalidArgumentError(
                "rule must be 'reduced_error' or 'cost_complexity' where errors have different "
                "costs; got 'pessimistic', which counts errors. reduced_error compares costs on "
                "held-out rows; n_leaves= and nodes= can be used, too."
            )

    def __call__(self, tree: Tree, rows: TrainingRows | None = None) -> Tree:
        """Prune a tree; pessimistic pruning needs the rows that its counts are of."""
        if self.n_leaves is not None:
            return prune_to_size(tree, self.criterion, self.n_leaves)
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
            return prune_cost_complexity(tree, self.criterion, self.ccp_alpha)
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


def _check_choice(rule: str | None, nodes: Any, n_leaves: Any, ccp_alpha: Any) -> None:
    ways = [way for way in (rule, nodes, n_leaves) if way is not None]
    if len(ways) != 1:
        example = "n_leaves=8" if ccp_alpha is None else f"'cost_complexity', ccp_alpha={ccp_alpha}"
        raise InvalidArgumentError(
            "prune needs exactly one of rule, nodes and n_leaves; got "
            f"{len(ways)}. For example prune({example})."
        )
    if n_leaves is not None:
        check_number("n_leaves", n_leaves, low=1, whole=True)
    if ccp_alpha is not None:
        check_number("ccp_alpha", ccp_alpha, low=0)
        if rule != "cost_complexity":
            raise InvalidArgumentError(
                "ccp_alpha is only for rule='cost_complexity'; got another way to prune. Leave one "
                "of them out."
            )


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

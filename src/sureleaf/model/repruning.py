"""Pruning a finished tree on request, by exactly one of several ways."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import check_number
from sureleaf.errors import InvalidArgumentError
from sureleaf.tree import (
    TrainingRows,
    Tree,
    cut,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
    prune_to_size,
)

__all__ = ["prune_again"]


def prune_again(
    tree: Tree,
    *,
    rule: str | None,
    nodes: Any,
    n_leaves: int | None,
    ccp_alpha: float | None,
    rows: TrainingRows | None,
    held_out: TrainingRows | None,
    criterion: str,
    confidence_factor: float,
) -> Tree:
    """Cut a finished tree by one of: a rule, chosen nodes, a number of leaves.

    Parameters
    ----------
    tree : Tree
        The tree.
    rule, nodes, n_leaves, ccp_alpha
        As for `TreeClassifier.prune`.
    rows : TrainingRows or None
        For pessimistic pruning.
    held_out : TrainingRows or None
        For reduced-error pruning.
    criterion : str
        The impurity of cost-complexity pruning.
    confidence_factor : float
        Of pessimistic pruning.
    """
    _check_choice(rule, nodes, n_leaves, ccp_alpha)
    if n_leaves is not None:
        return prune_to_size(tree, criterion, n_leaves)
    if nodes is not None:
        return cut(tree, _chosen_nodes(tree, nodes))
    if rule == "pessimistic":
        if rows is None:
            raise InvalidArgumentError(
                "rule='pessimistic' needs the training rows, and the model no longer holds them. "
                "Give X and y."
            )
        return prune_pessimistic(tree, rows, confidence_factor=confidence_factor)
    if rule == "cost_complexity":
        if ccp_alpha is None:
            raise InvalidArgumentError(
                "rule='cost_complexity' needs ccp_alpha; cost_complexity_path() lists those that "
                "change the tree."
            )
        return prune_cost_complexity(tree, criterion, ccp_alpha)
    if rule == "reduced_error":
        if held_out is None:
            raise InvalidArgumentError(
                "rule='reduced_error' needs X and y of rows that were not used to grow the tree."
            )
        return prune_reduced_error(tree, held_out)
    raise InvalidArgumentError(
        f"rule must be 'pessimistic', 'cost_complexity' or 'reduced_error'; got {rule!r}. "
        "Pruning by utility is done when a tree is fitted: TreeClassifier(pruning='utility')."
    )


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
        chosen = np.empty(0, dtype=object)
    if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= tree.n_nodes)):
        raise InvalidArgumentError(
            f"nodes must be node numbers from 0 to {tree.n_nodes - 1}; got {nodes!r}."
        )
    marks = np.zeros(tree.n_nodes, dtype=bool)
    marks[chosen] = True
    return marks

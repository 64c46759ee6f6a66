"""From rows to a pruned tree: grow, collapse, prune, and choosing how much to prune."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators.folds import fold_numbers, hold_out
from sureleaf.tree import (
    GrowthRules,
    TrainingRows,
    Tree,
    collapse,
    cost_complexity_path,
    count_nodes,
    cut,
    grow,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
    prune_to_size,
)
from sureleaf.tree.pruning import cost_complexity_alphas

__all__ = ["Recipe", "build", "prune_again"]


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the tree, besides the rows.

    Examples
    --------
    >>> c45 = Recipe(
    ...     GrowthRules(), collapse=True, pruning="pessimistic", confidence_factor=0.25,
    ...     ccp_alpha=0.0, cv=10, seed=0, n_threads=1, keep_order=False)
    >>> c45.rules.criterion
    'gain_ratio'
    """

    rules: GrowthRules
    collapse: bool
    pruning: str | None
    confidence_factor: float
    ccp_alpha: float
    cv: Any
    seed: int
    n_threads: int
    keep_order: bool


def build(rows: TrainingRows, recipe: Recipe, *, groups: NDArray[Any] | None = None) -> Tree:
    """Grow and prune a tree.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> rows = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> recipe = Recipe(GrowthRules(), True, None, 0.25, 0.0, 10, 0, 1, False)
    >>> build(rows, recipe)
    Tree of 3 nodes, 2 leaves, depth 1
    """
    if recipe.pruning == "reduced_error":
        return _build_by_reduced_error(rows, recipe, groups)
    chooses_alpha = recipe.pruning == "cost_complexity" and recipe.ccp_alpha == 0
    tree = _grow(rows, replace(recipe, keep_order=recipe.keep_order or chooses_alpha))
    if recipe.pruning == "pessimistic":
        return prune_pessimistic(tree, rows, confidence_factor=recipe.confidence_factor)
    if recipe.pruning == "cost_complexity":
        alpha = _one_standard_error(tree, rows, recipe, groups) if chooses_alpha else None
        return prune_cost_complexity(
            tree, recipe.rules.criterion, recipe.ccp_alpha if alpha is None else alpha
        )
    return tree


def _grow(rows: TrainingRows, recipe: Recipe) -> Tree:
    tree = grow(rows, recipe.rules, n_threads=recipe.n_threads, keep_order=recipe.keep_order)
    return collapse(tree) if recipe.collapse else tree


def _build_by_reduced_error(
    rows: TrainingRows, recipe: Recipe, groups: NDArray[Any] | None
) -> Tree:
    """Grow on two thirds, prune on the others, then count all rows in what is left."""
    if len(rows.labels) < 2:
        return _grow(rows, recipe)
    is_held_out = hold_out(rows, seed=recipe.seed, groups=groups)
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    tree = _grow(rows.with_weights(np.where(is_held_out, 0.0, weights)), recipe)
    pruned = prune_reduced_error(tree, rows.with_weights(np.where(is_held_out, weights, 0.0)))
    return replace(pruned, class_counts=count_nodes(pruned, rows))


def _one_standard_error(
    tree: Tree, rows: TrainingRows, recipe: Recipe, groups: NDArray[Any] | None
) -> float:
    """Find the largest penalty whose cross-validated error is within a standard error of the least.

    As in CART: the candidates are the geometric means of neighbouring penalties of the whole
    tree's path, each fold's tree is cut by them, and the errors of all rows together give the
    rate and its binomial standard error.
    """
    criterion = recipe.rules.criterion
    alphas = cost_complexity_path(tree, criterion).alphas
    candidates = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
    fold_of = fold_numbers(rows, recipe.cv, seed=recipe.seed, groups=groups)
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    errors = np.zeros(len(candidates))
    tested = 0.0
    for fold in np.unique(fold_of[fold_of >= 0]):
        is_test = fold_of == fold
        train = rows.with_weights(np.where(is_test, 0.0, weights))
        test = rows.with_weights(np.where(is_test, weights, 0.0))
        if not train.total_weight:
            continue
        grown = _grow(train, recipe)
        errors += _errors_along(grown, test, criterion, candidates)
        tested += float(weights[is_test].sum())
    if tested == 0:
        return 0.0
    rates = errors / tested
    spread = np.sqrt(rates * (1.0 - rates) / tested)
    best = int(rates.argmin())
    within = np.flatnonzero(rates <= rates[best] + spread[best])
    return float(candidates[within[-1]])


def _errors_along(
    tree: Tree, test: TrainingRows, criterion: str, candidates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Errors on test rows of the tree cut at each penalty, by one count of all its nodes."""
    counts = count_nodes(tree, test)
    predicted = tree.counts_or_parent.argmax(axis=1)
    errors = counts.sum(axis=1) - counts[np.arange(tree.n_nodes), predicted]
    alphas = np.maximum(cost_complexity_alphas(tree, criterion), 0.0)
    begins = np.searchsorted(candidates, np.where(tree.is_leaf, 0.0, alphas))
    ends = np.full(tree.n_nodes, len(candidates))
    ends[1:] = np.searchsorted(candidates, alphas[tree.parent[1:]])
    begun = np.bincount(begins, errors, len(candidates) + 1)
    ended = np.bincount(ends, errors, len(candidates) + 1)
    total: NDArray[np.float64] = np.cumsum(begun - ended, dtype=np.float64)[:-1]
    return total


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
    """Cut a finished tree by exactly one of the ways.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model.prune(nodes=[0]).tree_
    Tree of 1 node, 1 leaf, depth 0
    """
    ways = [way for way in (rule, nodes, n_leaves) if way is not None]
    if len(ways) != 1:
        raise InvalidArgumentError(
            "prune needs exactly one of rule, nodes and n_leaves; got "
            f"{len(ways)}. For example prune(n_leaves=8)."
        )
    if n_leaves is not None:
        return prune_to_size(tree, criterion, n_leaves)
    if nodes is not None:
        return cut(tree, _marks(tree, nodes))
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
        f"rule must be 'pessimistic', 'cost_complexity' or 'reduced_error'; got {rule!r}."
    )


def _marks(tree: Tree, nodes: Any) -> NDArray[np.bool_]:
    chosen = np.atleast_1d(np.asarray(nodes))
    if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= tree.n_nodes)):
        raise InvalidArgumentError(
            f"nodes must be node numbers from 0 to {tree.n_nodes - 1}; got {nodes!r}."
        )
    marks = np.zeros(tree.n_nodes, dtype=bool)
    marks[chosen] = True
    return marks

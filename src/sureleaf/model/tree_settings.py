"""From rows to a pruned tree: grow, collapse, prune, and choosing how much to prune."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import check_number
from sureleaf.errors import InvalidArgumentError
from sureleaf.model.folds import fold_numbers, hold_out
from sureleaf.tree import (
    GrowthRules,
    TrainingRows,
    Tree,
    collapse,
    count_nodes,
    cut,
    grow,
    prune_cost_complexity,
    prune_pessimistic,
    prune_reduced_error,
    prune_to_size,
)
from sureleaf.tree.pruning import cost_complexity_alphas, utility_alphas

__all__ = ["TreeSettings", "build", "build_resolved", "prune_again", "trees_at_once"]


# Below this many cells a tree in flight is so small that there may be one a thread; above, two
# at a time, with more threads each, keep the memory within half the encoded table.
_SMALL_TABLE = 1_000_000

NodeAlphas = Callable[[Tree], NDArray[np.float64]]
"""From a tree to the penalty a leaf at which each inner node is cut."""


@dataclass(frozen=True)
class TreeSettings:
    """Everything that decides the tree, besides the rows.

    Examples
    --------
    >>> c45 = TreeSettings(
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
    utility_gain: float | None = None
    """For pruning by utility: what a leaf must add; None to choose it by cross-validation."""

    @property
    def draws(self) -> bool:
        """Whether rows are dealt out, to be held out or to folds, before the tree is finished."""
        chosen = self.utility_gain if self.pruning == "utility" else self.ccp_alpha or None
        by_folds = self.pruning in ("cost_complexity", "utility") and chosen is None
        return self.pruning == "reduced_error" or by_folds


def trees_at_once(rows: TrainingRows, n_threads: int) -> int:
    """How many trees to grow at the same time on so many threads.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> rows = TrainingRows(read_table([[1.0], [2.0]]), np.array([0, 1], dtype=np.int32), 2)
    >>> trees_at_once(rows, 4)
    4
    """
    is_small = len(rows.labels) * max(1, len(rows.table.columns)) < _SMALL_TABLE
    return n_threads if is_small else min(2, n_threads)


def build(rows: TrainingRows, recipe: TreeSettings, *, groups: NDArray[Any] | None = None) -> Tree:
    """Grow and prune a tree.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> rows = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> recipe = TreeSettings(GrowthRules(), True, None, 0.25, 0.0, 10, 0, 1, False)
    >>> build(rows, recipe)
    Tree of 3 nodes, 2 leaves, depth 1
    """
    return build_resolved(rows, recipe, groups=groups)[0]


def build_resolved(
    rows: TrainingRows, recipe: TreeSettings, *, groups: NDArray[Any] | None = None
) -> tuple[Tree, TreeSettings]:
    """Grow and prune a tree, and give the recipe with what was chosen by cross-validation.

    Trees of folds are built by the settled recipe, so that each costs one tree.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0]])
    >>> rows = TrainingRows(table, np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> recipe = TreeSettings(GrowthRules(), True, None, 0.25, 0.0, 10, 0, 1, False)
    >>> build_resolved(rows, recipe)[1] == recipe
    True
    """
    if recipe.pruning == "reduced_error":
        return _build_by_reduced_error(rows, recipe, groups), recipe
    alphas = _alphas(recipe)
    chosen = recipe.utility_gain if recipe.pruning == "utility" else recipe.ccp_alpha or None
    chooses = alphas is not None and chosen is None
    tree = _grow(rows, replace(recipe, keep_order=recipe.keep_order or chooses))
    if recipe.pruning == "pessimistic":
        return prune_pessimistic(tree, rows, confidence_factor=recipe.confidence_factor), recipe
    if alphas is None:
        return tree, recipe
    if chosen is None:
        # A choice of 0 must not read as "choose" again; no penalty lies between 0 and tiny.
        chosen = max(_one_standard_error(tree, rows, recipe, groups, alphas), _TINY)
        by_utility = recipe.pruning == "utility"
        recipe = (
            replace(recipe, utility_gain=chosen)
            if by_utility
            else replace(recipe, ccp_alpha=chosen)
        )
    return cut(tree, alphas(tree) <= chosen), recipe


_TINY = float(np.finfo(float).tiny)
_SPREADS = {"cost_complexity": 1.0, "utility": 0.5}
"""Standard errors of the least error that a smaller tree may add. CART's is one; errors of nested
trees on the same rows rise and fall together, so half of it tells them apart, too."""


def _alphas(recipe: TreeSettings) -> NodeAlphas | None:
    """Find the weakest-link penalties that a rule goes by, if it is one of that kind."""
    if recipe.pruning == "cost_complexity":
        return lambda tree: cost_complexity_alphas(tree, recipe.rules.criterion)
    if recipe.pruning == "utility":
        return utility_alphas
    return None


def _grow(rows: TrainingRows, recipe: TreeSettings) -> Tree:
    tree = grow(rows, recipe.rules, n_threads=recipe.n_threads, keep_order=recipe.keep_order)
    return collapse(tree) if recipe.collapse else tree


def _build_by_reduced_error(
    rows: TrainingRows, recipe: TreeSettings, groups: NDArray[Any] | None
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
    tree: Tree,
    rows: TrainingRows,
    recipe: TreeSettings,
    groups: NDArray[Any] | None,
    node_alphas: NodeAlphas,
) -> float:
    """Find the largest penalty whose cross-validated error is near the least.

    As in CART: the candidates are the geometric means of neighbouring penalties of the whole
    tree's path, each fold's tree is cut by them, and the errors of all rows together give the
    rate and its binomial standard error, one of which (half of one for utility) is near.
    """
    found = np.maximum(node_alphas(tree)[~tree.is_leaf], 0.0)
    alphas = np.unique(np.concatenate(([0.0], found)))
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
        errors += _errors_along(grown, test, node_alphas(grown), candidates)
        tested += float(weights[is_test].sum())
    if tested == 0:
        return 0.0
    rates = errors / tested
    spread = np.sqrt(rates * (1.0 - rates) / tested)
    best = int(rates.argmin())
    within = np.flatnonzero(rates <= rates[best] + _SPREADS[recipe.pruning or ""] * spread[best])
    return float(candidates[within[-1]])


def _errors_along(
    tree: Tree,
    test: TrainingRows,
    node_alphas: NDArray[np.float64],
    candidates: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Errors on test rows of the tree cut at each penalty, by one count of all its nodes."""
    counts = count_nodes(tree, test)
    predicted = tree.counts_or_parent.argmax(axis=1)
    errors = counts.sum(axis=1) - counts[np.arange(tree.n_nodes), predicted]
    alphas = np.maximum(node_alphas, 0.0)
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
    _check_way(rule, nodes, n_leaves, ccp_alpha)
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
        f"rule must be 'pessimistic', 'cost_complexity' or 'reduced_error'; got {rule!r}. "
        "Pruning by utility is done when a tree is fitted: TreeClassifier(pruning='utility')."
    )


def _check_way(rule: str | None, nodes: Any, n_leaves: Any, ccp_alpha: Any) -> None:
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
                "ccp_alpha is for rule='cost_complexity' alone; got another way to prune. Leave "
                "one of them out."
            )


def _marks(tree: Tree, nodes: Any) -> NDArray[np.bool_]:
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

"""The strongest rival of the root: the best split of another column, and what it would change.

The tree that starts with the rival has the rival's test at its root; below, it is grown and pruned
as the tree itself. Trees are grown without a fold and predict it. All rows have chosen the rival's
test, which favours it over fold trees that choose their root without the fold. So the root of the
tree is kept in the folds, too, where the time allows it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from sureleaf.levels.decisions import predicted_class
from sureleaf.model.fitting import TreeSettings, build
from sureleaf.model.stability import Rival
from sureleaf.model.tree_model import TreeModel
from sureleaf.table import EncodedTable, Schema
from sureleaf.table.encoded_table import DistantColumns, take_rows
from sureleaf.tree import TrainingRows, Tree, cut, grow, mixture, route
from sureleaf.tree.rules import branch_tests

__all__ = ["best_other_split", "correct_from_root", "one_column", "root_rival"]

_MOST_ROWS = 20_000
"""The rival's split is looked for among so many rows at most."""

_MOST_GROWING_ROWS = 100_000
"""Of larger tables, a sample of so many rows grows the trees that are compared."""

_VARIANCE = 3.0
"""Variance of the difference around its estimate, as a multiple of the paired binomial variance:
one part is the sample's, one is that the tree differs from its fold trees, one that the tree that
starts with the rival differs from its own. As `_TREE_VARIANCE` of cross-fitting, for two trees."""


def root_rival(
    model: TreeModel,
    rows: TrainingRows,
    settings: TreeSettings,
    fold_of: NDArray[np.int64],
    correct: NDArray[np.float64],
    *,
    n_folds: int,
    keeps_root: bool = True,
    level: float = 0.95,
) -> Rival | None:
    """Return the strongest rival of the root and the difference in out-of-fold accuracy.

    Parameters
    ----------
    model : TreeModel
        Fitted on these rows.
    rows, settings
        As for `cross_fit`.
    fold_of : ndarray of int, shape (n_rows,)
        The folds of a round.
    correct : ndarray of float64, shape (n_rows,)
        Whether the fold trees of that round predict each row correctly.
    n_folds : int
        In how many folds to compare.
    keeps_root : bool
        Whether the trees that the rival is compared with have the root of the tree, which costs as
        many trees again; if not, they are the fold trees of `correct`.
    level : float
        Of the interval.

    Returns
    -------
    Rival or None
        None if the tree has no split, or no other column has one.
    """
    tree = model.tree
    if tree.n_nodes == 1 or len(rows.table.columns) < 2:
        return None
    rival_split = best_other_split(rows, settings, int(tree.feature[0]))
    if rival_split is None:
        return None
    column, stump = rival_split
    part = one_column(rows.table, column)
    branch = route(stump, part).heaviest()
    growing = _weights(rows)
    if len(growing) > _MOST_GROWING_ROWS:
        growing, keeps_root = growing * _is_sampled(len(growing)), True
    own_branch = route(cut(tree, tree.node_depth > 0), rows.table).heaviest()
    folds = np.unique(fold_of[fold_of >= 0])[:n_folds].tolist()
    differences, weights = [], _weights(rows)
    for fold in folds:
        tested = (fold_of == fold) & (weights > 0)
        if not tested.any() or tested.all():
            continue
        own = correct[tested]
        if keeps_root:
            own = correct_from_root(rows, settings, growing, tested, own_branch)
        gain = correct_from_root(rows, settings, growing, tested, branch) - own
        differences.append((float(weights[tested] @ gain), float(weights[tested].sum()), gain))
    if not differences:
        return None
    low, high, mean = _interval(differences, level)
    test = branch_tests(stump, 0, model.schema.columns[column])[0]
    return Rival(column, test, mean, low, high)


def _is_sampled(n_rows: int) -> NDArray[np.bool_]:
    is_sampled = np.zeros(n_rows, dtype=np.bool_)
    is_sampled[np.random.default_rng(0).choice(n_rows, _MOST_GROWING_ROWS, replace=False)] = True
    return is_sampled


def _interval(
    differences: Sequence[tuple[float, float, NDArray[np.float64]]], level: float
) -> tuple[float, float, float]:
    """Return limits and mean of the difference per row, by the paired rows of all folds."""
    total = sum(each[1] for each in differences)
    mean = sum(each[0] for each in differences) / total
    pooled = np.concatenate([each[2] for each in differences])
    n = len(pooled)
    # One row is added to each side, as for Wald's interval of paired proportions (Agresti and Min).
    changed = float((pooled**2).sum()) + 1.0
    variance = _VARIANCE * max(changed / (n + 2) - mean**2, 0.0) / (n + 2)
    width = float(student.ppf((1 + level) / 2, max(n - 1, 1))) * float(np.sqrt(variance))
    return mean - width, mean + width, mean


def correct_from_root(
    rows: TrainingRows,
    settings: TreeSettings,
    weights: NDArray[np.float64],
    tested: NDArray[np.bool_],
    branch: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Whether a tree that starts with these branches predicts the tested rows correctly."""
    index = np.flatnonzero(tested)
    correct = np.zeros(len(index))
    train = np.where(tested, 0.0, weights)
    total, branches = train.sum(), np.unique(branch)
    for one in np.unique(branch[index]).tolist():
        own = branch[index] == one
        below = _rows_below(rows, train, branch == one, copied=len(branches) > _FEW_BRANCHES)
        if not below.total_weight:
            continue
        share = below.total_weight / total
        subtree = build(below, _of_branch(settings, share))
        probabilities = settings.leaf_estimate(subtree, subtree.class_counts)
        values = mixture(subtree, take_rows(rows.table, index[own]), probabilities)
        decided = predicted_class(values, settings.rule)
        correct[own] = decided == rows.labels[index[own]]
    return correct


_FEW_BRANCHES = 8
"""With more, the rows of a branch are copied: trees of all rows, most of weight 0, take longer."""


def _rows_below(
    rows: TrainingRows, weights: NDArray[np.float64], is_below: NDArray[np.bool_], *, copied: bool
) -> TrainingRows:
    """Return the rows of a branch that have a weight."""
    if not copied or isinstance(rows.table.columns, DistantColumns):
        return rows.with_weights(np.where(is_below, weights, 0.0))
    index = np.flatnonzero(is_below & (weights > 0))
    return TrainingRows(
        take_rows(rows.table, index), rows.labels[index], rows.n_classes, weights[index]
    )


def _of_branch(settings: TreeSettings, share: float) -> TreeSettings:
    """Penalties are per row of the tree, so those of a subtree are larger."""
    if settings.pruning == "auto" and settings.penalty is not None:
        return replace(settings, penalty=settings.penalty / share, reprunings=())
    if settings.pruning == "cost_complexity":
        return replace(settings, ccp_alpha=settings.ccp_alpha / share, reprunings=())
    return settings


def best_other_split(
    rows: TrainingRows, settings: TreeSettings, root: int
) -> tuple[int, Tree] | None:
    """Return the column with the best split besides the root's, and that split as a tree."""
    index = np.arange(len(rows.labels))
    if len(index) > _MOST_ROWS:
        index = np.sort(np.random.default_rng(0).choice(index, _MOST_ROWS, replace=False))
    others = [column for column in range(len(rows.table.columns)) if column != root]
    table = take_rows(rows.table, index)
    part = EncodedTable(
        Schema(tuple(table.schema.columns[k] for k in others), True),
        tuple(table.columns[k] for k in others),
        table.n_rows,
    )
    own = None if rows.weights is None else rows.weights[index]
    rules = replace(settings.rules, max_depth=1, max_leaves=None, max_features=None, monotone=None)
    once = grow(TrainingRows(part, rows.labels[index], rows.n_classes, own), rules)
    if once.n_nodes == 1:
        return None
    column = others[int(once.feature[0])]
    single = TrainingRows(one_column(table, column), rows.labels[index], rows.n_classes, own)
    return column, grow(single, rules)


def one_column(table: EncodedTable, column: int) -> EncodedTable:
    """Return the table of one column alone."""
    schema = Schema((table.schema.columns[column],), True)
    return EncodedTable(schema, (table.columns[column],), table.n_rows)


def _weights(rows: TrainingRows) -> NDArray[np.float64]:
    return np.ones(len(rows.labels)) if rows.weights is None else rows.weights

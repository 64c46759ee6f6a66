"""Trees grown without a fold, pruned as the tree of all rows is pruned.

A penalty that the fit chose by cross-validation is chosen again for each fold, from the other
folds: a penalty that has seen the rows states an accuracy that is too high. In a small table, the
trees that choose have not seen the rows, either: see `_sums_of_pairs`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.model.fitting import (
    PenaltyRule,
    TreeSettings,
    build,
    grow_unpruned,
    merge_if_wanted,
    penalty_rule,
)
from sureleaf.model.size_selection import N_FOLDS
from sureleaf.progress import track
from sureleaf.tree import TrainingRows, Tree, cut, thread_map


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Rows and the folds that test them.

    Parameters
    ----------
    rows : TrainingRows
        The rows; what is encoded and sorted is shared by all trees.
    fold_of : ndarray of int64, shape (n_rows,)
        The fold that tests each row, -1 for none.
    """

    rows: TrainingRows
    fold_of: NDArray[np.int64]

    @property
    def weights(self) -> FloatArray:
        """The weight of each row."""
        return self.rows.row_weights

    def every_fold(self) -> list[int]:
        """Return the folds that test rows."""
        folds: list[int] = np.unique(self.fold_of[self.tested()]).tolist()
        return folds

    def tested(self, folds: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Whether a row is tested by one of these folds, or by any."""
        in_fold = self.fold_of >= 0 if folds is None else np.isin(self.fold_of, folds)
        return in_fold & (self.weights > 0)

    def without(self, folds: Sequence[int]) -> TrainingRows:
        """Return the rows with weight 0 in these folds."""
        return self.rows.with_weights(np.where(np.isin(self.fold_of, folds), 0.0, self.weights))

    def within(self, folds: Sequence[int]) -> TrainingRows:
        """Return the rows with weight 0 outside these folds."""
        return self.rows.with_weights(np.where(np.isin(self.fold_of, folds), self.weights, 0.0))


def fold_trees(
    parts: FoldRows,
    folds: Sequence[int],
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> dict[int, Tree]:
    """Grow a tree without each of these folds.

    There is one tree per fold. A penalty that is chosen again in a small table costs up to ten
    trees more.

    Parameters
    ----------
    parts : FoldRows
        The rows that the model was fitted on, in folds.
    folds : sequence of int
        The folds.
    settings : TreeSettings
        Those that the fit resolved.
    groups : ndarray of shape (n_rows,), optional
        Rows of a group stay together where a tree is pruned by rows of its own.
    n_threads : int
        Threads; the result does not depend on it.

    Returns
    -------
    dict
        The trees by fold; folds without which no rows are left have none.
    """
    # Trees grow side by side; only cores that are left over share the work on one tree.
    own_threads = max(1, n_threads // max(1, len(folds)))
    settings = replace(settings, n_threads=own_threads, keep_order=True)
    parts.rows.sort(n_threads)
    n_at_once = 1 if len(parts.fold_of) <= _FEW_ROWS else n_threads
    grow_without = partial(_grow_without, parts, settings, groups)
    with thread_map(n_at_once) as run:
        work = run(grow_without, [[fold] for fold in folds])
        grown = list(track(work, total=len(folds), what="Cross-fitting"))
    trees = {fold: tree for fold, tree in zip(folds, grown, strict=True) if tree is not None}
    if settings.penalties is not None:
        trees = _cut_by_nested_choice(parts, trees, settings, settings.penalties)
    for repruning in settings.reprunings:
        trees = {
            fold: repruning.of_fold_tree(tree, parts.without([fold]))
            for fold, tree in trees.items()
        }
    return trees


_FEW_ROWS = 2000
"""Handing a tree of at most so many rows to another thread takes longer than growing it."""


def _grow_without(
    parts: FoldRows, settings: TreeSettings, groups: NDArray[Any] | None, folds: Sequence[int]
) -> Tree | None:
    """Grow a tree without these folds, pruned unless a penalty will be chosen for it."""
    train = parts.without(folds)
    if not train.total_weight:
        return None
    if settings.penalties is None:
        return build(train, settings, groups=groups)
    return grow_unpruned(train, settings)


def _cut_by_nested_choice(
    parts: FoldRows, trees: dict[int, Tree], settings: TreeSettings, penalties: FloatArray
) -> dict[int, Tree]:
    """Cut each tree by the penalty that is best for other trees on other folds."""
    rule = penalty_rule(settings)
    assert rule is not None, "only a pruning by penalties has penalties"
    folds = list(trees)
    if np.count_nonzero(parts.weights) <= _MOST_ROWS_OF_PAIRS and len(folds) > 2:
        sums = _sums_of_pairs(parts, folds, settings, rule, penalties)
    else:
        own = {
            fold: rule.fold_sums(tree, [parts.within([fold])], penalties)[0]
            for fold, tree in trees.items()
        }
        sums = {fold: [own[other] for other in folds if other != fold] for fold in folds}
    chosen = {}
    for fold, tree in trees.items():
        if sums[fold]:
            penalty = rule.choose(penalties, np.sum(sums[fold], axis=0))
            tree = cut(tree, rule.node_alphas(tree) <= penalty)
        chosen[fold] = merge_if_wanted(tree, settings)
    return chosen


_MOST_ROWS_OF_PAIRS = 1000
"""Tables of at most so many rows choose the penalty of a fold by trees that have not seen it. In
larger tables, what these trees lack in rows matters more than what other trees have seen."""


def _sums_of_pairs(
    parts: FoldRows,
    folds: Sequence[int],
    settings: TreeSettings,
    rule: PenaltyRule,
    penalties: FloatArray,
) -> dict[int, list[FloatArray]]:
    """For each fold, how trees that were grown without it do on other folds.

    The tree of another fold has seen this one, which favours penalties that suit it: if both share
    a pattern by chance, each speaks for the pattern in the other, and in small tables the stated
    accuracy is too high.

    Folds are put together to `N_FOLDS` groups, so that there are few pairs. A tree that is grown
    without two groups serves the choice for either.
    """
    together = [list(folds[start::N_FOLDS]) for start in range(min(N_FOLDS, len(folds)))]
    sums: list[list[FloatArray]] = [[] for _ in together]
    for one, other in combinations(range(len(together)), 2):
        tree = _grow_without(parts, settings, None, together[one] + together[other])
        if tree is not None:
            tests = [parts.within(together[one]), parts.within(together[other])]
            of_one, of_other = rule.fold_sums(tree, tests, penalties)
            sums[one].append(of_other)
            sums[other].append(of_one)
    return {fold: sums[index % N_FOLDS] for index, fold in enumerate(folds)}

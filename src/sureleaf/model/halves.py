"""Trees grown on random halves of the rows, and what of a tree recurs in them."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.levels.decisions import predicted_class
from sureleaf.model.fitting import TreeSettings, build, trees_at_once
from sureleaf.model.stability import Recurrence, recurrence_in, stability_of
from sureleaf.model.tree_model import TreeModel
from sureleaf.progress import track
from sureleaf.random_streams import HALF, shuffled
from sureleaf.table.encoded_table import EncodedTable
from sureleaf.tree import TrainingRows, route, thread_map

_MOST_HALVES = 24
"""Wilson's interval of 24 trees reaches at most 19 points to either side."""

MOST_WATCHED = 1_000_000
"""Trees of larger tables are compared by so many rows: all would need more memory than the fit."""


def with_stability(
    model: TreeModel,
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> TreeModel:
    """Return the model with what of its tree recurs in trees grown on random halves of the rows.

    There are two trees per round of cross-fitting, at most 24: a tenth of the trees of the levels.
    By `settings`, which the fit resolved, the halves are pruned as strongly as the tree itself.
    Rows of one of the `groups` stay in one half.
    """
    n_trees = min(_MOST_HALVES, 2 * model.evidence.n_rounds)
    found = recurrences(model, rows, settings, n_trees, groups=groups, n_threads=n_threads)
    leaf_of = route(model.tree, watched_rows(rows, settings.seed)).heaviest()
    stability = stability_of(model.tree, leaf_of, found)
    return model.with_evidence(replace(model.evidence, stability=stability))


def recurrences(
    model: TreeModel,
    rows: TrainingRows,
    settings: TreeSettings,
    n_trees: int,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> list[Recurrence]:
    """Return what recurs in trees of so many halves; empty if the rows cannot be halved."""
    if not random_half(rows, settings.seed, 0, groups).any():
        return []
    watched = watched_rows(rows, settings.seed)
    leaf_of = route(model.tree, watched).heaviest()
    n_at_once = trees_at_once(*rows.shape, n_threads)
    settings = replace(settings, n_threads=max(1, n_threads // n_at_once), keep_order=True)
    rows.sort(n_threads)

    def recurrence(number: int) -> Recurrence:
        part = rows.with_weights(random_half(rows, settings.seed, number, groups))
        tree = build(part, settings, groups=groups)
        for repruning in settings.reprunings:
            tree = repruning.of_fold_tree(tree, part)
        return recurrence_in(
            model.tree,
            leaf_of,
            model.predicted_classes,
            tree,
            route(tree, watched).heaviest(),
            predicted_class(model.leaf_estimate(tree, tree.class_counts), model.rule),
        )

    with thread_map(n_at_once) as run:
        found = run(recurrence, range(n_trees))
        return list(track(found, total=n_trees, what="Growing on halves"))


def watched_rows(rows: TrainingRows, seed: int) -> EncodedTable:
    """Return the rows by which trees are compared: all, or `MOST_WATCHED` random ones."""
    n_rows = len(rows.labels)
    if n_rows <= MOST_WATCHED:
        return rows.table
    return rows.table[np.sort(shuffled(n_rows, seed, HALF)[:MOST_WATCHED])]


def random_half(
    rows: TrainingRows, seed: int, number: int, groups: NDArray[Any] | None = None
) -> FloatArray:
    """Return the weights of the rows in a random half, 0 for the others.

    It is drawn without regard to classes: in stratified halves, the classes of all trees would
    have the shares of the table, and a majority by chance would recur in all of them.
    """
    index = np.flatnonzero(rows.row_weights > 0)
    unit_of = np.arange(len(index))
    if groups is not None:
        unit_of = np.unique(groups[index], return_inverse=True)[1]
    n_units = int(unit_of.max(initial=-1)) + 1
    is_drawn = np.zeros(n_units, dtype=np.bool_)
    is_drawn[shuffled(n_units, seed, HALF, number)[: n_units // 2]] = True
    half = np.zeros(len(rows.labels))
    half[index] = rows.row_weights[index] * is_drawn[unit_of]
    return half

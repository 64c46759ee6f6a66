"""Ranking of columns: the levels of a tree that splits once, on one column.

References
----------
.. [1] Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats 7(4).
   https://doi.org/10.3390/stats7040071. Example 3.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_one_label_per_row,
    thread_count,
)
from sureleaf.folds import fold_numbers
from sureleaf.levels import class_confidence, class_utility, tree_levels
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.cross_fitting import levels_of_rounds, predict_out_of_fold
from sureleaf.model.fold_trees import FoldRows
from sureleaf.model.leaf_counts import LeafCounts, count_leaves
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import Laplace
from sureleaf.progress import track
from sureleaf.random_streams import draw_seed
from sureleaf.table import EncodedTable, Schema, encode_labels, read_table
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, Tree, grow, thread_map

_ONE_SPLIT = GrowthRules("entropy", "multiway", max_depth=1, min_samples_leaf=1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnRanking(ColumnTable):
    """Columns by what one split on them tells, the best first.

    - `column`: name.
    - `branches`: branches of the split; 1 where no split was possible.
    - `confidence`, `utility`: levels of the one-split tree.
    - `gini`, `gain_ratio`: Gini impurity after the split, and C4.5's gain ratio, on the training
      rows.
    """

    column: NDArray[np.object_]
    branches: NDArray[np.int64]
    confidence: FloatArray
    utility: FloatArray
    gini: FloatArray
    gain_ratio: FloatArray


def rank_columns(
    X: Any,
    y: Any,
    *,
    by: str = "utility",
    levels_from: str = "cross_fit",
    categorical_features: Any = "auto",
    cv: Any = 10,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> ColumnRanking:
    """Rank columns by the levels of a tree that splits once, on the column.

    Parameters
    ----------
    X : table
        As for `TreeClassifier.fit`.
    y : array-like
        Labels.
    by : {"utility", "gini", "gain_ratio"}
        What the columns are sorted by. Utilities of columns that do not change the prediction are
        equal; the impurities distinguish these columns, too, but come from the training rows.
    levels_from : {"cross_fit", "training"}
        Out-of-fold predictions; or equations (10) and (11) with the shares and frequencies of the
        training rows as probabilities, which is too optimistic for columns of many values.
    categorical_features, cv, n_jobs, random_state
        As for `TreeClassifier`.

    Returns
    -------
    ColumnRanking
        The best first, equal ones by gain ratio; prints as a table.

    Examples
    --------
    >>> from sureleaf import rank_columns
    >>> rows = [[i, "ab"[i % 2]] for i in range(20)]
    >>> rank_columns(rows, ["low"] * 10 + ["high"] * 10).column.tolist()
    ['x0', 'x1']
    """
    check_choice("by", by, tuple(_SORTED_BY))
    check_choice("levels_from", levels_from, ("cross_fit", "training"))
    table = read_table(X, categorical_features=categorical_features, estimator="rank_columns")
    labels, classes = encode_labels(y, estimator="rank_columns")
    check_one_label_per_row(table.n_rows, labels)
    seed, n_threads = draw_seed(random_state), thread_count(n_jobs)
    measured = []
    columns_left = track(table.schema.columns, total=len(table.schema), what="Ranking")
    for index, column in enumerate(columns_left):
        part = EncodedTable(
            Schema((column,), True), ArrayColumns((table.columns[index],)), table.n_rows
        )
        rows = TrainingRows(part, labels, len(classes))
        tree = _split_once(rows)
        if levels_from == "training":
            levels = _training_levels(tree)
        else:
            fold_of = fold_numbers(rows.labels, cv, seed=seed)
            levels = _cross_fitted_levels(tree, rows, fold_of, n_threads)
        measured.append((tree.n_leaves, *levels, *_impurities(tree, rows)))
    columns = np.array(measured, dtype=float).T
    line, sign, decimals = _SORTED_BY[by]
    key = np.where(np.isnan(columns[line]), np.inf, sign * columns[line].round(decimals))
    order = np.lexsort((-columns[4], key))
    columns, names = columns[:, order], np.array(table.schema.names, dtype=object)[order]
    return ColumnRanking(names, columns[0].astype(np.int64), *columns[1:])


_SORTED_BY = {"utility": (2, -1.0, 3), "gini": (3, 1.0, 12), "gain_ratio": (4, -1.0, 12)}
"""Where the sort key stands among the numbers of a column, its sign, by which the best comes first,
and the decimals that count. Utilities of columns that do not change the prediction differ by chance
in the fourth decimal; among them the gain ratio decides."""


def _split_once(rows: TrainingRows) -> Tree:
    return grow(rows, _ONE_SPLIT)


def _cross_fitted_levels(
    tree: Tree, rows: TrainingRows, fold_of: NDArray[np.int64], n_threads: int
) -> tuple[float, float]:
    model = TreeModel(
        schema=rows.table.schema,
        classes=np.arange(rows.n_classes),
        tree=tree,
        leaf_counts=LeafCounts.of_tree(tree),
        leaf_estimate=Laplace(),
        evidence=Evidence("cross_fit"),
    )
    parts = FoldRows(rows, fold_of)
    folds = parts.every_fold()
    rows.sort(n_threads)
    with thread_map(n_threads) as run:
        trees = list(run(_split_once, [parts.without([fold]) for fold in folds]))
    out_of_fold = predict_out_of_fold(
        parts, dict(zip(folds, trees, strict=True)), model.leaf_estimate
    )
    return levels_of_rounds(model, rows, [out_of_fold]).levels()


def _training_levels(tree: Tree) -> tuple[float, float]:
    """Equations (10) and (11); with more than two classes, K-class levels of the leaves."""
    counts = tree.class_counts[tree.leaf_ids]
    n = counts.sum(axis=1)
    counts, n = counts[n > 0], n[n > 0]
    shares, vectors = n / n.sum(), counts / n[:, np.newaxis]
    if counts.shape[1] == 2:
        levels = tree_levels(float(n.sum()), shares, vectors.max(axis=1))
        return float(levels.confidence), float(levels.utility)
    sure, useful = class_confidence(n, vectors), class_utility(n, vectors)
    return float(shares @ np.asarray(sure)), float(shares @ np.asarray(useful))


def _impurities(tree: Tree, rows: TrainingRows) -> tuple[float, float]:
    """Gini after the split and gain ratio, over the rows with a value, as C4.5 weighs them."""
    known = ~rows.table.is_missing(0)
    if not known.any():
        return float("nan"), 0.0
    counts = count_leaves(tree, rows.with_weights(known.astype(float))).counts
    n = counts.sum(axis=1)
    within = counts[n > 0] / n[n > 0, np.newaxis]
    shares = n[n > 0] / n.sum()
    gini = float(shares @ (1.0 - (within**2).sum(axis=1)))
    before = _bits(counts.sum(axis=0) / n.sum())
    gain = known.mean() * (before - float(shares @ [_bits(line) for line in within]))
    spread = _bits(np.append(n, len(known) - n.sum()) / len(known))
    return gini, float(gain / spread) if tree.n_leaves > 1 and spread > 0 else 0.0


def _bits(shares: FloatArray) -> float:
    return float(-xlogy(shares, shares).sum() / np.log(2.0)) + 0.0

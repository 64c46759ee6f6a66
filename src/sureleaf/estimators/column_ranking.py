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

from sureleaf.arguments import FloatArray, check_choice, check_one_label_per_row, thread_count
from sureleaf.folds import fold_numbers
from sureleaf.levels.competing_splits import split_text
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.cross_fitting import FoldRows, levels_of_rounds, predict_out_of_fold
from sureleaf.model.leaf_table import kind_of_confidence
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import Laplace
from sureleaf.progress import track
from sureleaf.random_streams import draw_seed
from sureleaf.table import EncodedTable, Schema, encode_labels, read_table
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, Tree, grow, thread_map
from sureleaf.tree.routing import LeafCounts, count_leaves

_ONE_SPLIT = GrowthRules("entropy", "multiway", max_depth=1, min_samples_leaf=1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnRanking(ColumnTable):
    """Columns by what one split on them tells, the best first.

    - `column`: name.
    - `branches`: branches of the split; 1 where no split was possible.
    - `confidence`, `utility`: levels of the one-split tree.
    - `gini`, `gain_ratio`: Gini impurity after the split, and C4.5's gain ratio, on the training
      rows.
    - `levels_from`: where the levels come from.
    - `best_splits`: with two classes, the splits on the two best columns as `sureleaf plan --split`
      takes them, which tells whether to split at other numbers of rows.
    """

    column: NDArray[np.object_]
    branches: NDArray[np.int64]
    confidence: FloatArray
    utility: FloatArray
    gini: FloatArray
    gain_ratio: FloatArray
    levels_from: str = "cross_fit"
    best_splits: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """Say which confidence is printed."""
        return [kind_of_confidence(self.levels_from)]


def rank_columns(
    X: Any,
    y: Any,
    *,
    by: str = "utility",
    levels_from: str = "cross_fit",
    method: str | None = None,
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
        Out-of-fold predictions; or equations (10) and (11) with the shares of the training rows,
        which is too optimistic for columns of many values.
    method : {"mle", "blend", "entropic"}, optional
        The estimate of p_max for ``levels_from="training"``, as for `TreeClassifier.levels`.
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
    measured, splits = [], []
    columns_left = track(table.schema.columns, total=len(table.schema), what="Ranking")
    for index, column in enumerate(columns_left):
        part = EncodedTable(
            Schema((column,), True), ArrayColumns((table.columns[index],)), table.n_rows
        )
        rows = TrainingRows(part, labels, len(classes))
        tree = grow(rows, _ONE_SPLIT)
        model = TreeModel(
            part.schema,
            np.arange(len(classes)),
            tree,
            LeafCounts.of_tree(tree),
            Laplace(),
            evidence=Evidence(levels_from),
        )
        if levels_from == "cross_fit":
            parts = FoldRows(rows, fold_numbers(labels, cv, seed=seed))
            model = _cross_fitted(model, parts, n_threads)
        levels = model.levels(method=method)
        measured.append((tree.n_leaves, *levels, *_impurities(tree, rows)))
        splits.append(_split_in_words(model))
    columns = np.array(measured, dtype=float).T
    line, sign, decimals = _SORTED_BY[by]
    key = np.where(np.isnan(columns[line]), np.inf, sign * columns[line].round(decimals))
    order = np.lexsort((-columns[4], key))
    best = tuple(splits[line] for line in order[:2] if splits[line])
    columns, names = columns[:, order], np.array(table.schema.names, dtype=object)[order]
    branches, sure, useful, gini, gain_ratio = columns
    return ColumnRanking(
        names, branches.astype(np.int64), sure, useful, gini, gain_ratio, levels_from, best
    )


_SORTED_BY = {"utility": (2, -1.0, 3), "gini": (3, 1.0, 12), "gain_ratio": (4, -1.0, 12)}
"""Where the sort key stands among the numbers of a column, its sign, by which the best comes first,
and the decimals that count. Utilities of columns that do not change the prediction differ by chance
in the fourth decimal; among them the gain ratio decides."""


def _cross_fitted(model: TreeModel, parts: FoldRows, n_threads: int) -> TreeModel:
    parts.rows.sort(n_threads)
    folds = parts.every_fold()
    with thread_map(n_threads) as run:
        grown = run(lambda fold: grow(parts.without([fold]), _ONE_SPLIT), folds)
        trees = dict(zip(folds, grown, strict=True))
    out_of_fold = predict_out_of_fold(parts, trees, model.leaf_estimate)
    return levels_of_rounds(model, parts.rows, [out_of_fold])


_SHOWN_BRANCHES = 12


def _split_in_words(model: TreeModel) -> str:
    """Rows and p_max of every branch of a split between two classes; empty for other splits."""
    leaves = model.tree.leaf_ids[model.leaf_counts.n > 0]
    if len(model.classes) != 2 or not 1 < len(leaves) <= _SHOWN_BRANCHES:
        return ""
    p_max = np.maximum(model.node_levels().probability[leaves], 0.5)
    return split_text(model.node_rows[leaves], p_max)


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

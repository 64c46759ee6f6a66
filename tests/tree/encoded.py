"""The oracle's tables as the tree room sees them, and trees grown by the same rules."""

from dataclasses import fields

import numpy as np

from sureleaf.table import Column, EncodedTable, Schema
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.tree import GrowthRules, TrainingRows, Tree, collapse, grow, prune_pessimistic
from tests.naive.splits import Rules
from tests.naive.tree import Table


def training_rows(data: Table, ordered: frozenset[int] = frozenset()) -> TrainingRows:
    """The same rows; numeric columns that are listed become ordered categories 0, 1, 2, ..."""
    columns, arrays = [], []
    for place, (array, n_categories) in enumerate(zip(data.columns, data.categories, strict=True)):
        if place in ordered:
            codes = np.where(np.isnan(array), -1, array).astype(np.int32)
            columns.append(Column(f"x{place}", "ordered", names(codes.max(initial=0) + 1)))
            arrays.append(codes)
        elif n_categories:
            columns.append(Column(f"x{place}", "categorical", names(n_categories)))
            arrays.append(np.ascontiguousarray(array, dtype=np.int32))
        else:
            columns.append(Column(f"x{place}", "numeric"))
            arrays.append(np.ascontiguousarray(array, dtype=np.float64))
    n_rows = len(data.labels)
    table = EncodedTable(Schema(tuple(columns), named=False), ArrayColumns(arrays), n_rows)
    weights = None if np.all(data.weights == 1) else np.asarray(data.weights, float)
    labels = np.ascontiguousarray(data.labels, dtype=np.int32)
    return TrainingRows(table, labels, data.n_classes, weights)


def names(n_categories: int) -> tuple[str, ...]:
    return tuple(f"c{code:04d}" for code in range(n_categories))


def fit(rows: TrainingRows, rules: Rules, n_threads: int = 1) -> Tree:
    """Grow, collapse and prune as the oracle's `fit` does."""
    names = {field.name for field in fields(Rules)} & {field.name for field in fields(GrowthRules)}
    growth = GrowthRules(**{name: getattr(rules, name) for name in names})
    tree = grow(rows, growth, n_threads=n_threads)
    if rules.collapse:
        tree = collapse(tree)
    if rules.pruning == "pessimistic":
        tree = prune_pessimistic(tree, rows, confidence_factor=rules.confidence_factor)
    return tree

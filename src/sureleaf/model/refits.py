"""Trees grown on many parts of one table, which is read and sorted once.

A refit equals, to the last digit, the model of a clone that is fitted on the rows of the part; if
rows are repeated, with the copies of a row as a group.
Categories and classes that the part lacks are unknown to it, and rows are assigned (to folds, or to
be held out) among the rows of the part. One difference is intended: the kind of a column of Python
objects is that of the whole column, so that a part in which the column is empty can still predict
rows in which it is not.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import (
    FloatArray,
    check_weights,
    meaning_of_weights,
    scale_importances,
    thread_count,
)
from sureleaf.levels.decisions import cost_rule
from sureleaf.model.fitting import TreeSettings, fit_family, fit_tree, settings_model, trees_at_once
from sureleaf.model.tree_model import TreeModel
from sureleaf.probability import KeepDecision
from sureleaf.table import EncodedTable
from sureleaf.table.encoded_table import Recoding
from sureleaf.tree import TrainingRows, Tree
from sureleaf.tree.routing import LeafCounts

Rows = NDArray[np.integer[Any]]
Part = tuple[TrainingRows, Recoding, NDArray[Any]]
"""Rows to fit, how codes of the whole table become theirs, and their classes."""
WeighClasses = Callable[[NDArray[Any], NDArray[np.int32]], FloatArray]
# A column of more values is a sorted list in the kernel; the first such list orders parts of rows.
_MANY_VALUES = 255


class HasSettings(Protocol):
    """An estimator whose parameters are settings of a tree."""

    def settings(self) -> TreeSettings:
        """Check the parameters and return them as settings."""


@dataclass(frozen=True, eq=False)
class TreeRefit:
    """A model of some rows of a table, which predicts other rows of it by their numbers.

    `recoding` turns the codes of the whole table into those of the model's schema.
    """

    model: TreeModel
    table: EncodedTable
    recoding: Recoding
    n_threads: int

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the rows that the model was fitted on."""
        return self.model.classes

    def predict_proba(self, rows: Rows) -> FloatArray:
        """Return class probabilities of these rows, one column per class of ``classes_``."""
        is_whole = len(rows) == self.table.n_rows and bool((np.diff(rows) == 1).all())
        part = self.table if is_whole else self.table[rows]
        return self.model.predict_proba(self.recoding(part), n_jobs=self.n_threads)

    def predicted_class(self, probabilities: FloatArray) -> NDArray[np.intp]:
        """Return the index in ``classes_`` of the class that follows from probabilities."""
        return self.model.decide(probabilities)


class TreeRefits:
    """A table that is read once, to fit trees to many parts of it for `sureleaf.evaluate`.

    `rows` is the whole table with its labels and no weights; `n_jobs` is as for TreeClassifier.
    `weigh_classes` returns the weights of given classes in rows with given labels.
    """

    def __init__(
        self,
        rows: TrainingRows,
        classes: NDArray[Any],
        sample_weight: Any,
        n_jobs: Any,
        weigh_classes: WeighClasses | None = None,
    ) -> None:
        self.rows = rows
        self.weigh_classes = weigh_classes
        self.classes = classes
        self.sample_weight = sample_weight
        self.n_threads = thread_count(n_jobs)
        self.n_at_once = trees_at_once(*rows.shape, self.n_threads)
        self._sorting = threading.Lock()

    def fit(self, estimator: HasSettings, train: Rows, *, n_threads: int) -> TreeRefit:
        """Fit a tree to the rows of these numbers with the parameters of an estimator.

        Of the estimator that prepared this, only the random state may differ. A row that is given k
        times counts k times.
        """
        settings, part = self._settings_and_part(estimator, train, n_threads)
        groups = _copies(settings, np.asarray(train))
        tree, resolved, _ = fit_tree(part[0], settings, groups=groups)
        return self._refit(tree, resolved, part)

    def fit_family(
        self, estimator: HasSettings, train: Rows, most_leaves: Sequence[int], *, n_threads: int
    ) -> list[TreeRefit]:
        """Fit a tree whose size is chosen by cross-validation, and other sizes of it.

        Returns what `fit` gives: with these parameters, with a margin of 0 and no largest number of
        leaves, and with each of `most_leaves` as `max_leaves` and no margin.
        """
        settings, part = self._settings_and_part(estimator, train, n_threads)
        return [self._refit(*fit, part) for fit in fit_family(part[0], settings, most_leaves)]

    def _settings_and_part(
        self, estimator: HasSettings, train: Rows, n_threads: int
    ) -> tuple[TreeSettings, Part]:
        settings = replace(estimator.settings(), n_threads=n_threads)
        rows, recoding, classes = self._part(settings, np.asarray(train))
        settings = self._with_known_costs(settings, classes)
        settings = settings.for_table(rows.table.schema, classes)
        settings = replace(settings, keep_order=rows.table is self.rows.table)
        return settings, (rows, recoding, classes)

    def _refit(self, tree: Tree, settings: TreeSettings, part: Part) -> TreeRefit:
        rows, recoding, classes = part
        # Weights as counts: nobody asks a refit for levels, and counting squares takes time.
        counted = replace(settings, weights="counts")
        model = settings_model(tree, rows, classes, counted, LeafCounts.of_tree(tree))
        model = replace(model, schema=recoding.schema)
        return TreeRefit(model, self.rows.table, recoding, settings.n_threads)

    def _part(self, settings: TreeSettings, train: Rows) -> Part:
        """Return the rows to fit: the whole table with other weights, or a table of their own."""
        times = np.bincount(train, minlength=len(self.rows.labels))
        labels, classes = self._known_classes(np.flatnonzero(times))
        weights = None if self.sample_weight is None else self.sample_weight[train]
        weights = check_weights(weights, len(train))
        is_importance = meaning_of_weights(settings.weights, weights) == "importance"
        if self.weigh_classes is not None:
            of_rows = self.weigh_classes(classes, labels[train])[labels[train]]
            weights = of_rows if weights is None else of_rows * weights
        if is_importance:
            weights = scale_importances(weights)
        known = times
        if weights is not None:
            known = np.bincount(train, weights > 0, len(times)).astype(times.dtype)
        recoding = Recoding.of(self.rows.table, np.flatnonzero(known))
        used, own = train, weights
        # Rows are assigned by their numbers, and C4.5 breaks some ties by the order of rows.
        if not settings.assigns_rows and bool((np.diff(train) >= 0).all()):
            is_large = 2 * np.count_nonzero(times) > len(labels)
            shares_table = is_large and not recoding.codes and self._orders_parts(times)
            if shares_table and weights is None:
                whole = self._sorted_rows().with_labels(labels, len(classes))
                return whole.with_copies(times.astype(np.float64)), recoding, classes
            used, own = self._merged(train, times, weights)
            if shares_table and bool((np.diff(used) > 0).all()):
                shared = np.zeros(len(labels))
                shared[used] = own
                whole = self._sorted_rows().with_labels(labels, len(classes))
                return whole.with_weights(shared), recoding, classes
        table = recoding(self.rows.table[used])
        return TrainingRows(table, labels[used], len(classes), own), recoding, classes

    def _with_known_costs(self, settings: TreeSettings, classes: NDArray[Any]) -> TreeSettings:
        """Return the settings with the costs of the classes that the part has."""
        if settings.cost is None:
            return settings
        rule, estimate = cost_rule(settings.cost, self.classes), settings.leaf_estimate
        if len(classes) == len(self.classes):
            return settings
        part = rule.of_classes(np.isin(self.classes, classes))
        if isinstance(estimate, KeepDecision):
            estimate = estimate.at_costs(part)
        return replace(settings, cost=None if part is None else part.cost, leaf_estimate=estimate)

    def _merged(
        self, train: Rows, times: Rows, weights: FloatArray | None
    ) -> tuple[Rows, FloatArray | None]:
        """Merge the copies of a row into one row with their total weight, where that is exact.

        Sums of whole weights are exact in any order. Sums of k parts of a row, or of k fractional
        weights, could differ in the last digit.
        """
        if times.max() == 1:
            return train, weights
        row_weights = np.ones(len(times))
        if weights is not None:
            row_weights[train] = weights
        whole = bool((row_weights == np.floor(row_weights)).all())
        stays_apart = self._has_missing if whole else np.ones(len(times), dtype=bool)
        used = np.repeat(np.arange(len(times)), np.where(stays_apart, times, times > 0))
        return used, (np.where(stays_apart, 1, times) * row_weights)[used]

    def _orders_parts(self, times: Rows) -> bool:
        """Whether fractional rows have the same order as in a table of the part alone."""
        rows = self._rows_of_values
        return rows is None or bool(np.count_nonzero(times[rows]) > _MANY_VALUES)

    @cached_property
    def _rows_of_values(self) -> Rows | None:
        """One row per value of the column that orders fractional rows; None if there is none."""
        if not self._has_missing.any():
            return None
        table = self.rows.table
        for index, column in enumerate(table.schema.columns):
            if column.kind == "categorical":
                continue
            known = np.flatnonzero(~table.is_missing(index))
            rows = known[np.unique(table.columns[index][known], return_index=True)[1]]
            if len(rows) > _MANY_VALUES:
                return rows[: 8 * _MANY_VALUES]
        return None

    @cached_property
    def _has_missing(self) -> NDArray[np.bool_]:
        """For each row whether a value is missing, which sends it down several branches."""
        table = self.rows.table
        has_missing = np.zeros(table.n_rows, dtype=bool)
        for index in range(len(table.columns)):
            has_missing |= table.is_missing(index)
        return has_missing

    def _known_classes(self, train: Rows) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return codes for the classes that these rows have; rows of other classes take no part."""
        has = np.bincount(self.rows.labels[train], minlength=len(self.classes)) > 0
        if has.all():
            return self.rows.labels, self.classes
        new_code = np.maximum(np.cumsum(has, dtype=np.int32) - np.int32(1), 0)
        return new_code[self.rows.labels], self.classes[has]

    def _sorted_rows(self) -> TrainingRows:
        with self._sorting:  # one of several threads sorts, for all of them
            _ = self.rows.kernel
            self.rows.sort(self.n_threads)
        return self.rows


def _copies(settings: TreeSettings, train: Rows) -> Rows | None:
    """Return groups that keep the copies of a row together where rows are assigned to folds.

    A copy in another fold would be tested by a tree that has seen it, and the largest tree would
    always win. A splitter of the user's own may not take groups.
    """
    by_us = settings.assigns_rows and isinstance(settings.cv, int)
    if not by_us or len(np.unique(train)) == len(train):
        return None
    return train

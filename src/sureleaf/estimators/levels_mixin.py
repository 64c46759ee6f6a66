"""What a fitted tree says about itself, computed when first asked for."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.counts import CrossFit, LeafCounts, cross_fit, honest_hits, node_hits
from sureleaf.counts.cross_fitted import first_largest
from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.estimators.building import Recipe, build
from sureleaf.estimators.folds import fold_numbers
from sureleaf.estimators.leaf_table import (
    LeafTable,
    RowLevels,
    SubgroupLevels,
    TreeLevels,
    leaf_table,
)
from sureleaf.estimators.parameters import check_number, thread_count
from sureleaf.estimators.stated_levels import NodeLevels, levels_of_counts, levels_of_hits
from sureleaf.estimators.subgroups import subgroups
from sureleaf.probability import find_estimate
from sureleaf.tree import Routes, TrainingRows, Tree, mixture, route

if TYPE_CHECKING:
    from sureleaf.table import EncodedTable

__all__ = ["LevelsMixin"]

FloatArray = NDArray[np.float64]


class LevelsMixin:
    """Levels of a fitted tree; what it was fitted with stands in the attributes below.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.levels().confidence > 0.95
    True
    """

    tree_: Tree
    leaf_counts_: LeafCounts
    classes_: Any
    schema_: Any
    levels_from: str
    weights: str
    unseen: str
    cv: Any
    n_jobs: int | None
    leaf_estimate: Any
    _rows: TrainingRows | None
    _groups: NDArray[Any] | None
    _settled: Recipe
    _probabilities: FloatArray
    _stated: tuple[FloatArray, NodeLevels] | None = None
    """Levels, and the probabilities they belong to: those of another fit do not count."""
    _held_out: CrossFit | None = None

    def _encode(self, X: Any) -> "EncodedTable":
        raise NotImplementedError

    def leaves(
        self,
        *,
        level: float = 0.95,
        confidence: float | None = 0.95,
        utility: float | None = None,
    ) -> LeafTable:
        """Tabulate what each leaf states.

        Parameters
        ----------
        level : float
            Of the intervals of the probabilities.
        confidence, utility : float or None
            Wanted levels, for `rows_needed` and `flagged`.

        Returns
        -------
        LeafTable
            Columns as attributes, `to_pandas()`, `to_polars()`; prints as a table.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier(levels_from="training")
        >>> model = model.fit([[i] for i in range(8)], ["no"] * 4 + ["yes"] * 4)
        >>> table = model.leaves()
        >>> table.rule.tolist(), table.n.tolist(), table.prediction.tolist()
        (['x0 <= 3', 'x0 > 3'], [4.0, 4.0], ['no', 'yes'])
        >>> table.to_pandas().shape
        (2, 13)
        """
        stated = self._levels()
        check_number("level", level, low=0, high=1, open_low=True)
        for name, wanted in (("confidence", confidence), ("utility", utility)):
            if wanted is not None:
                check_number(name, wanted, low=0, high=1)
        return leaf_table(
            self.tree_,
            self.schema_,
            self.classes_,
            self.leaf_counts_.counts,
            stated,
            level=level,
            confidence=confidence,
            utility=utility,
            levels_from=self.levels_from,
        )

    def levels(self) -> TreeLevels:
        """Confidence and utility of the tree: the share-weighted sums over its leaves.

        Returns
        -------
        TreeLevels
            Named tuple `(confidence, utility)`: the probability to find the most probable
            class of a new row's leaf, and to be right about the row.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> model.levels().utility > 0.9
        True
        """
        stated = self._levels()
        leaves, n = self.tree_.leaf_ids, self.leaf_counts_.n
        shares = n / n.sum()
        return TreeLevels(
            float(shares @ stated.confidence[leaves]), float(shares @ stated.utility[leaves])
        )

    def predict_levels(self, X: Any, *, level: float = 0.95) -> RowLevels:
        """State for each row the levels of its leaf.

        Parameters
        ----------
        X : table
            As in fit.
        level : float
            Of the intervals of the probability of the predicted class.

        Returns
        -------
        RowLevels
            A row with a missing or unseen value is a mixture of leaves: a leaf that predicts
            another class counts with what it leaves to the class predicted.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> model.predict_levels([[3], [None]]).imputed_share.tolist()
        [0.0, 1.0]
        """
        self._levels()
        check_number("level", level, low=0, high=1, open_low=True)
        return self._row_levels(self._encode(X), level)

    def _mixed_rows(self, table: "EncodedTable", level: float) -> tuple[FloatArray, Routes]:
        """Of every row, for every class: probability, confidence, utility, low and high."""
        stated = self._levels()
        low, high = stated.interval(level)
        values = np.hstack(
            [
                self._probabilities,
                stated.spread(stated.confidence, 1.0 - stated.confidence),
                stated.spread(stated.utility, 1.0 - stated.utility),
                stated.spread(low, 1.0 - high),
                stated.spread(high, 1.0 - low),
            ]
        )
        stops = self.unseen == "stop"
        mixed = mixture(
            self.tree_, table, values, stop_at_unseen=stops, n_threads=thread_count(self.n_jobs)
        ).reshape(table.n_rows, 5, len(self.classes_))
        return mixed, route(self.tree_, table, stop_at_unseen=stops)

    def _row_levels(self, table: "EncodedTable", level: float) -> RowLevels:
        mixed, routes = self._mixed_rows(table, level)
        code = first_largest(mixed[:, 0])
        of_prediction = mixed[np.arange(table.n_rows), :, code]
        sure, useful, low, high = of_prediction[:, 1:].T
        return RowLevels(
            routes.heaviest(), self.classes_[code], sure, useful, low, high, routes.imputed_share
        )

    def predict_or_abstain(
        self, X: Any, *, min_confidence: float, abstain: Any = None
    ) -> NDArray[np.object_]:
        """Predict rows whose leaf is sure enough, and abstain from the others.

        Parameters
        ----------
        X : table
            As in fit.
        min_confidence : float
            The least confidence of a prediction.
        abstain : object
            What stands in place of a prediction.

        Returns
        -------
        ndarray of object, shape (n_rows,)

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> model.predict_or_abstain([[3], [None]], min_confidence=0.9, abstain="ask").tolist()
        [0, 'ask']
        """
        check_number("min_confidence", min_confidence, low=0, high=1)
        found = self.predict_levels(X)
        chosen = found.prediction.astype(object)
        chosen[found.confidence < min_confidence] = abstain
        return chosen

    def levels_by(
        self, column: Any, X: Any = None, y: Any = None, *, level: float = 0.95
    ) -> SubgroupLevels:
        """Levels of the rows with each value of a column, numbers in up to four ranges.

        Parameters
        ----------
        column : str or int
            Name or place of the column.
        X, y : optional
            Rows that the tree has not seen. Without, the training rows are taken, each by the
            prediction of a tree that had not seen it (`levels_from="cross_fit"` only).
        level : float
            Of the intervals.

        Returns
        -------
        SubgroupLevels

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> rows = [[i, "ab"[i % 2]] for i in range(40)]
        >>> model = TreeClassifier().fit(rows, [0] * 20 + [1] * 20)
        >>> model.levels_by("x1").n.tolist()
        [20.0, 20.0]
        """
        self._levels()
        check_number("level", level, low=0, high=1, open_low=True)
        place = _place(column, self.schema_)
        if X is not None:
            rows: TrainingRows = self._read_again(X, y, None)  # type: ignore[attr-defined]
            found = self._row_levels(rows.table, level)
            hits = (found.prediction == self.classes_[rows.labels]).astype(float)
        elif self._rows is None or self._held_out is None:
            raise InvalidArgumentError(
                "levels_by needs rows, and the model holds none. Give X and y of rows that it has "
                "not seen, or fit with levels_from='cross_fit' and keep the rows."
            )
        else:
            rows, hits = self._rows, self._held_out.hits
            found = self._row_levels(rows.table, level)
        is_importance = self.weights == "importance" and X is None
        return subgroups(rows, place, hits, found, level, effective=is_importance)

    def forget_rows(self) -> Self:
        """Drop the training rows that the model holds for its levels.

        Returns
        -------
        TreeClassifier
            Itself. Levels that were computed before stay.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> levels = model.levels()
        >>> model.forget_rows().levels() == levels
        True
        """
        check_is_fitted(self)
        self._rows = None
        self._held_out = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows: a stored model must not carry its table along unasked."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {
            name: None if name in ("_rows", "_held_out", "_groups") else value
            for name, value in state.items()
        }

    # ---- computed when first asked for --------------------------------------------------------

    def _levels(self) -> NodeLevels:
        check_is_fitted(self)
        if self._stated is None or self._stated[0] is not self._probabilities:
            self._stated = self._probabilities, self._state()
        return self._stated[1]

    def _can_state(self) -> bool:
        """Whether levels are there, or what they are computed from is."""
        is_there = self._stated is not None and self._stated[0] is self._probabilities
        return is_there or self.levels_from != "cross_fit" or self._rows is not None

    def _state(self) -> NodeLevels:
        counts, n = self.tree_.class_counts, self._node_rows()
        if self.levels_from == "training":
            return levels_of_counts(counts, n, self._probabilities)
        predicted = first_largest(self._probabilities)
        if self.levels_from == "honest":
            hits = honest_hits(self.tree_, predicted)
            return levels_of_hits(counts, n, self._probabilities, hits)
        if self._rows is None:
            raise InvalidArgumentError(
                "levels must be computed while the model holds its rows, and they were not before "
                "it was pickled, copied or saved, or its rows were dropped. Call levels() first, "
                "or fit again."
            )
        self._held_out = self._cross_fit(self._rows)
        hits = node_hits(self.tree_, self._rows, predicted, n, self._held_out)
        return levels_of_hits(counts, n, self._probabilities, hits)

    def _cross_fit(self, rows: TrainingRows) -> CrossFit:
        n_threads = thread_count(self.n_jobs)
        # Trees grow side by side; only what cores are left over work together on one of them.
        recipe = replace(self._settled, n_threads=max(1, n_threads // 12), keep_order=True)
        estimate = find_estimate(self.leaf_estimate)
        fold_of = fold_numbers(rows, recipe.cv, seed=recipe.seed, groups=self._groups)
        return cross_fit(
            rows,
            fold_of,
            lambda part: build(part, recipe, groups=self._groups),
            lambda tree: estimate(tree, tree.class_counts),
            n_threads=n_threads,
        )

    def _node_rows(self) -> FloatArray:
        """Rows of every node; of importance weights, the effective number."""
        n: FloatArray = self.tree_.class_counts.sum(axis=1)
        if self.weights != "importance":
            return n
        squares = np.zeros(self.tree_.n_nodes)
        squares[self.leaf_counts_.leaf_ids] = self.leaf_counts_.squares
        for node in range(self.tree_.n_nodes - 1, 0, -1):  # children come after their parent
            squares[self.tree_.parent[node]] += squares[node]
        return np.divide(n**2, squares, out=np.zeros(len(n)), where=squares > 0)


def _place(column: Any, schema: Any) -> int:
    names = list(schema.names)
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise InvalidArgumentError(
        f"column must be the name of a column or a place from 0 to {len(names) - 1}; got "
        f"{column!r}.{suggestion(str(column), names)}"
    )

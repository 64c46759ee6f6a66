"""Which tables an estimator takes, and the columns of the one it was fitted on."""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sureleaf.arguments import check_number, thread_count
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning, suggestion, warn_caller
from sureleaf.model.cross_fitting import CrossFit, cross_fit, node_hits, predicted_class
from sureleaf.model.folds import fold_numbers
from sureleaf.model.leaf_counts import (
    LeafCounts,
    cut_leaf_counts,
    honest_hits,
    leaf_counts_of,
    recount,
)
from sureleaf.model.leaf_table import (
    LeafTable,
    RowLevels,
    SubgroupLevels,
    TreeLevels,
    leaf_table,
)
from sureleaf.model.node_levels import NodeLevels, levels_of_counts, levels_of_hits
from sureleaf.model.subgroups import subgroups
from sureleaf.model.tree_settings import TreeSettings, build, prune_again
from sureleaf.probability import find_estimate
from sureleaf.table import EncodedTable, Schema, encode, encode_labels
from sureleaf.tree import (
    Routes,
    TrainingRows,
    Tree,
    cost_complexity_path,
    count_nodes,
    impurity_importances,
    mixture,
    route,
    rules_text,
)
from sureleaf.tree.pruning import CostComplexityPath

if TYPE_CHECKING:
    from sureleaf.table import EncodedTable

__all__ = ["ChangingMixin", "FeaturesMixin", "LevelsMixin", "PredictingMixin", "RoutingMixin"]


class FeaturesMixin:
    """What scikit-learn asks of an estimator's tables.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> TreeClassifier().fit([[1], [2]], ["no", "yes"]).n_features_in_
    1
    """

    schema_: Schema

    def _note_features(self) -> None:
        self.n_features_in_ = len(self.schema_)
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        return tags


# The class that follows from probabilities.


class PredictingMixin:
    """Predictions of a model that states class probabilities.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.predict([[3], [30]]).tolist()
    ['no', 'yes']
    """

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row, the first one on ties.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        probabilities = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted


# Which leaves a row reaches, and the prediction that follows from them.


class RoutingMixin(PredictingMixin):
    """Predictions of a fitted tree, and the nodes that they come from.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> model.apply([[3], [30]]).tolist()
    [1, 2]
    """

    tree_: Tree
    schema_: Schema
    unseen: str
    n_jobs: int | None
    _probabilities: NDArray[np.float64]

    def _encode(self, X: Any, *, for_routing: bool = False) -> EncodedTable:
        if not hasattr(self, "schema_"):
            check_is_fitted(self)
        table = encode(X, self.schema_, estimator=type(self).__name__, for_routing=for_routing)
        if table.unseen_counts:
            counts = ", ".join(f"{name!r} ({n})" for name, n in table.unseen_counts.items())
            told = f"categories that were not there in training: column {counts}"
            if self.unseen == "error":
                raise InvalidArgumentError(
                    f"X must have the categories of the training rows; got {told}. Correct them, "
                    "or set unseen='mixture' or 'stop'."
                )
            does = "go down all branches" if self.unseen == "mixture" else "stop where they are met"
            warn_caller(f"X has {told}; they {does}.", UnseenCategoryWarning)
        return table

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``.

        Parameters
        ----------
        X : table
            As in fit; columns are found by name, further ones are ignored with a warning.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            A row with missing values has the mixture of its leaves' probabilities.
        """
        table = self._encode(X, for_routing=True)
        return mixture(
            self.tree_,
            table,
            self._probabilities,
            stop_at_unseen=self.unseen == "stop",
            n_threads=thread_count(self.n_jobs),
        )

    def _route(self, X: Any) -> Routes:
        return route(
            self.tree_, self._encode(X, for_routing=True), stop_at_unseen=self.unseen == "stop"
        )

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Find the leaf of each row, by node number; of several leaves the heaviest.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of int, shape (n_rows,)
        """
        return self._route(X).heaviest()

    def leaf_shares(self, X: Any) -> sp.csr_array:
        """Find the leaves of each row with its share in them, one or several leaves a row.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        sparse array of shape (n_rows, n_nodes)
            Rows sum to 1; a column is a node number.
        """
        routes = self._route(X)
        shape = (routes.n_rows, self.tree_.n_nodes)
        return sp.csr_array((routes.shares, routes.nodes, routes.offsets), shape=shape)

    def decision_path(self, X: Any) -> sp.csr_array:
        """Find all nodes that a row passes through, with its share in each.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        sparse array of shape (n_rows, n_nodes)
            Above 0 where the row passes; 1 at the root.
        """
        routes = self._route(X)
        rows, nodes, shares = routes.rows(), routes.nodes, routes.shares
        steps = []
        while len(nodes):  # all rows climb together, until the last has reached the root
            steps.append((rows, nodes, shares))
            above = self.tree_.parent[nodes]
            climbs = above >= 0
            rows, nodes, shares = rows[climbs], above[climbs], shares[climbs]
        if not steps:
            return sp.csr_array((0, self.tree_.n_nodes))
        rows, nodes, shares = (np.concatenate(part) for part in zip(*steps, strict=True))
        return sp.csr_array((shares, (rows, nodes)), shape=(routes.n_rows, self.tree_.n_nodes))


# A fitted tree as rules, and copies of it that are pruned or state other probabilities.


class ChangingMixin:
    """What is read from a fitted tree, and copies that differ from it; nothing is regrown.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> model.prune(n_leaves=1).tree_.n_leaves, model.tree_.n_leaves
    (1, 2)
    """

    tree_: Tree
    leaf_counts_: LeafCounts
    schema_: Schema
    classes_: Any
    criterion: str
    confidence_factor: float
    leaf_estimate: Any
    levels_from: str
    _rows: TrainingRows | None
    _groups: NDArray[Any] | None
    _stated: Any
    _probabilities: NDArray[np.float64]

    if TYPE_CHECKING:

        def _encode(self, X: Any) -> EncodedTable: ...
        def _levels(self) -> NodeLevels: ...
        def _match(
            self, table: EncodedTable, labels: NDArray[np.int32], n_classes: int, sample_weight: Any
        ) -> TrainingRows: ...
        def _set_probabilities(self) -> None: ...

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each column's share of the decrease of impurity on the training rows."""
        check_is_fitted(self)
        return impurity_importances(self.tree_, self.criterion)

    def rules(self) -> str:
        """Tell the tree as indented rules, each leaf with its rows, counts and probability.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return rules_text(self.tree_, self.schema_, self.classes_, self._probabilities)

    def cost_complexity_path(self) -> CostComplexityPath:
        """Find the penalties a leaf at which cost-complexity pruning would cut this tree.

        Returns
        -------
        CostComplexityPath
            alphas, n_leaves and impurities.
        """
        check_is_fitted(self)
        return cost_complexity_path(self.tree_, self.criterion)

    def with_leaf_estimate(self, leaf_estimate: Any) -> Self:
        """Give a copy another leaf estimate; nothing is regrown.

        Parameters
        ----------
        leaf_estimate : str or object
            As the parameter.

        Returns
        -------
        TreeClassifier
        """
        check_is_fitted(self)
        find_estimate(leaf_estimate)
        other = copy.copy(self)
        other.leaf_estimate = leaf_estimate
        other._rows, other._groups = self._rows, self._groups  # which a copy leaves behind
        other._set_probabilities()
        if self._rows is None and self._stated is not None and _same_predictions(self, other):
            other._stated = other._probabilities, self._levels()
        return other

    def prune(
        self,
        rule: str | None = None,
        *,
        nodes: Any = None,
        n_leaves: int | None = None,
        ccp_alpha: float | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Give a smaller copy, cut by one of: a rule, chosen nodes, a number of leaves.

        Parameters
        ----------
        rule : {"pessimistic", "cost_complexity", "reduced_error"}, optional
            pessimistic needs the training rows (those that the model still holds, or X and y);
            cost_complexity needs ccp_alpha; reduced_error needs X and y that were held out.
        nodes : list of int, optional
            Nodes that become leaves.
        n_leaves : int, optional
            The largest number of leaves; the weakest links are cut.
        ccp_alpha : float, optional
            The penalty a leaf.
        X, y, sample_weight : optional
            Rows for the rule. Given X and y, all that the copy counts, predicts and states comes
            from them where the rule is not reduced_error.

        Returns
        -------
        TreeClassifier
            The model itself is not changed, and nothing is regrown. Levels of the copy are
            those of its own counts (`levels_from` is "training"), and say so.
        """
        check_is_fitted(self)
        given = None
        if X is not None or y is not None or sample_weight is not None:
            if X is None or y is None:
                raise InvalidArgumentError(
                    "X and y must be given together, and sample_weight with them; got one without "
                    "the other. Give both, or none."
                )
            given = self._read_again(X, y, sample_weight)
        tree = self.tree_
        if rule == "pessimistic" and given is not None:
            tree = recount(tree, given)  # so that raising compares what the same rows say
        other = copy.copy(self)
        other.tree_ = prune_again(
            tree,
            rule=rule,
            nodes=nodes,
            n_leaves=n_leaves,
            ccp_alpha=ccp_alpha,
            rows=given if given is not None else self._rows,
            held_out=given,
            criterion=self.criterion,
            confidence_factor=self.confidence_factor,
        )
        other.levels_from = "training"
        if given is not None and rule != "reduced_error":
            other.tree_ = recount(other.tree_, given)
            other.leaf_counts_ = leaf_counts_of(other.tree_, given)
        elif rule == "pessimistic" and self._rows is not None:
            other.leaf_counts_ = leaf_counts_of(other.tree_, self._rows)
        else:
            other.leaf_counts_ = cut_leaf_counts(self.leaf_counts_, self.tree_, other.tree_)
        other._rows = None
        other._set_probabilities()
        return other

    def _read_again(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Further rows of the same kind, with classes that are known."""
        table = self._encode(X)
        codes, found = encode_labels(y, estimator=type(self).__name__)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in found.tolist() if label not in place]
        if unknown:
            raise InvalidArgumentError(
                f"y must have the classes {self.classes_.tolist()}; got {unknown[0]!r} too."
            )
        translate = np.array([place[label] for label in found.tolist()], dtype=np.int32)
        return self._match(table, translate[codes], len(self.classes_), sample_weight)

    def node_counts(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Count the classes of these rows in every node of the tree.

        Parameters
        ----------
        X, y, sample_weight
            As in fit, with classes that are known.

        Returns
        -------
        ndarray of shape (n_nodes, n_classes)
        """
        check_is_fitted(self)
        return count_nodes(self.tree_, self._read_again(X, y, sample_weight))


def _same_predictions(one: ChangingMixin, other: ChangingMixin) -> bool:
    return np.array_equal(
        predicted_class(one._probabilities), predicted_class(other._probabilities)
    )


# What a fitted tree says about itself, computed when first asked for.

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
    _settled: TreeSettings
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
        code = predicted_class(mixed[:, 0])
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
        predicted = predicted_class(self._probabilities)
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

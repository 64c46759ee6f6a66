"""TreeClassifier: C4.5's tree as a scikit-learn estimator."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from sureleaf.arguments import (
    check_choice,
    check_groups,
    check_number,
    check_weights,
    thread_count,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators.mixins import ChangingMixin, FeaturesMixin, LevelsMixin, RoutingMixin
from sureleaf.estimators.saving import SavingMixin
from sureleaf.model.folds import hold_out, reusable
from sureleaf.model.leaf_counts import leaf_counts_of, recount, split_rows
from sureleaf.model.node_probabilities import NodeProbabilities
from sureleaf.model.refits import TreeRefits
from sureleaf.model.tree_settings import TreeSettings, build_resolved
from sureleaf.probability import find_estimate
from sureleaf.random_streams import draw_seed
from sureleaf.table import EncodedTable, Schema, encode_labels, read_table
from sureleaf.table.encoded_table import Recoding
from sureleaf.tree import GrowthRules, TrainingRows, Tree

__all__ = ["TreeClassifier"]


PRUNINGS = (None, "pessimistic", "cost_complexity", "reduced_error", "utility")


class TreeClassifier(
    RoutingMixin,
    ChangingMixin,
    LevelsMixin,
    SavingMixin,
    FeaturesMixin,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A decision tree; with the defaults, the tree that C4.5 grows.

    Parameters
    ----------
    criterion : {"gain_ratio", "entropy", "gini"}
        What a split is judged by. gain_ratio has all of C4.5's rules; entropy and gini split
        every impure node that has a legal cut, as scikit-learn does.
    categorical_features : "auto", list of names, places or bools, mapping, or Schema
        Which columns are categories. "auto": text, bools, categories and enums. A mapping says of
        columns, by name or place, what they are: "numeric", "categorical", "ordered", "date", or
        the categories of an ordered one from first to last, ``{"size": ["s", "m", "l"]}``; the
        others go by type. A Schema, such as `schema_` of another model, says it of all.
    categorical_split : {"multiway", "subset"}
        One branch a category, or the best grouping of the categories in two.
    max_depth : int or None
        The largest number of tests on the way to a leaf.
    min_samples_leaf : float
        C4.5's M. With gain_ratio two branches must hold as many rows (and thresholds may need
        more); with entropy and gini each side of a cut.
    collapse : bool
        Cut subtrees that make no fewer training errors than their root would, before pruning.
    pruning : {"pessimistic", "cost_complexity", "reduced_error", "utility"} or None
        C4.5's; the smallest tree within one standard error of the best by cross-validation (or
        that of `ccp_alpha`); by the errors on a third of the rows, which is held out; or by the
        utility that a split adds at the sample size at hand, with its least gain chosen by
        cross-validation.
    confidence_factor : float
        For pessimistic pruning, in (0, 0.5]; less prunes more.
    ccp_alpha : float
        For cost-complexity pruning: the penalty a leaf, in the units of scikit-learn. At 0 it is
        chosen by cross-validation.
    leaf_estimate : str or object
        How a leaf's counts become probabilities: "frequency", "laplace", "m_estimate",
        "jeffreys", "blend", "shrinkage", "averaging", or an object of `sureleaf.probability` or
        one's own, called with the tree and its counts. "auto" is "averaging".
    levels_from : {"training", "honest", "cross_fit"}
        Which rows the levels of confidence and utility come from: those that grew the tree;
        half of the rows, which then do not grow it and give counts and predictions, too; or all
        rows, by predictions of trees that had not seen them.
    cv : int, splitter or iterable
        The folds of cross-fitting and of cost-complexity pruning.
    weights : {"counts", "importance"}
        What sample weights mean: weight k is k rows, or rows stand for more or fewer others.
        Importances are scaled to a mean of 1 before growing.
    unseen : {"mixture", "stop", "error"}
        What a row does at a test of a category that the node has not seen: go down all branches,
        or stop there. "error": raise if the category is not of the training rows at all.
    n_jobs : int or None
        Threads; None and -1 are all cores. The tree does not depend on it.
    random_state : int, RandomState or None
        For what is drawn: the held-out third, the folds.

    Attributes
    ----------
    tree_ : Tree
        The tree as flat frozen arrays.
    leaf_counts_ : LeafCounts
        Class counts of its leaves; supports ``+``.
    classes_ : ndarray
        The classes.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names.
    feature_importances_ : ndarray

    Notes
    -----
    A missing value sends a row down every branch, with the share of the branch as its weight, in
    ``fit`` and in ``predict``.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> rows = [["sunny", 30.0], ["sunny", 21.0], ["rain", 20.0], ["rain", None], ["fog", 12.0],
    ...         ["fog", 31.0], ["sunny", 29.0], ["rain", 11.0]]
    >>> play = ["no", "yes", "yes", "yes", "yes", "no", "no", "yes"]
    >>> model = TreeClassifier(leaf_estimate="frequency").fit(rows, play)
    >>> print(model.rules())
    x1 <= 21: yes   100.0 % (4.57 rows: yes 4.57)
    x1 > 21: no   87.5 % (3.43 rows: no 3, yes 0.43)
    >>> model.predict([["fog", 10.0], ["rain", None]]).tolist()
    ['yes', 'yes']
    """

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        categorical_features: Any = "auto",
        categorical_split: str = "multiway",
        max_depth: int | None = None,
        min_samples_leaf: float = 2,
        collapse: bool = True,
        pruning: str | None = "pessimistic",
        confidence_factor: float = 0.25,
        ccp_alpha: float = 0.0,
        leaf_estimate: Any = "auto",
        levels_from: str = "cross_fit",
        cv: Any = 10,
        weights: str = "counts",
        unseen: str = "mixture",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.collapse = collapse
        self.pruning = pruning
        self.confidence_factor = confidence_factor
        self.ccp_alpha = ccp_alpha
        self.leaf_estimate = leaf_estimate
        self.levels_from = levels_from
        self.cv = cv
        self.weights = weights
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : NumPy array, pandas, polars or Arrow table, or list of rows
            Text, bools and categories are categorical; NaN, None and null are missing.
        y : array-like of shape (n_rows,)
            Labels of any type.
        sample_weight : array-like of shape (n_rows,), optional
            Weights as the parameter `weights` says; rows of weight 0 take no part.
        groups : array-like of shape (n_rows,), optional
            Rows of one group stay together in every fold.

        Returns
        -------
        TreeClassifier
            Itself.
        """
        recipe = self._recipe()
        rows, schema, classes = self._read(X, y, sample_weight)
        groups = check_groups(groups, len(rows.labels))
        tree, settled, counted = self._grow(rows, recipe, groups)
        leaf_counts = leaf_counts_of(tree, counted)
        stated = NodeProbabilities(tree, find_estimate(self.leaf_estimate))
        # Only now, so that a fit that fails leaves the model as it was.
        self.schema_, self.classes_, self.tree_ = schema, classes, tree
        self.leaf_counts_, self._node_probabilities = leaf_counts, stated
        self._groups, self._settled = groups, settled
        self._stated = self._held_out = None
        self._rows = rows if self.levels_from == "cross_fit" else None
        self._note_features()
        return self

    def prepare_refits(self, X: Any, y: Any, sample_weight: Any = None) -> TreeRefits | None:
        """Read a table once, to grow trees on many parts of it.

        `sureleaf.evaluate` and its like ask for this, so that the trees of a design share what is
        encoded and sorted. A refit is the tree of a clone fitted on the rows of its part.

        Parameters
        ----------
        X, y, sample_weight
            As in fit.

        Returns
        -------
        TreeRefits or None
            None where each part must be read by itself: for ``unseen="error"``, for columns given
            by a Schema, and for classes derived from this one, which may fit in another way.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier()
        >>> refits = model.prepare_refits([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
        >>> refit = refits.fit(model, np.array([0, 1, 2, 2]), n_threads=1)
        >>> refit.predict_proba(np.array([3])).round(2).tolist()
        [[0.25, 0.75]]
        """
        if type(self) is not TreeClassifier or self.unseen == "error" or self._has_schema():
            return None
        name = type(self).__name__
        table = read_table(X, categorical_features=self.categorical_features, estimator=name)
        labels, classes = encode_labels(y, estimator=name)
        rows = self._match(table, labels, len(classes), None)
        weights = check_weights(sample_weight, table.n_rows, ones_as_none=True)
        return TreeRefits(rows, classes, weights, self.n_jobs)

    def _grow(
        self, rows: TrainingRows, recipe: TreeSettings, groups: NDArray[Any] | None = None
    ) -> tuple[Tree, TreeSettings, TrainingRows]:
        """Grow the tree; with it the recipe with what was chosen, and the rows it counts."""
        growing, counted = self._parts(rows, recipe, groups)
        tree, settled = build_resolved(growing, recipe, groups=groups)
        if counted is not growing:
            tree = recount(tree, counted)
        return tree, settled, counted

    def _draws(self, recipe: TreeSettings) -> bool:
        """Whether rows are dealt out by their numbers on the way to the tree."""
        return recipe.draws or self.levels_from == "honest"

    def _parts(
        self, rows: TrainingRows, recipe: TreeSettings, groups: NDArray[Any] | None
    ) -> tuple[TrainingRows, TrainingRows]:
        """Rows that grow the tree and rows that are counted; the same unless it is honest."""
        if self.levels_from != "honest":
            return rows, rows
        is_counted = hold_out(rows, seed=recipe.seed, groups=groups, n_parts=2)
        growing, counted = split_rows(rows, is_counted)
        if not growing.total_weight or not counted.total_weight:
            raise InvalidArgumentError(
                "levels_from='honest' needs two rows (or groups) of positive weight, one to grow "
                "the tree and one to count; got 1 sample. Give more, or use levels_from='training'."
            )
        return growing, counted

    def _recipe(self) -> TreeSettings:
        """Check the parameters and put together what building a tree needs of them."""
        check_choice("criterion", self.criterion, ("gain_ratio", "entropy", "gini"))
        check_choice("categorical_split", self.categorical_split, ("multiway", "subset"))
        check_choice("pruning", self.pruning, PRUNINGS)
        check_choice("levels_from", self.levels_from, ("training", "honest", "cross_fit"))
        check_choice("weights", self.weights, ("counts", "importance"))
        check_choice("unseen", self.unseen, ("mixture", "stop", "error"))
        check_choice("collapse", self.collapse, (True, False))
        check_number("min_samples_leaf", self.min_samples_leaf, low=0, open_low=True)
        check_number("confidence_factor", self.confidence_factor, low=0, high=0.5, open_low=True)
        check_number("ccp_alpha", self.ccp_alpha, low=0)
        if self.max_depth is not None:
            check_number("max_depth", self.max_depth, low=0, whole=True)
        find_estimate(self.leaf_estimate)
        return TreeSettings(
            rules=GrowthRules(
                self.criterion, self.categorical_split, self.max_depth, self.min_samples_leaf
            ),
            collapse=bool(self.collapse),
            pruning=self.pruning,
            confidence_factor=self.confidence_factor,
            ccp_alpha=self.ccp_alpha,
            cv=reusable(self.cv),
            seed=draw_seed(self.random_state),
            n_threads=thread_count(self.n_jobs),
            keep_order=self.levels_from == "cross_fit",
        )

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingRows, Any, Any]:
        name = type(self).__name__
        table = read_table(X, categorical_features=self.categorical_features, estimator=name)
        labels, classes = encode_labels(y, estimator=name)
        rows = self._match(table, labels, len(classes), sample_weight)
        if self.levels_from == "cross_fit":
            rows = rows.owned()  # levels come later, and the caller may change X until then
        return rows, rows.table.schema, classes

    def _match(
        self, table: EncodedTable, labels: NDArray[np.int32], n_classes: int, sample_weight: Any
    ) -> TrainingRows:
        if len(labels) != table.n_rows:
            raise InvalidArgumentError(
                "X and y must have the same number of rows (inconsistent numbers of samples); "
                f"got {table.n_rows} and {len(labels)}."
            )
        weights = self._scaled(check_weights(sample_weight, table.n_rows, ones_as_none=True))
        if weights is not None and not weights.all() and not self._has_schema():
            table = Recoding.of(table, np.flatnonzero(weights))(table)
        return TrainingRows(table, labels, n_classes, weights)

    def _has_schema(self) -> bool:
        """Whether the categories are given, not learnt."""
        return isinstance(self.categorical_features, Schema)

    def _scaled(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        if weights is not None and self.weights == "importance":
            weights = weights / weights.max()  # so that no sum overflows
            weights = weights / (weights.sum() / np.count_nonzero(weights))
        return weights

    def _set_probabilities(self) -> None:
        estimate = find_estimate(self.leaf_estimate)
        self._node_probabilities = NodeProbabilities(self.tree_, estimate)

    @property
    def _probabilities(self) -> NDArray[np.float64]:
        """The class probabilities of every node, found when first asked for."""
        return self._node_probabilities.values

    @_probabilities.setter
    def _probabilities(self, values: NDArray[np.float64]) -> None:
        self._node_probabilities = NodeProbabilities.known(values)

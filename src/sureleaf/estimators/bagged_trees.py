"""BaggedTreesClassifier: trees grown on bootstraps, that know how often they are right together."""

import copy
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sureleaf import _kernel
from sureleaf.arguments import check_choice, check_number, thread_count
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators.mixins import FeaturesMixin, PredictingMixin
from sureleaf.estimators.saving import SavingMixin
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.levels.intervals import wilson
from sureleaf.model.bagged_model import (
    BagRowLevels,
    BagSums,
    HitRates,
    OutOfBagLevels,
    draw_bag,
)
from sureleaf.model.cross_fitting import predicted_class
from sureleaf.model.leaf_counts import LeafCounts
from sureleaf.model.tree_settings import build, trees_at_once
from sureleaf.probability import find_estimate
from sureleaf.progress import track
from sureleaf.random_streams import draw_seed
from sureleaf.table import EncodedTable, Schema
from sureleaf.tree import TrainingRows, Tree
from sureleaf.tree.growing import kernel_table

if TYPE_CHECKING:
    from sureleaf.model.calibration import Calibration

__all__ = ["AskingMixin", "BaggedTreesClassifier", "OutOfBagMixin"]


# What the trees of a bag say of a row, together and how far apart.


class AskingMixin(PredictingMixin):
    """Predictions of fitted trees, each asked about every row.

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> X, y = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3], [30]]).tolist()
    ['no', 'yes']
    """

    trees_: list[Tree]
    schema_: Schema
    n_jobs: int | None
    _template: TreeClassifier
    _probabilities: list[NDArray[np.float64]]
    _calibrator: "Calibration | None"

    def _ask(
        self,
        table: _kernel.KernelTable,
        *,
        is_asked: NDArray[np.uint8] | None = None,
        in_detail: bool,
    ) -> BagSums:
        values, squares, votes, imputed, n_trees = _kernel.predict_bags(
            [tree.kernel for tree in self.trees_],
            self._probabilities,
            is_asked,
            table,
            in_detail,
            self._template.unseen == "stop",
            thread_count(self.n_jobs),
        )
        return BagSums(values, squares, votes, imputed, n_trees)

    def _encode(self, X: Any) -> EncodedTable:
        check_is_fitted(self)
        reader = copy.copy(self._template)
        reader.schema_ = self.schema_
        reader.classes_ = self.classes_
        table: EncodedTable = reader._encode(X, for_routing=True)
        return table

    def _finish(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the mean probabilities into what the model states."""
        return means if self._calibrator is None else self._calibrator(means)

    def predict_proba(self, X: Any, *, voting: bool = False) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``.

        Parameters
        ----------
        X : table
            As in fit.
        voting : bool
            Give the share of the trees that predict each class, instead of the mean of their
            probabilities. Votes are not calibrated.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        sums = self._ask(kernel_table(self._encode(X)), in_detail=voting)
        return sums.mean(sums.votes) if voting else self._finish(sums.mean(sums.values))

    def predict_spread(self, X: Any) -> NDArray[np.float64]:
        """Say how far the trees are apart: the standard deviation of their probabilities.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self._ask(kernel_table(self._encode(X)), in_detail=True).spread()


# How often bagged trees are right, by rows that were not in the bags of the trees asked.


class OutOfBagMixin(AskingMixin):
    """What fitted trees say of rows that they did not see, and so how far to believe them.

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> X, y = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.oob_levels_.utility > 0.9
    True
    """

    _seed: int
    _rows: TrainingRows | None
    _out_of_bag: BagSums | None
    _judged: tuple[HitRates, OutOfBagLevels] | None = None
    """What a saved model knows of its out-of-bag rows."""

    def _held_rows(self) -> TrainingRows:
        if self._rows is None:
            raise InvalidArgumentError(
                "out-of-bag results need the training rows, and the model no longer holds them. "
                "Ask for oob_proba_ before forget_rows(), saving or pickling, or fit again."
            )
        return self._rows

    def _ask_out_of_bag(self) -> BagSums:
        """Ask each tree about the rows that are not in its bag, which is drawn again."""
        if self._out_of_bag is None:
            rows = self._held_rows()
            is_asked = np.empty((len(self.trees_), len(rows.labels)), dtype=np.uint8)
            for number in range(len(self.trees_)):
                bag = draw_bag(len(rows.labels), rows.weights, seed=self._seed, tree=number)
                is_asked[number] = bag == 0
            self._out_of_bag = self._ask(rows.kernel, is_asked=is_asked, in_detail=True)
            self._truth = (rows.labels, rows.weights)
        return self._out_of_bag

    @property
    def oob_proba_(self) -> NDArray[np.float64]:
        """Out-of-bag probabilities; NaN for rows that are in every bag."""
        check_is_fitted(self)
        sums = self._ask_out_of_bag()
        means = sums.mean(sums.values)
        is_judged = sums.n_trees > 0
        means[is_judged] = self._finish(means[is_judged])
        return means

    def _judge(self) -> tuple[NDArray[np.float64], ...]:
        """For the rows that are out of some bag: what was stated, hit, agreed, and the weight."""
        stated = self.oob_proba_
        sums = self._ask_out_of_bag()
        labels, weights = self._truth
        judged = np.flatnonzero((sums.n_trees > 0) & (True if weights is None else weights > 0))
        predicted = predicted_class(stated[judged])
        return (
            stated[judged, predicted],
            predicted == labels[judged],
            sums.mean(sums.votes)[judged, predicted],
            np.ones(len(judged)) if weights is None else weights[judged],
        )

    def _can_judge(self) -> bool:
        """Whether out-of-bag levels are there, or what they are computed from is."""
        parts = (self._judged, self._out_of_bag, self._rows)
        return any(part is not None for part in parts)

    def _hit_rates(self) -> HitRates:
        if self._judged is not None:
            return self._judged[0]
        stated, hit, _, weights = self._judge()
        if not len(stated):
            return HitRates(np.empty(0), np.zeros(1), np.zeros(1))
        return HitRates.count(stated, hit.astype(bool), weights, effective=self._is_importance())

    def _is_importance(self) -> bool:
        """Whether a weight says how much a row matters, and not how many rows it is."""
        return bool(self._template.weights == "importance")

    @property
    def oob_levels_(self) -> OutOfBagLevels:
        """Agreement of the trees and utility, by rows that the trees asked had not seen."""
        check_is_fitted(self)
        if self._judged is not None:
            return self._judged[1]
        _, hit, agreed, weights = self._judge()
        total, hits = float(weights.sum()), float((weights * hit).sum())
        n_rows = total
        if self._is_importance() and total:
            n_rows = total**2 / float((weights**2).sum())
        utility = hits / total if total else np.nan
        low, high = wilson(min(utility * n_rows, n_rows) if total else 0.0, n_rows)
        return OutOfBagLevels(
            agreement=float((weights * agreed).sum() / total) if total else np.nan,
            utility=utility,
            low=float(low),
            high=float(high),
            n_rows=n_rows,
            n_in_every_bag=int((self._ask_out_of_bag().n_trees == 0).sum()),
        )

    @property
    def oob_error_(self) -> float:
        """The share of the training rows that is predicted wrong out of bag."""
        return 1.0 - self.oob_levels_.utility

    def predict_levels(self, X: Any) -> BagRowLevels:
        """Say for each row what is predicted, how the trees agree, and how often that is right.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        BagRowLevels
            Columns, with `to_pandas` and `to_polars`. The utility is the share of out-of-bag
            rows predicted right, among those whose prediction was about as probable.
        """
        sums = self._ask(kernel_table(self._encode(X)), in_detail=True)
        stated = self._finish(sums.mean(sums.values))
        predicted = predicted_class(stated)
        line = np.arange(len(stated))
        probability = stated[line, predicted]
        utility, low, high = self._hit_rates().of(probability)
        return BagRowLevels(
            prediction=self.classes_[predicted],
            probability=probability,
            agreement=sums.mean(sums.votes)[line, predicted],
            utility=utility,
            low=low,
            high=high,
            spread=sums.spread()[line, predicted],
            imputed_share=sums.mean(sums.imputed),
        )


class BaggedTreesClassifier(
    OutOfBagMixin,
    SavingMixin,
    FeaturesMixin,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Trees grown on bootstraps of the rows; their mean probability, and how far to believe it.

    Every tree leaves out some 37 % of the rows. What the trees say about rows that they left out
    gives probabilities, an error and levels that hold on unseen rows, without a second fit.

    Parameters
    ----------
    estimator : TreeClassifier, optional
        How each tree is grown. By default fully grown: gini, categories grouped in two, one row
        a leaf, no pruning.
    n_estimators : int
        Number of trees.
    calibration : {"sigmoid", "isotonic"} or None
        Bring the mean probabilities in line with the classes of out-of-bag rows, through
        scikit-learn's calibrators.
    n_jobs : int or None
        Threads; None and -1 are all cores. The trees do not depend on it.
    random_state : int, RandomState or None
        For the bootstraps, which are keyed by seed, tree and draw.

    Attributes
    ----------
    trees_ : list of Tree
        The trees as flat frozen arrays.
    estimators_ : list of TreeClassifier
        The same trees as estimators, with the bootstrap's counts.
    classes_ : ndarray
        The classes.
    oob_proba_ : ndarray of shape (n_rows, n_classes)
        For each training row the mean of the trees that did not see it (after calibration); NaN
        for rows that are in every bag. Computed when first asked for, like all of these:
    oob_levels_ : OutOfBagLevels
        agreement and utility, with the interval of the utility.
    oob_error_ : float
        The share of the training rows that is predicted wrong out of bag.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had names.

    Examples
    --------
    >>> import numpy as np
    >>> from sureleaf import BaggedTreesClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict([[2.0, 0.0, 0.0]]).tolist()
    ['yes']
    >>> 0.6 < model.oob_levels_.utility < 0.8
    True
    """

    def __init__(
        self,
        *,
        estimator: Any = None,
        n_estimators: int = 30,
        calibration: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.calibration = calibration
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : NumPy array, pandas, polars or Arrow table, or list of rows
            As for TreeClassifier.
        y : array-like of shape (n_rows,)
            Labels of any type.
        sample_weight : array-like of shape (n_rows,), optional
            A row's chance to be drawn is proportional to it; the weights' sum is the number of
            draws.

        Returns
        -------
        BaggedTreesClassifier
            Itself.
        """
        self._check_parameters()
        # A copy is fitted, so that a fit that fails leaves the model as it was.
        fitted = copy.copy(self)
        fitted._template = self._make_template()
        fitted._seed = draw_seed(self.random_state)
        rows, fitted.schema_, fitted.classes_ = fitted._template._read(X, y, sample_weight)
        fitted._note_features()
        fitted.trees_ = fitted._grow(rows)
        fitted._rows = rows
        fitted._state_probabilities()
        self.__dict__ = fitted.__dict__
        return self

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, low=1, whole=True)
        check_choice("calibration", self.calibration, (None, "sigmoid", "isotonic"))

    def _make_template(self) -> TreeClassifier:
        """Make the estimator whose parameters all trees have; its rows are kept for levels."""
        if self.estimator is None:
            return TreeClassifier(
                criterion="gini",
                categorical_split="subset",
                min_samples_leaf=1,
                collapse=False,
                pruning=None,
                random_state=0,
            )
        if not isinstance(self.estimator, TreeClassifier):
            raise InvalidTypeError(
                "estimator must be a TreeClassifier; got "
                f"{type(self.estimator).__name__}. For others use sklearn.ensemble."
                "BaggingClassifier."
            )
        template: TreeClassifier = clone(self.estimator).set_params(levels_from="cross_fit")
        if template.random_state is None:
            template.random_state = draw_seed(self.random_state)
        return template

    def _grow(self, rows: TrainingRows) -> list[Tree]:
        """Grow every tree on its bag; what is encoded and sorted is shared by all."""
        n_threads = thread_count(self.n_jobs)
        _ = rows.kernel
        rows.sort(n_threads)
        n_at_once = trees_at_once(rows, n_threads)
        recipe = replace(
            self._template._recipe(), keep_order=True, n_threads=max(1, n_threads // n_at_once)
        )

        def grow_one(number: int) -> Tree:
            bag = draw_bag(len(rows.labels), rows.weights, seed=self._seed, tree=number)
            return build(rows.with_weights(bag), replace(recipe, seed=recipe.seed + number))

        if n_at_once == 1:
            work: Iterable[Tree] = map(grow_one, range(self.n_estimators))
            return list(track(work, total=self.n_estimators, what="Growing"))
        pool = ThreadPoolExecutor(n_at_once)
        try:
            work = pool.map(grow_one, range(self.n_estimators))
            return list(track(work, total=self.n_estimators, what="Growing"))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _state_probabilities(self) -> None:
        """Let the leaves state their probabilities, and calibrate what the trees say together."""
        named = self._template.leaf_estimate
        # A tree among many may be overturned: the mean of them is what predicts.
        is_auto = isinstance(named, str) and named == "auto"
        estimate = find_estimate("averaging" if is_auto else named)
        self._probabilities = [
            np.ascontiguousarray(estimate(tree, tree.class_counts), dtype=np.float64)
            for tree in self.trees_
        ]
        self._out_of_bag = None
        self._judged = None
        self._calibrator = None
        if self.calibration is not None:
            from sureleaf.model.calibration import fit_calibration  # loads linear models

            sums = self._ask_out_of_bag()
            labels, weights = self._truth
            self._calibrator = fit_calibration(
                sums.mean(sums.values),
                labels,
                weights,
                method=self.calibration,
                classes=self.classes_,
            )

    @property
    def estimators_(self) -> list[TreeClassifier]:
        """The trees as estimators; a row drawn k times counts as k rows of its tree."""
        check_is_fitted(self)
        return [
            self._as_estimator(tree, values)
            for tree, values in zip(self.trees_, self._probabilities, strict=True)
        ]

    def _as_estimator(self, tree: Tree, probabilities: NDArray[np.float64]) -> TreeClassifier:
        estimator: TreeClassifier = clone(self._template).set_params(levels_from="training")
        estimator.schema_ = self.schema_
        estimator.classes_ = self.classes_
        estimator._note_features()
        estimator.tree_ = tree
        counts = tree.class_counts[tree.leaf_ids]
        estimator.leaf_counts_ = LeafCounts(tree.leaf_ids, counts, counts.sum(axis=1))
        estimator._rows = None
        estimator._groups = None
        estimator._probabilities = probabilities
        return estimator

    def with_leaf_estimate(self, leaf_estimate: Any) -> Self:
        """Give a copy another leaf estimate; nothing is regrown.

        Parameters
        ----------
        leaf_estimate : str or object
            As the parameter of TreeClassifier.

        Returns
        -------
        BaggedTreesClassifier
            A calibration is fitted again, on the new out-of-bag probabilities.
        """
        check_is_fitted(self)
        find_estimate(leaf_estimate)
        other = copy.copy(self)
        other._rows = self._rows  # which a copy leaves behind, as a pickle does
        other._template = clone(self._template).set_params(leaf_estimate=leaf_estimate)
        other.estimator = other._template
        other._state_probabilities()
        return other

    def forget_rows(self) -> Self:
        """Drop the training rows that the model holds for what it says out of bag.

        Returns
        -------
        BaggedTreesClassifier
            Itself. What has been asked for before is kept.
        """
        check_is_fitted(self)
        self._rows = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_rows": None} if "_rows" in state else state

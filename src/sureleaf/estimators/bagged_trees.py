"""BaggedTreesClassifier: trees grown on bootstraps, that know how often they are right together."""

import copy
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sureleaf.counts import LeafCounts
from sureleaf.errors import InvalidTypeError
from sureleaf.estimators.bags import draw_bag
from sureleaf.estimators.building import build, trees_at_once
from sureleaf.estimators.features_mixin import FeaturesMixin
from sureleaf.estimators.out_of_bag_mixin import OutOfBagMixin
from sureleaf.estimators.parameters import check_choice, check_number, draw_seed, thread_count
from sureleaf.estimators.saving import SavingMixin
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.probability import find_estimate
from sureleaf.progress import track
from sureleaf.tree import TrainingRows, Tree

__all__ = ["BaggedTreesClassifier"]


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
            from sureleaf.estimators.calibrating import fit_calibration  # loads linear models

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

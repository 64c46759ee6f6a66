"""BaggedTreesClassifier: a scikit-learn estimator around a `BaggedModel`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Self

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_number,
    parallel,
    runs_elsewhere,
    thread_count,
)
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.estimators.base import ModelEstimator, class_weights, read_training_rows
from sureleaf.estimators.parameters import with_hints
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.levels.decisions import cost_rule
from sureleaf.model.bagged_model import BaggedModel, BagRowLevels
from sureleaf.model.fitting import TreeSettings, build, check_max_features, trees_at_once
from sureleaf.model.out_of_bag import (
    OutOfBagLevels,
    OutOfBagSums,
    draw_bag,
    fit_calibration,
    missing_rows,
    out_of_bag_evidence,
    out_of_bag_sums,
)
from sureleaf.model.seen_rows import seen_rows
from sureleaf.model.state import estimate_from_plain, estimate_to_plain
from sureleaf.probability import LeafEstimate, PrevalenceMix, Shrinkage, find_estimate
from sureleaf.progress import track
from sureleaf.random_streams import draw_seed
from sureleaf.tree import TrainingRows, Tree, thread_map

FOREST_TREE: Final[dict[str, Any]] = {
    "criterion": "gini",
    "categorical_split": "subset",
    "missing": "branch",
    "min_samples_leaf": 1,
    "max_features": "sqrt",
    "collapse": False,
    "pruning": None,
    "leaf_estimate": Shrinkage(1.0),
}
"""Parameters of the trees of a forest; docs/quality.md has the measurements."""


_MOST_TREES: Final = 1_000_000


class BaggedTreesClassifier(ModelEstimator[BaggedModel]):
    """A forest: trees grown on bootstrap samples of the rows; their mean probability predicts.

    Every tree leaves out about 37 % of the rows. Predictions of rows by trees that left them out
    give probabilities, an error and levels that hold for unseen rows. When these are first asked
    for, further trees are grown, 51 for 30, until a row was left out by as many trees as predict a
    new row. They are not kept.

    Parameters
    ----------
    estimator : TreeClassifier, optional
        How each tree is grown. By default fully, with a random choice of columns at every node:
        gini, categories divided into two groups, missing values in a branch that each test
        learns, one row per leaf, no pruning. ``TreeClassifier.c45(pruning=None)`` bags the trees
        of C4.5.
    n_estimators : int
        Number of trees.
    max_features : int, float, "sqrt", "log2", "auto" or None
        Number (or share) of the columns that are drawn for each node; None for all. "auto" is
        "sqrt", or what `estimator` says if one is given.
    max_samples : int or float
        Number of rows that are drawn for each tree, or their share in (0, 1].
    class_weight : dict, "balanced" or None
        Weight of the rows of each class in the trees, as in scikit-learn; a leaf has a weight of
        at least 1. Which rows are drawn does not depend on it, nor does the utility: that counts
        rows. None is what `estimator` says.
    calibration : {"sigmoid", "isotonic"} or None
        Calibrate the mean probabilities on the out-of-bag rows, with scikit-learn's calibrators.
        None states the plain mean of the trees, which is off by several points in some
        populations (docs/probabilities.md).
    cost : array-like of shape (n_classes, n_classes), or None
        ``cost[actual][predicted]``, classes sorted: `predict` decides by expected cost. The trees
        are the same.
    n_jobs : int or None
        Number of threads; None and -1 mean all cores. The trees do not depend on it.
    random_state : int, RandomState or None
        For the bootstrap samples, which are keyed by seed, tree and draw. None is 0.

    Attributes
    ----------
    model_ : BaggedModel
        Everything that is known after the fit, as one frozen value.
    trees_ : list of Tree
        The trees as flat frozen arrays.
    estimator_ : TreeClassifier
        With the parameters that all trees have.
    estimators_ : list of TreeClassifier
        The same trees as estimators, with the counts of their bags.
    classes_ : ndarray
        The classes.
    oob_proba_, oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        For each training row the (calibrated) mean of trees whose bags do not hold it; NaN for rows
        that are in every bag. The second name is that of scikit-learn's forests. Computed when
        first used, like the next ones:
    oob_levels_ : OutOfBagLevels
        Agreement and utility, with the interval of the utility.
    oob_score_ : float
        The share of the training rows that is predicted correctly out of bag.
    feature_importances_ : ndarray of shape (n_columns,)
        Each column's share of the decrease of impurity, the mean over the trees.
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

    @with_hints
    def __init__(
        self,
        *,
        estimator: Any = None,
        n_estimators: int = 30,
        max_features: Any = "auto",
        max_samples: int | float = 1.0,
        class_weight: Any = None,
        calibration: str | None = None,
        cost: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.calibration = calibration
        self.cost = cost
        self.n_jobs = n_jobs
        self.random_state = random_state

    _model_type = BaggedModel
    estimator_: TreeClassifier
    _rows: TrainingRows | None = None
    """The training rows, kept for out-of-bag predictions until `forget_rows`."""
    _oob_proba: FloatArray | None = None
    """Out-of-bag probabilities, once they have been computed."""

    # ---- fitting ---------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : NumPy array, pandas, polars or Arrow table, or list of rows
            As for TreeClassifier.
        y : array-like of shape (n_rows,)
            Labels of any type.
        sample_weight : array-like of shape (n_rows,), optional
            The probability that a row is drawn is proportional to its weight; the sum of the
            weights, times `max_samples`, is the number of draws.
        """
        self.check_parameters()
        template = self._make_template()
        seed = draw_seed(self.random_state)
        rows, classes, weights = read_training_rows(
            X,
            y,
            sample_weight,
            categorical_features=template.categorical_features,
            weights=template.weights,
            estimator=type(self).__name__,
        )
        rows = rows.owned()  # out-of-bag rows are predicted later, and the caller may change X
        bags = _Bags.of(rows, classes, template, seed=seed, max_samples=self.max_samples)
        model = BaggedModel(
            schema=(
                rows.table.schema_with_missing()
                if template.missing == "branch"
                else rows.table.schema
            ),
            classes=classes,
            trees=tuple(bags.grow(range(self.n_estimators), self.n_jobs)),
            leaf_estimate=_leaf_estimate(template),
            criterion=template.criterion,
            unseen=template.unseen,
            weights=weights,
            seed=seed,
            max_samples=self.max_samples,
            cost=None if self.cost is None else cost_rule(self.cost, classes).cost,
            seen=seen_rows(rows, thread_count(self.n_jobs)),
        )
        _ = model.probabilities  # an estimate of the user's own may fail
        model, oob_proba = self._calibrated(model, rows, template)
        # Assigned only now, so that a fit that fails leaves the estimator as it was.
        self.model_, self.estimator_, self._rows = model, template, rows
        self._oob_proba = oob_proba
        return self

    def check_parameters(self) -> None:
        """Raise unless the parameters can be used; those of the trees are checked by `fit`."""
        check_number("n_estimators", self.n_estimators, low=1, high=_MOST_TREES, whole=True)
        check_choice("calibration", self.calibration, (None, "sigmoid", "isotonic"))
        if self.max_features != "auto":
            check_max_features(self.max_features)
        if isinstance(self.max_samples, int | np.integer):
            check_number("max_samples", self.max_samples, low=1, whole=True)
        else:
            check_number("max_samples", self.max_samples, low=0, high=1, open_low=True)
        if self.cost is not None:
            cost_rule(self.cost)
        if isinstance(self.estimator, TreeClassifier) and self.estimator.cost is not None:
            raise InvalidArgumentError(
                "cost must be given to BaggedTreesClassifier, whose trees decide together; got it "
                "in estimator. Use BaggedTreesClassifier(cost=...)."
            )

    def _make_template(self) -> TreeClassifier:
        """Make the estimator whose parameters all trees have."""
        if self.estimator is None:
            template = TreeClassifier(**FOREST_TREE, random_state=0)
        elif isinstance(self.estimator, TreeClassifier):
            template = clone(self.estimator).set_params(levels_from="cross_fit")
            if template.random_state is None:
                template.random_state = draw_seed(self.random_state)
        else:
            raise InvalidTypeError(
                "estimator must be a TreeClassifier; got "
                f"{type(self.estimator).__name__}. For others use sklearn.ensemble."
                "BaggingClassifier."
            )
        if self.max_features != "auto":
            template.max_features = self.max_features
        if self.class_weight is not None:
            template.class_weight = self.class_weight
        return template

    def _calibrated(
        self, model: BaggedModel, rows: TrainingRows | None, template: TreeClassifier
    ) -> tuple[BaggedModel, FloatArray | None]:
        """Fit the calibration to out-of-bag probabilities, if one is wanted."""
        if self.calibration is None:
            return model, None
        if rows is None:
            raise missing_rows()
        sums = self._out_of_bag_sums(model, rows, template)
        weights = rows.weights
        if template.class_weight is not None:  # calibration to plain rows would undo the weights
            factors = class_weights(template.class_weight, model.classes, rows.labels)
            weights = factors[rows.labels] * rows.row_weights
        calibration = fit_calibration(
            sums.means(), rows.labels, weights, method=self.calibration, classes=model.classes
        )
        model = replace(model, calibration=calibration)
        evidence, oob_proba = out_of_bag_evidence(model, sums, rows)
        return replace(model, out_of_bag=evidence), oob_proba

    def _out_of_bag_sums(
        self, model: BaggedModel, rows: TrainingRows, template: TreeClassifier
    ) -> OutOfBagSums:
        of_bag: Any = {"seed": model.seed, "max_samples": model.max_samples}
        bags = _Bags.of(rows, model.classes, template, **of_bag)
        grow = partial(bags.grow, n_jobs=self.n_jobs)
        return out_of_bag_sums(model, rows, grow, n_threads=thread_count(self.n_jobs))

    # ---- the fitted model ------------------------------------------------------------------------

    @property
    def trees_(self) -> list[Tree]:
        """The trees as flat frozen arrays."""
        return list(self._fitted().trees)

    @property
    def estimators_(self) -> list[TreeClassifier]:
        """The trees as estimators; a row drawn k times counts as k rows of its tree."""
        return [
            TreeClassifier.around(member, self.estimator_, levels_from="training")
            for member in self._fitted().members
        ]

    def complete_model(self) -> BaggedModel:
        """Return the fitted model with its out-of-bag evidence, computing it if it is missing.

        It stays missing only if it was never computed and the rows have been dropped.
        """
        model, rows = self._fitted(), self._rows
        if model.out_of_bag is None and rows is not None:
            sums = self._out_of_bag_sums(model, rows, self.estimator_)
            evidence, self._oob_proba = out_of_bag_evidence(model, sums, rows)
            self.model_ = model = replace(model, out_of_bag=evidence)
        return model

    @property
    def oob_proba_(self) -> FloatArray:
        """Out-of-bag probabilities; NaN for rows that are in every bag."""
        self.complete_model()
        if self._oob_proba is None:
            raise missing_rows()
        return self._oob_proba.copy()

    @property
    def oob_levels_(self) -> OutOfBagLevels:
        """Agreement of the trees and utility, by rows that are not in their bags."""
        return self.complete_model().require_out_of_bag().levels

    @property
    def oob_score_(self) -> float:
        """The share of the training rows whose out-of-bag prediction is correct."""
        return self.oob_levels_.utility

    @property
    def oob_decision_function_(self) -> FloatArray:
        """Out-of-bag probabilities, as `oob_proba_`."""
        return self.oob_proba_

    def with_leaf_estimate(self, leaf_estimate: Any) -> Self:
        """Return a copy with another leaf estimate; nothing is grown again.

        `leaf_estimate` is as the parameter of TreeClassifier. A calibration is fitted again, on the
        new out-of-bag probabilities.
        """
        self._fitted()
        template: TreeClassifier = clone(self.estimator_)
        template.set_params(leaf_estimate=leaf_estimate)
        estimate = _leaf_estimate(template)
        model = replace(self.model_, leaf_estimate=estimate, calibration=None, out_of_bag=None)
        _ = model.probabilities  # an estimate of the user's own may fail
        model, oob_proba = self._calibrated(model, self._rows, template)
        made = {"estimator": template, "estimator_": template, "_oob_proba": oob_proba}
        return self._changed(**made, model_=model)

    def forget_rows(self) -> Self:
        """Drop the training rows that are kept for out-of-bag results; known results stay."""
        self._fitted()
        self._rows = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, after what needs them has been computed.

        Out-of-bag probabilities and template are plain values, too, so that skops has to trust one
        type.
        """
        oob_proba = None
        if self.__sklearn_is_fitted__():
            self.complete_model()
            oob_proba = self._oob_proba
        state: dict[str, Any] = super().__getstate__()
        for name in ("_rows", "_oob_proba"):
            state.pop(name, None)
        if oob_proba is not None:
            state["_oob_proba"] = oob_proba
        if type(state.get("estimator_")) is TreeClassifier:
            parameters = state["estimator_"].get_params(deep=False)
            # An estimate of another library stays an object.
            with suppress(SureleafError):
                parameters["leaf_estimate"] = estimate_to_plain(parameters["leaf_estimate"])
                del state["estimator_"]
                state["template_state_"] = parameters
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        parameters = state.pop("template_state_", None)
        if parameters is not None:
            estimate = estimate_from_plain(parameters["leaf_estimate"])
            state["estimator_"] = TreeClassifier(**{**parameters, "leaf_estimate": estimate})
        super().__setstate__(state)

    # ---- predictions -----------------------------------------------------------------------------

    def predict_proba(self, X: Any, *, voting: bool = False) -> FloatArray:
        """Return class probabilities, one column per class of ``classes_``.

        They are the mean of the trees. Of rows that state .85 not 85 % need be right: unless
        `calibration` is given, use `predict_levels` for that.

        With `voting`, they are the share of the trees that predict each class, instead of the mean
        of their probabilities. Votes are not calibrated.
        """
        name = type(self).__name__
        return self._fitted().predict_proba(X, voting=voting, n_jobs=self.n_jobs, estimator=name)

    def predict_levels(self, X: Any) -> BagRowLevels:
        """Return the prediction of each row, the agreement of the trees and the utility.

        The utility is the accuracy of out-of-bag predictions that were about as probable.
        """
        model = self.complete_model()
        return model.predict_levels(X, n_jobs=self.n_jobs, estimator=type(self).__name__)


@dataclass(frozen=True, eq=False)
class _Bags:
    """The bags of rows that trees are grown on."""

    rows: TrainingRows
    settings: TreeSettings
    seed: int
    max_samples: int | float
    class_factors: FloatArray | None

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        classes: NDArray[Any],
        template: TreeClassifier,
        *,
        seed: int,
        max_samples: int | float,
    ) -> Self:
        """Make the bags of all trees of one fit."""
        settings = template.settings().for_table(rows.table.schema, classes)
        rules = replace(settings.rules, seed=seed % 2**64)  # key of the columns that are drawn
        if rules.criterion != "gain_ratio":
            # A bag leaves out the rows between two of its values. Halfway is right in the mean.
            rules = replace(rules, thresholds="midpoint")
        settings = replace(settings, rules=rules, keep_order=True)
        factors = None
        if template.class_weight is not None:
            factors = class_weights(template.class_weight, classes, rows.labels)
        return cls(rows, settings, seed, max_samples, factors)

    def grow(self, numbers: Sequence[int], n_jobs: int | None) -> list[Tree]:
        """Grow the trees with these numbers; what is encoded and sorted is shared by all."""
        if runs_elsewhere():
            n_ranges = min(2 * effective_n_jobs(-1), len(numbers))
            ranges = np.array_split(np.asarray(numbers), n_ranges) if len(numbers) else []
            workers = parallel()
            grown = workers(delayed(_grow_some)(self, some.tolist()) for some in ranges)
            return [tree for trees in grown for tree in trees]
        n_threads = thread_count(n_jobs)
        _ = self.rows.kernel
        self.rows.sort(n_threads)
        n_at_once = trees_at_once(*self.rows.shape, n_threads)
        grow_one = partial(self.grow_one, n_threads=max(1, n_threads // n_at_once))
        with thread_map(n_at_once) as run:
            return list(track(run(grow_one, numbers), total=len(numbers), what="Growing"))

    def __sizeof__(self) -> int:
        """Count the labels, so that joblib sends it to Dask's workers once, not per range."""
        return object.__sizeof__(self) + self.rows.labels.nbytes

    def grow_one(self, number: int, n_threads: int) -> Tree:
        """Grow the tree with this number."""
        rows, settings = self.rows, self.settings
        of_bag: Any = {"seed": self.seed, "max_samples": self.max_samples}
        bag = draw_bag(len(rows.labels), rows.weights, tree=number, **of_bag)
        if self.class_factors is not None:
            bag *= self.class_factors[rows.labels]
        of_tree = replace(
            settings,
            rules=replace(settings.rules, tree=number),
            seed=settings.seed + number,
            n_threads=n_threads,
        )
        return build(rows.with_weights(bag), of_tree)


def _grow_some(bags: _Bags, numbers: list[int]) -> list[Tree]:
    bags.rows.sort(1)
    return [bags.grow_one(number, n_threads=thread_count(None)) for number in numbers]


def _leaf_estimate(template: TreeClassifier) -> LeafEstimate:
    """Return the leaf estimate of all trees.

    "auto" keeps the majority class of each leaf, which matters for a single tree. Among many trees
    a leaf may be overturned, since the mean of the trees predicts: the estimate is "averaging".
    """
    named = template.leaf_estimate
    is_auto = isinstance(named, str) and named == "auto"
    if is_auto and template.monotone is not None:
        return PrevalenceMix()  # averaging could break the constraints
    return find_estimate("averaging" if is_auto else named)

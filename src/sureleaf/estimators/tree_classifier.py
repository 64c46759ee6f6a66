"""TreeClassifier: a decision tree as a scikit-learn estimator around a `TreeModel`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import estimator_html_repr

import sureleaf
from sureleaf.arguments import FloatArray, check_groups, check_number, check_weights, thread_count
from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.estimators.base import (
    ModelEstimator,
    class_weights,
    read_training_rows,
    source_training_rows,
    split_columns,
)
from sureleaf.estimators.parameters import BY_ERRORS, C45, check_parameters, with_hints
from sureleaf.folds import reusable
from sureleaf.levels.decisions import cost_rule, unequal_rule
from sureleaf.levels.guarantees import Per, venn_limits
from sureleaf.model.certificate import Certificate
from sureleaf.model.cross_fitting import cross_fit_levels
from sureleaf.model.explanation import Explanation, explain_row
from sureleaf.model.fitting import TreeSettings, check_max_features, fit_model
from sureleaf.model.halves import with_stability
from sureleaf.model.leaf_table import FittedLevels, LeafTable, RowLevels
from sureleaf.model.refits import TreeRefits
from sureleaf.model.seen_rows import seen_rows
from sureleaf.model.size_selection import SizeCurve
from sureleaf.model.stability import SplitTable
from sureleaf.model.tree_model import Evidence, TreeModel, VennProbabilities
from sureleaf.probability import (
    Averaging,
    KeepDecision,
    LeafEstimate,
    PrevalenceMix,
    find_estimate,
    is_built_in,
    sized_estimate,
)
from sureleaf.random_streams import draw_seed
from sureleaf.scale import (
    Roles,
    SourceRows,
    is_dask,
    is_source,
    join_series,
    open_source,
    read_rows,
)
from sureleaf.table import Schema
from sureleaf.tree import GrowthRules, TrainingRows, Tree
from sureleaf.tree.routing import LeafCounts

if TYPE_CHECKING:
    import scipy.sparse as sp

    from sureleaf.tree.pruning import CostComplexityPath

_DRAWN_LEAVES: Final = 32
"""A larger tree is drawn only down to a depth, so that a notebook stays small."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """What an estimator keeps of its fit, so that levels can be cross-fitted later."""

    settings: TreeSettings
    """With what cross-validation has chosen."""
    rows: TrainingRows | None
    """None if the levels need none."""
    groups: NDArray[Any] | None


class TreeClassifier(ModelEstimator[TreeModel]):
    """A decision tree that knows how sure it is: small, and about as accurate as a tree can be.

    Cross-validation chooses the size: the smallest tree that is not worse than the best by more
    than `margin`. `TreeClassifier.c45` gives the parameters with which the tree is that of C4.5.

    Parameters
    ----------
    criterion : {"entropy", "gini", "gain_ratio"}
        How splits are compared. entropy and gini split every impure node that has a legal split,
        as in scikit-learn; gain_ratio applies all rules of C4.5.
    categorical_features : "auto", list of names, indices or bools, mapping, or Schema
        Which columns are categorical. "auto": text, bools, categories and enums. A mapping gives
        the kind of columns by name or index: "numeric", "categorical", "ordered", "date", or the
        categories of an ordered column from first to last, ``{"size": ["s", "m", "l"]}``; other
        columns go by their type. A Schema, such as `schema_` of another model, gives all kinds.
    categorical_split : {"subset", "multiway"}
        The best partition of the categories into two groups, or one branch per category. With
        entropy and gini, the gain that such a split has by chance is subtracted, which keeps
        columns of identifiers out of the tree; not where a tree grows as that of C4.5, with
        "multiway" and ``missing="fraction"``.
    missing : {"branch", "fraction"}
        "branch": every test learns which branch missing values take, and "is missing" can be the
        test itself. "fraction": a row goes down all branches, weighted by their shares (C4.5).
    max_depth : int or None
        The largest number of tests from the root to a leaf.
    max_leaves : int or None
        The largest number of leaves. With pruning="auto", cross-validation chooses the best tree
        that has no more; else the splits of largest decrease are made first.
    min_samples_leaf : float
        Least weight of rows in a leaf; a number below 1 is a share of the rows. With gain_ratio it
        is C4.5's M: two branches must have this weight (and thresholds may need more).
    max_features : int, float, "sqrt", "log2" or None
        Number (or share) of columns that are drawn for each node; None for all.
    monotone : dict, list or None
        Constraints per column, by name or index, or as one entry per column: 1 if the probability
        of the second class must not fall along the column, -1 if it must not rise, 0 for none. For
        more classes (or two), signs by class: ``{"age": {"high": 1, "low": -1}}``. Leaves then
        keep frequencies mixed with the prevalence (`PrevalenceMix`), unless `leaf_estimate` says
        otherwise: other estimates can break a constraint.
    pruning : {"auto", "pessimistic", "cost_complexity", "reduced_error", "utility"} or None
        "auto": the smallest tree that is not worse than the best by more than `margin`, by
        cross-validation. "pessimistic": the rule of C4.5. "cost_complexity": the smallest tree
        within one standard error of the best, or that of `ccp_alpha`. "reduced_error": by the
        errors on a third of the rows, which do not grow the tree. "utility": by the utility that
        a split adds at the sample size at hand, with the least gain chosen by cross-validation.
    margin : float or None
        For pruning="auto": how much accuracy may be given up for a smaller tree. 0 gives the most
        accurate tree. With `cost`: how much of the mean cost of a wrong decision per row. None is
        0.01, and 0 if `max_leaves` limits the size.
    min_confidence : float or None
        Stop where leaves are too small: every leaf reaches this confidence by the theory, (9) with
        the blend (20) of the rows that grew the tree, or the tree is one leaf. The other leaves are
        merged.
    confidence_factor : float
        For pessimistic pruning, in (0, 0.5]; smaller values prune more.
    ccp_alpha : float
        For cost-complexity pruning: the penalty per leaf, in the units of scikit-learn. At 0 it is
        chosen by cross-validation.
    class_weight : dict, "balanced" or None
        Weight of the rows of each class, as in scikit-learn. Counts, such as `n` of the leaves, are
        then sums of weights and not rows, and levels are of rows weighted like that.
    cost : array-like of shape (n_classes, n_classes), or None
        ``cost[actual][predicted]``, classes sorted. Pruning, the decision of each leaf, `predict`
        and the levels then go by expected cost; splits are those of rows weighted by the mean cost
        of errors on their class, and `min_samples_leaf` counts rows of the class that costs least:
        a row of another class counts as many times as its errors cost more. Counts are plain.
    collapse : bool
        Cut subtrees that make no fewer training errors than a leaf in their place (C4.5).
    leaf_estimate : str or object
        How class counts become probabilities: "frequency", "laplace", "m_estimate", "jeffreys",
        "blend", "shrinkage", "averaging", "venn", or an object of `sureleaf.probability` or your
        own, called with the tree and its counts. "auto" is "shrinkage" with pruning="auto", where
        cross-validation chooses how strongly a leaf is shrunk, else "averaging".
    levels_from : {"training", "honest", "cross_fit"}
        Which rows the levels of confidence and utility come from: the rows that grew the tree;
        half of the rows, which are kept from growing it and give its counts and predictions; or
        all rows, through out-of-fold predictions.
    cv : int, splitter or iterable
        The folds of cross-fitting, and of prunings that are chosen by cross-validation. For
        pruning="auto" at most five folds are used: more are put together.
    weights : {"counts", "importance"}
        What sample weights mean: a row of weight k counts as k rows, or weights are relative
        importances, which are scaled to a mean of 1.
    unseen : {"mixture", "stop", "error"}
        What happens to a row whose category a node has not seen: it goes down all branches, or
        stops there. With "error", a category that no training row has raises an error.
    n_jobs : int or None
        Number of threads; None and -1 mean all cores. The tree does not depend on it.
    random_state : int, RandomState or None
        For random choices: the rows held out, the folds. None is 0: a tree can be grown again.

    Attributes
    ----------
    model_ : TreeModel
        Everything that is known after the fit, as one frozen value.
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

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> rows = [["sunny", 30.0], ["sunny", 21.0], ["rain", 20.0], ["rain", None], ["fog", 12.0],
    ...         ["fog", 31.0], ["sunny", 29.0], ["rain", 11.0]]
    >>> play = ["no", "yes", "yes", "yes", "yes", "no", "no", "yes"]
    >>> model = TreeClassifier(leaf_estimate="frequency").fit(rows, play)
    >>> print(model.rules())
    x1 <= 21 or missing: yes   100 % (5 rows: yes 5)
    x1 > 21: no   100 % (3 rows: no 3)
    >>> model.predict([["fog", 10.0], ["rain", None]]).tolist()
    ['yes', 'yes']
    """

    @with_hints
    def __init__(
        self,
        *,
        criterion: str = "entropy",
        categorical_features: Any = "auto",
        categorical_split: str = "subset",
        missing: str = "branch",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_leaf: float = 2,
        max_features: Any = None,
        monotone: Any = None,
        pruning: str | None = "auto",
        margin: float | None = None,
        min_confidence: float | None = None,
        confidence_factor: float = 0.25,
        ccp_alpha: float = 0.0,
        class_weight: Any = None,
        cost: Any = None,
        collapse: bool = False,
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
        self.missing = missing
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.monotone = monotone
        self.pruning = pruning
        self.margin = margin
        self.min_confidence = min_confidence
        self.confidence_factor = confidence_factor
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.cost = cost
        self.collapse = collapse
        self.leaf_estimate = leaf_estimate
        self.levels_from = levels_from
        self.cv = cv
        self.weights = weights
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def c45(cls, **changes: Any) -> Self:
        """Return an estimator that grows the tree of C4.5.

        Gain ratio, one branch per category, missing values as fractional rows, at least two rows
        per leaf, collapsing and pessimistic pruning.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> print(TreeClassifier.c45(confidence_factor=0.1))
        TreeClassifier.c45(confidence_factor=0.1)
        >>> TreeClassifier.c45().criterion, TreeClassifier.c45().pruning
        ('gain_ratio', 'pessimistic')
        """
        return cls(**{**C45, **changes})

    def __str__(self) -> str:
        """Show the parameters that differ from the defaults, or from those of C4.5.

        scikit-learn composes the repr of nested estimators, so that stays its own.
        """
        parameters = self.get_params(deep=False)
        if any(parameters[name] != C45[name] for name in ("criterion", "missing")):
            return repr(self)
        usual = {**TreeClassifier().get_params(deep=False), **C45}
        changes = [
            f"{name}={value!r}"
            for name, value in parameters.items()
            if repr(value) != repr(usual.get(name))
        ]
        return f"{type(self).__name__}.c45({', '.join(changes)})"

    _model_type = TreeModel
    _fit: FitRows | None = None
    """Kept until `forget_rows`."""

    # ---- fitting ---------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        memory: Any = None,
        client: Any = None,
    ) -> Self:
        """Grow and prune a tree.

        Parameters
        ----------
        X : NumPy array, pandas, polars or Arrow table, or list of rows
            Text, bools and categories are categorical; NaN, None and null are missing. Or a table
            of any size, which is read in batches: a folder of Parquet files, a file, a list of
            files, a polars LazyFrame, a DuckDB relation, an Arrow stream, or a function that opens
            batches; y is then the name of a column (docs/scale.md). Or a Dask DataFrame or a list
            of delayed partitions, which are read on a cluster (docs/cluster.md).
        y : array-like of shape (n_rows,), or str
            Labels of any type, or the name of their column in X.
        sample_weight : array-like of shape (n_rows,), or str, optional
            Weights as the parameter `weights` says; rows of weight 0 take no part.
        groups : array-like of shape (n_rows,), or str, optional
            Rows of one group stay together in every fold.
        memory : int or str, optional
            For a table that is read in batches: bytes that the fit may use for codes, histograms
            and rows that are collected, such as "2GB"; by default, half of the memory that is free.
            A `MemoryLimitWarning` says before the fit if it needs more. On a cluster, per task.
        client : distributed.Client, optional
            The cluster, by default the client that was made last. With a client, Parquet and Arrow
            files are read on its workers, too.
        """
        settings = self.settings()
        if client is not None or is_dask(X):
            X, (y, sample_weight, groups) = join_series(X, (y, sample_weight, groups))
            self._check_names(y, sample_weight, groups)
        if isinstance(X, SourceRows) or (isinstance(y, str) and is_source(X)):
            large = settings.grows_large_trees
            read = self._read_batches(X, (y, sample_weight, groups), memory, client, large)
            rows, weights = source_training_rows(read, self.weights, self.class_weight)
            classes, groups, seen = read.classes, read.groups, read.seen
        else:
            if isinstance(y, str):
                X, y, sample_weight, groups = split_columns(X, y, sample_weight, groups)
            (rows, classes, weights), seen = self._read(X, y, sample_weight), None
        settings = replace(settings, weights=weights)
        if self.levels_from == "cross_fit":
            rows = rows.owned()  # levels are computed later, and the caller may change X until then
        groups = check_groups(groups, len(rows.labels))
        model, resolved = fit_model(rows, classes, settings, groups=groups)
        if seen is not None:
            model = model.with_seen(seen)
        if not is_built_in(settings.leaf_estimate):
            _ = model.probabilities  # an estimate of the user's own may fail
        # Assigned only now, so that a fit that fails leaves the estimator as it was.
        kept = rows if self.levels_from == "cross_fit" else None
        self.model_, self._fit = model, FitRows(resolved, kept, groups)
        return self

    def settings(self) -> TreeSettings:
        """Check the parameters and return them as settings of a fit."""
        check_parameters(self.get_params(deep=False))
        if self.ccp_alpha and self.pruning != "cost_complexity":
            raise InvalidArgumentError(
                "ccp_alpha must be 0 unless pruning is 'cost_complexity'; got "
                f"{self.ccp_alpha!r} with pruning={self.pruning!r}. Set pruning='cost_complexity'."
            )
        check_max_features(self.max_features)
        cost = self._checked_cost()
        self._check_monotone()
        seed = draw_seed(self.random_state)
        leaf_estimate, chooses_strength = self._leaf_estimate()
        is_auto = self.pruning == "auto"
        is_c45 = (self.categorical_split, self.missing) == ("multiway", "fraction")
        of_rules: dict[str, Any] = {
            **self._parameters_of(GrowthRules),
            "category_penalty": 0.0 if is_c45 else 1.0,
            "max_leaves": None if is_auto else self.max_leaves,
            "max_features": None,  # a number of columns and signs follow from the table
            "monotone": None,
            "seed": seed,
        }
        of_settings: dict[str, Any] = {
            **self._parameters_of(TreeSettings),
            "max_leaves": self.max_leaves if is_auto else None,
            "collapse": bool(self.collapse),
            "cv": reusable(self.cv),
            "leaf_estimate": leaf_estimate,
            "penalty": self.ccp_alpha or None,
            "cost": cost,
        }
        return TreeSettings(
            rules=GrowthRules(**of_rules),
            **of_settings,
            seed=seed,
            n_threads=thread_count(self.n_jobs),
            keep_order=self.levels_from == "cross_fit",
            chooses_strength=chooses_strength,
        )

    def _parameters_of(self, kind: type[GrowthRules | TreeSettings]) -> dict[str, Any]:
        """Return the parameters that are fields of this type, too."""
        names = {field.name for field in fields(kind)}
        return {name: value for name, value in self.get_params(False).items() if name in names}

    def _checked_cost(self) -> FloatArray | None:
        """Return the cost matrix, if the way of pruning knows costs."""
        if self.cost is None:
            return None
        rule = cost_rule(self.cost)
        if self.pruning in BY_ERRORS and not rule.is_equal:
            raise InvalidArgumentError(
                "pruning must be 'auto', 'cost_complexity', 'reduced_error' or None where errors "
                f"have different costs; got {self.pruning!r}, which counts errors. Use "
                "pruning='auto', or leave out cost and decide by sureleaf.decide."
            )
        if self.collapse and not rule.is_equal:
            raise InvalidArgumentError(
                "collapse must be False where errors have different costs; got True, which cuts "
                "splits that save no errors, although they may save costs. Set collapse=False."
            )
        return rule.cost

    def _check_monotone(self) -> None:
        if self.monotone is None:
            return
        if not isinstance(self.monotone, Mapping | Sequence | np.ndarray) or isinstance(
            self.monotone, str
        ):
            raise InvalidArgumentError(
                "monotone must be a dict of signs by column, a list of one sign per column or "
                f"None; got {self.monotone!r}."
            )
        for name in ("pruning", "levels_from"):
            if getattr(self, name) in ("pessimistic", "reduced_error", "honest"):
                raise InvalidArgumentError(
                    f"monotone cannot be used with {name}={getattr(self, name)!r}, which changes "
                    "the class counts of the nodes after they were split. Use pruning='auto' and "
                    "levels_from='cross_fit'."
                )

    def _leaf_estimate(self) -> tuple[LeafEstimate, bool]:
        """Return the leaf estimate, and whether cross-validation chooses its strength."""
        if not isinstance(self.leaf_estimate, str) or self.leaf_estimate != "auto":
            return find_estimate(self.leaf_estimate), False
        if self.monotone is not None:
            return PrevalenceMix(), False
        rule = unequal_rule(None if self.cost is None else cost_rule(self.cost).cost)
        if self.pruning == "auto":
            # Rows that did not grow the tree need another strength than the rows of the folds did.
            return sized_estimate(rule), self.levels_from != "honest"
        if rule is not None:
            return KeepDecision(Averaging(), rule.cost), False
        return find_estimate("auto"), False

    def _read(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[TrainingRows, NDArray[Any], str]:
        return read_training_rows(
            X,
            y,
            sample_weight,
            categorical_features=self.categorical_features,
            weights=self.weights,
            class_weight=self.class_weight,
            estimator=type(self).__name__,
        )

    def _check_names(self, y: Any, sample_weight: Any, groups: Any) -> None:
        for name, given in (("y", y), ("sample_weight", sample_weight), ("groups", groups)):
            if not isinstance(given, str) and (given is not None or name == "y"):
                raise InvalidArgumentError(
                    f"{name} must be the name of a column if the table is read in batches; got "
                    f"{type(given).__name__}. Make it a column of the table, or, if the table fits "
                    "into memory, give its rows (of Dask: X.compute())."
                )

    def _read_batches(
        self,
        X: Any,
        names: tuple[str, Any, Any],
        memory: Any,
        client: Any = None,
        grows_large_trees: bool | None = None,
    ) -> SourceRows:
        if isinstance(X, SourceRows):
            return X
        self._check_names(*names)
        how: Any = {"categorical_features": self.categorical_features, "memory": memory}
        if client is not None or is_dask(X):
            optional_library("distributed", needed="for a fit on a cluster")
            from sureleaf.scale.dask_parts import read_cluster_rows

            return read_cluster_rows(X, Roles(*names), client=client, **how)
        source = open_source(X)
        return read_rows(
            source,
            Roles(*names, source.drop, source.skips_unlabelled),
            n_threads=thread_count(self.n_jobs),
            grows_large_trees=grows_large_trees,
            **how,
        )

    def read_columns(
        self, X: Any, y: str, sample_weight: Any = None, groups: Any = None, *, memory: Any = None
    ) -> tuple[Any, NDArray[Any], Any, Any]:
        """Split columns that are given by name off a table; one of any size is read in batches.

        Arguments are as in `fit`. Returns the table, the labels, the weights and the groups.
        """
        if not is_source(X):
            X, labels, sample_weight, groups = split_columns(X, y, sample_weight, groups)
            return X, np.asarray(labels), sample_weight, groups
        read = self._read_batches(X, (y, sample_weight, groups), memory)
        return read.table, read.classes[read.labels], read.weights, read.groups

    def prepare_refits(self, X: Any, y: Any, sample_weight: Any = None) -> TreeRefits | None:
        """Read a table once, to grow trees on many parts of it.

        `sureleaf.evaluate` uses this, so that the trees of a design share what is encoded and
        sorted. A refit is the tree of a clone that is fitted on the rows of its part.

        Returns None where each part must be read by itself: for ``unseen="error"``, for columns
        given by a Schema, and for classes derived from this one, which may fit in another way.
        """
        has_schema = isinstance(self.categorical_features, Schema)
        if type(self) is not TreeClassifier or self.unseen == "error" or has_schema:
            return None
        rows, classes, _ = self._read(X, y)
        rows = replace(rows, weights=None)  # each part weighs its own classes
        weights = check_weights(sample_weight, len(rows.labels))
        weigh_classes = None
        if self.class_weight is not None:
            weigh_classes = partial(class_weights, self.class_weight)
        return TreeRefits(rows, classes, weights, self.n_jobs, weigh_classes)

    # ---- the fitted model ------------------------------------------------------------------------

    @property
    def tree_(self) -> Tree:
        """The tree as flat frozen arrays."""
        return self._fitted().tree

    @property
    def leaf_counts_(self) -> LeafCounts:
        """Class counts of the leaves; supports ``+``."""
        return self._fitted().leaf_counts

    def get_depth(self) -> int:
        """Return the largest number of tests from the root to a leaf."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def complete_model(self) -> TreeModel:
        """Return the fitted model with its levels, which are cross-fitted if they are not known.

        They are only missing if they were never computed and the rows have been dropped.
        """
        model, fit = self._fitted(), self._fit
        if not model.has_levels and fit is not None and fit.rows is not None:
            given: Any = {"groups": fit.groups, "n_threads": thread_count(self.n_jobs)}
            model = cross_fit_levels(model, fit.rows, fit.settings, **given)
            self.model_ = with_stability(model, fit.rows, fit.settings, **given)
        return self.recognising_model()

    def recognising_model(self) -> TreeModel:
        """Return the fitted model with fingerprints of its rows, by which it recognises them.

        They are only missing if the rows were given as codes, or the model was made elsewhere.
        """
        model, fit = self._fitted(), self._fit
        if model.seen is None and fit is not None and fit.rows is not None:
            self.model_ = model = model.with_seen(seen_rows(fit.rows, thread_count(self.n_jobs)))
        return model

    @property
    def size_curve_(self) -> SizeCurve | None:
        """What each size of the tree is worth by cross-validation, with pruning="auto".

        None for other prunings, and after the rows are gone (`forget_rows`, a loaded model).
        """
        self._fitted()
        return None if self._fit is None else self._fit.settings.size_curve

    def forget_rows(self) -> Self:
        """Drop the training rows that the estimator keeps for its levels; known levels stay."""
        self.recognising_model()
        self._fit = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, after the levels that need them have been computed."""
        if self.__sklearn_is_fitted__():
            self.complete_model()
        state: dict[str, Any] = super().__getstate__()
        state.pop("_fit", None)
        return state

    @classmethod
    def around(cls, model: TreeModel, template: "TreeClassifier", **parameters: Any) -> Self:
        """Make a fitted estimator of a model, with parameters of another one, some changed."""
        estimator: Self = clone(template).set_params(**parameters)
        estimator.model_ = model
        return estimator

    def _shell(self, model: TreeModel, fit: FitRows | None = None, **parameters: Any) -> Self:
        """Return a copy of this estimator around another model."""
        return self._changed(**parameters, model_=model, _fit=fit)

    def _repr_html_(self) -> str:
        """Show the parameters and, after the fit, a picture of the tree (its top if it is large).

        Levels are shown if they are known; to compute them would take as long as several fits.
        """
        html: str = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():
            return html
        picture = sureleaf.export(self, "svg", max_leaves=_DRAWN_LEAVES, computes_levels=False)
        shown = f'{html}<div style="overflow-x: auto">{picture!s}</div>'
        if self._fitted().has_levels:
            return shown
        return f"{shown}<p>No leaf is flagged yet: <code>leaves()</code> computes the levels.</p>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what a notebook shows: the picture, unless scikit-learn is set to text."""
        texts = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            texts["text/html"] = self._repr_html_()
        return texts

    # ---- predictions -----------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, one column per class of ``classes_``.

        Columns of X are found by name; further ones are ignored with a warning. A row in several
        leaves (see `leaf_shares`) has the mixture of their probabilities.
        """
        name = type(self).__name__
        return self._fitted().predict_proba(X, n_jobs=self.n_jobs, estimator=name)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row by node number; of several leaves the heaviest."""
        return self._fitted().apply(self._encode(X))

    def leaf_shares(self, X: Any) -> "sp.csr_array":
        """Return the leaves of each row with its share in them, as a sparse array.

        Rows sum to 1; a column is a node number. A row is in several leaves if it has an unseen
        category, or a missing value and the tree has ``missing="fraction"``.
        """
        return self._fitted().leaf_shares(self._encode(X))

    def decision_path(self, X: Any) -> "sp.csr_array":
        """Return all nodes that each row passes, with its share in each, as a sparse array.

        A column is a node number; the share in the root is 1.
        """
        return self._fitted().decision_path(self._encode(X))

    # ---- levels ----------------------------------------------------------------------------------

    def leaves(
        self,
        *,
        level: float = 0.95,
        confidence: float | None = 0.95,
        utility: float | None = None,
        guarantee: str | None = None,
        method: str | None = None,
    ) -> LeafTable:
        """Return the levels of all leaves as a table.

        Cross-fitted levels are computed at the first call. This grows at most 424 trees: ten in
        each of 40 rounds, and 24 of halves of the rows. In tables of at most 1,000 rows whose tree
        size was chosen by cross-validation, it grows at most 824; in large tables fewer, from
        50,000 rows on 12. The command line shows a progress bar; in Python,
        ``with sureleaf.progress.progress_enabled():`` does.

        Parameters
        ----------
        level : float
            Confidence level of the intervals of the probabilities.
        confidence, utility : float or None
            Wanted levels, for `rows_needed` and `flagged`.
        guarantee : {"simultaneous"}, optional
            Intervals and flags that hold for all leaves at once and for any distribution, from
            rows that did not grow the tree (``levels_from="honest"``, or `certify`): the intervals
            with probability `level`, the flags with probability `confidence`. All numbers are then
            of these rows; probability and utility are shares, and 1 - confidence is the p-value of
            "this leaf names the wrong class", adjusted for all leaves.
        method : {"mle", "blend", "entropic"}, optional
            With ``levels_from="training"``: the estimate of p_max, as for `levels`.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier(levels_from="training")
        >>> model = model.fit([[i] for i in range(8)], ["no"] * 4 + ["yes"] * 4)
        >>> table = model.leaves()
        >>> table.rule.tolist(), table.n.tolist(), table.prediction.tolist()
        (['x0 <= 3', 'x0 > 3'], [4.0, 4.0], ['no', 'yes'])
        >>> table.to_pandas().shape
        (2, 16)
        """
        model = self._fitted() if guarantee is not None else self.complete_model()
        table = model.leaves(
            level=level, confidence=confidence, utility=utility, guarantee=guarantee, method=method
        )
        return replace(table, is_class_weighted=self.class_weight is not None)

    def splits(self) -> SplitTable:
        """Return in how many trees grown on random halves of the rows each split returned.

        A split returns in another tree if that tree divides the rows of its node in nearly the same
        way by the same column: of the rows of each branch, on average 80 % or more go down the
        matching branch. In trees of fresh samples, splits return less often than in
        halves.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X, y = [[i] for i in range(90)], [0] * 45 + [1] * 45
        >>> model = TreeClassifier(random_state=0).fit(X, y)
        >>> model.splits().summary
        'Its only split returned in 8 of 8 trees grown on random halves of the rows.'
        """
        return self.complete_model().splits()

    def levels(self, *, level: float = 0.95, method: str | None = None) -> FittedLevels:
        """Return confidence and utility of the tree: the share-weighted sums over its leaves.

        They are the probabilities that the leaf of a new row predicts the true majority class of
        the leaf, and that it predicts the row correctly; `low` and `high` are the interval of the
        utility. With ``levels_from="training"`` they are (10) and (11) of the theory, with the
        shares of the leaves among the training rows; see `sureleaf.levels.tree_levels`.

        Parameters
        ----------
        level : float
            Confidence level of the interval of the utility.
        method : {"mle", "blend", "entropic"}, optional
            With ``levels_from="training"``: the estimate of p_max of every leaf, "mle" if it is not
            given. Of more than two classes, and with unequal costs, "blend" is the share with one
            row of each class added, and there is no "entropic".

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> model.levels().utility > 0.9
        True
        """
        return self.complete_model().levels(level=level, method=method)

    def predict_levels(self, X: Any, *, level: float = 0.95) -> RowLevels:
        """Return the levels of the leaf of each row.

        `level` is that of the intervals of the probability of the predicted class. A row in several
        leaves (see `leaf_shares`) gets their mean. A leaf that predicts another class contributes
        what it leaves to the predicted class.
        """
        model = self.complete_model()
        table = model.encode(X, estimator=type(self).__name__)
        return model.predict_levels(table, level=level, n_threads=thread_count(self.n_jobs))

    def explain(
        self,
        row: Any,
        fixed: Sequence[str | int] = (),
        *,
        only_up: Sequence[str | int] = (),
        only_down: Sequence[str | int] = (),
        confidence: float | None = 0.95,
        utility: float | None = None,
    ) -> Explanation:
        """Say why a row is decided as it is, and what would have to be different.

        Returns the path in words, how sure the leaf is, and the nearest trusted leaf with another
        decision as a list of changes (`way`). It is about this tree, not about the world.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            As in fit; a mapping has a value per column.
        fixed : list of names or indices
            Columns that cannot change.
        only_up, only_down : list of names or indices
            Columns that can only change to larger, or to smaller values.
        confidence, utility : float or None
            Leaves below these levels are flagged: nothing is suggested that leads to one.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
        >>> found = model.explain([30])
        >>> found.prediction, str(found.way.changes[0])
        ('yes', 'x0 19 instead of 30')
        """
        return explain_row(
            self.complete_model(),
            row,
            fixed,
            only_up=only_up,
            only_down=only_down,
            confidence=confidence,
            utility=utility,
        )

    def predict_or_abstain(
        self, X: Any, *, min_confidence: float, abstain: Any = None
    ) -> NDArray[np.object_]:
        """Predict rows of a `min_confidence`, and return `abstain` for the others.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> model = TreeClassifier.c45().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> model.predict_or_abstain([[3], [None]], min_confidence=0.9, abstain="ask").tolist()
        [0, 'ask']
        """
        check_number("min_confidence", min_confidence, low=0, high=1)
        levels = self.predict_levels(X)
        prediction = levels.prediction.astype(object)
        prediction[levels.confidence < min_confidence] = abstain
        return prediction

    # ---- guarantees from held-out rows -----------------------------------------------------------

    def certify(self, X: Any, y: Any, *, rows_are_new: bool = False) -> Self:
        """Return a copy that keeps the class counts of rows which the tree has not seen.

        Guarantees follow from these counts: `certificate`, `predict_set`, `predict_venn` and
        ``leaves(guarantee="simultaneous")``. A tree fitted with ``levels_from="honest"`` has them
        already.

        Parameters
        ----------
        X, y
            As in fit: independent rows that took no part in growing, pruning or choosing the tree.
        rows_are_new : bool
            Your word for it, which a certificate then states. It is needed where the model cannot
            recognise rows of its fit: fitted on codes, on rows that are mostly equal to each other,
            or on so many more rows that hardly any of these can be compared.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X = [[101 * i % 300] for i in range(300)]
        >>> y = [int(number > 149) for [number] in X]
        >>> model = TreeClassifier().fit(X[:200], y[:200])
        >>> model.certify(X[200:], y[200:]).predict_set([[3], [240]], alpha=0.05).tolist()
        [[True, False], [False, True]]
        """
        model = self.recognising_model()
        rows = model.read_rows(X, y, estimator=type(self).__name__)
        return self._shell(model.certify(rows, rows_are_new=rows_are_new), self._fit)

    def certificate(
        self, X: Any = None, y: Any = None, *, alpha: float = 0.05, rows_are_new: bool = False
    ) -> Certificate:
        """Return what held-out rows prove about all leaves at once, for any distribution.

        Parameters
        ----------
        X, y : optional
            Rows that the tree has not seen; by default those that ``levels_from="honest"`` or
            `certify` has set aside.
        alpha : float
            Error probability of the whole certificate: one half for the predicted classes, one
            half for the limits of their probabilities.
        rows_are_new : bool
            As for `certify`.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X = [[101 * i % 300] for i in range(300)]
        >>> y = [int(number > 149) for [number] in X]
        >>> model = TreeClassifier().fit(X[:200], y[:200])
        >>> model.certificate(X[200:], y[200:]).statements[1].split(". ")[0]
        'Neither leaf 1 nor leaf 2 names the wrong class'
        """
        if (X is None) != (y is None):
            raise InvalidArgumentError(
                "X and y must be given together; got one without the other. Give both, or none."
            )
        certified = self if X is None else self.certify(X, y, rows_are_new=rows_are_new)
        return certified._fitted().certificate(alpha=alpha)

    def predict_set(
        self, X: Any, alpha: float = 0.1, per: Per | None = "leaf"
    ) -> NDArray[np.bool_]:
        """Return for each row the classes that are not ruled out, with exact coverage.

        The set of a new row contains its class with probability 1 - alpha or more, for any
        distribution and any number of rows, if the held-out rows and the new one are exchangeable.
        With ``per="leaf"`` this holds within every leaf (Mondrian conformal prediction).

        Columns of the result are those of `classes_`. In a leaf with fewer than 1 / alpha - 1
        held-out rows, every class is in the set. Rows that fit equally well count in full. So sets
        need no random numbers, are the same for the same row, and cover somewhat more than promised
        where counts are coarse. It needs held-out rows: ``levels_from="honest"``, or `certify`.

        Parameters
        ----------
        X : table
            As in fit.
        alpha : float
            The probability that a set may miss the class.
        per : {"leaf", "class"} or None
            Whether the coverage holds within every leaf, within every class, or over all rows.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X, y = [[i % 50] for i in range(200)], [int(i % 50 > 24) for i in range(200)]
        >>> model = TreeClassifier(levels_from="honest", random_state=0).fit(X, y)
        >>> model.predict_set([[3], [40]], alpha=0.1).tolist()
        [[True, False], [False, True]]
        """
        return self._fitted().node_sets(alpha, per)[self.apply(X)]

    def predict_venn(self, X: Any) -> VennProbabilities:
        """Return the lowest and the highest probability of every class, by the Venn predictor.

        One of the two is perfectly calibrated in each leaf, for any distribution. With
        ``leaf_estimate="venn"``, `predict_proba` lies between them: (k + 1/K) / (n + 1) in a leaf
        with k of n rows of one of K classes. Both are of shape (n_rows, n_classes).

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X, y = [[i % 50] for i in range(200)], [int(i % 50 > 24) for i in range(200)]
        >>> model = TreeClassifier(levels_from="honest", leaf_estimate="venn", random_state=0)
        >>> low, high = model.fit(X, y).predict_venn([[3]])
        >>> bool((low <= model.predict_proba([[3]])).all())
        True
        """
        low, high = venn_limits(self._fitted().held_out_rows("predict_venn").counts)
        leaf = self.apply(X)
        return VennProbabilities(low[leaf], high[leaf])

    # ---- rules, and smaller or different trees ---------------------------------------------------

    def rules(self) -> str:
        """Return the tree as indented rules, each leaf with its rows, counts and probability.

        With `class_weight`, counts are sums of weights, and a leaf has a weight instead of rows.
        """
        return self._fitted().rules(weighted=self.class_weight is not None)

    def cost_complexity_path(self) -> "CostComplexityPath":
        """Return the penalties per leaf at which cost-complexity pruning would cut this tree."""
        return self._fitted().cost_complexity_path()

    def with_cost(self, cost: Any) -> Self:
        """Return a copy that decides by other costs; the tree stays as it is.

        `TreeClassifier(cost=...)` also prunes for the costs, which usually costs less.

        ``cost[actual][predicted]`` has the classes sorted; None is for equal costs. Predictions,
        levels and exports of the copy are those of the decisions at these costs. It holds no rows.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X, y = [[i] for i in range(40)], ["ok"] * 33 + ["bad"] * 7
        >>> model = TreeClassifier(max_depth=0, pruning=None).fit(X, y)
        >>> model.predict([[0]]).tolist(), model.with_cost([[0, 9], [1, 0]]).predict([[0]]).tolist()
        (['ok'], ['bad'])
        """
        return self._shell(self.complete_model().with_cost(cost), cost=cost)

    def with_leaf_estimate(self, leaf_estimate: Any) -> Self:
        """Return a copy with another leaf estimate; nothing is grown again."""
        changed, fit = self._fitted().with_leaf_estimate(leaf_estimate), self._fit
        if not is_built_in(changed.leaf_estimate):
            _ = changed.probabilities
        if fit is None or fit.rows is None:
            return self._shell(changed, leaf_estimate=leaf_estimate)
        # The rows are here, so levels are cross-fitted again, by the new estimate.
        changed = replace(changed, evidence=Evidence("cross_fit"))
        settings = replace(fit.settings, leaf_estimate=changed.leaf_estimate)
        fit = replace(fit, settings=settings)
        return self._shell(changed, fit, leaf_estimate=leaf_estimate)

    def with_training_levels(self) -> Self:
        """Return a copy whose levels are the paper's, (9) to (11), from the counts of the tree.

        Nothing is grown again, and no rows are needed: a tree that was loaded has its counts.

        Examples
        --------
        >>> from sureleaf import TreeClassifier
        >>> X, y = [[0], [0], [0], [1], [1], [1], [1]], list("aabbbbb")
        >>> tree = TreeClassifier.c45(pruning=None).fit(X, y)
        >>> [round(level, 4) for level in tree.with_training_levels().levels()]
        [0.873, 0.8138]
        """
        model = self._fitted()
        if model.evidence.source == "honest":
            raise InvalidArgumentError(
                "levels of training rows must come from a tree with their counts; this one has "
                "those of rows that did not grow it (levels_from='honest'). Use its own levels."
            )
        return self._shell(model.with_evidence(Evidence("training")), levels_from="training")

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
        """Return a smaller copy, cut by one of: a rule, chosen nodes, a number of leaves.

        Cross-fitted levels of the copy are computed again when they are first requested, from fold
        trees that are pruned in the same way. They are training levels, and the copy's
        `levels_from` is "training", if the model no longer holds its rows, or if the copy counts
        other rows. A copy that is not smaller keeps its levels.

        Parameters
        ----------
        rule : {"pessimistic", "cost_complexity", "reduced_error"}, optional
            pessimistic needs the training rows (those that the model still holds, or X and y);
            cost_complexity needs ccp_alpha; reduced_error needs X and y that were held out. With
            unequal costs, reduced_error compares costs, and pessimistic is an error: it counts
            errors.
        nodes : list of int, optional
            Nodes that become leaves.
        n_leaves : int, optional
            The largest number of leaves; cost-complexity pruning chooses what to cut. A warning
            says so if no tree of that pruning has just as many.
        ccp_alpha : float, optional
            The penalty per leaf.
        X, y, sample_weight : optional
            Rows for the rule. Unless the rule is reduced_error, all counts, predictions and
            levels of the copy come from these rows.
        """
        model = self._fitted()
        given = None
        if X is not None or y is not None or sample_weight is not None:
            if X is None or y is None:
                raise InvalidArgumentError(
                    "X and y must be given together, and sample_weight with them; got one without "
                    "the other. Give both, or none."
                )
            given = model.read_rows(X, y, sample_weight, estimator=type(self).__name__)
        way = {"nodes": nodes, "n_leaves": n_leaves, "ccp_alpha": ccp_alpha}
        factor, fit = self.confidence_factor, self._fit
        rows = None if fit is None else fit.rows
        smaller = model.prune(rule, **way, confidence_factor=factor, training=rows, given=given)
        counts_rows = given is None or rule == "reduced_error"
        if fit is None or rows is None or not counts_rows:
            return self._shell(smaller, levels_from=smaller.evidence.source)
        if smaller is model:
            return self._shell(smaller, fit)
        repruning = model.repruning(rule, **way, confidence_factor=factor, held_out=given)
        reprunings = (*fit.settings.reprunings, repruning)
        fit = replace(fit, settings=replace(fit.settings, reprunings=reprunings))
        return self._shell(replace(smaller, evidence=Evidence("cross_fit")), fit)

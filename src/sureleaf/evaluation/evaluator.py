"""`evaluate`: fit any classifier on the splits of a design and keep the predictions."""

import contextlib
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import narwhals as nw
import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from sureleaf.arguments import (
    FloatArray,
    IntArray,
    check_probabilities,
    parallel,
    read_labels,
    runs_elsewhere,
)
from sureleaf.errors import (
    FailedFitError,
    InvalidArgumentError,
    InvalidTypeError,
    UnseenCategoryWarning,
    is_interrupt,
    suggestion,
)
from sureleaf.evaluation.designs import Design, KFold, Split, count_units
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.labelled_table import (
    LabelledTable,
    class_codes,
    read_labelled_table,
    take_rows,
)
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.progress import track
from sureleaf.random_streams import FIT, read_seed, seed_for

# A design fits a classifier on ten, or two hundred, parts of the same rows. An estimator that would
# read and sort these rows again each time can have a method
#
#     prepare_refits(X, y, sample_weight=None) -> Refits, or None if there is no faster way
#
# whose `Refits` fit on rows by number. The results must be those of
# ``clone(estimator).fit(X[train], y[train])``. The threads that fit share one `Refits`. Estimators
# without the method are cloned and fitted on the rows themselves.


class Refit(Protocol):
    """A model fitted on some rows of the table, which predicts other rows by their numbers.

    Its `classes_` are those of its training rows.
    """

    classes_: NDArray[Any]

    def predict_proba(self, rows: IntArray) -> FloatArray:
        """Return the probabilities of these rows, one column per class of ``classes_``."""

    def predicted_class(self, probabilities: FloatArray) -> IntArray:
        """Return the index in ``classes_`` of the class that `predict` would return."""


class Refits(Protocol):
    """A table that is read once, to fit an estimator on parts of it.

    The estimator may use `n_threads` threads, on which `n_at_once` fits may run at the same time.
    """

    n_threads: int
    n_at_once: int

    def fit(self, estimator: Any, train: IntArray, *, n_threads: int) -> Refit:
        """Fit on these rows, which may repeat, with the parameters of the estimator."""


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of one split as class codes, or its failure.

    Probabilities have one column per class of the table; a class not in training has probability 0.
    """

    split: Split
    prediction: IntArray
    probabilities: FloatArray | None
    failure: str | None = None
    model: Any = None  # if it is kept


def check_estimator(estimator: Any) -> None:
    """Raise an error for anything that is not a classifier, before fitting."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "predict")
    ):
        got = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidTypeError(
            "estimator must be a scikit-learn classifier, an object with fit and predict; "
            f"got {got}{' (a class: call it first)' if isinstance(estimator, type) else ''}."
        )
    if is_known_regressor(estimator):
        raise InvalidTypeError(
            f"estimator must be a classifier; got {type(estimator).__name__}, a regressor."
        )


def is_known_regressor(model: Any) -> bool:
    """Return whether the tags of scikit-learn say that a model is a regressor."""
    try:
        return bool(is_regressor(model))
    except Exception:  # a model without tags, or with an error in them
        return False


def fresh_copy(estimator: Any, seed: int, *key: int) -> Any:
    """Return an unfitted copy of the estimator with every random_state set.

    Every random_state that is None gets a seed by its own key, so that results do not depend on
    the order of the fits or the number of workers.
    """
    copy = clone(estimator, safe=False)
    if hasattr(copy, "get_params"):
        unset = sorted(
            name
            for name, value in copy.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        )
        seeds = {name: seed_for(seed, FIT, *key, i) for i, name in enumerate(unset)}
        copy = copy.set_params(**seeds) if seeds else copy
    return copy


@dataclass(frozen=True, eq=False)
class Fitter:
    """Fits an estimator on parts of one table, and predicts other parts.

    The seed is that of every random_state that the estimator leaves at None. If the estimator has
    prepared `refits`, the fits share them, with `n_threads` threads each.
    """

    estimator: Any
    table: LabelledTable
    seed: int
    refits: Refits | None = None
    n_threads: int = 1

    def fit(self, train: IntArray, *key: int) -> Any:
        """Return a model of the rows; its random numbers depend on the seed and the key."""
        copy = fresh_copy(self.estimator, self.seed, *key)
        if self.refits is not None:
            return self.refits.fit(copy, train, n_threads=self.n_threads)
        options, table = {}, self.table
        if table.weights is not None and has_fit_parameter(copy, "sample_weight"):
            options["sample_weight"] = table.weights[train]
        copy.fit(take_rows(table.X, train), table.y[train], **options)
        return copy

    def __sizeof__(self) -> int:
        """Count the labels, so that joblib sends it to Dask's workers once, not with each fit."""
        return object.__sizeof__(self) + self.table.y.nbytes

    def predict_codes(
        self, model: Any, rows: IntArray, *, labels: bool = True, probabilities: bool = True
    ) -> tuple[IntArray, FloatArray | None]:
        """Return the predictions of the rows as codes, and their probabilities if there are any.

        Labels and probabilities are only computed if requested.
        """
        classes, prediction = self.table.classes, np.empty(0, dtype=np.int64)
        if self.refits is not None:
            raw = model.predict_proba(rows)
            columns = class_codes("classes_", read_labels("classes_", model.classes_), classes)
            prediction = columns[model.predicted_class(raw)] if labels else prediction
            return prediction, _all_columns(raw, columns, len(classes)) if probabilities else None
        own = take_rows(self.table.X, rows)
        with warnings.catch_warnings():  # of categories that a training part lacks by chance
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            if labels:
                predicted = read_labels("predict", np.asarray(model.predict(own)))
                prediction = class_codes("predict", predicted, classes)
            if not probabilities or not hasattr(model, "predict_proba"):
                return prediction, None
            known = getattr(model, "classes_", classes)
            columns = class_codes("classes_", read_labels("classes_", known), classes)
            raw = check_probabilities(np.asarray(model.predict_proba(own)), len(columns))
        return prediction, _all_columns(raw, columns, len(classes))

    def run(self, work: Callable[..., T], jobs: Iterable[tuple[Any, ...]], n_jobs: Any) -> Any:
        """Yield ``work(fitter, *job)`` for each job, in order, from ``n_jobs`` workers.

        Fits with shared refits run on threads, as many at once as there are workers or as the
        estimator allows. Other machines share nothing: there, each fit is one of its own.
        """
        if self.refits is None or runs_elsewhere():
            workers = parallel(n_jobs)
            alone = replace(self, refits=None, n_threads=1)
            return workers(delayed(work)(alone, *job) for job in jobs)
        wanted = effective_n_jobs(n_jobs)
        n_at_once = wanted if wanted > 1 else self.refits.n_at_once
        own = replace(self, n_threads=max(1, self.refits.n_threads // n_at_once))
        workers = parallel(n_at_once, require="sharedmem")
        return workers(delayed(work)(own, *job) for job in jobs)


def make_fitter(estimator: Any, table: LabelledTable, seed: int) -> Fitter:
    """Prepare to fit the estimator on parts of the table, by its refits if it has a way."""
    # The type decides: a wrapper that forwards attributes may fit in another way.
    prepare = getattr(type(estimator), "prepare_refits", None)
    refits: Refits | None = None
    if prepare is not None:
        # Where it cannot read the table, each fit will report the error.
        with contextlib.suppress(ValueError, TypeError):
            refits = prepare(estimator, table.X, table.y, sample_weight=table.weights)
    return Fitter(estimator, table, seed, refits, 1 if refits is None else refits.n_threads)


def _all_columns(raw: FloatArray, columns: IntArray, n_classes: int) -> FloatArray:
    """Return the probabilities with one column for each of all classes."""
    if len(columns) == n_classes and bool((np.diff(columns) == 1).all()):
        return raw
    table = np.zeros((len(raw), n_classes))
    table[:, columns] = raw
    return table


def fit_split(
    fitter: Fitter, split: Split, *key: int, keep_model: bool = False, **wanted: bool
) -> Outcome:
    """Fit and predict one split; `wanted` as for `Fitter.predict_codes`."""
    try:
        model = fitter.fit(split.train, *key)
        prediction, probabilities = fitter.predict_codes(model, split.test, **wanted)
    except Exception as problem:  # any error of the estimator is recorded
        if is_interrupt(problem):
            raise
        nothing = np.empty(0, dtype=np.int64)
        return Outcome(split, nothing, None, f"{type(problem).__name__}: {problem}")
    return Outcome(split, prediction, probabilities, model=model if keep_model else None)


DEFAULT_DESIGN = KFold(10)


def evaluate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    design: Design = DEFAULT_DESIGN,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: object = None,
    name: str | None = None,
) -> Evaluation:
    """Fit a classifier on each split of a design, and keep every out-of-fold prediction.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Anything with fit and predict; without predict_proba only measures of predictions can be
        computed. It is copied, never changed. An error in one split is recorded and the other
        splits are kept; an error is raised only if all splits fail.
    X : array, sparse matrix or data frame (pandas, polars, Arrow)
        For a `TreeClassifier` also a table that is read in batches, see its `fit`.
    y : array-like of labels, or str
        Or the name of their column in X; weights and groups then are names of columns, too.
    design : Design
        From `sureleaf.designs`; ten stratified folds by default.
    positive : label, optional
        The positive class of recall, AUC and similar measures; ``classes[1]`` by default.
    cost : array-like of shape (m, m), optional
        ``cost[actual][predicted]``, classes sorted.
    groups : array-like, optional
        Rows of a group stay together, in the splits and in the intervals.
    sample_weight : array-like, optional
        Weights in every measure, and in fit if the estimator takes them.
    n_jobs : int, optional
        Workers (joblib); the results do not depend on it.
    random_state : int, generator or None
        Seed of the splits and of every random_state that the estimator leaves at None. None is 0.
    name : str, optional
        What the estimator is called in sentences, such as verdicts; by default its text, of a
        pipeline that of its last step and the names of the others.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> evaluation = evaluate(GaussianNB(), X, y, random_state=0)
    >>> print(evaluation.estimate("accuracy"))
    0.9402 (95 % interval 0.9079 to 0.9726; corrected resampled t over 10 splits, this algorithm)
    """
    check_estimator(estimator)
    if not isinstance(design, Design):
        raise InvalidTypeError(
            f"design must be one of sureleaf.designs, for example KFold(10); got {design!r}."
        )
    if isinstance(y, str):
        X, y, sample_weight, groups = _named_columns(estimator, X, y, sample_weight, groups)
    table = read_labelled_table(X, y, positive=positive, groups=groups, sample_weight=sample_weight)
    matrix = None if cost is None else check_cost(cost, len(table.classes))
    seed = read_seed(random_state)
    splits = design.splits(table.codes, groups=table.groups, seed=seed)
    outcomes = track(
        make_fitter(estimator, table, seed).run(
            fit_split, ((split, number) for number, split in enumerate(splits)), n_jobs
        ),
        total=design.n_splits_of(count_units(len(table), table.groups)),
        what="Fitting",
        shown=progress or None,
    )
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise InvalidArgumentError(f"name must be a text that is not empty; got {name!r}.")
    named = describe(estimator) if name is None else name
    return evaluation_of(outcomes, table, design=design, seed=seed, cost=matrix, estimator=named)


def evaluation_of(
    outcomes: Iterable[Outcome],
    table: LabelledTable,
    *,
    design: Design,
    seed: int,
    cost: Any,
    estimator: str,
) -> Evaluation:
    """Return the outcomes of all splits together; an error if every split failed."""
    # Training rows are not kept: those of many splits together are large.
    splits, worked = [], []
    for one in outcomes:
        split = one.split
        facts = SplitFacts(split.repeat, split.fold, split.n_train, len(split.test), one.failure)
        splits.append(facts)
        if one.failure is None:
            worked.append((split.test, one.prediction, one.probabilities))
    if not worked:
        problem = str(splits[0].failure)
        remedy = (
            ". It takes only numbers: put an encoder before it, such as "
            "make_pipeline(OneHotEncoder(handle_unknown='ignore'), ...)."
            if "could not convert string" in problem
            else ""
        )
        raise FailedFitError(
            f"{estimator} failed on every one of {len(splits)} splits, first with {problem}{remedy}"
        )
    tests, predictions, tables = zip(*worked, strict=True)
    sizes = [0 if facts.failure else facts.n_test for facts in splits]
    return Evaluation(
        estimator=estimator,
        design=design,
        seed=seed,
        classes=table.classes,
        positive_code=table.positive,
        truth=table.codes,
        weights=table.weights,
        groups=table.groups,
        cost_matrix=cost,
        splits=tuple(splits),
        row=np.concatenate(tests),
        split=np.repeat(np.arange(len(splits)), sizes),
        prediction=np.concatenate(predictions),
        probabilities=None if any(t is None for t in tables) else np.concatenate(tables),
    )


def _named_columns(
    estimator: Any, X: Any, y: str, sample_weight: Any, groups: Any
) -> tuple[Any, Any, Any, Any]:
    """Split off columns that are given by name; the estimator reads the table, if it can."""
    if hasattr(type(estimator), "read_columns"):
        columns: tuple[Any, Any, Any, Any] = estimator.read_columns(X, y, sample_weight, groups)
        return columns
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidTypeError(
            f"y can be the name of a column if X is a data frame; got {type(X).__name__}. Read it "
            "into memory first."
        )
    given = (y, sample_weight, groups)
    names = [name for name in given if isinstance(name, str)]
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise InvalidArgumentError(
            f"{unknown[0]!r} must be a column of X.{suggestion(unknown[0], frame.columns)}"
        )
    own = [frame[name].to_numpy() if isinstance(name, str) else name for name in given]
    return frame.drop(names).to_native(), own[0], own[1], own[2]


def describe(estimator: Any) -> str:
    """Return the estimator as one line of text, such as 'GaussianNB() after StandardScaler'."""
    text = type(estimator).__name__
    with contextlib.suppress(Exception):  # a repr that fails must not end an evaluation
        if type(estimator) is Pipeline:
            *others, last = (step for _, step in estimator.steps)
            before = ", ".join(type(step).__name__ for step in others)
            text = describe(last) + (f" after {before}" if before else "")
        else:
            text = " ".join(str(estimator).split())
    return text if len(text) <= 200 else text[:197] + "..."

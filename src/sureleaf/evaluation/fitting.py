"""Fit on the training rows, predict the test rows; a failure is an outcome too."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sureleaf.errors import InvalidTypeError, UnseenCategoryWarning
from sureleaf.evaluation.arguments import Floats, Integers, check_probabilities, read_labels
from sureleaf.evaluation.designs.split import Design, Split
from sureleaf.evaluation.draw import FIT, seed_for
from sureleaf.evaluation.labels import class_codes
from sureleaf.evaluation.refits import Refits, find_refits
from sureleaf.evaluation.table import Table, take_rows

__all__ = ["Fitter", "Outcome", "check_estimator", "fit_splits", "fresh_copy", "make_fitter"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one split.

    Attributes
    ----------
    prediction : ndarray of class codes
    probabilities : ndarray of shape (n, m), or None
        Columns in the order of all classes; a class the model never saw has probability 0.
    failure : str or None
        The error that ended the split, if one did.

    Examples
    --------
    >>> split = Split(np.array([0]), np.array([1]), repeat=0, fold=0)
    >>> Outcome(split, np.empty(0, int), None, "ValueError: no").failure
    'ValueError: no'
    """

    split: Split
    prediction: Integers
    probabilities: Floats | None
    failure: str | None = None


def check_estimator(estimator: Any) -> None:
    """Refuse what is not a classifier, before hours of fitting.

    Examples
    --------
    >>> check_estimator("tree")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidTypeError: estimator must be a scikit-learn classifier, an object with
    fit and predict; got str.
    """
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "predict")
    ):
        got = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidTypeError(
            "estimator must be a scikit-learn classifier, an object with fit and predict; "
            f"got {got}{' (a class: call it first)' if isinstance(estimator, type) else ''}."
        )


def fresh_copy(estimator: Any, seed: int, *key: int) -> Any:
    """Return an unfitted copy of the estimator, with nothing random left open.

    Every random_state left at None gets a seed of its own key, so that the order of the fits and
    the number of workers change nothing.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> fresh_copy(DecisionTreeClassifier(), 0).random_state is None
    False
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
    """An estimator to be fitted on parts of one table, and asked about other parts.

    Parameters
    ----------
    estimator : scikit-learn classifier
    table : Table
    seed : int
        Of every random_state that the estimator leaves open.
    refits : Refits, optional
        What the estimator has prepared (see `sureleaf.evaluation.refits`); fits then share it.
    n_threads : int
        For each fit of `refits`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf.evaluation.table import read_table
    >>> table = read_table([[1], [2], [3]], ["a", "b", "b"])
    >>> fitter = Fitter(DecisionTreeClassifier(), table, 0)
    >>> model = fitter.fit(np.arange(3))
    >>> fitter.predict_codes(model, np.array([0, 2]), probabilities=False)
    (array([0, 1]), None)
    """

    estimator: Any
    table: Table
    seed: int
    refits: Refits | None = None
    n_threads: int = 1

    def fit(self, train: Integers, *key: int) -> Any:
        """Return a model of the rows; what is random in it depends on the seed and the key."""
        copy = fresh_copy(self.estimator, self.seed, *key)
        if self.refits is not None:
            return self.refits.fit(copy, train, n_threads=self.n_threads)
        options, table = {}, self.table
        if table.weights is not None and has_fit_parameter(copy, "sample_weight"):
            options["sample_weight"] = table.weights[train]
        copy.fit(take_rows(table.X, train), table.y[train], **options)
        return copy

    def predict_codes(
        self, model: Any, rows: Integers, *, labels: bool = True, probabilities: bool = True
    ) -> tuple[Integers, Floats | None]:
        """Return the model's predictions of the rows as codes, and its probabilities if any.

        What is not asked for (labels, probabilities) is not computed.
        """
        classes, prediction = self.table.classes, np.empty(0, dtype=np.int64)
        if self.refits is not None:
            raw = model.predict_proba(rows)
            columns = class_codes("classes_", read_labels("classes_", model.classes_), classes)
            prediction = columns[raw.argmax(axis=1)] if labels else prediction
            return prediction, _spread(raw, columns, len(classes)) if probabilities else None
        own = take_rows(self.table.X, rows)
        if labels:
            with _unseen_categories_expected():
                said = read_labels("predict", np.asarray(model.predict(own)))
            prediction = class_codes("predict", said, classes)
        if not probabilities or not hasattr(model, "predict_proba"):
            return prediction, None
        known = getattr(model, "classes_", classes)
        columns = class_codes("classes_", read_labels("classes_", known), classes)
        with _unseen_categories_expected():
            raw = check_probabilities(np.asarray(model.predict_proba(own)), len(columns))
        return prediction, _spread(raw, columns, len(classes))

    def run(self, work: Callable[..., T], jobs: Iterable[tuple[Any, ...]], n_jobs: Any) -> Any:
        """Yield ``work(fitter, *job)`` for each job, in order, from as many workers as wanted.

        Fits that share what was prepared run on threads: as many at once as there are workers, or
        as the estimator has threads to use.
        """
        if self.refits is None:
            workers = Parallel(n_jobs=n_jobs, return_as="generator")
            return workers(delayed(work)(self, *job) for job in jobs)
        wanted = effective_n_jobs(n_jobs)
        n_at_once = wanted if wanted > 1 else self.refits.n_at_once
        own = replace(self, n_threads=max(1, self.refits.n_threads // n_at_once))
        workers = Parallel(n_jobs=n_at_once, require="sharedmem", return_as="generator")
        return workers(delayed(work)(own, *job) for job in jobs)


def make_fitter(estimator: Any, table: Table, seed: int) -> Fitter:
    """Prepare to fit the estimator on parts of the table.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation.table import read_table
    >>> fitter = make_fitter(DummyClassifier(), read_table([[1], [2]], ["a", "b"]), 0)
    >>> fitter.refits is None
    True
    """
    refits = find_refits(estimator, table)
    return Fitter(estimator, table, seed, refits, 1 if refits is None else refits.n_threads)


def _spread(raw: Floats, columns: Integers, n_classes: int) -> Floats:
    """Probabilities of the classes that a model knows, among those of all classes."""
    if len(columns) == n_classes and bool((np.diff(columns) == 1).all()):
        return raw
    spread = np.zeros((len(raw), n_classes))
    spread[:, columns] = raw
    return spread


@contextmanager
def _unseen_categories_expected() -> Iterator[None]:
    """Keep quiet about categories that a training part lacks: every resampling has some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        yield


def _one(fitter: Fitter, split: Split, number: int) -> Outcome:
    try:
        model = fitter.fit(split.train, number)
        prediction, probabilities = fitter.predict_codes(model, split.test)
    except Exception as problem:  # any error of the estimator is recorded
        nothing = np.empty(0, dtype=np.int64)
        return Outcome(split, nothing, None, f"{type(problem).__name__}: {problem}")
    return Outcome(split, prediction, probabilities)


def fit_splits(
    estimator: Any, table: Table, design: Design, *, seed: int, n_jobs: int | None
) -> Iterator[Outcome]:
    """Yield the outcome of each split, in order, from as many workers as wanted.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.designs import KFold
    >>> from sureleaf.evaluation.table import read_table
    >>> table = read_table([[1], [2], [3], [4]], ["a", "a", "b", "a"])
    >>> outcomes = fit_splits(DummyClassifier(), table, KFold(2), seed=0, n_jobs=None)
    >>> [outcome.prediction.tolist() for outcome in outcomes]
    [[0, 0], [0, 0]]
    """
    splits = design.splits(table.codes, groups=table.groups, seed=seed)
    fitter = make_fitter(estimator, table, seed)
    jobs = ((split, number) for number, split in enumerate(splits))
    yield from fitter.run(_one, jobs, n_jobs)

"""Fit on the training rows, predict the test rows; a failure is an outcome too."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sureleaf.errors import InvalidTypeError, UnseenCategoryWarning
from sureleaf.evaluation.arguments import Floats, Integers, check_probabilities, read_labels
from sureleaf.evaluation.designs.split import Design, Split
from sureleaf.evaluation.draw import FIT, seed_for
from sureleaf.evaluation.labels import class_codes
from sureleaf.evaluation.table import Table, take_rows

__all__ = ["Outcome", "check_estimator", "fit_splits", "fitted", "predict_codes"]


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


def fitted(estimator: Any, table: Table, train: Integers, seed: int, *key: int) -> Any:
    """Return a fresh copy of the estimator, fitted on the rows.

    Every random_state left at None gets a seed of its own key, so that the order of the fits and
    the number of workers change nothing.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf.evaluation.table import read_table
    >>> table = read_table([[1], [2], [3]], ["a", "b", "b"])
    >>> model = fitted(DecisionTreeClassifier(), table, np.arange(3), 0)
    >>> model.random_state is None, model.predict([[3]]).tolist()
    (False, ['b'])
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
    options = {}
    if table.weights is not None and has_fit_parameter(copy, "sample_weight"):
        options["sample_weight"] = table.weights[train]
    copy.fit(take_rows(table.X, train), table.y[train], **options)
    return copy


def predict_codes(
    model: Any, table: Table, rows: Integers, *, labels: bool = True, probabilities: bool = True
) -> tuple[Integers, Floats | None]:
    """Return the model's predictions of the rows as codes, and its probabilities if it has any.

    What is not asked for (labels, probabilities) is not computed.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf.evaluation.table import read_table
    >>> table = read_table([[1], [2], [3]], ["a", "b", "b"])
    >>> model = fitted(DecisionTreeClassifier(), table, np.arange(3), 0)
    >>> predict_codes(model, table, np.array([0, 2]), probabilities=False)
    (array([0, 1]), None)
    """
    own = take_rows(table.X, rows)
    prediction = np.empty(0, dtype=np.int64)
    if labels:
        with _unseen_categories_expected():
            said = read_labels("predict", np.asarray(model.predict(own)))
        prediction = class_codes("predict", said, table.classes)
    if not probabilities or not hasattr(model, "predict_proba"):
        return prediction, None
    known = getattr(model, "classes_", table.classes)
    columns = class_codes("classes_", read_labels("classes_", known), table.classes)
    with _unseen_categories_expected():
        raw = check_probabilities(np.asarray(model.predict_proba(own)), len(columns))
    spread = np.zeros((len(rows), len(table.classes)))
    spread[:, columns] = raw
    return prediction, spread


@contextmanager
def _unseen_categories_expected() -> Iterator[None]:
    """Keep quiet about categories that a training part lacks: every resampling has some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        yield


def _one(estimator: Any, table: Table, split: Split, number: int, seed: int) -> Outcome:
    try:
        model = fitted(estimator, table, split.train, seed, number)
        prediction, probabilities = predict_codes(model, table, split.test)
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
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_one)(estimator, table, split, number, seed) for number, split in enumerate(splits)
    )

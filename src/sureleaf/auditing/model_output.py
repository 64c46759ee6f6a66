"""The output of a fitted model for rows: classes, predictions, probabilities and leaves.

Models may come from this library, from scikit-learn (also in a pipeline or a parameter search),
LightGBM, XGBoost, or any other library with `classes_` and `predict_proba`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sureleaf.arguments import check_probabilities
from sureleaf.auditing.tree_leaves import TreeLeaves, check_trees, find_trees
from sureleaf.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    MissingPackageError,
    SureleafError,
)
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.evaluation.evaluator import is_known_regressor
from sureleaf.evaluation.labelled_table import held_rows
from sureleaf.levels.decisions import CostRule, predicted_class

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """What a model predicts for rows: codes of the predicted classes, and class probabilities.

    `trees` are the leaves of a tree, or of the trees of an ensemble that votes; else it is empty.
    `costs` are those by which a model of this library decides.
    """

    name: str
    classes: NDArray[Any]
    predicted: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    trees: list[TreeLeaves]
    costs: CostRule | None = None

    @classmethod
    def join(cls, outputs: Sequence["ModelOutput"]) -> "ModelOutput":
        """Return the output for the rows of several outputs of one model."""
        first = outputs[0]
        return replace(
            first,
            predicted=np.concatenate([output.predicted for output in outputs]),
            probabilities=np.concatenate([output.probabilities for output in outputs]),
            trees=[
                TreeLeaves.join(trees) for trees in zip(*(o.trees for o in outputs), strict=True)
            ],
        )


def model_output(model: Any, X: Any, classes: ArrayLike | None) -> ModelOutput:
    """Predict rows with a fitted model, and find its leaves.

    `classes` are labels in the order of the probabilities, for models that do not store them.
    """
    model, last, own = _call(model, lambda: _inspect(model), _CLOSED)
    if _booster_library(model) is not None:
        return _booster_output(model, X, classes)
    rows = _model_rows(model, last, X)
    raw = _call(model, lambda: np.asarray(model.predict_proba(rows)))
    n_rows = int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
    if raw.ndim != 2 or len(raw) != n_rows or raw.dtype.kind not in "fiub":
        expected = f"numbers with {n_rows} rows and a column per class"
        raise _wrong_output(model, "predict_proba", expected, raw)
    if own is None and classes is None:
        raise InvalidArgumentError(
            f"model must have its labels in classes_; this {type(model).__name__} does not. Name "
            "them with classes= (--classes), in the order of its probabilities."
        )
    labels = _classes(own, classes, raw.shape[1])
    probabilities = check_probabilities(raw, len(labels))
    predicted = predicted_class(probabilities)
    if hasattr(model, "predict"):
        found = _call(model, lambda: np.asarray(model.predict(rows)))
        if found.size != n_rows:
            raise _wrong_output(model, "predict", f"{n_rows} labels", found)
        predicted = _label_codes(model, found.reshape(-1).tolist(), labels if own is None else own)
    inner, names = _call(model, lambda: _last_step_input(model, rows))
    trees = _call(model, lambda: find_trees(last, inner, names, len(labels)))
    costs = last.model_.rule if isinstance(last, TreeClassifier | BaggedTreesClassifier) else None
    return ModelOutput(type(last).__name__, labels, predicted, probabilities, trees, costs)


def _inspect(model: Any) -> tuple[Any, Any, Any]:
    """Return the model that predicts, its last step and its classes, if it is a classifier."""
    while hasattr(model, "best_estimator_"):  # of a parameter search
        model = model.best_estimator_
    if _booster_library(model) is not None:
        return model, model, None
    _check_classifier(model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    check_trees(last)
    return model, last, getattr(model, "classes_", None)


def _check_classifier(model: Any) -> None:
    name = type(model).__name__
    if isinstance(model, type):
        raise InvalidTypeError(
            f"model must be a fitted classifier; got the class {model.__name__}. "
            "Create an instance, fit it, and pass that."
        )
    if is_known_regressor(model):
        raise InvalidTypeError(
            f"model must be a classifier; got {name}, a regressor. Audits need class "
            "probabilities, which regressors do not have."
        )
    if not (hasattr(model, "fit") or hasattr(model, "predict_proba")):
        raise InvalidTypeError(
            "model must be a fitted classifier of scikit-learn, LightGBM, XGBoost or any other "
            f"library with classes_ and predict_proba; got {name}."
        )
    if isinstance(model, BaseEstimator):  # of others, predict_proba shows whether they are fitted
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise InvalidArgumentError(
                f"model must be fitted; this {name} is not. Call fit first."
            ) from None
    if not hasattr(model, "predict_proba"):
        raise InvalidTypeError(
            f"model must have predict_proba; {name} does not. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use a model with probabilities."
        )
    if getattr(model, "n_outputs_", 1) != 1:
        raise InvalidTypeError(
            f"model must predict one label per row; this {name} predicts {model.n_outputs_}."
        )


def _wrong_output(
    model: Any, method: str, expected: str, got: NDArray[Any]
) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{method} of the model must return {expected}; that of this {type(model).__name__} "
        f"returned {got.dtype} values of shape {got.shape}."
    )


def _label_codes(model: Any, found: list[Any], labels: ArrayLike) -> NDArray[np.intp]:
    """Return the index of each predicted label."""
    known = np.asarray(labels).tolist()
    code_of = {label: code for code, label in enumerate(known)}
    unknown = [label for label in found if label not in code_of]
    if unknown:
        raise InvalidArgumentError(
            f"model must predict its own classes, {known[:12]}; this {type(model).__name__} "
            f"predicts {unknown[0]!r}."
        )
    return np.array([code_of[label] for label in found], dtype=np.intp)


_UNREADABLE = (
    "could not read X",
    "Pass the columns that it was fitted on, in the same form, and rows that it can predict.",
)
_CLOSED = ("cannot be inspected", "Pass a fitted classifier with classes_ and predict_proba.")


def _call(model: Any, question: Callable[[], T], problem: tuple[str, str] = _UNREADABLE) -> T:
    """Return what a model answers; errors that it raises become errors of this library.

    The problem is what an error says before and after the reason.
    """
    try:
        return question()
    except (SureleafError, MemoryError):
        raise
    except Exception as error:  # any error of any library
        message = " ".join(str(error).split())[:300] or type(error).__name__
        raise InvalidArgumentError(
            f"{type(model).__name__} {problem[0]}: {message}. {problem[1]}"
        ) from error


def _package(thing: object) -> str:
    return type(thing).__module__.partition(".")[0]


def _classes(own: Any, given: ArrayLike | None, n_classes: int) -> NDArray[Any]:
    """Return the labels: those that are given, those of the model, or 0, 1, ..."""
    if given is None and own is None:
        return np.arange(n_classes)
    labels = np.asarray(own if given is None else given)
    if labels.shape != (n_classes,) or len(set(labels.tolist())) != n_classes:
        what = "classes_ of the model" if given is None else "classes"
        raise InvalidArgumentError(
            f"{what} must be {n_classes} different labels, in the order of the model's "
            f"probabilities; got {labels.tolist()}."
        )
    return labels


def _last_step_input(model: Any, rows: Any) -> tuple[Any, Sequence[str]]:
    """Return what the last step of a pipeline reads, and the names of its columns."""
    if not isinstance(model, Pipeline):
        return rows, _column_names(getattr(model, "feature_names_in_", None), rows)
    before = model[:-1]
    inner = before.transform(rows) if len(before) else rows
    try:
        names = before.get_feature_names_out() if len(before) else None
    except (AttributeError, ValueError):  # a step that cannot name its output
        names = getattr(inner, "columns", None)
    return inner, _column_names(names, inner)


def _column_names(names: Any, rows: Any) -> list[str]:
    if names is not None:
        return [str(name) for name in names]
    n_columns = rows.shape[1] if hasattr(rows, "shape") else 0
    return [f"x{index}" for index in range(n_columns)]


# ---- boosters of LightGBM and XGBoost in their own interface -------------------------------------

_BINARY = ("binary", "cross_entropy", "binary:logistic")
_MULTICLASS = ("multiclass", "multiclassova", "multi:softprob")


def _booster_library(model: object) -> str | None:
    """Return the library of a bare booster; None for other models."""
    package = _package(model)
    is_booster = type(model).__name__ == "Booster" and package in ("lightgbm", "xgboost")
    return package if is_booster else None


def _booster_output(model: Any, X: Any, classes: ArrayLike | None) -> ModelOutput:
    if _booster_library(model) == "xgboost":
        names, n_columns = model.feature_names, int(model.num_features())
    else:
        names = list(model.feature_name())
        n_columns = len(names)
        if names == [f"Column_{index}" for index in range(n_columns)]:  # of a booster without names
            names = None
    rows = _text_as_categories(select_columns(X, names, n_columns, takes_text=False))
    raw = _call(model, lambda: _booster_probabilities(model, rows))
    labels = _classes(None, classes, raw.shape[1])
    probabilities = check_probabilities(raw, len(labels))
    name = f"{_booster_library(model)} Booster"
    return ModelOutput(name, labels, predicted_class(probabilities), probabilities, [])


def _booster_probabilities(model: Any, X: Any) -> NDArray[np.float64]:
    objective = _objective(model)
    if objective not in (*_BINARY, *_MULTICLASS):
        raise InvalidTypeError(
            f"model must be a booster whose objective gives class probabilities, one of "
            f"{', '.join((*_BINARY, *_MULTICLASS))}; got {objective!r}. Train it with one of these."
        )
    if _booster_library(model) == "lightgbm":
        output = model.predict(X)
    else:
        import xgboost

        has_names = hasattr(X, "columns")
        names = None if has_names else model.feature_names
        rows = xgboost.DMatrix(X, feature_names=names, enable_categorical=has_names)
        output = model.predict(rows)
    values = np.asarray(output, dtype=np.float64)
    return np.column_stack([1.0 - values, values]) if values.ndim == 1 else values


def _objective(model: Any) -> str:
    if _booster_library(model) == "lightgbm":
        text: str = model.model_to_string(num_iteration=1)
        lines = (line for line in text.splitlines() if line.startswith("objective="))
        return next(lines, "objective=unknown").partition("=")[2].split(" ")[0]
    name: str = json.loads(model.save_config())["learner"]["objective"]["name"]
    return name


# ---- rows in the form that a model reads ---------------------------------------------------------


def _model_rows(model: Any, last: Any, X: Any) -> Any:
    """Return the rows with the columns of the model; `last` is the last step of a pipeline."""
    if isinstance(model, TreeClassifier | BaggedTreesClassifier):
        rows = held_rows(X) if isinstance(X, list | tuple) else X
        if isinstance(rows, list):  # of dicts; a column that a dict lacks is missing there
            columns = dict.fromkeys(name for row in rows for name in row)
            return pa.table({name: [row.get(name) for row in rows] for name in columns})
        return rows
    names = getattr(model, "feature_names_in_", None)
    rows = select_columns(
        X,
        None if names is None else [str(name) for name in names],
        getattr(model, "n_features_in_", None),
        takes_text=isinstance(model, Pipeline),
    )
    return _text_as_categories(rows) if _package(last) in ("lightgbm", "xgboost") else rows


def select_columns(
    X: Any, names: Sequence[str] | None, n_columns: int | None, *, takes_text: bool
) -> Any:
    """Return the table with the columns of a model, by name if it has names, else by position.

    Other columns of a data frame are left out. A model that has neither names nor a number of
    columns gets a data frame as it is. Arrow tables become pandas data frames, which
    scikit-learn reads. `takes_text`: a model without column names may get columns of text.
    """
    X = check_table(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        _check_column_number(X.shape[1], n_columns)
        return X
    if names is None and n_columns is None and not frame.implementation.is_pyarrow():
        return X  # of a model that says nothing about its columns, the user knows the form
    if names is None:
        _check_column_number(len(frame.columns), n_columns)
        return _as_array(frame, takes_text=takes_text)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidArgumentError(
            f"X must have the columns that the model was fitted on; it lacks "
            f"{_listed(missing)}. It has: {_listed(frame.columns)}."
        )
    selected = frame.select(*names)
    if not selected.implementation.is_pyarrow():
        return selected.to_native()
    try:
        return selected.to_pandas()
    except ImportError:
        raise MissingPackageError(
            "pandas is needed to pass columns to the model by name, and is not installed. "
            "Install it: pip install pandas"
        ) from None


def check_table(X: Any) -> Any:
    """Return rows as an array, a sparse matrix or a data frame; other things are an error."""
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return X
    if not (isinstance(X, np.ndarray) or sp.issparse(X)):
        raise InvalidArgumentError(
            f"X must be an array, a sparse matrix or a data frame; got {type(X).__name__}."
        )
    if X.ndim != 2:
        raise InvalidArgumentError(
            f"X must have rows and columns; got an array of {X.ndim} dimension(s). "
            "Pass a single column as X.reshape(-1, 1)."
        )
    return X


def _check_column_number(n_columns: int, expected: int | None) -> None:
    if expected is not None and n_columns != expected:
        raise InvalidArgumentError(
            f"X must have the {expected} columns that the model was fitted on; got {n_columns}. "
            "Leave out all other columns and the labels."
        )


def _as_array(frame: "nw.DataFrame[Any]", *, takes_text: bool) -> NDArray[Any]:
    text = [
        name
        for name, kind in frame.schema.items()
        if not (kind.is_numeric() or kind == nw.Boolean or kind == nw.Unknown)
    ]
    if text and not takes_text:
        raise InvalidArgumentError(
            f"X must have numbers only, because the model was fitted without column names and "
            f"columns are matched by position; got other values in {_listed(text)}. Pass the "
            "columns as they were in fit, or save the model with its encoding as a Pipeline."
        )
    if text:
        return np.array([column.to_list() for column in frame.iter_columns()], dtype=object).T
    columns = [column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]
    return np.column_stack(columns).astype(float)


def _text_as_categories(rows: Any) -> Any:
    """Convert text columns of a pandas data frame to categories, which boosters read."""
    if _package(rows) != "pandas":
        return rows
    text = [
        name
        for name in rows.columns
        if rows[name].dtype == object or type(rows[name].dtype).__name__ == "StringDtype"
    ]
    return rows.astype(dict.fromkeys(text, "category")) if text else rows


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"

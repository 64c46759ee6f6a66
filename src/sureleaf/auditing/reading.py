"""What a fitted model says about rows: its classes, predictions, probabilities and trees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sureleaf.auditing.boosters import booster_columns, booster_probabilities, is_booster
from sureleaf.auditing.columns import arrange_columns
from sureleaf.auditing.leaf_view import LeafView
from sureleaf.auditing.trees import find_trees
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.evaluation.arguments import check_probabilities

__all__ = ["Said", "ask_model"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Said:
    """What a model says about rows.

    Parameters
    ----------
    name : str
        The model's class.
    classes : ndarray of labels
    predicted : ndarray of int, shape (n_rows,)
        Code of the class predicted.
    probabilities : ndarray of float64, shape (n_rows, n_classes)
    trees : list of LeafView
        Its trees, if it is a tree or lets trees vote.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2]], ["no", "yes"])
    >>> ask_model(model, [[2], [1]], None).predicted.tolist()
    [1, 0]
    """

    name: str
    classes: NDArray[Any]
    predicted: NDArray[np.intp]
    probabilities: NDArray[np.float64]
    trees: list[LeafView]


def ask_model(model: Any, X: Any, classes: ArrayLike | None) -> Said:
    """Ask a fitted model about rows.

    Parameters
    ----------
    model : classifier
        Fitted: of scikit-learn, in a pipeline or a search or bare, of this library, of LightGBM or
        XGBoost, or anything else with classes_ and predict_proba.
    X : table
        The rows.
    classes : array_like or None
        Labels in the order of the model's probabilities, for models that do not keep them.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> said = ask_model(GaussianNB().fit([[1], [2], [4], [5]], [0, 0, 1, 1]), [[3.5]], None)
    >>> said.name, said.predicted.tolist(), said.trees
    ('GaussianNB', [1], [])
    """
    model = _unwrapped(model)
    if is_booster(model):
        return _ask_booster(model, X, classes)
    _check_classifier(model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if isinstance(last, TreeClassifier | BaggedTreesClassifier) and last is model:
        rows = np.asarray(X) if isinstance(X, list | tuple) else X
    else:
        names = getattr(model, "feature_names_in_", None)
        is_pipeline = isinstance(model, Pipeline)
        n_columns = getattr(model, "n_features_in_", None)
        names = None if names is None else [str(name) for name in names]
        rows = arrange_columns(X, names, n_columns, takes_text=is_pipeline)
        rows = _as_categories(rows) if _is_of_booster(last) else rows
    raw = _asked(model, lambda: np.asarray(model.predict_proba(rows)))
    labels = _classes(getattr(model, "classes_", None), classes, raw.shape[-1])
    probabilities = check_probabilities(raw, len(labels))
    said = _asked(model, lambda: np.asarray(model.predict(rows)))
    own = np.asarray(getattr(model, "classes_", labels))
    place = {label: code for code, label in enumerate(own.tolist())}
    predicted = np.array([place[label] for label in said.reshape(-1).tolist()], dtype=np.intp)
    inner, inner_names = _asked(model, lambda: _inside(model, rows))
    trees = _asked(model, lambda: find_trees(last, inner, inner_names, len(labels)))
    return Said(type(last).__name__, labels, predicted, probabilities, trees)


def _unwrapped(model: Any) -> Any:
    """Take the best model out of a search over parameters."""
    return _unwrapped(model.best_estimator_) if hasattr(model, "best_estimator_") else model


def _ask_booster(model: Any, X: Any, classes: ArrayLike | None) -> Said:
    names, n_columns = booster_columns(model)
    rows = _as_categories(arrange_columns(X, names, n_columns, takes_text=False))
    raw = _asked(model, lambda: booster_probabilities(model, rows))
    labels = _classes(None, classes, raw.shape[1])
    probabilities = check_probabilities(raw, len(labels))
    library = type(model).__module__.partition(".")[0]
    predicted = probabilities.argmax(axis=1)
    return Said(f"{library} Booster", labels, predicted, probabilities, [])


def _check_classifier(model: Any) -> None:
    name = type(model).__name__
    if isinstance(model, type):
        raise InvalidTypeError(
            f"model must be a fitted classifier; got the class {model.__name__}. "
            "Call it, fit it, and give the result."
        )
    if _is_regressor(model):
        raise InvalidTypeError(
            f"model must be a classifier; got {name}, a regressor. Its predictions are not "
            "classes, and levels are probabilities of classes."
        )
    if not hasattr(model, "fit"):
        raise InvalidTypeError(
            "model must be a fitted classifier, of scikit-learn, LightGBM, XGBoost or any other "
            f"library with classes_ and predict_proba; got {name}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InvalidArgumentError(
            f"model must be fitted; this {name} is not. Call fit first."
        ) from None
    except TypeError:
        pass  # not of scikit-learn: asking it for probabilities will tell
    if not hasattr(model, "predict_proba"):
        raise InvalidTypeError(
            f"model must have predict_proba; {name} has not. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or take a model with probabilities."
        )
    if getattr(model, "n_outputs_", 1) != 1:
        raise InvalidTypeError(
            f"model must predict one label a row; this {name} predicts {model.n_outputs_}."
        )


def _is_regressor(model: Any) -> bool:
    try:
        return bool(is_regressor(model))
    except (AttributeError, TypeError):  # without scikit-learn's tags
        return False


def _asked(model: Any, question: Callable[[], T]) -> T:
    """Return the model's answer; what it cannot read is an error of ours that tells its own."""
    try:
        return question()
    except SureleafError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, NotFittedError) as error:
        told = " ".join(str(error).split())
        raise InvalidArgumentError(
            f"{type(model).__name__} could not read X: {told}. Give the columns that it was "
            "fitted on, in the same form."
        ) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("lightgbm", "xgboost"):
            raise
        told = " ".join(str(error).split())[:300]
        raise InvalidArgumentError(f"{type(model).__name__} could not read X: {told}.") from error


def _classes(own: Any, given: ArrayLike | None, n_classes: int) -> NDArray[Any]:
    if given is not None:
        labels = np.asarray(given)
        if labels.shape != (n_classes,) or len(set(labels.tolist())) != n_classes:
            raise InvalidArgumentError(
                f"classes must be {n_classes} different labels, in the order of the model's "
                f"probabilities; got {labels.tolist()}."
            )
        return labels
    return np.arange(n_classes) if own is None else np.asarray(own)


def _inside(model: Any, rows: Any) -> tuple[Any, Sequence[str]]:
    """Return what the last step of a pipeline reads, and how its columns are called."""
    if not isinstance(model, Pipeline):
        names = getattr(model, "feature_names_in_", None)
        return rows, _names(names, rows)
    before = model[:-1]
    inner = before.transform(rows) if len(before) else rows
    try:
        names = before.get_feature_names_out() if len(before) else None
    except (AttributeError, ValueError):  # a step that cannot name what it makes
        names = getattr(inner, "columns", None)
    return inner, _names(names, inner)


def _names(names: Any, rows: Any) -> list[str]:
    if names is not None:
        return [str(name) for name in names]
    n_columns = rows.shape[1] if hasattr(rows, "shape") else 0
    return [f"x{place}" for place in range(n_columns)]


def _is_of_booster(model: Any) -> bool:
    return type(model).__module__.partition(".")[0] in ("lightgbm", "xgboost")


def _as_categories(rows: Any) -> Any:
    """Make text columns of a pandas table categories, the form in which boosters take them."""
    if type(rows).__module__.partition(".")[0] != "pandas":
        return rows
    text = [
        name
        for name in rows.columns
        if rows[name].dtype == object or type(rows[name].dtype).__name__ == "StringDtype"
    ]
    return rows.astype(dict.fromkeys(text, "category")) if text else rows

"""What boosters of LightGBM and XGBoost say in their own interface, as class probabilities."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidTypeError

__all__ = ["booster_columns", "booster_probabilities", "is_booster"]

_BINARY = ("binary", "cross_entropy", "binary:logistic")
_MANY = ("multiclass", "multiclassova", "multi:softprob")


def is_booster(model: object) -> bool:
    """Say whether a model is a bare LightGBM or XGBoost booster.

    Examples
    --------
    >>> is_booster("tree")
    False
    """
    return _library(model) is not None


def _library(model: object) -> str | None:
    kind = type(model)
    package = kind.__module__.partition(".")[0]
    return package if kind.__name__ == "Booster" and package in ("lightgbm", "xgboost") else None


def _objective(model: Any) -> str:
    if _library(model) == "lightgbm":
        text: str = model.model_to_string(num_iteration=1)
        lines = (line for line in text.splitlines() if line.startswith("objective="))
        return next(lines, "objective=unknown").partition("=")[2].split(" ")[0]
    told: str = json.loads(model.save_config())["learner"]["objective"]["name"]
    return told


def booster_columns(model: Any) -> tuple[list[str] | None, int]:
    """Return the names of a booster's columns, None if it was given none, and how many there are.

    Examples
    --------
    >>> import lightgbm
    >>> rows = lightgbm.Dataset(np.arange(60.0)[:, None], np.repeat([0, 1], 30))
    >>> model = lightgbm.train({"objective": "binary", "verbose": -1}, rows, 1)
    >>> booster_columns(model)
    (None, 1)
    """
    if _library(model) == "xgboost":
        return model.feature_names, int(model.num_features())
    names = list(model.feature_name())
    made_up = [f"Column_{place}" for place in range(len(names))]
    return None if names == made_up else names, len(names)


def booster_probabilities(model: Any, X: Any) -> NDArray[np.float64]:
    """Return the class probabilities of a booster, a column a class.

    Examples
    --------
    >>> import lightgbm
    >>> rows = lightgbm.Dataset(np.arange(60.0)[:, None], np.repeat([0, 1], 30))
    >>> model = lightgbm.train({"objective": "binary", "verbose": -1}, rows, 1)
    >>> booster_probabilities(model, np.array([[3]])).shape
    (1, 2)
    """
    objective = _objective(model)
    if objective not in (*_BINARY, *_MANY):
        raise InvalidTypeError(
            f"model must be a booster whose objective gives class probabilities, one of "
            f"{', '.join((*_BINARY, *_MANY))}; got {objective!r}. An audit is of classifiers: "
            "train with one of these objectives."
        )
    said = np.asarray(_predict(model, X), dtype=np.float64)
    return np.column_stack([1.0 - said, said]) if said.ndim == 1 else said


def _predict(model: Any, X: Any) -> Any:
    if _library(model) == "lightgbm":
        return model.predict(X)
    import xgboost

    has_names = hasattr(X, "columns")
    names = None if has_names else model.feature_names
    return model.predict(xgboost.DMatrix(X, feature_names=names, enable_categorical=has_names))

"""What a fitted model says about rows: its classes, predictions, probabilities and trees."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from sureleaf.arguments import check_probabilities
from sureleaf.auditing.model_columns import arrange_columns
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.model.tree_model import TreeModel
from sureleaf.tree.rules import leaf_rules

__all__ = [
    "LeafView",
    "Said",
    "ask_model",
    "booster_columns",
    "booster_probabilities",
    "find_trees",
    "is_booster",
    "path_rules",
]


# A tree of any library as the leaves that rows fall into, and what it states in each.


@dataclass(frozen=True, eq=False)
class LeafView:
    """The leaves of one tree, and where the audited rows are in it.

    Parameters
    ----------
    leaf : ndarray of int, shape (n_leaves,)
        Numbers of the leaves in the tree's own library.
    stated : ndarray of float64, shape (n_leaves, n_classes)
        Class probabilities that the model states for a row in the leaf.
    shares : sparse array of shape (n_rows, n_leaves)
        Share of each row in each leaf; one leaf has all of it, but for rows with missing values
        in trees that divide them.
    rule : ndarray of str, shape (n_leaves,), or None
        The tests on the way to each leaf, if asked for.
    trained_on : ndarray of float64, shape (n_leaves,), or None
        How many rows each leaf held in training, if it says so.

    Examples
    --------
    >>> shares = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> view = LeafView(np.array([1, 2]), np.array([[0.9, 0.1], [0.2, 0.8]]), shares, None, None)
    >>> view.count(np.array([0, 1, 0]), 2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    leaf: NDArray[np.intp]
    stated: NDArray[np.float64]
    shares: sp.csr_array
    rule: NDArray[np.object_] | None
    trained_on: NDArray[np.float64] | None

    def count(self, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
        """Count the rows of each class in each leaf."""
        indicator = sp.csr_array(
            (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes))
        )
        counts: NDArray[np.float64] = (indicator @ self.shares).toarray().T
        return np.ascontiguousarray(counts, dtype=np.float64)


# The trees inside a fitted model: one, the members of a forest or of a bag, or none.


def find_trees(model: Any, X: Any, names: Sequence[str], n_classes: int) -> list[LeafView]:
    """View the trees of a model through their leaves; none if it is not made of votes of trees.

    Parameters
    ----------
    model : estimator
        Fitted, and not a pipeline.
    X : array or data frame
        The rows, as the model reads them.
    names : sequence of str
        Names of the columns, for the rules.
    n_classes : int
        Classes of the model.

    Returns
    -------
    list of LeafView
        Rules are told of a single tree only.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> view = find_trees(model, np.array([[1], [9]]), ["wage"], 2)[0]
    >>> view.rule.tolist(), view.stated.tolist()
    (['wage <= 2.5', 'wage > 2.5'], [[1.0, 0.0], [0.0, 1.0]])
    """
    if isinstance(model, TreeClassifier):
        return [_own(model.model_, X, with_rules=True)]
    if isinstance(model, BaggedTreesClassifier):
        return [_own(tree, X, with_rules=False) for tree in model.model_.members]
    if isinstance(model, BaseDecisionTree):
        view = _of_scikit_learn(model, np.asarray(model.apply(X)), np.arange(n_classes), n_classes)
        rule = path_rules(model.tree_, names, _has_missing(X))
        return [LeafView(view.leaf, view.stated, view.shares, rule[view.leaf], view.trained_on)]
    if isinstance(model, RandomForestClassifier | ExtraTreesClassifier):
        leaves, codes = np.asarray(model.apply(X)), np.arange(n_classes)
        return [
            _of_scikit_learn(tree, leaves[:, i], codes, n_classes)
            for i, tree in enumerate(model.estimators_)
        ]
    if isinstance(model, BaggingClassifier):
        return _of_bag(model, X, n_classes)
    return []


def _of_bag(model: Any, X: Any, n_classes: int) -> list[LeafView]:
    if not all(isinstance(member, BaseDecisionTree) for member in model.estimators_):
        return []
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    views = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        leaves = np.asarray(member.apply(rows[:, columns]))
        codes = np.asarray(member.classes_, dtype=np.intp)  # a bag may lack some of the classes
        views.append(_of_scikit_learn(member, leaves, codes, n_classes))
    return views


def _of_scikit_learn(
    model: Any, leaves: NDArray[np.intp], codes: NDArray[np.intp], n_classes: int
) -> LeafView:
    tree = model.tree_
    leaf = np.flatnonzero(tree.children_left < 0)
    values = tree.value[leaf, 0, :]
    stated = np.zeros((len(leaf), n_classes))
    stated[:, codes] = values / values.sum(axis=1, keepdims=True)
    place = np.searchsorted(leaf, leaves)
    n_rows = len(leaves)
    shares = sp.csr_array(
        (np.ones(n_rows), place, np.arange(n_rows + 1)), shape=(n_rows, len(leaf))
    )
    return LeafView(leaf, stated, shares, None, tree.n_node_samples[leaf].astype(float))


def _own(model: TreeModel, X: Any, *, with_rules: bool) -> LeafView:
    tree, leaf = model.tree, model.tree.leaf_ids
    shares = sp.csr_array(model.leaf_shares(X)[:, leaf])
    rule = None
    if with_rules:
        rules = leaf_rules(tree, model.schema)
        rule = np.array([rules[node] for node in leaf.tolist()], dtype=object)
    return LeafView(leaf, model.probabilities[leaf], shares, rule, model.leaf_counts.n)


def _has_missing(X: Any) -> NDArray[np.bool_]:
    """Say of each column whether a value of it is missing."""
    if sp.issparse(X):
        return np.zeros(X.shape[1], dtype=bool)
    rows = np.asarray(X, dtype=float)
    missing: NDArray[np.bool_] = np.isnan(rows).any(axis=0)
    return missing


def path_rules(
    tree: Any, names: Sequence[str], has_missing: NDArray[np.bool_]
) -> NDArray[np.object_]:
    """Tell for every node of a scikit-learn tree the tests on the way to it.

    Where a column has missing values, the branch that they take says so.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [np.nan], [4]], [0, 0, 1, 1])
    >>> path_rules(model.tree_, ["wage"], np.array([True])).tolist()
    ['all rows', 'wage <= 3', 'wage > 3 (or missing)']
    """
    tests: list[list[str]] = [[] for _ in range(tree.node_count)]
    pending = [0]
    while pending:
        node = pending.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            continue
        column = int(tree.feature[node])
        name = names[column]
        bound = _number(float(tree.threshold[node]))
        told = [f"{name} <= {bound}", f"{name} > {bound}"]
        if has_missing[column]:
            told[0 if tree.missing_go_to_left[node] else 1] += " (or missing)"
        tests[left], tests[right] = [*tests[node], told[0]], [*tests[node], told[1]]
        pending += [left, right]
    return np.array([" and ".join(path) or "all rows" for path in tests], dtype=object)


def _number(threshold: float) -> str:
    """Write a threshold as short as it can be told from others: values are compared as float32."""
    step = float(np.spacing(np.float32(abs(threshold))))
    digits = range(1, 18)
    found = next(d for d in digits if abs(float(f"{threshold:.{d}g}") - threshold) <= step / 2)
    short = float(f"{threshold:.{found}g}")
    return np.format_float_positional(short, trim="-") if 1e-4 <= abs(short) < 1e9 else f"{short:g}"


# What boosters of LightGBM and XGBoost say in their own interface, as class probabilities.

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

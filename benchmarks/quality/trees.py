"""Single trees side by side: accuracy, AUC, log loss, size and trust on unseen rows.

Five-fold means over the data sets, every learner on the same folds: the default tree; C4.5's tree
with our probabilities; scikit-learn's CART on one-hot columns with `ccp_alpha` tuned; the CART of
ydf and C5.0 of c50py (``pip install ydf c50py``; a peer that is not installed is left out); our
forest and scikit-learn's, 30 trees each. SURELEAF_SETS names data sets, SURELEAF_TREE_LEARNERS
learners, and SURELEAF_TREE_ROWS caps the rows.
"""

import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.data_sets import ALL, DataSet, load
from benchmarks.running import Row, in_processes
from sureleaf import BaggedTreesClassifier, TreeClassifier

FOLDS = 5
LEVEL_FOLDS = 2  # folds whose trees get levels, which take most of the time
MAX_ROWS = 2000


@dataclass(frozen=True)
class Result:
    accuracy: float
    auc: float  # NaN for more than two classes
    log_loss: float
    n_leaves: float
    flagged: float  # share of test rows in flagged leaves; NaN for other libraries
    utility_gap: float  # stated utility minus accuracy on unseen rows


def one_hot(model: Any, X: pd.DataFrame, categorical: tuple[str, ...]) -> Any:
    """Numbers with imputed medians and categories as columns, for scikit-learn's trees."""
    names = [name for name in X.columns if name in categorical or X[name].dtype == object]
    numeric = [name for name in X.columns if name not in names]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), encoder), names),
        (SimpleImputer(add_indicator=True, keep_empty_features=True), numeric),
    )
    return make_pipeline(columns, model)


def tuned_cart(X: pd.DataFrame, categorical: tuple[str, ...]) -> Any:
    grid = {"ccp_alpha": [0.0, *np.geomspace(1e-4, 0.05, 12)]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    cart = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=folds)
    return one_hot(cart, X, categorical)


class Ydf:
    """ydf's CART with the interface of scikit-learn."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "Ydf":
        import ydf

        ydf.verbose(0)
        self.classes_ = np.unique(y)
        frame = X.assign(label=y.astype(str))
        self._model = ydf.CartLearner(label="label").train(frame)
        self._order = [str(name) for name in self._model.label_classes()]
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        p = np.asarray(self._model.predict(X))
        if p.ndim == 1:
            p = np.column_stack([1 - p, p])
        result = np.zeros((len(X), len(self.classes_)))
        for i, name in enumerate(self._order):
            result[:, [str(c) for c in self.classes_].index(name)] = p[:, i]
        return result

    def n_leaves(self) -> float:
        return float(sum(1 for node in _walk(self._model.get_tree(0).root) if not _children(node)))


def _children(node: Any) -> list[Any]:
    return [node.pos_child, node.neg_child] if hasattr(node, "pos_child") else []


def _walk(node: Any) -> Any:
    yield node
    for child in _children(node):
        yield from _walk(child)


def c50(X: pd.DataFrame, categorical: tuple[str, ...]) -> Any:
    from c50py import C5Classifier

    return C5Classifier()


def learners() -> dict[str, Callable[[pd.DataFrame, tuple[str, ...]], Any]]:
    found: dict[str, Callable[[pd.DataFrame, tuple[str, ...]], Any]] = {
        "default": lambda X, c: TreeClassifier(random_state=0),
        "C4.5": lambda X, c: TreeClassifier.c45(leaf_estimate="auto", random_state=0),
        "tuned CART": tuned_cart,
    }
    if _is_installed("ydf"):
        found["ydf CART"] = lambda X, c: Ydf()
    if _is_installed("c50py"):
        found["C5.0"] = c50
    found["our forest"] = lambda X, c: BaggedTreesClassifier(n_estimators=30, random_state=0)
    found["their forest"] = lambda X, c: one_hot(RandomForestClassifier(30, random_state=0), X, c)
    named = os.environ.get("SURELEAF_TREE_LEARNERS")
    return {name: found[name] for name in named.split(",")} if named else found


def _is_installed(name: str) -> bool:
    with contextlib.suppress(ImportError):
        return importlib.import_module(name) is not None
    return False


def measure(data: DataSet, make: Callable[..., Any]) -> Result:
    results = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    for fold, (train, test) in enumerate(folds.split(data.X, data.y)):
        X, y = data.X.iloc[train].reset_index(drop=True), data.y[train]
        T, t = data.X.iloc[test].reset_index(drop=True), data.y[test]
        model = make(X, data.categorical)
        model.fit(X, y)
        classes = np.asarray(model.classes_)
        p = np.asarray(model.predict_proba(T), dtype=float)
        p = p / p.sum(axis=1, keepdims=True)
        if hasattr(model, "predict"):
            right = np.asarray(model.predict(T)) == t
        else:
            right = classes[p.argmax(axis=1)] == t
        codes = np.searchsorted(classes, t)
        is_binary = len(classes) == 2
        auc = roc_auc_score(codes, p[:, 1]) if is_binary else np.nan
        loss = log_loss(codes, np.clip(p, 1e-15, 1), labels=np.arange(len(classes)))
        levels = _levels(model, T, right) if fold < LEVEL_FOLDS else (np.nan, np.nan)
        results.append((right.mean(), auc, loss, _n_leaves(model), *levels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all NaN for more than two classes
        return Result(*np.nanmean(np.array(results, dtype=float), axis=0))


def _levels(model: Any, T: pd.DataFrame, right: np.ndarray) -> tuple[float, float]:
    """Return the share of the rows in flagged leaves, and the stated utility minus the accuracy."""
    if not isinstance(model, TreeClassifier):
        return np.nan, np.nan
    leaves = model.leaves()
    flagged = dict(zip(leaves.leaf.tolist(), leaves.flagged.tolist(), strict=True))
    share = np.mean([flagged.get(leaf, True) for leaf in model.apply(T).tolist()])
    return float(share), model.levels().utility - right.mean()


def _n_leaves(model: Any) -> float:
    if isinstance(model, TreeClassifier):
        return model.tree_.n_leaves
    if isinstance(model, Ydf):
        return model.n_leaves()
    final = model[-1] if hasattr(model, "steps") else model
    if hasattr(final, "best_estimator_"):
        return final.best_estimator_.get_n_leaves()
    return float(getattr(final, "n_leaves_", np.nan))


def run() -> Iterator[Row]:
    named = os.environ.get("SURELEAF_SETS")
    names = tuple(named.split(",")) if named else ALL
    results: dict[str, list[Result]] = {name: [] for name in learners()}
    for name, found in zip(names, in_processes(_measure_all, names), strict=True):
        for learner, result in found.items():
            results[learner].append(result)
        print(f"{name}: done", file=sys.stderr, flush=True)
    for learner, rows in results.items():
        title = f"Means over {len(names)} data sets, at most {_most():,} rows"
        yield means(title, learner, rows)
    for index, name in enumerate(names):
        cells = {learner: f"{100 * rows[index].accuracy:.1f}" for learner, rows in results.items()}
        yield Row("Accuracy in per cent, by data set", {"data set": name, **cells})


def _most() -> int:
    return int(os.environ.get("SURELEAF_TREE_ROWS", str(MAX_ROWS)))


def _measure_all(name: str) -> dict[str, Result]:
    warnings.simplefilter("ignore")
    data = load(name).sample(_most(), min_rows_per_class=2 * FOLDS)
    return {learner: measure(data, make) for learner, make in learners().items()}


def means(title: str, learner: str, results: list[Result]) -> Row:
    values = np.array([tuple(vars(result).values()) for result in results])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # other libraries have no levels
        mean, median = np.nanmean(values, axis=0), np.nanmedian(values[:, 3])
    cells = {
        "accuracy": f"{100 * mean[0]:.1f} %",
        "AUC": f"{mean[1]:.3f}",
        "log loss": f"{mean[2]:.3f}",
        "leaves": f"{mean[3]:.1f}",
        "median": f"{median:.1f}",
        "flagged rows": f"{100 * mean[4]:.1f} %",
        "utility gap": f"{100 * mean[5]:+.1f}",
    }
    return Row(
        title,
        {"learner": learner, **{k: "" if "nan" in v else v for k, v in cells.items()}},
    )

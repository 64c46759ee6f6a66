"""How good are the probabilities of trees? NCE (nats), AUC and accuracy by cross-validation.

Single and bagged trees of this library, with every leaf estimate, are compared with scikit-learn's
tree, calibrated trees and forest, and with ydf's forest. A probability of zero for the true class
counts as 1e-15, which explains the bad values of plain frequencies. Large data sets are reduced to
`MAX_ROWS`.
"""

import logging
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import ydf
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.data_sets import ALL, DataSet, load
from benchmarks.running import Row, in_processes
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.probability import ESTIMATES, MEstimate

MAX_ROWS = 3000
N_FOLDS = 5
N_TREES = 30
MIN_PROBABILITY = 1e-15
BAG_ESTIMATES = [name for name in ESTIMATES if name != "auto"]  # "auto" is averaging in bags
KINDS = ("NCE", "AUC", "accuracy")
SHOWN = (
    *("C4.5 pruned: auto", "C4.5 unpruned: auto", "gini, full: auto"),
    *("calibrated, ensemble=False", "calibrated, five trees", "bagged: averaging"),
    *("scikit-learn forest", "ydf forest, mean of leaves"),
)
Probabilities = Iterator[tuple[str, np.ndarray]]


def single_trees(train: DataSet, X: pd.DataFrame) -> Probabilities:
    grown = {
        "C4.5 pruned": TreeClassifier.c45(levels_from="training"),
        "C4.5 unpruned": TreeClassifier.c45(pruning=None, levels_from="training"),
        "gini, full": TreeClassifier.c45(
            criterion="gini",
            min_samples_leaf=1,
            collapse=False,
            pruning=None,
            levels_from="training",
        ),
    }
    for title, tree in grown.items():
        tree.fit(train.X, train.y)
        for name in ESTIMATES:
            yield f"{title}: {name}", tree.with_leaf_estimate(name).predict_proba(X)
        yield f"{title}: m = 1", tree.with_leaf_estimate(MEstimate(m=1)).predict_proba(X)


def bagged_trees(train: DataSet, X: pd.DataFrame) -> Probabilities:
    tree = TreeClassifier.c45(
        criterion="gini",
        categorical_split="subset",
        min_samples_leaf=1,
        collapse=False,
        pruning=None,
    )
    bags = BaggedTreesClassifier(estimator=tree, n_estimators=N_TREES, random_state=0)
    bags.fit(train.X, train.y)
    for name in BAG_ESTIMATES:
        yield f"bagged: {name}", bags.with_leaf_estimate(name).predict_proba(X)
    yield "bagged: m = 1", bags.with_leaf_estimate(MEstimate(m=1)).predict_proba(X)
    yield "bagged: votes", bags.predict_proba(X, voting=True)
    for method in ("sigmoid", "isotonic"):
        calibrated = BaggedTreesClassifier(
            estimator=tree, n_estimators=N_TREES, calibration=method, random_state=0
        ).fit(train.X, train.y)
        yield f"bagged: averaging, {method}", calibrated.predict_proba(X)


def scikit_learn(train: DataSet, X: pd.DataFrame) -> Probabilities:
    tree = DecisionTreeClassifier(random_state=0)
    peers: dict[str, ClassifierMixin] = {
        "scikit-learn tree": tree,
        "calibrated, ensemble=False": CalibratedClassifierCV(tree, ensemble=False),
        "calibrated, five trees": CalibratedClassifierCV(tree),
        "scikit-learn forest": RandomForestClassifier(N_TREES, random_state=0),
    }
    for title, peer in peers.items():
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
        )
        encoder = make_column_transformer((codes, list(train.categorical)), remainder="passthrough")
        yield title, make_pipeline(encoder, peer).fit(train.X, train.y).predict_proba(X)


def ydf_forests(train: DataSet, X: pd.DataFrame) -> Probabilities:
    logging.disable(logging.WARNING)
    ydf.verbose(0)
    table = train.X.assign(target=train.y.astype(str))
    for title, wins in (("ydf forest", True), ("ydf forest, mean of leaves", False)):
        learner = ydf.RandomForestLearner(
            label="target", num_trees=N_TREES, winner_take_all=wins, random_seed=1
        )
        model = learner.train(table)
        output = model.predict(X)
        probabilities = np.column_stack([1 - output, output]) if output.ndim == 1 else output
        # ydf does not order the classes by label.
        index_of = {label: index for index, label in enumerate(model.label_classes())}
        order = [index_of[str(label)] for label in np.unique(train.y)]
        yield title, probabilities[:, order].astype(float)


def measure(truth: np.ndarray, classes: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    code = np.searchsorted(classes, truth)
    of_truth = np.maximum(probabilities[np.arange(len(code)), code], MIN_PROBABILITY)
    normalised = probabilities / probabilities.sum(axis=1, keepdims=True)
    scores = normalised[:, 1] if len(classes) == 2 else normalised
    return {
        "NCE": float(-np.log(of_truth).mean()),
        "AUC": float(roc_auc_score(code, scores, multi_class="ovr")),
        "accuracy": float((probabilities.argmax(axis=1) == code).mean()),
    }


def cross_validate(data: DataSet) -> pd.DataFrame:
    """Return the measures of each method, averaged over the folds."""
    classes = np.unique(data.y)
    rows = []
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(data.X, data.y):
        part = data.part(train)
        learners: list[Callable[[DataSet, pd.DataFrame], Probabilities]] = [
            single_trees,
            bagged_trees,
            scikit_learn,
            ydf_forests,
        ]
        for learner in learners:
            for title, probabilities in learner(part, data.X.iloc[test]):
                measures = measure(data.y[test], classes, probabilities)
                rows.append({"method": title, **measures})
    return pd.DataFrame(rows).groupby("method", sort=False).mean()


def _measure_all(name: str) -> pd.DataFrame:
    warnings.simplefilter("ignore")
    measures = cross_validate(load(name).sample(MAX_ROWS, min_rows_per_class=N_FOLDS))
    print(f"{name}: done", file=sys.stderr, flush=True)
    return measures


def run() -> Iterator[Row]:
    results = dict(zip(ALL, in_processes(_measure_all, ALL), strict=True))
    mean = sum(results.values()) / len(results)
    for method, measures in mean.iterrows():
        yield Row(
            f"Means over {len(results)} data sets",
            {"method": method, **{kind: f"{measures[kind]:.3f}" for kind in KINDS}},
        )
    for name, measures in results.items():
        cells = {method: f"{measures['NCE'][method]:.3f}" for method in SHOWN}
        yield Row("NCE by data set", {"data set": name, **cells})

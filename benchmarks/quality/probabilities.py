"""How good are the probabilities of trees? NCE (nats), AUC and accuracy by cross-validation.

``python -m benchmarks.quality probabilities`` prints a table a measure: our single tree and our
bagged trees with every leaf estimate, beside scikit-learn's tree, its calibrated trees, its forest
and ydf's forest. Zero probabilities of the true class count as 1e-15, which is what makes
frequencies as bad as they look; large data sets are cut to `MOST_ROWS`.
"""

import logging
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
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
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.probability import ESTIMATES, MEstimate

MOST_ROWS = 4000
N_FOLDS = 5
N_TREES = 30
LEAST_PROBABILITY = 1e-15
SHOWN = [name for name in ESTIMATES if name != "auto"]  # of bags, where "auto" is averaging
Probabilities = Iterator[tuple[str, np.ndarray]]


def single_trees(train: DataSet, X: pd.DataFrame) -> Probabilities:
    grown = {
        "C4.5 pruned": TreeClassifier(levels_from="training"),
        "C4.5 unpruned": TreeClassifier(pruning=None, levels_from="training"),
        "gini, full": TreeClassifier(
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
    bags = BaggedTreesClassifier(n_estimators=N_TREES, random_state=0).fit(train.X, train.y)
    for name in SHOWN:
        yield f"bagged: {name}", bags.with_leaf_estimate(name).predict_proba(X)
    yield "bagged: m = 1", bags.with_leaf_estimate(MEstimate(m=1)).predict_proba(X)
    yield "bagged: votes", bags.predict_proba(X, voting=True)
    for method in ("sigmoid", "isotonic"):
        calibrated = BaggedTreesClassifier(
            n_estimators=N_TREES, calibration=method, random_state=0
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
    import ydf

    logging.disable(logging.WARNING)
    ydf.verbose(0)
    table = train.X.assign(target=train.y.astype(str))
    for title, wins in (("ydf forest", True), ("ydf forest, mean of leaves", False)):
        learner = ydf.RandomForestLearner(
            label="target", num_trees=N_TREES, winner_take_all=wins, random_seed=1
        )
        model = learner.train(table)
        found = model.predict(X)
        both = np.column_stack([1 - found, found]) if found.ndim == 1 else found
        # ydf orders the classes by frequency, or as it likes.
        place = {label: k for k, label in enumerate(model.label_classes())}
        order = [place[str(label)] for label in np.unique(train.y)]
        yield title, both[:, order].astype(float)


def measure(truth: np.ndarray, classes: np.ndarray, found: np.ndarray) -> dict[str, float]:
    code = np.searchsorted(classes, truth)
    stated = np.maximum(found[np.arange(len(code)), code], LEAST_PROBABILITY)
    shares = found / found.sum(axis=1, keepdims=True)
    ranked = shares[:, 1] if len(classes) == 2 else shares
    return {
        "NCE": float(-np.log(stated).mean()),
        "AUC": float(roc_auc_score(code, ranked, multi_class="ovr")),
        "accuracy": float((found.argmax(axis=1) == code).mean()),
    }


def judge(data: DataSet) -> pd.DataFrame:
    """Measures by method, means over the folds."""
    classes = np.unique(data.y)
    lines = []
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
            for title, found in learner(part, data.X.iloc[test]):
                lines.append({"method": title, **measure(data.y[test], classes, found)})
    return pd.DataFrame(lines).groupby("method", sort=False).mean()


def run() -> None:
    warnings.simplefilter("ignore")
    found = {}
    for name in ALL:
        found[name] = judge(load(name).cut(MOST_ROWS, least_rows_a_class=N_FOLDS))
        print(f"{name}: done", flush=True)
    for kind in ("NCE", "AUC", "accuracy"):
        table = pd.DataFrame({name: measures[kind] for name, measures in found.items()})
        table.insert(0, "mean", table.mean(axis=1))
        print(f"\n{kind}" + (" (nats)" if kind == "NCE" else ""))
        print(table.round(3).to_string(index_names=False))


if __name__ == "__main__":
    run()

"""Prediction sets and Venn probabilities beside MAPIE, crepes and venn-abers, on the same tree.

A third of the rows grows the tree, a third
calibrates, a third tests, `REPEATS` times. All methods have the same tree and the same rows. Sets
are at alpha = .1. The coverage that matters for a leaf is that of its own rows: the tables show the
share of test rows in leaves whose coverage, over all repeats, is below .85, and the coverage of the
worst tenth of the leaves.
"""

import importlib.util
import sys
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import log_loss

from benchmarks.quality.data_sets import DataSet, load, selected
from benchmarks.running import Row
from sureleaf import TreeClassifier

ALPHA = 0.1
MAX_ROWS = 6000
REPEATS = 10
SETS = ("mean size", "coverage", "in leaves below .85", "worst tenth")
VENN = ("mean width", "log loss", "calibration error")


def run() -> Iterator[Row]:
    missing = [
        name for name in ("mapie", "crepes", "venn_abers") if importlib.util.find_spec(name) is None
    ]
    if missing:
        sys.exit(f"the benchmark needs {', '.join(missing)}: pip install '.[benchmark]'")
    found: dict[str, dict[str, list[tuple[float, ...]]]] = {"Prediction sets": {}, "Venn": {}}
    for name in selected():
        data = load(name).sample(MAX_ROWS, min_rows_per_class=10)
        for methods, lines in zip(found.values(), _measure(data), strict=True):
            for method, *figures in lines:
                methods.setdefault(method, []).append(tuple(figures))
        print(f"{name}: done", file=sys.stderr, flush=True)
    for (title, methods), columns in zip(found.items(), (SETS, VENN), strict=True):
        for method, values in methods.items():
            means = [f"{mean:.3f}" for mean in np.mean(values, axis=0)]
            cells = dict(zip(columns, means, strict=True))
            yield Row(f"{title}: means over the data sets", {"method": method, **cells})
    worst = SETS.index("worst tenth")
    for index, name in enumerate(selected()):
        cells = {m: f"{v[index][worst]:.3f}" for m, v in found["Prediction sets"].items()}
        yield Row("Coverage of the worst tenth, by data set", {"data set": name, **cells})


def _measure(data: DataSet) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Pool the test rows of all repeats; a leaf is one of one repeat."""
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    venn: dict[str, list[tuple[float, float, float]]] = {}
    for repeat in range(REPEATS):
        order = np.random.default_rng(repeat).permutation(len(data.y))
        grow, calibrate, test = (data.part(part) for part in np.array_split(order, 3))
        tree = TreeClassifier(random_state=repeat, levels_from="training").fit(grow.X, grow.y)
        known = [np.isin(part.y, tree.classes_) for part in (calibrate, test)]
        calibrate = calibrate.part(np.flatnonzero(known[0]))
        test = test.part(np.flatnonzero(known[1]))
        leaf = repeat * 10_000 + tree.apply(test.X)
        truth = np.searchsorted(tree.classes_, test.y)
        for method, kept in _sets(tree, calibrate, test).items():
            held = kept[np.arange(len(truth)), truth]
            found.setdefault(method, []).append((np.column_stack([leaf, held]), kept.sum(axis=1)))
        if len(tree.classes_) == 2:
            for method, (low, high, merged) in _venns(tree, calibrate, test).items():
                loss = log_loss(truth, np.clip(merged, 1e-15, 1 - 1e-15), labels=[0, 1])
                error = _calibration_error(merged, truth)
                venn.setdefault(method, []).append((float((high - low).mean()), loss, error))
    lines = []
    for method, parts in found.items():
        leaf, held = np.vstack([part[0] for part in parts]).T
        size = np.concatenate([part[1] for part in parts])
        _, line, n = np.unique(leaf, return_inverse=True, return_counts=True)
        share = np.bincount(line, held) / n
        # Whether a leaf is below .85 by more than chance: its coverage plus two standard errors.
        below = share + 2 * np.sqrt(0.25 / n) < 0.85
        order = np.argsort(share[line], kind="stable")
        worst = held[order[: max(1, len(held) // 10)]].mean()
        lines.append((method, size.mean(), held.mean(), n[below].sum() / n.sum(), worst))
    return lines, [(method, *np.mean(values, axis=0)) for method, values in venn.items()]


class _Probabilities(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose columns are its class probabilities."""

    def __init__(self, classes: np.ndarray) -> None:
        self.classes = self.classes_ = classes
        self.n_features_in_ = len(classes)

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_Probabilities":
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[np.asarray(X).argmax(axis=1)]


def _sets(tree: TreeClassifier, calibrate: DataSet, test: DataSet) -> dict[str, np.ndarray]:
    from crepes import WrapClassifier
    from mapie.classification import SplitConformalClassifier

    certified = tree.certify(calibrate.X, calibrate.y)
    sets = {
        "sureleaf, per leaf": certified.predict_set(test.X, ALPHA),
        "sureleaf, all rows": certified.predict_set(test.X, ALPHA, per=None),
    }
    # MAPIE tries the model on a row of zeros, so it gets the leaf probabilities as its columns.
    leaf_shares = [tree.predict_proba(part.X) for part in (calibrate, test)]
    mapie = SplitConformalClassifier(
        _Probabilities(tree.classes_), confidence_level=1 - ALPHA, prefit=True
    )
    mapie.conformalize(leaf_shares[0], calibrate.y)
    sets["MAPIE, split conformal (LAC)"] = mapie.predict_set(leaf_shares[1])[1][:, :, 0]
    wrapped = WrapClassifier(tree)
    wrapped.calibrate(calibrate.X, calibrate.y, mc=tree.apply, seed=0)
    for ties, smoothing in (("", False), (", random ties", True)):
        p_values = wrapped.predict_p(test.X, smoothing=smoothing, seed=0)
        sets[f"crepes, Mondrian by leaf{ties}"] = p_values > ALPHA
    return sets


def _venns(
    tree: TreeClassifier, calibrate: DataSet, test: DataSet
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    from venn_abers import VennAbers

    certified = tree.certify(calibrate.X, calibrate.y)
    low, high = certified.predict_venn(test.X)
    counts = certified.model_.held_out.counts[certified.apply(test.X)]
    merged = (counts[:, 1] + 0.5) / (counts.sum(axis=1) + 1)
    venn_abers = VennAbers()
    codes = np.searchsorted(tree.classes_, calibrate.y)
    venn_abers.fit(tree.predict_proba(calibrate.X), codes)
    probabilities, limits = venn_abers.predict_proba(tree.predict_proba(test.X))
    return {
        "sureleaf, predict_venn": (low[:, 1], high[:, 1], merged),
        "venn-abers": (limits[:, 0], limits[:, 1], probabilities[:, 1]),
        "no calibration": (
            *[tree.predict_proba(test.X)[:, 1]] * 2,
            tree.predict_proba(test.X)[:, 1],
        ),
    }


def _calibration_error(probability: np.ndarray, truth: np.ndarray) -> float:
    """Mean distance of predicted and observed shares in ten bins of equal size."""
    parts = np.array_split(np.argsort(probability, kind="stable"), 10)
    gaps = [abs(probability[part].mean() - truth[part].mean()) * len(part) for part in parts]
    return float(np.sum(gaps) / len(truth))

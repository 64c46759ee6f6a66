"""Intervals go by the number of rows if weights are counts, else by the effective number."""

import numpy as np
import pytest

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.levels.intervals import clopper_pearson

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
WEIGHTS = RNG.random(200) ** 3


def bagged(weights: str) -> BaggedTreesClassifier:
    tree = TreeClassifier.c45(weights=weights, criterion="gini", pruning=None, collapse=False)
    return BaggedTreesClassifier(estimator=tree, n_estimators=12, random_state=3)


@pytest.mark.parametrize("kind", ["counts", "importance"])
def test_out_of_bag_intervals_go_by_the_rows_that_weights_stand_for(kind: str) -> None:
    model = bagged(kind).fit(X, Y, sample_weight=WEIGHTS)
    judged = ~np.isnan(model.oob_proba_[:, 0])
    w = WEIGHTS[judged]
    hits = model.classes_[model.oob_proba_[judged].argmax(axis=1)] == Y[judged]
    utility = np.average(hits, weights=w)
    n = w.sum() if kind == "counts" else w.sum() ** 2 / (w**2).sum()
    found = model.oob_levels_
    assert (found.utility, found.n_rows) == pytest.approx((utility, n))
    assert (found.low, found.high) == pytest.approx(clopper_pearson(utility * n, n))
    groups = model.complete_model().out_of_bag.accuracy
    if kind == "importance":
        assert groups.n.sum() < w.sum() / w.mean() * 0.6
    assert groups.of(np.array([0.5, 1.0]))[1].min() > 0


def test_importance_has_no_unit() -> None:
    small, large = (bagged("importance").fit(X, Y, sample_weight=WEIGHTS * k) for k in (1, 64))
    assert small.oob_levels_ == large.oob_levels_


def test_subgroups_of_importance_weights_have_effective_rows() -> None:
    model = TreeClassifier.c45(weights="importance", random_state=0).fit(
        X, Y, sample_weight=WEIGHTS
    )
    found = model.levels_by(0)
    place = np.searchsorted(np.quantile(X[:, 0], [0.25, 0.5, 0.75], method="lower"), X[:, 0])
    for k in range(4):
        w = WEIGHTS[place == k]
        n = w.sum() ** 2 / (w**2).sum()
        assert (found.low[k], found.high[k]) == pytest.approx(
            clopper_pearson(found.utility[k] * n, n)
        )

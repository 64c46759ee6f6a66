"""Stated levels against the truth, in a population where that is known."""

import numpy as np
import pytest

from sureleaf import TreeClassifier
from tests.long_runs import runs

pytestmark = pytest.mark.usefixtures("few_rounds")

REPLICATES = runs(25)
PROMISED_BIAS = 0.007
"""The promise: utility misses unseen accuracy by at most 0.7 points on average."""

TREES = {
    "pruned": {},
    "unpruned": {"pruning": None},
    "full": {"criterion": "gini", "pruning": None, "collapse": False, "min_samples_leaf": 1},
}


def draw(n_rows, rng):
    X = rng.normal(size=(n_rows, 4))
    chance = 1 / (1 + np.exp(-(1.5 * X[:, 0] + 1.2 * (X[:, 1] > 0) * X[:, 2])))
    return X, chance, (rng.random(n_rows) < chance).astype(int)


@pytest.fixture(scope="module", params=TREES)
def found(request):
    gaps, holds, calibration = [], [], []
    for seed in range(REPLICATES):
        rng = np.random.default_rng(seed)
        X, _, y = draw(400, rng)
        Z, chance, _ = draw(10_000, rng)
        model = TreeClassifier.c45(random_state=seed, **TREES[request.param]).fit(X, y)
        table = model.leaves()
        place = np.searchsorted(table.leaf, model.apply(Z))
        n = np.bincount(place, minlength=len(table))
        truth = np.bincount(place, chance, len(table)) / np.maximum(n, 1)
        right = np.where(table.prediction == 1, truth, 1 - truth)
        gaps.append(model.levels().utility - n @ right / n.sum())
        p_max = np.maximum(truth, 1 - truth)
        holds += ((table.low <= p_max) & (p_max <= table.high))[n >= 20].tolist()
        calibration += list(zip(table.utility, right, n, strict=True))
    return np.array(gaps), np.array(holds), np.array(calibration)


def test_utility_is_the_accuracy_on_unseen_rows(found):
    gaps, _, _ = found
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert abs(gaps.mean()) < PROMISED_BIAS + 3 * error


def test_leaves_that_state_alike_are_right_as_often_as_they_state(found):
    gaps, _, leaves = found
    stated, right, n = leaves[np.argsort(leaves[:, 0])].T
    bins = np.searchsorted(np.linspace(0, n.sum(), 11)[1:-1], np.cumsum(n) - n / 2)
    weight = np.bincount(bins, n)
    miss = np.abs(np.bincount(bins, n * (stated - right)) / weight)
    # A replicate shifts all its leaves together by its own error, which a bin averages over.
    noise = gaps.std(ddof=1) / np.sqrt(len(gaps)) * np.sqrt(2 / np.pi)
    assert weight / weight.sum() @ miss < 0.03 + 3 * noise


def test_intervals_hold_p_max_nearly_as_often_as_they_say(found):
    _, holds, _ = found
    error = np.sqrt(0.9 * 0.1 / len(holds))
    assert holds.mean() > 0.90 - 3 * error  # at level 0.95


def test_training_rows_promise_too_much():
    gaps = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, _, y = draw(400, rng)
        Z, _, truth = draw(5000, rng)
        model = TreeClassifier.c45(levels_from="training", **TREES["full"]).fit(X, y)
        gaps.append(model.levels().utility - model.score(Z, truth))
    assert min(gaps) > 0.15

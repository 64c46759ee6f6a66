"""A user's program: mypy and pyright must understand it without casts. It is not run."""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import sureleaf
from sureleaf import (
    BaggedTreesClassifier,
    Comparison,
    Evaluation,
    TreeClassifier,
    compare,
    evaluate,
    levels,
)
from sureleaf.designs import KFold


def fit(X: NDArray[np.float64], y: NDArray[np.int64]) -> TreeClassifier:
    model = TreeClassifier(max_leaves=8, cost=[[0, 1], [5, 0]], random_state=0).fit(X, y)
    assert_type(model, TreeClassifier)
    assert_type(model.get_n_leaves(), int)
    assert_type(model.predict_proba(X), NDArray[np.float64])
    assert_type(model.levels().utility, float)
    assert_type(model.rules(), str)
    assert_type(TreeClassifier.c45(), TreeClassifier)
    return model.prune(n_leaves=4)


def judge(X: NDArray[np.float64], y: NDArray[np.int64]) -> str:
    tree = evaluate(TreeClassifier(), X, y, design=KFold(10), random_state=0)
    bags = evaluate(BaggedTreesClassifier(), X, y, design=KFold(10), random_state=0)
    assert_type(tree, Evaluation)
    verdict = compare(tree, bags, measure="accuracy", margin=0.01)
    assert_type(verdict, Comparison)
    assert_type(verdict.difference, float)
    return verdict.sentence


def plan() -> int:
    assert_type(levels.confidence(12, 0.8), float)
    return levels.sample_size(0.75, confidence=0.95)


def save_and_load(model: TreeClassifier) -> TreeClassifier | BaggedTreesClassifier:
    model.save("model.sureleaf")
    return sureleaf.load("model.sureleaf")

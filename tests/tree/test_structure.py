"""Importances are the decreases of impurity, summed node by node."""

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier, _kernel
from sureleaf.tree import CRITERIA, Tree, node_impurity
from tests.naive.splits import IMPURITIES


def naive_importances(tree: Tree, impurity) -> np.ndarray:
    decrease = np.zeros(tree.n_columns)
    for node in range(tree.n_nodes):
        children = tree.branches(node)
        if len(children):
            after = sum(float(impurity(tree.class_counts[child])) for child in children)
            decrease[tree.feature[node]] += float(impurity(tree.class_counts[node])) - after
    return decrease / decrease.sum()


def test_the_kernel_python_and_the_oracle_know_the_same_criteria():
    assert {*CRITERIA} == {*_kernel.criterion_names()} == {*IMPURITIES}


@pytest.mark.parametrize(("criterion", "impurity"), IMPURITIES.items())
@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_importances_are_the_decreases_of_impurity(criterion, impurity, split):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=300), "b": random.choice(list("uvwxy"), 300)})
    y = np.where((X["a"] > 0) ^ (X["b"] == "v"), 1, 0) + (random.random(300) < 0.1)
    X["c"] = 7.0
    X = X.mask(random.random(X.shape) < 0.1)
    model = TreeClassifier.c45(criterion=criterion, categorical_split=split).fit(X, y)
    expected = naive_importances(model.tree_, impurity)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9, atol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[2] == 0  # a constant column
    n = model.tree_.class_counts.sum(axis=1)
    naive = np.divide(impurity(model.tree_.class_counts), n, out=np.zeros_like(n), where=n > 0)
    np.testing.assert_allclose(node_impurity(model.tree_, criterion), naive, atol=1e-12)


def test_all_importances_of_a_single_leaf_are_zero():
    model = TreeClassifier.c45().fit([[1.0, 2.0], [3.0, 4.0]], [0, 0])
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 0.0])

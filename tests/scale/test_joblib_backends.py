"""Folds and bags on any back end of joblib, also on one that refuses generators, as Ray's does."""

import joblib
import numpy as np
import pytest
from joblib._parallel_backends import LokyBackend
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.arguments import runs_elsewhere
from sureleaf.designs import KFold
from tests.scale.tables import assert_same_tree


class WithoutGenerators(LokyBackend):
    """Processes, which give their results together at the end."""

    supports_return_generator = False


@pytest.fixture
def without_generators():
    joblib.register_parallel_backend("without generators", WithoutGenerators)
    with joblib.parallel_config(backend="without generators", n_jobs=2):
        assert runs_elsewhere()
        yield


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (90, 3)).astype(float)
    return X, (X[:, 0] > 4) ^ (rng.random(90) < 0.2)


MODELS = {"bayes": GaussianNB(), "tree": TreeClassifier(random_state=0, cv=3)}


@pytest.fixture(scope="module")
def here(labelled):
    folds = {
        name: sureleaf.evaluate(model, *labelled, design=KFold(3), random_state=0)
        for name, model in MODELS.items()
    }
    return folds, BaggedTreesClassifier(n_estimators=6, random_state=0).fit(*labelled)


def test_folds_and_bags_need_no_generators(here, labelled, without_generators):
    folds, bag = here
    for name, model in MODELS.items():
        there = sureleaf.evaluate(model, *labelled, design=KFold(3), random_state=0)
        np.testing.assert_array_equal(there.probabilities, folds[name].probabilities)
    there = BaggedTreesClassifier(n_estimators=6, random_state=0).fit(*labelled)
    for got, expected in zip(there.model_.trees, bag.model_.trees, strict=True):
        assert_same_tree(got, expected)

"""Probabilities are found when they are asked for, once, and travel with a model."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sureleaf import TreeClassifier, measures
from sureleaf.model.node_probabilities import NodeProbabilities
from sureleaf.probability import ESTIMATES, Averaging, KeepMajority, Laplace, Shrinkage

X = [[float(i), i % 3] for i in range(40)]
Y = [0] * 20 + [1, 1, 0, 1] * 5


def fitted(**parameters):
    return TreeClassifier(**parameters).fit(X, Y)


def is_asked(model):
    return "_values" in model._node_probabilities.__dict__


@pytest.mark.parametrize("name", ESTIMATES)
def test_our_own_are_found_when_first_asked_for_and_kept(name):
    model = fitted(leaf_estimate=name)
    assert not is_asked(model)
    first = model.predict_proba(X)
    expected = ESTIMATES[name](model.tree_, model.tree_.class_counts)
    assert np.array_equal(model._probabilities, expected)
    assert model._probabilities is model._probabilities
    assert np.array_equal(model.predict_proba(X), first)


def test_a_prediction_leaves_the_attributes_of_the_model_as_they_are():
    model = fitted()
    before = dict(vars(model))
    model.predict_proba(X)
    assert vars(model) == before


class Fails:
    def __call__(self, tree, counts):
        raise ArithmeticError


class Derived(Laplace):
    def __call__(self, tree, counts):
        raise ArithmeticError


@pytest.mark.parametrize("estimate", [Fails(), Derived(), KeepMajority(Fails())])
def test_that_of_somebody_else_is_asked_at_once(estimate):
    with pytest.raises(ArithmeticError):
        fitted(leaf_estimate=estimate)


def test_a_changed_parameter_does_not_change_what_was_fitted():
    model, other = fitted(leaf_estimate=Laplace()), fitted(leaf_estimate=Laplace())
    model.leaf_estimate = "frequency"
    assert np.array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_states_the_same(again):
    model = fitted(leaf_estimate=KeepMajority(Shrinkage(5)))
    other = again(model)
    assert np.array_equal(other.predict_proba(X), model.predict_proba(X))


def test_a_pickle_holds_the_numbers_and_not_the_estimate():
    stated = NodeProbabilities(fitted().tree_, Averaging())
    again = pickle.loads(pickle.dumps(stated))
    assert set(vars(again)) == {"_values"}
    assert np.array_equal(again.values, stated.values)


def test_threads_that_ask_at_the_same_time_get_the_same_array():
    stated = NodeProbabilities(fitted().tree_, Averaging())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: stated.values, range(64)))
    assert all(values is found[0] for values in found)


def test_leaves_that_were_overturned_tie_exactly_and_are_not_ranked_by_rounding() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (rng.random(600) < 0.3 + 0.3 * (X[:, 0] > 0)).astype(int)
    model = TreeClassifier(criterion="gini", pruning=None).fit(X, y)
    stated = model.predict_proba(X)
    tied = np.abs(stated[:, 0] - 0.5) < 1e-8
    assert len(np.unique(model.apply(X)[tied])) > 10
    assert len(np.unique(stated[tied, 0])) == len(np.unique(stated[tied, 1])) == 2
    ones = measures.auc(y == 1, stated[:, 1])
    assert measures.auc(y == 0, stated[:, 0]) == pytest.approx(ones, abs=1e-12)

"""A fitted tree is a value: it knows everything, changes nothing, and predicts one class."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from sureleaf import BaggedTreesClassifier, TreeClassifier, evaluate, load, measures
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.model import Evidence, TreeModel
from sureleaf.probability import ESTIMATES, KeepMajority, Laplace

pytestmark = pytest.mark.usefixtures("few_rounds")

X = [[float(i), i % 3] for i in range(40)]
Y = [0] * 20 + [1, 1, 0, 1] * 5


def fitted(**parameters):
    return TreeClassifier.c45(**parameters).fit(X, Y)


def is_computed(model):
    return "probabilities" in vars(model.model_)


@pytest.mark.parametrize("name", ESTIMATES)
def test_our_own_are_found_when_first_asked_for_and_kept(name):
    model = fitted(leaf_estimate=name)
    assert not is_computed(model)
    first = model.predict_proba(X)
    expected = ESTIMATES[name](model.tree_, model.tree_.class_counts)
    assert np.array_equal(model.model_.probabilities, expected)
    assert model.model_.probabilities is model.model_.probabilities
    assert np.array_equal(model.predict_proba(X), first)


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


def test_threads_that_ask_at_the_same_time_get_the_same_numbers():
    model = fitted().model_
    with ThreadPoolExecutor(8) as pool:
        arrays = list(pool.map(lambda _: model.probabilities, range(64)))
    assert all(np.array_equal(values, arrays[0]) for values in arrays)


def test_leaves_that_were_overturned_tie_exactly_and_are_not_ranked_by_rounding() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (rng.random(600) < 0.3 + 0.3 * (X[:, 0] > 0)).astype(int)
    model = TreeClassifier.c45(criterion="gini", pruning=None, leaf_estimate="auto").fit(X, y)
    stated = model.predict_proba(X)
    tied = np.abs(stated[:, 0] - 0.5) < 1e-8
    assert len(np.unique(model.apply(X)[tied])) > 10
    assert len(np.unique(stated[tied, 0])) == len(np.unique(stated[tied, 1])) == 2
    ones = measures.auc(y == 1, stated[:, 1])
    assert measures.auc(y == 0, stated[:, 0]) == pytest.approx(ones, abs=1e-12)


# ---- the predicted class -------------------------------------------------------------------------


class OneUlpMore:
    """Two classes that tie but for rounding, in favour of the second."""

    def __call__(self, tree, counts):
        return np.tile([0.5, np.nextafter(0.5, 1.0)], (tree.n_nodes, 1))


def test_a_tie_but_for_rounding_is_the_first_class_wherever_a_class_is_predicted():
    model = TreeClassifier.c45(leaf_estimate=OneUlpMore(), random_state=0).fit(X, Y)
    value = model.model_
    assert model.predict_proba(X).argmax(axis=1).all()  # rounding favours the second class
    assert not model.predict(X).any()
    assert not model.predict_levels(X).prediction.any()
    assert not model.complete_model().row_predictions(X).code.any()
    assert not model.leaves().prediction.any()
    assert not value.predicted_classes.any()
    assert ": 1 " not in model.rules()
    judged = evaluate(model, X, Y, random_state=0)
    assert not judged.predictions.prediction.any()
    tree = TreeClassifier.c45(leaf_estimate=OneUlpMore())
    bag = BaggedTreesClassifier(estimator=tree, n_estimators=3, random_state=0).fit(X, Y)
    assert not bag.predict(X).any()
    assert not bag.predict_levels(X).prediction.any()


# ---- a value -------------------------------------------------------------------------------------


def test_no_method_changes_the_model():
    model = TreeClassifier.c45(levels_from="training").fit(X, Y).model_
    before = {name: getattr(model, name) for name in model.__dataclass_fields__}
    probabilities, rules = model.predict_proba(X), model.rules()
    model.prune(n_leaves=1)
    model.with_leaf_estimate("laplace")
    model.with_evidence(Evidence("honest"))
    model.leaves(), model.levels(), model.predict_levels(X), model.row_predictions(X)
    assert {name: getattr(model, name) for name in model.__dataclass_fields__} == before
    assert np.array_equal(model.predict_proba(X), probabilities)
    assert model.rules() == rules
    with pytest.raises(AttributeError):
        model.unseen = "stop"


@pytest.mark.parametrize("source", ["training", "honest", "cross_fit"])
def test_the_model_alone_says_all_that_the_estimator_says(source):
    estimator = TreeClassifier.c45(levels_from=source, random_state=0).fit(X, Y)
    model = estimator.complete_model()
    assert np.array_equal(model.predict(X), estimator.predict(X))
    assert np.array_equal(model.apply(X), estimator.apply(X))
    assert (model.leaf_shares(X) != estimator.leaf_shares(X)).nnz == 0
    assert (model.decision_path(X) != estimator.decision_path(X)).nnz == 0
    assert model.levels() == estimator.levels()
    assert repr(model.leaves()) == repr(estimator.leaves())
    assert repr(model.predict_levels(X)) == repr(estimator.predict_levels(X))
    assert source in repr(model)


@pytest.mark.parametrize("source", ["training", "honest", "cross_fit"])
def test_a_state_restores_the_model_without_its_estimator(source):
    model = TreeClassifier.c45(levels_from=source, unseen="stop", random_state=0).fit(X, Y)
    model = model.complete_model()
    again = TreeModel.from_state(model.to_state())
    assert again.levels() == model.levels()
    assert (again.unseen, again.criterion, again.weights) == ("stop", "gain_ratio", "counts")
    assert again.evidence.source == source
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    # What is computed again from the evidence is what was stored, but for rounding of intervals.
    computed = replace(again)
    assert computed.levels() == model.levels()
    for name, column in computed.leaves(level=0.8).columns().items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(column, model.leaves(level=0.8).columns()[name], atol=1e-12)


def test_parameters_that_are_set_after_the_fit_wait_for_the_next_one(tmp_path):
    rows = [[letter] for letter in "aaabbbccc" * 4]
    model = TreeClassifier.c45(criterion="gini", leaf_estimate="frequency", levels_from="training")
    model.fit(rows, [0, 0, 0, 1, 1, 1, 1, 1, 1] * 4)
    with pytest.warns(UnseenCategoryWarning, match="go down all branches"):
        before = model.predict_proba([["z"]])
    model.set_params(unseen="error", leaf_estimate="laplace", criterion="entropy")
    model.save(tmp_path / "model")
    for changed in (model, load(tmp_path / "model")):
        assert changed.unseen == "error"
        with pytest.warns(UnseenCategoryWarning, match="go down all branches"):
            assert np.array_equal(changed.predict_proba([["z"]]), before)
    with pytest.raises(InvalidArgumentError, match="categories of the training rows"):
        model.fit(rows, [0, 0, 0, 1, 1, 1, 1, 1, 1] * 4).predict([["z"]])


def test_cross_fitting_fills_in_the_evidence_and_nothing_else():
    estimator = TreeClassifier.c45(random_state=0).fit(X, Y)
    pending = estimator.model_
    assert not pending.has_levels
    with pytest.raises(InvalidArgumentError, match="Call levels\\(\\) first, or fit again"):
        pending.leaves()
    levels = estimator.levels()
    assert estimator.model_.levels() == levels
    assert estimator.model_.tree is pending.tree
    assert not pending.has_levels


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_levels_are_computed_before_a_model_is_pickled_or_copied(again):
    model = TreeClassifier.c45(random_state=0).fit(X, Y)
    other = again(model)
    assert other._fit is None
    assert np.array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.levels() == TreeClassifier.c45(random_state=0).fit(X, Y).levels()
    assert repr(other.leaves(level=0.5)) == repr(model.leaves(level=0.5))


def test_a_leaf_with_many_siblings_names_their_node_and_not_each_of_them():
    towns = np.repeat(np.arange(40), 6)
    y = np.where(np.arange(240) % 6 < np.where(towns % 4, 6, 3), "yes", "no")
    settings = {"categorical_split": "multiway", "pruning": None, "levels_from": "training"}
    model = TreeClassifier(**settings, min_samples_leaf=1).fit([[f"t{t}"] for t in towns], y)
    merges = [text for text in model.leaves().repair if text.startswith("merge")]
    assert merges
    assert all("with the other 39 branches of node 0 (confidence" in text for text in merges)

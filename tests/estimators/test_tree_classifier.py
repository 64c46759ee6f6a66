"""What users of other trees expect of TreeClassifier, and its parameters of shape."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, InvalidArgumentError, TreeClassifier, evaluate, load
from sureleaf.model.size_selection import merge_unsure_leaves
from sureleaf.probability import ESTIMATES
from sureleaf.tree import cut
from tests.long_runs import runs
from tests.naive.merging import sure_leaves

pytestmark = pytest.mark.usefixtures("few_rounds")

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


# ---- the interface of other trees ----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "TreeClassifier()",
        "TreeClassifier(max_leaves=5)",
        "TreeClassifier.c45()",
        "TreeClassifier.c45(max_depth=3, pruning=None)",
        "TreeClassifier(criterion='gini', missing='fraction')",
    ],
)
def test_a_tree_is_printed_as_what_makes_it(text):
    model = eval(text)
    assert str(model) == str(clone(model)) == text
    assert eval(repr(model)).get_params() == model.get_params()


def calls_before_fit():
    needs_no_fit = {
        "fit",
        "c45",
        "around",
        "settings",
        "prepare_refits",
        "read_columns",
        "get_params",
        "set_params",
    }
    needs_no_fit |= {"get_metadata_routing", "set_fit_request", "set_score_request"}
    for name, member in inspect.getmembers(TreeClassifier):
        if not name.startswith("_") and name not in needs_no_fit:
            yield name, member


@pytest.mark.parametrize(("name", "member"), list(calls_before_fit()))
def test_everything_that_needs_a_fit_says_so(name, member, tmp_path):
    model = TreeClassifier()
    given = {
        "X": IRIS[0],
        "y": IRIS[1],
        "row": IRIS[0][0],
        "column": 0,
        "path": tmp_path / "m",
        "nodes": [0],
    }
    given |= {"leaf_estimate": "laplace", "min_confidence": 0.9, "cost": [[0, 1], [1, 0]]}
    if not callable(member):
        with pytest.raises(NotFittedError):
            getattr(model, name)
        return
    signature = inspect.signature(getattr(model, name))
    needed = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is parameter.empty and parameter.kind.name != "VAR_KEYWORD"
    ]
    with pytest.raises(NotFittedError):
        getattr(model, name)(**{parameter: given[parameter] for parameter in needed})


def test_depth_leaves_and_paths_are_those_of_scikit_learn():
    X, y = IRIS
    ours = TreeClassifier(criterion="gini", pruning=None, min_samples_leaf=5).fit(X[:, :1], y)
    peer = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[:, :1], y)
    assert ours.get_depth() == peer.get_depth()
    assert ours.get_n_leaves() == peer.get_n_leaves()
    path, expected = ours.decision_path(X[:, :1]), peer.decision_path(X[:, :1])
    assert path.shape == expected.shape
    np.testing.assert_array_equal(path.toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.apply(X[:, :1]), peer.apply(X[:, :1]))


def test_log_probabilities_are_logarithms_without_warnings():
    X, y = IRIS
    model = TreeClassifier(leaf_estimate="frequency", random_state=0).fit(X, y)
    logarithms = model.predict_log_proba(X)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(logarithms, np.log(model.predict_proba(X)))
    assert np.isneginf(logarithms).any()


# ---- the picture in a notebook -------------------------------------------------------------------


def test_a_notebook_shows_the_parameters_and_after_the_fit_the_tree():
    X, y = IRIS
    model = TreeClassifier(random_state=0)
    assert "<svg" not in model._repr_html_()
    html = model.fit(X, y)._repr_html_()
    assert "TreeClassifier" in html
    assert "<svg" in html
    assert "confidence" not in html.partition("<svg")[2]  # not known yet, and not computed for it
    assert not model.model_.has_levels
    model.levels()
    assert "confidence" in model._repr_html_().partition("<svg")[2]
    assert "No leaf is flagged yet" in html
    assert "No leaf is flagged yet" not in model._repr_html_()
    assert set(model._repr_mimebundle_()) == {"text/plain", "text/html"}
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_the_picture_of_a_large_tree_stays_small():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(6000, 5)), random.integers(0, 2, 6000)
    model = TreeClassifier(pruning=None, levels_from="training").fit(X, y)
    assert model.get_n_leaves() > 800
    picture = model._repr_html_().partition("<svg")[2]
    assert len(picture) < 40_000
    assert picture.count("<title>") - 1 <= 2 * 32
    below = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) leaves below", picture)]
    assert 0 <= model.get_n_leaves() - sum(below) < 32


# ---- max_leaves ----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_leaves", [1, 2, 3, 5, 8])
def test_max_leaves_caps_the_tree_exactly(max_leaves):
    X, y = CANCER
    grown = TreeClassifier(max_leaves=max_leaves, pruning=None, min_samples_leaf=1).fit(X, y)
    assert grown.get_n_leaves() == max_leaves
    chosen = TreeClassifier(max_leaves=max_leaves, margin=0, random_state=0).fit(X, y)
    assert chosen.get_n_leaves() <= max_leaves
    c45 = TreeClassifier.c45(max_leaves=max_leaves, pruning=None, collapse=False).fit(X, y)
    assert c45.get_n_leaves() <= max_leaves


# ---- monotone ------------------------------------------------------------------------------------


def risk_table(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)).round(1), columns=["age", "debt", "other"])
    X.loc[::23, "other"] = np.nan
    score = X["age"] - 0.7 * X["debt"] + random.normal(size=n)
    return X, score


def changes_along(model, column, seed):
    random = np.random.default_rng(seed)
    grid = np.linspace(-4, 4, 80)
    changes = []
    for point in random.normal(size=(30, 3)):
        rows = pd.DataFrame(
            np.repeat(point[np.newaxis], len(grid), axis=0), columns=["age", "debt", "other"]
        )
        rows[column] = grid
        changes.append(np.diff(model.predict_proba(rows), axis=0))
    return np.concatenate(changes)


@pytest.mark.parametrize("pruning", ["auto", None, "cost_complexity"])
def test_probabilities_of_two_classes_rise_and_fall_as_told(pruning):
    X, score = risk_table()
    y = np.where(score > 0.2, "yes", "no")
    parameters = {"pruning": pruning, "random_state": 0, "margin": 0.0}
    model = TreeClassifier(monotone={"age": 1, "debt": -1}, **parameters).fit(X, y)
    assert model.get_n_leaves() > 2
    assert changes_along(model, "age", 0)[:, 1].min() >= -1e-12
    assert changes_along(model, "debt", 0)[:, 1].max() <= 1e-12
    for same in ([1, -1, 0], {0: 1, 1: -1}, {"age": {"no": -1}, "debt": {"yes": -1}}):
        other = TreeClassifier(monotone=same, **parameters).fit(X, y)
        assert other.rules() == model.rules()
    free = TreeClassifier(**parameters).fit(X, y)
    if pruning is None:
        assert changes_along(free, "age", 0)[:, 1].min() < -0.1


def test_probabilities_of_three_classes_rise_and_fall_by_class():
    X, score = risk_table()
    y = np.array(["low", "mid", "high"])[np.digitize(score, [-0.7, 0.7])]
    signs = {"age": {"high": 1, "low": -1}}
    model = TreeClassifier(monotone=signs, pruning=None, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    along = changes_along(model, "age", 1)
    assert along[:, 0].min() >= -1e-12
    assert along[:, 1].max() <= 1e-12
    assert model.get_n_leaves() > 5


def test_constraints_are_kept_by_bags_evaluations_and_files(tmp_path):
    X, score = risk_table()
    y = np.where(score > 0.2, "yes", "no")
    tree = TreeClassifier(monotone={"age": 1}, pruning=None, random_state=0)
    bag = BaggedTreesClassifier(estimator=tree, n_estimators=5, random_state=0).fit(X, y)
    assert changes_along(bag, "age", 2)[:, 1].min() >= -1e-12
    assert evaluate(tree, X, y, random_state=0).estimate("accuracy").value > 0.6
    tree.fit(X, y).save(tmp_path / "m.sureleaf")
    again = load(tmp_path / "m.sureleaf")
    assert again.monotone == {"age": 1}
    np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"monotone": {"height": 1}}, "monotone must name columns of the table; got 'height'"),
        ({"monotone": [1, 0]}, "one entry for each of 3 columns; got 2"),
        ({"monotone": {"age": 2}}, "monotone must be -1, 0 or 1"),
        ({"monotone": 1}, "monotone must be a dict of signs"),
        ({"monotone": {"age": 1}, "pruning": "pessimistic"}, "with pruning='pessimistic'"),
        ({"monotone": {"age": 1}, "levels_from": "honest"}, "with levels_from='honest'"),
    ],
)
def test_wrong_constraints_are_errors(parameters, message):
    X, score = risk_table(60)
    with pytest.raises(InvalidArgumentError, match=message):
        TreeClassifier(**parameters).fit(X, score > 0)
    with pytest.raises(InvalidArgumentError, match=r"\{'age': \{2: 1\}\}"):  # what to write
        TreeClassifier(monotone={"age": 1}).fit(X, np.digitize(score, [-0.7, 0.7]))


# ---- min_confidence ------------------------------------------------------------------------------


def noisy(seed, n=600, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    score = X[:, 0] + 0.6 * X[:, 1] * (X[:, 2] > 0) + 1.5 * random.normal(size=n)
    return X, np.digitize(score, np.linspace(-0.8, 0.8, n_classes + 1)[1:-1])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("min_confidence", [0.6, 0.9, 0.99])
def test_the_part_with_sure_leaves_is_that_of_the_naive_twin(n_classes, min_confidence):
    for seed in range(runs(6)):
        X, y = noisy(seed, 300, n_classes)
        tree = TreeClassifier(pruning=None, min_samples_leaf=5).fit(X, y).tree_
        merged = merge_unsure_leaves(tree, ESTIMATES["frequency"], min_confidence=min_confidence)
        leaves = sure_leaves(tree, min_confidence)
        expected = cut(tree, np.isin(np.arange(tree.n_nodes), leaves))
        np.testing.assert_array_equal(merged.class_counts, expected.class_counts)
        np.testing.assert_array_equal(merged.feature, expected.feature)


@pytest.mark.parametrize("margin", [None, 0.0])
@pytest.mark.parametrize("pruning", ["auto", "pessimistic", None])
def test_every_leaf_reaches_min_confidence_or_the_tree_is_one_leaf(pruning, margin):
    n_leaves = []
    for seed in range(4):
        X, y = noisy(seed)
        parameters = {"pruning": pruning, "margin": margin, "levels_from": "training"}
        model = TreeClassifier(min_confidence=0.95, random_state=0, **parameters).fit(X, y)
        for method in ("mle", "blend"):
            sure = model.leaves(method=method).confidence.min()
            assert sure >= 0.95 or model.get_n_leaves() == 1
        n_leaves.append(model.get_n_leaves())
    assert max(n_leaves) > 1


def test_with_costs_every_decision_reaches_min_confidence():
    X, y = noisy(0)
    parameters = {"pruning": None, "min_samples_leaf": 5, "levels_from": "training"}
    for cost in ([[0, 1], [5, 0]], [[0, 1], [1, 0]], None):
        model = TreeClassifier(min_confidence=0.9, cost=cost, **parameters).fit(X, y)
        plain = TreeClassifier(cost=cost, **parameters).fit(X, y)
        assert 1 < model.get_n_leaves() < plain.get_n_leaves()
        assert model.leaves(method="blend").confidence.min() >= 0.9


def test_the_trees_of_the_folds_are_merged_as_well(tmp_path):
    X, y = noisy(0)
    model = TreeClassifier(min_confidence=0.99, pruning=None, random_state=0).fit(X, y)
    assert model.get_n_leaves() < TreeClassifier(pruning=None).fit(X, y).get_n_leaves()
    unseen = noisy(1, 20_000)
    stated = model.levels().utility
    assert abs(stated - model.score(*unseen)) < 0.06  # about three standard errors of 600 rows
    model.save(tmp_path / "m.sureleaf")
    assert load(tmp_path / "m.sureleaf").min_confidence == 0.99


# ---- many categories -----------------------------------------------------------------------------


def named(codes, numbers):
    return pd.DataFrame({"code": [f"c{code}" for code in codes], "size": numbers})


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    ("n_rows", "n_categories"), [(600, 600), (600, 300), (600, 60), (2000, 400)]
)
def test_categories_that_mean_nothing_do_not_win(n_classes, n_rows, n_categories):
    n_used = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        codes = random.permutation(np.arange(n_rows) % n_categories)
        size = random.normal(size=n_rows)
        cuts = np.linspace(-1, 1, n_classes + 1)[1:-1]
        y = np.digitize(size + 0.8 * random.normal(size=n_rows), cuts)
        model = TreeClassifier(random_state=0, levels_from="training").fit(named(codes, size), y)
        assert model.tree_.feature[0] == 1
        n_used += 0 in model.tree_.feature
        alone = TreeClassifier(random_state=0, levels_from="training")
        assert alone.fit(named(codes, size)[["code"]], y).get_n_leaves() == 1
    assert n_used <= (2 if n_categories == 60 else 0)  # chance that no column is protected from


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("n_rows", "n_categories"), [(2000, 100), (3000, 300)])
def test_hundreds_of_categories_with_an_effect_are_used(n_classes, n_rows, n_categories):
    random = np.random.default_rng(0)
    group = random.integers(0, n_classes, n_categories)

    def draw(n):
        codes = random.integers(0, n_categories, n)
        y = np.where(random.random(n) < 0.7, group[codes], random.integers(0, n_classes, n))
        return named(codes, random.normal(size=n)), y

    model = TreeClassifier(random_state=0, levels_from="training").fit(*draw(n_rows))
    assert model.get_n_leaves() == n_classes
    best = 0.7 + 0.3 / n_classes  # by someone who knows the groups
    assert model.score(*draw(10_000)) > best - 0.03


def test_rules_of_a_tree_with_class_weights_have_weights_and_not_rows():
    model = TreeClassifier(class_weight={"a": 5, "b": 1}, levels_from="training", pruning=None)
    assert "(weight 10: a 10)" in model.fit([[1], [1], [2], [2]], ["a", "a", "b", "b"]).rules()

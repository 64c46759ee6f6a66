"""Bagged trees against trees grown one by one on repeated rows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from sureleaf import (
    BaggedTreesClassifier,
    InvalidArgumentError,
    InvalidTypeError,
    TreeClassifier,
    UnseenCategoryWarning,
)
from sureleaf.model.out_of_bag import draw_bag
from sureleaf.probability import ESTIMATES
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow

BAGGED = {
    f"check_sample_weight_equivalence_on_{form}_data": "bags are drawn by row number"
    for form in ("dense", "sparse")
}
FULL = {"criterion": "gini", "min_samples_leaf": 1, "collapse": False, "pruning": None}


@parametrize_with_checks(
    [
        BaggedTreesClassifier(n_estimators=5),
        BaggedTreesClassifier(
            n_estimators=5, max_features=None, max_samples=0.7, class_weight="balanced"
        ),
        BaggedTreesClassifier(
            n_estimators=25, estimator=TreeClassifier.c45(), calibration="sigmoid"
        ),
    ],
    expected_failed_checks=lambda model: BAGGED,
)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The y_prob values", category=UserWarning)
        check(estimator)


def rows(n_rows: int = 400, n_classes: int = 2, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, n_rows).astype(float)
    town = random.choice(["Rome", "Oslo", "Lima", "Bern"], n_rows).astype(object)
    income = random.normal(size=n_rows)
    y = ((age > 45).astype(int) + (town == "Oslo") + (income > 0.3)) % n_classes
    y = np.where(random.random(n_rows) < 0.15, random.integers(0, n_classes, n_rows), y)
    age[::9], town[::13] = np.nan, None
    return pd.DataFrame({"age": age, "town": town, "income": income}), y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "tree",
    [
        TreeClassifier.c45(**FULL),
        TreeClassifier.c45(**FULL, categorical_split="subset"),
        TreeClassifier.c45(criterion="entropy", min_samples_leaf=3, pruning=None),
        TreeClassifier.c45(),
    ],
    ids=["gini", "subset", "entropy", "C4.5"],
)
def test_a_bag_is_the_tree_of_its_rows_repeated(tree, n_classes):
    X, y = rows(n_classes=n_classes)
    X = X.assign(flag=np.arange(len(X)) % 2, few=np.arange(len(X)) % 7)
    model = BaggedTreesClassifier(estimator=tree, n_estimators=3, random_state=5).fit(X, y)
    for number, grown in enumerate(model.trees_):
        drawn = draw_bag(len(X), None, seed=5, tree=number).astype(int)
        again = clone(tree).fit(X.loc[X.index.repeat(drawn)], y.repeat(drawn)).tree_
        np.testing.assert_array_equal(grown.feature, again.feature)
        np.testing.assert_array_equal(grown.threshold, again.threshold)
        np.testing.assert_allclose(grown.class_counts, again.class_counts, rtol=1e-12)


def test_counts_that_do_not_fit_beside_the_row_grow_the_same_tree():
    X, y = rows()
    X["income"] = X["income"].round(1)
    often = np.random.default_rng(0).integers(0, 3, len(X))
    many = 2**22  # leaves no room for the count in a list entry of 32 bits
    for n_classes, labels in ((2, y), (3, (y + often) % 3)):
        once = TreeClassifier.c45(**FULL).fit(X, labels, sample_weight=often)
        more = TreeClassifier.c45(**(FULL | {"min_samples_leaf": many}))
        more.fit(X, labels, sample_weight=often * many)
        assert len(once.classes_) == n_classes
        np.testing.assert_array_equal(once.tree_.feature, more.tree_.feature)
        np.testing.assert_allclose(once.tree_.class_counts * many, more.tree_.class_counts)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_votes_and_spread_are_those_of_the_trees(n_classes):
    X, y = rows(n_classes=n_classes)
    new, _ = rows(2500, n_classes, seed=1)
    new.loc[::11, "town"] = None
    model = BaggedTreesClassifier(n_estimators=7, random_state=0).fit(X, y)
    each = np.array([tree.predict_proba(new) for tree in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(new), each.mean(axis=0), atol=1e-13)
    levels = model.predict_levels(new)
    own = np.searchsorted(model.classes_, levels.prediction)
    np.testing.assert_allclose(levels.spread, each.std(axis=0)[np.arange(len(own)), own], atol=1e-7)
    votes = np.array([tree.predict(new) for tree in model.estimators_])
    shares = np.array([(votes == label).mean(axis=0) for label in model.classes_]).T
    np.testing.assert_allclose(model.predict_proba(new, voting=True), shares, atol=1e-13)
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0, atol=1e-12)


def slow_out_of_bag(X, y, model, n_trees):
    """Return the mean of the trees of a larger bag whose bags do not hold the row."""
    larger = clone(model).set_params(n_estimators=n_trees).fit(X, y)
    each = np.array([tree.predict_proba(X) for tree in larger.estimators_])
    settings = {"seed": model.random_state, "max_samples": model.max_samples}
    out = np.array([draw_bag(len(X), None, tree=t, **settings) == 0 for t in range(n_trees)])
    slow = np.full((len(X), 2), np.nan)
    for row in range(len(X)):
        if out[:, row].any():
            slow[row] = each[out[:, row], row].mean(axis=0)
    return slow


@pytest.mark.parametrize(
    ("max_samples", "n_draws", "n_trees"),
    # So many trees that 4 do not hold a row, but at most 4 e.
    [(1.0, 400, 11), (0.5, 200, 7), (37, 37, 5), (900, 900, 11)],
)
def test_out_of_bag_asks_as_many_trees_as_there_are_and_only_those_that_did_not_see_the_row(
    max_samples, n_draws, n_trees
):
    X, y = rows()
    model = BaggedTreesClassifier(n_estimators=4, max_samples=max_samples, random_state=3)
    model.fit(X, y)
    for number, tree in enumerate(model.trees_):
        bag = draw_bag(len(X), None, seed=3, tree=number, max_samples=max_samples)
        assert bag.sum() == tree.class_counts[0].sum() == n_draws
    slow = slow_out_of_bag(X, y, model, n_trees)
    np.testing.assert_allclose(model.oob_proba_, slow, atol=1e-13)
    judged = ~np.isnan(slow[:, 0])
    hits = slow[judged].argmax(axis=1) == y[judged]
    assert model.oob_levels_.utility == pytest.approx(hits.mean())
    assert model.oob_score_ == pytest.approx(hits.mean())
    assert model.oob_levels_.n_in_every_bag == (~judged).sum()


def test_trees_do_not_depend_on_threads():
    X, y = rows()
    one = BaggedTreesClassifier(n_estimators=6, random_state=1, n_jobs=1).fit(X, y)
    for n_jobs in (2, 3):
        more = BaggedTreesClassifier(n_estimators=6, random_state=1, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(one.predict_proba(X), more.predict_proba(X))
        np.testing.assert_array_equal(one.oob_proba_, more.oob_proba_)


@pytest.mark.parametrize("name", ESTIMATES)
def test_any_leaf_estimate_regrows_nothing(name):
    X, y = rows(n_classes=3)
    model = BaggedTreesClassifier(n_estimators=5, random_state=1).fit(X, y)
    other = model.with_leaf_estimate(name)
    assert other.model_.trees is model.model_.trees
    single = "averaging" if name == "auto" else name  # alone a tree keeps its leaves' majorities
    each = np.array(
        [tree.with_leaf_estimate(single).predict_proba(X) for tree in model.estimators_]
    )
    np.testing.assert_allclose(other.predict_proba(X), each.mean(axis=0), atol=1e-13)
    assert np.isfinite(other.oob_proba_[~np.isnan(other.oob_proba_)]).all()


def test_calibration_needs_every_class_out_of_bag():
    with pytest.raises(InvalidArgumentError, match="needs out-of-bag rows of every class"):
        BaggedTreesClassifier(n_estimators=1, calibration="sigmoid", random_state=1).fit(
            [[1], [2]], ["a", "b"]
        )


def test_draws_come_up_as_often_as_their_weights_say():
    weights = np.array([1.0, 2.0, 0.5, 0.0, 6.5])
    n_trees = 4000
    drawn = sum(draw_bag(5, weights, seed=1, tree=tree) for tree in range(n_trees))
    shares, chances = drawn / (10 * n_trees), weights / weights.sum()
    noise = np.sqrt(chances * (1 - chances) / (10 * n_trees))
    assert (np.abs(shares - chances) <= 5 * noise).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0]], ["a", "b"]),
        ([[1.0], [1.0], [1.0]], ["a", "b", "a"]),
        ([[1.0], [2.0], [3.0]], ["a", "a", "a"]),
        ([[np.nan], [np.nan], [1.0]], ["a", "b", "c"]),
        ([["x"], [None], ["y"], ["x"]], ["a", "b", "a", "b"]),
    ],
    ids=["two rows", "all the same", "one class", "missing", "text"],
)
def test_poor_data_gives_probabilities_and_no_warnings(X, y):
    model = BaggedTreesClassifier(n_estimators=10, random_state=0).fit(X, y)
    for voting in (False, True):
        found = model.predict_proba(X, voting=voting)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert set(model.predict(X)) <= set(y)
    assert repr(model.oob_levels_).startswith("OutOfBagLevels")
    assert len(model.predict_levels(X)) == len(X)


def test_a_pickle_knows_what_is_out_of_bag_and_a_model_without_rows_says_that_it_does_not():
    X, y = rows()
    model = BaggedTreesClassifier(n_estimators=5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.oob_proba_, model.oob_proba_)
    assert model.forget_rows().oob_levels_ == again.oob_levels_
    used = BaggedTreesClassifier(n_estimators=5, random_state=0).fit(X, y)
    _ = used.oob_proba_
    assert used.forget_rows().oob_levels_ == again.oob_levels_
    without = BaggedTreesClassifier(n_estimators=5, random_state=0).fit(X, y).forget_rows()
    for unknown in (without, pickle.loads(pickle.dumps(without))):
        with pytest.raises(InvalidArgumentError, match="no longer holds them"):
            _ = unknown.oob_proba_
        with pytest.raises(InvalidArgumentError, match="no longer holds them"):
            unknown.predict_levels(X)


def forest_tree(X, y, weights=None):
    """The tree of a forest that looks at all columns of every node."""
    labels = y.astype(np.int32)
    part = TrainingRows(read_table(X.reset_index(drop=True)), labels, int(y.max()) + 1, weights)
    rules = GrowthRules(
        "gini",
        "subset",
        missing="branch",
        thresholds="midpoint",
        min_samples_leaf=1.0,
        category_penalty=1.0,
    )
    return grow(part, rules)


def test_an_estimator_of_ones_own_keeps_its_columns_and_weights_unless_the_bag_says_others():
    X, y = rows()
    tree = TreeClassifier.c45(pruning=None, max_features=2, class_weight="balanced")
    kept = BaggedTreesClassifier(estimator=tree, n_estimators=1, random_state=0).fit(X, y)
    assert (kept.estimator_.max_features, kept.estimator_.class_weight) == (2, "balanced")
    other = BaggedTreesClassifier(
        estimator=tree, n_estimators=1, max_features=None, class_weight={0: 2}, random_state=0
    ).fit(X, y)
    assert (other.estimator_.max_features, other.estimator_.class_weight) == (None, {0: 2})
    assert (tree.max_features, tree.class_weight) == (2, "balanced")


@pytest.mark.parametrize("class_weight", [{0: 3.0}, {0: 0.25, 1: 1.0}, "balanced"])
def test_class_weights_weigh_rows_that_are_drawn_without_them(class_weight):
    X, y = rows()
    y = np.where(np.arange(len(y)) % 3, 0, y)
    model = BaggedTreesClassifier(
        n_estimators=3, max_features=None, class_weight=class_weight, random_state=1
    ).fit(X, y)
    plain = BaggedTreesClassifier(n_estimators=3, max_features=None, random_state=1).fit(X, y)
    by_class = {"balanced": len(y) / (2 * np.bincount(y))}.get(str(class_weight))
    if by_class is None:
        by_class = np.array([class_weight.get(label, 1.0) for label in (0, 1)])
    for number, grown in enumerate(model.trees_):
        drawn = draw_bag(len(X), None, seed=1, tree=number)
        again = forest_tree(X, y, drawn * by_class[y])
        np.testing.assert_array_equal(grown.feature, again.feature)
        np.testing.assert_allclose(grown.class_counts, again.class_counts, rtol=1e-12)
        np.testing.assert_allclose(
            grown.class_counts[0], plain.trees_[number].class_counts[0] * by_class, rtol=1e-12
        )
    assert model.oob_levels_.n_rows == plain.oob_levels_.n_rows


def test_names_of_scikit_learns_forest_say_the_same():
    X, y = rows()
    model = BaggedTreesClassifier(n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.oob_decision_function_, model.oob_proba_)
    assert model.oob_score_ == model.oob_levels_.utility
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    np.testing.assert_allclose(model.feature_importances_, each.mean(axis=0), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    stump = BaggedTreesClassifier(n_estimators=2).fit(X, np.zeros(len(X)))
    assert stump.feature_importances_.tolist() == [0.0, 0.0, 0.0]


def test_bad_parameters_are_named():
    X, y = rows(50)
    with pytest.raises(InvalidArgumentError, match="n_estimators must be a whole number"):
        BaggedTreesClassifier(n_estimators=0).fit(X, y)
    with pytest.raises(InvalidArgumentError, match="calibration must be one of"):
        BaggedTreesClassifier(calibration="platt").fit(X, y)
    for max_features in ("all", 0, 1.5, True):
        with pytest.raises(InvalidArgumentError, match="max_features must be"):
            BaggedTreesClassifier(max_features=max_features).fit(X, y)
    for max_samples in (0, -3, 0.0, 1.5, "all", None, True):
        with pytest.raises(InvalidArgumentError, match="max_samples must be"):
            BaggedTreesClassifier(max_samples=max_samples).fit(X, y)
    with pytest.raises(InvalidArgumentError, match="class_weight must"):
        BaggedTreesClassifier(class_weight="even").fit(X, y)
    with pytest.raises(InvalidTypeError, match="estimator must be a TreeClassifier"):
        BaggedTreesClassifier(estimator="tree").fit(X, y)


def test_columns_read_where_they_lie_are_asked_about_alike() -> None:
    random = np.random.default_rng(1)
    whole = random.integers(0, 50, 300)
    kind = np.where(random.random(300) < 0.1, None, random.choice(["a", "b", "c"], 300))
    narrow = pd.DataFrame({"whole": whole, "kind": pd.Categorical(kind)})
    wide = pd.DataFrame({"whole": whole.astype(float), "kind": kind.astype(object)})
    y = whole + 20 * (narrow["kind"] == "b") + random.normal(0, 8, 300) > 30
    model = BaggedTreesClassifier(n_estimators=7, random_state=0).fit(narrow, y)
    np.testing.assert_array_equal(model.predict_proba(narrow), model.predict_proba(wide))
    np.testing.assert_array_equal(
        model.predict_levels(narrow).spread, model.predict_levels(wide).spread
    )


def test_encoded_rows_with_other_categories_than_in_training_are_recoded() -> None:
    X = pa.table({"word": [f"w{i % 30:02}" for i in range(90)], "n": list(range(90))})
    y = np.array([i % 30 < 15 for i in range(90)])
    train, test = np.flatnonzero(np.arange(90) % 30 % 3 > 0), np.arange(0, 90, 3)
    encoded = read_table(X)
    model = BaggedTreesClassifier(n_estimators=5, n_jobs=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        plain = model.fit(X.take(train), y[train]).predict_proba(X.take(test))
    parts = model.fit(encoded[train], y[train]).predict_proba(encoded[test])
    np.testing.assert_array_equal(parts, plain)

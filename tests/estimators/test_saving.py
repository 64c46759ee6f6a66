import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from sureleaf import BaggedTreesClassifier, TreeClassifier, load
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators.saving import estimator_from_state, estimator_state
from sureleaf.files.state_file import Damaged, write_state
from sureleaf.probability import Averaging, KeepDecision, KeepMajority, MEstimate, Shrinkage

pytestmark = pytest.mark.usefixtures("few_rounds")


def table(n=240, seed=0):
    """Every kind of column, with missing values in each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "n;'\"\\": rng.integers(0, 9, n)})
    frame["kind"] = np.array(["u", "v'", 'w"', "\n\u00e4"])[rng.integers(0, 4, n)]
    frame["grade"] = pd.Categorical.from_codes(
        rng.integers(0, 3, n), ["low", "mid", "high"], ordered=True
    )
    frame["member"] = rng.random(n) < 0.5
    frame["day"] = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")
    score = frame["size"] + (frame["kind"] == "u") + frame["member"] + rng.normal(size=n)
    for place, name in enumerate(frame.columns):
        if name != "member":
            frame.loc[place::17, name] = None
    return frame, np.digitize(score, [0.0, 1.5])


def same(model, again, X):
    """All that a model says of itself and of rows, bit by bit."""
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert again.predict(X).dtype == model.predict(X).dtype
    ours, theirs = model.predict_levels(X), again.predict_levels(X)
    for name, column in ours.columns().items():
        np.testing.assert_array_equal(column, theirs.columns()[name], name)


def saved(model, folder):
    path = folder / "model.sureleaf"
    model.save(path)
    return load(path)


@pytest.mark.parametrize("source", ["training", "honest", "cross_fit"])
@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_a_loaded_tree_says_what_the_saved_one_said(tmp_path, source, split):
    X, y = table()
    wanted = {"level": 0.8, "confidence": None, "utility": None}
    if split == "multiway":  # rows_needed of three classes takes seconds
        y, wanted = y > 0, {"level": 0.8, "confidence": 0.9, "utility": 0.7}
    model = TreeClassifier.c45(levels_from=source, categorical_split=split, random_state=3)
    model.fit(X, y)
    again = saved(model, tmp_path)
    same(model, again, X)
    assert again.levels() == model.levels()
    assert again.rules() == model.rules()
    ours, theirs = model.leaves(**wanted), again.leaves(**wanted)
    for name, column in ours.columns().items():
        np.testing.assert_array_equal(column, theirs.columns()[name], name)
    assert ours.notes() == theirs.notes()
    assert again.get_params() == model.get_params()
    assert again.schema_ == model.schema_
    assert again.feature_names_in_.tolist() == list(X.columns)
    np.testing.assert_array_equal(again.leaf_counts_.counts, model.leaf_counts_.counts)
    np.testing.assert_array_equal(again.leaf_counts_.squares, model.leaf_counts_.squares)
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("changes", [{}, {"pruning": None}, {"pruning": "pessimistic"}])
def test_a_loaded_tree_knows_where_missing_values_go(tmp_path, changes):
    X, y = table(n=600)
    X.loc[y == 2, "size"] = None  # a test for missing values
    model = TreeClassifier(random_state=0, levels_from="training", **changes).fit(X, y)
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.tree_.missing_branch, model.tree_.missing_branch)
    np.testing.assert_array_equal(again.tree_.threshold, model.tree_.threshold)
    assert np.isinf(again.tree_.threshold).any()
    kept = [column.has_missing for column in again.schema_]
    assert kept == [column.has_missing for column in model.schema_]
    assert kept == X.isna().any().tolist()
    assert "missing" in again.rules()
    assert again.rules() == model.rules()
    assert pickle.loads(pickle.dumps(again)).rules() == model.rules()
    with_missing = X.copy()
    with_missing.loc[::2, ["size", "kind"]] = None
    same(model, again, with_missing)


def test_a_loaded_tree_holds_no_rows_and_says_so(tmp_path):
    X, y = table()
    again = saved(TreeClassifier.c45(random_state=0).fit(X, y), tmp_path)
    assert again.forget_rows().levels() == again.levels()
    with pytest.raises(InvalidArgumentError, match="no longer holds them"):
        again.prune("pessimistic")
    assert again.prune(n_leaves=2).tree_.n_leaves <= 2


def test_a_tree_without_levels_and_rows_is_saved_without_levels(tmp_path):
    X, y = table()
    model = TreeClassifier.c45(random_state=0).fit(X, y).forget_rows()
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    with pytest.raises(InvalidArgumentError, match="Call levels\\(\\) first, or fit again"):
        again.levels()


def test_a_loaded_tree_can_be_fitted_saved_and_pickled_again(tmp_path):
    X, y = table()
    model = TreeClassifier.c45(random_state=0).fit(X, y)
    again = saved(saved(model, tmp_path), tmp_path)
    same(model, again, X)
    same(model, pickle.loads(pickle.dumps(again)), X)
    same(model, again.fit(X, y), X)


def test_weights_and_pruned_copies_are_kept(tmp_path):
    X, y = table()
    weights = np.random.default_rng(1).random(len(y)) + 0.5
    model = TreeClassifier.c45(weights="importance", random_state=0).fit(X, y, weights)
    again = saved(model, tmp_path)
    assert again.levels() == model.levels()
    np.testing.assert_array_equal(again.leaf_counts_.n_effective, model.leaf_counts_.n_effective)
    half = model.prune(n_leaves=2, X=X[::2], y=y[::2])
    again = saved(half, tmp_path)
    np.testing.assert_array_equal(again.leaf_counts_.counts, half.leaf_counts_.counts)
    assert again.levels() == half.levels()


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_loaded_bags_say_what_the_saved_ones_said(tmp_path, calibration, n_classes):
    X, y = table()
    y = np.minimum(y, n_classes - 1)
    model = BaggedTreesClassifier(n_estimators=7, calibration=calibration, random_state=1)
    model.fit(X, y)
    again = saved(model, tmp_path)
    same(model, again, X)
    assert again.oob_levels_ == model.oob_levels_
    assert again.oob_score_ == model.oob_score_
    np.testing.assert_array_equal(
        model.predict_proba(X, voting=True), again.predict_proba(X, voting=True)
    )
    np.testing.assert_array_equal(model.predict_levels(X).spread, again.predict_levels(X).spread)
    np.testing.assert_array_equal(
        model.estimators_[2].predict_proba(X), again.estimators_[2].predict_proba(X)
    )
    with pytest.raises(InvalidArgumentError, match="no longer holds them"):
        _ = again.oob_proba_
    same(model, saved(again, tmp_path), X)


def test_bags_of_given_trees_keep_their_parameters(tmp_path):
    X, y = table()
    tree = TreeClassifier.c45(max_depth=3, leaf_estimate=Shrinkage(4.0), unseen="stop")
    model = BaggedTreesClassifier(estimator=tree, n_estimators=3, random_state=1).fit(X, y)
    pickled = saved(pickle.loads(pickle.dumps(model)), tmp_path)
    without = saved(BaggedTreesClassifier(n_estimators=3).fit(X, y).forget_rows(), tmp_path)
    again = saved(model, tmp_path)
    assert pickled.oob_levels_ == model.oob_levels_
    same(model, again, X)
    assert again.estimator.get_params() == tree.get_params()
    with pytest.raises(InvalidArgumentError, match="no longer holds them"):
        _ = without.oob_levels_


@pytest.mark.parametrize("max_samples", [0, -1.0, "all", None, True])
def test_a_size_of_bags_that_cannot_be_is_damage(max_samples):
    X, y = table()
    state = estimator_state(BaggedTreesClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(Damaged, match="its bags have no size"):
        estimator_from_state(replace(state, header={**state.header, "max_samples": max_samples}))


LABELS = {
    "text": np.array(["no", "yes"]),
    "text of objects": np.array(["\u4e2d\n", '"; drop'], dtype=object),
    "int64": np.array([-3, 2**62]),
    "int8": np.array([0, 1], dtype=np.int8),
    "uint64": np.array([1, 2**64 - 1], dtype=np.uint64),
    "big-endian": np.array([1, 2], dtype=">i4"),
    "bool": np.array([False, True]),
    "float64": np.array([0.0, 1e300]),
    "float32": np.array([1.0, 2.0], dtype=np.float32),
    "days": np.array(["2024-02-29", "2025-01-01"], dtype="datetime64[D]"),
    "spans": np.array([5, 7], dtype="timedelta64[ms]"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_come_back(tmp_path, kind):
    y = np.repeat(LABELS[kind], 20)
    model = TreeClassifier.c45().fit(np.arange(40.0).reshape(-1, 1), y)
    again = saved(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.predict([[1.0], [39.0]]), model.predict([[1.0], [39.0]]))


def test_one_class_one_leaf_and_an_array_without_names(tmp_path):
    model = TreeClassifier.c45().fit([[1.0], [2.0]], ["a", "a"])
    again = saved(model, tmp_path)
    assert again.predict([[7.0]]).tolist() == ["a"]
    assert not hasattr(again, "feature_names_in_")
    assert again.n_features_in_ == 1
    bag = saved(BaggedTreesClassifier(n_estimators=1).fit([[1.0], [2.0]], ["a", "a"]), tmp_path)
    assert bag.predict([[7.0]]).tolist() == ["a"]


def test_infinite_thresholds_and_categories_come_back(tmp_path):
    X = pd.DataFrame({"x": [-np.inf, 1.0, np.inf, 2.0] * 10, "c": [np.inf, 1, -np.inf, 2.5] * 10})
    y = [0, 1, 0, 1] * 10
    model = TreeClassifier.c45(categorical_features=["c"], min_samples_leaf=1).fit(X, y)
    other = TreeClassifier.c45(categorical_features=[], min_samples_leaf=1, criterion="gini").fit(
        X, y
    )
    for fitted in (model, other):
        again = saved(fitted, tmp_path)
        assert again.schema_ == fitted.schema_
        np.testing.assert_array_equal(again.tree_.threshold, fitted.tree_.threshold)
        same(fitted, again, X)


ESTIMATES = [
    "laplace",
    Shrinkage(3.0),
    KeepMajority(Averaging(0.5, 1.0)),
    KeepDecision(Shrinkage(5), [[0, 1, 2], [5, 0, 1], [1, 1, 0]]),
    MEstimate(),
    MEstimate(2),
]


@pytest.mark.parametrize("estimate", ESTIMATES, ids=str)
def test_leaf_estimates_come_back_by_name_and_parameters(tmp_path, estimate):
    X, y = table()
    model = TreeClassifier.c45(leaf_estimate=estimate, levels_from="training").fit(X, y)
    again = saved(model, tmp_path)
    assert again.leaf_estimate == estimate
    same(model, again, X)


class Even:
    def __call__(self, tree, counts):
        return np.full(counts.shape, 1 / counts.shape[1])


def test_an_estimate_of_ones_own_is_refused_with_the_way_out(tmp_path):
    X, y = table()
    model = TreeClassifier.c45(leaf_estimate=Even(), levels_from="training").fit(X, y)
    with pytest.raises(InvalidTypeError, match=r"with_leaf_estimate\('auto'\)\.save\(path\)"):
        model.save(tmp_path / "model")
    with pytest.raises(InvalidTypeError, match="whose code a file cannot hold"):
        model.with_leaf_estimate(KeepMajority(Even())).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    assert saved(model.with_leaf_estimate("auto"), tmp_path).levels().utility > 0


def test_parameters_that_are_objects_are_refused_with_the_way_out(tmp_path):
    X, y = table()
    model = TreeClassifier.c45(cv=KFold(5, shuffle=True, random_state=0), random_state=0).fit(X, y)
    with pytest.raises(InvalidTypeError, match=r"cv must be .*set_params\(cv=...\)"):
        model.save(tmp_path / "model")
    levels = model.levels()
    assert saved(model.set_params(cv=5), tmp_path).levels() == levels


def test_kinds_that_were_given_are_saved(tmp_path):
    X, y = table()
    kinds = {"member": "numeric", 1: list(range(9)), "kind": "categorical"}
    model = TreeClassifier.c45(categorical_features=kinds, levels_from="training").fit(X, y)
    again = saved(model, tmp_path)
    assert again.categorical_features == kinds
    same(model, again, X)
    schema = model.schema_
    model = TreeClassifier.c45(categorical_features=schema, levels_from="training").fit(X, y)
    assert saved(model, tmp_path).categorical_features == schema


def test_what_is_not_fitted_or_not_ours_is_refused(tmp_path):
    class Grown(TreeClassifier):
        pass

    with pytest.raises(NotFittedError):
        TreeClassifier.c45().save(tmp_path / "model")
    with pytest.raises(InvalidTypeError, match="TreeClassifier or a BaggedTreesClassifier"):
        Grown().fit([[1], [2]], [0, 1]).save(tmp_path / "model")


def test_a_file_of_another_process_is_the_same_and_reads_the_same(tmp_path):
    X, y = table()
    X.to_pickle(tmp_path / "X")
    model = TreeClassifier.c45(random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    code = (
        "import sys, pandas, sureleaf\n"
        "model = sureleaf.load(sys.argv[1] + '/model')\n"
        "model.save(sys.argv[1] + '/again')\n"
        "print(model.predict_proba(pandas.read_pickle(sys.argv[1] + '/X')).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert done.stdout.strip() == model.predict_proba(X).tobytes().hex()
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("cost", [None, [[0, 3, 1], [1, 0, 1], [1, 1, 0]]])
def test_skops_has_to_trust_the_estimator_and_nothing_else(cost):
    skops = pytest.importorskip("skops.io")
    X, y = table()
    model = TreeClassifier(cost=cost, random_state=0)
    bag = BaggedTreesClassifier(n_estimators=3, cost=cost, random_state=0)
    for fitted, module in ((model.fit(X, y), "tree_classifier"), (bag.fit(X, y), "bagged_trees")):
        written = skops.dumps(fitted)
        trusted = skops.get_untrusted_types(data=written)
        assert trusted == [f"sureleaf.estimators.{module}.{type(fitted).__name__}"]
        again = skops.loads(written, trusted=trusted)
        same(fitted, again, X)
        if fitted is bag:
            assert again.oob_score_ == bag.oob_score_
            assert repr(again.estimator_) == repr(bag.estimator_)
            np.testing.assert_array_equal(again.oob_proba_, bag.oob_proba_)


@pytest.mark.filterwarnings("ignore")  # importing MLflow warns about MLflow's own type hints
def test_mlflow_saves_a_tree_in_its_default_format(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) > 19
    model = TreeClassifier(random_state=0).fit(X, y)
    mlflow.save_model(
        model,
        str(tmp_path / "model"),
        skops_trusted_types=["sureleaf.estimators.tree_classifier.TreeClassifier"],
        pip_requirements=["sureleaf"],
    )
    again = mlflow.load_model(str(tmp_path / "model"))
    assert again.levels() == model.levels()


def test_a_pickle_of_a_model_with_an_estimate_of_its_own_keeps_the_object():
    class Halves:
        def __call__(self, tree, counts):
            return np.full(counts.shape, 1 / counts.shape[1])

    model = TreeClassifier(pruning=None).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert "model_state_" in model.__getstate__()
    changed = TreeClassifier.around(replace(model.model_, leaf_estimate=Halves()), model)
    assert changed.__getstate__()["model_"].leaf_estimate is changed.model_.leaf_estimate


def keep(estimate, parameters):
    return {"estimate": estimate, "parameters": parameters}


def changed_state(model, *, array="", value=0.0, header=()):
    """Return the state of a model with the last number of an array, or a header entry, changed."""
    state = estimator_state(model)
    if array:
        arrays = {**state.arrays, array: state.arrays[array].copy()}
        arrays[array].flat[-1] = value
        return replace(state, arrays=arrays)
    *path, last, entry = header
    plain = json.loads(json.dumps(state.header))
    part = plain
    for name in path:
        part = part[name]
    part[last] = entry
    return replace(state, header=plain)


HUGE = 10**400


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"array": "levels/others", "value": 0.3}, "shares of a node's other classes"),
        ({"header": ("levels", "shared_rows", HUGE)}, "int too large to convert to float"),
        (
            {"header": ("fitted", "leaf_estimate", keep("KeepMajority", {"estimate": 5}))},
            "estimate must be a leaf estimate",
        ),
        (
            {"header": ("fitted", "leaf_estimate", keep("Shrinkage", {"strength": HUGE}))},
            "a parameter of its leaf estimate is too large",
        ),
    ],
)
def test_a_damaged_model_is_refused_when_it_is_loaded(tmp_path, change, words):
    X, y = table()
    model = TreeClassifier(pruning=None, random_state=0).fit(X, y)
    write_state(changed_state(model, **change), tmp_path / "m.sureleaf")
    with pytest.raises(InvalidArgumentError, match=f"m.sureleaf is damaged: .*{words}"):
        load(tmp_path / "m.sureleaf")


@pytest.mark.parametrize("threshold", [-1.0, 3.0, 7.0, -np.inf, 1e300])
def test_a_threshold_that_is_not_an_ordered_category_is_refused(tmp_path, threshold):
    grades = pd.DataFrame({"grade": pd.Categorical(["low", "mid", "high"] * 20, ordered=True)})
    model = TreeClassifier.c45(levels_from="training").fit(grades, [0, 1, 1] * 20)
    state = estimator_state(model)
    before = state.arrays["tree/threshold"]
    after = np.where(np.isfinite(before), threshold, before)
    changed = replace(state, arrays={**state.arrays, "tree/threshold": after})
    write_state(changed, tmp_path / "m.sureleaf")
    with pytest.raises(InvalidArgumentError, match="not one of the ordered categories"):
        load(tmp_path / "m.sureleaf")

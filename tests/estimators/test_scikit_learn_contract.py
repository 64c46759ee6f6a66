"""TreeClassifier keeps scikit-learn's contract."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sureleaf import TreeClassifier, UnseenCategoryWarning

EQUIVALENCE = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
NOT_PROMISED = {
    "reduced_error": "the held-out third is drawn by row, and a row of weight 2 is one row",
    "importance": "weights that are importances do not mean repeated rows",
}


def expected_to_fail(model: TreeClassifier) -> dict[str, str]:
    for parameter, reason in NOT_PROMISED.items():
        if parameter in (model.pruning, model.weights):
            return dict.fromkeys(EQUIVALENCE, reason)
    return {}


@parametrize_with_checks(
    [
        TreeClassifier(random_state=0),
        TreeClassifier(pruning=None, max_features="sqrt", random_state=0),
        TreeClassifier(max_leaves=5, random_state=0),
        TreeClassifier.c45(),
        TreeClassifier.c45(criterion="gini", min_samples_leaf=1, collapse=False, pruning=None),
        TreeClassifier.c45(criterion="entropy", categorical_split="subset", levels_from="training"),
        TreeClassifier.c45(criterion="gini", pruning="cost_complexity", cv=3, random_state=0),
        TreeClassifier.c45(pruning="cost_complexity", ccp_alpha=0.01, unseen="stop"),
        TreeClassifier.c45(pruning="reduced_error", random_state=0),
        TreeClassifier.c45(weights="importance", leaf_estimate="frequency"),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def mixed_table(n_rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    age = random.integers(18, 80, n_rows).astype(float)
    town = random.choice(["Rome", "Oslo", "Lima"], n_rows).astype(object)
    y = np.where((age > 40) ^ (town == "Oslo") ^ (random.random(n_rows) < 0.1), "yes", "no")
    age[::9], town[::13] = np.nan, None
    return pd.DataFrame({"age": age, "town": town, "noise": random.normal(size=n_rows)}), y


@pytest.mark.parametrize("levels_from", ["training", "cross_fit"])
def test_a_pickled_model_predicts_and_explains_as_before(levels_from):
    X, y = mixed_table()
    model = TreeClassifier.c45(levels_from=levels_from)
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    written = pickle.dumps(model.fit(X, y))  # before the first prediction
    expected = model.predict_proba(X)
    for data in (written, pickle.dumps(model)):
        read = pickle.loads(data)
        assert b"_kernel" not in data  # a tree is arrays; no object of the kernel is written
        np.testing.assert_array_equal(read.predict_proba(X), expected)
        assert read.rules() == model.rules()
        assert read.prune(n_leaves=1).tree_.n_leaves == 1
        assert not read.tree_.feature.flags.writeable


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-1, 1],
        [2**40, 2**40 + 1],
        [0.0, 1.0],
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([3, 7], dtype=np.uint8),
        np.array(["b", "a"], dtype=object),
    ],
    ids=lambda labels: str(np.asarray(labels).dtype),
)
def test_labels_of_every_type_come_back_as_they_were(labels):
    X, y = mixed_table()
    given = np.asarray(labels)[(y == "yes").astype(int)]
    model = TreeClassifier.c45().fit(X, given)
    np.testing.assert_array_equal(model.classes_, np.unique(given))
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype == given.dtype
    assert model.score(X, given) == np.mean(predicted == given) > 0.8
    series = TreeClassifier.c45().fit(X, pd.Series(given))
    np.testing.assert_array_equal(series.predict(X), predicted)


def test_it_works_in_a_pipeline_with_a_column_transformer():
    X, y = mixed_table()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    keep = ColumnTransformer(
        [("numbers", numbers, ["age", "noise"]), ("town", "passthrough", ["town"])]
    )
    for output in ("default", "pandas"):
        pipeline = Pipeline([("columns", keep), ("tree", TreeClassifier.c45())])
        pipeline.set_output(transform=output).fit(X, y)
        assert pipeline.score(X, y) > 0.8
        schema = pipeline["tree"].schema_
        assert [column.kind for column in schema] == ["numeric", "numeric", "categorical"]


def test_it_can_be_searched_calibrated_and_voted_with():
    X, y = mixed_table()
    grid = {"min_samples_leaf": [2, 20], "criterion": ["gini", "gain_ratio"], "max_depth": [1, 4]}
    search = GridSearchCV(TreeClassifier.c45(levels_from="training"), grid, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 4  # an exclusive or needs more than one test
    assert search.best_score_ > 0.7
    voting = VotingClassifier(
        [("a", TreeClassifier.c45()), ("b", TreeClassifier.c45(criterion="gini"))]
    )
    assert voting.fit(X, y).score(X, y) > 0.7
    calibrated = CalibratedClassifierCV(TreeClassifier.c45(levels_from="training"), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    assert len(cross_val_predict(TreeClassifier.c45(), X, y, cv=3)) == len(y)


def test_weights_and_groups_are_routed():
    X, y = mixed_table()
    random = np.random.default_rng(1)
    weights, groups = random.integers(0, 3, len(y)).astype(float), np.arange(len(y)) // 20
    with sklearn.config_context(enable_metadata_routing=True):
        model = TreeClassifier.c45(pruning="reduced_error", random_state=0)
        model.set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        result = cross_validate(
            pipeline,
            X,
            y,
            cv=GroupKFold(4),
            params={"sample_weight": weights, "groups": groups},
            return_estimator=True,
            return_indices=True,
            error_score="raise",
        )
        for fitted, train in zip(result["estimator"], result["indices"]["train"], strict=True):
            direct = clone(model).fit(
                X.iloc[train], y[train], sample_weight=weights[train], groups=groups[train]
            )
            assert fitted[-1].rules() == direct.rules()


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("criterion", ["gain_ratio", "gini", "entropy"])
def test_a_category_of_rows_that_take_no_part_is_unknown(criterion, split):
    town = np.array(["Rome", "Oslo", "Bern", "Rome", "Oslo", "Bern"] * 5 + ["Lima"] * 3)
    X, y = pd.DataFrame({"town": town}), (town == "Oslo") | (np.arange(33) % 7 == 0)
    weights = np.where(town == "Lima", 0, 1)
    model = TreeClassifier.c45(criterion=criterion, categorical_split=split, pruning=None)
    alone = clone(model).fit(X[weights > 0], y[weights > 0])
    model.fit(X, y, sample_weight=weights)
    assert model.rules() == alone.rules()
    assert model.schema_ == alone.schema_
    with pytest.warns(UnseenCategoryWarning, match="town"):
        model.predict(X)


def test_a_given_schema_keeps_the_categories_of_rows_that_take_no_part():
    X, y = pd.DataFrame({"town": ["Rome", "Oslo", "Lima"] * 8}), [0, 1, 0] * 8
    schema = TreeClassifier.c45().fit(X, y).schema_
    model = TreeClassifier.c45(categorical_features=schema, criterion="gini")
    model.fit(X, y, sample_weight=(X["town"] != "Lima").astype(int))
    assert model.schema_ == schema
    assert model.predict(X).shape == (24,)  # without a warning: Lima is known


def test_importances_do_not_depend_on_the_unit_of_the_weights():
    X, y = mixed_table()
    weights = np.random.default_rng(3).random(len(y))
    models = [
        TreeClassifier.c45(weights="importance").fit(X, y, sample_weight=weights * unit)
        for unit in (1.0, 1e-9, 1e140)
    ]
    assert models[0].tree_.class_counts[0].sum() == pytest.approx(len(y))
    for other in models[1:]:
        np.testing.assert_array_equal(other.tree_.feature, models[0].tree_.feature)
        np.testing.assert_array_equal(other.tree_.threshold, models[0].tree_.threshold)


def test_fit_changes_neither_the_table_nor_the_labels():
    X, y = mixed_table()
    kept, labels = X.copy(deep=True), y.copy()
    array = np.ascontiguousarray(X[["age", "noise"]].to_numpy())
    kept_array = array.copy()
    array.flags.writeable = y.flags.writeable = False
    TreeClassifier.c45().fit(X, y).predict(X)
    TreeClassifier.c45().fit(array, y).predict(array)
    pd.testing.assert_frame_equal(X, kept)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(array, kept_array)


def test_what_the_caller_does_with_the_table_after_fit_does_not_reach_the_model():
    random = np.random.default_rng(4)
    X, y = random.normal(size=(100, 3)), random.integers(0, 2, 100)
    weights, groups = random.random(100), np.arange(100)
    model = TreeClassifier.c45().fit(X, y, sample_weight=weights, groups=groups)
    held = model._fit.rows
    before = [column.copy() for column in held.table.columns], held.weights.copy()
    X[:], weights[:], groups[:] = 0.0, 0.0, 0
    for column, expected in zip(held.table.columns, before[0], strict=True):
        np.testing.assert_array_equal(column, expected)
    np.testing.assert_array_equal(held.weights, before[1])
    assert model._fit.groups.max() == 99
    assert model.forget_rows()._fit is None
    assert TreeClassifier.c45(levels_from="training").fit(X, y)._fit.rows is None


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = mixed_table()
    model = TreeClassifier.c45().fit(X, y)
    rules, names = model.rules(), model.feature_names_in_.tolist()
    model.leaf_estimate = lambda tree, counts: 1 / 0
    with pytest.raises(ZeroDivisionError):
        model.fit(X[["noise"]], np.arange(len(y)) % 3)
    assert model.rules() == rules
    assert model.feature_names_in_.tolist() == names
    assert model.classes_.tolist() == ["no", "yes"]

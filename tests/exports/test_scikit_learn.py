"""A tree of scikit-learn with the same structure: the same results, for programs that read it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import export_text, plot_tree

from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier
from sureleaf.exports import sklearn_columns, to_sklearn


@pytest.fixture(scope="module")
def fitted():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.astype("float32")
    X.iloc[::7, 2] = np.nan
    return TreeClassifier(pruning=None, random_state=0).fit(X, y), X


def test_it_predicts_as_the_tree_does_missing_values_included(fitted):
    model, X = fitted
    tree = pickle.loads(pickle.dumps(to_sklearn(model)))
    assert np.isnan(X.to_numpy()).any()
    np.testing.assert_array_equal(tree.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(tree.predict(X), model.predict(X))
    np.testing.assert_array_equal(tree.apply(X), model.apply(X))
    assert (tree.get_depth(), tree.get_n_leaves()) == (model.get_depth(), model.get_n_leaves())
    assert tree.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert export_text(tree).count("class:") == model.get_n_leaves()


def test_one_leaf_and_labels_of_text_become_a_tree_too():
    X = np.arange(12.0).reshape(-1, 1)
    model = TreeClassifier(max_depth=1).fit(X, ["a"] * 12)
    assert to_sklearn(model).predict(X).tolist() == ["a"] * 12


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TreeClassifier.c45(), "missing='branch'"),
        (TreeClassifier(cost=[[0, 1], [5, 0]]), "sureleaf.decide"),
        (TreeClassifier(categorical_features=[0], categorical_split="multiway"), "'subset'"),
    ],
)
def test_a_tree_that_scikit_learn_cannot_represent_is_refused(model, words):
    X = np.arange(40.0).reshape(-1, 1)
    with pytest.raises(InvalidArgumentError, match=words):
        to_sklearn(model.set_params(pruning=None).fit(X % 4, X[:, 0] % 4 > 1))


@pytest.fixture(scope="module")
def mixed():
    """A tree of numbers, categories and an order, with missing values of each."""
    rng = np.random.default_rng(0)
    n = 900
    size = pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True)
    X = pd.DataFrame({"x": rng.integers(0, 50, n) / 8, "kind": rng.choice(list("abcdef"), n)})
    X = X.assign(size=size, flag=rng.random(n) < 0.4)
    y = X["x"] + 2 * X["kind"].isin(list("ace")) + X["size"].cat.codes + rng.normal(size=n) > 4.5
    X = X.mask(rng.random(X.shape) < 0.1)
    X["size"] = X["size"].astype(size.dtype)
    model = TreeClassifier(pruning=None, min_samples_leaf=5, random_state=0).fit(X, y)
    assert {column.kind for column in model.schema_} == {"numeric", "categorical", "ordered"}
    assert set(model.tree_.feature) == {-1, 0, 1, 2, 3}
    return model, X


def test_categories_become_columns_of_groups(mixed):
    model, X = mixed
    tree, columns = to_sklearn(model), sklearn_columns(model, X)
    assert columns.columns.tolist() == tree.feature_names_in_.tolist()
    assert {"x", "size"} <= set(columns)
    assert columns.isna().to_numpy().any()
    # A row with a category that some node has not seen is divided by the model.
    one = np.diff(model.leaf_shares(X).indptr) == 1
    assert one.mean() > 0.9
    np.testing.assert_array_equal(tree.apply(columns)[one], model.apply(X)[one])
    np.testing.assert_array_equal(tree.predict_proba(columns)[one], model.predict_proba(X)[one])
    text = export_text(tree, feature_names=list(columns))
    assert text.count("class:") == model.get_n_leaves()
    assert "kind: " in text
    figure = pytest.importorskip("matplotlib.figure").Figure()
    pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    drawn = plot_tree(tree, feature_names=list(columns), ax=figure.subplots())
    assert len(drawn) >= model.tree_.n_nodes


def test_dates_cannot_become_numbers_of_scikit_learn():
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40)})
    model = TreeClassifier(pruning=None).fit(X, np.arange(40) > 20)
    for use in (to_sklearn, lambda model: sklearn_columns(model, X)):
        with pytest.raises(InvalidArgumentError, match=r"must not test dates.*'day'"):
            use(model)


def test_only_a_tree_can_become_one():
    with pytest.raises(InvalidTypeError, match="TreeClassifier"):
        to_sklearn("tree")


@pytest.mark.parametrize("has_background", [False, True])
def test_shap_explains_every_probability(fitted, mixed, has_background):
    shap = pytest.importorskip("shap")
    (model, X), (of_groups, rows) = fitted, mixed
    for tree, columns in (
        (to_sklearn(model), X.fillna(0)),
        (to_sklearn(of_groups), sklearn_columns(of_groups, rows).dropna()),
    ):
        explainer = shap.TreeExplainer(tree, *([columns] if has_background else []))
        total = explainer.shap_values(columns).sum(axis=1) + explainer.expected_value
        np.testing.assert_allclose(total, tree.predict_proba(columns), atol=1e-6)


def test_thresholds_part_rounded_and_unrounded_values_alike():
    values = np.array([0.1, 0.2, 0.7, 3.8, 1e9 / 7, -2.3, 0.0, 16.0, 1e-50, 1e300])
    for value in values:  # the threshold is the smaller value
        X = np.array([[value], [value], [value + abs(value) + 1], [value + abs(value) + 1]])
        tree = to_sklearn(TreeClassifier(pruning=None, min_samples_leaf=1).fit(X, [0, 0, 1, 1]))
        threshold = tree.tree_.threshold[0]
        with np.errstate(over="ignore"):
            assert threshold == np.float32(threshold)
            assert value <= threshold
            assert np.float32(value) <= threshold


def test_dtreeviz_reads_every_leaf(fitted):
    dtreeviz = pytest.importorskip("dtreeviz")
    model, X = fitted
    view = dtreeviz.model(
        to_sklearn(model),
        X_train=X.fillna(0),
        y_train=model.predict(X),
        feature_names=list(X.columns),
        target_name="kind",
        class_names=["a", "b", "c"],
    )
    assert len(view.shadow_tree.leaves) == model.get_n_leaves()


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_rows_whose_value_is_a_threshold_take_the_branch_that_they_take_here(share_missing):
    rng = np.random.default_rng(0)
    X = rng.random((400, 3)).round(2) * 1.1  # thresholds are such values, and float32 has none
    y = X[:, 0] + X[:, 1] + 0.3 * rng.random(400) > 1.2
    X[rng.random(X.shape) < share_missing] = np.nan
    model = TreeClassifier(pruning=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(to_sklearn(model).predict_proba(X), model.predict_proba(X))

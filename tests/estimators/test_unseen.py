"""Categories that were not there: down all branches, stop, or an error; always named."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

from sureleaf import InvalidArgumentError, TreeClassifier, UnseenCategoryWarning

pytestmark = pytest.mark.usefixtures("few_rounds")

N = 40
ORDER = ["s", "m", "l"]


def towns() -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame({"town": ["Oslo"] * 20 + ["Rome"] * 15 + ["Lima"] * 5, "x": np.arange(40.0)})
    return X, np.array(["a"] * 20 + ["b"] * 15 + ["c"] * 5)


def model_of(**parameters) -> TreeClassifier:
    X, y = towns()
    return TreeClassifier.c45(leaf_estimate="frequency", **parameters).fit(X[["town"]], y)


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("unseen", ["mixture", "stop"])
def test_an_unseen_category_at_the_root_has_the_shares_of_all_rows(unseen, split):
    model = model_of(unseen=unseen, categorical_split=split, criterion="gini")
    with pytest.warns(UnseenCategoryWarning, match=r"in column 'town'"):
        probabilities = model.predict_proba(pd.DataFrame({"town": ["Bonn", "Oslo", "Paris"]}))
    np.testing.assert_allclose(probabilities[[0, 2]], [[0.5, 0.375, 0.125]] * 2)
    np.testing.assert_allclose(probabilities[1], [1, 0, 0])


def test_a_row_that_stops_is_in_the_node_where_it_stopped():
    X = pd.DataFrame({"town": ["Bonn"]})
    with pytest.warns(UnseenCategoryWarning, match="stop where they are met"):
        assert model_of(unseen="stop").apply(X).tolist() == [0]
    with pytest.warns(UnseenCategoryWarning, match="go down all branches"):
        shares = model_of(unseen="mixture").leaf_shares(X).toarray()
    np.testing.assert_allclose(shares, [[0, 0.125, 0.5, 0.375]])


def test_an_error_names_the_column_and_the_number_of_rows():
    with pytest.raises(InvalidArgumentError, match=r"'town' \(1\).*unseen='mixture'"):
        model_of(unseen="error").predict(pd.DataFrame({"town": ["Bonn", "Oslo"]}))
    missing = pd.DataFrame({"town": pd.Series([None, "Oslo"], dtype=object)})
    assert model_of(unseen="error").predict(missing).tolist() == ["a", "a"]  # missing is not unseen


@pytest.mark.filterwarnings("error")
def test_what_is_missing_or_known_does_not_warn():
    X = pd.DataFrame({"town": pd.Series([None, "Lima"], dtype=object)})
    np.testing.assert_allclose(model_of().predict_proba(X)[0], [0.5, 0.375, 0.125])


@pytest.mark.parametrize("unseen", ["mixture", "stop"])
def test_an_unseen_value_of_an_ordered_column_follows_the_policy_too(unseen):
    size = pd.Categorical(["s"] * 10 + ["m"] * 20 + ["l"] * 10, ORDER, ordered=True)
    y = [0] * 10 + [1] * 20 + [0] * 10
    model = TreeClassifier.c45(unseen=unseen, leaf_estimate="frequency", criterion="gini")
    model.fit(pd.DataFrame({"size": size}), y)
    later = pd.DataFrame({"size": pd.Categorical(["xl", "m"], ["s", "m", "l", "xl"], ordered=True)})
    with pytest.warns(UnseenCategoryWarning, match=r"in column 'size'"):
        probabilities = model.predict_proba(later)
    np.testing.assert_allclose(probabilities, [[0.5, 0.5], [0, 1]])
    with pytest.warns(UnseenCategoryWarning):
        path = model.decision_path(later).toarray()
    assert (path[0] > 0).sum() == (1 if unseen == "stop" else model.tree_.n_nodes)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unseen", ["mixture", "stop", "error"])
def test_a_known_category_that_a_grouping_has_not_seen_stops_or_goes_down_all_branches(unseen):
    X = pd.DataFrame({"x": [0.0] * 30 + [1.0] * 20, "town": ["Oslo"] * 30 + ["Rome", "Lima"] * 10})
    y = np.array(["a"] * 30 + ["b", "c"] * 10)
    model = TreeClassifier.c45(criterion="gini", categorical_split="subset", unseen=unseen).fit(
        X, y
    )
    tree = model.tree_
    assert tree.feature.tolist() == [0, -1, 1, -1, -1]
    assert tree.categories(2).tolist() == [0, -1, 1]  # Lima, Oslo, Rome
    ends = model.leaf_shares(pd.DataFrame({"x": [1.0], "town": ["Oslo"]})).toarray()[0]
    np.testing.assert_allclose(ends, [0, 0, 1, 0, 0] if unseen == "stop" else [0, 0, 0, 0.5, 0.5])


def test_columns_that_the_tree_tests_are_in_one_warning():
    X, y = towns()
    X["other"] = np.where(np.arange(N) % 2, "u", "v")
    X["untested"] = "u"
    y = np.where(X["town"] == "Oslo", X["other"], y)
    model = TreeClassifier.c45().fit(X, y)
    later = X.assign(other="w", untested="w").astype({"town": object})
    later.loc[0, "town"] = "Bonn"
    with pytest.warns(UnseenCategoryWarning) as caught:
        model.predict(later)
    assert len(caught) == 1
    assert "in columns 'town' and 'other'; they" in str(caught[0].message)


def test_a_cross_validation_warns_once():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"code": [f"k{i}" for i in rng.integers(0, 90, 300)]})
    y = rng.integers(0, 2, 300)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        cross_val_score(TreeClassifier.c45(pruning=None, collapse=False), X, y, cv=10)
    assert len(caught) == 1


@pytest.mark.parametrize(
    "ask", ["predict", "predict_proba", "apply", "leaf_shares", "predict_levels"]
)
def test_the_warning_points_at_the_line_that_asked(ask):
    X = pd.DataFrame({"town": ["Bonn"]})
    with pytest.warns(UnseenCategoryWarning) as caught:
        getattr(model_of(), ask)(X)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="ignored: 'more'") as caught:
        getattr(model_of(), ask)(pd.DataFrame({"town": ["Oslo"], "more": [1]}))
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="column-vector y") as caught:
        TreeClassifier.c45().fit([[1], [2]], [["a"], ["b"]])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("library", ["pandas object", "pandas str", "polars"])
def test_a_column_that_is_missing_in_all_training_rows_of_a_fold_does_not_end_cross_validation(
    library,
):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "rare": ["x"] * 12 + [None] * 48})
    X["rare"] = X["rare"].astype("str" if library == "pandas str" else object)
    y = (X["a"] > 0).to_numpy().astype(int)
    rows = pl.from_pandas(X) if library == "polars" else X
    for fold in np.split(np.arange(60), 5):
        rest = np.setdiff1d(np.arange(60), fold)
        train = rows[rest] if library == "polars" else rows.iloc[rest]
        test = rows[fold] if library == "polars" else rows.iloc[fold]
        if library == "polars" and train["rare"].is_null().all():
            train = train.with_columns(rare=pl.lit(None))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            model = TreeClassifier(levels_from="training", random_state=0).fit(train, y[rest])
            assert (model.predict(test) == y[fold]).mean() > 0.7

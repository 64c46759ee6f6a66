"""The models of the comparison, and what classifiers of other libraries get."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from sureleaf import TreeClassifier
from sureleaf.designs import KFold
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.report.baselines import Sampled, _bag_words, evaluate_models
from sureleaf.report.request import Budget, ReportRequest, budget_for
from sureleaf.table import encoding, max_categories, numeric_matrix, read_table
from tests.report.tables import mixed


def test_only_the_most_frequent_of_many_categories_get_a_column() -> None:
    words = [f"w{i % 60:02}" for i in range(100)]  # w00 to w39 come twice
    numbers = numeric_matrix(read_table(pa.table({"word": words})))
    assert numbers.shape == (100, encoding.MAX_INDICATORS)
    assert numbers[:, :40].sum(axis=0).tolist() == [2.0] * 40


def test_infinite_and_huge_numbers_become_what_scikit_learn_takes() -> None:
    column = pa.table({"x": [np.inf, -1e300, 0.5, None]})
    numbers = numeric_matrix(read_table(column))[:, 0]
    assert np.isfinite(numbers[:3]).all()
    assert np.isnan(numbers[3])


def test_a_table_of_many_rows_keeps_within_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_table(pa.table({"a": ["x", "y"] * 500, "b": ["u", "v"] * 500}))
    monkeypatch.setattr(encoding, "MAX_CELLS", 20_000)
    assert max_categories(table) == 10


def evaluated(
    tree: TreeClassifier, *, repeats: int = 1, **options: Any
) -> tuple[Any, Any, TreeClassifier]:
    X, y = mixed()
    request = ReportRequest(X, y, tree=tree, n_jobs=1, **options)
    table, budget = read_table(X), Budget(3, repeats, 3, 2, 10)
    fitted = clone(tree).set_params(random_state=request.seed).fit(table, y)
    models, sizes = evaluate_models(request, table, fitted, "<bad>", budget, lambda stage: None)
    return models, sizes, fitted


def test_one_cross_validation_evaluates_the_tree_and_every_other_size_as_max_leaves_does() -> None:
    X, y = mixed()
    table = read_table(X)
    models, sizes, _ = evaluated(TreeClassifier(), repeats=2, seed=3)
    by_name = {model.name: model for model in models}
    options: dict[str, Any] = {"design": KFold(3, repeats=2), "random_state": 3}
    for name, margin in (("this tree", 0.01), ("size chosen with margin 0", 0.0)):
        tree = TreeClassifier(margin=margin, weights="importance", n_jobs=1)
        alone = evaluate(tree, table, y, **options)
        own = by_name[name].evaluation
        np.testing.assert_array_equal(own.row, alone.row)
        np.testing.assert_array_equal(own.split, alone.split)
        np.testing.assert_array_equal(own.prediction, alone.prediction)
        np.testing.assert_array_equal(own.probabilities, alone.probabilities)
    for size in sizes[1:4]:
        tree = TreeClassifier(max_leaves=size.most_leaves, weights="importance", n_jobs=1)
        alone = evaluate(tree, table, y, **options)
        np.testing.assert_array_equal(size.evaluation.prediction, alone.prediction)
    best = TreeClassifier(margin=0.0, random_state=3).fit(table, y)
    assert by_name["size chosen with margin 0"].n_leaves == best.tree_.n_leaves


def test_the_sizes_of_the_curve_go_from_the_root_to_beyond_every_tree() -> None:
    models, sizes, fitted = evaluated(TreeClassifier())
    root = sizes[0]
    assert root.most_leaves == 1
    majority = next(model for model in models if model.name == "majority class")
    np.testing.assert_array_equal(root.evaluation.prediction, majority.evaluation.prediction)
    assert sizes[-1].most_leaves >= fitted.tree_.n_leaves


def test_c45_is_not_compared_with_itself_but_with_the_default_tree() -> None:
    names = [model.name for model in evaluated(TreeClassifier.c45())[0]]
    assert names[:3] == ["this tree", "majority class", "default tree"]
    assert "C4.5's tree" not in names


def test_at_costs_every_model_decides_by_them_and_each_constant_is_compared() -> None:
    _, y = mixed()
    cost = [[0, 5], [1, 0]]
    models, *_ = evaluated(TreeClassifier(), cost=cost)
    by_name = {model.name: model.evaluation for model in models}
    assert set(by_name) >= {"always <bad>", "always good & fine", "size chosen with margin 0"}
    assert set(by_name["always <bad>"].prediction.tolist()) == {0}
    bagged = by_name["bagged trees"]
    expected = bagged.probabilities @ np.array(cost)
    np.testing.assert_array_equal(bagged.prediction, expected.argmin(axis=1))
    share = np.mean(y == "<bad>")
    assert by_name["always <bad>"].estimate("cost").value == pytest.approx(1 - share, abs=0.01)


def test_the_budget_shrinks_with_the_rows_and_the_report_says_so():
    small, large = (budget_for(n, n, is_resized=True) for n in (50_000, 1_000_000))
    assert (small.folds, large.folds) == (10, 3)
    assert (small.bagged_trees, large.bagged_trees) == (30, 10)
    assert large.bootstraps < small.bootstraps
    assert "bootstrap sample of the rows; " in _bag_words(50_000, small)
    assert "50,000 of the rows, because the table is large" in _bag_words(1_000_000, large)


def test_models_of_scikit_learn_are_fitted_to_a_sample_of_a_large_table() -> None:
    X, y = mixed()
    request = ReportRequest(X, y, n_jobs=1, against=[GaussianNB()])
    table = read_table(np.nan_to_num(np.random.default_rng(0).normal(size=(len(y), 3))))
    request = replace(request, X=table)
    fitted = TreeClassifier(random_state=0).fit(table, y)
    budget = replace(Budget(3, 1, 3, 2, 10), bagged_trees=2, forest_trees=2, bagged_rows=30)
    models, _ = evaluate_models(request, table, fitted, "<bad>", budget, lambda stage: None)
    logistic, forest, given = models[-3:]
    assert (logistic.name, forest.name) == ("logistic regression", "random forest")
    assert "GaussianNB" in given.name
    assert given.description.startswith("your own choice")
    for model in (logistic, forest):
        assert "fitted to 30 of the rows, because the table is large" in model.description
    matrix = numeric_matrix(table)
    plain = RandomForestClassifier(3)
    sampled = Sampled(plain, 30, random_state=0).fit(matrix, y, sample_weight=np.ones(len(y)))
    assert sampled.estimator_.estimators_[0].tree_.n_node_samples[0] <= 30
    whole = Sampled(plain, len(y), random_state=0).fit(matrix, y)
    expected = RandomForestClassifier(3, random_state=0).fit(matrix, y).predict_proba(matrix)
    np.testing.assert_array_equal(whole.predict_proba(matrix), expected)

"""evaluate: what is kept, what it does not depend on, and every way an estimator can fail."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sureleaf.comparison import compare
from sureleaf.designs import Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout
from sureleaf.errors import FailedFitError, InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.evaluator import evaluate
from tests.evaluation.estimators import (
    Coin,
    Distorted,
    FailsOn,
    Nearest,
    Stranger,
    WithoutProbabilities,
)

GENERATOR = np.random.default_rng(6)
Y = np.repeat(["a", "b", "c"], [40, 30, 20])
X = GENERATOR.normal(size=(90, 3)) + 1.2 * np.arange(3)[np.repeat([0, 1, 2], [40, 30, 20])][:, None]


@pytest.mark.parametrize("design", [Holdout(), KFold(5, repeats=2), Bootstrap(6), LeaveOneOut()])
def test_every_prediction_is_that_of_a_model_fitted_on_the_other_rows(design) -> None:
    judged = evaluate(Nearest(), X, Y, design=design, random_state=4)
    found = judged.predictions
    codes = np.unique(Y, return_inverse=True)[1]
    start = 0
    for number, split in enumerate(design.splits(codes, seed=4)):
        own = slice(start, start + len(split.test))
        start += len(split.test)
        model = Nearest().fit(X[split.train], Y[split.train])
        assert (found.split[own] == number).all()
        assert found.row[own].tolist() == split.test.tolist()
        assert found.truth[own].tolist() == Y[split.test].tolist()
        assert found.prediction[own].tolist() == model.predict(X[split.test]).tolist()
        np.testing.assert_allclose(found.probabilities[own], model.predict_proba(X[split.test]))
    assert start == len(found)


def test_neither_workers_nor_earlier_draws_change_a_number() -> None:
    def run(n_jobs):
        judged = evaluate(
            DecisionTreeClassifier(max_features=1), X, Y, n_jobs=n_jobs, random_state=7
        )
        return judged.prediction.tolist(), judged.probabilities.tolist()

    expected = run(None)
    np.random.seed(99)  # noqa: NPY002 -- the global state that must not matter
    assert run(1) == expected
    assert run(2) == expected


def test_a_random_state_left_open_is_filled_and_a_given_one_kept() -> None:
    first = evaluate(Coin(), X, Y, random_state=1).prediction
    assert first.tolist() == evaluate(Coin(), X, Y, random_state=1).prediction.tolist()
    assert first.tolist() != evaluate(Coin(), X, Y, random_state=2).prediction.tolist()
    inside = make_pipeline(MaxAbsScaler(), Coin())
    assert evaluate(inside, X, Y, random_state=1).prediction.shape == (90,)


def test_the_estimator_that_was_given_is_not_touched() -> None:
    estimator = Nearest()
    evaluate(estimator, X, Y, design=Holdout(), random_state=0)
    assert not hasattr(estimator, "means_")


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=list("pqr"), index=range(100, 190)),
        lambda X: pl.DataFrame(X, schema=list("pqr")),
        lambda X: pa.table({name: X[:, j] for j, name in enumerate("pqr")}),
    ],
    ids=["list", "pandas", "polars", "arrow"],
)
def test_any_table_gives_the_numbers_of_the_array(convert) -> None:
    expected = evaluate(Nearest(), X, Y, random_state=0)
    judged = evaluate(Nearest(), convert(X), pd.Series(Y), random_state=0)
    np.testing.assert_array_equal(judged.probabilities, expected.probabilities)


def test_sparse_rows_are_judged_too() -> None:
    judged = evaluate(DecisionTreeClassifier(), sparse.csr_matrix(X), Y, random_state=0)
    expected = evaluate(DecisionTreeClassifier(), X, Y, random_state=0)
    assert judged.prediction.tolist() == expected.prediction.tolist()


def test_an_estimator_that_raises_in_fold_7_is_recorded_and_the_others_are_kept() -> None:
    codes = np.unique(Y, return_inverse=True)[1]
    seventh = list(KFold(10).splits(codes, seed=3))[7].test
    judged = evaluate(FailsOn(X[seventh[0], 0]), X, Y, random_state=3)
    assert judged.failures == {7: "RuntimeError: the disk is full"}
    assert set(range(90)) - set(judged.predictions.row) == set(seventh)
    found = judged.estimate("accuracy")
    assert found.method.endswith("; 1 of 10 splits failed")
    assert len(judged.split_values("accuracy")) == 9
    text = str(judged.summary())
    assert "Split 7 (repeat 0, fold 7) failed and is not used: RuntimeError: the disk is" in text
    assert "1 failed" in repr(judged)


def test_repeats_compare_the_rows_that_all_of_them_tested() -> None:
    codes, design = np.unique(Y, return_inverse=True)[1], KFold(5, repeats=2)
    splits = list(design.splits(codes, seed=3))
    judged = evaluate(FailsOn(X[splits[0].test[0], 0]), X, Y, design=design, random_state=3)
    assert len(judged.failures) == 2  # the row is tested once a repeat
    missing = np.concatenate([splits[i].test for i in judged.failures])
    common = np.setdiff1d(np.arange(90), missing)
    rows, right = judged.row_values("accuracy")
    found = judged.estimate("accuracy", of="model")
    assert found.value == pytest.approx(right[np.isin(rows, common)].mean())
    assert found.method == "Clopper-Pearson, the 8 models fitted, on average; 2 of 10 splits failed"


def test_an_estimator_that_always_fails_is_an_error_with_its_reason() -> None:
    with pytest.raises(FailedFitError, match="every one of 10 splits, first with InvalidArgument"):
        evaluate(Stranger(), X, Y, random_state=0)


@pytest.mark.parametrize(("factor", "message"), [(1.2, "sum to 1"), (np.nan, "must be numbers")])
def test_probabilities_that_are_none_end_their_split_by_name(factor, message) -> None:
    with pytest.raises(FailedFitError, match=message):
        evaluate(Distorted(factor), X, Y, random_state=0)


def test_without_probabilities_predictions_are_judged_and_the_rest_is_refused() -> None:
    judged = evaluate(WithoutProbabilities(), X, Y, random_state=0)
    expected = evaluate(Nearest(), X, Y, random_state=0)
    assert judged.probabilities is None
    assert judged.estimate("accuracy") == expected.estimate("accuracy")
    for measure in ("auc", "nce", "quadratic_loss"):
        with pytest.raises(InvalidArgumentError, match=f"{measure} needs probabilities, and Witho"):
            judged.estimate(measure)
    for curve in (judged.roc, judged.calibration):
        with pytest.raises(InvalidArgumentError, match="needs probabilities"):
            curve()
    assert "no predict_proba" in str(judged.summary())
    assert "predict_proba" in repr(judged.summary())


def test_a_class_of_one_row_gets_probability_0_from_models_that_never_saw_it() -> None:
    labels = np.array(["z", *Y[1:]])
    judged = evaluate(Nearest(), X, labels, random_state=0)
    found = judged.predictions
    lonely = found.row == 0
    assert found.probabilities[lonely, -1] == 0.0
    assert judged.estimate("nce").value == np.inf
    warnings = judged.summary().warnings
    assert any("Class 'z': none of its 1 rows was predicted correctly" in line for line in warnings)
    assert any("'z' has only one row" in line for line in warnings)
    assert any("nce is infinite" in line for line in warnings)


def test_the_trap_of_9990_to_10_is_named() -> None:
    labels = np.repeat([0, 1], [9990, 10])
    judged = evaluate(DummyClassifier(), np.zeros((10_000, 1)), labels, random_state=0)
    summary = judged.summary()
    assert summary.majority == 0.999
    assert (
        "Accuracy 99.9 % is no higher than the baseline, which always predicts 0 (99.9 %)."
        in summary.warnings
    )
    assert "Class 1: none of its 10 rows was predicted correctly." in summary.warnings
    assert "baseline           0.9990" in str(summary)


def test_groups_stay_together_and_weights_reach_fit_and_measures() -> None:
    groups = np.arange(90) // 3
    judged = evaluate(Nearest(), X, Y, groups=groups, random_state=0)
    for i in judged.worked:
        rows = judged.row[judged.slice_of(i)]
        assert not set(groups[rows]) & set(groups[np.setdiff1d(np.arange(90), rows)])
    weights = GENERATOR.integers(1, 4, 90).astype(float)
    judged = evaluate(Nearest(), X, Y, sample_weight=weights, design=Holdout(), random_state=0)
    found = judged.predictions
    train = np.setdiff1d(np.arange(90), found.row)
    model = Nearest().fit(X[train], Y[train], sample_weight=weights[train])
    hits = model.predict(X[found.row]) == found.truth
    assert judged.estimate("accuracy").value == pytest.approx(
        np.average(hits, weights=weights[found.row])
    )


def test_costs_are_counted_in_the_order_of_the_sorted_classes() -> None:
    matrix = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    judged = evaluate(Nearest(), X, Y, cost=matrix, random_state=0)
    assert judged.cost() == pytest.approx((matrix * judged.confusion().counts).sum())
    assert judged.estimate("cost", of="model").value == pytest.approx(judged.cost() / 90)


def test_predictions_become_data_frames() -> None:
    found = evaluate(Nearest(), X, Y, design=RepeatedHoldout(2), random_state=0).predictions
    frame = found.to_pandas()
    assert len(frame) == len(found) == 60
    assert found.to_polars()["prediction"].to_list() == frame["prediction"].tolist()


@pytest.mark.parametrize(
    ("options", "problem", "message"),
    [
        ({"design": 10}, InvalidTypeError, "design must be one of sureleaf.designs"),
        ({"design": KFold(91)}, InvalidArgumentError, "at least 91 rows; got 90"),
        ({"positive": "q"}, InvalidArgumentError, "positive must be one of the classes"),
        ({"groups": [1, 2]}, InvalidArgumentError, "groups must have one entry for each of the 90"),
        ({"sample_weight": [1.0]}, InvalidArgumentError, "sample_weight must have one weight per"),
        ({"cost": [[0, 1], [1, 0]]}, InvalidArgumentError, r"cost must be .* \(3, 3\)"),
        ({"cost": {"a": 5}}, InvalidArgumentError, "cost must be a matrix of numbers"),
        ({"cost": "abc"}, InvalidArgumentError, "cost must be a matrix of numbers"),
        ({"cost": np.zeros((3, 4))}, InvalidArgumentError, r"cost must be .* \(3, 3\)"),
        ({"random_state": "x"}, InvalidTypeError, "random_state must be"),
    ],
)
def test_wrong_options_are_refused_before_fitting(options, problem, message) -> None:
    with pytest.raises(problem, match=message):
        evaluate(Nearest(), X, Y, **options)


def test_what_is_no_classifier_or_no_table_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match=r"got Nearest \(a class: call it first\)"):
        evaluate(Nearest, X, Y)
    with pytest.raises(InvalidTypeError, match="fit and predict; got str"):
        evaluate("tree", X, Y)
    with pytest.raises(InvalidArgumentError, match="got 90 and 2"):
        evaluate(Nearest(), X, ["a", "b"])
    with pytest.raises(InvalidArgumentError, match="at least two classes"):
        evaluate(Nearest(), X, np.zeros(90))
    with pytest.raises(InvalidArgumentError, match="missing labels"):
        evaluate(Nearest(), X, [None, *Y[1:]])


def test_a_verdict_names_pipelines_by_their_last_step_and_evaluations_by_their_name():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 3 > 0
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    first = evaluate(pipeline, X, y, random_state=0)
    assert first.estimator == "GaussianNB() after StandardScaler"
    second = evaluate(GaussianNB(), X, y, random_state=0, name="plain Bayes")
    sentence = compare(first, second, margin=0.1).sentence
    assert "GaussianNB() after StandardScaler" in sentence
    assert "plain Bayes" in sentence
    with pytest.raises(InvalidArgumentError, match="name must be a text"):
        evaluate(GaussianNB(), X, y, name=" ")


def test_an_interrupt_in_the_import_of_an_estimator_is_not_a_failed_split() -> None:
    class Imports(Nearest):
        def fit(self, X, y):
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as cause:
                raise RuntimeError("Error calling __set_name__") from cause

    with pytest.raises(RuntimeError, match="__set_name__"):
        evaluate(Imports(), X, Y, n_jobs=1)


def test_rows_may_be_dicts_or_lists_of_numbers_and_text() -> None:
    from sureleaf import TreeClassifier

    rows = [{"size": float(i % 10), "kind": "uv"[i % 2]} for i in range(60)]
    y = ["yes" if row["size"] > 4 and row["kind"] == "u" else "no" for row in rows]
    tables = (pd.DataFrame(rows), rows, [list(row.values()) for row in rows])
    found = [evaluate(TreeClassifier(), X, y, random_state=0).predictions for X in tables]
    for other in found[1:]:
        np.testing.assert_array_equal(other.prediction, found[0].prediction)


@pytest.mark.parametrize(
    ("make", "cure"),
    [
        (lambda table: pl.from_arrow(table).lazy(), r"X\.collect\(\)"),
        (lambda table: table.to_reader(), r"X\.read_all\(\)"),
        (lambda table: pytest.importorskip("dask.array").ones((20, 2)), r"X\.compute\(\)"),
    ],
)
def test_a_table_that_does_not_hold_its_rows_names_the_method_that_gives_them(make, cure) -> None:
    with pytest.raises(InvalidTypeError, match=cure):
        evaluate(GaussianNB(), make(pa.table({"a": np.arange(20.0)})), np.arange(20) % 2)


def test_labels_may_be_numpys_variable_width_text() -> None:
    X, y = np.arange(40.0)[:, None], np.repeat(["a", "b"], 20).astype(np.dtypes.StringDType())
    assert evaluate(GaussianNB(), X, y).estimate("accuracy").value > 0.9

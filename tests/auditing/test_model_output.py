"""What models of any library predict: boosters, ducks, and what is not a classifier."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from sureleaf import InvalidArgumentError, InvalidTypeError, SureleafError, audit
from sureleaf.auditing.model_output import model_output

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

X, Y = load_breast_cancer(return_X_y=True)
NAMES = np.array(["bad", "good"])
SEEN, UNSEEN = slice(0, None, 2), slice(1, None, 2)
LIGHT = {"n_estimators": 5, "verbose": -1, "n_jobs": 1}
EXTREME = {"n_estimators": 5, "n_jobs": 1}


def check(found, probabilities, labels, classes) -> None:
    """Each row is in the bin of its prediction and probability, counted by its label."""
    predicted = np.array(classes)[probabilities.argmax(axis=1)]
    assert found.utility == pytest.approx(np.mean(predicted == labels))
    assert found.stated == pytest.approx(probabilities.max(axis=1).mean(), abs=1e-6)
    counts = {name: np.zeros(len(classes)) for name in classes}
    for prediction, line in zip(found.bins.prediction, found.bins.counts, strict=True):
        counts[prediction] += line
    for name in classes:
        expected = [np.sum((predicted == name) & (labels == other)) for other in classes]
        assert counts[name].tolist() == expected


def test_lightgbm_with_names_of_its_own():
    model = lightgbm.LGBMClassifier(**LIGHT).fit(X[SEEN], NAMES[Y[SEEN]])
    stated = model.booster_.predict(X[UNSEEN])
    found = audit(model, X[UNSEEN], NAMES[Y[UNSEEN]])
    assert (found.model, found.leaves) == ("LGBMClassifier", None)
    check(found, np.column_stack([1 - stated, stated]), NAMES[Y[UNSEEN]], ["bad", "good"])


def test_a_lightgbm_booster_gets_its_classes():
    model = lightgbm.LGBMClassifier(**LIGHT).fit(X[SEEN], Y[SEEN]).booster_
    stated = model.predict(X[UNSEEN])
    stated = np.column_stack([1 - stated, stated])
    check(audit(model, X[UNSEEN], Y[UNSEEN]), stated, Y[UNSEEN], [0, 1])
    named = audit(model, X[UNSEEN], NAMES[Y[UNSEEN]], classes=["bad", "good"])
    check(named, stated, NAMES[Y[UNSEEN]], ["bad", "good"])
    with pytest.raises(InvalidArgumentError, match=r"classes= .*called"):
        audit(model, X[UNSEEN], NAMES[Y[UNSEEN]])
    with pytest.raises(InvalidArgumentError, match="classes must be 2 different labels"):
        audit(model, X[UNSEEN], Y[UNSEEN], classes=["one"])
    with pytest.raises(InvalidArgumentError, match="the 30 columns"):
        audit(model, X[UNSEEN, 1:], Y[UNSEEN])


def test_a_lightgbm_model_reads_its_text_columns_from_a_table():
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 18, "big", "small")})
    seen = frame[SEEN].astype({"b": "category"})
    model = lightgbm.LGBMClassifier(**LIGHT).fit(seen, Y[SEEN])
    stated = model.predict_proba(frame[UNSEEN].astype({"b": "category"}))
    check(audit(model, frame[UNSEEN], Y[UNSEEN]), stated, Y[UNSEEN], [0, 1])


def test_xgboost_with_and_without_scikit_learn():
    model = xgboost.XGBClassifier(**EXTREME).fit(X[SEEN], Y[SEEN])
    stated = model.predict_proba(X[UNSEEN])
    check(audit(model, X[UNSEEN], Y[UNSEEN]), stated, Y[UNSEEN], [0, 1])
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(30)])
    booster = xgboost.XGBClassifier(**EXTREME).fit(frame[SEEN], Y[SEEN]).get_booster()
    check(audit(booster, frame[UNSEEN], Y[UNSEEN]), stated, Y[UNSEEN], [0, 1])
    check(audit(booster, X[UNSEEN], Y[UNSEEN]), stated, Y[UNSEEN], [0, 1])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_three_classes(library):
    rows, labels = load_iris(return_X_y=True)
    if library == "lightgbm":
        model = lightgbm.LGBMClassifier(**LIGHT).fit(rows[::2], labels[::2]).booster_
        stated = model.predict(rows[1::2])
    else:
        model = xgboost.XGBClassifier(**EXTREME).fit(rows[::2], labels[::2]).get_booster()
        stated = model.predict(xgboost.DMatrix(rows[1::2]))
    check(audit(model, rows[1::2], labels[1::2], n_bins=4), stated, labels[1::2], [0, 1, 2])


def test_boosters_of_numbers_are_errors():
    light = lightgbm.LGBMRegressor(**LIGHT).fit(X, Y)
    extreme = xgboost.XGBRegressor(**EXTREME).fit(X, Y)
    for model in (light, extreme, light.booster_, extreme.get_booster()):
        with pytest.raises(InvalidTypeError, match=r"regressor|objective gives class prob"):
            audit(model, X, Y)


def test_boosters_that_are_not_fitted_are_errors():
    for model in (lightgbm.LGBMClassifier(), xgboost.XGBClassifier()):
        with pytest.raises(InvalidArgumentError, match="model must be fitted"):
            audit(model, X, Y)


class Duck:
    """A classifier of nobody's library: no tags, no fit, no base class."""

    def __init__(self, probabilities, classes=("no", "yes"), predictions=None):
        self.probabilities = probabilities
        if classes is not None:
            self.classes_ = classes
        if predictions is not None:
            self.predict = lambda X: predictions

    def predict_proba(self, X):
        return self.probabilities


HALVES = [[0.4, 0.6], [0.7, 0.3], [0.2, 0.8]]
THREE_ROWS = np.zeros((3, 1))


def test_classes_and_probabilities_are_all_that_an_audit_needs():
    output = model_output(Duck(HALVES), THREE_ROWS, None)
    assert output.classes[output.predicted].tolist() == ["yes", "no", "yes"]
    own = model_output(Duck(HALVES, predictions=["no", "no", "yes"]), THREE_ROWS, None)
    assert own.classes[own.predicted].tolist() == ["no", "no", "yes"]
    named = model_output(Duck(HALVES, classes=None), THREE_ROWS, ["a", "b"])
    assert named.classes.tolist() == ["a", "b"]
    assert audit(Duck(HALVES), THREE_ROWS, ["yes", "no", "no"]).accuracy.value == 2 / 3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, "got NoneType"),
        (Duck(HALVES[:2]), r"numbers with 3 rows .* values of shape \(2, 2\)"),
        (Duck(None), r"returned object values of shape \(\)"),
        (Duck([["a", "b"]] * 3), "must return numbers"),
        (Duck([0.1, 0.2, 0.3]), r"shape \(3,\)"),
        (Duck([[0.9, 0.9]] * 3), "sum to 1"),
        (Duck([[np.nan, 1.0]] * 3), "must be numbers"),
        (Duck(HALVES, classes=("a", "b", "c")), "classes_ of the model must be 2 different"),
        (Duck(HALVES, classes=("a", "a")), "classes_ of the model must be 2 different"),
        (Duck(HALVES, classes=None), "Name them with classes="),
        (Duck(HALVES, predictions=["no", "no"]), "must return 3 labels"),
        (Duck(HALVES, predictions=["no", "no", "maybe"]), "predicts 'maybe'"),
        (Duck(HALVES, predictions=[None] * 3), "predicts None"),
    ],
)
def test_an_output_that_is_not_one_of_a_classifier_is_one_clear_error(model, message):
    with pytest.raises(SureleafError, match=message):
        audit(model, THREE_ROWS, ["yes", "no", "no"])


def test_any_error_of_a_model_is_an_error_of_ours():
    class Broken(Duck):
        def predict_proba(self, X):
            raise RuntimeError("no licence")

    with pytest.raises(InvalidArgumentError, match=r"Broken could not read X: no licence\."):
        audit(Broken(HALVES), THREE_ROWS, ["yes", "no", "no"])


def test_an_attribute_of_a_model_that_cannot_be_read_is_an_error_of_ours():
    class Closed:
        def __getattr__(self, name):
            raise RuntimeError("no licence")

    class Tagged(Duck):
        def __sklearn_tags__(self):
            raise RuntimeError("no tags")

    forest = Duck(HALVES)
    forest.estimators_ = 5
    for model in (Closed(), forest):
        with pytest.raises(InvalidArgumentError, match=r"(Closed|Duck) cannot be inspected: "):
            audit(model, THREE_ROWS, ["yes", "no", "no"])
    assert audit(Tagged(HALVES), THREE_ROWS, ["yes", "no", "no"]).accuracy.value == 2 / 3


def test_a_model_that_says_nothing_about_its_columns_gets_a_data_frame_as_it_is() -> None:
    """It got an array, and the error said to pass the columns in the form of the fit."""

    class ByName(Duck):
        def predict_proba(self, X):
            share = 0.5 + X["mass"] / 10
            return np.column_stack([1 - share, share])

    X = pd.DataFrame({"colour": ["red", "blue", "red"], "mass": [1.0, 2.0, 3.0]})
    stated = model_output(ByName(None), X, None).probabilities[:, 1]
    assert stated == pytest.approx([0.6, 0.7, 0.8])

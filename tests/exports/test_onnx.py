import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.onnx import to_onnx
from sureleaf.exports.scikit_learn import to_sklearn

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(model, X):
    session = onnxruntime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], {"X": np.asarray(X, dtype=np.float64)})


def on_thresholds(model, X):
    """Rows with each threshold of the tree, and the numbers next to it."""
    rows = [X]
    for node in np.flatnonzero(~model.tree_.is_leaf).tolist():
        bound, index = model.tree_.threshold[node], model.tree_.feature[node]
        near = X[:30].copy()
        near[:, index] = np.resize(
            [bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf)], 30
        )
        rows.append(near)
    ends = X[:3].copy()
    ends[:, :] = np.array([np.inf, -np.inf, -0.0])[:, np.newaxis]
    return np.vstack([*rows, ends])


LABELS = {
    "text": np.array(["no", "yes", "\u4e2d"]),
    "int": np.array([-4, 0, 9]),
    "bool": np.array([False, True, True]),
    "float": np.array([1.0, 2.0, 3.0]),
    "day": np.array(["2024-02-29", "2024-03-01", "2025-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_onnx_predicts_like_the_tree_also_on_thresholds(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = LABELS[kind][np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400), [0.3, 1.5])]
    model = TreeClassifier.c45(levels_from="training", pruning=None).fit(X, y)
    assert model.tree_.n_leaves > 8
    rows = on_thresholds(model, X)
    label, probabilities = run(model, rows)
    np.testing.assert_array_equal(probabilities, model.predict_proba(rows))
    expected = model.predict(rows)
    assert label.tolist() == (expected.astype(str) if kind == "day" else expected).tolist()


def test_a_tree_of_one_leaf():
    model = TreeClassifier.c45(max_depth=0, levels_from="training").fit([[1.0], [2.0]], ["a", "b"])
    label, probabilities = run(model, [[1.0], [np.nan]])
    assert label.tolist() == ["a", "a"]
    np.testing.assert_array_equal(probabilities, model.predict_proba([[1.0], [np.nan]]))


@pytest.mark.parametrize("with_missing", [False, True])
def test_a_missing_value_takes_the_branch_that_the_tree_has_learned(with_missing):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=500) / 2, [0.3, 1.5])
    if with_missing:
        is_missing = rng.random(X.shape) < 0.2
        is_missing[:, 3] = y == 2  # a test for missing values
        X[:, 3] = 1.0
        X[is_missing] = np.nan
    model = TreeClassifier(levels_from="training", pruning=None).fit(X, y)
    tested = ~model.tree_.is_leaf
    assert set(model.tree_.missing_branch[tested]) == {0, 1}
    assert np.isinf(model.tree_.threshold[tested]).any() == with_missing
    rows = on_thresholds(model, X)
    rows = np.vstack([rows, np.where(rng.random(rows.shape) < 0.4, np.nan, rows)])
    label, probabilities = run(model, rows)
    np.testing.assert_array_equal(probabilities, model.predict_proba(rows))
    assert label.tolist() == model.predict(rows).tolist()


def test_a_missing_value_that_takes_all_branches_gives_no_prediction():
    X = np.column_stack([np.arange(40.0), np.zeros(40)])
    for y in (np.repeat(["a", "b"], 20), np.repeat([3, 4], 20)):
        model = TreeClassifier.c45(levels_from="training").fit(X, y)
        label, probabilities = run(model, [[np.nan, 0.0], [1.0, np.nan]])
        assert np.isnan(probabilities[0]).all()
        assert label[0] == ("" if y.dtype.kind == "U" else np.iinfo(np.int64).min)
        assert label[1] == y[0]  # the tree does not look at the second column
        np.testing.assert_array_equal(probabilities[1], model.predict_proba([[1.0, 0.0]])[0])


def test_trees_that_onnx_cannot_represent_are_errors_with_an_alternative():
    y = ["a", "b"] * 20
    text = pd.DataFrame({"kind": ["u", "v"] * 20})
    dates = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40)})
    ordered = pd.DataFrame({"grade": pd.Categorical(["u", "v"] * 20, ordered=True)})
    half = np.repeat(["a", "b"], 20)
    for X, labels, word in (
        (text, y, "categorical"),
        (dates, half, "date"),
        (ordered, y, "ordered"),
    ):
        model = TreeClassifier.c45(levels_from="training").fit(X, labels)
        with pytest.raises(InvalidArgumentError, match=f"{word}.*Export to 'python' or 'sql'"):
            to_onnx(model)
    with_missing = np.arange(40.0).reshape(-1, 1)
    with_missing[3] = np.nan
    model = TreeClassifier.c45(levels_from="training").fit(with_missing, half)
    with pytest.raises(InvalidArgumentError, match=r"fractional rows.*Export to 'python' or 'sql'"):
        to_onnx(model)


def test_formats_that_cannot_refuse_a_row_refuse_a_model_that_does():
    X = pd.DataFrame({"a": [1.0, 2.0] * 20, "z": (["u", "v"] * 20)})
    X["z"] = X["z"].sample(frac=1, random_state=0).to_numpy()
    model = TreeClassifier(levels_from="training", unseen="error").fit(X, [0, 1] * 20)
    assert model.rules().startswith("a <= 1")
    for write in (to_onnx, to_sklearn):
        with pytest.raises(InvalidArgumentError, match="cannot refuse a row; got the column 'z'"):
            write(model)

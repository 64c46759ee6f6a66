"""Files of models that are read, and files that need trust."""

import importlib.util
import pickle
import re

import joblib
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.auditing import load_model

# Importing skops imports all of scikit-learn, in every process of the tests: the tests do it.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("skops") is None, reason="skops is not installed"
)

ROWS, LABELS = np.array([[1.0], [2.0], [3.0]]), ["a", "b", "b"]


def double(rows):
    return 2 * rows


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_pickle_is_not_opened_unless_trusted(tmp_path):
    sign = tmp_path / "ran"
    for suffix in (".joblib", ".pkl", ".pickle"):
        path = tmp_path / f"trap{suffix}"
        path.write_bytes(pickle.dumps(Trap(str(sign))))
        with pytest.raises(InvalidArgumentError, match=r"runs any code.*--trust-pickle"):
            load_model(path)
    assert not sign.exists()
    joblib.dump(DecisionTreeClassifier().fit(ROWS, LABELS), tmp_path / "tree.joblib")
    model = load_model(tmp_path / "tree.joblib", trust_pickle=True)
    assert model.predict(ROWS).tolist() == LABELS


def predictions(path, rows=ROWS, **options):
    output = load_model(path, **options).output(rows, None)
    return output.classes[output.predicted].tolist()


def test_skops_files_of_trees_are_read_and_other_types_need_trust(tmp_path):
    import skops.io

    skops.io.dump(DecisionTreeClassifier().fit(ROWS, LABELS), tmp_path / "tree.skops")
    assert predictions(tmp_path / "tree.skops") == LABELS
    pipeline = make_pipeline(FunctionTransformer(double), DecisionTreeClassifier())
    skops.io.dump(pipeline.fit(ROWS, LABELS), tmp_path / "pipe.skops")
    name = f"{__name__}.double"
    with pytest.raises(InvalidArgumentError, match=f"--trust {name}"):
        load_model(tmp_path / "pipe.skops")
    assert predictions(tmp_path / "pipe.skops", trust=[name]) == LABELS


def test_our_own_files_are_read(tmp_path):
    model = TreeClassifier.c45().fit(ROWS, LABELS)
    model.save(tmp_path / "tree.sureleaf")
    loaded = load_model(tmp_path / "tree.sureleaf")
    assert np.array_equal(loaded.predict_proba(ROWS), model.predict_proba(ROWS))


def test_boosters_are_read_from_their_own_files(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rows, labels = [[float(i)] for i in range(60)], [0] * 30 + [1] * 30
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(rows, labels)
    model.booster_.save_model(tmp_path / "light.txt")
    table = load_model(tmp_path / "light.txt").output(rows, None).probabilities
    assert table == pytest.approx(model.predict_proba(rows))
    xgboost = pytest.importorskip("xgboost")
    other = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(rows, labels)
    for suffix in ("json", "ubj"):
        other.get_booster().save_model(tmp_path / f"extreme.{suffix}")
        table = load_model(tmp_path / f"extreme.{suffix}").output(rows, None).probabilities
        assert table == pytest.approx(other.predict_proba(rows), abs=1e-6)


def test_a_file_that_is_not_a_model_is_an_error(tmp_path):
    with pytest.raises(InvalidArgumentError, match="where there is no file"):
        load_model(tmp_path / "none.skops")
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(InvalidArgumentError, match=r"must be a \.sureleaf, \.skops"):
        load_model(tmp_path / "data.csv")
    for suffix in (".skops", ".joblib", ".json", ".txt"):
        broken = tmp_path / f"broken{suffix}"
        broken.write_text("not a model")
        with pytest.raises(InvalidArgumentError, match="could not be read as a model"):
            load_model(broken, trust_pickle=True)


def test_a_damaged_booster_is_an_error(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).normal(size=(200, 3))
    data = lightgbm.Dataset(X, (X[:, 0] > 0).astype(int), params={"verbose": -1})
    booster = lightgbm.train({"objective": "binary", "verbose": -1}, data, 2)
    # children far beyond the tree: LightGBM reads foreign memory
    text = re.sub(r"left_child=.*", "left_child=" + "999999999 " * 30, booster.model_to_string())
    (tmp_path / "booster.txt").write_text(text)
    with pytest.raises(InvalidArgumentError, match=r"booster.txt could not be read as a model"):
        load_model(tmp_path / "booster.txt")


def test_a_child_does_not_run_the_files_of_the_current_folder(tmp_path, monkeypatch):
    for name in ("lightgbm", "numpy", "resource", "signal"):
        (tmp_path / f"{name}.py").write_text("import pathlib; pathlib.Path('ran').touch()")
    (tmp_path / "booster.txt").write_text("tree\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"booster.txt could not be read as a model"):
        load_model("booster.txt")
    assert not (tmp_path / "ran").exists()


def test_a_model_of_ours_is_recognised_whatever_its_name_is(tmp_path):
    model = TreeClassifier(levels_from="training").fit(ROWS, LABELS)
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict(ROWS).tolist() == model.predict(ROWS).tolist()

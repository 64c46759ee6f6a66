"""Files that would end the process which loads them, and what comes back from those that do not."""

import importlib.util
import io
import json
import pickle
import re
import zipfile
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sureleaf import InvalidArgumentError, TreeClassifier, audit
from sureleaf.auditing import foreign_models, load_model
from sureleaf.auditing.foreign_models import output_arrays, pack, unpack
from sureleaf.auditing.model_output import model_output
from sureleaf.auditing.tree_leaves import check_nodes

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("skops") is None, reason="skops is not installed"
)

X, CODES = load_iris(return_X_y=True)
Y = np.array(["s", "v", "w"])[CODES]
SEEN, UNSEEN = slice(0, None, 2), slice(1, None, 2)


def saved(model, path):
    import skops.io

    skops.io.dump(model, path)
    return path


def damaged(model, path, *, nodes=None, text=None):
    """Save a model with other nodes in its trees, or another text in its description."""
    whole = saved(model, path.with_suffix(".whole"))
    with zipfile.ZipFile(whole) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "schema.json" and text is not None:
                content = text(content.decode()).encode()
            elif name.endswith(".npy") and nodes is not None:
                array = np.load(io.BytesIO(content), allow_pickle=False)
                if "left_child" in (array.dtype.names or ()):
                    nodes(array)
                    rewritten = io.BytesIO()
                    np.save(rewritten, array)
                    content = rewritten.getvalue()
            after.writestr(name, content)
    return path


NODE_ARRAYS = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left")


def test_a_child_index_far_beyond_a_tree_is_an_error_and_not_the_end(tmp_path):
    def far_away(nodes):
        nodes["left_child"][0] = 10**12

    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    model = load_model(damaged(tree, tmp_path / "evil.skops", nodes=far_away))
    with pytest.raises(InvalidArgumentError, match="child of exactly one node"):
        audit(model, X, Y)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("children_left", 10**12, "child of exactly one node"),
        ("children_right", 0, "child of exactly one node"),
        ("children_left", -1, "one child"),
        ("feature", 10**9, "columns beyond the 4"),
        ("threshold", np.nan, "not a number"),
        ("threshold", -np.inf, "not a number"),
    ],
)
def test_a_tree_that_leads_out_of_its_arrays_is_an_error(name, value, why):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y).tree_
    arrays = {one: getattr(tree, one).copy() for one in NODE_ARRAYS}
    check_nodes(SimpleNamespace(**arrays), 4)
    arrays[name][0] = value
    with pytest.raises(InvalidArgumentError, match=why):
        check_nodes(SimpleNamespace(**arrays), 4)


def test_damaged_text_of_lightgbm_inside_a_skops_file_is_an_error(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(X, Y)
    path = damaged(
        model,
        tmp_path / "evil.skops",
        text=lambda content: re.sub(r"left_child=[-0-9 ]+", "left_child=999999999", content),
    )
    with pytest.raises(InvalidArgumentError, match="could not be read as a model"):
        load_model(path)


def test_a_circle_is_seen():
    circle = dict.fromkeys(NODE_ARRAYS, np.zeros(7, dtype=int))
    circle["children_left"] = np.array([1, -1, 4, -1, 2, -1, -1])
    circle["children_right"] = np.array([3, -1, 5, -1, 6, -1, -1])
    with pytest.raises(InvalidArgumentError, match="in a circle"):
        check_nodes(SimpleNamespace(**circle), 1)


def test_an_audit_of_a_file_is_that_of_the_model(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign_models, "_ROWS", 20)
    with_gaps = X.copy()
    with_gaps[60:90:7, 2] = np.nan  # in some of the parts alone
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(with_gaps[SEEN], Y[SEEN])
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X[SEEN], CODES[SEEN])
    pipeline = make_pipeline(StandardScaler(), GaussianNB()).fit(X[SEEN], Y[SEEN])
    for model, rows, labels in ((tree, with_gaps, Y), (forest, X, CODES), (pipeline, X, Y)):
        loaded = load_model(saved(model, tmp_path / "model.skops"))
        assert loaded.classes_.tolist() == model.classes_.tolist()
        got, expected = (audit(one, rows[UNSEEN], labels[UNSEEN]) for one in (loaded, model))
        assert got.to_json() == expected.to_json()


def test_every_form_of_a_table_reaches_the_child_which_ends_with_its_model(tmp_path):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    loaded = load_model(saved(model, tmp_path / "model.skops"))
    columns = dict(zip("abcd", X.T, strict=True))
    for table in (X, X.tolist(), sp.coo_matrix(X), pd.DataFrame(columns), pa.table(columns)):
        output = loaded.output(table, None)
        assert output.classes[output.predicted].tolist() == model.predict(X).tolist()
    with pytest.raises(InvalidArgumentError, match=r"the 4 columns .* got 3"):
        loaded.output(X[:, 1:], None)
    with pytest.raises(InvalidArgumentError, match="X must be an array"):
        loaded.output(7, None)
    assert len(loaded.output(X, None).predicted) == 150  # an error does not end it
    child = loaded._child
    assert child.poll() is None
    del loaded
    assert child.poll() is not None


def test_a_child_that_crashes_or_hangs_is_one_error(tmp_path, monkeypatch):
    path = saved(DecisionTreeClassifier().fit(X, Y), tmp_path / "model.skops")
    monkeypatch.setattr(foreign_models, "_PROGRAM", "import os; os.kill(os.getpid(), 11)")
    with pytest.raises(InvalidArgumentError, match=r"crashed on it \(SIGSEGV\)"):
        load_model(path)
    monkeypatch.setattr(foreign_models, "_PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(foreign_models, "_SECONDS", 0.5)
    with pytest.raises(InvalidArgumentError, match=r"did not end within 0\.5 seconds"):
        load_model(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("predicted", np.full(150, 7)),
        ("predicted", np.zeros(3, dtype=int)),
        ("probabilities", np.full((150, 3), np.nan)),
        ("0.probabilities", np.full((1, 3), np.inf)),
        ("0.indices", np.full(150, 10**9)),
        ("0.n_training", np.zeros(99)),
    ],
)
def test_arrays_that_do_not_fit_are_an_error(name, value):
    model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, Y)
    with np.load(io.BytesIO(pack(*output_arrays(model_output(model, X, None))))) as archive:
        arrays = dict(archive)
    header = json.loads(arrays.pop("header").tobytes())
    assert len(unpack(header, arrays).predicted) == 150
    with pytest.raises((ValueError, IndexError)):
        unpack(header, arrays | {name: value})


def test_a_split_of_missing_from_known_values_has_a_rule():
    """Scikit-learn writes it as an infinite threshold."""
    rows = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [np.nan]])
    model = DecisionTreeClassifier().fit(rows, list("aaabbb"))
    found = audit(model, np.array([[5.0], [np.nan]]), ["a", "b"])
    assert found.leaves.rule.tolist() == ["x0 is not missing", "x0 is missing"]


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

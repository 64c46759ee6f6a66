"""sureleaf audit, run as a person runs it."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.cli.command import run

skops = pytest.importorskip("skops.io")


@pytest.fixture
def files(tmp_path):
    rows, codes = load_iris(return_X_y=True)
    frame = pd.DataFrame(rows, columns=["sl", "sw", "pl", "pw"])
    frame["kind"] = np.array(["s", "v", "w"])[codes]
    frame[1::2].to_csv(tmp_path / "unseen.csv", index=False)
    X, y = frame[::2].drop(columns="kind"), frame[::2]["kind"]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    skops.dump(tree, tmp_path / "tree.skops")
    forest = RandomForestClassifier(4, random_state=0).fit(X.to_numpy(), y)
    joblib.dump(forest, tmp_path / "forest.joblib")
    return tmp_path


def test_a_tree_is_audited_leaf_by_leaf(capsys, files):
    code, out, err = run(capsys, "audit", files / "tree.skops", files / "unseen.csv", "-t", "kind")
    assert (code, err) == (0, "")
    assert "(a tree with 3 leaves)" in out
    assert "of 75 unseen rows correctly" in out.replace("\n", " ")
    assert re.search(r"Leaf 1: p[lw] <= [\d.]+\n", out)
    assert "outside its 95 % interval" in out.replace("\n", " ")


def test_a_large_trees_fullest_leaves_are_shown(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "c"])
    kind = np.where(rng.random(600) < 0.5, "no", "yes")
    skops.dump(DecisionTreeClassifier(random_state=0).fit(frame, kind), tmp_path / "tree.skops")
    frame.assign(kind=kind[::-1]).to_csv(tmp_path / "rows.csv", index=False)
    told = ("audit", tmp_path / "tree.skops", tmp_path / "rows.csv", "-t", "kind")
    leaves = json.loads(run(capsys, *told, "--json")[1])["leaves"]
    _, out, _ = run(capsys, *told)
    shown = [int(number) for number in re.findall(r"^Leaf (\d+):", out, flags=re.MULTILINE)]
    assert len(shown) == 20
    rows = {leaf["leaf"]: leaf["n"] for leaf in leaves}
    assert min(rows[leaf] for leaf in shown) == sorted(rows.values())[-20]
    assert f"{len(rows) - 20} more leaves, with" in out


def test_columns_may_be_selected_by_their_kind(capsys, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y"] * 10})
    kind = np.array(["no", "no", "yes", "yes"] * 5)
    text = make_column_selector(dtype_exclude="number")
    encoded = make_column_transformer((OneHotEncoder(), text), remainder="passthrough")
    model = make_pipeline(encoded, DecisionTreeClassifier(random_state=0)).fit(frame, kind)
    skops.dump(model, tmp_path / "model.skops")
    frame.assign(kind=kind).to_csv(tmp_path / "rows.csv", index=False)
    told = ("audit", tmp_path / "model.skops", tmp_path / "rows.csv", "-t", "kind")
    code, out, _ = run(capsys, *told)
    assert code == 0
    assert "Leaf 1: remainder__a <= 2.5" in out


def test_json_holds_every_leaf_and_bin(capsys, files):
    told = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind", "--json")
    code, out, _ = run(capsys, *told)
    assert code == 0
    found = json.loads(out)
    assert found["classes"] == ["s", "v", "w"]
    assert sum(leaf["n"] for leaf in found["leaves"]) == 75
    assert sum(line["n"] for line in found["bins"]) == 75


def test_a_pickle_needs_trust_and_then_is_read_by_place(capsys, files):
    told = ("audit", files / "forest.joblib", files / "unseen.csv", "-t", "kind")
    code, out, err = run(capsys, *told)
    assert (code, out) == (2, "")
    assert "runs whatever code" in err
    assert err.count("\n") == 1
    code, out, _ = run(capsys, *told, "--trust-pickle", "--bins", "4")
    assert code == 0
    assert "4 trees" in out
    assert "Each tree alone predicts" in out


def test_training_rows_are_warned_of_on_one_line(capsys, files):
    told = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind", "--rows", "training")
    code, out, err = run(capsys, *told)
    assert code == 0
    assert "all figures are too good" in " ".join(out.split())
    assert err.startswith("sureleaf: levels of training rows flatter")
    assert err.count("\n") == 1


def test_text_for_a_model_without_names_is_refused_in_one_line(capsys, files):
    frame = pd.read_csv(files / "unseen.csv").assign(sw="wide")
    frame.to_csv(files / "text.csv", index=False)
    told = ("audit", files / "forest.joblib", files / "text.csv", "-t", "kind", "--trust-pickle")
    code, _, err = run(capsys, *told)
    assert code == 2
    assert "'sw' hold" in err
    assert err.count("\n") == 1


def test_a_page_is_written_beside_the_text_or_the_json(capsys, files):
    page = files / "audit.html"
    told = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind", "-o", page)
    code, out, err = run(capsys, *told)
    assert (code, err) == (0, "")
    assert f"Page:{page}" in "".join(out.split())
    text = page.read_text(encoding="utf-8")
    assert "This DecisionTreeClassifier predicts “kind” correctly for" in text
    assert "sureleaf audit tree.skops unseen.csv --target kind --output audit.html" in text
    page.unlink()
    code, out, _ = run(capsys, *told, "--json")
    document = json.loads(out)
    assert code == 0
    assert page.is_file()
    assert document["schema"] == "sureleaf-audit/1"
    assert document["data"]["model_file"] == "tree.skops"
    assert document["answer"]["headline"] in text


@pytest.mark.parametrize("output", ["unseen.csv", "tree.skops", "nowhere/audit.html"])
def test_a_page_overwrites_nothing_that_is_read_and_needs_a_folder(capsys, files, output):
    told = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind")
    before = (files / "unseen.csv").read_bytes()
    code, out, err = run(capsys, *told, "-o", files / output)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert (files / "unseen.csv").read_bytes() == before

"""sureleaf audit, run in this process."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tests.cli.command import refused, run

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


def test_a_tree_is_audited_per_leaf(capsys, files):
    code, out, err = run(capsys, "audit", files / "tree.skops", files / "unseen.csv", "-t", "kind")
    assert (code, err) == (0, "")
    assert "This DecisionTreeClassifier predicts “kind” correctly for" in out
    assert "of 75 rows" in out.replace("\n", " ")
    assert "Whether the model has seen these rows is not known" in out.replace("\n", " ")
    assert re.search(r"Leaf 1: p[lw] <= [\d.]+\n", out)
    assert "outside its 95 % interval" in out.replace("\n", " ")


def test_the_json_has_every_leaf_and_bin(capsys, files):
    arguments = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind", "--json")
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    document = json.loads(out)
    assert document["classes"] == ["s", "v", "w"]
    assert sum(leaf["n"] for leaf in document["leaves"]) == 75
    assert sum(line["n"] for line in document["bins"]) == 75


def test_a_pickle_needs_trust_and_its_columns_are_matched_by_position(capsys, files):
    arguments = ("audit", files / "forest.joblib", files / "unseen.csv", "-t", "kind")
    assert "loading a pickle runs any code" in refused(capsys, *arguments)
    code, out, _ = run(capsys, *arguments, "--trust-pickle")
    assert code == 0
    assert "Each of its 4 trees alone predicts" in out


def test_training_rows_give_a_warning_of_one_line(capsys, files):
    arguments = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind")
    arguments += ("--rows", "training")
    code, out, err = run(capsys, *arguments)
    assert code == 0
    assert "so every figure here is too good" in " ".join(out.split())
    assert err == ""
    _, out, err = run(capsys, *arguments, "--json")
    assert json.loads(out)["schema"]
    assert err.startswith("sureleaf: note: The model was trained on these rows, so every figure")
    assert err.count("\n") == 1


def test_a_page_is_written_in_addition_to_the_text_or_the_json(capsys, files):
    page = files / "audit.html"
    arguments = ("audit", files / "tree.skops", files / "unseen.csv", "-t", "kind", "-o", page)
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert f"Page:{page}" in "".join(out.split())
    text = page.read_text(encoding="utf-8")
    assert "This DecisionTreeClassifier predicts “kind” correctly for" in text
    assert "sureleaf audit tree.skops unseen.csv --target kind --output audit.html" in text
    page.unlink()
    code, out, _ = run(capsys, *arguments, "--json")
    document = json.loads(out)
    assert code == 0
    assert page.is_file()
    assert document["schema"] == "sureleaf-audit/1"
    assert document["data"]["model_file"] == "tree.skops"
    assert document["answer"]["headline"].replace(" %", "\u00a0%") in text


def test_segments_named_columns_and_another_model(capsys, tmp_path):
    rng = np.random.default_rng(0)
    n = 1200
    frame = pd.DataFrame({"size": rng.normal(size=n), "region": rng.choice(["north", "south"], n)})
    p = 1 / (1 + np.exp(-frame["size"]))
    before = np.where(rng.random(n) < p, "yes", "no")
    skops.dump(LogisticRegression().fit(frame[["size"]], before), tmp_path / "line.skops")
    skops.dump(DummyClassifier().fit(frame[["size"]], before), tmp_path / "dummy.skops")
    low = p - np.where((frame["region"] == "north") & (frame["size"] > 0.5), 0.45, 0)
    y = np.where(rng.random(n) < low, "yes", "no")
    frame.assign(ill=y).to_csv(tmp_path / "rows.csv", index=False)
    arguments = ("audit", tmp_path / "line.skops", tmp_path / "rows.csv", "-t", "ill", "--where")
    arguments += ("--by", "region", "--against", tmp_path / "dummy.skops", "--measure", "nce")
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "Where is it wrong? Stated probability of yes;" in out
    assert re.search(r"size > 0\.\d+ and region = north", " ".join(out.split()))
    assert "region: south" in out
    assert "about these two fitted models" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    page = tmp_path / "page.html"
    code, out, _ = run(capsys, *arguments, "--json", "-o", page)
    document = json.loads(out)
    assert code == 0
    assert document["where"]["found"][0]["p_value"] == pytest.approx(1 / 150)
    assert [one["value"] for one in document["by"]["subgroups"]] == ["north", "south"]
    assert document["comparison"]["other"] == "DummyClassifier"
    topics = {one["topic"]: one for one in document["answer"]["sentences"]}
    assert topics["where"]["tone"] == "bad"
    assert document["where"]["found"][0]["rule"] in topics["where"]["text"]
    text = page.read_text(encoding="utf-8")
    assert 'id="segment-table"' in text
    assert 'id="by-table"' in text
    refused(capsys, *arguments[:5], "--where", "--of", "cost")
    code, out, _ = run(capsys, *arguments[:5], "--where", "--of", "cost", "--cost", "0,1;5,0")
    assert code == 0
    assert "Mean cost" in out


def test_a_folder_is_audited_in_batches_without_the_rows_that_have_no_label(capsys, files):
    frame = pd.read_csv(files / "unseen.csv")
    frame.loc[3, "kind"] = None
    frame.to_csv(files / "some.csv", index=False)
    (files / "parts").mkdir()
    frame[:30].to_parquet(files / "parts" / "a.parquet")
    frame[30:].to_parquet(files / "parts" / "b.parquet")
    results = []
    for arguments in (("some.csv",), ("some.csv", "--batches"), ("parts",)):
        path, *options = arguments
        common = ("audit", files / "tree.skops", files / path, "-t", "kind", "--by", "sl")
        code, out, _ = run(capsys, *common, "--cost", "0,1,1;1,0,1;5,1,0", *options)
        assert code == 0
        results.append(out)
    assert "1 row without a label is left out" in results[0]
    assert results[0] == results[1] == results[2]
    where = ("audit", files / "tree.skops", files / "parts", "-t", "kind", "--where")
    assert "Give a sample of the rows" in refused(capsys, *where)


def test_missing_columns_are_named_on_one_line(capsys, files):
    model = files / "tree.sureleaf"
    run(capsys, "fit", files / "unseen.csv", "-t", "kind", "-o", model)
    less = pd.read_csv(files / "unseen.csv").drop(columns=["sl", "pl"])
    less.to_csv(files / "less.csv", index=False)
    err = refused(capsys, "audit", model, files / "less.csv", "-t", "kind")
    assert "less.csv must have the columns that the model was fitted on; 2 columns are miss" in err
    assert "missing: 'sl', 'pl'. Add them to the file" in err

"""sureleaf leaves, run in this process."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sureleaf import TreeClassifier, levels
from tests.cli.command import refused, run

LABOR = str(Path(__file__).parents[2] / "examples" / "labor.csv")


@pytest.mark.usefixtures("all_rounds")
def test_leaves_show_their_levels_and_what_would_repair_the_flagged_ones(capsys):
    code, out, _ = run(capsys, "leaves", LABOR, "--tree", "c45", "--target", "class")
    assert code == 0
    assert "A tree with 3 leaves, which hold 57 rows" in out
    assert "2 leaves are flagged" in out
    assert "interval 62.4 to 91.8 %" in " ".join(out.split())
    assert "more in this leaf, about" in out
    assert "Leaf 3: merge with 4" in out


def test_the_leaves_with_most_rows_are_shown_and_the_others_are_counted(capsys, monkeypatch):
    monkeypatch.setattr("sureleaf.cli.leaves.SHOWN_LEAVES", 2)
    arguments = ("leaves", LABOR, "--tree", "c45", "--target", "class")
    _, every, _ = run(capsys, *arguments, "--all")
    _, out, _ = run(capsys, *arguments)
    assert [f"Leaf {leaf}:" in out for leaf in (1, 3, 4)] == [True, False, True]
    assert "1 more leaf, with 19 % of the rows: --all shows them." in out
    assert all(f"Leaf {leaf}:" in every for leaf in (1, 3, 4))
    assert "more lea" not in every


@pytest.mark.parametrize("method", ["mle", "blend", "entropic"])
def test_a_saved_tree_and_its_table_have_the_same_levels_of_training_rows(capsys, tmp_path, method):
    path = str(tmp_path / "model.sureleaf")
    run(capsys, "fit", LABOR, "--tree", "c45", "--target", "class", "-o", path)
    paper = ("--levels-from", "training", "--method", method)
    told = " ".join(run(capsys, "leaves", path, *paper)[1].split())
    assert f"p_max is the {method} estimate" in told
    assert told.count("shaped the tree") == told.count("too high") == 1
    paper = (*paper, "--json")
    saved = run(capsys, "leaves", path, *paper)
    assert saved == run(capsys, "leaves", LABOR, "--tree", "c45", "--target", "class", *paper)
    first = json.loads(saved[1])["leaves"][0]
    p_max = levels.estimate_p_max(max(first["counts"]), first["n"], method=method)
    share = first["n"] / 57
    assert first["confidence"] == pytest.approx(levels.node_confidence(57, share, p_max))
    assert first["utility"] == pytest.approx(levels.node_utility(57, share, p_max))
    assert "goes with a table" in refused(capsys, "leaves", path, "--levels-from", "honest")
    assert "(--levels-from training)" in refused(capsys, "leaves", path, "--method", method)


def test_a_tree_of_set_aside_rows_has_no_levels_of_training_rows(capsys, tmp_path):
    path = str(tmp_path / "model.sureleaf")
    run(capsys, "fit", LABOR, "--target", "class", "-o", path, "--levels-from", "honest")
    err = refused(capsys, "leaves", path, "--levels-from", "training")
    assert "rows that did not grow it" in err


def test_leaves_in_json_are_those_of_the_model(capsys):
    code, out, _ = run(capsys, "leaves", LABOR, "--tree", "c45", "--target", "class", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["classes"] == ["bad", "good"]
    assert [leaf["leaf"] for leaf in result["leaves"]] == [1, 3, 4]
    assert sum(leaf["n"] for leaf in result["leaves"]) == pytest.approx(57)
    share = [leaf["n"] / 57 for leaf in result["leaves"]]
    for name in ("confidence", "utility"):
        sums = sum(s * leaf[name] for s, leaf in zip(share, result["leaves"], strict=True))
        assert sums == pytest.approx(result[name])
    stability = result["stability"]
    assert "of its 2 splits returned in more than half of" in stability["summary"]
    assert [split["node"] for split in stability["splits"]] == [0, 2]
    for split in stability["splits"]:
        assert split["share"] == split["returned"] / split["trees"]
        assert split["low"] < split["share"] < split["high"] or split["share"] in (0, 1)


def test_options_for_tables_are_an_error_with_a_fitted_model(capsys, tmp_path):
    model = tmp_path / "labor.sureleaf"
    assert run(capsys, "fit", LABOR, "--target", "class", "-o", str(model))[0] == 0
    for option in (["--tree", "pruning=none"], ["-t", "class"], ["--id", "x"]):
        assert "goes with a table" in refused(capsys, "leaves", model, *option)


def test_a_saved_tree_with_training_levels_does_not_claim_them_for_unseen_rows(capsys, tmp_path):
    """Once such a file claimed its training accuracy for rows it has not seen."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    grown = TreeClassifier.c45(criterion="gini", pruning=None, collapse=False, random_state=0)
    grown.fit(X, y).forget_rows().prune(n_leaves=18).save(tmp_path / "cut.sureleaf")
    _, out, _ = run(capsys, "leaves", str(tmp_path / "cut.sureleaf"))
    assert "training levels" in out
    assert "of unseen rows correctly (utility" not in " ".join(out.split())
    grown.fit(X, y).prune(n_leaves=18).save(tmp_path / "pruned.sureleaf")
    _, out, _ = run(capsys, "leaves", str(tmp_path / "pruned.sureleaf"))
    assert "training levels" not in out
    assert "rounds of cross-validation" in " ".join(out.split())


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.time32("s"), pa.timestamp("ns"), pa.date32()], ids=str
)
def test_labels_that_json_has_no_type_for_are_text(kind, tmp_path, capsys):
    labels = pa.array([0, 1] * 10, pa.int32())
    labels = (labels if kind.bit_width == 32 else labels.cast(pa.int64())).cast(kind)
    if kind == pa.timestamp("ns"):
        labels = pa.array([0, 1000] * 10).cast(kind)
    rows = pa.table({"n": list(range(20)), "y": labels})
    with pa.ipc.new_file(tmp_path / "rows.arrow", rows.schema) as file:
        file.write_table(rows)
    code, out, err = run(capsys, "leaves", tmp_path / "rows.arrow", "-t", "y", "--json")
    assert (code, err) == (0, "")
    classes = json.loads(out)["classes"]
    assert len(set(classes)) == 2
    assert all(isinstance(label, str) for label in classes)


def test_a_weight_of_dates_of_other_millennia_is_one_line(tmp_path, capsys):
    far = pa.array([-(2**62)] * 20).cast(pa.timestamp("ms"))
    rows = pa.table({"n": list(range(20)), "y": ["a", "b"] * 10, "w": far})
    with pa.ipc.new_file(tmp_path / "rows.arrow", rows.schema) as file:
        file.write_table(rows)
    arguments = ("evaluate", tmp_path / "rows.arrow", "-t", "y", "--weight", "w")
    err = refused(capsys, *arguments)
    assert "--weight must be a column of numbers; got 'w', of type timestamp[ms]" in err

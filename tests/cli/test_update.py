"""sureleaf update and sureleaf diff, run in this process."""

import json
from pathlib import Path

import numpy as np
import pytest

import sureleaf
from tests.cli.command import refused, run


def write(path: Path, seed: int, n: int, *, turned: bool = False) -> str:
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    y = np.where((x[:, 0] > 0.4) ^ (rng.random(n) < 0.1) ^ turned, "yes", "no")
    lines = [f"{a:.4f},{b:.4f},{label}" for (a, b), label in zip(x, y, strict=True)]
    path.write_text("\n".join(["a,b,y", *lines]))
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("updates")
    found = {
        "old": write(folder / "old.csv", 0, 200),
        "new": write(folder / "new.csv", 1, 150),
        "turned": write(folder / "turned.csv", 2, 400, turned=True),
        "rows": write(folder / "rows.csv", 3, 200),
        "tree": str(folder / "tree.sureleaf"),
        "updated": str(folder / "updated.sureleaf"),
        "wrong": str(folder / "wrong.sureleaf"),
        "folder": str(folder),
    }
    for data, saved in (("old", "tree"), ("turned", "wrong")):
        sureleaf.TreeClassifier(random_state=0).fit(*_read(found[data]), groups=None).save(
            found[saved]
        )
    return found


def _read(path: str) -> tuple[object, object]:
    import pyarrow.csv

    table = pyarrow.csv.read_csv(path)
    return table.drop_columns(["y"]), np.array(table["y"].to_pylist())


def test_update_counts_rows_and_saves_the_tree(capsys, files):
    arguments = ("update", files["tree"], files["new"], "-t", "y", "-o", files["updated"])
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "150 new rows counted." in out
    assert "expected on unseen rows; before:" in " ".join(out.split())
    updated = sureleaf.load(files["updated"])
    assert updated.leaf_counts_.n.sum() == 350
    again = ("update", files["updated"], files["new"], "-t", "y")
    assert "earlier update" in refused(capsys, *again)
    trained = f"{files['folder']}/trained.sureleaf"
    sureleaf.TreeClassifier(levels_from="training").fit(*_read(files["old"])).save(trained)
    _, out, _ = run(capsys, "update", trained, files["new"], "-t", "y")
    assert "by training levels, too high for unseen rows; before:" in " ".join(out.split())


def test_update_says_which_leaves_change_and_whether_to_regrow(capsys, files):
    arguments = ("update", files["tree"], files["turned"], "-t", "y")
    code, out, _ = run(capsys, *arguments, "--regrow", "--rows", files["old"], "--json")
    found = json.loads(out)
    assert code == 0
    assert found["rows"] == 400
    assert found["changed"] > 0.9
    assert found["saved"] is None
    assert {leaf["before"] for leaf in found["leaves"]} == {"no", "yes"}
    assert found["keep_or_regrow"]["n_old"] == 200
    assert found["keep_or_regrow"]["verdict"] in ("keep", "regrow", "undecided")
    assert "--regrow" in refused(capsys, *arguments, "--rows", files["old"])


def test_diff_is_a_gate(capsys, files):
    arguments = ("diff", files["tree"], files["wrong"], files["rows"])
    code, out, _ = run(capsys, *arguments, "-t", "y", "--gate")
    assert code == 1
    assert "Gate: failed." in out
    assert "The decision changes for" in out
    code, out, _ = run(capsys, *arguments, "-t", "y", "--gate", "--margin", "0.99", "--json")
    found = json.loads(out)
    assert (code, found["gate"]) == (0, "passed")
    assert found["comparison"]["verdict"] == "equivalent"
    code, out, _ = run(capsys, *arguments, "--cost", "0,1;9,0", "--json")
    assert (code, json.loads(out)["comparison"]) == (0, None)
    for extra in (["--gate"], ["--gate", "-t", "y"]):
        assert "labels" in refused(capsys, "diff", files["tree"], files["wrong"], *extra)
    without_rows = ("diff", files["tree"], files["wrong"], "-t", "y")
    assert "no file of rows" in refused(capsys, *without_rows)


def test_bagged_trees_are_refused(capsys, files, tmp_path):
    bag = sureleaf.BaggedTreesClassifier(n_estimators=2, random_state=0).fit(*_read(files["old"]))
    bag.save(tmp_path / "bag.sureleaf")
    for arguments in (
        ("update", tmp_path / "bag.sureleaf", files["new"], "-t", "y"),
        ("diff", files["tree"], tmp_path / "bag.sureleaf"),
    ):
        assert "needs a model of one tree" in refused(capsys, *arguments)


def test_text_that_looks_like_numbers_in_a_new_file_is_text_as_the_tree_knows_it(capsys, tmp_path):
    rng = np.random.default_rng(0)
    for name, codes in (("old", "123x"), ("new", "123")):
        code = rng.choice(list(codes), 200)
        y = np.where(np.isin(code, ["1", "2"]) ^ (rng.random(200) < 0.1), "yes", "no")
        rows = zip(code, rng.random(200), y, strict=True)
        lines = ["code,v,y", *(f"{one},{v:.4f},{label}" for one, v, label in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    model, new, report = (tmp_path / name for name in ("m.sureleaf", "new.csv", "r.json"))
    old, of_y = tmp_path / "old.csv", ("-t", "y")
    assert run(capsys, "fit", old, *of_y, "-o", model)[0] == 0
    assert run(capsys, "report", old, *of_y, "--json", report)[0] == 0
    for arguments in (
        ("audit", model, new, *of_y),
        ("audit", model, new, *of_y, "--batches"),
        ("certificate", model, new, *of_y),
        ("compare", report, report, new),
        ("diff", model, model, new),
        ("diff", model, model, new, *of_y),
        ("explain", model, new),
        ("update", model, new, *of_y),
        ("watch", model, new, *of_y, "--state", tmp_path / "watch.json"),
    ):
        assert run(capsys, *arguments)[2] == "", arguments

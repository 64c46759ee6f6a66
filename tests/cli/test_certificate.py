"""sureleaf certificate, and guarantees of the other commands, run in this process."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from tests.cli.command import refused, run


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    rng = np.random.default_rng(0)
    for name, n in (("old", 300), ("new", 200)):
        x = rng.random((n, 2))
        y = np.where((x[:, 0] > 0.4) ^ (rng.random(n) < 0.1), "yes", "no")
        lines = [f"{a:.4f},{b:.4f},{label}" for (a, b), label in zip(x, y, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,y", *lines]))
    return folder


def test_half_of_a_table_certifies_the_tree_of_the_other_half(capsys, tables):
    code, out, _ = run(capsys, "certificate", str(tables / "old.csv"), "-t", "y")
    text = " ".join(out.split())
    assert code == 0
    assert "150 rows grew the tree. 150 rows, which took no part in growing it, certify it." in text
    assert "Error probability of the whole: at most 5.0 %" in text
    assert max(map(len, out.splitlines())) <= 80


def test_a_tree_without_held_out_rows_is_told_the_options_that_help(capsys, tables):
    model = str(tables / "model.sureleaf")
    run(capsys, "fit", str(tables / "old.csv"), "-t", "y", "-o", model)
    for arguments in (
        ["certificate", model],
        ["predict", model, str(tables / "new.csv"), "--alpha", "0.1"],
        ["leaves", model, "--guarantee", "simultaneous"],
        [
            *("leaves", str(tables / "old.csv"), "-t", "y", "--guarantee", "simultaneous"),
            *("--levels-from", "cross_fit"),
        ],
    ):
        err = refused(capsys, *arguments)
        assert "needs rows that did not grow the tree" in err
        assert "--levels-from honest" in err
        assert "levels_from=" not in err
        assert "certify(" not in err


def test_new_rows_certify_a_saved_tree(capsys, tables):
    model = str(tables / "model.sureleaf")
    run(capsys, "fit", str(tables / "old.csv"), "-t", "y", "-o", model)
    code, out, _ = run(
        capsys, "certificate", model, str(tables / "new.csv"), "-t", "y", "--alpha", "0.1", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert (found["n_grown"], found["n_certifying"], found["alpha"]) == (300, 200, 0.1)
    assert sum(leaf["n"] for leaf in found["leaves"]) == 200
    assert "--target" in refused(capsys, "certificate", model, tables / "new.csv")
    err = refused(capsys, "certificate", tables / "old.csv", tables / "new.csv", "-t", "y")
    assert "A second file goes with a saved tree" in err


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("name", ["half.parquet", "half.csv"])
def test_half_of_the_rows_of_a_fit_in_batches_cannot_certify_its_tree(
    capsys, tmp_path, is_folder, name
):
    """Also if float32 became text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    folder, half, model = tmp_path / "d", str(tmp_path / name), str(tmp_path / "m")
    folder.mkdir()
    pq.write_table(rows, folder / "d.parquet")
    write = csv.write_csv if name.endswith("csv") else pq.write_table
    write(rows.slice(0, 1000), half)
    data = ("fit", str(folder)) if is_folder else ("fit", str(folder / "d.parquet"))
    options = ("--tree", "pruning=none", "--levels-from", "training", "--memory", "1GB")
    assert run(capsys, *data, "-t", "y", "-o", model, *options)[0] == 0
    for more in ((), ("--rows-are-new",)):
        err = refused(capsys, "certificate", model, half, "-t", "y", *more)
        assert "are equal to rows of its fit, cell by cell" in err
    code, out, _ = run(capsys, "audit", model, half, "-t", "y")
    assert code == 0
    assert "unseen rows correctly" not in " ".join(out.split())


def test_an_honest_model_predicts_sets_and_shows_guaranteed_leaves(capsys, tables):
    model, out_file = str(tables / "honest.sureleaf"), tables / "out.csv"
    run(capsys, "fit", tables / "old.csv", "-t", "y", "-o", model, "--levels-from", "honest")
    assert run(capsys, "certificate", model)[0] == 0
    code, out, _ = run(capsys, "leaves", model, "--guarantee", "simultaneous", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["rows_grown"], found["rows"]) == (150, 150.0)
    code, out, _ = run(capsys, "leaves", model, "--guarantee", "simultaneous")
    assert "150 rows that did not grow it prove the following" in " ".join(out.split())
    sets = ("predict", model, tables / "new.csv", "-o", out_file, "--alpha", "0.2")
    assert run(capsys, *sets)[0] == 0
    head, first = out_file.read_text().splitlines()[:2]
    assert head.endswith('"set_no","set_yes"')
    assert set(first.split(",")[-2:]) <= {"true", "false"}
    assert "must be" in refused(capsys, "predict", model, tables / "new.csv", "--alpha", "1.5")

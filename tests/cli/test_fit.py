"""sureleaf fit saves the model that the library fits."""

import json
from pathlib import Path

import pytest

import sureleaf
from sureleaf import TreeClassifier
from tests.cli.command import run
from tests.cli.fitted_rows import make_rows


def test_fit_saves_the_model_that_the_library_fits(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--tree",
        "c45",
        "--criterion",
        "gini",
        "--max-depth",
        3,
        "--min-samples-leaf",
        9,
        "--drop",
        "id",
    ]
    options += ["--pruning", "none", "--leaf-estimate", "laplace", "--categorical-split", "subset"]
    path = tmp_path / "m.sureleaf"
    code, out, _ = run(
        capsys, "fit", folder / "rows.csv", "-t", "class", "-o", path, *options, "--json"
    )
    rows = make_rows()
    expected = sureleaf.TreeClassifier.c45(
        criterion="gini",
        max_depth=3,
        min_samples_leaf=9,
        pruning=None,
        leaf_estimate="laplace",
        categorical_split="subset",
        random_state=0,
    ).fit(rows.drop_columns(["id", "class"]), rows["class"])
    assert code == 0
    assert sureleaf.load(path).rules() == expected.rules()
    result = json.loads(out)
    assert result["leaves"] == expected.tree_.n_leaves
    assert result["utility"] == expected.levels().utility
    assert result["saved"] == str(path)
    assert result["columns"] == ["size", "code", "late"]


def test_the_options_of_the_tree_are_parameters_of_the_library(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = make_rows()
    X, y = rows.drop_columns(["id", "class"]), rows["class"]
    for options, expected in (
        ([], TreeClassifier(random_state=0)),
        (["--tree", "default", "--margin", "0"], TreeClassifier(margin=0, random_state=0)),
        (["--max-leaves", "3"], TreeClassifier(max_leaves=3, random_state=0)),
        (["--max-depth", "1"], TreeClassifier(max_depth=1, random_state=0)),
        (["--tree", "c45"], TreeClassifier.c45(random_state=0)),
        (["--tree", "c45", "--max-depth", "1"], TreeClassifier.c45(max_depth=1, random_state=0)),
    ):
        arguments = ["fit", folder / "rows.csv", "-t", "class", "--drop", "id", *options]
        assert run(capsys, *arguments, "-o", tmp_path / "m.sureleaf")[0] == 0
        loaded = sureleaf.load(tmp_path / "m.sureleaf")
        assert loaded.rules() == expected.fit(X, y).rules(), options
        assert loaded.get_params() == expected.get_params(), options


def test_fit_prints_a_summary(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", folder / "rows.csv", "-t", "class", "--drop", "id", "-o", tmp_path / "m"]
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "trained on 2,000 rows and 3 columns to predict class" in out
    code, out, _ = run(capsys, *arguments, "--bagged", "3")
    assert "3 bagged trees, trained on 2,000 rows" in out
    assert len(sureleaf.load(tmp_path / "m").trees_) == 3

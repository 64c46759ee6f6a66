"""sureleaf compare, run in this process on a small table."""

import json
from pathlib import Path

import pytest

from sureleaf.comparison import compare
from sureleaf.evaluation import Evaluation
from tests.cli.command import run


def test_saved_evaluations_are_compared(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "first.eval", tmp_path / "second.eval"]
    for model, path in zip(("TreeClassifier", "TreeClassifier(max_depth=1)"), paths, strict=True):
        run(capsys, "evaluate", data, "-t", "class", "-m", model, "--save", path)
    _, out, _ = run(capsys, "compare", *paths, "--margin", "0.1", "--json")
    expected = compare(*(Evaluation.load(path) for path in paths), margin=0.1)
    result = json.loads(out)
    assert result["difference"] == expected.difference
    assert result["verdict"] == expected.verdict
    assert result["sentence"] == expected.sentence


def test_two_models_are_compared_on_one_table(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["-m", "TreeClassifier", "-m", "sklearn.dummy.DummyClassifier(strategy='prior')"]
    code, out, _ = run(capsys, "compare", data, "-t", "class", *models)
    text = " ".join(out.split())
    assert code == 0
    assert "TreeClassifier() is better than DummyClassifier(): accuracy" in text
    assert "●" in out


def test_two_models_are_compared_by_cost(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["-m", "TreeClassifier", "-m", "sklearn.dummy.DummyClassifier(strategy='prior')"]
    arguments = ["compare", data, "-t", "class", *models, "--cost", "0,1;9,0", "--json"]
    result = json.loads(run(capsys, *arguments)[1])
    assert result["measure"] == "decided_cost"
    n_no = sum(line.endswith(",no") for line in data.read_text(encoding="utf-8").splitlines())
    assert result["values"][1] == pytest.approx(
        n_no / 198, abs=0.01
    )  # always yes has the least cost
    as_predicted = json.loads(run(capsys, *arguments, "--measure", "cost")[1])
    assert as_predicted["values"][1] > result["values"][1]

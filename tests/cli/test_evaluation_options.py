"""evaluate, compare and curve, run in this process on a small table."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sureleaf.comparison import compare
from sureleaf.evaluation import Evaluation
from tests.cli.command import run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A number, a word with gaps, groups, weights, and labels of which two are missing."""
    rng = np.random.default_rng(0)
    lines = ["size,colour,site,mass,class"]
    for i in range(200):
        label = int(rng.random() < 0.5)
        size = rng.normal() + 2 * label
        colour = "" if i % 17 == 0 else ("red", "blue")[int(rng.random() < 0.3 + 0.3 * label)]
        shown = "" if i in (5, 6) else ("no", "yes")[label]
        lines.append(f"{size:.3f},{colour},s{i // 4},{1 + i % 2},{shown}")
    path = tmp_path_factory.mktemp("judging") / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def columns(data: Path) -> list[str]:
    return [str(data), "--target", "class", "--group", "site", "--weight", "mass"]


def test_evaluate_shows_intervals_bars_and_what_was_left_out(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "evaluate", data, "--target", "class")
    assert code == 0
    text = " ".join(out.split())
    assert re.search(r"TreeClassifier\(\) is expected to predict \d\d\.\d % of unseen rows", text)
    assert "198 rows, 2 classes, positive class 'yes', 10 folds, seed 0" in text
    assert "●" in out
    assert "majority class" in out
    assert "2 rows without a label are left out" in out


def test_evaluate_json_has_every_figure(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(
        capsys, "evaluate", *columns(data), "--positive", "no", "--cost", "0,1;5,0", "--json"
    )
    found = json.loads(out)
    assert found["positive"] == "no"
    assert {"accuracy", "auc", "cost", "recall"} <= set(found["estimates"])
    accuracy = found["estimates"]["accuracy"]
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]


@pytest.mark.parametrize("design", ["holdout", "repeated", "leave-one-out", "bootstrap", "nested"])
def test_every_design_can_be_asked_for(
    design: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--design", design, "--folds", 3, "--repeats", 3, "--json"]
    if design == "leave-one-out":
        arguments += ["--group", "site"]
    code, out, _ = run(
        capsys, "evaluate", data, "-t", "class", "-m", "sklearn.naive_bayes.GaussianNB", *arguments
    )
    assert code == 0
    assert json.loads(out)["estimator"] == "GaussianNB()"


def test_saved_evaluations_are_compared(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "first.eval", tmp_path / "second.eval"]
    for model, path in zip(("TreeClassifier", "TreeClassifier(max_depth=1)"), paths, strict=True):
        run(capsys, "evaluate", data, "-t", "class", "-m", model, "--save", path)
    _, out, _ = run(capsys, "compare", *paths, "--margin", "0.1", "--json")
    expected = compare(*(Evaluation.load(path) for path in paths), margin=0.1)
    found = json.loads(out)
    assert found["difference"] == expected.difference
    assert found["verdict"] == expected.verdict
    assert found["sentence"] == expected.sentence


def test_two_models_are_compared_on_one_table(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["-m", "TreeClassifier", "-m", "sklearn.dummy.DummyClassifier(strategy='prior')"]
    code, out, _ = run(capsys, "compare", data, "-t", "class", *models)
    text = " ".join(out.split())
    assert code == 0
    assert "TreeClassifier() is better than DummyClassifier(): accuracy" in text
    assert "●" in out


def test_two_models_are_compared_at_costs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["-m", "TreeClassifier", "-m", "sklearn.dummy.DummyClassifier(strategy='prior')"]
    told = ["compare", data, "-t", "class", *models, "--cost", "0,1;9,0", "--json"]
    found = json.loads(run(capsys, *told)[1])
    assert found["measure"] == "decided_cost"
    said_no = sum(line.endswith(",no") for line in data.read_text(encoding="utf-8").splitlines())
    assert found["values"][1] == pytest.approx(said_no / 198, abs=0.01)  # yes costs least, always
    as_predicted = json.loads(run(capsys, *told, "--measure", "cost")[1])
    assert as_predicted["values"][1] > found["values"][1]


def test_a_figure_beyond_one_has_no_bar(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "evaluate", data, "-t", "class", "--cost", "0,60;60,0")
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "●" in lines["accuracy"]
    assert "●" not in lines["cost"]
    assert "Low is good: nce (log loss" in out


def test_three_classes_have_no_positive_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["size,kind", *(f"{i % 30},{'abc'[i % 30 // 10]}" for i in range(90))]
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    _, out, _ = run(capsys, "evaluate", tmp_path / "rows.csv", "-t", "kind", "--folds", 3)
    assert "90 rows, 3 classes, 3 folds, seed 0" in out


def test_curve_says_how_many_rows_a_target_needs(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["curve", data, "-t", "class", "--start", "20", "--reach", "0.8"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "accuracy by number of rows" in out
    assert "accuracy 0.8" in out
    found = json.loads(run(capsys, *arguments, "--step", "50", "--json")[1])
    assert [point["rows"] for point in found["points"]] == [20, 70, 120, 132]
    assert "accuracy 0.8" in found["reach"]["sentence"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "DATA", "-t", "klass"], "--target must be a column of rows.csv; got 'klass'"),
        (["evaluate", "DATA", "-t", "class", "--design", "cv"], "--design must be one of kfold"),
        (["evaluate", "DATA", "-t", "class", "--cost", "a"], "--cost must be a row for each"),
        (
            ["evaluate", "DATA", "-t", "class", "--positive", "x"],
            "--positive must be a label of the target; got 'x'",
        ),
        (["evaluate", "DATA", "-t", "class", "-m", "Nope"], "--model must be TreeClassifier or"),
        (
            ["evaluate", "DATA", "-t", "class", "-m", "sklearn.tree.Nope"],
            "--model must name a classifier",
        ),
        (["evaluate", "DATA", "-t", "class", "-m", "f(1)"], "--model must be a name"),
        (["evaluate", "DATA", "-t", "class", "-m", "a b"], "--model must be a name"),
        (["evaluate", "nowhere.csv", "-t", "class"], "there is no file 'nowhere.csv'"),
        (
            ["compare", "DATA", "-t", "class", "-m", "TreeClassifier"],
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            "reports; got 1 file, 1 model and a target.",
        ),
        (["compare", "a.json", "b.json", "--cost", "0,1;5,0"], "--cost goes with a table"),
        (["compare", "a.eval", "b.eval", "-t", "class"], "--target goes with a table"),
        (["compare", "a.eval", "b.eval", "-m", "x"], "--model goes with a table"),
        (["compare", "a.eval", "b.eval", "--folds", "5"], "--folds goes with a table"),
        (["compare", "a.json", "b.json", "--method", "z"], "--method goes with a table or eval"),
        (
            ["curve", "DATA", "-t", "class", "--measure", "cost"],
            "The measure 'cost' needs a cost matrix",
        ),
        (["curve", "DATA", "-t", "class", "--start", "9999"], "start must be at most"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    arguments: list[str], said: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(data) if word == "DATA" else word for word in arguments]
    code, out, err = run(capsys, *given)
    assert (code, out) == (2, "")
    assert err.startswith(f"sureleaf: {said}")
    assert len(err.splitlines()) == 1


def test_a_table_of_labels_only_has_nothing_to_predict_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("class\na\nb\n", encoding="utf-8")
    code, _, err = run(capsys, "evaluate", path, "-t", "class")
    assert code == 2
    assert "nothing to predict from" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--jobs", "0"], "--jobs must be"),
        (["--repeats", "0"], "repeats must be"),
        (["--cost", "0,1,2;3"], "--cost needs 2 rows of 2 numbers"),
        (["--save", "-"], "written to a file"),
    ],
)
def test_an_evaluation_that_cannot_be_is_refused_in_one_line(
    arguments: list[str], told: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "evaluate", data, "--target", "class", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err

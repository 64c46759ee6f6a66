"""--cost of fit, leaves, predict, export and plan: the decisions of the library at these costs."""

import json
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest

import sureleaf
from sureleaf import TreeClassifier, levels
from sureleaf.exports import export
from tests.cli.command import run

COST = "0,1;8,0"
MATRIX = [[0.0, 1.0], [8.0, 0.0]]


def columns(folder: Path, model: TreeClassifier) -> pyarrow.Table:
    return pyarrow.csv.read_csv(folder / "rows.csv").select(list(model.schema_.names))


@pytest.fixture(scope="module")
def costed(folder: Path) -> Path:
    from sureleaf.cli import main

    rows, path = folder / "rows.csv", folder / "costed.sureleaf"
    with pytest.raises(SystemExit):
        main(["fit", str(rows), "-t", "class", "--drop", "id", "-o", str(path), "--cost", COST])
    return path


def test_fit_stores_the_costs(costed: Path) -> None:
    assert sureleaf.load(costed).cost == MATRIX


def test_a_fitted_model_is_decided_by_its_costs_everywhere(folder, costed, capsys):
    model = sureleaf.load(costed)
    wanted = model.predict(columns(folder, model)).tolist()
    output = folder / "costed.csv"
    assert run(capsys, "predict", costed, folder / "rows.csv", "-o", output)[0] == 0
    assert pyarrow.csv.read_csv(output)["prediction"].to_pylist() == wanted
    shown = json.loads(run(capsys, "leaves", costed, "--json")[1])
    assert [leaf["prediction"] for leaf in shown["leaves"]] == model.leaves().prediction.tolist()
    assert "cheapest" in run(capsys, "leaves", costed)[1]


def test_a_model_without_costs_can_be_decided_by_them(folder, capsys):
    model = sureleaf.load(folder / "m")
    decided = model.with_cost(MATRIX)
    X = columns(folder, model)
    assert (decided.predict(X) != model.predict(X)).any()
    output, rows = folder / "decided.csv", folder / "rows.csv"
    assert run(capsys, "predict", folder / "m", rows, "-o", output, "--cost", COST)[0] == 0
    found = pyarrow.csv.read_csv(output)
    assert found["prediction"].to_pylist() == decided.predict(X).tolist()
    stated = decided.predict_levels(X)
    np.testing.assert_allclose(found["confidence"].to_numpy(), stated.confidence)
    _, code, _ = run(capsys, "export", folder / "m", "--to", "python", "--cost", COST)
    assert code.rstrip() == export(decided, "python").rstrip()


def test_compare_fits_trees_for_the_costs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # At equal costs, a tree is not pruned by them.
    blind = "TreeClassifier(random_state=0, cost=[[0, 1], [1, 0]])"
    arguments = ["compare", data, "-t", "class", "-m", "TreeClassifier(random_state=0)", "-m"]
    options = ["--cost", COST, "--folds", "3", "--json"]
    code, out, _ = run(capsys, *arguments, blind, *options)
    assert code == 0
    given = f"TreeClassifier(random_state=0, cost={MATRIX})"
    assert json.loads(run(capsys, *arguments, given, *options)[1])["difference"] == 0
    assert json.loads(out)["difference"] != 0


def test_plan_at_costs_is_the_sample_size_at_their_threshold(capsys):
    by_cost = run(capsys, "plan", "--p-max", "0.2", "--cost", "0,1;5,0", "--json")[1]
    wanted = levels.sample_size(0.2, confidence=0.95, threshold=1 / 6)
    assert json.loads(by_cost)["rows_needed"] == wanted
    assert "cost threshold of 0.1667" in json.loads(by_cost)["answer"]


def test_texts_about_costs_name_decisions(data, tmp_path, capsys):
    table = (data, "-t", "class", "--cost", "0,5;1,0")
    code, out, _ = run(capsys, "leaves", *table)
    assert code == 0
    heading = next(line for line in out.splitlines() if line.startswith(" leaf "))
    assert "p_max" not in heading
    assert "predicts" not in out
    assert "decides" in out
    assert "p is the probability of the class that is decided for" in " ".join(out.split())
    run(capsys, "fit", *table, "--levels-from", "honest", "-o", tmp_path / "m.sureleaf")
    code, out, _ = run(capsys, "certificate", tmp_path / "m.sureleaf")
    assert code == 0
    assert "decides" in out
    assert "predicted class" not in " ".join(out.split())


def test_an_evaluation_at_costs_states_the_cheapest_single_decision(data, capsys):
    _, out, _ = run(capsys, "evaluate", data, "-t", "class", "--cost", "0,5;1,0", "--folds", 3)
    labels = [label for label in pyarrow.csv.read_csv(data)["class"].to_pylist() if label]
    first, second = sorted(set(labels))
    share = labels.count(first) / len(labels)
    label, least = min((first, 1 - share), (second, 5 * share), key=lambda one: one[1])
    text = " ".join(out.split())
    assert text.startswith("By the decisions of least expected cost, TreeClassifier(")
    assert "no higher than the baseline" not in text  # of accuracy, which is not the aim
    assert f"Always deciding for {label!r}, the cheapest single decision, costs {least:.4f}" in text
    assert f"Of class {second!r}: precision, recall and f_measure" in text

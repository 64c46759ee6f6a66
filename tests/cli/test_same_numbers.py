"""One number, one value: commands that print a number of the same name print the same number."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command import run

Values = dict[str, Any]
CASES = {
    "plain": [],
    "costs": ["--cost", "0,4;1,0"],
    "groups": ["--group", "site"],
    "class weights": ["--tree", "class_weight=balanced"],
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Groups of unequal size, so that folds differ in size."""
    rng = np.random.default_rng(3)
    lines = ["x,colour,site,mass,class"]
    for i in range(157):
        x, colour = rng.normal(), rng.choice(["red", "blue"])
        label = "ill" if x + (colour == "red") + rng.normal() > 1 else "well"
        site = int(rng.integers(3) if i < 60 else rng.integers(3, 40))
        lines.append(f"{x:.2f},{colour},s{site},{rng.integers(1, 4)},{label}")
    path = tmp_path_factory.mktemp("same") / "rows.csv"
    path.write_text("\n".join(lines))
    return path


def numbers(capsys: Any, command: str, *arguments: Any) -> Values:
    code, out, err = run(capsys, command, *arguments)
    assert code == 0, err
    values: Values = json.loads(out)
    return values


@pytest.mark.parametrize("case", CASES)
def test_commands_agree_on_every_number_of_the_same_name(case, table, tmp_path, capsys):
    options = ["-t", "class", *CASES[case]]
    report = numbers(capsys, "report", table, *options, "--json", "-")
    quality = report["quality"]
    measures = {each["name"]: each for each in quality["measures"]}
    positive = report["data"]["classes"][quality["positive"]]["label"]
    folds = ["--folds", quality["folds"], "--repeats", quality["repeats"], "--positive", positive]
    evaluated = numbers(
        capsys, "evaluate", table, *options, *folds, "--save", tmp_path / "a.eval", "--json"
    )["estimates"]
    assert set(measures) - set(evaluated) <= {"specificity"}
    for name in set(measures) & set(evaluated):
        for key in ("value", "low", "high"):
            assert measures[name][key] == pytest.approx(evaluated[name][key]), (name, key)

    confusion = np.array(quality["confusion"])
    accuracy = measures["accuracy"]["value"]
    assert np.trace(confusion) / confusion.sum() == pytest.approx(accuracy)
    assert report["error"]["cross_validation"]["value"] == pytest.approx(1 - accuracy)
    assert report["models"]["rows"][0]["accuracy"]["value"] == accuracy
    both = numbers(capsys, "compare", tmp_path / "a.eval", tmp_path / "a.eval", "--json")
    assert both["values"] == pytest.approx([accuracy, accuracy])
    if case == "costs":
        assert evaluated["cost"] == evaluated["decided_cost"]
        assert (confusion * quality["cost"]).sum() / confusion.sum() == pytest.approx(
            measures["cost"]["value"]
        )

    fitted = numbers(capsys, "fit", table, *options, "-o", tmp_path / "m.sureleaf", "--json")
    leaves = numbers(capsys, "leaves", tmp_path / "m.sureleaf", "--json")
    for name in ("confidence", "utility", "expected_cost"):
        assert fitted[name] == leaves[name]
    assert fitted["leaves"] == len(leaves["leaves"])
    assert fitted["leaves"] == report["tree"]["n_leaves"]
    assert fitted["utility"] == pytest.approx(report["tree"]["levels"]["utility"])
    told = " ".join(report["error"]["differences"])
    if case == "costs":
        assert f"the tree costs {fitted['expected_cost']:.3f} per row" in told

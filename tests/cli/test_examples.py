"""Every example in --help runs, and JSON output has the documented keys."""

import importlib.util
import json
import re
import shlex
import shutil
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sureleaf.cli import main
from sureleaf.cli.application import application
from tests.cli.command import run

pytestmark = pytest.mark.usefixtures("few_rounds", "small_budget")

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = {
    str(command.callback.__name__): command.callback.__doc__ or ""
    for command in application.registered_commands
    if command.callback is not None
}
SLOW = ["chawla2006", "--figures"]  # have their own tests
OTHER_LIBRARIES = {"booster.txt": "lightgbm", "tree.skops": "skops"}
"""The library that an example needs, by the file that it uses."""


def examples(command: str) -> list[str]:
    lines = re.findall(r"^ *- (sureleaf .*(?:\n +(?!- )\S.*)*)", COMMANDS[command], re.MULTILINE)
    return [" ".join(line.split()) for line in lines]


@pytest.fixture(scope="module")
def example_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples use."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    for name in ("data", "new", "a", "b", "c", "d", "e"):
        lines = ["id,size,colour,class"]
        for i in range(240 if name in ("data", "new") else 60):
            label = int(rng.random() < 0.5)
            colour = ("red", "blue")[int(rng.random() < 0.3 + 0.3 * label)]
            lines.append(f"{i},{rng.normal() + 2 * label:.3f},{colour},{('no', 'yes')[label]}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    data = str(folder / "data.csv")
    honest = [data, "-t", "class", "--levels-from", "honest"]
    commands = [
        ["fit", *honest, "-o", str(folder / "honest.sureleaf")],
        ["fit", data, "-t", "class", "-o", str(folder / "model.sureleaf")],
        ["fit", data, "-t", "class", "-o", str(folder / "whole.sureleaf")],
        ["fit", str(folder / "a.csv"), "-t", "class", "-o", str(folder / "model2.sureleaf")],
    ]
    for model, name in (("TreeClassifier", "first"), ("sureleaf.TreeClassifier", "second")):
        path = str(folder / f"{name}.eval")
        commands.append(["evaluate", data, "-t", "class", "-m", model, "--save", path])
    patient, ill = rng.integers(0, 30, 120), rng.random(120) < 0.5
    visits = {"patient": patient, "fever": rng.normal(size=120) + 2 * ill, "ill": ill}
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    loans = pd.DataFrame({"income": rng.normal(size=120), "bad": rng.integers(0, 2, 120)})
    loans.to_csv(folder / "loans.csv", index=False)
    (folder / "folder-of-parquet").mkdir()
    for name in ("a", "b"):
        rows = pa.Table.from_pandas(pd.read_csv(folder / f"{name}.csv"))
        pq.write_table(rows, folder / "folder-of-parquet" / f"{name}.parquet")
    commands.append(["report", data, "-t", "class", "--json", str(folder / "old.json")])
    for arguments in commands:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code
    shutil.copy(folder / "old.json", folder / "new.json")
    save_models_of_other_libraries(folder)
    return folder


def save_models_of_other_libraries(folder: Path) -> None:
    """Fit the models that the examples of ``sureleaf audit`` name."""
    frame = pd.read_csv(folder / "data.csv")[::2]  # the other rows are unseen
    X, y = frame[["id", "size"]], frame["class"]
    joblib.dump(RandomForestClassifier(5, random_state=0).fit(X, y), folder / "forest.joblib")
    if is_installed("skops"):
        import skops.io

        skops.io.dump(DecisionTreeClassifier(max_depth=2).fit(X, y), folder / "tree.skops")
    if is_installed("lightgbm"):
        import lightgbm

        training = lightgbm.Dataset(X, label=y == "yes")
        booster = lightgbm.train({"objective": "binary", "verbose": -1}, training, 5)
        booster.save_model(folder / "booster.txt")


def is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def can_run(example: str) -> bool:
    if any(word in example for word in SLOW):
        return False
    return all(is_installed(OTHER_LIBRARIES.get(word, "sureleaf")) for word in example.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_a_command_run(command, example_files, tmp_path, capsys, monkeypatch):
    folder = shutil.copytree(example_files, tmp_path / "files")  # examples write the same names
    monkeypatch.chdir(folder)
    runnable = [line for line in examples(command) if can_run(line)]
    assert runnable, f"{command} --help needs an example"
    for line in runnable:
        code, out, err = run(capsys, *shlex.split(line)[1:])
        assert code == 0 or (command, code) == ("watch", 1), line  # 1 is an alarm
        assert not err, line
        assert out, line
    assert not list(folder.glob(".*.partial"))


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_fit_into_a_terminal(command: str) -> None:
    for line in re.findall(r"^ *(?:- sureleaf| {6}-).*$", COMMANDS[command], re.MULTILINE):
        assert len(line.strip()) <= 78, line


JSON = {
    "fit": "fit data.csv -t class -o other.sureleaf",
    "fit --bagged": "fit data.csv -t class -o other.sureleaf --bagged 2",
    "predict": "predict model.sureleaf new.csv -o out.csv",
    "leaves": "leaves model.sureleaf",
    "rank": "rank data.csv -t class",
    "evaluate": "evaluate data.csv -t class --design holdout",
    "compare": "compare first.eval second.eval",
    "audit": "audit whole.sureleaf data.csv -t class",
    "curve": "curve data.csv -t class",
    "export": "export model.sureleaf -o tree.dot",
    "plan --p-max": "plan --p-max 0.75",
    "plan --half-width": "plan --half-width 0.05",
    "test": "test rate 76/100",
    "reproduce": "reproduce xu2022",
}


def documented_keys() -> dict[str, list[str]]:
    """Return the keys of each command in the table of the documentation."""
    rows = re.findall(r"^\| `sureleaf ([\w -]+)` \| (`.*) \|$", PAGE.read_text(), re.MULTILINE)
    # After a semicolon stand the keys of other forms of the command.
    return {command: re.findall(r"`(\w+)`", keys.partition(";")[0]) for command, keys in rows}


@pytest.mark.parametrize("command", JSON)
def test_json_has_the_documented_keys(command, example_files, capsys, monkeypatch):
    monkeypatch.chdir(example_files)
    code, out, _ = run(capsys, *JSON[command].split(), "--json")
    assert code == 0
    assert list(json.loads(out)) == documented_keys()[command]


def test_every_command_is_documented() -> None:
    text = PAGE.read_text()
    for command in COMMANDS:
        assert re.search(rf"^\| \[?`{command}[ `]", text, re.MULTILINE), command

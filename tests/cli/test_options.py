"""The values of shared options are read, or are errors."""

from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from sureleaf import TreeClassifier
from sureleaf.cli.application import application
from sureleaf.cli.options import TREE_OPTIONS, check_output, evaluated_model, read_cost
from sureleaf.errors import InvalidArgumentError
from tests.cli.command import run


def test_commands_that_fit_share_the_options_of_the_tree() -> None:
    commands = get_command(application).commands
    for name in ("fit", "leaves", "evaluate", "curve", "report"):
        options = {option.name for option in commands[name].params}
        assert set(TREE_OPTIONS) <= options, name
    parameters = set(TreeClassifier().get_params())
    assert set(TREE_OPTIONS) - {"tree"} <= parameters


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, TreeClassifier()),
        ({"tree": "default", "margin": 0.0}, TreeClassifier(margin=0.0)),
        ({"tree": "c45", "max_leaves": 4}, TreeClassifier.c45(max_leaves=4)),
        ({"tree": "c45", "pruning": "none"}, TreeClassifier.c45(pruning=None)),
    ],
)
def test_an_evaluated_tree_has_the_given_options(given, expected) -> None:
    assert evaluated_model(None, given, None).get_params() == expected.get_params()


def test_a_cost_matrix_is_read_from_text_json_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("0,2\n7,0\n")
    labels = np.array(["no", "yes"])
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    path.write_text("[[0, 2],\n [7, 0]]\n")
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    assert read_cost("0,2;7,0", labels) == read_cost("[[0,2],[7,0]]", labels) == [[0, 2], [7, 0]]


def test_a_file_that_is_read_is_replaced_only_on_request(tmp_path: Path) -> None:
    data, link = tmp_path / "data.csv", tmp_path / "link.csv"
    data.write_text("a\n1\n")
    link.symlink_to(data)
    for output in (data, link):
        with pytest.raises(InvalidArgumentError, match=r"must not replace data.csv.*--overwrite"):
            check_output(output, data, overwrite=False)
        check_output(output, data, overwrite=True)
    check_output(tmp_path / "new", data, overwrite=False)


def test_every_command_that_writes_protects_its_input(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, model = folder / "rows.csv", folder / "m"
    before = rows.read_bytes(), model.read_bytes()
    for arguments in (
        ("fit", rows, "-t", "class", "-o", rows),
        ("predict", model, rows, "-o", rows),
        ("evaluate", rows, "-t", "class", "--save", rows),
        ("report", rows, "-t", "class", "-o", rows),
        ("report", rows, "-t", "class", "--json", rows),
        ("audit", model, rows, "-t", "class", "-o", model),
        ("export", model, "--to", "rules", "-o", model),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "pass --overwrite" in err
    assert (rows.read_bytes(), model.read_bytes()) == before


def test_odd_delimiters_and_encodings_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, values in {
        "--delimiter": ["é", "\x00", "\u202e", "ab", '"', "\n"],
        "--encoding": ["rot13", "base64", "hex", "nonsense", "undefined", "\x00"],
    }.items():
        for value in values:
            code, out, err = run(capsys, "rank", folder / "rows.csv", "-t", "class", option, value)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert option[2:] in err

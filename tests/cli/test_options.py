"""The values of shared options are read, or are errors."""

from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from sureleaf import TreeClassifier
from sureleaf.cli.application import application
from sureleaf.cli.options import TREE_OPTIONS, evaluated_model, read_cost


def test_commands_that_fit_share_the_options_of_the_tree() -> None:
    commands = get_command(application).commands
    for name in ("fit", "leaves", "evaluate", "curve"):
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

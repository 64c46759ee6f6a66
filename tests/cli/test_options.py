"""The values of shared options are read, or are errors."""

import re
from pathlib import Path

import numpy as np
import pytest

from sureleaf import TreeClassifier
from sureleaf.cli.options import read_cost, read_csv_format
from sureleaf.commands.learners import read_tree_options
from sureleaf.errors import InvalidArgumentError
from tests.cli.command import refused, run


def test_an_option_of_the_tree_sets_a_parameter() -> None:
    given = read_tree_options(["c45", "pruning=none", "ccp_alpha=0.1", "criterion=gini"], margin=0)
    expected = TreeClassifier.c45(pruning=None, ccp_alpha=0.1, criterion="gini", margin=0)
    assert given.make().get_params() == expected.get_params()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["pruneing=none"], "got 'pruneing'. Did you mean 'pruning'?"),
        (["cost=1"], "--tree must name a parameter of TreeClassifier; got 'cost'"),
        (["c4"], "must be c45 or PARAMETER=VALUE; got 'c4'. Did you mean 'c45'?"),
        (["margin=0", "margin=1"], "margin of the tree must be given once; got 0 and '1'"),
    ],
)
def test_a_wrong_setting_of_the_tree_is_named(settings: list[str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        read_tree_options(settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["delimeter=;"], "got 'delimeter=;'. Did you mean 'delimiter'?"),
        (["?"], "--csv must be KEY=VALUE, where KEY is delimiter, encoding, decimal, thousands or"),
        (["decimal=comma", "decimal=."], "--csv decimal= must be given once; got ',' and '.'"),
        (["decimal=;"], "decimal must be '.' or ','; got ';'"),
    ],
)
def test_a_wrong_setting_of_a_csv_file_is_named(settings: list[str], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        read_csv_format(settings)


def test_help_shows_a_type_only_for_options_that_take_a_value(capsys):
    for words in (["fit"], ["study", "run"], []):
        out = run(capsys, *words, "--help")[1]
        assert "--help" in out
        assert "bool" not in out.lower()


def test_a_cost_matrix_is_read_from_text_json_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("0,2\n7,0\n")
    labels = np.array(["no", "yes"])
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    path.write_text("[[0, 2],\n [7, 0]]\n")
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    assert read_cost("0,2;7,0", labels) == read_cost("[[0,2],[7,0]]", labels) == [[0, 2], [7, 0]]


def test_every_command_that_writes_protects_its_input(folder, tmp_path, capsys):
    rows, model = folder / "rows.csv", folder / "m"
    costs, other = tmp_path / "costs", tmp_path / "other"
    costs.write_text("0,5;1,0")
    other.write_bytes(model.read_bytes())
    before = rows.read_bytes(), model.read_bytes()
    for arguments in (
        ("fit", rows, "-t", "class", "-o", rows),
        ("predict", model, rows, "-o", rows),
        ("evaluate", rows, "-t", "class", "--save", rows),
        ("report", rows, "-t", "class", "-o", rows),
        ("report", rows, "-t", "class", "--json", rows),
        ("fit", rows, "-t", "class", "-o", costs, "--cost", costs),
        ("audit", model, rows, "-t", "class", "-o", model),
        ("audit", model, rows, "-t", "class", "-o", other, "--against", other),
        ("report", rows, "-t", "class", "-o", model, "--model", model),
        ("export", model, "--to", "rules", "-o", model),
    ):
        assert "the result must not replace" in refused(capsys, *arguments)
    assert (rows.read_bytes(), model.read_bytes()) == before
    assert (costs.read_text(), other.read_bytes()) == ("0,5;1,0", model.read_bytes())


@pytest.mark.parametrize("number", ["-1", "4294967296", "9" * 30])
def test_a_seed_that_scikit_learn_cannot_take_is_one_line(number, folder, capsys):
    err = refused(capsys, "evaluate", folder / "rows.csv", "-t", "class", "--seed", number)
    assert f"--seed must be a whole number from 0 to 4294967295; got {number}" in err


@pytest.mark.parametrize("number", ["0", "1001", "9" * 30, "-" + "9" * 30])
def test_a_number_of_jobs_that_no_machine_has_is_one_line(number, folder, capsys):
    err = refused(capsys, "report", folder / "rows.csv", "-t", "class", "--jobs", number)
    assert f"up to 1,000; got {number}" in err


@pytest.mark.parametrize("text", ["[[0,1],[" + "9" * 400 + ",0]]", "[" * 100_000])
def test_a_cost_that_no_number_holds_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "costs").write_text(text)
    with pytest.raises(InvalidArgumentError, match="--cost must have one row per actual class"):
        read_cost(str(tmp_path / "costs"))


def test_the_leaves_of_a_file_that_is_not_there_are_one_line(capsys):
    err = refused(capsys, "leaves", "no-such.sureleaf")
    assert err == "sureleaf: there is no file 'no-such.sureleaf'. Check its name.\n"

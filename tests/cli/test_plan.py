"""sureleaf plan on the command line."""

import json

import pytest

from sureleaf import levels
from tests.cli.command import refused
from tests.cli.command import sureleaf_here as sureleaf


def test_json_and_text_have_the_same_answer() -> None:
    arguments = ["plan", "--p-max", "0.7:0.9", "--confidence", "0.95", "--utility", "0.65"]
    found = json.loads(sureleaf(*arguments, "--json").stdout)
    assert found["rows_needed"] == levels.sample_size((0.7, 0.9), confidence=0.95, utility=0.65)
    assert found["answer"] in " ".join(sureleaf(*arguments).stdout.split())


@pytest.mark.parametrize("arguments", [["0.7:0.9"], ["0.7", "0.9"]])
def test_a_range_may_be_written_in_two_ways(arguments: list[str]) -> None:
    done = sureleaf("plan", "--p-max", *arguments, "--rows", "20", "--json")
    assert json.loads(done.stdout)["p_max"] == [0.7, 0.9]


def test_the_default_goal_is_95_percent_confidence() -> None:
    bare = sureleaf("plan", "--p-max", "0.75")
    assert bare.stdout == sureleaf("plan", "--p-max", "0.75", "--confidence", "0.95").stdout


def test_only_levels_are_said_to_be_of_a_known_p_max() -> None:
    shown = [sureleaf("plan", "--p-max", "0.7", *words).stdout for words in ([], ["--bias", "0.1"])]
    assert ["its p_max is known" in " ".join(text.split()) for text in shown] == [True, False]


def test_test_rows_for_a_width_and_a_difference() -> None:
    done = sureleaf("plan", "--half-width", "0.02", "--rate", "0.1")
    assert "An interval of ± 0.02 around a rate near 0.1 needs 914 test rows." in done.stdout
    done = sureleaf("plan", "--difference", "0.02", "--rate", "0.1", "--independent", "--json")
    found = json.loads(done.stdout)["test_rows"]
    assert found["questions"][0]["rows"] == 3841
    assert "each model needs 3,841 test rows" in found["answer"]


def test_a_node_and_a_test_can_be_planned_at_once() -> None:
    done = sureleaf("plan", "--p-max", "0.75", "--difference", "0.05", "--json")
    found = json.loads(done.stdout)
    assert found["rows_needed"] == 9
    assert found["test_rows"]["questions"][0]["rows"] > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--half-width 0.02 --rows 5", "--rows must go with --p-max; got --half-width, which does"),
        ("--p-max 0.7 --level 0.9", "--level must go with --half-width or --difference; got --p-"),
        ("--half-width 0.02 --power 0.9", "--power must go with --difference; got --half-width"),
        ("--p-max 0.7 --independent", "--independent must go with --difference; got --p-max"),
        ("--half-width 0.02 0.9", "must be the second end of --p-max; got '0.9'"),
        (
            "--p-max 0.15:0.3 --cost 0,1;5,0",
            "p_max must be on one side of the cost threshold, 0.1667, for a confidence of 0.95; "
            "got 0.15 to 0.3, which contains it.",
        ),
        ("--p-max 0.2 --cost 0,1;4,0", "got 0.2. At the threshold both decisions cost the same"),
        ("--power 0.9", "a comparison of error rates; got none of them"),
        ("--difference 0.05 --level 95", "level must be between 0 and 1; got 95.0"),
        ("--split 0.9:0.75,0.1", "share (or rows) and p_max of every node"),
        ("--split 0.9:0.75,0.2:0.75", "add up to 1"),
        ("--split 0.9:0.75,0.1:0.3", "p_max"),
        ("--split 0.9:0.75,0.1:0.75 --p-max 0.6:0.7", "one number beside --split"),
    ],
)
def test_an_option_that_the_question_does_not_read_or_cannot_read_is_an_error(
    arguments, message, capsys
):
    assert message in refused(capsys, "plan", *arguments.split())


def test_splits_of_a_node_are_compared_with_no_split() -> None:
    arguments = ["plan", "--split", "0.9:0.75,0.1:0.75", "--split", "0.2:0.75,0.8:0.6875"]
    found = json.loads(sureleaf(*arguments, "--json").stdout)["splits"]
    assert round(found["p_max"], 9) == 0.7
    line = next(one for one in found["levels"] if (one["rows"], one["split"]) == (21, "A"))
    expected = levels.tree_levels(21, [0.9, 0.1], [0.75, 0.75])
    assert (line["confidence"], line["utility"]) == pytest.approx(tuple(expected))
    text = " ".join(sureleaf(*arguments).stdout.split())
    assert "The utility of no split is the highest with few rows, of A from 2 rows on." in text
    assert "B has more confidence than A from 58 rows on." in text
    rows = json.loads(sureleaf("plan", "--split", "90:0.75,10:0.75", "--json").stdout)["splits"]
    assert rows["levels"][1] == found["levels"][1]
    thirds = ["plan", "--split", "0.333:0.7,0.333:0.8,0.333:0.9", "--json"]
    assert sureleaf(*thirds).returncode == 0
    one = " ".join(sureleaf("plan", "--split", "90:0.75,10:0.75").stdout.split())
    assert "the smallest value that the splits allow; --p-max sets another, such as 0.75" in one
    given = ["plan", "--split", "0.9:0.75,0.1:0.75", "--p-max", "0.72", "--json"]
    assert json.loads(sureleaf(*given).stdout)["splits"]["p_max"] == 0.72

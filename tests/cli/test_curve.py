"""sureleaf curve, run in this process on a small table."""

import json
from pathlib import Path

import pytest

from tests.cli.command import run


def test_curve_has_the_measure_at_each_size(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["curve", data, "-t", "class"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "accuracy by number of rows" in out
    result = json.loads(run(capsys, *arguments, "--sizes", "20+50", "--json")[1])
    assert [point["rows"] for point in result["points"]] == [20, 70, 120, 132]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--sizes", "50"), "--sizes must be the rows of the first sample with a factor or a step"),
        (("--sizes", "1x2"), "start must be at least 2"),
    ],
)
def test_sizes_that_are_none_are_named(option, message, data, capsys):
    code, _, err = run(capsys, "curve", data, "-t", "class", *option)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "--repeats", 10**23), "repeats must be at most 100,000; got 100,000,000,0"),
        (
            ("evaluate", "--repeats", 10**23, "--design", "bootstrap"),
            "n_bootstraps must be at most",
        ),
        (("evaluate", "--folds", 10**23), "00 folds needs at least 1"),
        (("fit", "--bagged", 1_000_001, "-o", "never.sureleaf"), "at most 1000000; got 1000001"),
    ],
)
def test_numbers_without_an_end_are_refused_in_one_line(arguments, message, data, capsys):
    command, *options = arguments
    code, out, err = run(capsys, command, data, "-t", "class", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err

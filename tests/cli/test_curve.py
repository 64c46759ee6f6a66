"""sureleaf curve, run in this process on a small table."""

import json
from pathlib import Path

import pytest

from tests.cli.command import run


def test_curve_estimates_the_rows_at_which_a_value_is_reached(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["curve", data, "-t", "class", "--start", "20", "--reach", "0.8"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "accuracy by number of rows" in out
    assert "accuracy 0.8" in out
    result = json.loads(run(capsys, *arguments, "--step", "50", "--json")[1])
    assert [point["rows"] for point in result["points"]] == [20, 70, 120, 132]
    assert "accuracy 0.8" in result["reach"]["sentence"]

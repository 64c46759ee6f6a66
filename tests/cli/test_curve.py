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

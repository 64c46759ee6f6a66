"""sureleaf explain, run in this process."""

import json
from pathlib import Path

import numpy as np
import pytest

from sureleaf.model.leaf_table import kind_of_confidence
from tests.cli.command import refused, run, sureleaf_here


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder: Path = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(0)
    lines = [
        f"{age:.0f},{income:.0f},{'yes' if income > 40 and age < 60 else 'no'}"
        for age, income in zip(rng.uniform(20, 80, 300), rng.uniform(0, 90, 300), strict=True)
    ]
    (folder / "data.csv").write_text("\n".join(["age,income,y", *lines]))
    (folder / "rows.csv").write_text(
        "\n".join(["income,age,name", *[f"{20 + k},30,n{k}" for k in range(12)]])
    )
    model = str(folder / "model.sureleaf")
    assert sureleaf_here("fit", str(folder / "data.csv"), "-t", "y", "-o", model).returncode == 0
    return model, str(folder / "rows.csv")


def test_rows_are_explained_with_what_would_change_them(capsys, files):
    code, out, err = run(capsys, "explain", *files)
    text = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "Row 1: no, because" in text
    assert "instead of 20: leaf" in text
    assert "Row 10:" in text
    assert "Row 11:" not in text
    assert "2 more rows: --all explains them." in text
    assert text.endswith(kind_of_confidence("cross_fit"))
    code, out, _ = run(capsys, "explain", *files, "--all", "--json")
    found = json.loads(out)
    assert (code, found["rows"], len(found["explanations"])) == (0, 12, 12)
    change = found["explanations"][0]["way"]["changes"][0]
    assert (change["column"], change["old"]) == ("income", 20)
    assert change["new"] > 20


def test_restrictions_are_respected(capsys, files):
    for extra in (["--fixed", "income"], ["--only-down", "income"]):
        code, out, _ = run(capsys, "explain", *files, *extra, "--json")
        assert code == 0
        assert all(one["way"] is None for one in json.loads(out)["explanations"])
    assert "Did you mean 'income'" in refused(capsys, "explain", *files, "--fixed", "incme")

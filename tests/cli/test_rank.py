"""sureleaf rank, run in this process."""

import json
import re
import shlex
from pathlib import Path

from tests.cli.command import run

LABOR = str(Path(__file__).parents[2] / "examples" / "labor.csv")


def test_columns_are_ranked_by_utility(capsys):
    code, out, _ = run(capsys, "rank", LABOR, "--target", "class", "--json")
    assert code == 0
    columns = json.loads(out)["columns"]
    assert len(columns) == 16
    utilities = [column["utility"] for column in columns]
    rounded = [round(u, 3) for u in utilities]  # the decimals that count
    assert rounded == sorted(rounded, reverse=True)
    code, out, _ = run(capsys, "rank", LABOR, "--target", "class", "--training")
    assert code == 0
    assert "Of 16 columns, a single split" in " ".join(out.split())
    code, out, _ = run(capsys, "rank", LABOR, "--target", "class")
    assert "has the highest utility: " in " ".join(out.split())
    assert "because the same rows choose it" in " ".join(out.split())
    assert "of unseen rows" not in out  # the best of many columns of noise is above the baseline
    assert any(u <= 37 / 57 + 1e-9 for u in utilities)  # 37 of the 57 rows are good
    assert "or as the first split of a tree" in " ".join(out.split())


def test_the_plan_that_rank_links_to_compares_the_splits_of_its_two_best_columns(capsys):
    code, out, _ = run(capsys, "rank", LABOR, "--target", "class")
    assert code == 0
    command = re.search(r"sureleaf (plan .*?) Confidence is", " ".join(out.split()))
    words = shlex.split(command[1])
    assert words.count("--split") == 2
    assert words[1:3] == ["--p-max", f"{37 / 57:.4g}"]
    code, out, _ = run(capsys, *words, "--json")
    assert code == 0
    assert {one["split"] for one in json.loads(out)["splits"]["levels"]} == {"no split", "A", "B"}

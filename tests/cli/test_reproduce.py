"""sureleaf reproduce on the command line."""

import json
from pathlib import Path

import pytest

from sureleaf.reproduce import reproduce
from tests.cli.command import sureleaf_here as sureleaf


@pytest.mark.parametrize(
    ("document", "last"),
    [
        ("zhang2024", "1,586 figures: 1,130 as defined, 437 from another computation, 19 mispr"),
        ("zhang2024", "1,556 computed by this library's functions: 1,105 as defined, 434 from"),
        ("zhang2024", "30 arithmetic of the document: 25 as defined, 3 from another computation"),
        ("xu2022", "37 figures: 35 as defined, 0 from another computation, 2 misprints."),
        ("aw", "503 figures: 490 as defined, 7 from another computation, 6 misprints."),
    ],
)
def test_the_last_lines_count_all_figures(document: str, last: str) -> None:
    done = sureleaf("reproduce", document)
    assert done.returncode == 0
    assert last in " ".join(done.stdout.split())


def test_a_part_counts_only_what_it_has() -> None:
    shown = sureleaf("reproduce", "aw", "--part", "cost").stdout
    assert "4 computed by this library's functions: 4 as defined" in " ".join(shown.split())
    assert "arithmetic of the document" not in shown


def test_json_is_the_result_object() -> None:
    found = json.loads(sureleaf("reproduce", "zhang2024", "--json").stdout)
    assert found == json.loads(json.dumps(reproduce("zhang2024").to_dict()))


def test_a_table_is_shown_cell_by_cell_with_marks() -> None:
    shown = sureleaf("reproduce", "zhang2024", "--part", "table 4", columns=100).stdout
    assert ".8941!" in shown
    assert ".5392~" in shown
    assert "63 figures: 1 as defined, 60 from another computation, 2 misprints." in shown


def test_figures_are_drawn_into_the_folder_and_listed(tmp_path: Path) -> None:
    done = sureleaf("reproduce", "zhang2024", "--figures", str(tmp_path / "new"), "--json")
    drawn = [Path(path) for path in json.loads(done.stdout)["figures"]]
    assert sorted(path.name for path in drawn) == sorted(
        f"zhang2024-figure-{number}.{kind}" for number in (1, 2, 3) for kind in ("svg", "png")
    )
    assert all(path.stat().st_size > 1000 for path in drawn)

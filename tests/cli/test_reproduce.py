"""sureleaf reproduce on the command line."""

import json
from pathlib import Path

import pytest

from sureleaf.reproduce import reproduce
from tests.cli.command import sureleaf_here as sureleaf


def test_the_last_lines_count_all_figures() -> None:
    done = sureleaf("reproduce", "zhang2024")
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    assert "1,586 figures: 1,130 as defined, 437 from another computation, 19 misprints." in shown
    assert "1,556 computed by this library's functions: 1,105 as defined, 434 from" in shown
    assert "30 arithmetic of the document: 25 as defined, 3 from another computation" in shown


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


@pytest.mark.parametrize(
    ("document", "last"),
    [
        ("xu2022", "37 figures: 35 as defined, 0 from another computation, 2 misprints."),
        ("aw", "503 figures: 490 as defined, 7 from another computation, 6 misprints."),
    ],
)
def test_the_last_lines_count_all_figures_of_the_other_documents(document: str, last: str) -> None:
    done = sureleaf("reproduce", document)
    assert done.returncode == 0
    assert last in " ".join(done.stdout.split())


def test_a_part_may_be_chosen_by_name() -> None:
    done = sureleaf("reproduce", "aw", "--part", "two models", "--json")
    parts = json.loads(done.stdout)["parts"]
    assert [part["name"] for part in parts] == ["two models"]


def test_an_unknown_part_is_one_line() -> None:
    done = sureleaf("reproduce", "aw", "--part", "nope")
    assert done.returncode == 2
    assert done.stderr.startswith("sureleaf: part must be a part of aw, ")
    assert len(done.stderr.splitlines()) == 1

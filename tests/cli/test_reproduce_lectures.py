import json

import pytest

from tests.cli.command import sureleaf


@pytest.mark.parametrize(
    ("document", "last"),
    [
        ("xu2022", "37 figures: 35 as defined, 0 from another computation, 2 misprints."),
        ("aw", "503 figures: 490 as defined, 7 from another computation, 6 misprints."),
    ],
)
def test_the_last_lines_sum_up_all_figures(document: str, last: str) -> None:
    done = sureleaf("reproduce", document)
    assert done.returncode == 0
    assert last in " ".join(done.stdout.split())


def test_a_part_is_asked_for_by_name() -> None:
    done = sureleaf("reproduce", "aw", "--part", "two models", "--json")
    parts = json.loads(done.stdout)["parts"]
    assert [part["name"] for part in parts] == ["two models"]


def test_an_unknown_part_is_one_line() -> None:
    done = sureleaf("reproduce", "aw", "--part", "nope")
    assert done.returncode == 2
    assert done.stderr.startswith("sureleaf: aw has no nope")
    assert len(done.stderr.splitlines()) == 1

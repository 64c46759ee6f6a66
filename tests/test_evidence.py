"""The figures of the documentation are those that benchmarks recorded."""

import importlib
import json
import re
from pathlib import Path

import pytest
from benchmarks import evidence, running
from benchmarks.quality.promises import record
from benchmarks.quality.promises.__main__ import SECTIONS
from benchmarks.running import Row
from benchmarks.speed import clock

ROOT = Path(__file__).resolve().parents[1]
PAGES = [path for path in (ROOT / "docs").rglob("*.md") if "_generated" not in path.parts]
COMMANDS = sorted(
    {found for path in PAGES for found in running.MARK.findall(path.read_text("utf-8"))}
)
ALL_MEASURED = ("speed.md", "quality.md")
"""Pages with no table but those of recorded runs."""


@pytest.mark.parametrize("name", ALL_MEASURED)
def test_pages_of_measurements_have_no_typed_table(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert running.MARK.search(page)
    assert not re.search(r"^\|", page, flags=re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_block_names_a_benchmark(command: str) -> None:
    found = re.fullmatch(r"(?:SURELEAF_\w+=\S+ )*python -m (benchmarks\.\w+)(?: (\w+))?", command)
    assert found, command
    module = importlib.import_module(found[1])
    assert found[2] in running.benchmarks_of(module) if found[2] else hasattr(module, "run")


def test_every_recorded_run_is_shown_on_a_page() -> None:
    assert {run["command"] for run in running.load_runs()} <= set(COMMANDS)


def test_every_recorded_section_of_promises_is_still_simulated() -> None:
    assert set(record.load()) <= set(SECTIONS)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package with one benchmark, run and record it twice, and return the record."""
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "__init__.py").touch()
    (tmp_path / "measured" / "one.py").write_text(
        "from benchmarks.running import Row\n"
        "def run():\n"
        "    yield Row('Trees', {'tree': 'a|b', 'time': '0.1 s'})\n"
        "    yield Row('Leaves', {'n': '3'})\n"
        "    yield Row('Trees', {'tree': 'c', 'time': '0.2 s'})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SURELEAF_SPLITS", "2")
    package = importlib.import_module("measured")
    for _ in range(2):
        running.run_benchmarks(package, ["one", "--record"], tmp_path / "record.json")
    return tmp_path / "record.json"


def test_a_benchmark_records_its_tables_in_place_of_its_last_run(measured: Path) -> None:
    (run,) = json.loads(measured.read_text(encoding="utf-8"))["runs"]
    assert run["command"] == "SURELEAF_SPLITS=2 python -m measured one"
    rows = [["a|b", "0.1 s"], ["c", "0.2 s"]]
    assert run["tables"][0] == {"title": "Trees", "columns": ["tree", "time"], "rows": rows}
    assert run["tables"][1] == {"title": "Leaves", "columns": ["n"], "rows": [["3"]]}


def test_a_run_is_shown_at_its_mark_and_nowhere_else(measured: Path) -> None:
    command = "SURELEAF_SPLITS=2 python -m measured one"
    runs = running.load_runs(measured)
    text = running.filled(f"Before\n<!-- run: {command} -->\n<!-- run: other -->\nAfter", runs)
    (run,) = runs
    assert text.startswith(f"Before\n*`{command}`, ")
    assert text.endswith("\n*`other` is not recorded yet.*\nAfter")
    assert f"load {run['load_before']} to {run['load_after']}. {run['machine']}.*" in text
    assert "**Trees**\n\n| tree | time |\n| --- | --- |\n| a\\|b | 0.1 s |\n" in text


def test_writing_one_part_of_the_record_keeps_the_others(measured: Path) -> None:
    evidence.write_part("promises", {"a": [1, 2]}, measured)
    assert evidence.read_part("promises", measured) == {"a": [1, 2]}
    assert len(running.load_runs(measured)) == 1


def test_the_rows_of_a_table_must_have_the_same_columns() -> None:
    with pytest.raises(ValueError, match="must have the columns"):
        running.collect([Row("t", {"a": "1"}), Row("t", {"b": "1"})])


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1.32e-5, "13.2 µs"),
        (0.0009996, "1 ms"),
        (0.5, "500 ms"),
        (95.13, "95.1 s"),
        (1000, "1,000 s"),
    ],
)
def test_durations_have_three_digits_and_a_unit(seconds: float, shown: str) -> None:
    assert running.duration(seconds) == shown


def test_a_goal_that_is_missed_is_marked() -> None:
    met = clock.compare("a tree", 1.0, "peer", 12.0, 10)
    missed = clock.compare("a tree", 2.0, "peer", 12.0, 10)
    assert (met.cells["ratio"], met.cells["goal"]) == ("12.0", "10: met")
    assert missed.cells["goal"] == "10: **not met**"
    assert clock.limit("a tree", 0.2, at_most=0.1).cells["goal"] == "at most 0.1: **not met**"

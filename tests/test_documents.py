"""What the documents say is true."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import sureleaf

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES = list((ROOT / "docs").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "docs/judging.md"])
def test_the_python_examples_run(name: str) -> None:
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    done = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=options)
    assert done.attempted > 5
    assert done.failed == 0


def test_the_commands_of_the_readme_print_what_it_says() -> None:
    examples = re.findall(r"```console\n\$ sureleaf (.*?)\n(.*?)```", README, flags=re.DOTALL)
    assert examples
    for command, printed in examples:
        assert sureleaf(*shlex.split(command)).stdout == printed


@pytest.mark.parametrize("name", [*DOCUMENTS, *sorted(f"docs/{p.name}" for p in PAGES)])
def test_links_to_files_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", text):
        assert ((ROOT / name).parent / target).exists(), target


def test_every_page_of_the_documentation_can_be_found_from_the_readme() -> None:
    assert {page.name for page in PAGES} <= set(re.findall(r"docs/([\w-]+\.md)", README))


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|cpp|docs|benchmarks|\.ci)/[\w./-]*)`", text)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_the_rooms_of_the_architecture_are_those_that_are_checked_and_their_state_is_true() -> None:
    table = re.findall(
        r"^\| `(\w+)` \|.*\| (here|begun|planned) \|$",
        (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r"layers = \[(.*?)\]", project, flags=re.DOTALL)
    assert layers is not None
    assert [room for room, _ in table] == re.findall(r"\"\(?(\w+)\)?\"", layers.group(1))
    package = ROOT / "src" / "sureleaf"
    for room, state in table:
        exists = (package / room).is_dir() or (package / f"{room}.py").is_file()
        assert exists == (state != "planned"), room


def test_the_picture_of_the_readme_is_what_its_script_draws() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "draw_leaves.py")],
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == (ROOT / "docs" / "leaves.svg").read_text(encoding="utf-8")

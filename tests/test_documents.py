"""Statements in the documents are true, and their examples run."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sureleaf.report.document import TITLES
from tests.cli.command import sureleaf_here

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
SITE = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "docs").rglob("*.md")
    if "_generated" not in page.parts
)
README = (ROOT / "README.md").read_text(encoding="utf-8")


def pages_with(text: str) -> list[str]:
    """Return README and the pages of the documentation that contain a text."""
    return [
        name for name in ["README.md", *SITE] if text in (ROOT / name).read_text(encoding="utf-8")
    ]


@pytest.fixture
def _folder_with_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where examples may write files, and find the folder `examples`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_folder_with_examples", "levels_computed_once")
@pytest.mark.parametrize("name", pages_with("\n>>> "))
def test_the_python_examples_run(name: str) -> None:
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    results = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=options)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.usefixtures("_folder_with_examples", "levels_computed_once")
@pytest.mark.parametrize("name", pages_with("```console\n"))
def test_the_commands_print_what_is_shown(name: str) -> None:
    """Commands of one block run one after the other; "..." stands for any text."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    for command, printed in re.findall(
        r"^\$ sureleaf (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), flags=re.MULTILINE
    ):
        shown = sureleaf_here(*shlex.split(command))
        assert shown.returncode == 0, shown.stderr
        same = doctest.OutputChecker().check_output(printed, shown.stdout, doctest.ELLIPSIS)
        assert same, shown.stdout


@pytest.mark.parametrize("name", [*DOCUMENTS, *SITE])
def test_linked_files_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", text):
        assert ((ROOT / name).parent / target).exists(), target


def test_the_readme_has_at_most_900_words_and_its_code_comes_first() -> None:
    assert len(README.split()) <= 900
    before_code, _, code = README.partition("```python\n")
    assert len(before_code.split()) <= 100
    assert len(re.findall(r"^(?:>>>|\.\.\.) ", code, flags=re.MULTILINE)) == 8
    assert "do not trust\n" in code


def test_the_readme_compares_with_the_other_tools_and_says_no_regression() -> None:
    section = README.partition("## Beside other tools")[2]
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in section.splitlines()
        if row.startswith("|")
    ]
    tools = "Sureleaf scikit-learn C5.0 ydf imodels MAPIE skore"
    assert rows[0] == ["", *tools.split()]
    assert {len(row) for row in rows} == {8}
    assert next(row[1] for row in rows if row[0] == "regression") == "no"


def test_the_readme_shows_the_report_that_make_demo_writes() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = re.search(r"^sureleaf (report .*)$", README, flags=re.MULTILINE)
    assert f"$(BIN)/sureleaf {shown.group(1)} -o demo/" in makefile
    assert f"\nsureleaf {shown.group(1)}\n" in (ROOT / "docs" / "report.md").read_text("utf-8")


def test_every_file_that_is_named_exists() -> None:
    named = {
        (path, name)
        for name in [*DOCUMENTS, "SECURITY.md", *SITE]
        for path in re.findall(
            r"`((?:src|tests|cpp|docs|benchmarks|examples|\.ci)/[\w./-]*)`",
            (ROOT / name).read_text(encoding="utf-8"),
        )
    }
    assert len(named) > 40
    for path, name in sorted(named):
        assert (ROOT / path).exists(), (path, name)


def test_the_packages_of_the_architecture_are_those_that_import_linter_checks() -> None:
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = architecture.partition("## The packages")[2].partition("\n## ")[0]
    packages = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r"layers = \[(.*?)\]", project, flags=re.DOTALL)
    assert packages == re.findall(r"\"\(?(\w+)\)?\"", layers.group(1))
    source = ROOT / "src" / "sureleaf"
    for name in packages:
        assert (source / name).is_dir() or (source / f"{name}.py").is_file(), name


def test_the_page_on_the_report_lists_its_sections() -> None:
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    sections = re.findall(r"^\d\. \*\*(.+?)\*\*", page, flags=re.MULTILINE)
    assert sections == list(TITLES.values())


def test_every_term_of_the_glossary_is_defined_once() -> None:
    terms = [term for term, _, _ in glossary()]
    assert len(terms) > 40
    assert len(terms) == len(set(terms))


def test_every_name_of_the_glossary_is_used_in_the_code() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "cpp").rglob("*.hpp")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for term, _, names in glossary():
        for name in re.findall(r"`(?:--)?(\w+)", names):
            assert re.search(rf"\b{name}\b", code), (term, name)


def glossary() -> list[list[str]]:
    """Term, meaning and names in code of every entry."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if row[0] != "term"]


def test_the_picture_of_the_readme_is_what_its_script_draws() -> None:
    script = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "draw_leaves.py")],
        capture_output=True,
        check=True,
    )
    assert script.stdout.decode() == (ROOT / "docs" / "leaves.svg").read_text(encoding="utf-8")

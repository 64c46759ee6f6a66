"""What a target of the Makefile runs is installed by the extras of that target.

In a fresh clone, nothing else is there. So the imports of what a target runs are compared with the
distributions that it installs; nothing is installed or run for that. The imports of tests are not:
`make test` is the first thing that CI runs in a fresh clone.
"""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {
    "PIL": "matplotlib",  # needs it
    "lint_imports": "import-linter",
    "markupsafe": "jinja2",  # needs it
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
}
SITE = "-m sphinx"
NOT_RUN = {"docs": {"playwright"}}
"""What only another target runs: `make pictures` takes the picture of the report."""
BUILD_TOOLS = {"cmake", "nanobind", "ninja", "pip", "scikit-build-core", "setuptools"}
"""What the rule that makes the environment installs."""


def distribution(module: str) -> str:
    """Return the name of the distribution of a module or program."""
    name = module.partition(".")[0].replace("-", "_")
    return DISTRIBUTIONS.get(name, name.replace("_", "-")).lower()


def requirements(entries: list[str]) -> set[str]:
    """Return the distributions that requirements install, extras of this project included."""
    found: set[str] = set()
    for entry in entries:
        name, extras = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", entry).groups()
        found.add(name.lower())
        if name == PROJECT["name"] and extras:
            for extra in extras.split(","):
                found |= requirements(PROJECT["optional-dependencies"][extra])
    return found


RULE = re.compile(
    r"^(?P<targets>[a-z][\w ./$()-]*):(?P<needs>[^=\n]*)\n(?P<recipe>(?:\t.*\n)+)", re.M
)
EXTRAS = dict(re.findall(r"^EXTRAS-(\w+) := \[(.+)\]$", MAKEFILE, flags=re.M))
TARGETS = {rule["targets"].strip(): rule for rule in RULE.finditer(MAKEFILE)}


def installed(target: str) -> set[str] | None:
    """Return the distributions in a target's environment; None if it makes one of its own."""
    rule = TARGETS[target]
    if "$(PYTHON) -m venv" in rule["recipe"]:
        return None
    stamps = re.findall(r"\.installed(?:-(\w+))?", rule["needs"])
    entries = PROJECT["dependencies"] if stamps else []
    entries = [*entries, *re.findall(r"\$\(PIP\) (\w+)", rule["recipe"])]
    for stamp in stamps:
        entries = [*entries, *([f"sureleaf[{EXTRAS[stamp]}]"] if stamp else [])]
    return requirements(entries) | BUILD_TOOLS


def local_file(module: str, folder: Path) -> Path | None:
    """Return the file of a module of this repository; None for other modules."""
    for base in (ROOT, ROOT / "src", folder):
        path = base / module.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


@cache
def imported(file: Path) -> frozenset[str]:
    """Return the modules that a file imports when it is loaded; a script's functions run, too."""
    is_library = ROOT / "src" in file.parents or ROOT / "tests" in file.parents
    modules: set[str] = set()
    pending: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if is_library and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending += ast.iter_child_nodes(node)
    return frozenset(modules)


def run_files(recipe: str) -> tuple[set[Path], set[str]]:
    """Return the files of this repository that a recipe runs, and the modules of others."""
    files: set[Path] = set()
    others = set(re.findall(r"\$\(BIN\)/([a-z-]+)", recipe)) - {"python", "sureleaf"}
    for module in re.findall(r"-m (?!venv\b|coverage run)([\w.]+)", recipe):
        package = ROOT / module.replace(".", "/")
        own = package / "__main__.py" if package.is_dir() else package.with_suffix(".py")
        if own.is_file():
            files |= set(package.rglob("*.py")) if package.is_dir() else {own}
        else:
            others.add(module)
    if "coverage run" in recipe:
        others.add("coverage")
    files |= {ROOT / path for path in re.findall(r"\$\(BIN\)/python ([\w/]+\.py)", recipe)}
    if SITE in recipe:
        files.add(ROOT / "docs" / "conf.py")
        reference = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
        named = re.findall(r"currentmodule:: ([\w.]+)", reference)
        files |= {local_file(module, ROOT) or ROOT / module for module in named}
    return files, others


def needed(target: str) -> set[str]:
    """Return the distributions that the recipe of a target imports or calls."""
    files, modules = run_files(TARGETS[target]["recipe"])
    pending, seen = list(files), set(files)
    while pending:
        file = pending.pop()
        for module in imported(file):
            own = local_file(module, file.parent)
            if own is None:
                parent = local_file(module.rpartition(".")[0], file.parent)
                if parent is None:
                    modules.add(module)
            elif own not in seen:
                seen.add(own)
                pending.append(own)
    return {
        distribution(module)
        for module in modules
        if module.partition(".")[0] not in sys.stdlib_module_names | {"sureleaf"}
    }


@pytest.mark.parametrize("target", [t for t in TARGETS if installed(t) is not None])
def test_a_target_installs_what_it_runs(target: str) -> None:
    assert needed(target) - NOT_RUN.get(target, set()) <= installed(target)


def test_the_targets_that_pages_name_exist_and_are_checked() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(
            r"(?:`make |^make (?=[a-z-]+ +#))([a-z-]+)",
            page.read_text(encoding="utf-8"),
            flags=re.M,
        )
    }
    assert len(named) > 10
    assert named <= {name for t in TARGETS for name in t.split()}


def test_a_missing_extra_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROJECT["optional-dependencies"], "study", [])
    assert needed("docs") - NOT_RUN["docs"] - installed("docs") == {"sqlalchemy"}

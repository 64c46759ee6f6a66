"""`make` names a missing tool in one sentence, and the commands of the demo work."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import sureleaf, sureleaf_here

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def fake_program(path: Path, script: str) -> str:
    """Write a shell script and return it as a program."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@needs_make
def test_a_complete_toolchain_prints_nothing() -> None:
    done = make("toolchain", f"PYTHON={sys.executable}")
    assert (done.returncode, done.stdout) == (0, "")


@needs_make
@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("PYTHON=no-such-python", "Sureleaf needs Python 3.11 or later, and 'no-such-python'"),
        ("CXX=no-such-compiler", "Sureleaf needs a C++20 compiler, and 'no-such-compiler'"),
    ],
)
def test_a_missing_tool_is_one_sentence(missing: str, message: str) -> None:
    done = make("toolchain", f"PYTHON={sys.executable}", missing)
    assert done.returncode == 2
    assert done.stdout.startswith(message)
    assert done.stdout.count("\n") == 1


@needs_make
@pytest.mark.parametrize(
    ("fails_on", "message"),
    [
        ("version_info", "Sureleaf needs Python 3.11 or later; "),
        ("ensurepip", "Python's venv module is missing. "),
        ("Python.h", "Python's C headers are missing. "),
    ],
)
def test_an_incomplete_python_is_one_sentence(tmp_path: Path, fails_on: str, message: str) -> None:
    python = fake_program(
        tmp_path / "python",
        f'case "$2" in *{fails_on}*) exit 1;; esac\nexec "{sys.executable}" "$@"',
    )
    done = make("toolchain", f"PYTHON={python}")
    assert done.returncode == 2
    assert done.stdout.startswith(message)
    assert done.stdout.count("\n") == 1


@needs_make
def test_an_old_compiler_is_one_sentence(tmp_path: Path) -> None:
    script = '[ "$1" = --version ] && echo "c++ 4.8" && exit 0\nexit 1'
    compiler = fake_program(tmp_path / "c++", script)
    done = make("toolchain", f"PYTHON={sys.executable}", f"CXX={compiler}")
    assert done.returncode == 2
    assert "is too old: c++ 4.8." in done.stdout


@pytest.mark.parametrize(
    "command_line", [sureleaf_here, pytest.param(sureleaf, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("few_rounds", "small_budget")
def test_the_commands_of_the_demo_work(command_line: Any, tmp_path: Path) -> None:
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.MULTILINE)
    run = re.findall(r"^\t\$\(BIN\)/sureleaf (.+)$", recipe.group(1), flags=re.MULTILINE)
    suggested = re.findall(
        r"echo \".*\$\(BIN\)/sureleaf (.+)\"$", recipe.group(1), flags=re.MULTILINE
    )
    assert (len(run), len(suggested)) == (2, 3)
    for command in [*run, *suggested]:
        adapted = re.sub(r"\bdemo\b", str(tmp_path), command).replace(
            "YOUR.csv --target COLUMN", f"examples/labor.csv --target class -o {tmp_path}/own.html"
        )
        done = command_line(*shlex.split(adapted))
        assert (done.returncode, done.stderr) == (0, ""), command
    written = {path.name for path in tmp_path.iterdir()}
    assert {"credit-g-report.html", "own.html", "zhang2024-figure-1.svg"} <= written

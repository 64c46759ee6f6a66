"""sureleaf doctor, and the package as a program."""

import json
import subprocess
import sys

from sureleaf.cli import doctor
from tests.cli.command import run, sureleaf_here


def test_a_working_installation_is_reported_with_its_versions() -> None:
    done = sureleaf_here("doctor")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("sureleaf ")
    assert "works: a small tree (2 leaves, utility" in done.stdout
    assert lines[-1] == "Everything works."


def test_json_has_the_versions_and_every_check() -> None:
    values = json.loads(sureleaf_here("doctor", "--json").stdout)
    assert values["healthy"] is True
    assert values["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {check["name"] for check in values["checks"]} == set(doctor.CHECKS)


def test_what_does_not_work_is_named_with_exit_code_1(monkeypatch, capsys):
    def broken() -> str:
        raise ImportError("no [kernel] here")

    monkeypatch.setitem(doctor.CHECKS, "compiled kernel", broken)
    code, out, _ = run(capsys, "doctor")
    assert code == 1
    assert "FAILS: compiled kernel (ImportError: no [kernel] here)" in out
    assert out.endswith("Something does not work: see FAILS.\n")


def test_the_package_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "sureleaf", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("sureleaf ")

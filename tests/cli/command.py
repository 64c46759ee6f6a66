"""The ``sureleaf`` command, run as a user runs it or in this process."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from sureleaf.cli import main

SURELEAF = str(Path(sys.executable).with_name("sureleaf"))


def sureleaf(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run the installed command, with text wrapped at this many columns."""
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [SURELEAF, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"COLUMNS": str(columns), "TERM": "xterm"},
    )


def sureleaf_here(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run the command as `sureleaf` does, in this process, which spares its start."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    environment = {"COLUMNS": str(columns), "TERM": "xterm"}
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.dict(os.environ, environment),
    ):
        for name in ("FORCE_COLOR", "NO_COLOR"):
            os.environ.pop(name, None)
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command in this process; return exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must end with exit code 2 and one line on stderr, which is returned."""
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err

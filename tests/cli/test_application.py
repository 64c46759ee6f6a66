"""What every command shares, tried on the installed command."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sureleaf as package
from tests.cli.command import SURELEAF, sureleaf

COMMANDS = ["plan", "reproduce"]


def test_the_version_is_the_package_version() -> None:
    done = sureleaf("--version")
    assert (done.returncode, done.stdout) == (0, f"sureleaf {package.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_json(command: str) -> None:
    done = sureleaf(command, "--help")
    assert done.returncode == 0
    assert re.search(rf"sureleaf {command} \S", done.stdout)
    assert "--json" in done.stdout


def test_the_help_lists_every_command_with_what_it_does() -> None:
    listed = sureleaf("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"{command} +\w+", listed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plna"], "No such command 'plna'. Did you mean 'plan'?"),
        (["plan", "--p-mx", "0.75"], "No such option: --p-mx. Did you mean --p-max?"),
        (["plan"], "a plan needs to know what for: --p-max for a node"),
        (["plan", "--p-max", "75"], "p_max must be from 0.5 to 1; got 75"),
        (["plan", "--p-max", "high"], "--p-max must be a number such as 0.75 or a range"),
        (["plan", "--p-max", "0.6", "0.7", "0.8"], "--p-max must be a number such as 0.75"),
        (["reproduce", "zhang"], "document must be one of zhang2024, xu2022, aw; got 'zhang'."),
        (["reproduce", "zhang2024", "--table", "20"], "zhang2024 has no table 20"),
    ],
)
def test_an_error_is_one_line_on_stderr_with_exit_code_2(arguments: list[str], said: str) -> None:
    done = sureleaf(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"sureleaf: {said}")
    assert done.stderr.count("\n") == 1


def test_a_file_that_cannot_be_written_is_one_line() -> None:
    done = sureleaf("reproduce", "zhang2024", "--figures", "/dev/null/figures")
    assert done.returncode == 2
    assert done.stderr == "sureleaf: /dev/null/figures: Not a directory\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [SURELEAF, "plan", "--p-max", "0.75"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "sureleaf: output: No space left on device\n")


def test_a_missing_drawing_library_is_one_line_with_the_pip_command() -> None:
    # A module that is None in sys.modules cannot be imported, as if it were not installed.
    hide = "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.figure'] = None"
    program = f"{hide}; from sureleaf.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "reproduce", "zhang2024", "--figures", "nowhere"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'sureleaf[plot]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_output_in_a_pipe_has_no_colours() -> None:
    assert "\x1b" not in sureleaf("reproduce", "zhang2024").stdout


def test_output_on_a_terminal_has_colours() -> None:
    controller, terminal = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    command = [SURELEAF, "plan", "--p-max", "0.75"]
    with subprocess.Popen(command, stdout=terminal, env=environment) as process:
        process.wait()
    os.close(terminal)
    assert b"\x1b[" in os.read(controller, 100_000)
    os.close(controller)


@pytest.mark.parametrize("arguments", [["reproduce", "zhang2024", "--json"], ["--help"]])
def test_a_reader_that_stops_early_does_no_harm(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [SURELEAF, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert process.stderr == b""
    if arguments != ["--help"]:  # typer writes the help, and has its own exit code for this
        assert process.returncode == 0


def test_ctrl_c_is_one_line_and_exit_code_130() -> None:
    program = (
        "import time; from sureleaf.cli import application, main\n"
        "def wait(*a, **k):\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "import sureleaf.report.plan as plan; plan.make_plan = wait\n"
        "main(['plan', '--p-max', '0.75'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert said.strip() == "sureleaf: interrupted"

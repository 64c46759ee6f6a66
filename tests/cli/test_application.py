"""The behaviour that all commands share, tested on the installed command."""

import codecs
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sureleaf as package
from sureleaf.cli.application import application
from sureleaf.cli.output import show_json
from tests.cli.command import SURELEAF, refused, run, sureleaf, sureleaf_here

COMMANDS = [
    str(command.callback.__name__)
    for command in application.registered_commands
    if command.callback is not None
]
LABOR = Path(__file__).parents[2] / "examples" / "labor.csv"


def test_the_version_is_the_package_version() -> None:
    done = sureleaf("--version")
    first, second = done.stdout.splitlines()
    assert (done.returncode, first) == (0, f"sureleaf {package.__version__}")
    assert f"numpy {np.__version__}" in second


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_json(command, capsys):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert re.search(rf"- sureleaf {command} \S", out)
    assert "--json" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plna"], "No such command 'plna'. Did you mean 'plan'?"),
        (["plan", "--p-mx", "0.75"], "No such option: --p-mx. Did you mean --p-max?"),
        (["plan"], "plan needs a question: --p-max for a node"),
        (["plan", "--p-max", "75"], "p_max must be from 0.5 to 1; got 75"),
        (["plan", "--p-max", "high"], "--p-max must be a number such as 0.75 or a range"),
        (["plan", "--p-max", "0.6", "0.7", "0.8"], "--p-max must be a number such as 0.75"),
        (["reproduce", "zhang"], "document must be one of zhang2024, xu2022, aw, or chawla2006"),
        (
            ["reproduce", "zhang2024", "--part", "table 20"],
            "part must be a part of zhang2024, table 1 to table 19; got 'table 20'",
        ),
    ],
)
def test_an_error_is_one_line_on_stderr_with_exit_code_2(arguments, message, capsys):
    assert refused(capsys, *arguments).startswith(f"sureleaf: {message}")


def test_a_file_that_cannot_be_written_is_one_line(capsys) -> None:
    err = refused(capsys, "reproduce", "zhang2024", "--figures", "/dev/null/figures")
    assert err == "sureleaf: /dev/null/figures: Not a directory\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
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


def test_a_missing_optional_library_is_one_line_with_the_pip_command(monkeypatch, capsys):
    # A module that is None in sys.modules cannot be imported, as if it were not installed.
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    err = refused(capsys, "reproduce", "zhang2024", "--figures", "nowhere")
    assert "pip install matplotlib" in err


def test_output_in_a_pipe_has_no_colours() -> None:
    assert "\x1b" not in sureleaf("plan", "--help").stdout


@pytest.mark.parametrize("plain", [False, True])
def test_output_on_a_terminal_has_colours_unless_no_color_is_set(plain: bool) -> None:
    controller, terminal = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    if plain:
        environment["NO_COLOR"] = "1"
    command = [SURELEAF, "plan", "--help"]
    with subprocess.Popen(command, stdout=terminal, env=environment) as process:
        process.wait()
    os.close(terminal)
    coloured = re.search(rb"\x1b\[[0-9;]*3[0-9]", os.read(controller, 100_000))
    assert (coloured is None) == plain
    os.close(controller)


@pytest.mark.parametrize("arguments", [["plan", "--p-max", "0.75"], ["--help"]])
def test_a_closed_pipe_ends_a_command_silently(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [SURELEAF, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert process.stderr == b""
    if arguments != ["--help"]:  # typer writes the help, and has its own exit code for this
        assert process.returncode == 0


def test_output_that_nobody_can_get_is_an_error() -> None:
    script = 'exec "$0" "$@" >&-'
    process = subprocess.run(
        ["sh", "-c", script, SURELEAF, "plan", "--p-max", "0.75"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.startswith("sureleaf: standard output is closed, and what would be")


def test_a_thread_that_the_system_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    def plan_in_a_thread(*_: object, **__: object) -> None:
        with monkeypatch.context() as patch:
            for name in ("_start_new_thread", "_start_joinable_thread"):
                patch.setattr(threading, name, refuse, raising=False)
            threading.Thread(target=print).start()

    monkeypatch.setattr("sureleaf.commands.plan.make_plan", plan_in_a_thread)
    done = sureleaf_here("plan", "--p-max", "0.75")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("sureleaf: not enough memory, or too many threads")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("another error")

    monkeypatch.setattr("sureleaf.commands.plan.make_plan", fail)
    with pytest.raises(RuntimeError, match="another error"):
        sureleaf_here("plan", "--p-max", "0.75")


def test_ctrl_c_is_one_line_and_exit_code_130() -> None:
    program = (
        "import time; from sureleaf.cli import application, main\n"
        "def wait(*a, **k):\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "import sureleaf.commands.plan as plan; plan.make_plan = wait\n"
        "main(['plan', '--p-max', '0.75'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read()
    assert process.returncode == 130
    assert stderr.strip() == "sureleaf: interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["leaves", "--target", "klass"], "--target must be a column of labor.csv; got 'klass'."),
        (["rank", "--target", "Class"], "Did you mean 'class'?"),
        (["evaluate", "-t", "class", "--group", "pensoin"], "--group must be .* mean 'pension'"),
        (["evaluate", "-t", "class", "--weight", "duratoin"], "--weight must .* 'duration'"),
        (["leaves", "-t", "class", "--drop", "duratoin"], "--drop must be .* 'duration'"),
        (["evaluate", "-t", "class", "--weight", "pension"], "--weight must be a column of"),
        (["evaluate", "-t", "class", "--positive", "god"], "got 'god'. Did you mean 'good'?"),
        (["evaluate", "-t", "class", "--design", "kfodl"], "Did you mean 'kfold'?"),
        (["leaves"], "--target must name the column of labor.csv to predict; it was not given."),
        (["leaves", "-t", "class", "--csv", "delimiter=::"], "delimiter must be one ASCII char"),
    ],
)
def test_an_unknown_name_is_one_line_with_a_suggestion(arguments, message, capsys):
    err = refused(capsys, arguments[0], LABOR, *arguments[1:])
    assert re.search(re.escape(message).replace(r"\.\*", ".*"), err)


@pytest.mark.filterwarnings("always::UserWarning")
def test_csv_warnings_are_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    rows = "".join(f"{i},{'?' if i % 9 == 0 else 'ab'[i % 2]},{'ny'[i % 2]}\n" for i in range(40))
    path.write_text(f",colour,class\n{rows}")
    done = sureleaf_here("leaves", str(path), "-t", "class", "--json")
    notes = done.stderr.splitlines()
    assert done.returncode == 0
    assert notes[0].startswith("sureleaf: note: 1 column has no name and is called 'column 1'")
    assert notes[1].startswith("sureleaf: note: '?' is read as a category in column 'colour'")
    assert len(notes) == 2
    json.loads(done.stdout)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sureleaf ra", ["rank"]),
        (
            "sureleaf fit DATA --csv en",
            [f"encoding={name}" for name in ("utf-8", "utf-16", "windows-1252", "latin-1")],
        ),
    ],
)
def test_the_shell_completes_commands_and_words(line, words, monkeypatch):
    typed = line.replace("DATA", str(LABOR))
    monkeypatch.setenv("_SURELEAF_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" ")) - 1))
    # One of them as the shell runs it.
    done = sureleaf() if line == "sureleaf ra" else sureleaf_here()
    assert done.stderr == ""
    assert done.stdout.split() == words


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "", "-t", "class", "-o", "m"),
        ("fit", "--json", "", "-t", "class", "-o", "m"),
        ("fit", LABOR, "-t", "class", "-o", ""),
        ("fit", LABOR, "-t", "class", "--output="),
        ("predict", "m", ""),
        ("study", "run", "s.toml", "--store", ""),
    ],
)
def test_an_empty_name_of_a_file_is_not_this_folder(arguments, capsys):
    assert "an argument must not be empty; got one after" in refused(capsys, *arguments)


def test_a_column_and_a_cell_may_be_empty_texts(tmp_path, capsys):
    rows = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"": ["u", "v"] * 10, "n": range(20), "y": ["a", "b"] * 10}), rows)
    assert run(capsys, "leaves", rows, "-t", "y", "--drop", "", "--csv", "missing=")[0] == 0


def test_ctrl_c_while_a_library_makes_a_class_is_an_interrupt(capsys, monkeypatch):
    def raise_as_python_does(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise RuntimeError("Error calling __set_name__") from cause

    monkeypatch.setattr("sureleaf.cli.application._parser", raise_as_python_does)
    assert run(capsys, "doctor") == (130, "", "sureleaf: interrupted\n")


def test_a_terminal_without_unicode_gets_ascii_signs_of_the_same_width():
    """The signs of our own drawings and texts, and letters of the data as codes."""
    with codecs.getwriter("ascii")(io.BytesIO(), errors="sureleaf.plain") as stream:
        stream.write("├─●┤ \u22121.7 “é” ▁█")
        assert stream.getvalue() == b'|-o| -1.7 "\\xe9" 18'


def test_json_is_ascii_where_the_stream_is_not_utf_8(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", out)
    show_json({"größe": "\u22121"})
    out.flush()
    assert json.loads(out.buffer.getvalue().decode("ascii")) == {"größe": "\u22121"}


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_text_column_is_noted_once_with_the_cure_of_the_file(capsys, tmp_path):
    path = tmp_path / "ages.csv"
    ages = "".join(f"{age}.5;{'x' if age % 2 else 'z'}\n" for age in range(25))
    path.write_text(f"age;y\n{ages}30,5;x\n")
    _, _, err = run(capsys, "rank", path, "--target", "y")
    assert err.count("note") == 1
    assert "for commas, put semicolons" in err

"""The application: its commands, and errors as one line with exit code 2, without traceback."""

import errno
import functools
import inspect
import itertools
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

import sureleaf
from sureleaf.cli import (
    audit,
    certificate,
    compare,
    curve,
    diff,
    doctor,
    evaluate,
    explain,
    export,
    fit,
    leaves,
    plan,
    predict,
    rank,
    report,
    reproduce,
    study,
    test,
    update,
    watch,
)
from sureleaf.cli.output import exit_silently, flush, prepare_streams
from sureleaf.errors import InvalidArgumentError, TextColumnWarning, shortened
from sureleaf.formatting import visible
from sureleaf.progress import progress_enabled

# typer contains a copy of click since 0.16; before, it used the click package. In both, all errors
# about arguments derive from one class, which derives from Exception.
ArgumentError: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__base__ is Exception
)

INTERRUPTED = 130  # the exit code that shells use after Ctrl-C
TERMINATED = {"SIGTERM": 143, "SIGHUP": 129}  # and after these

application = typer.Typer(
    name="sureleaf",
    help="Decision trees that know how sure they are.",
    epilog="Help and examples for a command: sureleaf COMMAND --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        versions = doctor.installed_versions()
        parts = ("python", *doctor.REQUIRED[:3], "pyarrow")
        typer.echo(f"sureleaf {sureleaf.__version__}")
        typer.echo(", ".join([f"{n} {versions[n]}" for n in parts] + [str(versions["platform"])]))
        raise typer.Exit


@application.callback()
def _options(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the versions of Sureleaf and of what it runs on.",
    ),
) -> None:
    pass


def _add(command: Callable[..., None], **settings: Any) -> None:
    """Add a command; each paragraph and example of its help is one line, which is wrapped."""
    paragraphs = re.split(r"\n\n|\n(?=- )", inspect.cleandoc(command.__doc__ or ""))
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    application.command(help=text, **settings)(command)


# In the order of the help page. Each command has a file of its name.
for _command in (
    *(report.report, fit.fit, predict.predict, leaves.leaves, explain.explain),
    *(certificate.certificate, rank.rank, evaluate.evaluate, compare.compare, curve.curve),
    *(audit.audit, watch.watch, update.update, diff.diff, export.export),
):
    _add(_command)
_add(plan.plan, context_settings={"allow_extra_args": True})
# A negative number is a value, not an option.
_add(test.test, context_settings={"ignore_unknown_options": True})
_add(reproduce.reproduce)
application.add_typer(study.study)
_add(doctor.doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, by default on the arguments of this process, and exit.

    The code is 0 after success, 1 if --gate finds the new report or tree worse or if watch has an
    alarm, 2 (with one line on stderr) if the arguments or the data are wrong, 130 after Ctrl-C, 143
    after SIGTERM, 129 after SIGHUP (the terminal was closed).
    """
    prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        _refuse_empty(words)
        with (
            warnings.catch_warnings(),
            _clean_up_on_signals(),
            progress_enabled(sys.stderr.isatty()),
        ):
            warnings.showwarning = _Notes()
            code = _parser()(args=words, prog_name="sureleaf", standalone_mode=False)
            flush()
    except ArgumentError as error:
        _stop(_message(error))
    except (typer.Abort, KeyboardInterrupt):
        _stop("interrupted", code=INTERRUPTED)
    except sureleaf.SureleafError as error:
        _stop(str(error))
    except OSError as error:
        _stop(_of_system(error))
    except MemoryError as error:
        _stop(f"{_NO_MEMORY} ({str(error) or 'a part of it was refused'})")
    except RuntimeError as error:
        if not _is_of_thread_start(error):
            raise
        _stop(f"{_NO_MEMORY} ({error})")
    if code == INTERRUPTED:  # newer typer turns Ctrl-C into this instead of Abort
        _stop("interrupted", code=INTERRUPTED)
    sys.exit(code or 0)


_NO_MEMORY = (
    "not enough memory, or too many threads or processes. Free some, raise the limit (ulimit -a), "
    "or use fewer: --jobs 1, where a command has it"
)


def _is_of_thread_start(error: RuntimeError) -> bool:
    """Whether the system has refused a thread, for which Python has no error of its own."""
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is threading.Thread.start.__code__ for frame, _ in frames)


def _of_system(error: OSError) -> str:
    """Return the message of an error of the system; a closed pipe ends the command silently."""
    if error.errno == errno.EPIPE:
        exit_silently()
    if error.errno == errno.EBADF and error.filename is None:
        return (
            "standard output is closed, and what would be printed is lost. Files are complete. "
            "Open it: > FILE, or > /dev/null for nothing"
        )
    return f"{error.filename or 'output'}: {error.strerror or error}"


_MAY_BE_EMPTY = (
    *("--target", "-t", "--group", "--weight", "--drop", "--id", "--categorical", "--keep", "--by"),
    *("--positive", "--classes", "--csv", "--tree"),
)
"""The options whose value is not a name of a file: a column may have no name."""


def _refuse_empty(words: list[str]) -> None:
    """Raise an error for the name of a file that is empty: a path would mean this folder."""
    for before, word in itertools.pairwise(["sureleaf", *words]):
        option, equals, value = word.partition("=")
        is_empty_value = option.startswith("--") and equals and not value
        name = option if is_empty_value else before
        if (is_empty_value or not word) and name not in _MAY_BE_EMPTY:
            raise InvalidArgumentError(
                f"an argument must not be empty; got one after {name!r}. Give the name of a file, "
                "or . for this folder."
            )


@functools.cache  # a process that runs many commands builds it once
def _parser() -> Any:
    parser = typer.main.get_command(application)
    _hide_types_of_flags(parser, None)
    return parser


def _hide_types_of_flags(command: Any, parent: typer.Context | None) -> None:
    """Let --help show a flag without the type of its value: no value is given."""
    context = typer.Context(command, parent=parent, **command.context_settings)
    for option in command.get_params(context):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for subcommand in getattr(command, "commands", {}).values():
        _hide_types_of_flags(subcommand, context)


@contextmanager
def _clean_up_on_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that half-written files are removed.

    A signal that is ignored, as nohup has it, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    codes = {
        getattr(signal, name): code for name, code in TERMINATED.items() if hasattr(signal, name)
    }
    before = {number: signal.getsignal(number) for number in codes}
    replaced = {number: old for number, old in before.items() if old == signal.SIG_DFL}
    for number in replaced:
        signal.signal(number, lambda number, frame: sys.exit(codes[number]))
    try:
        yield
    finally:
        for number, old in replaced.items():
            signal.signal(number, old)


class _Notes:
    """Show each warning once; of a text column only the one of the file, which has the cure."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        text = _one_line(message)
        key = message.column if isinstance(message, TextColumnWarning) else text
        if key not in self._shown:
            self._shown.add(key)
            typer.echo(f"sureleaf: note: {text}", err=True)


def _message(error: Exception) -> str:
    """Return the message of an error about arguments, with suggestions for an unknown option."""
    options: list[str] = getattr(error, "possibilities", None) or []
    if options:
        return f"{getattr(error, 'message', error)}. Did you mean {' or '.join(options)}?"
    return str(getattr(error, "format_message", error.__str__)())


def _stop(message: str, *, code: int = 2) -> NoReturn:
    line = _one_line(message)
    if line:  # "sureleaf" without arguments has printed its help, and there is no message
        typer.echo(f"sureleaf: {line}", err=True)
    sys.exit(code)


def _one_line(message: object) -> str:
    return visible(" ".join(shortened(str(message)).split()))

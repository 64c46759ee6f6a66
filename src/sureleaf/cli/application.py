"""The frame that every command shares: one error line, exit code 2, no traceback."""

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

import sureleaf
from sureleaf.cli import (
    audit,
    compare,
    curve,
    evaluate,
    export,
    fit,
    leaves,
    plan,
    predict,
    rank,
    report,
    reproduce,
)
from sureleaf.cli.output import finish
from sureleaf.progress import progress_enabled

__all__ = ["application", "main"]

# Typer carries its own copy of click since 0.16 and used the click package before. Whichever it
# is, everything wrong with the arguments derives from one class right below Exception.
ArgumentProblem: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__base__ is Exception
)

INTERRUPTED = 130  # what shells report for a program stopped by Ctrl-C
TERMINATED = 143  # and by SIGTERM

application = typer.Typer(
    name="sureleaf",
    help="Decision trees that know how sure they are.",
    epilog="Every command explains itself, with examples: sureleaf COMMAND --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sureleaf {sureleaf.__version__}")
        raise typer.Exit


@application.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


# Every command, in the order of the help page: one file each, named after it.
application.command()(report.report)
application.command()(fit.fit)
application.command()(predict.predict)
application.command()(leaves.leaves)
application.command()(rank.rank)
application.command()(evaluate.evaluate)
application.command()(compare.compare)
application.command()(curve.curve)
application.command()(audit.audit)
application.command()(export.export)
application.command(context_settings={"allow_extra_args": True})(plan.plan)
application.command()(reproduce.reproduce)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, by default on the arguments of this process.

    Parameters
    ----------
    arguments : list of str, optional
        What follows the program's name; by default ``sys.argv[1:]``.

    Raises
    ------
    SystemExit
        Always: 0 when all went well, 1 when --gate finds the new report worse, 2 with one line
        on stderr when something was wrong with the arguments or the data, 130 when interrupted.

    Examples
    --------
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as stop:
    ...     print(stop.code)
    sureleaf 0.1.0
    0
    """
    try:
        with warnings.catch_warnings(), _ended_in_order(), progress_enabled(sys.stderr.isatty()):
            warnings.showwarning = _show_warning
            code = application(args=arguments, prog_name="sureleaf", standalone_mode=False)
            finish()
    except ArgumentProblem as problem:
        _stop(_told(problem))
    except (typer.Abort, KeyboardInterrupt):
        _stop("interrupted", code=INTERRUPTED)
    except sureleaf.SureleafError as problem:
        _stop(str(problem))
    except OSError as problem:
        _stop(f"{problem.filename or 'output'}: {problem.strerror or problem}")
    except MemoryError as problem:
        _stop(f"not enough memory: {problem}")
    if code == INTERRUPTED:  # newer typer turns Ctrl-C into this instead of Abort
        _stop("interrupted", code=INTERRUPTED)
    sys.exit(code or 0)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM unwind what is being done, so that no half-written file is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"sureleaf: note: {' '.join(str(message).split())}", err=True)


def _told(problem: Exception) -> str:
    """Return what was wrong with the arguments; an unknown option with the ones it may mean."""
    meant: list[str] = getattr(problem, "possibilities", None) or []
    if meant:
        return f"{getattr(problem, 'message', problem)}. Did you mean {' or '.join(meant)}?"
    return str(getattr(problem, "format_message", problem.__str__)())


def _stop(message: str, *, code: int = 2) -> NoReturn:
    line = " ".join(message.split())
    if line:  # a bare "sureleaf" has shown its help and has nothing to add
        typer.echo(f"sureleaf: {line}", err=True)
    sys.exit(code)

"""The frame that every command shares: one error line, exit code 2, no traceback."""

import sys

import click
import typer

import sureleaf

__all__ = ["application", "main"]

application = typer.Typer(
    name="sureleaf",
    help="Decision trees that know how sure they are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
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
    """Decision trees that know how sure they are."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, by default on the arguments of this process.

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
        application(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        _stop(error.format_message())
    except click.exceptions.Abort:
        _stop("interrupted", code=130)
    except (sureleaf.SureleafError, OSError) as error:
        _stop(str(error))
    sys.exit(0)


def _stop(message: str, *, code: int = 2) -> None:
    typer.echo(f"sureleaf: {message}", err=True)
    sys.exit(code)

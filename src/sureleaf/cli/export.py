"""``sureleaf export``: a saved model for other programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import output
from sureleaf.errors import InvalidArgumentError, suggestion

__all__ = ["export"]

# Importing sureleaf.exports here would slow down every command; a test compares the two.
_FORMS = ("rules", "json", "sql", "python", "dot", "svg", "onnx")


def export(
    model: given.SavedModel,
    to: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(_FORMS[:-1])} or {_FORMS[-1]}.",
            metavar="FORMAT",
            show_default="by the end of --output",
            autocompletion=output.words(*_FORMS),
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Where to.", metavar="FILE", show_default="standard output"
        ),
    ] = Path("-"),
    dialect: Annotated[
        str | None,
        typer.Option(
            help="Of sql: duckdb, sqlite or postgresql.",
            autocompletion=output.words("duckdb", "sqlite", "postgresql"),
            show_default="duckdb",
            rich_help_panel="SQL",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            help="Of sql: the table with the rows.", show_default="data", rich_help_panel="SQL"
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Of sql: column to select too; may be repeated.",
            metavar="COLUMN",
            rich_help_panel="SQL",
        ),
    ] = None,
    as_json: given.DoneAsJson = False,
) -> None:
    """Write a saved model as rules, SQL, Python, JSON, ONNX or a drawing.

    For example:

    - sureleaf export model.sureleaf --to rules

    - sureleaf export model.sureleaf --dialect sqlite --table t -o tree.sql

    - sureleaf export model.sureleaf -o tree.py

    - sureleaf export model.sureleaf -o tree.svg
    """
    from sureleaf import exports
    from sureleaf.cli.output import finish, show, show_json, standard_output
    from sureleaf.estimators import load
    from sureleaf.files.atomic_write import atomic_write

    to_screen = str(output) == "-"
    form = _form(to, output)
    if not to_screen:
        given.check_output(output)
    if as_json and to_screen:
        raise InvalidArgumentError("--json needs --output, so that the two do not mix.")
    options: dict[str, Any] = {"dialect": dialect, "table": table, "keep": keep or None}
    wanted = {name: value for name, value in options.items() if value is not None}
    written = exports.export(load(model), form, **wanted)
    content = written.encode() if isinstance(written, str) else written
    if isinstance(written, str) and not written.endswith("\n"):
        content += b"\n"
    if to_screen:
        with standard_output() as file:
            file.write(content)
        finish()
        return
    with atomic_write(output) as file:
        file.write(content)
    if as_json:
        show_json({"output": str(output), "format": form, "bytes": len(content)})
    else:
        show(f"Written: {output} ({form}, {len(content):,} bytes)")


def _form(to: str | None, output: Path) -> str:
    """Give the format asked for, or the one that the output's name ends in."""
    from sureleaf.exports import FORMATS

    if to is None:
        form_of = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
        to = form_of.get(output.suffix.lower())
        if to is None:
            raise InvalidArgumentError(
                f"--to must be one of {', '.join(FORMATS)}, or --output must end in "
                f"{', '.join(form_of)}; got neither."
            )
    form = "rules" if to == "text" else to
    if form not in FORMATS:
        raise InvalidArgumentError(
            f"--to must be one of {', '.join(FORMATS)}; got {to!r}."
            f"{suggestion(to, tuple(FORMATS), listed=False)}"
        )
    return form

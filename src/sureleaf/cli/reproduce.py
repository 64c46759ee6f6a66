"""``sureleaf reproduce``: a source document recomputed, cell by cell."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli.output import show, show_json

__all__ = ["reproduce"]


def reproduce(
    document: Annotated[str, typer.Argument(help="The document: zhang2024.")],
    table: Annotated[
        list[int] | None,
        typer.Option("--table", "-t", help="Show this table cell by cell; may be repeated."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Draw the figures there, as SVG and PNG."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Recompute a source document and say of every printed figure what it is.

    It agrees with the document's own definition, comes from another computation (which is
    named), or is a misprint.

    For example:

    - sureleaf reproduce zhang2024

    - sureleaf reproduce zhang2024 --table 4

    - sureleaf reproduce zhang2024 --figures figures

    - sureleaf reproduce zhang2024 --json
    """
    from sureleaf.report import reproduce as room
    from sureleaf.report.reproduce import text

    found = room.reproduce(document)
    if table:
        found = found.only(f"table {number}" for number in table)
    drawn = [str(path) for path in room.draw_figures(document, figures)] if figures else []
    if as_json:
        show_json(found.to_dict() | ({"figures": drawn} if figures else {}))
    elif table:
        for part in found.parts:
            show(*text.cell_by_cell(part), "")
    else:
        show("", *text.summary(found))
        show(f"[dim]Cell by cell: sureleaf reproduce {document} --table 4[/dim]")
    if drawn and not as_json:
        show("", *(f"Drawn: {path}" for path in drawn))

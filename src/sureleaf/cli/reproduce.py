"""``sureleaf reproduce``: recompute the figures of a source document."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import options
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

__all__ = ["reproduce"]


def reproduce(
    document: Annotated[
        str,
        typer.Argument(metavar="DOCUMENT", help="zhang2024, xu2022, aw or chawla2006."),
    ],
    table: Annotated[
        list[int] | None,
        typer.Option(
            "--table", "-t", metavar="NUMBER", help="Show this table cell by cell; may be repeated."
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            "-p",
            metavar="NAME",
            help="Show this part, by its name, cell by cell; may be repeated.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder to draw the figures into, as SVG and PNG."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with the data sets of chawla2006."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Recompute a source document and compare every printed figure.

    Each figure agrees with the definition in the document, comes from another
    computation (which is named), or is a misprint.

    For example:

    - sureleaf reproduce zhang2024

    - sureleaf reproduce zhang2024 --table 4

    - sureleaf reproduce zhang2024 --figures figures

    - sureleaf reproduce aw --part "two algorithms"

    - sureleaf reproduce zhang2024 --json

    - sureleaf reproduce chawla2006 --data data
    """
    if document == "chawla2006":
        if table or part:
            raise InvalidArgumentError(
                "--table and --part do not go with chawla2006. Leave them out."
            )
        _run_study(data, figures, as_json=as_json)
        return
    if data is not None:
        raise InvalidArgumentError(
            f"--data goes with chawla2006 only; got it with {document!r}. Leave it out."
        )
    from sureleaf import reproduce as documents
    from sureleaf.reproduce import text

    result = documents.reproduce(document)
    names = [f"table {number}" for number in table or []] + (part or [])
    if names:
        result = result.only(names)
    drawn = [str(path) for path in documents.draw_figures(document, figures)] if figures else []
    if as_json:
        show_json(result.to_dict() | ({"figures": drawn} if figures else {}))
    elif names:
        for chosen in result.parts:
            show(*text.part_text(chosen), "")
    else:
        show("", *text.summary_text(result))
        last = result.parts[-1].name
        show(f'[dim]Cell by cell: sureleaf reproduce {document} --part "{last}"[/dim]')
    if drawn and not as_json:
        show("", *(f"Drawn: {path}" for path in drawn))


def _run_study(data: Path | None, figures: Path | None, *, as_json: bool) -> None:
    """Repeat the experiment of chawla2006; the direction of effects is compared, not digits."""
    from sureleaf.reproduce import chawla2006
    from sureleaf.reproduce.chawla2006.text import study_text

    study = chawla2006.reproduce(data)
    drawn = [str(path) for path in chawla2006.draw_figures(figures, study)] if figures else []
    if as_json:
        show_json(study.to_dict() | ({"figures": drawn} if figures else {}))
    else:
        show(*study_text(study), *(f"Drawn: {path}" for path in drawn))

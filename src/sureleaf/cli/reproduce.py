"""``sureleaf reproduce``: recompute the figures of a source document."""

import sys
from pathlib import Path
from typing import Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

_EXPERIMENT = "The experiment of chawla2006"


@options.with_options(
    document=typer.Argument(metavar="DOCUMENT", help="zhang2024, xu2022, aw or chawla2006."),
    more_tables=typer.Argument(metavar="[TABLE]...", help="Further files of --tables."),
    part=option(
        "Show this part, by its name, cell by cell, such as 'table 4'; may be repeated.",
        "-p",
        metavar="NAME",
    ),
    figures=option("Folder to draw the figures into, as SVG and PNG.", metavar="DIR"),
    data=option("Folder with the data sets of the document.", metavar="DIR", panel=_EXPERIMENT),
    tables=option(
        "Tables of your own instead, of two classes; further files may follow.",
        metavar="TABLE",
        panel=_EXPERIMENT,
    ),
    target=options.column(
        "Column to predict, once for all tables or once per table.", panel=_EXPERIMENT
    ),
    repeats=option("How often 30 % of the rows are held out.", min=1, panel=_EXPERIMENT),
    store=option(
        "Where predictions are kept, so that an interrupted run can go on.",
        metavar="URL",
        panel=_EXPERIMENT,
    ),
)
def reproduce(
    document: str,
    more_tables: list[Path] | None = None,
    part: list[str] | None = None,
    figures: Path | None = None,
    data: Path | None = None,
    tables: list[Path] | None = None,
    target: list[str] | None = None,
    repeats: int = 10,
    store: str | None = None,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Recompute a source document and compare every printed figure.

    Each figure agrees with the definition in the document, comes from another
    computation (which is named), or is a misprint. How to do the same with your own
    table: docs/papers has a page per document (zhang, chawla, xu, aw).

    For example:
    - sureleaf reproduce zhang2024
    - sureleaf reproduce zhang2024 --part "table 4"
    - sureleaf reproduce zhang2024 --figures figures
    - sureleaf reproduce aw --part "two algorithms"
    - sureleaf reproduce zhang2024 --json
    - sureleaf reproduce chawla2006 --data data
    - sureleaf reproduce chawla2006 --tables a.csv b.csv --target class
      --store run.db
    """
    own_tables = [*(tables or []), *(more_tables or [])]
    if document == "chawla2006":
        if part:
            raise InvalidArgumentError("--part does not go with chawla2006. Leave it out.")
        running = {"repeats": repeats, "store": store, "n_jobs": jobs or 1}
        _run_experiment(data, own_tables, target or [], figures, as_json, running)
        return
    given = {"--data": data, "--tables": own_tables, "--target": target, "--store": store}
    for name in (name for name, value in given.items() if value):
        raise InvalidArgumentError(
            f"{name} goes with chawla2006 only; got it with {document!r}. Leave it out."
        )
    from sureleaf import reproduce as documents
    from sureleaf.reproduce import text

    result = documents.reproduce(document)
    if part:
        result = result.only(part)
    drawn = [str(path) for path in documents.draw_figures(document, figures)] if figures else []
    if as_json:
        show_json(result.to_dict() | ({"figures": drawn} if figures else {}))
    elif part:
        for chosen in result.parts:
            show(*text.part_text(chosen), "")
    else:
        show("", *text.summary_text(result))
        last = result.parts[-1].name
        show(f'[dim]Cell by cell: sureleaf reproduce {document} --part "{last}"[/dim]')
    if drawn and not as_json:
        show("", *(f"Drawn: {path}" for path in drawn))


def _run_experiment(
    data: Path | None,
    own_tables: list[Path],
    target: list[str],
    figures: Path | None,
    as_json: bool,
    running: dict[str, Any],
) -> None:
    """Run the experiment on the data sets of the document, or on tables of one's own."""
    from functools import partial

    from sureleaf.cli.study import draw_progress
    from sureleaf.reproduce import chawla2006
    from sureleaf.reproduce.chawla2006 import text

    if own_tables and data is not None:
        raise InvalidArgumentError("--data and --tables do not go together. Leave one out.")
    if bool(own_tables) != bool(target):
        raise InvalidArgumentError(
            "--tables and --target go together: tables, and their column to predict. For example: "
            "--tables a.csv b.csv --target class"
        )
    is_terminal = sys.stderr.isatty()
    report_progress = draw_progress if is_terminal else None
    run: Any = partial(chawla2006.run_experiment, **running, report_progress=report_progress)
    if own_tables:
        experiment = run(chawla2006.read_tables(own_tables, target))
        shown, found, names = text.experiment_text(experiment), experiment.to_dict(), None
    else:
        replication = chawla2006.reproduce(data, run)
        experiment, names = replication.experiment, ["mammography"]
        shown, found = text.replication_text(replication), replication.to_dict()
    if is_terminal:
        sys.stderr.write("\n")
    drawn: list[str] = []
    if figures is not None:
        paths = chawla2006.draw_figures(figures, experiment, histograms_of=names)
        drawn = [str(path) for path in paths]
    if as_json:
        show_json(found | ({"figures": drawn} if figures else {}))
    else:
        show(*shown, *(f"Drawn: {path}" for path in drawn))

"""``sureleaf report``: a table and a target in, the answer and its page out."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.cli.output import repeat_command, sha256
from sureleaf.errors import InvalidArgumentError
from sureleaf.progress import watched

if TYPE_CHECKING:
    from sureleaf.report.request import Progress

__all__ = ["page_path", "report"]


def report(
    context: typer.Context,
    data: given.Data,
    target: given.Target,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page.",
            show_default="DATA's name with -report.html; none if only --json is given",
        ),
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write every number there, too; - prints it."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The class looked for.", show_default="the rarest")
    ] = None,
    cost: given.Cost = None,
    group: given.Group = None,
    weight: given.Weight = None,
    drop: read.Drop = None,
    confidence: given.Confidence = 0.95,
    utility: given.Utility = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Differences of accuracy up to this size count as none.",
            show_default="0.01, less where a class is rare",
        ),
    ] = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    jobs: given.Jobs = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
) -> None:
    """Grow a tree and report how far it can be trusted: one page, and every number as JSON.

    For example:

    - sureleaf report data.csv --target class

    - sureleaf report data.csv --target class -o report.html --json report.json

    - sureleaf report data.csv -t class --cost "0,5;1,0" --drop id

    - sureleaf report visits.parquet --target ill --group patient --json -
    """
    from sureleaf.report import make_report
    from sureleaf.report.question import read_question
    from sureleaf.report.request import Origin

    printed = as_json is not None and str(as_json) == "-"
    page = page_path(data, output, as_json)
    known = read.csv_format(delimiter, encoding, decimal, missing)
    asked = read_question(data, target, group=group, weight=weight, drop=drop or (), csv=known)
    origin = Origin(
        target,
        source=data.name,
        title=title,
        command=repeat_command(context, "report", data),
        data_sha256=sha256(data),
        group=group,
        weight=weight,
        rows_left_out=asked.n_left_out,
        columns_left_out=tuple(drop or []),
    )
    with _progress(shown=sys.stderr.isatty()) as tell:
        made = make_report(
            asked.X,
            asked.y,
            origin=origin,
            positive=given.read_label(positive, asked.y),
            cost=None if cost is None else given.read_cost(cost, asked.y),
            groups=asked.groups,
            sample_weight=asked.weights,
            level=level,
            confidence=confidence,
            utility=utility,
            margin=margin,
            seed=seed,
            n_jobs=jobs,
            progress=tell,
        )
    _write(made, page, as_json)
    if not printed:
        _show(made, page, as_json, asked.n_left_out)


def page_path(data: Path, output: Path | None, as_json: Path | None) -> Path | None:
    """Return where the page goes; nowhere if only the numbers are asked for.

    Examples
    --------
    >>> str(page_path(Path("data.csv"), None, None)), page_path(Path("data.csv"), None, Path("-"))
    ('data-report.html', None)
    """
    if output is None and as_json is None:
        name = "standard-input" if str(data) == "-" else data.name.split(".")[0] or data.stem
        output = Path(f"{name}-report.html")
    for path in (output, as_json):
        if path is None or (path is as_json and str(path) == "-"):
            continue
        given.check_output(path)
        if path.absolute() == data.absolute():
            raise InvalidArgumentError(f"the report must not overwrite the data; got {path}.")
    return output


@contextmanager
def _progress(*, shown: bool) -> Iterator["Progress | None"]:
    """Draw a bar with the stage and the time left, if somebody watches."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    # Bars of the work within would be drawn over this one.
    with (
        watched(False),
        Progress(
            TextColumn("{task.description:<36}"),
            BarColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar,
    ):
        task = bar.add_task("", total=1.0)
        yield lambda stage, share: bar.update(task, description=stage, completed=share)


def _write(made: Any, page: Path | None, as_json: Path | None) -> None:
    from sureleaf.cli.output import show_json

    if as_json is not None:
        if str(as_json) == "-":
            show_json(made.to_dict())
        else:
            made.to_json(as_json)
    if page is not None:
        made.to_html(page)


def _show(made: Any, page: Path | None, as_json: Path | None, n_left_out: int) -> None:
    from rich.text import Text

    from sureleaf.cli.output import show
    from sureleaf.report.terminal import show_report

    shown: list[Any] = [*show_report(made.document), *given.left_out(n_left_out), ""]
    shown += [Text(f"Report: {path}") for path in (page, as_json) if path is not None]
    show(*shown)

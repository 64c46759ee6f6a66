"""``sureleaf report``: fit a tree to a table and report how far it can be trusted."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.output import repeat_command, sha256
from sureleaf.errors import InvalidArgumentError
from sureleaf.progress import progress_enabled

if TYPE_CHECKING:
    from sureleaf.report.request import Progress

__all__ = ["page_path", "report", "time_left"]


@options.with_tree_options
@options.with_csv_options
def report(
    context: typer.Context,
    data: options.Data,
    target: options.Target,
    tree_options: dict[str, Any],
    csv: "options.CsvFormat",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="HTML page to write.",
            show_default="DATA-report.html; no page if only --json is given",
        ),
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write all numbers to this JSON file, too; - prints them.",
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The positive class.", show_default="the rarest class")
    ] = None,
    cost: options.Cost = None,
    group: options.Group = None,
    weight: options.Weight = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    confidence: options.Confidence = 0.95,
    utility: options.Utility = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="TREE|FILE",
            help="TreeClassifier or TreeClassifier.c45 with parameters in parentheses, or a saved "
            "tree, which is reported as it is; --cost changes only what its leaves decide.",
            show_default="TreeClassifier",
        ),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    overwrite: options.Overwrite = False,
    jobs: options.Jobs = None,
) -> None:
    """Fit a tree and report how far it can be trusted, as a page and as JSON.

    Differences in accuracy up to --margin do not matter: for the size of the tree, and where it is
    compared with other models.

    For example:

    - sureleaf report data.csv --target class

    - sureleaf report data.csv --target class -o report.html --json report.json

    - sureleaf report data.csv -t class --cost "0,5;1,0" --drop id

    - sureleaf report data.csv -t class --max-leaves 8

    - sureleaf report data.csv -t class --tree c45

    - sureleaf report visits.parquet --target ill --group patient --json -
    """
    from sureleaf.report import make_report
    from sureleaf.report.question import read_question
    from sureleaf.report.request import Origin

    prints_json = as_json is not None and str(as_json) == "-"
    page = page_path(data, output, as_json, model, cost, overwrite=overwrite)
    question = read_question(
        data,
        target,
        group=group,
        weight=weight,
        drop=drop or (),
        categorical=categorical or (),
        csv=csv,
    )
    origin = Origin(
        target,
        source=data.name,
        title=title,
        command=repeat_command(context, "report", data),
        data_sha256=sha256(data),
        group=group,
        weight=weight,
        rows_left_out=question.n_left_out,
        columns_left_out=tuple(drop or []),
    )
    with _progress(shown=sys.stderr.isatty()) as progress:
        result = make_report(
            question.X,
            question.y,
            origin=origin,
            positive=options.read_label(positive, question.y),
            cost=None if cost is None else options.read_cost(cost, question.y),
            groups=question.groups,
            sample_weight=question.weights,
            level=level,
            confidence=confidence,
            utility=utility,
            margin=tree_options.get("margin"),
            seed=seed,
            n_jobs=jobs,
            progress=progress,
            tree=_tree(model, tree_options, question.X),
        )
    _write(result, page, as_json)
    if not prints_json:
        _show(result, page, as_json, question.n_left_out)


def _tree(model: str | None, tree_options: dict[str, Any], X: Any) -> Any:
    """Return the tree to report on: a saved one, the one that is named, or that of the options."""
    from sureleaf.report.predictions import is_model, load_tree

    if model is not None and not tree_options and is_model(Path(model)):
        return load_tree(Path(model), "report")
    return options.evaluated_model(model, tree_options, X)


def page_path(
    data: Path,
    output: Path | None,
    as_json: Path | None,
    *also_read: str | None,
    overwrite: bool = False,
) -> Path | None:
    """Return the file of the page; None if only JSON is requested."""
    if output is None and as_json is None:
        name = "standard-input" if str(data) == "-" else data.name.split(".")[0] or data.stem
        output = Path(f"{name}-report.html")
    for path in (output, as_json):
        if path is None or (path is as_json and str(path) == "-"):
            continue
        options.check_output(path, data, *also_read, overwrite=overwrite)
    if output is not None and as_json is not None and output.absolute() == as_json.absolute():
        raise InvalidArgumentError(
            f"--output and --json must be different files; got {output} for both."
        )
    return output


@contextmanager
def _progress(*, shown: bool) -> Iterator["Progress | None"]:
    """Draw a bar with the stage, the time that has passed and the time that is left."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    # Bars of the work inside would be drawn over this one.
    with (
        progress_enabled(False),
        Progress(
            TextColumn("{task.description:<40}"),
            BarColumn(bar_width=None),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]:<18}"),
            console=Console(stderr=True),
            transient=True,
        ) as bar,
    ):
        task, began = bar.add_task("", total=1.0, left=""), time.monotonic()

        def tell(stage: str, share: float) -> None:
            left = time_left(share, time.monotonic() - began)
            bar.update(task, description=stage, completed=share, left=left)

        yield tell


def time_left(share: float, seconds: float) -> str:
    """Return about how long the work will still take, given what is done and what it took.

    Examples
    --------
    >>> time_left(0.25, 30), time_left(0.5, 8), time_left(0.0, 3), time_left(1.0, 9)
    ('about 1:30 left', 'about 8 s left', '', '')
    """
    if share < LEAST_SHARE or share >= 1:
        return ""
    left = round(seconds * (1 - share) / share)
    return f"about {left // 60}:{left % 60:02} left" if left >= 60 else f"about {left} s left"


LEAST_SHARE = 0.02
"""Of the work that must be done before the rest is estimated."""


def _write(result: Any, page: Path | None, as_json: Path | None) -> None:
    from sureleaf.cli.output import show_json

    if as_json is not None and str(as_json) == "-":
        show_json(result.to_dict())
        as_json = None
    if page is not None and as_json is not None:
        result.save(page, as_json)
    elif page is not None:
        result.to_html(page)
    elif as_json is not None:
        result.to_json(as_json)


def _show(result: Any, page: Path | None, as_json: Path | None, n_left_out: int) -> None:
    from rich.text import Text

    from sureleaf.cli.output import show
    from sureleaf.report.terminal import show_report

    shown: list[Any] = [*show_report(result.document)]
    shown += [*options.unlabelled_note(n_left_out), ""]
    shown += [Text(f"Report: {path}") for path in (page, as_json) if path is not None]
    show(*shown)

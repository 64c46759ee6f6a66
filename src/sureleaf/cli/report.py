"""``sureleaf report``: fit a tree to a table and report how far it can be trusted."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import repeat_command, sha256, show, show_json
from sureleaf.errors import InvalidArgumentError
from sureleaf.progress import ProgressBar, progress_enabled

if TYPE_CHECKING:
    from sureleaf.report.request import Progress


@options.with_options(
    output=option(
        "HTML page to write.", "-o", default="DATA-report.html; no page if only --json is given"
    ),
    as_json=option(
        "Write all numbers to this JSON file, too; - prints them.", "--json", metavar="FILE"
    ),
    one_page=option("Write only the first screen, which prints on a page."),
    save_model=option("Save the fitted tree, as sureleaf fit does.", metavar="FILE"),
    label=option("Name of a class on the page; may be repeated.", metavar="CLASS=NAME"),
    unit=option("Unit of the costs, such as €.", metavar="TEXT"),
    against=option(
        "A further model to compare the tree with, by its full name, such as "
        "sklearn.naive_bayes.GaussianNB; may be repeated.",
        metavar="CLASSIFIER",
    ),
    model=option(
        "TreeClassifier or TreeClassifier.c45 with parameters in parentheses, or a saved tree of "
        "these rows, which is reported as it is; --cost changes only what its leaves decide.",
        "-m",
        metavar="TREE|FILE",
        default="TreeClassifier",
    ),
    classes=options.REPORTED_CLASSES,
    tree=options.tree_options("max_leaves", "margin"),
    table=options.table_options(),
)
def report(
    context: typer.Context,
    data: options.Data,
    target: options.Target,
    classes: options.Classes,
    tree: "options.TreeOptions",
    table: options.TableOptions,
    output: Path | None = None,
    as_json: Path | None = None,
    one_page: bool = False,
    save_model: Path | None = None,
    label: list[str] | None = None,
    unit: str | None = None,
    against: list[str] | None = None,
    confidence: options.Confidence = 0.95,
    model: str | None = None,
    level: options.IntervalLevel = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
) -> None:
    """Fit a tree and report how far it can be trusted, as a page and as JSON.

    Differences in accuracy up to --margin do not matter: for the size of the tree, and where it is
    compared with other models.

    For example:
    - sureleaf report data.csv --target class
    - sureleaf report data.csv --target class -o report.html --json report.json
    - sureleaf report data.csv -t class --cost "0,5;1,0" --drop id
    - sureleaf report loans.csv -t bad --label 1=default --label 0=paid
      --cost "0,1;5,0" --unit €
    - sureleaf report data.csv -t class --max-leaves 8 --save-model tree.sureleaf
    - sureleaf report visits.parquet --target ill --group patient --json -
    """
    from sureleaf.commands.learners import read_model
    from sureleaf.report import make_report
    from sureleaf.report.request import Origin

    page = page_path(data, output, as_json, model, classes.cost)
    if save_model is not None:
        options.check_output(save_model, data, model, classes.cost, page, as_json)
    question = table.read(data, target)
    origin = Origin(
        target,
        source=data.name,
        command=repeat_command(context, "report", data),
        data_sha256=sha256(data),
        group=table.group,
        weight=table.weight,
        rows_left_out=question.n_left_out,
        columns_left_out=table.drop,
    )
    with _progress() as progress:
        result = make_report(
            question.X,
            question.y,
            origin=origin,
            **classes.arguments(question),
            level=level,
            confidence=confidence,
            margin=tree.parameters.get("margin"),
            seed=seed,
            n_jobs=jobs,
            progress=progress,
            tree=_tree(model, tree, question.X),
            labels=options.read_names(label or (), question.y),
            unit=unit,
            against=[read_model(name, question.X, "--against") for name in against or ()],
        )
    if save_model is not None:
        result.tree.save(save_model)
    is_printed = str(as_json) == "-"
    if is_printed:
        show_json(result.to_dict())
    if page is not None or not is_printed:
        result.save(page, None if is_printed else as_json, one_page=one_page)
    if not is_printed:
        _show(result, question.n_left_out, page, as_json, save_model)


def _tree(model: str | None, tree: "options.TreeOptions", X: Any) -> Any:
    """Return the tree to report on: a saved one, the one that is named, or that of the options."""
    from sureleaf.commands.predictions import is_model, load_tree

    if model is not None and not tree.written and is_model(Path(model)):
        return load_tree(Path(model), "report")
    return options.evaluated_model(model, tree, X)


def page_path(
    data: Path, output: Path | None, as_json: Path | None, *also_read: str | None
) -> Path | None:
    """Return the file of the page; None if only JSON is requested."""
    if output is None and as_json is None:
        name = "standard-input" if str(data) == "-" else data.name.split(".")[0] or data.stem
        output = Path(f"{name}-report.html")
    for path in (output, as_json):
        if path is None or (path is as_json and str(path) == "-"):
            continue
        options.check_output(path, data, *also_read)
    if output is not None and as_json is not None and output.absolute() == as_json.absolute():
        raise InvalidArgumentError(
            f"--output and --json must be different files; got {output} for both."
        )
    return output


@contextmanager
def _progress() -> Iterator["Progress | None"]:
    """Draw one bar for all stages, on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with progress_enabled(False), ProgressBar("Reporting", 1.0) as bar:
        yield lambda stage, share: bar.update(share, stage)


def _show(result: Any, n_left_out: int, *written: Path | None) -> None:
    from rich.text import Text

    from sureleaf.commands.terminal import saved_expectation, show_report

    shown: list[Any] = [*show_report(result.document)]
    shown += [*options.unlabelled_note(n_left_out), ""]
    names = ("Report", "Report", "Saved")
    shown += [Text(f"{name}: {path}") for name, path in zip(names, written, strict=True) if path]
    if written[-1] is not None:
        model = result.tree.complete_model()
        shown.append(Text(saved_expectation(model, result.document.data.unit), style="dim"))
    show(*shown)

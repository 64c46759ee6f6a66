"""``sureleaf audit``: a model of any library, held to what rows say."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.cli.output import repeat_command, sha256
from sureleaf.errors import InvalidArgumentError

__all__ = ["audit"]


def audit(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A fitted model: .sureleaf, .skops, .joblib, .pkl, LightGBM's .txt, "
            "XGBoost's .json.",
        ),
    ],
    data: given.Data,
    target: given.Target,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a page, too: audit.html."),
    ] = None,
    rows: Annotated[
        str, typer.Option(help="What the rows were to the model: unseen or training.")
    ] = "unseen",
    trust_pickle: Annotated[
        bool,
        typer.Option(
            "--trust-pickle", help="Load a pickle, which runs whatever code is in it, as you."
        ),
    ] = False,
    trust: Annotated[
        list[str] | None,
        typer.Option(help="A type that a .skops file may hold; can be repeated.", metavar="TYPE"),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="Labels in the order of the model's probabilities, 'no,yes', for boosters.",
            show_default="those of the model",
        ),
    ] = None,
    bins: Annotated[int, typer.Option(help="Bins of the stated probability.")] = 10,
    confidence: given.Confidence = 0.95,
    utility: given.Utility = None,
    level: given.Level = 0.95,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Hold a fitted model to rows that it has not seen: leaf by leaf, or by stated probability.

    For example:

    - sureleaf audit tree.skops data.csv --target class

    - sureleaf audit tree.skops data.csv --target class -o audit.html

    - sureleaf audit forest.joblib data.csv --target class --trust-pickle --json

    - sureleaf audit booster.txt data.csv --target class --classes "no,yes"
    """
    from rich.text import Text

    from sureleaf import auditing as room
    from sureleaf.cli.output import show, show_json
    from sureleaf.errors import TrainingRowsWarning
    from sureleaf.report.audit_report import audit_document, write_audit
    from sureleaf.report.question import read_question
    from sureleaf.report.request import Origin
    from sureleaf.report.terminal import show_audit

    _check_output(output, model, data)
    loaded = room.load_model(model, trust_pickle=trust_pickle, trust=trust or ())
    known = read.csv_format(delimiter, encoding, decimal, missing)
    asked = read_question(data, target, drop=drop or (), csv=known)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingRowsWarning)
        found = room.audit(
            loaded,
            asked.X,
            asked.y,
            rows=rows,
            level=level,
            confidence=confidence,
            utility=utility,
            n_bins=bins,
            classes=None if classes is None else given.read_labels(classes, asked.y),
        )
    for warning in caught:
        typer.echo(f"sureleaf: {' '.join(str(warning.message).split())}", err=True)
    origin = Origin(
        target,
        source=data.name,
        command=repeat_command(context, "audit", model, data),
        data_sha256=sha256(data),
        rows_left_out=asked.n_left_out,
        columns_left_out=tuple(drop or ()),
    )
    if output is not None or as_json:
        document = audit_document(found, origin, model_file=model.name)
    if output is not None:
        write_audit(document, output)
    if as_json:
        show_json(document)
        return
    show(*show_audit(found), *given.left_out(asked.n_left_out))
    if output is not None:
        show("", Text(f"Page: {output}"))


def _check_output(output: Path | None, *read_files: Path) -> None:
    given.check_output(output)
    for file in read_files:
        if output is not None and output.absolute() == file.absolute():
            raise InvalidArgumentError(
                f"--output must not overwrite what is audited; got {output}."
            )

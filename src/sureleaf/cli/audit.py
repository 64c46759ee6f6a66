"""``sureleaf audit``: check a fitted model of any library on unseen rows."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import options
from sureleaf.cli.output import repeat_command, sha256

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
    data: options.Data,
    target: options.Target,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write an HTML page, too, such as audit.html."
        ),
    ] = None,
    rows: Annotated[
        str, typer.Option(help="Whether the rows are unseen or the training rows of the model.")
    ] = "unseen",
    trust_pickle: Annotated[
        bool,
        typer.Option(
            "--trust-pickle",
            help="Load a pickle file. It can run any code, so use this only for files you trust.",
        ),
    ] = False,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            help="A type that a .skops file may contain; may be repeated.", metavar="TYPE"
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="For boosters: the labels in the order of the probabilities, such as 'no,yes'.",
            show_default="those of the model",
        ),
    ] = None,
    where: Annotated[
        bool,
        typer.Option("--where", help="Find segments of the rows in which the model is wrong."),
    ] = False,
    of: Annotated[
        str,
        typer.Option(help="The error of --where and --by: calibration, accuracy or cost."),
    ] = "calibration",
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A table per value of a column; may be repeated."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Compare with another fitted model on the same rows.",
            show_default="none",
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="The measure of --against, such as accuracy, auc or nce.")
    ] = "accuracy",
    positive: options.Positive = None,
    cost: options.Cost = None,
    group: options.Group = None,
    weight: options.Weight = None,
    seed: options.Seed = 0,
    bins: Annotated[int, typer.Option(help="Number of bins of the predicted probability.")] = 10,
    confidence: options.Confidence = 0.95,
    utility: options.Utility = None,
    level: options.Level = 0.95,
    drop: options.Drop = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Check a fitted model on unseen rows, and find the segments where it is wrong.

    For example:

    - sureleaf audit tree.skops data.csv --target class

    - sureleaf audit tree.skops data.csv --target class -o audit.html

    - sureleaf audit tree.skops data.csv --target class --where --by colour

    - sureleaf audit forest.joblib data.csv --target class --trust-pickle --json

    - sureleaf audit booster.txt data.csv --target class --classes "no,yes"
    """
    from rich.text import Text

    from sureleaf import auditing
    from sureleaf.cli.output import show, show_json
    from sureleaf.errors import TrainingRowsWarning
    from sureleaf.report.audit_report import audit_document, write_audit
    from sureleaf.report.question import read_question
    from sureleaf.report.request import Origin
    from sureleaf.report.terminal import show_audit, show_subgroups, show_where

    options.check_output(output, model, data, overwrite=overwrite)
    files = [model, *([] if against is None else [against])]
    loaded = [
        auditing.load_model(file, trust_pickle=trust_pickle, trust=trust or ()) for file in files
    ]
    csv = options.csv_format(delimiter, encoding, decimal, missing)
    question = read_question(data, target, group=group, weight=weight, drop=drop or (), csv=csv)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingRowsWarning)
        result, *others = (
            auditing.audit(
                one,
                question.X,
                question.y,
                rows=rows,
                level=level,
                confidence=confidence,
                utility=utility,
                n_bins=bins,
                classes=None if classes is None else options.read_labels(classes, question.y),
                cost=None if cost is None else options.read_cost(cost, question.y),
                sample_weight=question.weights,
                groups=question.groups,
            )
            for one in loaded
        )
    label = options.read_label(positive, question.y)
    segments = result.where(of, positive=label, random_state=seed) if where else None
    groups = result.by(*by, of=of, positive=label) if by else None
    comparison = result.compare(others[0], measure=measure) if others else None
    compared = None if comparison is None else (others[0].model, comparison)
    for warning in caught:
        typer.echo(f"sureleaf: {' '.join(str(warning.message).split())}", err=True)
    origin = Origin(
        target,
        source=data.name,
        command=repeat_command(context, "audit", model, data),
        data_sha256=sha256(data),
        rows_left_out=question.n_left_out,
        columns_left_out=tuple(drop or ()),
    )
    if output is not None or as_json:
        document = audit_document(
            result, origin, model_file=model.name, where=segments, by=groups, comparison=compared
        )
    if output is not None:
        write_audit(document, output)
    if as_json:
        show_json(dict(document))
        return
    show(*show_audit(result), *options.unlabelled_note(question.n_left_out))
    if segments is not None:
        show("", *show_where(segments))
    if groups is not None:
        show("", *show_subgroups(groups, level))
    if comparison is not None:
        show("", Text(str(comparison)))
    if output is not None:
        show("", Text(f"Page: {output}"))

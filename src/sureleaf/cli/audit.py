"""``sureleaf audit``: check a fitted model of any library on unseen rows."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.output import repeat_command, sha256
from sureleaf.errors import InvalidArgumentError

__all__ = ["audit"]


@options.with_csv_options
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
    csv: "options.CsvFormat",
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
    batches: Annotated[
        bool,
        typer.Option(
            "--batches",
            help="Read the file in batches, because it is larger than memory. A folder is always "
            "read in batches. --where needs a file in memory.",
        ),
    ] = False,
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

    - sureleaf audit model.sureleaf folder-of-parquet --target class
    """
    from rich.text import Text

    from sureleaf import auditing
    from sureleaf.cli.output import show, show_json
    from sureleaf.errors import TrainingRowsWarning
    from sureleaf.report.audit_report import audit_document, write_audit
    from sureleaf.report.request import Origin
    from sureleaf.report.terminal import show_audit, show_subgroups, show_where

    options.check_output(output, model, data, against, cost, overwrite=overwrite)
    files = [model, *([] if against is None else [against])]
    loaded = [
        auditing.load_model(file, trust_pickle=trust_pickle, trust=trust or ()) for file in files
    ]
    given = (_read_in_batches if data.is_dir() or batches else _read_in_memory)(
        data, loaded[0], csv, target=target, group=group, weight=weight, drop=drop or ()
    )
    label = options.read_label(positive, given.labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingRowsWarning)
        result, *others = (
            auditing.audit(
                one,
                given.X,
                given.y,
                rows=rows,
                level=level,
                confidence=confidence,
                utility=utility,
                n_bins=bins,
                classes=None if classes is None else options.read_labels(classes, given.labels),
                cost=None if cost is None else options.read_cost(cost, given.labels),
                sample_weight=given.weights,
                groups=given.groups,
                positive=label,
            )
            for one in loaded
        )
    n_left_out = given.n_left_out + result.audited.n_unlabelled
    segments = result.where(of, random_state=seed) if where else None
    subgroups = result.by(*by, of=of) if by else None
    comparison = result.compare(others[0], measure=measure) if others else None
    compared = None if comparison is None else (others[0].model, comparison)
    origin = Origin(
        target,
        source=data.name,
        command=repeat_command(context, "audit", model, data),
        data_sha256=sha256(data),
        rows_left_out=n_left_out,
        columns_left_out=tuple(drop or ()),
    )
    if output is not None or as_json:
        document = audit_document(
            result, origin, model_file=model.name, where=segments, by=subgroups, comparison=compared
        )
    if output is not None:
        write_audit(document, output)
    if as_json:
        _echo(caught)
        show_json(dict(document))
        return
    seen = ["If they are its training rows, give --rows training."] if result.looks_seen else []
    show(*show_audit(result), *seen, *options.unlabelled_note(n_left_out))
    if segments is not None:
        show("", *show_where(segments))
    if subgroups is not None:
        show("", *show_subgroups(subgroups, level))
    if comparison is not None:
        show("", Text(str(comparison)))
    if output is not None:
        show("", Text(f"Page: {output}"))


def _echo(caught: list[warnings.WarningMessage]) -> None:
    """Print warnings beside JSON; the text of an audit has them as remarks."""
    for warning in caught:
        text = str(warning.message).replace("pass rows='training'", "give --rows training")
        typer.echo(f"sureleaf: note: {' '.join(text.split())}", err=True)


@dataclass(frozen=True)
class _Rows:
    """The rows to audit; of a table that is read in batches, the names of its columns."""

    X: Any
    y: Any
    weights: Any
    groups: Any
    labels: Any
    n_left_out: int = 0


def _read_in_memory(data: Path, model: Any, csv: Any, *, target: str, **names: Any) -> _Rows:
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
    from sureleaf.report.question import read_question
    from sureleaf.table.encoding import quoted

    question = read_question(data, target, csv=csv, **names)
    X, y, n_left_out = question.X, question.y, question.n_left_out
    if isinstance(model, TreeClassifier | BaggedTreesClassifier) and model.model_.schema.named:
        available = set(X.column_names)
        missing = [name for name in model.model_.schema.names if name not in available]
        if missing:
            columns = "column is" if len(missing) == 1 else "columns are"
            raise InvalidArgumentError(
                f"{data.name} must have the columns that the model was fitted on; "
                f"{len(missing)} {columns} missing: {quoted(missing)}. Add them to the file, with "
                "empty cells if unknown."
            )
    return _Rows(X, y, question.weights, question.groups, y, n_left_out)


def _read_in_batches(
    data: Path, model: Any, csv: Any, *, target: str, weight: Any, group: Any, drop: Any
) -> _Rows:
    import numpy as np

    from sureleaf.scale import open_source

    source = replace(open_source(data, csv=csv), drop=tuple(drop), skips_unlabelled=True)
    return _Rows(source, target, weight, group, np.asarray(getattr(model, "classes_", ())))

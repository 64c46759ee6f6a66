"""``sureleaf audit``: check a fitted model of any library on unseen rows."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import repeat_command, sha256, show, show_json
from sureleaf.errors import InvalidArgumentError, TrainingRowsWarning

if TYPE_CHECKING:
    from sureleaf.commands.question import Question

_ADVICE = "If these are its training rows, give --rows training."


@options.with_options(
    model=typer.Argument(
        metavar="MODEL",
        help="A fitted model: .sureleaf, .skops, .joblib, .pkl, LightGBM's .txt, XGBoost's .json.",
    ),
    output=option("Write an HTML page, too, such as audit.html.", "-o", metavar="FILE"),
    rows=option(
        "Whether the rows are unseen or the training rows of the model.",
        metavar="unseen | training",
        default="unseen if the model can tell",
    ),
    trust_pickle=option(
        "Load a pickle file. It can run any code, so use this only for files you trust."
    ),
    trust=option("A type that a .skops file may contain; may be repeated.", metavar="TYPE"),
    labels=option(
        "For boosters: the labels in the order of the probabilities, such as 'no,yes'.",
        "--classes",
        default="those of the model",
    ),
    where=option("Find segments of the rows in which the model is wrong."),
    of=option("The error of --where and --by: calibration, accuracy or cost."),
    by=options.column("A table per value of a column; may be repeated."),
    against=option(
        "Compare with another fitted model on the same rows.", metavar="MODEL", default="none"
    ),
    measure=option(
        "The measure of --against, such as auc or nce.", default="cost with costs, else accuracy"
    ),
    batches=option(
        "Read the file in batches, because it is larger than memory. A folder is always read in "
        "batches. --where needs a file in memory."
    ),
    classes=options.CLASSES,
    table=options.table_options("group", "weight", "drop", "csv"),
)
def audit(
    context: typer.Context,
    model: Path,
    data: options.Data,
    target: options.Target,
    classes: options.Classes,
    table: options.TableOptions,
    output: Path | None = None,
    rows: str | None = None,
    trust_pickle: bool = False,
    trust: list[str] | None = None,
    labels: str | None = None,
    where: bool = False,
    of: str = "calibration",
    by: list[str] | None = None,
    against: Path | None = None,
    measure: str | None = None,
    confidence: options.Confidence = 0.95,
    level: options.IntervalLevel = 0.95,
    batches: bool = False,
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
    from sureleaf.commands import terminal
    from sureleaf.report.audit_report import audit_answer, audit_document, write_audit
    from sureleaf.report.request import Origin

    options.check_output(output, model, data, against, classes.cost)
    files = [model, *([] if against is None else [against])]
    loaded = [
        auditing.load_model(file, trust_pickle=trust_pickle, trust=trust or ()) for file in files
    ]
    read = _read_in_batches if data.is_dir() or batches else _read_in_memory
    question, known = read(data, target, loaded[0], table)
    settings = {
        "classes": None if labels is None else options.read_class_list(labels, known),
        "cost": options.read_cost(classes.cost, known),
        "positive": options.read_label(classes.positive, known),
        "sample_weight": question.weights,
        "groups": question.groups,
    }
    settings |= {"rows": rows, "level": level, "confidence": confidence}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingRowsWarning)  # the answer says it
        result, *others = [
            auditing.audit(one, question.X, question.y, **settings) for one in loaded
        ]
    n_left_out = question.n_left_out + result.audited.n_unlabelled
    segments = result.where(of, random_state=0) if where else None
    subgroups = result.by(*by, of=of) if by else None
    comparison = result.compare(others[0], measure=measure) if others else None
    if output is not None or as_json:
        origin = Origin(
            target,
            source=data.name,
            command=repeat_command(context, "audit", model, data),
            data_sha256=sha256(data),
            rows_left_out=n_left_out,
            columns_left_out=table.drop,
        )
        found: dict[str, Any] = {"model_file": model.name, "where": segments, "by": subgroups}
        if comparison is not None:
            found["comparison"] = (others[0].model, comparison)
        document = audit_document(result, origin, **found)
    if output is not None:
        write_audit(document, output)
    answer = audit_answer(result, target, where=segments, comparison=comparison)
    advice = [_ADVICE] if result.looks_seen else []
    if as_json:
        for sentence in answer.sentences:
            if sentence.topic in ("training", "remark"):
                note = " ".join([sentence.text, *advice])
                typer.echo(f"sureleaf: note: {note}", err=True)
        show_json(dict(document))
        return
    shown = [*terminal.show_audit(result, answer), *advice, *options.unlabelled_note(n_left_out)]
    shown += [] if segments is None else ["", *terminal.show_where(segments)]
    shown += [] if subgroups is None else ["", *terminal.show_subgroups(subgroups, result.level)]
    shown += [] if output is None else ["", Text(f"Page: {output}")]
    show(*shown)


def _read_in_memory(
    data: Path, target: str, model: Any, table: options.TableOptions
) -> "tuple[Question, Any]":
    """Return the rows, and their labels."""
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
    from sureleaf.table.encoding import quoted

    question = table.for_models(model).read(data, target)
    if isinstance(model, TreeClassifier | BaggedTreesClassifier) and model.model_.schema.named:
        available = set(question.X.column_names)
        missing = [name for name in model.model_.schema.names if name not in available]
        if missing:
            columns = "column is" if len(missing) == 1 else "columns are"
            raise InvalidArgumentError(
                f"{data.name} must have the columns that the model was fitted on; "
                f"{len(missing)} {columns} missing: {quoted(missing)}. Add them to the file, with "
                "empty cells if unknown."
            )
    return question, question.y


def _read_in_batches(
    data: Path, target: str, model: Any, table: options.TableOptions
) -> "tuple[Question, Any]":
    """Return the source of the rows with the names of its columns, and the labels of the model."""
    import numpy as np

    from sureleaf.commands.question import Question
    from sureleaf.scale import open_source

    opened = open_source(data, csv=table.for_models(model).csv)
    source = replace(opened, drop=table.drop, skips_unlabelled=True)
    columns: dict[str, Any] = {"y": target, "groups": table.group, "weights": table.weight}
    return Question(source, **columns, n_left_out=0), np.asarray(getattr(model, "classes_", ()))

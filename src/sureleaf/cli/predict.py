"""``sureleaf predict``: a saved model, and rows of any number."""

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.cli import output
from sureleaf.errors import InvalidArgumentError

__all__ = ["predict"]


def predict(
    model: given.SavedModel,
    data: given.Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: .csv, .csv.gz, .parquet or .arrow.",
            metavar="FILE",
            show_default="CSV to standard output",
        ),
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of the data to copy in front, such as a number; may be repeated.",
            metavar="COLUMN",
            autocompletion=output.column,
        ),
    ] = None,
    abstain_below: Annotated[
        float | None,
        typer.Option(
            help="No prediction for rows of less confidence (bagged trees: agreement).",
            metavar="LEVEL",
        ),
    ] = None,
    jobs: given.Threads = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.DoneAsJson = False,
) -> None:
    """Predict the rows of a file, however many, each with how sure that is.

    Rows are read, predicted and written some at a time, in their order. Each
    gets its prediction, the probability of each class, the confidence and
    utility of its leaf, and the leaf.

    For example:

    - sureleaf predict model.sureleaf new.csv -o predictions.csv

    - sureleaf predict model.sureleaf new.csv -o predictions.parquet --keep id

    - sureleaf predict model.sureleaf new.csv --abstain-below 0.9
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.estimators import load
    from sureleaf.report import predictions
    from sureleaf.table import stream_rows

    to_screen = str(output) == "-"
    if as_json and to_screen:
        raise InvalidArgumentError("--json needs --output, so that the two do not mix.")
    if abstain_below is not None and not 0 <= abstain_below <= 1:
        raise InvalidArgumentError(f"--abstain-below must be from 0 to 1; got {abstain_below}.")
    if not to_screen:
        given.check_output(output)
    kind = predictions.output_format(output)
    loaded = load(model)
    loaded.n_jobs = jobs
    kept = list(dict.fromkeys(keep or []))
    known = read.csv_format(delimiter, encoding, decimal, missing)
    rows = stream_rows(data, loaded.schema_, keep=kept, csv=known)
    with _opened(output) as file:
        found = predictions.write_predictions(
            loaded,
            rows,
            file,
            kind,
            keep=kept,
            abstain_below=abstain_below,
            shown=sys.stderr.isatty(),
        )
    if as_json:
        show_json({"output": str(output)} | found.to_dict())
    elif not to_screen:
        show(*predictions.show_predicted(found, str(output)))
    for line in predictions.notes(found):
        typer.echo(f"sureleaf: note: {line}", err=True)


def _opened(output: Path) -> AbstractContextManager[BinaryIO]:
    from sureleaf.cli.output import standard_output
    from sureleaf.files.atomic_write import atomic_write

    return standard_output() if str(output) == "-" else atomic_write(output)

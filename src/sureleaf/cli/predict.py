"""``sureleaf predict``: predict the rows of a file with a saved model."""

import sys
from pathlib import Path
from typing import Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json, standard_output
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    output=option(
        "File to write: .csv, .csv.gz, .parquet or .arrow.",
        "-o",
        metavar="FILE",
        default="CSV to standard output",
    ),
    keep=options.column("Column to copy to the output, such as an ID; may be repeated."),
    abstain_below=option(
        "Predict nothing for rows with a lower confidence (bagged trees: agreement).",
        metavar="LEVEL",
    ),
    alpha=option(
        "Add prediction sets that miss the class with at most this probability in every leaf, one "
        "column per class. The model needs rows that were set aside: fit --levels-from honest."
    ),
    formulas=option(
        "Write text that begins with =, +, - or @ to CSV as it is. By default it gets an "
        "apostrophe, so that a spreadsheet does not run it."
    ),
    table=options.table_options("csv"),
)
def predict(
    model: options.SavedModel,
    data: options.Data,
    table: options.TableOptions,
    output: Path = Path("-"),
    keep: list[str] | None = None,
    abstain_below: float | None = None,
    alpha: float | None = None,
    cost: options.DecisionCost = None,
    formulas: bool = False,
    as_json: options.SummaryAsJson = False,
) -> None:
    """Predict the rows of a file and say how sure each prediction is.

    The file may be of any size: rows are read, predicted and written in
    batches, in their order. Each row gets its prediction, the probability of
    each class, the confidence and utility of its leaf, and the leaf.

    For example:
    - sureleaf predict model.sureleaf new.csv -o predictions.csv
    - sureleaf predict model.sureleaf new.csv -o predictions.parquet --keep id
    - sureleaf predict model.sureleaf new.csv --abstain-below 0.9
    - sureleaf predict model.sureleaf new.csv --cost "0,5;1,0"
    - sureleaf predict honest.sureleaf new.csv --alpha 0.1
    """
    from sureleaf.commands import predictions
    from sureleaf.estimators import load
    from sureleaf.files.atomic_write import atomic_write
    from sureleaf.table.row_stream import stream_rows

    to_stdout = str(output) == "-"
    if as_json and to_stdout:
        raise InvalidArgumentError(
            "--json needs --output: predictions and JSON cannot both go to standard output."
        )
    if abstain_below is not None and not 0 <= abstain_below <= 1:
        raise InvalidArgumentError(f"--abstain-below must be between 0 and 1; got {abstain_below}.")
    if not to_stdout:
        options.check_output(output, data, model, cost)
    file_format = predictions.output_format(output)
    loaded = options.decided_by(load(model), cost)
    node_sets = None if alpha is None else _read_sets(loaded, alpha)
    kept = list(dict.fromkeys(keep or []))
    exact = predictions.columns_of_large_integers(loaded)
    rows = stream_rows(data, loaded.schema_, keep=kept, exact=exact, csv=table.csv)
    with standard_output() if to_stdout else atomic_write(output) as file:
        summary = predictions.write_predictions(
            loaded,
            rows,
            file,
            file_format,
            keep=kept,
            abstain_below=abstain_below,
            node_sets=node_sets,
            shown=sys.stderr.isatty(),
            formulas=formulas,
        )
    if as_json:
        show_json({"output": str(output)} | summary.to_dict())
    elif not to_stdout:
        show(*predictions.show_predicted(loaded, summary, str(output)))
    for line in predictions.notes(loaded, summary):
        typer.echo(f"sureleaf: note: {line}", err=True)


def _read_sets(model: Any, alpha: float) -> Any:
    """Return the prediction sets of all nodes."""
    if not hasattr(model, "predict_set"):
        raise InvalidArgumentError(
            f"--alpha needs a model of one tree; got a {type(model).__name__}, whose rows have no "
            "leaves in common. Leave it out."
        )
    options.check_held_out(
        model, "--alpha", "Fit it with --levels-from honest, which sets half of the rows aside."
    )
    return model.model_.node_sets(alpha, "leaf")

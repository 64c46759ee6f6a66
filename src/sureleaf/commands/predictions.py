"""Predictions of a saved model for the rows of a file, which is read in batches."""

import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, parquet
from rich.markup import escape as escape_markup

from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import visible
from sureleaf.model.leaf_table import kind_of_confidence
from sureleaf.model.tree_model import RowPredictions
from sureleaf.progress import ProgressBar
from sureleaf.table.frames import without_dictionaries
from sureleaf.table.raw_column import MAX_EXACT
from sureleaf.table.row_stream import RowStream

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier


_FORMATS: Final = {
    ".csv": "csv",
    ".csv.gz": "csv.gz",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


@dataclass
class PredictionSummary:
    """Counts of the predictions that were written.

    ``unseen`` has, per column, the number of values that were not in the training rows; ``quoted``,
    per column, the first text that got an apostrophe, see `without_formulas`.
    """

    rows: int = 0
    abstained: int = 0
    predictions: Counter[Any] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)
    quoted: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "rows": self.rows,
            "abstained": self.abstained,
            "predictions": {str(label): n for label, n in self.predictions.items()},
            "unseen": dict(self.unseen),
        }


def output_format(path: str | os.PathLike[str]) -> str:
    """Return the format of a file of predictions, by its name."""
    name = Path(path).name.lower()
    kind = next((kind for end, kind in _FORMATS.items() if name.endswith(end)), None)
    if kind is None and (name == "-" or Path(path).is_char_device() or Path(path).is_fifo()):
        kind = "csv"
    if kind is None:
        raise InvalidArgumentError(
            f"--output must end in {', '.join(_FORMATS)}; got {str(path)!r}. Rename the file."
        )
    return kind


def predict_rows(
    model: Any,
    rows: Any,
    *,
    keep: Sequence[str] = (),
    abstain_below: float | None = None,
    node_sets: NDArray[np.bool_] | None = None,
) -> tuple[Any, RowPredictions]:
    """Return the table of predictions for some rows, and what it is made from.

    The table has the columns to keep, ``prediction`` (none for rows with less confidence, or
    agreement of bagged trees, than `abstain_below`), one column ``p_CLASS`` per class,
    ``confidence`` (or ``agreement``), ``utility`` and ``leaf``; with the prediction sets by node,
    as `TreeModel.node_sets` returns them, one column ``set_CLASS`` per class.
    """
    output = model.complete_model().row_predictions(rows.select(list(model.schema_.names)))
    unsure = None if abstain_below is None else output.sureness < abstain_below
    labels = _label_values(model.classes_)
    codes = pa.array(output.code.astype(np.int32), mask=unsure)
    by_class = zip(model.classes_, np.ascontiguousarray(output.probabilities.T), strict=True)
    own: dict[str, Any] = {"prediction": labels.take(codes)}
    own |= {f"p_{label}": probability for label, probability in by_class}
    own["agreement" if output.leaf is None else "confidence"] = output.sureness
    own["utility"] = output.utility
    if output.leaf is not None:
        own["leaf"] = output.leaf
        if node_sets is not None:
            for index, label in enumerate(model.classes_):
                own[f"set_{label}"] = node_sets[output.leaf, index]
    clash = [name for name in keep if name in own]
    if clash:
        raise InvalidArgumentError(
            f"--keep must not name a column that predict writes; got {clash[0]!r}. Rename it in "
            "the data."
        )
    return pa.table({name: rows[name] for name in keep} | own), output


def _label_values(classes: Any) -> Any:
    """Return the classes as an Arrow array; integers beyond 64 bits as text."""
    try:
        return pa.array(np.asarray(classes).tolist())
    except (OverflowError, pa.ArrowInvalid):
        return pa.array([str(label) for label in classes])


def columns_of_large_integers(model: Any) -> list[str]:
    """Return the columns with a threshold of 2**53 or more, where float64 rounds integers."""
    large = {
        int(column)
        for tree in model.model_.all_trees()
        for column, threshold in zip(tree.feature, tree.threshold, strict=True)
        if np.isfinite(threshold) and abs(threshold) >= MAX_EXACT
    }
    return [model.schema_.names[column] for column in sorted(large)]


def write_predictions(
    model: Any,
    rows: RowStream,
    file: BinaryIO,
    kind: str,
    *,
    keep: Sequence[str] = (),
    abstain_below: float | None = None,
    node_sets: NDArray[np.bool_] | None = None,
    shown: bool = False,
    formulas: bool = False,
) -> PredictionSummary:
    """Predict a stream of rows and write the predictions, in the order of the rows.

    `kind` is what `output_format` returns, and `shown` whether to show the progress. In CSV, text
    that a spreadsheet would run gets an apostrophe (see `without_formulas`), unless `formulas`.
    """
    summary = PredictionSummary()
    writer = None
    written = _written_form(kind, formulas)
    packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if kind == "csv.gz" else None
    bar = ProgressBar("Predicting", rows.expected_rows) if shown else None
    with bar or nullcontext(), packed or nullcontext(file) as target:
        try:
            for batch in rows.batches:
                table, output = predict_rows(
                    model, batch, keep=keep, abstain_below=abstain_below, node_sets=node_sets
                )
                with _writing(table, keep, kind):
                    output_table = written(table)
                    writer = writer or _open_writer(target, kind, output_table.schema)
                    writer.write_table(output_table)
                _count(summary, model, table, output)
                if written is without_formulas:
                    summary.quoted = _quoted_texts(output_table, table) | summary.quoted
                if bar is not None:
                    bar.update(summary.rows, f"{summary.rows:,} rows")
            if writer is None:
                nothing = written(_no_rows(model, keep, node_sets))
                writer = _open_writer(target, kind, nothing.schema)
                writer.write_table(nothing)
        finally:
            if writer is not None:
                writer.close()
    return summary


@contextmanager
def _writing(table: Any, keep: Sequence[str], kind: str) -> Iterator[None]:
    """Name the kept column of a type that a format cannot hold."""
    try:
        yield
    except pa.ArrowException as error:
        for name in keep:
            try:
                part = _written_form(kind, formulas=False)(table.select([name]))
                with _open_writer(io.BytesIO(), kind, part.schema) as writer:
                    writer.write_table(part)
            except pa.ArrowException as cause:
                raise InvalidArgumentError(
                    f"--keep must name columns that a file of kind {kind} can hold; got {name!r}, "
                    f"of type {table[name].type} ({' '.join(str(cause).split())[:200]}). Leave it "
                    "out, or write to a file of another kind."
                ) from error
        raise


def _written_form(kind: str, formulas: bool) -> Callable[[Any], Any]:
    if kind.startswith("csv") and not formulas:
        return without_formulas
    # The batches of a Parquet file have different dictionaries; an Arrow file allows only one.
    return without_dictionaries if kind == "arrow" else lambda table: table


_FORMULA: Final = r"^[=+\-@＝＋－＠\t\r\n']"  # noqa: RUF001 - spreadsheets read wide signs, too
_NUMBER: Final = r"^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$"


def without_formulas(table: Any) -> Any:
    """Return a table whose text a spreadsheet shows and does not run.

    Text that begins with ``=``, ``+``, ``-``, ``@`` or their wide forms, a tab, a line break or an
    apostrophe, and is not a number, gets an apostrophe in front; so do names of columns. To read
    the table back exactly, remove one apostrophe from the start of each cell that has one.

    Examples
    --------
    >>> import pyarrow
    >>> without_formulas(pyarrow.table({"=a": ["=1+1", "-5", "it's", "'x", None]})).to_pydict()
    {"'=a": ["'=1+1", '-5', "it's", "''x", None]}
    """
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_fixed_size_binary(column.type):
            column = column.cast(pa.binary())
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            column = column.cast(pa.large_string())
        if _is_text(column):
            is_formula = pc.and_not(
                pc.match_substring_regex(column, _FORMULA),
                pc.match_substring_regex(column, _NUMBER),
            )
            quoted = pc.binary_join_element_wise(
                pa.scalar("'", column.type), column, pa.scalar("", column.type)
            )
            column = pc.if_else(is_formula, quoted, column)
        is_name = re.match(_FORMULA, name) and not re.match(_NUMBER, name)
        columns[f"'{name}" if is_name else name] = column
    return pa.table(columns)


def _quoted_texts(written: Any, table: Any) -> dict[str, str]:
    """Return the first text of each column that got an apostrophe."""
    found = {}
    for name, column, before in zip(
        table.column_names, written.columns, table.columns, strict=True
    ):
        if _is_text(column) and not column.equals(before):
            changed = column.filter(pc.match_substring_regex(column, "^'"))
            if len(changed):
                found[name] = changed[0].as_py()[1:]
    return found


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def show_predicted(model: Any, summary: PredictionSummary, output: str) -> Iterator[str]:
    """Yield what was predicted, where it was written, and which confidence is written."""
    parts = [f"{escape_markup(visible(label))} {n:,}" for label, n in summary.predictions.items()]
    if summary.abstained:
        parts.append(f"no prediction {summary.abstained:,}")
    rows = "1 row" if summary.rows == 1 else f"{summary.rows:,} rows"
    yield f"[bold]{rows}[/bold] predicted: {', '.join(parts) or 'none'}."
    yield f"Written: {escape_markup(visible(output))}"
    if hasattr(model, "tree_"):
        yield f"[dim]{escape_markup(kind_of_confidence(model.model_.evidence.source))}[/dim]"


def notes(model: Any, summary: PredictionSummary) -> Iterator[str]:
    """Yield what to know before using the predictions."""
    tested = model.model_.tested_columns if summary.unseen else []
    for name, n in summary.unseen.items():
        several = "1 value" if n == 1 else f"{n:,} values"
        was = "was" if n == 1 else "were"
        does = f"such rows {model.model_.unseen_path}" if name in tested else "no test asks for it"
        yield f"{several} of column {name!r} {was} not in the training rows; {does}"
    for name, text in summary.quoted.items():
        yield (
            f"column {name!r} has text that a spreadsheet would run: {text!r} is written with an "
            "apostrophe in front. To write it as it is: --formulas"
        )


def _count(summary: PredictionSummary, model: Any, table: Any, output: RowPredictions) -> None:
    summary.rows += table.num_rows
    summary.abstained += table["prediction"].null_count
    kept = output.code[table["prediction"].is_valid().to_numpy()]
    n_of = np.bincount(kept, minlength=len(model.classes_)).tolist()
    summary.predictions.update(dict(zip(model.classes_.tolist(), n_of, strict=True)))
    summary.unseen.update(output.unseen_counts)


def _no_rows(model: Any, keep: Sequence[str], node_sets: NDArray[np.bool_] | None) -> Any:
    columns = {name: pa.array([], pa.string()) for name in keep}
    types = {"numeric": pa.float64()}
    inferred = {c.name: pa.array([], types.get(c.kind, pa.null())) for c in model.schema_}
    nothing = pa.table(inferred | columns)
    return predict_rows(model, nothing, keep=keep, node_sets=node_sets)[0]


def _open_writer(file: Any, kind: str, schema: Any) -> Any:
    if kind == "parquet":
        return parquet.ParquetWriter(file, schema)
    if kind == "arrow":
        return pa.ipc.new_file(file, schema)
    return csv.CSVWriter(file, schema)


# A saved model, for commands that take a model or a table.


def is_model(path: Path) -> bool:
    """Return whether a file is a saved model, by its first bytes."""
    from sureleaf.files.state_file import MODEL

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MODEL.magic)) == MODEL.magic


def load_tree(path: Path, command: str) -> "TreeClassifier":
    """Load a saved model that is one tree; the command is named in the error if it is not."""
    from sureleaf.estimators import TreeClassifier, load

    model = load(path)
    if not isinstance(model, TreeClassifier):
        raise InvalidArgumentError(
            f"{command} needs a model of one tree; got {path.name} with a {type(model).__name__}. "
            "Fit it without --bagged."
        )
    return model

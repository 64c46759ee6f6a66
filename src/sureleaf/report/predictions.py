"""Predictions of a saved model for the rows of a file, written as they are read."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from rich.markup import escape

from sureleaf.errors import InvalidArgumentError
from sureleaf.model.row_predictions import RowPredictions
from sureleaf.progress import ProgressBar
from sureleaf.table import RowStream

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier

__all__ = [
    "Predicted",
    "is_model",
    "load_tree",
    "notes",
    "output_format",
    "predict_rows",
    "show_predicted",
    "write_predictions",
]


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
class Predicted:
    """What came of predicting a file.

    Attributes
    ----------
    rows : int
        Rows predicted.
    abstained : int
        Rows that are left without a prediction, being less sure than was asked for.
    predictions : dict
        How often each class was predicted.
    unseen : dict of str to int
        Values a column that were not there in training.

    Examples
    --------
    >>> Predicted(rows=3, predictions=Counter({"yes": 2, "no": 1})).to_dict()["rows"]
    3
    """

    rows: int = 0
    abstained: int = 0
    predictions: Counter[Any] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        return {
            "rows": self.rows,
            "abstained": self.abstained,
            "predictions": {str(label): n for label, n in self.predictions.items()},
            "unseen": dict(self.unseen),
        }


def output_format(path: str | os.PathLike[str]) -> str:
    """Tell by the name of a file how predictions are written to it.

    Examples
    --------
    >>> output_format("out.parquet"), output_format("-")
    ('parquet', 'csv')
    """
    name = Path(path).name.lower()
    found = next((kind for end, kind in _FORMATS.items() if name.endswith(end)), None)
    if found is None and (name == "-" or Path(path).is_char_device() or Path(path).is_fifo()):
        found = "csv"
    if found is None:
        raise InvalidArgumentError(
            f"--output must end in {', '.join(_FORMATS)}; got {str(path)!r}."
        )
    return found


def predict_rows(
    model: Any, rows: Any, *, keep: Sequence[str] = (), abstain_below: float | None = None
) -> tuple[Any, RowPredictions]:
    """Make the table of predictions for some rows.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.
    rows : pyarrow.Table
        The model's columns, and those to keep.
    keep : sequence of str
        Columns that come first, as they are.
    abstain_below : float, optional
        No prediction for rows of less confidence (less agreement, of bagged trees).

    Returns
    -------
    table : pyarrow.Table
        What is kept, ``prediction``, ``p_`` and a class each, ``confidence`` (``agreement``),
        ``utility`` and ``leaf``.
    said : RowPredictions

    Examples
    --------
    >>> import pyarrow
    >>> from sureleaf import TreeClassifier
    >>> rows = pyarrow.table({"n": list(range(40))})
    >>> model = TreeClassifier().fit(rows, ["no"] * 20 + ["yes"] * 20)
    >>> predict_rows(model, rows)[0].column_names
    ['prediction', 'p_no', 'p_yes', 'confidence', 'utility', 'leaf']
    """
    import pyarrow as pa

    said = model.complete_model().row_predictions(rows.select(list(model.schema_.names)))
    unsure = None if abstain_below is None else said.sureness < abstain_below
    labels = pa.array(np.asarray(model.classes_).tolist())
    codes = pa.array(said.code.astype(np.int32), mask=unsure)
    own: dict[str, Any] = {"prediction": labels.take(codes)}
    for place, label in enumerate(model.classes_):
        own[f"p_{label}"] = np.ascontiguousarray(said.probabilities[:, place])
    own["agreement" if said.leaf is None else "confidence"] = said.sureness
    own["utility"] = said.utility
    if said.leaf is not None:
        own["leaf"] = said.leaf
    clash = [name for name in keep if name in own]
    if clash:
        raise InvalidArgumentError(
            f"--keep must not name a column that predict writes itself; got {clash[0]!r}. Rename "
            "it in the data."
        )
    return pa.table({name: rows[name] for name in keep} | own), said


def write_predictions(
    model: Any,
    rows: RowStream,
    file: BinaryIO,
    kind: str,
    *,
    keep: Sequence[str] = (),
    abstain_below: float | None = None,
    shown: bool = False,
) -> Predicted:
    """Predict rows as they come and write what is said about them, in their order.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.
    rows : RowStream
        Rows of its schema.
    file : binary file
        Where to.
    kind : str
        What `output_format` says.
    keep, abstain_below
        As for `predict_rows`.
    shown : bool
        Whether to draw the progress.

    Returns
    -------
    Predicted

    Examples
    --------
    >>> import io, pyarrow
    >>> from sureleaf import TreeClassifier
    >>> table = pyarrow.table({"n": list(range(40))})
    >>> model = TreeClassifier().fit(table, ["no"] * 20 + ["yes"] * 20)
    >>> out = io.BytesIO()
    >>> write_predictions(model, RowStream(iter([table])), out, "csv").rows
    40
    >>> out.getvalue().splitlines()[0]
    b'"prediction","p_no","p_yes","confidence","utility","leaf"'
    """
    found = Predicted()
    writer = None
    try:
        with _maybe_bar(shown, rows.expected_rows) as bar:
            for batch in rows.batches:
                made, said = predict_rows(model, batch, keep=keep, abstain_below=abstain_below)
                writer = writer or _open_writer(file, kind, made.schema)
                writer.write_table(made)
                _count(found, model, made, said)
                if bar is not None:
                    bar.update(found.rows, f"{found.rows:,} rows")
            if writer is None:
                nothing = _no_rows(model, keep)
                writer = _open_writer(file, kind, nothing.schema)
                writer.write_table(nothing)
    finally:
        if writer is not None:
            writer.close()
    return found


def show_predicted(found: Predicted, output: str) -> Iterator[str]:
    """Yield what was done, for a person.

    Examples
    --------
    >>> list(show_predicted(Predicted(2, 0, Counter({"yes": 2})), "out.csv"))
    ['[bold]2 rows[/bold] predicted: yes 2.', 'Written: out.csv']
    """
    parts = [f"{escape(str(label))} {n:,}" for label, n in found.predictions.items()]
    if found.abstained:
        parts.append(f"no prediction {found.abstained:,}")
    rows = "1 row" if found.rows == 1 else f"{found.rows:,} rows"
    yield f"[bold]{rows}[/bold] predicted: {', '.join(parts) or 'none'}."
    yield f"Written: {escape(output)}"


def notes(found: Predicted) -> Iterator[str]:
    """Yield what should be known before the predictions are used.

    Examples
    --------
    >>> list(notes(Predicted(2, unseen=Counter({"sky": 1}))))
    ["1 value of column 'sky' was not there in training; such rows go down all branches"]
    """
    for name, n in found.unseen.items():
        several = "1 value" if n == 1 else f"{n:,} values"
        was = "was" if n == 1 else "were"
        yield (
            f"{several} of column {name!r} {was} not there in training; such rows go down all "
            "branches"
        )


def _count(found: Predicted, model: Any, made: Any, said: RowPredictions) -> None:
    found.rows += made.num_rows
    found.abstained += made["prediction"].null_count
    kept = said.code[made["prediction"].is_valid().to_numpy()]
    n_of = np.bincount(kept, minlength=len(model.classes_)).tolist()
    found.predictions.update(dict(zip(model.classes_.tolist(), n_of, strict=True)))
    found.unseen.update(said.unseen_counts)


@contextmanager
def _maybe_bar(shown: bool, expected: float | None) -> Iterator[ProgressBar | None]:
    if not shown:
        yield None
        return
    with ProgressBar("Predicting", expected) as bar:
        yield bar


def _no_rows(model: Any, keep: Sequence[str]) -> Any:
    import pyarrow as pa

    columns = {name: pa.array([], pa.string()) for name in keep}
    types = {"numeric": pa.float64()}
    learnt = {c.name: pa.array([], types.get(c.kind, pa.null())) for c in model.schema_}
    return predict_rows(model, pa.table(learnt | columns), keep=keep)[0]


def _open_writer(file: BinaryIO, kind: str, schema: Any) -> Any:
    import pyarrow as pa
    from pyarrow import csv, parquet

    if kind == "parquet":
        return parquet.ParquetWriter(file, schema)
    if kind == "arrow":
        return pa.ipc.new_file(file, schema)
    if kind == "csv.gz":
        return _Compressed(file, schema)
    return csv.CSVWriter(file, schema)


class _Compressed:
    """A CSV writer behind gzip; both are closed together."""

    def __init__(self, file: BinaryIO, schema: Any) -> None:
        import gzip

        from pyarrow import csv

        self._packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0)
        self._writer = csv.CSVWriter(self._packed, schema)

    def write_table(self, table: Any) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        self._writer.close()
        self._packed.close()


# A saved model where a command may have been given a table instead.


def is_model(path: Path) -> bool:
    """Tell by its first bytes whether a file is a saved model.

    Examples
    --------
    >>> is_model(Path("nowhere.csv"))
    False
    """
    from sureleaf.model.model_file import MAGIC

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def load_tree(path: Path, command: str) -> "TreeClassifier":
    """Load a saved model that is one tree.

    Parameters
    ----------
    path : Path
        The model's file.
    command : str
        Who asks, for the message.

    Raises
    ------
    InvalidArgumentError
        If it is no model, or one of several trees.

    Examples
    --------
    >>> import tempfile
    >>> from sureleaf import TreeClassifier
    >>> path = Path(tempfile.mkdtemp()) / "halves.sureleaf"
    >>> TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20).save(path)
    >>> load_tree(path, "leaves").tree_.n_leaves
    2
    """
    from sureleaf.estimators import TreeClassifier, load

    model = load(path)
    if not isinstance(model, TreeClassifier):
        raise InvalidArgumentError(
            f"{command} needs a single tree; {path.name} holds {type(model).__name__}. Fit "
            "without --bagged."
        )
    return model

"""The options that evaluate, compare and curve share, and how their text is read."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.evaluation.designs import Design

__all__ = [
    "left_out",
    "on_terminal",
    "read_cost",
    "read_design",
    "read_label",
    "read_labels",
]

Data = Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file.")]
Target = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
MeasureName = Annotated[
    str, typer.Option("--measure", help="accuracy, auc, f_measure, nce, quadratic_loss, ...")
]
DesignName = Annotated[
    str, typer.Option(help="kfold, holdout, repeated, leave-one-out, bootstrap or nested.")
]
Folds = Annotated[int, typer.Option(help="Folds of kfold and nested.")]
Repeats = Annotated[
    int | None,
    typer.Option(
        help="Repeats of kfold, repeated and nested; samples of bootstrap.",
        show_default="1 for kfold, 10, 200 for bootstrap",
    ),
]
Test = Annotated[float, typer.Option(help="Share of the rows held out.", show_default="1/3")]
Positive = Annotated[
    str | None,
    typer.Option(help="The positive class.", show_default="the second of the sorted classes"),
]
Group = Annotated[str | None, typer.Option(help="Column of groups that stay together.")]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of the splits.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Workers.", show_default="1")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def read_design(name: str, folds: int, repeats: int | None, test: float) -> "Design":
    """Return the design of that name.

    Examples
    --------
    >>> read_design("kfold", 5, 2, 1 / 3)
    KFold(n_splits=5, repeats=2, stratified=True, resample='none', time_ordered=False)
    """
    from sureleaf import evaluation as room

    designs: dict[str, Any] = {
        "kfold": lambda: room.KFold(folds, repeats=repeats or 1),
        "holdout": lambda: room.Holdout(test),
        "repeated": lambda: room.RepeatedHoldout(repeats or 10, test),
        "leave-one-out": room.LeaveOneOut,
        "bootstrap": lambda: room.Bootstrap(repeats or 200),
        "nested": lambda: room.NestedKFold(folds, repeats=repeats or 10),
    }
    if name not in designs:
        raise InvalidArgumentError(f"--design must be one of {', '.join(designs)}; got {name!r}.")
    made: Design = designs[name]()
    return made


def read_label(text: str | None, y: Any) -> Any:
    """Return the label that a text stands for: labels may be numbers or bools.

    Examples
    --------
    >>> import numpy as np
    >>> read_label("1", np.array([0, 1]))
    1
    """
    if text is None:
        return None
    labels = {str(label): label for label in dict.fromkeys(y.tolist())}
    if text not in labels:
        raise InvalidArgumentError(
            f"--positive must be one of {', '.join(list(labels)[:20])}; got {text!r}."
        )
    return labels[text]


def read_labels(text: str, y: Any) -> list[Any]:
    """Return the labels that a list stands for; those that are not in the data stay text.

    Examples
    --------
    >>> import numpy as np
    >>> read_labels("0,1,other", np.array([0, 1]))
    [0, 1, 'other']
    """
    labels = {str(label): label for label in dict.fromkeys(y.tolist())}
    return [labels.get(word.strip(), word.strip()) for word in text.split(",")]


def read_cost(text: str) -> list[list[float]]:
    """Return the cost matrix of a text with semicolons between rows.

    Examples
    --------
    >>> read_cost("0,1;5,0")
    [[0.0, 1.0], [5.0, 0.0]]
    """
    try:
        return [[float(cell) for cell in row.split(",")] for row in text.split(";")]
    except ValueError:
        raise InvalidArgumentError(
            f"--cost must be rows of numbers, an actual class each, as '0,1;5,0'; got {text!r}."
        ) from None


def on_terminal(as_json: bool) -> bool:
    """Say whether a progress bar has someone to watch it.

    Examples
    --------
    >>> on_terminal(as_json=True)
    False
    """
    return not as_json and sys.stderr.isatty()


def left_out(n_rows: int) -> list[str]:
    """Return the line that says how many rows had no label, if any.

    Examples
    --------
    >>> left_out(0), left_out(2)
    ([], ['! 2 rows without a label are left out.'])
    """
    if not n_rows:
        return []
    rows = "1 row without a label is" if n_rows == 1 else f"{n_rows:,} rows without a label are"
    return [f"! {rows} left out."]

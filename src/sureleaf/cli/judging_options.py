"""The options that evaluate, compare and curve share, and how their text is read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import completing
from sureleaf.errors import InvalidArgumentError, suggestion

if TYPE_CHECKING:
    from sureleaf.evaluation.designs import Design

__all__ = [
    "check_folder",
    "left_out",
    "read_cost",
    "read_design",
    "read_label",
    "read_labels",
]

_DESIGNS = ("kfold", "holdout", "repeated", "leave-one-out", "bootstrap", "nested")

Data = Annotated[
    Path,
    typer.Argument(help="A CSV, Parquet or Arrow file, or - for standard input.", metavar="DATA"),
]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        help="Column to predict.",
        metavar="COLUMN",
        autocompletion=completing.column,
    ),
]
MeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        help="accuracy, auc, f_measure, nce, quadratic_loss, ...",
        autocompletion=completing.words("accuracy", "auc", "f_measure", "nce", "quadratic_loss"),
    ),
]
DesignName = Annotated[
    str,
    typer.Option(
        help="kfold, holdout, repeated, leave-one-out, bootstrap or nested.",
        autocompletion=completing.words(*_DESIGNS),
    ),
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
Group = Annotated[
    str | None,
    typer.Option(
        help="Column of groups that stay together.",
        metavar="COLUMN",
        autocompletion=completing.column,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(help="Column of row weights.", metavar="COLUMN", autocompletion=completing.column),
]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Workers.", show_default="1")]
Threads = Annotated[
    int | None, typer.Option("--jobs", "-j", help="Threads.", show_default="all cores")
]
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
        raise InvalidArgumentError(
            f"--design must be one of {', '.join(designs)}; got {name!r}."
            f"{suggestion(name, designs, listed=False)}"
        )
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
            f"--positive must be a label of the target; got {text!r}.{suggestion(text, labels)}"
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


def check_folder(path: Path | None) -> None:
    """Refuse a file in a folder that does not exist, before hours of work and not after.

    Examples
    --------
    >>> check_folder(Path("nowhere") / "model.sureleaf")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: there is no folder 'nowhere' for model.sureleaf. Make it.
    """
    if path is not None and not path.parent.is_dir():
        raise InvalidArgumentError(
            f"there is no folder {str(path.parent)!r} for {path.name}. Make it."
        )


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

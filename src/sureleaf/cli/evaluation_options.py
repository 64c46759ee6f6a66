"""The options that commands share, and how their text is read."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import output
from sureleaf.errors import InvalidArgumentError, suggestion

if TYPE_CHECKING:
    from sureleaf.evaluation.designs import Design

__all__ = ["check_output", "left_out", "read_cost", "read_design", "read_label", "read_labels"]


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
        autocompletion=output.column,
    ),
]
TableTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column to predict, with a table.",
        metavar="COLUMN",
        autocompletion=output.column,
    ),
]
SavedModel = Annotated[
    Path, typer.Argument(help="A model that sureleaf fit has saved.", metavar="MODEL")
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="CLASSIFIER",
        help="TreeClassifier, BaggedTreesClassifier, or the full name of one of "
        "another library; with parameters, if any.",
    ),
]
_MEASURES = ("accuracy", "auc", "f_measure", "nce", "quadratic_loss", "cost", "decided_cost")
MeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        help="accuracy, auc, f_measure, nce (log loss), quadratic_loss, cost, ...",
        autocompletion=output.words(*_MEASURES),
    ),
]
CostedMeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="accuracy, auc, f_measure, nce (log loss), quadratic_loss, cost, decided_cost (of the "
        "decisions that cost least by the probabilities), ...",
        show_default="accuracy; with --cost decided_cost",
        autocompletion=output.words(*_MEASURES),
    ),
]
DesignName = Annotated[
    str,
    typer.Option(
        help="kfold, holdout, repeated, leave-one-out, bootstrap or nested.",
        autocompletion=output.words(*_DESIGNS),
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
        autocompletion=output.column,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(help="Column of row weights.", metavar="COLUMN", autocompletion=output.column),
]
Cost = Annotated[
    str | None,
    typer.Option(
        help="Costs: a row for each actual class, in it a number for each predicted one, classes "
        "sorted, as '0,5;1,0' or '[[0,5],[1,0]]'; or a file of such rows.",
        metavar="ROWS|FILE",
    ),
]
Confidence = Annotated[float, typer.Option(help="Leaves of less confidence are flagged.")]
Utility = Annotated[float | None, typer.Option(help="Leaves of less utility are flagged, too.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is random.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
DoneAsJson = Annotated[
    bool, typer.Option("--json", help="Print what was done as JSON; needs --output.")
]


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise InvalidArgumentError(
            "--jobs must be a whole number other than 0; got 0. Use 1 for one, -1 for all cores."
        )
    return jobs


Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Workers.", show_default="1", callback=_check_jobs),
]
Threads = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Threads.", show_default="all cores", callback=_check_jobs),
]


def read_design(name: str, folds: int, repeats: int | None, test: float) -> "Design":
    """Return the design of that name.

    Examples
    --------
    >>> read_design("kfold", 5, 2, 1 / 3)
    KFold(n_splits=5, repeats=2, stratified=True, resample='none', time_ordered=False)
    """
    from sureleaf import evaluation as room

    def times(usual: int) -> int:
        return usual if repeats is None else repeats

    designs: dict[str, Any] = {
        "kfold": lambda: room.KFold(folds, repeats=times(1)),
        "holdout": lambda: room.Holdout(test),
        "repeated": lambda: room.RepeatedHoldout(times(10), test),
        "leave-one-out": room.LeaveOneOut,
        "bootstrap": lambda: room.Bootstrap(times(200)),
        "nested": lambda: room.NestedKFold(folds, repeats=times(10)),
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


def read_cost(text: str, y: Any) -> list[list[float]]:
    """Return the costs in a text with semicolons between rows, in JSON, or in a file with either.

    Examples
    --------
    >>> import numpy as np
    >>> read_cost("0,5;1,0", np.array(["bad", "good"]))
    [[0.0, 5.0], [1.0, 0.0]]
    >>> read_cost("[[0, 5], [1, 0]]", np.array(["bad", "good"]))
    [[0.0, 5.0], [1.0, 0.0]]
    """
    path = Path(text)
    try:
        if path.is_file():
            text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as problem:
        raise InvalidArgumentError(f"--cost: {path.name} cannot be read: {problem}") from None
    rows = _cost_rows(text.strip())
    if rows is None:
        raise InvalidArgumentError(
            "--cost must be a row for each actual class with a number for each predicted one, "
            f"classes sorted, as '0,5;1,0'; got {text!r}."
        )
    names = [str(label) for label in sorted(set(y.tolist()))]
    widths = {len(row) for row in rows}
    if len(rows) != len(names) or widths != {len(names)}:
        n, several = len(names), "s" if len(rows) > 1 else ""
        listed = ", ".join([*names[:8], *(["..."] if n > 8 else [])])
        raise InvalidArgumentError(
            f"--cost needs {n} rows of {n} numbers: actual {listed} by predicted {listed}; got "
            f"{len(rows)} row{several} of {' or '.join(map(str, sorted(widths)))}."
        )
    return rows


def _cost_rows(text: str) -> list[list[float]] | None:
    """Return the rows of numbers in a text; None if it holds something else."""
    try:
        if text.startswith("["):
            return [[float(cell) for cell in row] for row in json.loads(text)]
        lines = [line for line in text.replace("\n", ";").split(";") if line.strip()]
        return [[float(cell) for cell in line.split(",")] for line in lines] or None
    except (TypeError, ValueError):
        return None


def check_output(path: Path | None) -> None:
    """Refuse a file that cannot be written, before hours of work and not after.

    Examples
    --------
    >>> check_output(Path("nowhere") / "model.sureleaf")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: there is no folder 'nowhere' for model.sureleaf. Make it.
    """
    if path is None:
        return
    if str(path) == "-":
        raise InvalidArgumentError("the result is written to a file; got '-'. Name a file.")
    if not path.parent.is_dir():
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

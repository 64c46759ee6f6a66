"""The options that commands share, and functions that read their values."""

import functools
import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli.output import complete_choices, complete_column
from sureleaf.errors import InvalidArgumentError, suggestion

if TYPE_CHECKING:
    from sureleaf.evaluation.designs import Design
    from sureleaf.files import CsvFormat as CsvFormat  # for the commands, too
    from sureleaf.scale import SourceRows

__all__ = [
    "check_held_out",
    "check_output",
    "decided_by",
    "evaluated_model",
    "fitted_for",
    "make_model",
    "read_cost",
    "read_design",
    "read_label",
    "read_labels",
    "unlabelled_note",
    "with_csv_options",
    "with_tree_options",
]

# ---- the table and its columns -----------------------------------------------------------------

Data = Annotated[
    Path,
    typer.Argument(
        help="A CSV, Parquet, Arrow, ARFF or Excel file, or - for standard input.", metavar="DATA"
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        help="Column to predict.",
        metavar="COLUMN",
        autocompletion=complete_column,
    ),
]
TableTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column to predict; needed with a table.",
        metavar="COLUMN",
        autocompletion=complete_column,
    ),
]
TableTargets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        help="Column to predict; needed with tables. Give it once, or once per table.",
        metavar="COLUMN",
        autocompletion=complete_column,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        help="Column of groups; rows of one group stay together.",
        metavar="COLUMN",
        autocompletion=complete_column,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(help="Column of row weights.", metavar="COLUMN", autocompletion=complete_column),
]

_READING = "Reading the table"

Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--id",
        help="Column to leave out, such as a row number; may be repeated.",
        metavar="COLUMN",
        autocompletion=complete_column,
        rich_help_panel=_READING,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        help="Column of numbers whose values are categories, such as codes; may be repeated.",
        metavar="COLUMN",
        autocompletion=complete_column,
        rich_help_panel=_READING,
    ),
]
CSV_OPTIONS: dict[str, Any] = {
    "delimiter": Annotated[
        str | None,
        typer.Option(
            help="Delimiter of a CSV file: one character, or its name.",
            show_default="detected",
            autocompletion=complete_choices("comma", "semicolon", "tab", "bar", "space"),
            rich_help_panel=_READING,
        ),
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(
            help="Encoding of a CSV file.",
            show_default="utf-8",
            autocompletion=complete_choices("utf-8", "utf-16", "windows-1252", "latin-1"),
            rich_help_panel=_READING,
        ),
    ],
    "decimal": Annotated[
        str | None,
        typer.Option(
            help="Decimal mark of a CSV file: . or ,",
            show_default="detected",
            rich_help_panel=_READING,
        ),
    ],
    "thousands": Annotated[
        str | None,
        typer.Option(
            help="Thousands separator of numbers in a CSV file: . , ' or a space",
            show_default="none",
            rich_help_panel=_READING,
        ),
    ],
    "missing": Annotated[
        list[str] | None,
        typer.Option(
            help="Cell of a CSV file that means a missing value, such as '?'; may be repeated.",
            metavar="TEXT",
            rich_help_panel=_READING,
        ),
    ],
}
"""The options of every command that reads a table: how its CSV file is written."""


def with_csv_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `CSV_OPTIONS` to a command, which takes them as a `CsvFormat` called ``csv``."""

    def csv_format(
        delimiter: str | None,
        encoding: str | None,
        decimal: str | None,
        thousands: str | None,
        missing: list[str] | None,
    ) -> "CsvFormat":
        from sureleaf.files import CsvFormat

        return CsvFormat(delimiter, encoding, decimal, tuple(missing or ()), thousands)

    return _with_options(command, CSV_OPTIONS, "csv", csv_format)


def _with_options(
    command: Callable[..., None], options: dict[str, Any], name: str, collect: Callable[..., Any]
) -> Callable[..., None]:
    """Add options to a command, which takes what ``collect`` makes of them as one argument."""

    @functools.wraps(command)
    def run(**values: Any) -> None:
        collected = collect(**{option: values.pop(option) for option in options})
        command(**values, **{name: collected})

    signature = inspect.signature(command)
    own = [parameter for each, parameter in signature.parameters.items() if each != name]
    added = [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for each, option in options.items()
    ]
    # typer reads the options of a command from these two.
    run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*own, *added)} | {"return": None}
    return run


def unlabelled_note(n_rows: int) -> list[str]:
    """Return the line that counts the rows without a label; no line if there are none."""
    if not n_rows:
        return []
    rows = "1 row without a label is" if n_rows == 1 else f"{n_rows:,} rows without a label are"
    return [f"! {rows} left out."]


# ---- models ------------------------------------------------------------------------------------

SavedModel = Annotated[Path, typer.Argument(help="A model saved by sureleaf fit.", metavar="MODEL")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="CLASSIFIER",
        help="TreeClassifier, TreeClassifier.c45, BaggedTreesClassifier, or the full name of a "
        "classifier of another library; parameters may follow in parentheses.",
        show_default="TreeClassifier",
    ),
]

_TREE = "The tree"
_CRITERIA = ("gain_ratio", "entropy", "gini")
_TREES = ("default", "c45")
_PRUNINGS = ("auto", "pessimistic", "cost_complexity", "reduced_error", "utility", "none")
_CATEGORICAL_SPLITS = ("multiway", "subset")
_LEAF_ESTIMATES = (
    "auto",
    "frequency",
    "laplace",
    "m_estimate",
    "jeffreys",
    "blend",
    "shrinkage",
    "averaging",
    "venn",
)
_LEVELS_FROM = ("cross_fit", "honest", "training")

TREE_OPTIONS: dict[str, Any] = {
    "tree": Annotated[
        str | None,
        typer.Option(
            help="default, or c45 for the tree that C4.5 grows; other options change it.",
            show_default="default",
            autocompletion=complete_choices(*_TREES),
            rich_help_panel=_TREE,
        ),
    ],
    "max_leaves": Annotated[
        int | None,
        typer.Option(
            help="Largest number of leaves.", show_default="no limit", rich_help_panel=_TREE
        ),
    ],
    "max_depth": Annotated[
        int | None,
        typer.Option(
            help="Largest number of splits from the root to a leaf.",
            show_default="no limit",
            rich_help_panel=_TREE,
        ),
    ],
    "margin": Annotated[
        float | None,
        typer.Option(
            help="Accuracy that may be given up for a smaller tree.",
            show_default="0.01",
            rich_help_panel=_TREE,
        ),
    ],
    "min_samples_leaf": Annotated[
        float | None,
        typer.Option(
            help="Least number of rows in a leaf; C4.5: in two branches of a split.",
            show_default="2; bagged: 1",
            rich_help_panel=_TREE,
        ),
    ],
    "criterion": Annotated[
        str | None,
        typer.Option(
            help="Split criterion: entropy, gini or gain_ratio.",
            show_default="entropy; bagged: gini; c45: gain_ratio",
            autocompletion=complete_choices(*_CRITERIA),
            rich_help_panel=_TREE,
        ),
    ],
    "pruning": Annotated[
        str | None,
        typer.Option(
            help="Pruning: auto, pessimistic, cost_complexity, reduced_error, utility or none.",
            show_default="auto; bagged: none; c45: pessimistic",
            autocompletion=complete_choices(*_PRUNINGS),
            rich_help_panel=_TREE,
        ),
    ],
    "categorical_split": Annotated[
        str | None,
        typer.Option(
            help="Two groups of categories (subset), or one branch per category (multiway).",
            show_default="subset; c45: multiway",
            autocompletion=complete_choices(*_CATEGORICAL_SPLITS),
            rich_help_panel=_TREE,
        ),
    ],
    "leaf_estimate": Annotated[
        str | None,
        typer.Option(
            help="How the counts of a leaf become probabilities: auto, frequency, laplace, "
            "m_estimate, ...",
            show_default="auto",
            autocompletion=complete_choices(*_LEAF_ESTIMATES),
            rich_help_panel=_TREE,
        ),
    ],
    "levels_from": Annotated[
        str | None,
        typer.Option(
            help="Rows that levels come from: cross_fit, honest (half of the rows are set aside, "
            "which allows guarantees) or training.",
            show_default="cross_fit",
            autocompletion=complete_choices(*_LEVELS_FROM),
            rich_help_panel=_TREE,
        ),
    ],
}
"""The options of every command that fits a tree: parameters of `TreeClassifier`, and `tree`."""


def with_tree_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `TREE_OPTIONS` to a command, which takes the given ones as a dict `tree_options`."""

    def given(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value is not None}

    return _with_options(command, TREE_OPTIONS, "tree_options", given)


Bagged = Annotated[
    int | None,
    typer.Option(
        help="Number of fully grown trees on bootstrap samples (a forest), instead of one tree.",
        metavar="TREES",
        rich_help_panel=_TREE,
    ),
]


def make_model(
    tree_options: dict[str, Any], *, bagged: int | None, jobs: int | None, seed: int
) -> Any:
    """Make the classifier that the options describe.

    Parameters
    ----------
    tree_options : dict
        The given ones of `TREE_OPTIONS`.
    bagged : int or None
        The number of bagged trees; None for a single tree.
    jobs : int or None
        The number of threads.
    seed : int
        The random state.

    Returns
    -------
    TreeClassifier or BaggedTreesClassifier

    Examples
    --------
    >>> make_model({"pruning": "none"}, bagged=None, jobs=None, seed=0)
    TreeClassifier(pruning=None, random_state=0)
    """
    from sureleaf.estimators import BaggedTreesClassifier
    from sureleaf.estimators.bagged_trees import FOREST_TREE

    if bagged is None:
        return _make_tree(tree_options, n_jobs=jobs, random_state=seed)
    tree_options = dict(tree_options)
    cost = tree_options.pop("cost", None)
    base = {} if "tree" in tree_options else FOREST_TREE
    tree = _make_tree(base | tree_options) if tree_options else None
    return BaggedTreesClassifier(
        estimator=tree, n_estimators=bagged, cost=cost, n_jobs=jobs, random_state=seed
    )


def _make_tree(tree_options: dict[str, Any], **parameters: Any) -> Any:
    from sureleaf.estimators import TreeClassifier

    chosen = dict(tree_options)
    name = chosen.pop("tree", "default")
    if name not in _TREES:
        raise InvalidArgumentError(
            f"--tree must be {' or '.join(_TREES)}; got {name!r}."
            f"{suggestion(name, _TREES, listed=False)}"
        )
    if chosen.get("pruning") == "none":
        chosen["pruning"] = None
    make = TreeClassifier.c45 if name == "c45" else TreeClassifier
    return make(**chosen, **parameters)


def evaluated_model(name: str | None, tree_options: dict[str, Any], X: Any) -> Any:
    """Return the classifier that --model names, or the tree that the options describe.

    Examples
    --------
    >>> evaluated_model(None, {"max_leaves": 5}, None)
    TreeClassifier(max_leaves=5)
    """
    if name is None:
        return _make_tree(tree_options)
    if tree_options:
        option = next(iter(tree_options))
        raise InvalidArgumentError(
            f"--{option.replace('_', '-')} cannot be used with --model. Write the parameters after "
            'the name of the model, such as --model "TreeClassifier(max_leaves=5)".'
        )
    from sureleaf.report.question import read_model

    return read_model(name, X)


def read_batches(
    data: Path,
    target: str,
    *,
    weight: str | None,
    group: str | None,
    drop: list[str] | None,
    csv: "CsvFormat",
    categorical: list[str] | None,
    memory: str | None,
    jobs: int | None = None,
) -> "SourceRows":
    """Read a table in batches; rows without a label are left out, as from a table in memory."""
    from sureleaf.arguments import thread_count
    from sureleaf.scale import Roles, open_source, read_rows

    return read_rows(
        open_source(data, csv=csv),
        Roles(target, weight, group, tuple(drop or ()), skips_unlabelled=True),
        categorical_features=dict.fromkeys(categorical, "categorical") if categorical else "auto",
        memory=memory,
        n_threads=thread_count(jobs),
    )


# ---- evaluation --------------------------------------------------------------------------------

_DESIGNS = ("kfold", "holdout", "repeated", "leave-one-out", "bootstrap", "nested")
_MEASURES = ("accuracy", "auc", "f_measure", "nce", "quadratic_loss", "cost", "decided_cost")

MeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        help="accuracy, auc, f_measure, nce (log loss), quadratic_loss, cost, ...",
        autocompletion=complete_choices(*_MEASURES),
    ),
]
CostedMeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="accuracy, auc, f_measure, nce (log loss), quadratic_loss, cost, decided_cost (cost "
        "of the decisions with the least expected cost), ...",
        show_default="accuracy; with costs decided_cost",
        autocompletion=complete_choices(*_MEASURES),
    ),
]
DesignName = Annotated[
    str,
    typer.Option(
        help="kfold, holdout, repeated (hold-outs), leave-one-out, bootstrap or nested.",
        autocompletion=complete_choices(*_DESIGNS),
    ),
]
Folds = Annotated[int, typer.Option(help="Number of folds of kfold and nested.")]
Repeats = Annotated[
    int | None,
    typer.Option(
        help="Number of repeats of kfold, repeated and nested, or of bootstrap samples.",
        show_default="1 for kfold, 10 for repeated and nested, 200 for bootstrap",
    ),
]
Test = Annotated[float, typer.Option(help="Share of the rows to test on.", show_default="1/3")]
Positive = Annotated[
    str | None,
    typer.Option(help="The positive class.", show_default="the second of the sorted classes"),
]
Cost = Annotated[
    str | None,
    typer.Option(
        help="Cost matrix: one row per actual class, one number per predicted class, classes "
        "sorted: '0,5;1,0' or '[[0,5],[1,0]]'; or a file with such rows.",
        metavar="ROWS|FILE",
    ),
]
TreeCost = Annotated[
    str | None,
    typer.Option(
        help="Cost matrix by which the tree is pruned and decides: one row per actual class, one "
        "number per predicted class, classes sorted: '0,5;1,0'; or a file with such rows.",
        metavar="ROWS|FILE",
        rich_help_panel=_TREE,
    ),
]
DecisionCost = Annotated[
    str | None,
    typer.Option(
        help="Cost matrix by which the model decides, in place of its own: one row per actual "
        "class, one number per predicted class, classes sorted: '0,5;1,0'; or a file.",
        metavar="ROWS|FILE",
    ),
]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Confidence = Annotated[float, typer.Option(help="Flag leaves with a lower confidence.")]
Utility = Annotated[float | None, typer.Option(help="Flag leaves with a lower utility, too.")]


def read_design(name: str, folds: int, repeats: int | None, test: float) -> "Design":
    """Return the design of this name.

    Examples
    --------
    >>> read_design("kfold", 5, 2, 1 / 3)
    KFold(n_splits=5, repeats=2, stratified=True, resample='none', time_ordered=False)
    """
    from sureleaf import designs

    def repeats_or(default: int) -> int:
        return default if repeats is None else repeats

    makers: dict[str, Any] = {
        "kfold": lambda: designs.KFold(folds, repeats=repeats_or(1)),
        "holdout": lambda: designs.Holdout(test),
        "repeated": lambda: designs.RepeatedHoldout(repeats_or(10), test),
        "leave-one-out": designs.LeaveOneOut,
        "bootstrap": lambda: designs.Bootstrap(repeats_or(200)),
        "nested": lambda: designs.NestedKFold(folds, repeats=repeats_or(10)),
    }
    if name not in makers:
        raise InvalidArgumentError(
            f"--design must be one of {', '.join(makers)}; got {name!r}."
            f"{suggestion(name, makers, listed=False)}"
        )
    design: Design = makers[name]()
    return design


def read_label(text: str | None, y: Any) -> Any:
    """Return the label that is written like the text; labels may be numbers or bools."""
    if text is None:
        return None
    labels = _labels_by_text(y)
    if text not in labels:
        raise InvalidArgumentError(
            f"--positive must be a label of the target; got {text!r}.{suggestion(text, labels)}"
        )
    return labels[text]


def read_labels(text: str, y: Any) -> list[Any]:
    """Return the labels of a list such as "no,yes"; labels that do not occur stay text."""
    labels = _labels_by_text(y)
    return [labels.get(word.strip(), word.strip()) for word in text.split(",")]


def _labels_by_text(y: Any) -> dict[str, Any]:
    return {str(label): label for label in dict.fromkeys(y.tolist())}


def read_cost(text: str, y: Any = None) -> list[list[float]]:
    """Return the cost matrix in a text ("0,5;1,0" or JSON), or in a file that holds such a text.

    Without labels, its size is not checked here.

    Examples
    --------
    >>> import numpy as np
    >>> read_cost("0,5;1,0", np.array(["bad", "good"]))
    [[0.0, 5.0], [1.0, 0.0]]
    """
    path = Path(text)
    try:
        if path.is_file():
            text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(f"--cost: {path.name} cannot be read: {error}") from None
    rows = _parse_cost(text.strip())
    if rows is None:
        raise InvalidArgumentError(
            "--cost must have one row per actual class with one number per predicted class, "
            f"classes sorted, such as '0,5;1,0'; got {text!r}."
        )
    if y is None:
        return rows
    names = [str(label) for label in sorted(set(y.tolist()))]
    widths = {len(row) for row in rows}
    if len(rows) != len(names) or widths != {len(names)}:
        n, plural = len(names), "s" if len(rows) > 1 else ""
        listed = ", ".join([*names[:8], *(["..."] if n > 8 else [])])
        raise InvalidArgumentError(
            f"--cost needs {n} rows of {n} numbers: actual {listed} by predicted {listed}; got "
            f"{len(rows)} row{plural} of {' or '.join(map(str, sorted(widths)))}."
        )
    return rows


def fitted_for(model: Any, cost: list[list[float]] | None) -> Any:
    """Return a classifier that is fitted for the costs, if it is ours and prunes by costs.

    Others are only decided by them.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> fitted_for(TreeClassifier(), [[0, 5], [1, 0]])
    TreeClassifier(cost=[[0, 5], [1, 0]])
    >>> fitted_for(TreeClassifier.c45(), [[0, 5], [1, 0]]).cost is None
    True
    """
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier

    if cost is None or getattr(model, "cost", cost) is not None:
        return model
    counts_errors = ("pessimistic", "utility")
    is_tree = isinstance(model, TreeClassifier)
    if is_tree and (model.collapse or model.pruning in counts_errors):
        return model
    is_ours = is_tree or isinstance(model, BaggedTreesClassifier)
    return model.set_params(cost=cost) if is_ours else model


def decided_by(model: Any, cost: str | None) -> Any:
    """Return a loaded model that decides by the costs of an option, if they are given."""
    if cost is None:
        return model
    if not hasattr(model, "with_cost"):
        raise InvalidArgumentError(
            "--cost goes with one tree here; got bagged trees, whose levels are those of their own "
            "decisions. Fit them with the costs: sureleaf fit --bagged 30 --cost ..."
        )
    return model.with_cost(read_cost(cost, model.classes_))


def check_held_out(model: Any, what: str, advice: str) -> None:
    """Raise an error if a tree has no rows that did not grow it, with advice for the command line.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.
    what : str
        The option or command that needs such rows.
    advice : str
        A sentence: what to do.
    """
    held_out = model.model_.held_out
    if held_out is None:
        raise InvalidArgumentError(
            f"{what} needs rows that did not grow the tree; got a tree that has none. {advice}"
        )
    if held_out.problem:
        raise InvalidArgumentError(
            f"{what} needs held-out rows that are independent of each other, without weights; "
            f"{held_out.problem} {advice}"
        )


def _parse_cost(text: str) -> list[list[float]] | None:
    """Return the rows of numbers in a text; None if it holds something else."""
    try:
        if text.startswith("["):
            return [[float(cell) for cell in row] for row in json.loads(text)]
        lines = [line for line in text.replace("\n", ";").split(";") if line.strip()]
        return [[float(cell) for cell in line.split(",")] for line in lines] or None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


# ---- running and output ------------------------------------------------------------------------


_MOST_JOBS = 1_000


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0 or abs(jobs or 1) > _MOST_JOBS:
        raise InvalidArgumentError(
            f"--jobs must be a whole number other than 0, up to {_MOST_JOBS:,}; got {jobs}. Use 1 "
            "for one core, -1 for all."
        )
    return jobs


_LARGEST_SEED = 2**32 - 1  # of scikit-learn


def _check_seed(seed: int) -> int:
    if not 0 <= seed <= _LARGEST_SEED:
        raise InvalidArgumentError(
            f"--seed must be a whole number from 0 to {_LARGEST_SEED}; got {seed}."
        )
    return seed


Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", callback=_check_seed)]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        help="Number of parallel workers.",
        show_default="1",
        callback=_check_jobs,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", help="Number of threads.", show_default="all cores", callback=_check_jobs
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Read the table in batches, and use about so much memory, such as 2GB. A folder is "
        "always read in batches.",
        metavar="SIZE",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SummaryAsJson = Annotated[
    bool, typer.Option("--json", help="Print a summary as JSON; needs --output.")
]


Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Let the result replace a file that is read.")
]


def check_output(path: Path | None, *inputs: Path | str | None, overwrite: bool) -> None:
    """Raise an error if a file cannot be written, before the work begins and not after it.

    A file that the command reads is replaced only on request. An input may be a folder, or a text
    that is the name of a file or something else, as --cost is.
    """
    if path is None:
        return
    if str(path) == "-":
        raise InvalidArgumentError("the result is written to a file; got '-'. Name a file.")
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"there is no folder {str(path.parent)!r} for {path.name}. Create it first."
        )
    if not path.exists() or overwrite:
        return
    for file in inputs:
        if file is None or not os.path.exists(file):
            continue
        is_inside = os.path.isdir(file) and path.resolve().is_relative_to(Path(file).resolve())
        if is_inside or path.samefile(file):
            name = path.name if is_inside else Path(file).name
            raise InvalidArgumentError(
                f"the result must not replace {name}, which is read; got it as the output, too. "
                "Name another file, or pass --overwrite."
            )

"""The options that commands share, and functions that read their values."""

import ast
import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sureleaf.cli.output import complete_choices, complete_column
from sureleaf.errors import InvalidArgumentError, suggestion

if TYPE_CHECKING:
    from sureleaf.commands.question import Question
    from sureleaf.evaluation.designs import Design
    from sureleaf.files import CsvFormat
    from sureleaf.scale import SourceRows

__all__ = [
    "Setting",
    "TableOptions",
    "check_held_out",
    "check_output",
    "decided_by",
    "evaluated_model",
    "fitted_for",
    "make_model",
    "read_cost",
    "read_csv_format",
    "read_design",
    "read_label",
    "read_labels",
    "read_names",
    "refuse_table_options",
    "row_arguments",
    "unlabelled_note",
    "with_settings",
    "with_table_options",
    "with_tree_options",
]

# ---- the table and its columns -----------------------------------------------------------------

_READING = "Reading the table"
_TREE = "The tree"


def column_option(*names: str, help: str, panel: str | None = None) -> Any:
    """Return an option whose value is the name of a column, which the shell completes."""
    return typer.Option(
        *names, help=help, metavar="COLUMN", autocompletion=complete_column, rich_help_panel=panel
    )


Data = Annotated[
    Path,
    typer.Argument(
        help="A CSV, Parquet, Arrow, ARFF or Excel file, or - for standard input.", metavar="DATA"
    ),
]
Target = Annotated[str, column_option("--target", "-t", help="Column to predict.")]
TableTarget = Annotated[
    str | None, column_option("--target", "-t", help="Column to predict; needed with a table.")
]
TableTargets = Annotated[
    list[str] | None,
    column_option(
        "--target",
        "-t",
        help="Column to predict; needed with tables. Give it once, or once per table.",
    ),
]

_CSV_KEYS = ("delimiter", "encoding", "decimal", "thousands", "missing")
_MARKS = {"comma": ",", "point": ".", "apostrophe": "'", "space": " "}
_CSV_EXAMPLES = (
    *(f"delimiter={name}" for name in ("comma", "semicolon", "tab", "bar", "space")),
    *(f"encoding={name}" for name in ("utf-8", "utf-16", "windows-1252", "latin-1")),
    *("decimal=comma", "decimal=point"),
    *(f"thousands={name}" for name in _MARKS),
    "missing=",
)

_TABLE_OPTIONS: dict[str, Any] = {
    "group": Annotated[
        str | None, column_option(help="Column of groups; rows of one group stay together.")
    ],
    "weight": Annotated[str | None, column_option(help="Column of row weights.")],
    "drop": Annotated[
        list[str] | None,
        column_option(
            "--drop",
            "--id",
            help="Column to leave out, such as a row number; may be repeated.",
            panel=_READING,
        ),
    ],
    "categorical": Annotated[
        list[str] | None,
        column_option(
            help="Column of numbers whose values are categories, such as codes; may be repeated.",
            panel=_READING,
        ),
    ],
    "csv": Annotated[
        list[str] | None,
        typer.Option(
            "--csv",
            help="How a CSV file is written, where it is not detected: delimiter=semicolon, "
            "encoding=windows-1252, decimal=comma, thousands=point, or missing=? for cells that "
            "mean a missing value; may be repeated.",
            metavar="KEY=VALUE",
            autocompletion=complete_choices(*_CSV_EXAMPLES),
            rich_help_panel=_READING,
        ),
    ],
}


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table are read, and how its CSV file is written."""

    csv: "CsvFormat"
    group: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def read(self, data: Path, target: str) -> "Question":
        """Read a table into memory."""
        from sureleaf.commands.question import read_question

        return read_question(data, target, **vars(self))

    def read_batches(
        self,
        data: Path,
        target: str,
        memory: str | None,
        *,
        jobs: int | None = None,
        grows_large_trees: bool | None = None,
    ) -> "SourceRows":
        """Read a table in batches; rows without a label are left out, as from one in memory."""
        from sureleaf.arguments import thread_count
        from sureleaf.scale import Roles, open_source, read_rows

        kinds = dict.fromkeys(self.categorical, "categorical")
        return read_rows(
            open_source(data, csv=self.csv),
            Roles(target, self.weight, self.group, self.drop, skips_unlabelled=True),
            categorical_features=kinds or "auto",
            memory=memory,
            n_threads=thread_count(jobs),
            grows_large_trees=grows_large_trees,
        )


def with_table_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options to a command, by default all of the table, which takes them as ``table``."""
    options = {name: _TABLE_OPTIONS[name] for name in names or _TABLE_OPTIONS}

    def collect(csv: list[str] | None, **columns: Any) -> TableOptions:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in columns.items()
            if value is not None
        }
        return TableOptions(read_csv_format(csv or ()), **given)

    return functools.partial(_with_options, options=options, name="table", collect=collect)


def read_csv_format(settings: Iterable[str]) -> "CsvFormat":
    """Return what ``KEY=VALUE`` texts say about a CSV file.

    Examples
    --------
    >>> read_csv_format(["delimiter=semicolon", "decimal=comma", "missing=?", "missing=-"])
    CsvFormat(delimiter=';', encoding=None, decimal=',', missing=('?', '-'), thousands=None)
    """
    from sureleaf.files import CsvFormat

    values: dict[str, str] = {}
    missing: list[str] = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in _CSV_KEYS:
            raise InvalidArgumentError(
                f"--csv must be KEY=VALUE, where KEY is {', '.join(_CSV_KEYS[:-1])} or "
                f"{_CSV_KEYS[-1]}; got {setting!r}.{suggestion(key, _CSV_KEYS, listed=False)}"
            )
        if key == "missing":
            missing.append(value)
        elif key in values:
            raise InvalidArgumentError(
                f"--csv {key}= must be given once; got {values[key]!r} and {value!r}."
            )
        else:
            values[key] = _MARKS.get(value, value) if key in ("decimal", "thousands") else value
    return CsvFormat(**values, missing=tuple(missing))


def _with_options(
    command: Callable[..., None],
    *,
    options: dict[str, Any],
    name: str,
    collect: Callable[..., Any],
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


class Setting(NamedTuple):
    """An option as data: the parameter that it sets, its type, its help and its choices."""

    name: str
    kind: type
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()
    short: str = ""
    metavar: str | None = None

    def option(self, panel: str | None = None) -> Any:
        """Return the option as typer has it; its value is None if it is not given."""
        names = [f"--{self.name.replace('_', '-')}", *([self.short] if self.short else [])]
        option = typer.Option(
            *names,
            help=self.help,
            metavar=self.metavar,
            show_default=self.default or False,
            autocompletion=complete_choices(*self.choices) if self.choices else None,
            rich_help_panel=panel,
        )
        return Annotated[self.kind | None, option]


def with_settings(
    settings: Iterable[Setting], name: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options to a command, which takes their values as a dict of this name."""
    options = {setting.name: setting.option() for setting in settings}
    return functools.partial(_with_options, options=options, name=name, collect=dict)


_TREE_SETTINGS = (
    Setting("max_leaves", int, "Largest number of leaves: the best such tree.", "no limit"),
    Setting("max_depth", int, "Largest number of splits from the root to a leaf.", "no limit"),
    Setting(
        "margin",
        float,
        "Accuracy that may be given up for a smaller tree.",
        "0.01; with --max-leaves: 0",
    ),
    Setting(
        "levels_from",
        str,
        "Rows that levels come from: cross_fit, honest (half of the rows are set aside, which "
        "allows guarantees) or training.",
        "cross_fit",
        ("cross_fit", "honest", "training"),
    ),
)
_TREES = ("default", "c45")
_TREE_EXAMPLES = (
    *_TREES,
    *(f"criterion={name}" for name in ("entropy", "gini", "gain_ratio")),
    *(f"pruning={name}" for name in ("auto", "pessimistic", "cost_complexity", "none")),
    *(f"categorical_split={name}" for name in ("subset", "multiway")),
    *(f"leaf_estimate={name}" for name in ("frequency", "laplace", "m_estimate")),
    "min_samples_leaf=",
)
_OWN_OPTIONS = ("cost", "n_jobs", "random_state")  # --cost, --jobs and --seed


def with_tree_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the tree to a command, which takes their values as ``tree_options``.

    They are parameters of `TreeClassifier`, and ``tree``, the name of what they change.
    """
    options: dict[str, Any] = {
        "tree": Annotated[
            list[str] | None,
            typer.Option(
                "--tree",
                help="default, c45 for the tree that C4.5 grows, or PARAMETER=VALUE, such as "
                "pruning=none: any parameter of TreeClassifier; may be repeated.",
                metavar="NAME",
                show_default="default",
                autocompletion=complete_choices(*_TREE_EXAMPLES),
                rich_help_panel=_TREE,
            ),
        ]
    }
    options |= {setting.name: setting.option(_TREE) for setting in _TREE_SETTINGS}
    return _with_options(command, options=options, name="tree_options", collect=read_tree_options)


def read_tree_options(tree: list[str] | None, **given: Any) -> dict[str, Any]:
    """Return the values of the options that are given.

    Examples
    --------
    >>> read_tree_options(["c45", "min_samples_leaf=5", "pruning=none"], max_leaves=4)
    {'max_leaves': 4, 'tree': 'c45', 'min_samples_leaf': 5, 'pruning': None}
    """
    values = {name: value for name, value in given.items() if value is not None}
    for text in tree or ():
        parameter, equals, value = text.partition("=")
        if not equals:
            parameter, value = "tree", text
        if not equals and text not in _TREES:
            raise InvalidArgumentError(
                f"--tree must be {', '.join(_TREES)} or PARAMETER=VALUE; got {text!r}."
                f"{suggestion(text, _TREES, listed=False)}"
            )
        if equals and parameter not in (known := _tree_parameters()):
            raise InvalidArgumentError(
                f"--tree must name a parameter of TreeClassifier; got {parameter!r}."
                f"{suggestion(parameter, known)}"
            )
        if parameter in values:
            raise InvalidArgumentError(
                f"{parameter} of the tree must be given once; got {values[parameter]!r} and "
                f"{value!r}."
            )
        values[parameter] = _read_value(value)
    return values


def _tree_parameters() -> list[str]:
    from sureleaf.estimators import TreeClassifier

    return [name for name in TreeClassifier().get_params() if name not in _OWN_OPTIONS]


def _read_value(text: str) -> Any:
    """Return the number, list or None that is written; other values are text."""
    if text.lower() in ("none", "true", "false"):
        text = text.capitalize()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _written_option(name: str) -> str:
    """Return the option that gave one of the `tree_options`."""
    names = {setting.name for setting in _TREE_SETTINGS}
    return f"--{name.replace('_', '-')}" if name in names else "--tree"


def refuse_table_options(tree_options: dict[str, Any], file: str, **others: Any) -> None:
    """Raise an error for an option of a table or of growing a tree beside a fitted model."""
    unused = [_written_option(name) for name in tree_options]
    unused += [f"--{name}" for name, value in others.items() if value]
    if unused:
        raise InvalidArgumentError(
            f"{unused[0]} goes with a table; {file} is a fitted model. Leave it out."
        )


Bagged = Annotated[
    int | None,
    typer.Option(
        help="Number of fully grown trees on bootstrap samples (a forest), instead of one tree.",
        metavar="TREES",
        rich_help_panel=_TREE,
    ),
]


def make_model(
    tree_options: dict[str, Any],
    *,
    cost: str | None,
    y: Any,
    jobs: int | None,
    seed: int,
    bagged: int | None = None,
) -> Any:
    """Make the classifier that the options describe: one tree, or bagged ones.

    Without labels y, the size of the cost matrix is not checked here.

    Examples
    --------
    >>> make_model({"pruning": None}, cost=None, y=None, jobs=None, seed=0)
    TreeClassifier(pruning=None, random_state=0)
    """
    from sureleaf.estimators import BaggedTreesClassifier
    from sureleaf.estimators.bagged_trees import FOREST_TREE

    costs = None if cost is None else read_cost(cost, y)
    if bagged is None:
        return _make_tree(tree_options, cost=costs, n_jobs=jobs, random_state=seed)
    base = {} if "tree" in tree_options else FOREST_TREE
    tree = _make_tree(base | tree_options) if tree_options else None
    return BaggedTreesClassifier(
        estimator=tree, n_estimators=bagged, cost=costs, n_jobs=jobs, random_state=seed
    )


def _make_tree(tree_options: dict[str, Any], **parameters: Any) -> Any:
    from sureleaf.estimators import TreeClassifier

    chosen = dict(tree_options)
    make = TreeClassifier.c45 if chosen.pop("tree", "default") == "c45" else TreeClassifier
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
        raise InvalidArgumentError(
            f"{_written_option(next(iter(tree_options)))} cannot be used with --model. Write the "
            "parameters after the name of the model, such as "
            '--model "TreeClassifier(max_leaves=5)".'
        )
    from sureleaf.commands.question import read_model

    return read_model(name, X)


# ---- evaluation --------------------------------------------------------------------------------

_DESIGNS = ("kfold", "holdout", "repeated", "leave-one-out", "bootstrap")
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
        help="kfold, holdout, repeated (hold-outs), leave-one-out or bootstrap.",
        autocompletion=complete_choices(*_DESIGNS),
    ),
]
Folds = Annotated[int, typer.Option(help="Number of folds of kfold.")]
Repeats = Annotated[
    int | None,
    typer.Option(
        help="Number of repeats of kfold and repeated, or of bootstrap samples.",
        show_default="1 for kfold, 10 for repeated, 200 for bootstrap",
    ),
]
Test = Annotated[float, typer.Option(help="Share of the rows to test on.", show_default="1/3")]
Positive = Annotated[
    str | None,
    typer.Option(help="The positive class.", show_default="the second of the sorted classes"),
]


def _cost_option(help: str, panel: str | None = None) -> Any:
    text = (
        f"{help}: one row per actual class, one number per predicted class, classes sorted: "
        "'0,5;1,0'; or a file with such rows."
    )
    return typer.Option(help=text, metavar="ROWS|FILE", rich_help_panel=panel)


Cost = Annotated[str | None, _cost_option("Cost matrix")]
TreeCost = Annotated[
    str | None, _cost_option("Cost matrix by which the tree is pruned and decides", _TREE)
]
DecisionCost = Annotated[
    str | None, _cost_option("Cost matrix by which the model decides, in place of its own")
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
    }
    if name not in makers:
        raise InvalidArgumentError(
            f"--design must be one of {', '.join(makers)}; got {name!r}."
            f"{suggestion(name, makers, listed=False)}"
        )
    design: Design = makers[name]()
    return design


def row_arguments(question: "Question", positive: str | None, cost: str | None) -> dict[str, Any]:
    """Return what the functions of the library take of a table besides X and y."""
    return {
        "positive": read_label(positive, question.y),
        "cost": None if cost is None else read_cost(cost, question.y),
        "groups": question.groups,
        "sample_weight": question.weights,
    }


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


def read_names(texts: Iterable[str], y: Any) -> dict[Any, str]:
    """Return the names of classes that are written as CLASS=NAME.

    Examples
    --------
    >>> import numpy as np
    >>> read_names(["1=default", "0=paid"], np.array([0, 1]))
    {1: 'default', 0: 'paid'}
    """
    labels, names = _labels_by_text(y), {}
    for text in texts:
        label, equals, name = text.partition("=")
        if not equals or not name or label not in labels:
            raise InvalidArgumentError(
                f"--label must be CLASS=NAME, where CLASS is a label of the target; got {text!r}."
                f"{suggestion(label, labels)}"
            )
        names[labels[label]] = name
    return names


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
    """Raise an error if a tree has no rows that did not grow it.

    ``what`` needs such rows, and ``advice`` is a sentence for the command line.
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
        help="Read the table in batches, and use about so much memory for its codes and for "
        "histograms, such as 2GB. What the rows need beside it is said first if it is more. A "
        "folder is always read in batches.",
        metavar="SIZE",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SummaryAsJson = Annotated[
    bool, typer.Option("--json", help="Print a summary as JSON; needs --output.")
]


def check_output(path: Path | None, *inputs: Path | str | None) -> None:
    """Raise an error if a file cannot be written, before the work begins and not after it.

    A file that the command reads is never replaced. An input may be a folder, or a text that is
    the name of a file or something else, as --cost is.
    """
    if path is None:
        return
    if str(path) == "-":
        raise InvalidArgumentError("the result is written to a file; got '-'. Name a file.")
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"there is no folder {str(path.parent)!r} for {path.name}. Create it first."
        )
    if not path.exists():
        return
    for file in inputs:
        if file is None or not os.path.exists(file):
            continue
        is_inside = os.path.isdir(file) and path.resolve().is_relative_to(Path(file).resolve())
        if is_inside or path.samefile(file):
            name = path.name if is_inside else Path(file).name
            raise InvalidArgumentError(
                f"the result must not replace {name}, which is read; got it as the output, too. "
                "Name another file."
            )

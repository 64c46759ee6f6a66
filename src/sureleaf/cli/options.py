"""The options that commands share, and functions that read their values."""

import copy
import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer
from typer.models import OptionInfo

from sureleaf.cli.output import complete_choices
from sureleaf.errors import InvalidArgumentError, suggestion

if TYPE_CHECKING:
    from sureleaf.commands.learners import TreeOptions as TreeOptions
    from sureleaf.commands.question import Question
    from sureleaf.evaluation.designs import Design as Design
    from sureleaf.files import CsvFormat
    from sureleaf.scale import SourceRows

# ---- groups of options -------------------------------------------------------------------------


class OptionGroup(NamedTuple):
    """Options that a command takes as one argument: their types by name, and what is made of them.

    An option that is not given is None. `panel` is where the help shows them.
    """

    options: dict[str, Any]
    collect: Callable[..., Any]
    panel: str | None = None


def with_options(**declared: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare the parameters of a command by their names.

    A group of options becomes one argument: what it collects. An `option` or an argument of typer
    has the type of the parameter. What is not declared here has its declaration as its type.
    """
    groups = {name: one for name, one in declared.items() if isinstance(one, OptionGroup)}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            collected = {
                name: group.collect(**{option: values.pop(option) for option in group.options})
                for name, group in groups.items()
            }
            command(**values, **collected)

        own = [
            one.replace(annotation=Annotated[one.annotation, _named(declared[one.name], one.name)])
            if one.name in declared
            else one
            for one in inspect.signature(command).parameters.values()
            if one.name not in groups
        ]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[get_args(one)[0], _named(get_args(one)[1], name, group.panel)],
            )
            for group in groups.values()
            for name, one in group.options.items()
        ]
        # typer reads the options of a command from these two.
        run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in (*own, *added)} | {"return": None}
        return run

    return decorate


def _named(info: Any, parameter: str, panel: str | None = None) -> Any:
    """Return a declaration whose option has the name of its parameter, if it has no long name."""
    if not isinstance(info, OptionInfo):
        return info
    named, names = copy.copy(info), tuple(info.param_decls or ())
    if not any(name.startswith("--") for name in names):
        named.param_decls = (f"--{parameter.replace('_', '-')}", *names)
    named.rich_help_panel = panel or info.rich_help_panel
    return named


def optional(kind: Any, help: str, *names: str, **more: Any) -> Any:
    """Return the type of an option of a group."""
    return Annotated[kind | None, option(help, *names, **more)]


def option(
    help: str, *names: str, default: str | bool = True, words: Iterable[str] = (), **more: Any
) -> Any:
    """Return an option: its help, names, and the words to which the shell completes its value.

    `default` is what the help shows as the default. `panel` is where the help shows the option.
    """
    if words:
        more["autocompletion"] = complete_choices(*words)
    panel = more.pop("panel", None)
    info = typer.Option(help=help, show_default=default, rich_help_panel=panel, **more)
    info.param_decls = names
    return info


def choice(what: str, given: str, choices: Iterable[str]) -> str:
    """Return the value of an option that must be one of some words."""
    words = list(choices)
    if given not in words:
        raise InvalidArgumentError(
            f"{what} must be one of {', '.join(words)}; got {given!r}."
            f"{suggestion(given, words, listed=False)}"
        )
    return given


# ---- the table and its columns -----------------------------------------------------------------

_TABLE, _TREE, _EVALUATION, _RUN = "The table", "The tree", "The evaluation", "The run"


def column(help: str, *names: str, **more: Any) -> Any:
    """Return an option whose value is the name of a column."""
    return option(help, *names, metavar="COLUMN", **more)


Data = Annotated[
    Path,
    typer.Argument(
        help="A CSV, Parquet, Arrow, ARFF or Excel file, or - for standard input.", metavar="DATA"
    ),
]
Target = Annotated[str, column("Column to predict.", "--target", "-t")]
TableTarget = Annotated[
    str | None, column("Column to predict; needed with a table.", "--target", "-t")
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
    "group": optional(str, "Rows of one group stay together.", metavar="COLUMN"),
    "weight": optional(str, "Weights of the rows.", metavar="COLUMN"),
    "drop": optional(
        list[str],
        "To leave out, such as a row number; may be repeated.",
        "--drop",
        "--id",
        metavar="COLUMN",
    ),
    "categorical": optional(
        list[str], "Numbers that are categories, such as codes; may be repeated.", metavar="COLUMN"
    ),
    "csv": optional(
        list[str],
        "How a CSV file is written, where it is not detected: delimiter=semicolon, "
        "encoding=windows-1252, decimal=comma, thousands=point, missing=?; may be repeated.",
        metavar="KEY=VALUE",
        words=_CSV_EXAMPLES,
    ),
}


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table are read, and how its CSV file is written."""

    csv: "CsvFormat"
    group: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def for_models(self, *models: Any) -> "TableOptions":
        """Return the same options for new rows: columns that trees know as text are text.

        In a new file, all their cells may look like numbers. Models of other libraries do not say.
        """
        schemas = [model.schema_ for model in models if hasattr(model, "schema_")]
        texts = tuple(name for schema in schemas if schema.named for name in schema.text_columns)
        return replace(self, csv=replace(self.csv, text_columns=texts))

    def read(self, data: Path, target: str) -> "Question":
        """Read a table into memory."""
        from sureleaf.commands.question import read_question

        return read_question(data, target, **vars(self))

    def read_batches(
        self,
        data: Path,
        target: str,
        *,
        grows_large_trees: bool,
        memory: str | None = None,
        threads: int | None = None,
        n_jobs: int | None = None,
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
            n_threads=thread_count(threads),
            grows_large_trees=grows_large_trees,
            n_jobs=n_jobs,
        )


def table_options(*names: str) -> OptionGroup:
    """Return options of the table, by default all."""

    def collect(csv: list[str] | None, **columns: Any) -> TableOptions:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in columns.items()
            if value is not None
        }
        return TableOptions(read_csv_format(csv or ()), **given)

    chosen = {name: _TABLE_OPTIONS[name] for name in names or _TABLE_OPTIONS}
    return OptionGroup(chosen, collect, _TABLE)


def read_csv_format(settings: Iterable[str]) -> "CsvFormat":
    """Return what ``KEY=VALUE`` texts say about a CSV file.

    Examples
    --------
    >>> found = read_csv_format(["delimiter=semicolon", "missing=?", "missing=-"])
    >>> found.delimiter, found.missing
    (';', ('?', '-'))
    """
    from sureleaf.files import CsvFormat

    values: dict[str, Any] = {}
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


def given_target(target: str | None, data: Path) -> str:
    """Return the column to predict, which a table needs and a saved model does not."""
    if target is None:
        raise InvalidArgumentError(
            f"--target must name the column of {data.name} to predict; it was not given."
        )
    return target


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
    option(
        "A classifier with parameters in parentheses: TreeClassifier(max_depth=3), "
        "BaggedTreesClassifier, sklearn.naive_bayes.GaussianNB, ...",
        "--model",
        "-m",
        metavar="CLASSIFIER",
        default="the tree of the options",
    ),
]


def _complete_tree(incomplete: str) -> list[str]:
    """Complete the value of --tree; the parameters are loaded when a shell asks for them."""
    from sureleaf.commands.learners import tree_words

    return [word for word in tree_words() if word.startswith(incomplete)]


_TREE_OPTIONS: dict[str, Any] = {
    "tree": optional(
        list[str],
        "c45 for the tree that C4.5 grows, or PARAMETER=VALUE, such as pruning=none: any "
        "parameter of TreeClassifier; may be repeated.",
        metavar="NAME",
        autocompletion=_complete_tree,
    ),
    "max_leaves": optional(
        int, "Largest number of leaves: the best such tree.", default="no limit"
    ),
    "margin": optional(
        float,
        "Accuracy that may be given up for a smaller tree.",
        default="0.01; with --max-leaves: 0",
    ),
    "levels_from": optional(
        str,
        "Rows that levels come from: cross_fit, honest (half of the rows are set aside, which "
        "allows guarantees) or training.",
        default="cross_fit",
        words=("cross_fit", "honest", "training"),
    ),
    "bagged": optional(
        int,
        "Number of fully grown trees on bootstrap samples (a forest), instead of one tree.",
        metavar="TREES",
    ),
}


def tree_options(*names: str) -> OptionGroup:
    """Return ``--tree`` and these options of the tree."""

    def collect(tree: list[str] | None, **given: Any) -> "TreeOptions":
        from sureleaf.commands.learners import read_tree_options

        return read_tree_options(tree or (), **given)

    chosen = {name: _TREE_OPTIONS[name] for name in ("tree", *names)}
    return OptionGroup(chosen, collect, _TREE)


def evaluated_model(name: str | None, tree: "TreeOptions", X: Any) -> Any:
    """Return the classifier that --model names, or the tree that the options describe."""
    if name is None:
        return tree.make()
    tree.refuse(
        "cannot be used with --model. Write the parameters after the name of the model, such as "
        '--model "TreeClassifier(max_leaves=5)".'
    )
    from sureleaf.commands.learners import read_model

    return read_model(name, X)


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


# ---- classes, costs and levels -----------------------------------------------------------------


def _cost_option(help: str, panel: str | None = None) -> Any:
    text = f"{help}: '0,5;1,0', one row per actual class, classes sorted; or a file of such rows."
    return option(text, metavar="ROWS|FILE", panel=panel)


Cost = Annotated[str | None, _cost_option("Cost matrix")]
TreeCost = Annotated[
    str | None, _cost_option("Cost matrix by which the tree is pruned and decides", _TREE)
]
DecisionCost = Annotated[
    str | None, _cost_option("Cost matrix by which the model decides, in place of its own")
]
IntervalLevel = Annotated[float, option("Level of the intervals.")]
Confidence = Annotated[float, option("Flag leaves with a lower confidence.")]
Utility = Annotated[float | None, option("Flag leaves with a lower utility, too.")]


@dataclass(frozen=True)
class Classes:
    """The positive class and the costs, as they were written."""

    positive: str | None
    cost: str | None

    def arguments(self, question: "Question") -> dict[str, Any]:
        """Return what the functions of the library take of a table besides X and y."""
        return {
            "positive": read_label(self.positive, question.y),
            "cost": read_cost(self.cost, question.y),
            "groups": question.groups,
            "sample_weight": question.weights,
        }


def _classes(default: str) -> OptionGroup:
    positive = optional(str, "The positive class.", default=default)
    return OptionGroup({"positive": positive, "cost": Cost}, Classes)


CLASSES = _classes("the second of the sorted classes")
REPORTED_CLASSES = _classes("yes, true, 1 or bad; or the rarest class")


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
    """Return the names of classes that are written as CLASS=NAME."""
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


def read_class_list(text: str, y: Any) -> list[Any]:
    """Return the labels of a list such as "no,yes"; labels that do not occur stay text."""
    labels = _labels_by_text(y)
    return [labels.get(word.strip(), word.strip()) for word in text.split(",")]


def _labels_by_text(y: Any) -> dict[str, Any]:
    return {str(label): label for label in dict.fromkeys(y.tolist())}


def read_cost(text: str | None, y: Any = None) -> list[list[float]] | None:
    """Return the cost matrix in a text ("0,5;1,0" or JSON), or in a file that holds such a text.

    Without labels, its size is not checked here. None stays None: no costs are given.
    """
    if text is None:
        return None
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


def _parse_cost(text: str) -> list[list[float]] | None:
    """Return the rows of numbers in a text; None if it holds something else."""
    try:
        if text.startswith("["):
            return [[float(cell) for cell in row] for row in json.loads(text)]
        lines = [line for line in text.replace("\n", ";").split(";") if line.strip()]
        return [[float(cell) for cell in line.split(",")] for line in lines] or None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


# ---- evaluation --------------------------------------------------------------------------------

_MEASURES = ("accuracy", "auc", "f_measure", "nce", "quadratic_loss", "cost", "decided_cost")
MeasureName = Annotated[
    str | None,
    option(
        "accuracy, auc, f_measure, nce (log loss; nce(floor=0.001) where probabilities may be "
        "0), quadratic_loss, cost, decided_cost (of the decisions of least expected cost), ...",
        default="accuracy; with costs decided_cost",
        words=_MEASURES,
    ),
]

_DEFAULT_FOLDS = 10
_DESIGNS = ("kfold", "holdout", "repeated", "leave-one-out", "bootstrap")


def read_design(
    design: str | None = None, folds: int | None = None, repeats: int | None = None
) -> "Design":
    """Return the design of this name, by default ``kfold``."""
    from sureleaf import designs

    name, has_share, share = (design or "kfold").partition("=")
    choice("--design", name, _DESIGNS)
    if has_share and name not in ("holdout", "repeated"):
        raise InvalidArgumentError(
            f"--design {name} has no share of test rows; got {design!r}. Leave it out."
        )
    try:
        test = float(share) if has_share else 1 / 3
    except ValueError:
        raise InvalidArgumentError(
            f"--design {name}= must be the share of test rows, such as {name}=0.2; got {share!r}."
        ) from None
    n_folds = _DEFAULT_FOLDS if folds is None else folds

    def times(default: int) -> int:
        return default if repeats is None else repeats

    makers: dict[str, Callable[[], Design]] = {
        "kfold": lambda: designs.KFold(n_folds, repeats=times(1)),
        "holdout": lambda: designs.Holdout(test),
        "repeated": lambda: designs.RepeatedHoldout(times(10), test),
        "leave-one-out": designs.LeaveOneOut,
        "bootstrap": lambda: designs.Bootstrap(times(200)),
    }
    return makers[name]()


DESIGN = OptionGroup(
    {
        "design": optional(
            str,
            "kfold, holdout, repeated (hold-outs), leave-one-out or bootstrap; holdout=0.2 "
            "tests on a fifth of the rows.",
            default="kfold",
            words=_DESIGNS,
        ),
        "folds": optional(int, "Number of folds of kfold.", default=str(_DEFAULT_FOLDS)),
        "repeats": optional(
            int,
            "Number of repeats of kfold and repeated, or of bootstrap samples.",
            default="1 for kfold, 10 for repeated, 200 for bootstrap",
        ),
    },
    read_design,
    _EVALUATION,
)

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


Seed = Annotated[int, option("Seed of the random numbers.", callback=_check_seed, panel=_RUN)]


def _jobs(help: str, default: str) -> Any:
    return option(help, "--jobs", "-j", default=default, callback=_check_jobs, panel=_RUN)


Jobs = Annotated[int | None, _jobs("Number of parallel workers.", "1")]
Threads = Annotated[int | None, _jobs("Number of threads.", "all cores")]
Memory = Annotated[
    str | None,
    option(
        "Read the table in batches, as a folder always is, and use about so much memory, such as "
        "2GB, for its codes and for histograms.",
        metavar="SIZE",
        panel=_RUN,
    ),
]
AsJson = Annotated[bool, option("Print JSON instead of text.", "--json", panel=_RUN)]
SummaryAsJson = Annotated[
    bool, option("Print a summary as JSON; needs --output.", "--json", panel=_RUN)
]


def check_output(path: Path | None, *inputs: Path | str | None) -> None:
    """Raise an error if a file cannot be written, before the work begins and not after it.

    A file that the command reads is never replaced, also if it is yet to be made. An input may be a
    folder, or a text that is the name of a file or something else, as --cost is.
    """
    if path is None:
        return
    if str(path) == "-":
        raise InvalidArgumentError("the result is written to a file; got '-'. Name a file.")
    if not path.parent.is_dir():
        raise InvalidArgumentError(
            f"there is no folder {str(path.parent)!r} for {path.name}. Create it first."
        )
    for file in inputs:
        if file is None:
            continue
        exist = path.exists() and os.path.exists(file)
        is_same = path.samefile(file) if exist else path.resolve() == Path(file).resolve()
        is_inside = exist and os.path.isdir(file) and Path(file).resolve() in path.resolve().parents
        if is_inside or is_same:
            name = path.name if is_inside else Path(file).name
            raise InvalidArgumentError(
                f"the result must not replace {name}, which is read; got it as the output, too. "
                "Name another file."
            )

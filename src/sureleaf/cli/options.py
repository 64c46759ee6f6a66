"""The options that say how a table is read, for every command that reads one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import output

if TYPE_CHECKING:
    from sureleaf.files import CsvFormat

__all__ = ["csv_format", "make_model"]


_PANEL = "Reading the table"

Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--id",
        help="Column to leave out, such as a row number; may be repeated.",
        metavar="COLUMN",
        autocompletion=output.column,
        rich_help_panel=_PANEL,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What stands between the cells of a CSV file: a character, or its name.",
        show_default="seen from the file",
        autocompletion=output.words("comma", "semicolon", "tab", "bar", "space"),
        rich_help_panel=_PANEL,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a CSV file.",
        show_default="utf-8",
        autocompletion=output.words("utf-8", "utf-16", "windows-1252", "latin-1"),
        rich_help_panel=_PANEL,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal point of a CSV file: . or ,", show_default="seen", rich_help_panel=_PANEL
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="Cell of a CSV file that is missing, such as '?'; may be repeated.",
        metavar="TEXT",
        rich_help_panel=_PANEL,
    ),
]


def csv_format(
    delimiter: str | None, encoding: str | None, decimal: str | None, missing: list[str] | None
) -> "CsvFormat":
    """Put together what is known about a CSV file.

    Examples
    --------
    >>> csv_format("tab", None, None, ["?"]).missing
    ('?',)
    """
    from sureleaf.files import CsvFormat

    return CsvFormat(delimiter, encoding, decimal, tuple(missing or ()))


# The options of a tree, as fit and leaves take them.

_PANEL_tree_options = "The tree"
_CRITERIA = ("gain_ratio", "entropy", "gini")
_PRUNINGS = ("pessimistic", "cost_complexity", "reduced_error", "utility", "none")
_SPLITS = ("multiway", "subset")
_ESTIMATES = (
    "auto",
    "frequency",
    "laplace",
    "m_estimate",
    "jeffreys",
    "blend",
    "shrinkage",
    "averaging",
)

Criterion = Annotated[
    str | None,
    typer.Option(
        help="What a good split is: gain_ratio, entropy or gini.",
        show_default="gain_ratio; bagged: gini",
        autocompletion=output.words(*_CRITERIA),
        rich_help_panel=_PANEL_tree_options,
    ),
]
Pruning = Annotated[
    str | None,
    typer.Option(
        help="pessimistic, cost_complexity, reduced_error, utility or none.",
        show_default="pessimistic; bagged: none",
        autocompletion=output.words(*_PRUNINGS),
        rich_help_panel=_PANEL_tree_options,
    ),
]
CategoricalSplit = Annotated[
    str | None,
    typer.Option(
        help="A branch for each category (multiway), or two sets of them (subset).",
        show_default="multiway; bagged: subset",
        autocompletion=output.words(*_SPLITS),
        rich_help_panel=_PANEL_tree_options,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        help="Most splits in a row.", show_default="no limit", rich_help_panel=_PANEL_tree_options
    ),
]
MinSamplesLeaf = Annotated[
    float | None,
    typer.Option(
        help="Fewest rows of at least two branches of a split.",
        show_default="2; bagged: 1",
        rich_help_panel=_PANEL_tree_options,
    ),
]
LeafEstimate = Annotated[
    str | None,
    typer.Option(
        help="Counts of a leaf to probabilities: auto, frequency, laplace, m_estimate, ...",
        show_default="auto",
        autocompletion=output.words(*_ESTIMATES),
        rich_help_panel=_PANEL_tree_options,
    ),
]
Bagged = Annotated[
    int | None,
    typer.Option(
        help="So many fully grown trees on bags of the rows, instead of one.",
        metavar="TREES",
        rich_help_panel=_PANEL_tree_options,
    ),
]


_GROWN: dict[str, Any] = {
    "criterion": "gini",
    "pruning": None,
    "categorical_split": "subset",
    "min_samples_leaf": 1,
    "collapse": False,
}
"""How bagged trees are grown where nothing else is asked for."""


def make_model(options: dict[str, Any], *, bagged: int | None, jobs: int | None, seed: int) -> Any:
    """Make the classifier that was asked for; None in the options is what fits.

    Examples
    --------
    >>> make_model({"pruning": "none", "criterion": None}, bagged=None, jobs=None, seed=0)
    TreeClassifier(pruning=None, random_state=0)
    >>> make_model({"max_depth": 3}, bagged=9, jobs=None, seed=0).estimator.criterion
    'gini'
    """
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier

    chosen = {name: value for name, value in options.items() if value is not None}
    if chosen.get("pruning") == "none":
        chosen["pruning"] = None
    if bagged is None:
        return TreeClassifier(**chosen, n_jobs=jobs, random_state=seed)
    tree = TreeClassifier(**_GROWN | chosen) if chosen else None
    return BaggedTreesClassifier(
        estimator=tree, n_estimators=bagged, n_jobs=jobs, random_state=seed
    )

"""The options of a tree, as fit and leaves take them."""

from typing import Annotated, Any

import typer

from sureleaf.cli import completing

__all__ = ["make_model"]

_PANEL = "The tree"
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
        autocompletion=completing.words(*_CRITERIA),
        rich_help_panel=_PANEL,
    ),
]
Pruning = Annotated[
    str | None,
    typer.Option(
        help="pessimistic, cost_complexity, reduced_error, utility or none.",
        show_default="pessimistic; bagged: none",
        autocompletion=completing.words(*_PRUNINGS),
        rich_help_panel=_PANEL,
    ),
]
CategoricalSplit = Annotated[
    str | None,
    typer.Option(
        help="A branch for each category (multiway), or two sets of them (subset).",
        show_default="multiway; bagged: subset",
        autocompletion=completing.words(*_SPLITS),
        rich_help_panel=_PANEL,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(help="Most splits in a row.", show_default="no limit", rich_help_panel=_PANEL),
]
MinSamplesLeaf = Annotated[
    float | None,
    typer.Option(
        help="Fewest rows of at least two branches of a split.",
        show_default="2; bagged: 1",
        rich_help_panel=_PANEL,
    ),
]
LeafEstimate = Annotated[
    str | None,
    typer.Option(
        help="Counts of a leaf to probabilities: auto, frequency, laplace, m_estimate, ...",
        show_default="auto",
        autocompletion=completing.words(*_ESTIMATES),
        rich_help_panel=_PANEL,
    ),
]
Bagged = Annotated[
    int | None,
    typer.Option(
        help="So many fully grown trees on bags of the rows, instead of one.",
        metavar="TREES",
        rich_help_panel=_PANEL,
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

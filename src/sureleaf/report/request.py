"""What a report is requested for: the table, the options, the budget, and where rows come from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier


@dataclass(frozen=True)
class Budget:
    """How often models are fitted for a report."""

    folds: Annotated[int, "Folds of the cross-validation that all models share."]
    repeats: Annotated[int, "Repeats of that cross-validation."]
    bootstraps: Annotated[int, "Bootstrap samples for the .632+ error; 0 if it is not computed."]
    curve_repeats: Annotated[int, "Repeats of the learning curve."]
    band_draws: Annotated[int, "Bootstrap samples for the band around the ROC curve."]
    bagged_trees: Annotated[int, "Number of bagged trees that the tree is compared with."] = 30
    bagged_rows: Annotated[
        int,
        "Most rows of the bootstrap sample of each bagged tree, and of the rows to which the "
        "models of scikit-learn are fitted.",
    ] = 200_000
    curve_rows: Annotated[int, "Most training rows of the learning curve."] = 200_000
    forest_trees: Annotated[int, "Number of trees of scikit-learn's forest."] = 100


_BY_ROWS = (
    # up to this many rows, a report gets this budget
    (300, Budget(10, 5, 100, 20, 1000)),
    (3_000, Budget(10, 3, 100, 20, 1000)),
    (20_000, Budget(10, 1, 50, 10, 500, forest_trees=50)),
    (50_000, Budget(10, 1, 25, 5, 200, forest_trees=30)),
    (200_000, Budget(5, 1, 5, 3, 200, bagged_trees=10, forest_trees=10, bagged_rows=50_000)),
    (500_000, Budget(5, 1, 4, 2, 100, bagged_trees=10, forest_trees=10, bagged_rows=50_000)),
)
_LARGEST_TABLES = Budget(
    3, 1, 0, 2, 50, bagged_trees=10, forest_trees=10, bagged_rows=50_000, curve_rows=100_000
)
"""Growing trees is nearly all of the time, so what bounds it is rows times fits."""


FEWER_REFITS = 3
"""A tree whose size is chosen by cross-validation takes about twelve fits; for it there are so many
times fewer bootstrap samples and repeats of the learning curve."""


def budget_for(n_rows: int, n_units: int, *, is_resized: bool = False) -> Budget:
    """Return the default budget; units are groups, or rows if there are no groups.

    `is_resized`: every fit of the tree chooses its size by cross-validation.
    """
    budget = next((budget for most, budget in _BY_ROWS if n_rows <= most), _LARGEST_TABLES)
    if is_resized:
        budget = replace(
            budget,
            bootstraps=min(budget.bootstraps, max(10, budget.bootstraps // FEWER_REFITS)),
            curve_repeats=min(budget.curve_repeats, max(3, budget.curve_repeats // FEWER_REFITS)),
        )
    return replace(budget, folds=min(budget.folds, n_units))


ComparedMeasure = Literal["accuracy", "auc", "cost"]
"""What models are compared by."""

RARE_SHARE, RARE_ROWS = 0.05, 30


def is_rare(counts: Sequence[float]) -> bool:
    """Whether all but the most frequent class are so rare that accuracy says little.

    They have less than 5 % of the rows, or less than 10 % and fewer than 30 rows.
    """
    others = sum(counts) - max(counts)
    share = others / sum(counts)
    return share < RARE_SHARE or (share < 2 * RARE_SHARE and others < RARE_ROWS)


Progress = Callable[[str, float], None]
"""Receives the name of the current stage, and the share of the work that is done."""

Stages = Callable[[str], None]
"""Is told that a stage of `STAGES` begins."""

STAGES = {
    "Reading the columns": 0.0,
    "Growing the tree": 0.01,
    "Cross-validating: baseline": 0.09,
    "Cross-validating: trees of several sizes": 0.1,
    "Cross-validating: C4.5's tree": 0.33,
    "Cross-validating: bagged trees": 0.38,
    "Cross-validating: other models": 0.53,
    "Estimating the error by bootstrap": 0.66,
    "Computing the learning curve": 0.83,
    "Writing the report": 0.94,
}
"""The stages of a report, and the share of the work that is done when each begins."""


@dataclass(frozen=True)
class Origin:
    """Where the rows come from.

    Attributes
    ----------
    target : str
        Name of what is predicted.
    source : str or None
        Name of the file.
    title, command : str or None
        Title of the report, and the command that makes it again.
    data_sha256 : str or None
        Hash of the file.
    group, weight : str or None
        Names of the columns with groups and weights.
    rows_left_out : int
        Rows without a label.
    columns_left_out : tuple of str
        Columns that the user dropped.
    """

    target: str = "target"
    source: str | None = None
    title: str | None = None
    command: str | None = None
    data_sha256: str | None = None
    group: str | None = None
    weight: str | None = None
    rows_left_out: int = 0
    columns_left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportRequest:
    """A table, its labels, and the options of a report, as `make_report` describes them.

    Differences in accuracy (AUC) up to the margins do not count.
    """

    X: Any
    y: Any
    origin: Origin = field(default_factory=Origin)
    groups: Any = None
    weights: Any = None
    positive: Any = None
    cost: ArrayLike | None = None
    level: float = 0.95
    confidence: float | None = 0.95
    utility: float | None = None
    margin: float = 0.01
    auc_margin: float = 0.01
    seed: int = 0
    n_jobs: int | None = None
    budget: Budget | None = None
    tree: "TreeClassifier | None" = None
    labels: Mapping[Any, str] = field(default_factory=dict)
    unit: str | None = None
    against: Sequence[Any] = ()

    def label(self, class_: Any) -> str:
        """Return the name of a class on the page."""
        return self.labels.get(class_, str(class_))

    @property
    def is_fitted_before(self) -> bool:
        """Whether the tree was fitted before the report."""
        return self.tree is not None and self.tree.__sklearn_is_fitted__()

    @property
    def command(self) -> str:
        """How to make the report again."""
        return self.origin.command or f"make_report(X, y, seed={self.seed})"

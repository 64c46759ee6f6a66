"""What a report is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

__all__ = ["Budget", "Origin", "Progress", "ReportRequest", "effort_for"]


# How much is computed for how many rows: all of it for small tables, less for large ones.


@dataclass(frozen=True)
class Budget:
    """How often models are fitted for a report.

    Attributes
    ----------
    folds, repeats : int
        Of the cross-validation that all models share.
    bootstraps : int
        For the .632+ error.
    curve_repeats : int
        For the learning curve.
    band_draws : int
        For the band around the ROC curve.

    Examples
    --------
    >>> effort_for(57, 57).repeats, effort_for(48842, 48842).repeats
    (5, 1)
    """

    folds: int
    repeats: int
    bootstraps: int
    curve_repeats: int
    band_draws: int


_BY_ROWS = (
    # rows up to, folds, repeats, bootstraps, repeats of the curve, draws of the band
    (300, Budget(10, 5, 100, 20, 1000)),
    (3_000, Budget(10, 3, 100, 20, 1000)),
    (20_000, Budget(10, 1, 50, 10, 500)),
    (200_000, Budget(10, 1, 25, 5, 200)),
)
_MOST = Budget(5, 1, 10, 3, 100)


def effort_for(n_rows: int, n_units: int) -> Budget:
    """Return what a table of so many rows gets; units are its groups, or rows without any.

    Examples
    --------
    >>> effort_for(1000, 1000).folds, effort_for(1000, 4).folds
    (10, 4)
    """
    found = next((effort for most, effort in _BY_ROWS if n_rows <= most), _MOST)
    folds = min(found.folds, n_units)
    return Budget(folds, found.repeats, found.bootstraps, found.curve_repeats, found.band_draws)


Progress = Callable[[str, float], None]
"""Gets the name of the stage that begins, and the share of the work that is done."""


@dataclass(frozen=True, eq=False)
class ReportRequest:
    """What a report is asked for.

    Attributes
    ----------
    X, y : table and labels
    groups, weights : array-like or None
    positive : label or None
        None is the rarest class.
    cost : array or None
        ``cost[actual][predicted]``, classes sorted.
    level, confidence, margin : float
        Of intervals; wanted of leaves; difference of accuracy that counts as none.
    utility : float or None
        Wanted of leaves.
    seed : int
    n_jobs : int or None
    effort : Budget or None
        None is what the number of rows calls for.

    Examples
    --------
    >>> ReportRequest([[1], [2]], ["a", "b"]).margin
    0.01
    """

    X: Any
    y: Any
    groups: Any = None
    weights: Any = None
    positive: Any = None
    cost: ArrayLike | None = None
    level: float = 0.95
    confidence: float | None = 0.95
    utility: float | None = None
    margin: float = 0.01
    seed: int = 0
    n_jobs: int | None = None
    effort: Budget | None = None


# Where the rows of a report come from.


@dataclass(frozen=True)
class Origin:
    """What a report says of its source besides the rows.

    Attributes
    ----------
    target : str
        Name of what is predicted.
    source : str or None
        Name of the file.
    title, command : str or None
    data_sha256 : str or None
        Of the file.
    group, weight : str or None
        Names of the columns of groups and weights.
    rows_left_out : int
        Rows without a label.
    columns_left_out : tuple of str

    Examples
    --------
    >>> Origin("class", source="data.csv").rows_left_out
    0
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

"""What a report is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from sureleaf.report.findings.effort import Effort

__all__ = ["Asked", "Progress"]

Progress = Callable[[str, float], None]
"""Gets the name of the stage that begins, and the share of the work that is done."""


@dataclass(frozen=True, eq=False)
class Asked:
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
    effort : Effort or None
        None is what the number of rows calls for.

    Examples
    --------
    >>> Asked([[1], [2]], ["a", "b"]).margin
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
    effort: Effort | None = None

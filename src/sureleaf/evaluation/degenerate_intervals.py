"""Intervals for measures that did not vary: what n equal rows leave open."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.arguments import IntArray
from sureleaf.evaluation.intervals import Interval, wilson
from sureleaf.evaluation.measures.named import Measure

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = [
    "NO_WIDTH",
    "bound_without_spread",
    "interval_of_rate",
    "possible_values",
    "rarest_class_is_uniform",
]


NO_WIDTH = 1e-12
"""The width of an interval that is zero except for rounding."""


def bound_without_spread(
    evaluation: "Evaluation", measure: Measure, level: float
) -> tuple[float, float, float]:
    """Return the number of rows, the largest share of them that may differ, and by how much.

    What never happened in n rows may happen in a share of them up to Wilson's bound for 0 of n.
    For measures of a class, n is the number of rows of the rarest class; for rows in groups, the
    number of groups.
    """
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    rows = np.unique(evaluation.row[cells])
    if measure.row_values is None:
        rows = rows[evaluation.truth[rows] == _rarest(evaluation, rows)]
    n = _effective(evaluation, rows)
    low, high = possible_values(evaluation, measure)
    return n, wilson(0, n, level=level).high, high - low


def possible_values(evaluation: "Evaluation", measure: Measure) -> tuple[float, float]:
    """Return the smallest and largest possible value of the measure.

    For a loss without a bound, these are its values if every row had been of each class.
    """
    if np.isfinite([measure.low, measure.high]).all() or measure.row_values is None:
        return measure.low, measure.high
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    rows = evaluation.scored(cells)
    by_class = [
        measure.row_values(replace(rows, truth=np.full(len(rows), code)))
        for code in range(rows.n_classes)
    ]
    finite = np.concatenate(by_class)
    finite = finite[np.isfinite(finite)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def rarest_class_is_uniform(evaluation: "Evaluation") -> bool:
    """Return whether the rows of the rarest class are all predicted correctly, or all wrongly.

    A measure of all classes then varies only with the other rows, and its interval is too short.
    """
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    truth = evaluation.truth[evaluation.row[cells]]
    own = truth == _rarest(evaluation, np.unique(evaluation.row[cells]))
    return len(np.unique(evaluation.prediction[cells[own]] == truth[own])) < 2


def interval_of_rate(
    evaluation: "Evaluation", measure: Measure, rate: float, level: float
) -> tuple[float, Interval[float]]:
    """Return the rows that a rate is counted among, each counted once, and Wilson's interval."""
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    _, among = measure.counted(evaluation.scored(cells))  # type: ignore[misc]
    n = _effective(evaluation, np.unique(evaluation.row[cells[among]]))
    return n, wilson(min(rate * n, n), n, level=level)


def _rarest(evaluation: "Evaluation", rows: IntArray) -> int:
    counts = np.bincount(evaluation.truth[rows], minlength=len(evaluation.classes))
    return int(counts.argmin())


def _effective(evaluation: "Evaluation", rows: IntArray) -> float:
    """Return the number of independent observations: rows, effective rows, or groups."""
    if evaluation.groups is not None:
        return float(len(np.unique(evaluation.groups[rows])))
    if evaluation.weights is None or not len(rows):
        return float(len(rows))
    weights = evaluation.weights[rows]
    return float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))

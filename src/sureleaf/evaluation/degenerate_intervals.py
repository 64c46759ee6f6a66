"""How far off may a figure be that did not vary? As far as so many rows leave open."""

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
    "rarest_all_alike",
]


NO_WIDTH = 1e-12
"""An interval this short has no width but for rounding."""


def bound_without_spread(
    evaluation: "Evaluation", measure: Measure, level: float
) -> tuple[float, float, float]:
    """Rows that a figure was seen on, the share of them that may yet differ, and by how much.

    What never happened in n rows may yet happen in a share of them up to Wilson's bound for 0 of
    n. For measures of a class, n is the rows of the rarest; of rows in groups, the groups.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> n, bound, span = bound_without_spread(judged, NAMED["accuracy"], 0.95)
    >>> n, round(bound, 4), span
    (150.0, 0.025, 1.0)
    """
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    rows = np.unique(evaluation.row[cells])
    if measure.row_values is None:
        rows = rows[evaluation.truth[rows] == _rarest(evaluation, rows)]
    n = _effective(evaluation, rows)
    low, high = possible_values(evaluation, measure)
    return n, wilson(0, n, level=level).high, high - low


def possible_values(evaluation: "Evaluation", measure: Measure) -> tuple[float, float]:
    """Least and largest value of the measure: its range, or what other truths would have cost.

    A loss without a bound is looked at as if every prediction had met each of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> cost = [[0, 1, 1], [1, 0, 7], [1, 1, 0]]
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), cost=cost, random_state=0)
    >>> possible_values(judged, NAMED["cost"])
    (0.0, 7.0)
    """
    if np.isfinite([measure.low, measure.high]).all() or measure.row_values is None:
        return measure.low, measure.high
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    rows = evaluation.scored(cells)
    met = [
        measure.row_values(replace(rows, truth=np.full(len(rows), code)))
        for code in range(rows.n_classes)
    ]
    finite = np.concatenate(met)
    finite = finite[np.isfinite(finite)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def rarest_all_alike(evaluation: "Evaluation") -> bool:
    """Whether the rows of the rarest class were all found or all missed.

    A figure of all classes then varies by the other rows only, which says little of how far off
    it may be.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(DummyClassifier(), *load_iris(return_X_y=True), random_state=0)
    >>> rarest_all_alike(judged)
    True
    """
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    truth = evaluation.truth[evaluation.row[cells]]
    own = truth == _rarest(evaluation, np.unique(evaluation.row[cells]))
    return len(np.unique(evaluation.prediction[cells[own]] == truth[own])) < 2


def interval_of_rate(
    evaluation: "Evaluation", measure: Measure, rate: float, level: float
) -> tuple[float, Interval[float]]:
    """Rows that a rate is counted among, and Wilson's interval for so many, each counted once.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = load_iris(return_X_y=True)
    >>> judged = evaluate(GaussianNB(), X, y, design=KFold(5, repeats=2), random_state=0)
    >>> n, (low, high) = interval_of_rate(judged, NAMED["accuracy"], 1.0, 0.95)
    >>> n, round(low, 3), high
    (150.0, 0.975, 1.0)
    """
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    _, among = measure.counted(evaluation.scored(cells))  # type: ignore[misc]
    n = _effective(evaluation, np.unique(evaluation.row[cells[among]]))
    return n, wilson(min(rate * n, n), n, level=level)


def _rarest(evaluation: "Evaluation", rows: IntArray) -> int:
    counts = np.bincount(evaluation.truth[rows], minlength=len(evaluation.classes))
    return int(counts.argmin())


def _effective(evaluation: "Evaluation", rows: IntArray) -> float:
    """Rows, or effective rows of weights, or groups: what counts as one observation."""
    if evaluation.groups is not None:
        return float(len(np.unique(evaluation.groups[rows])))
    if evaluation.weights is None or not len(rows):
        return float(len(rows))
    weights = evaluation.weights[rows]
    return float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))

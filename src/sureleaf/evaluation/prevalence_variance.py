"""What stratified splits hide: how a figure moves with the shares of the classes in the sample.

Stratified splits all have the class shares of the table, so that their figures do not differ by
them. But the table is a sample: with other shares a classifier that treats the classes unequally
has another accuracy, loss or precision. An interval may not be shorter than that part of the
variance allows, together with that of the rows within their classes.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.evaluation.measures.named import Measure, Scored

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["share_slopes", "share_variance", "slopes_of", "variance_of_shares"]


STEP = 1e-4
"""By how much of itself a class is made more frequent, to see what that does to the figure."""

ENOUGH = 20_000
"""Of more predictions some are looked at: a slope need not be known to the last digit."""

ROUNDING = 1e-8
"""Slopes below this are rounding: areas and recalls do not depend on the shares."""


def share_slopes(evaluation: "Evaluation", measure: Measure) -> FloatArray:
    """Return how much the figure gains with each class's share of the rows.

    For a mean over rows: the mean of the class less that of all rows. Zero for designs that are
    not stratified, whose splits show it themselves.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = np.zeros((40, 1)), np.arange(40) % 4 == 0
    >>> judged = evaluate(DummyClassifier(), X, y, random_state=0)  # never says True
    >>> share_slopes(judged, NAMED["accuracy"]).round(3).tolist()
    [0.25, -0.75]
    """
    design = evaluation.design
    if not getattr(design, "stratified", False) or getattr(design, "time_ordered", False):
        return np.zeros(len(evaluation.classes))
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    return slopes_of(measure, evaluation.scored(cells[:: max(1, len(cells) // ENOUGH)]))


def slopes_of(measure: Measure, rows: Scored) -> FloatArray:
    """Return how much the figure of these rows gains with each class's share of them.

    Examples
    --------
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> rows = Scored(np.array([0, 0, 0, 1]), np.zeros(4, int), None, None, None, 2, 1)
    >>> slopes_of(NAMED["accuracy"], rows).round(3).tolist()
    [0.25, -0.75]
    """
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    slopes = np.zeros(rows.n_classes)
    if not weights.sum() > 0:
        return slopes
    shares = np.bincount(rows.truth, weights, minlength=rows.n_classes) / weights.sum()
    whole = _figure(measure, rows, weights)
    for code in np.flatnonzero(shares):
        more = np.where(rows.truth == code, weights * (1 + STEP), weights)
        slopes[code] = (_figure(measure, rows, more) - whole) / (STEP * shares[code])
    return np.where(np.isfinite(slopes) & (np.abs(slopes) > ROUNDING), slopes, 0.0)


def _figure(measure: Measure, rows: Scored, weights: FloatArray) -> float:
    return measure.value(replace(rows, weights=weights))


def share_variance(evaluation: "Evaluation", slopes: FloatArray) -> float:
    """Return the variance that a figure with these slopes has by the shares of the classes.

    Rows, or groups of them, are drawn independently; each brings its class, or classes, along.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> X, y = np.zeros((40, 1)), np.arange(40) % 4 == 0
    >>> judged = evaluate(DummyClassifier(), X, y, random_state=0)
    >>> share_variance(judged, np.array([0.25, -0.75])) == 0.25 * 0.75 / 40
    True
    """
    return variance_of_shares(evaluation.truth, slopes, evaluation.weights, evaluation.groups)


def variance_of_shares(
    classes: IntArray, slopes: FloatArray, weights: FloatArray | None, groups: IntArray | None
) -> float:
    """Return the variance of a figure with these slopes by the shares of the classes of rows.

    Examples
    --------
    >>> variance_of_shares(np.array([0, 0, 0, 1]), np.array([0.25, -0.75]), None, None)
    0.046875
    """
    w = np.ones(len(classes)) if weights is None else weights
    brought = w * slopes[classes]
    if groups is not None:
        brought = np.bincount(groups, brought).astype(np.float64)
    return float(np.square(brought).sum() / w.sum() ** 2)

"""Variance from the class proportions, which stratified splits cannot show.

All stratified splits have the class proportions of the table, so their values do not vary with
them. But the table is a sample: with other proportions, a classifier that favours one class has
another accuracy, loss or precision. An interval must include that part of the variance.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.evaluation.measures.named import Measure, Scored

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["prevalence_slopes", "prevalence_variance", "slopes_of_rows", "variance_of_rows"]


STEP = 1e-4
"""Relative increase of the frequency of a class, for the numerical derivative."""

ENOUGH = 20_000
"""Predictions that are enough for a slope; of more, a part is used."""

ROUNDING = 1e-8
"""Slopes below this are rounding errors; AUC and recall do not depend on proportions."""


def prevalence_slopes(evaluation: "Evaluation", measure: Measure) -> FloatArray:
    """Return the derivative of the measure by the proportion of each class.

    For a mean over rows this is the mean of the class minus that of all rows. It is 0 for designs
    that are not stratified, because their splits show the variance themselves.
    """
    design = evaluation.design
    if not getattr(design, "stratified", False) or getattr(design, "time_ordered", False):
        return np.zeros(len(evaluation.classes))
    cells = np.flatnonzero(np.isin(evaluation.split, evaluation.main_splits))
    return slopes_of_rows(measure, evaluation.scored(cells[:: max(1, len(cells) // ENOUGH)]))


def slopes_of_rows(measure: Measure, rows: Scored) -> FloatArray:
    """Return the derivative of the measure of these rows by the proportion of each class."""
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    slopes = np.zeros(rows.n_classes)
    if not weights.sum() > 0:
        return slopes
    shares = np.bincount(rows.truth, weights, minlength=rows.n_classes) / weights.sum()
    whole = _value(measure, rows, weights)
    for code in np.flatnonzero(shares):
        more = np.where(rows.truth == code, weights * (1 + STEP), weights)
        slopes[code] = (_value(measure, rows, more) - whole) / (STEP * shares[code])
    return np.where(np.isfinite(slopes) & (np.abs(slopes) > ROUNDING), slopes, 0.0)


def _value(measure: Measure, rows: Scored, weights: FloatArray) -> float:
    return measure.value(replace(rows, weights=weights))


def prevalence_variance(evaluation: "Evaluation", slopes: FloatArray) -> float:
    """Return the variance of a measure with these slopes that comes from the class proportions.

    Rows, or groups of rows, are independent draws with their classes.
    """
    return variance_of_rows(evaluation.truth, slopes, evaluation.weights, evaluation.groups)


def variance_of_rows(
    classes: IntArray, slopes: FloatArray, weights: FloatArray | None, groups: IntArray | None
) -> float:
    """Return the variance from the class proportions of these rows."""
    w = np.ones(len(classes)) if weights is None else weights
    contribution = w * slopes[classes]
    if groups is not None:
        contribution = np.bincount(groups, contribution).astype(np.float64)
    return float(np.square(contribution).sum() / w.sum() ** 2)

"""Variance of a measure that comes from the decision boundary, which a table's splits share.

A recall, a precision, a kappa or an asymmetric cost changes to first order with the decision
boundary. The boundary is fitted to the table, and all splits of a table have most training rows in
common. So their boundaries move together from table to table, and neither folds nor repeats show
how far: the spread over splits is too small, by a factor of two and more if the classes overlap
much.

How far the boundary moves is known for a logistic regression. So the scores of the learner, the
logarithms of its out-of-sample probabilities, are recalibrated by one: an intercept per class and a
slope. Each row has an influence on these parameters, and these on the measure. The influence of a
row on the measure is the sum of two parts: as a test row, and through the boundary as a training
row. The variance is the sum of their squares (the infinitesimal jackknife, or sandwich). It does
not depend on the number of splits. It is used as the least variance of an interval. Learners with
the same score for many rows, such as trees and nearest neighbours, have no such variance: their
models differ from split to split by more, so the splits show it.

A variance is not enough where few rows are predicted as a class: a recall of 0 has none, although
another table might have given .3. There the recalibration itself has an interval: the measures that
it expects, over all parameters that the table does not refute (`plausible_range`).

References
----------
Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45,
562-565.

Jaeckel, L. A. (1972). The infinitesimal jackknife. Memorandum MM 72-1215-11, Bell Laboratories.

Venzon, D. J. and Moolgavkar, S. H. (1988). A method for computing profile-likelihood-based
confidence intervals. Applied Statistics 37, 87-94.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.evaluation.measures.calibration import ILL_CONDITIONED, recalibrate
from sureleaf.evaluation.measures.named import Measure, Scored
from sureleaf.evaluation.measures.rates import ratio
from sureleaf.levels.intervals import normal_reach

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

ENOUGH_ROWS = 20_000
"""Rows that are enough for a variance; of more, a part is used."""

ENOUGH_PREDICTIONS = 200_000

MOST_CLASSES = 20
"""Beyond these, a recalibration has too many parameters to be of use."""

DOUBT = 2.0
"""Standard errors within which a slope of 1 is believed, and beyond which one of 0 is not."""

TIES = 1e-3
"""Share of the decisions that may differ from the rule, because of ties and rounding."""

OWN_SCORES = 0.5
"""Share of the rows that must have a score of their own.

A few neighbours or the leaves of a tree give many rows the same score. Such scores do not move
together, and a boundary that passes one of them would carry all its rows at once.
"""

SCORE_DECIMALS = 6

RELATIVE_STEP = 1e-4
"""Relative increase of a count, for the derivative of a measure of counts."""


def row_influences(evaluation: "Evaluation", measure: Measure) -> FloatArray | None:
    """Return the first-order influence of each row on a measure; None if not known.

    Their mean is 0. If the table has many rows, only a part of them is used.
    """
    if not measure.is_of_decisions or evaluation.boundary is None:
        return None
    return evaluation.boundary.influences(measure)


def variance_of_influences(evaluation: "Evaluation", influences: FloatArray | None) -> float:
    """Return the variance if rows (or groups) are independent draws; 0 if it is not known."""
    if influences is None:
        return 0.0
    share, groups = len(influences) / len(evaluation.truth), _groups(evaluation)
    if groups is not None:
        influences = np.bincount(groups, influences).astype(np.float64)
    return float(np.square(influences).sum()) * share


class PlausibleRange(NamedTuple):
    """The measure that a recalibration expects, and its range over plausible parameters."""

    value: float
    low: float
    high: float


def plausible_range(
    evaluation: "Evaluation", measure: Measure, level: float
) -> PlausibleRange | None:
    """Return the values of a measure that the recalibrated scores allow; None if not known.

    It is a profile interval: the smallest and the largest value over the parameters within so many
    standard errors as a normal variable is at this level. Unlike a variance, it follows the measure
    where that is not linear, for instance at a recall of 0.
    """
    boundary = evaluation.boundary if measure.is_of_decisions else None
    if boundary is None:
        return None
    return boundary.plausible(measure, level, _groups(evaluation), len(evaluation.truth))


def _groups(evaluation: "Evaluation") -> IntArray | None:
    return None if evaluation.groups is None else evaluation.groups[:: _stride(evaluation)]


def boundary_of(evaluation: "Evaluation") -> "Boundary | None":
    """Return the decision boundary of the evaluation, from a part of its rows if there are many."""
    if evaluation.probabilities is None:
        return None
    stride = _stride(evaluation)
    cells = np.flatnonzero(evaluation.row % stride == 0)
    n_used = len(range(0, len(evaluation.truth), stride))
    rows, balanced = evaluation.row[cells] // stride, evaluation.design.resample != "none"
    return fit_boundary(evaluation.scored(cells), rows, n_used, balanced=balanced)


def _stride(evaluation: "Evaluation") -> int:
    """Return k if every k-th row is enough."""
    n_rows, n_cells = len(evaluation.truth), len(evaluation.row)
    return max(1, n_rows // ENOUGH_ROWS, n_cells // ENOUGH_PREDICTIONS)


@dataclass(frozen=True, eq=False)
class Boundary:
    """How far the decision boundary of a learner moves from table to table.

    The parameters of the recalibration are an intercept for each class but the first, 0 if
    probabilities are calibrated, and the slope, which comes last.
    """

    scored: Scored  # out-of-sample predictions
    rows: IntArray  # the row of each; several of a row if splits are repeated
    n_rows: int
    logs: FloatArray  # logarithms of the probabilities
    offsets: FloatArray  # what is added to them before the largest is chosen
    slope: float
    intercepts: FloatArray
    directions: FloatArray  # independent movements by one standard error, one per row
    errors: FloatArray  # influence of each prediction on the parameters

    def influences(self, measure: Measure) -> FloatArray | None:
        """Return the influence of each row on a measure of decisions; None if it is undefined.

        A row has influence as a test row, and as a training row through the boundary. The latter is
        the change of the measure along a movement of one standard error: a derivative that is no
        steeper than the measure is on the scale on which the boundary moves.
        """
        changes = np.array(
            [(self._moved(measure, d) - self._moved(measure, -d)) / 2 for d in self.directions]
        )
        if not np.isfinite(changes).all():
            return None
        trained = self.errors @ np.linalg.solve(self.directions, changes)
        both = trained + _tested(measure, self.scored)
        total = np.bincount(self.rows, both, minlength=self.n_rows)
        return np.asarray(total - total.mean())

    def plausible(
        self, measure: Measure, level: float, groups: IntArray | None, n_all: int
    ) -> PlausibleRange | None:
        """Return the range of a measure over plausible parameters; None if it is undefined.

        Parameters are searched along each axis and along the gradient, where they are independent
        and of one standard error.
        """
        units = self.rows if groups is None else groups[self.rows]
        errors = np.array([np.bincount(units, own) for own in self.errors.T])
        covariance = errors @ errors.T * self.n_rows / n_all
        if not (np.linalg.eigvalsh(covariance) > 0).all():
            return None
        reach = normal_reach(level) * np.linalg.cholesky(covariance).T
        found = [[self._expected(measure, move) for move in (own, -own)] for own in reach]
        gradient = np.nan_to_num([up - down for up, down in found])
        length = float(np.linalg.norm(gradient))
        if length > 0:
            along = gradient / length @ reach
            found.append([self._expected(measure, move) for move in (along, -along)])
        value = self._expected(measure, np.zeros(len(reach)))
        if not np.isfinite(value):
            return None
        values = np.append(np.ravel(found), value)
        values = values[np.isfinite(values)]
        return PlausibleRange(value, float(values.min()), float(values.max()))

    def _expected(self, measure: Measure, move: FloatArray) -> float:
        """Return the measure of the expected counts; both truth and decisions have moved."""
        scores = self.logs * (self.slope + move[-1])
        scores[:, 1:] += move[:-1]
        decided = (scores + self.slope * self.offsets).argmax(axis=1)
        scores[:, 1:] += self.intercepts
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p *= (self.scored.row_weights / p.sum(axis=1))[:, None]
        n_classes = p.shape[1]
        counts = np.array([np.bincount(decided, own, minlength=n_classes) for own in p.T])
        truth, prediction = np.indices(counts.shape).reshape(2, -1)
        cells = replace(self.scored, truth=truth, prediction=prediction, weights=counts.ravel())
        return measure.of_split(replace(cells, probabilities=None))

    def _moved(self, measure: Measure, move: FloatArray) -> float:
        scores = self.logs * (self.slope + move[-1]) + self.slope * self.offsets
        scores[:, 1:] += move[:-1]
        return measure.value(replace(self.scored, prediction=scores.argmax(axis=1)))


def fit_boundary(
    scored: Scored, rows: IntArray, n_rows: int, *, balanced: bool = False
) -> Boundary | None:
    """Return the boundary behind predictions of ``n_rows`` rows.

    ``balanced`` says that the learner was trained on classes that count equally, so that its
    boundary does not move with the class proportions of the table.

    It is None if nothing is known of it: there are no probabilities, decisions do not follow them,
    they say nothing of the classes, or many rows have the same.
    """
    if scored.probabilities is None or not 2 <= scored.n_classes <= MOST_CLASSES:
        return None
    logs = _log_probabilities(scored.probabilities, n_rows)
    offsets = _decision_offsets(logs, scored.prediction)
    if offsets is None or not _varies_by_row(logs, rows):
        return None
    n_repeats = len(rows) / max(int(np.count_nonzero(np.bincount(rows))), 1)
    weights = scored.row_weights
    totals = np.bincount(scored.truth, weights, minlength=scored.n_classes)
    shares = np.maximum(totals / max(totals.sum(), 1e-300), 1 / (2 * n_rows))
    if balanced:
        weights = weights / shares[scored.truth]
    weights = weights * weights.sum() / max(float(np.square(weights).sum()), 1e-300)  # effective
    fit = _recalibrate(logs, scored.truth, weights, n_repeats, by_class=balanced)
    if fit is None:
        return None
    parameters, covariance, errors = fit
    slope, intercepts = float(parameters[-1]), parameters[:-1]
    if balanced:
        intercepts = intercepts + np.log(shares[1:] / shares[0])
    directions: FloatArray = np.linalg.cholesky(covariance).T.astype(np.float64)
    return Boundary(scored, rows, n_rows, logs, offsets, slope, intercepts, directions, errors)


def _varies_by_row(logs: FloatArray, rows: IntArray) -> bool:
    """Return whether most rows have a score of their own, looking at each row once."""
    _, first = np.unique(rows, return_index=True)
    scores = logs[first, 1:].round(SCORE_DECIMALS)
    return len(np.unique(scores, axis=0)) >= OWN_SCORES * len(first)


def _log_probabilities(table: FloatArray, n_rows: int) -> FloatArray:
    """Return logarithms of the probabilities, none of which is taken to be below 1 / (2n)."""
    clipped = np.maximum(table, 1 / (2 * n_rows))
    logs = np.log(clipped / clipped.sum(axis=1, keepdims=True))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _decision_offsets(logs: FloatArray, prediction: IntArray) -> FloatArray | None:
    """Return what is added to the logarithms before the largest is chosen; None if unknown.

    Two classes may have any threshold, such as that of a cost matrix. It lies between the scores of
    the two decisions.
    """
    offsets = np.zeros(logs.shape[1])
    if len(offsets) == 2:
        score, chosen = logs[:, 1] - logs[:, 0], prediction == 1
        if chosen.any() and not chosen.all():
            low, high = score[~chosen].max(), score[chosen].min()
            if not (low < 0 <= high or low <= 0 < high):
                offsets[0] = (low + high) / 2
    decided = (logs + offsets).argmax(axis=1)
    tied = np.isclose(np.ptp(logs + offsets, axis=1), 0)
    follows = np.mean((decided != prediction) & ~tied) <= TIES
    return offsets if follows else None


def _recalibrate(
    logs: FloatArray,
    truth: IntArray,
    weights: FloatArray,
    n_repeats: float,
    *,
    by_class: bool = False,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the parameters, their covariance, and the influence of each prediction on them.

    A slope of 1 is kept unless it is refuted: the scores then are on the scale on which the learner
    fitted them. A slope that may be 0 says that the scores tell nothing. ``by_class`` says that the
    weights of each class have a fixed sum, so that a row takes weight from the others of its class.
    """
    n_intercepts = logs.shape[1] - 1
    fit = recalibrate(logs, truth, weights, np.zeros(logs.shape[1]))
    if fit is None:
        return None
    slope = float(fit.parameters[-1])
    error = float(np.sqrt(n_repeats * np.linalg.inv(fit.information)[-1, -1]))
    if abs(slope - 1) <= DOUBT * error:
        start = np.append(fit.parameters[:-1], 1.0)
        fit = recalibrate(logs, truth, weights, start, n_free=n_intercepts)
    elif slope <= DOUBT * error:
        return None
    if fit is None or np.linalg.cond(fit.information) > ILL_CONDITIONED:
        return None
    inverse = np.linalg.inv(fit.information)
    covariance = n_repeats * (inverse + inverse.T) / 2
    if not (np.linalg.eigvalsh(covariance) > 0).all():
        return None
    gradients = fit.gradients
    if by_class:
        for code in np.unique(truth):
            own = truth == code
            mean = gradients[own].sum(axis=0) / max(float(weights[own].sum()), 1e-300)
            gradients[own] -= weights[own, None] * mean
    return fit.parameters, covariance, gradients @ inverse


def _tested(measure: Measure, scored: Scored) -> FloatArray:
    """Return the influence of each prediction on the measure, with the boundary held fixed."""
    weights = scored.row_weights
    if measure.row_values is not None:
        values = measure.row_values(scored)
        from_mean = values - np.average(values, weights=weights)
        return np.asarray(weights * from_mean / weights.sum())
    if measure.counted is not None:
        chosen, among = measure.counted(scored)
        total = float(weights @ among)
        rate = ratio(float(weights @ (chosen & among)), total)
        return np.asarray(weights * among * (chosen - rate) / max(total, 1e-300))
    of_counts: Callable[[FloatArray, int], float] = measure.of_counts  # type: ignore[assignment]
    table = scored.counts()
    value, slopes = of_counts(table, scored.positive), np.zeros_like(table)
    for cell in zip(*np.nonzero(table), strict=True):
        more = table.copy()
        more[cell] *= 1 + RELATIVE_STEP
        slopes[cell] = (of_counts(more, scored.positive) - value) / (more[cell] - table[cell])
    return np.asarray(weights * slopes[scored.truth, scored.prediction])

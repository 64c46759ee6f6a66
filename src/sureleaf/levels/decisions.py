"""The predicted class, the cheapest decision at a cost matrix, and how surely n rows find it.

With a cost matrix, the decision of least expected cost takes the place of the most frequent class.
With two classes this is a comparison of one frequency with a threshold (`sureleaf.levels.nodes`);
with equal costs it is the most frequent class (`sureleaf.levels.plurality`).
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.nodes import at_threshold, saving
from sureleaf.levels.search import halved

TIE = 1e-12
"""Probabilities that differ by less are equal: the mean of several leaves is rounded. So are
expected costs that differ by less in units of the largest cost."""

_FEW_ROWS = 64
_FEW_ROWS_PER_CLASS = 20
"""Up to here, the number of NumPy calls is the time, not the rows."""

_LARGEST_COST = 1e150  # its square is still a finite number

_MAX_COMPOSITIONS = 50_000
"""Up to this many possible count vectors, the K-class sums are exact."""

_DRAWS = 40_000
"""Beyond, so many samples are drawn: the standard error is at most 0.0025."""

_CLEAR = 6.0
"""A lead of this many standard deviations counts as certain."""


class CostRule:
    """A cost matrix as regrets: what each decision costs beyond the right one, scaled.

    Attributes
    ----------
    cost : ndarray of shape (n_classes, n_classes)
        ``cost[actual][predicted]``, checked by `cost_rule`.
    regret : ndarray of shape (n_classes, n_classes)
        0 on the diagonal, 1 for the most expensive error.
    saving : ndarray of shape (n_classes, n_classes)
        What each decision saves compared with the most expensive decision about the same row, in
        the same units, from 0 to 1. With equal costs it is 1 for the right decision, else 0.
    is_equal : bool
        Whether all errors cost the same, so that the decision is the most probable class.
    """

    def __init__(self, cost: FloatArray) -> None:
        self.cost = cost
        regret = cost - np.diag(cost)[:, np.newaxis]
        self.regret: FloatArray = regret / regret.max()
        self.saving: FloatArray = self.regret.max(axis=1, keepdims=True) - self.regret
        errors = self.regret[~np.eye(len(cost), dtype=bool)]
        self.is_equal = bool((errors == errors[0]).all())

    def __len__(self) -> int:
        return len(self.cost)

    @cached_property
    def threshold(self) -> float:
        """With two classes: decide for the second class if its probability is larger than this."""
        if len(self) != 2:
            raise InvalidArgumentError(
                f"A threshold needs a cost matrix of two classes; got {len(self)} classes."
            )
        false_second = self.cost[0, 1] - self.cost[0, 0]
        false_first = self.cost[1, 0] - self.cost[1, 1]
        return float(false_second / (false_second + false_first))

    def thresholds(self, decided: NDArray[np.intp]) -> FloatArray:
        """With two classes: the probability above which each of these classes is decided for."""
        return np.where(decided == 1, self.threshold, 1.0 - self.threshold)

    def is_cheapest(self, weights: FloatArray) -> NDArray[np.bool_]:
        """Return for each row of class weights which decisions have the least expected cost."""
        return _is_cheapest(weights, self.regret)

    def decide(self, probabilities: FloatArray) -> NDArray[np.intp]:
        """Return the class of least expected cost for each row, the first one on ties."""
        return cheapest_decision(probabilities, self.regret)

    def class_weights(self, class_totals: FloatArray) -> FloatArray:
        """Return what rows of each class weigh by the mean cost of their errors.

        All rows together weigh as much as without weights.
        """
        costs = self.regret.sum(axis=1)
        mean = float(class_totals @ costs) / max(float(class_totals.sum()), 1e-300)
        weights: FloatArray = costs / mean if mean > 0 else np.ones(len(costs))
        return weights

    def of_classes(self, kept: NDArray[np.bool_]) -> "CostRule | None":
        """Return the rule for some of the classes; None if they leave nothing to decide."""
        part = self.cost[np.ix_(kept, kept)]
        is_free = not (part - np.diag(part)[:, np.newaxis]).any()
        return None if len(part) < 2 or is_free else CostRule(part)


def predicted_class(probabilities: FloatArray, rule: CostRule | None = None) -> NDArray[np.intp]:
    """Return the index of the most probable class per row; of equal classes, the first.

    This is the only definition of "the predicted class": `predict`, the levels, cross-fitting,
    evaluations, audits and exports all use it. With costs, the decision of least expected cost
    takes the place of the most probable class.
    """
    if rule is not None:
        return rule.decide(probabilities)
    n_rows, n_classes = probabilities.shape
    if n_rows <= max(_FEW_ROWS, _FEW_ROWS_PER_CLASS * n_classes):
        # A service predicts row by row, and small trees have few nodes: three calls, not ten.
        least = probabilities.max(axis=1, keepdims=True) - TIE
        first: NDArray[np.intp] = (probabilities >= least).argmax(axis=1)
        return first
    by_class = np.ascontiguousarray(probabilities.T)  # NumPy is slow along short rows
    least = by_class.max(axis=0) - TIE
    predicted = np.zeros(len(probabilities), dtype=np.intp)
    for index in range(len(by_class) - 1, -1, -1):
        np.copyto(predicted, index, where=by_class[index] >= least)
    return predicted


def cheapest_decision(probabilities: FloatArray, cost: FloatArray) -> NDArray[np.intp]:
    """Return the index of the decision of least expected cost per row, the first one on ties.

    Trees, measures, the report and its page all decide by it. Counts may take the place of
    probabilities.
    """
    return np.asarray(_is_cheapest(probabilities, cost).argmax(axis=-1), dtype=np.intp)


def _is_cheapest(weights: FloatArray, cost: FloatArray) -> NDArray[np.bool_]:
    """Return for each row of class weights which decisions have the least expected cost."""
    expected, largest = weights @ cost, np.abs(cost).max()
    least = expected.min(axis=-1, keepdims=True)
    total = np.maximum(weights.sum(axis=-1, keepdims=True), 1.0)
    return np.asarray(expected <= least + TIE * largest * total)


def mean_error_cost(cost: FloatArray, class_counts: NDArray[Any]) -> float:
    """Return what a wrong decision costs on average beyond the right one, all equally frequent."""
    shares = class_counts / class_counts.sum()
    beyond = (cost - np.diag(cost)[:, np.newaxis]).sum(axis=1)
    return float(shares @ beyond) / (len(cost) - 1)


def number_matrix(cost: ArrayLike) -> FloatArray:
    """Return costs as an array of numbers; its shape is not checked."""
    try:
        return np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            "cost must be a matrix of numbers, one row per actual and one column per predicted "
            f"class; got {cost!r}. Give cost[actual][predicted], classes sorted."
        ) from None


def cost_rule(cost: ArrayLike, classes: Sequence[Any] | NDArray[Any] | None = None) -> CostRule:
    """Check a cost matrix ``cost[actual][predicted]`` and turn it into regrets.

    A correct decision may cost something, too; an error must not cost less, and one must cost more.
    The matrix must fit the classes, if they are given.
    """
    matrix = number_matrix(cost)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InvalidArgumentError(
            "cost must be a square matrix with one row per actual and one column per predicted "
            f"class; got shape {matrix.shape}. Give cost[actual][predicted], classes sorted."
        )
    if classes is not None and len(classes) != len(matrix):
        named = ", ".join(repr(label) for label in np.asarray(classes).tolist()[:8])
        raise InvalidArgumentError(
            f"cost must have one row and one column for each of the {len(classes)} classes "
            f"({named}{', ...' if len(classes) > 8 else ''}); got shape {matrix.shape}. Give "
            "cost[actual][predicted], classes sorted."
        )
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError(
            "cost must have finite numbers only; got NaN or infinity. Use a large number for a "
            "decision that must never be made."
        )
    if np.abs(matrix).max() > _LARGEST_COST:
        raise InvalidArgumentError(
            f"cost must have numbers of at most {_LARGEST_COST:g}, because sums of larger ones "
            f"overflow; got {np.abs(matrix).max():g}. Only the ratios of costs matter: divide all "
            "by the same number."
        )
    regret = matrix - np.diag(matrix)[:, np.newaxis]
    if (regret < 0).any():
        actual, predicted = (int(i) for i in np.argwhere(regret < 0)[0])
        raise InvalidArgumentError(
            f"cost[{actual}][{predicted}] must not be below cost[{actual}][{actual}], the cost of "
            f"the correct decision; got {matrix[actual, predicted]:g} and "
            f"{matrix[actual, actual]:g}. Check the order of the classes (sorted) and that rows "
            "are actual classes."
        )
    if not regret.any():
        raise InvalidArgumentError(
            "cost must be higher for at least one error than for the correct decision; got the "
            "same cost for all decisions."
        )
    return CostRule(matrix)


def unequal_rule(cost: ArrayLike | None) -> CostRule | None:
    """Return the rule of a cost matrix; None if there is none, or if all errors cost the same."""
    rule = None if cost is None else cost_rule(cost)
    return None if rule is None or rule.is_equal else rule


# ---- n rows decide -------------------------------------------------------------------------------


def decision_probabilities(n: FloatArray, classes: FloatArray, rule: CostRule) -> FloatArray:
    """Return P(n rows lead to each decision) for every node; ties are drawn fairly.

    Between whole numbers of rows the probabilities are interpolated.
    """
    result = np.full(classes.shape, np.nan)
    for node, (size, p) in enumerate(zip(n, classes, strict=True)):
        if not np.isnan(size) and not np.isnan(p).any():
            result[node] = _decided_by(float(size), p, rule)
    return result


def _decided_by(n: float, p: FloatArray, rule: CostRule) -> FloatArray:
    """Return the probabilities of the decisions of n rows with these class probabilities."""
    if np.isinf(n):
        return _evenly(rule.is_cheapest(p))
    whole = int(np.floor(n))
    low, part = _decided_by_whole(whole, p, rule), n - whole
    if not part:
        return low
    return (1.0 - part) * low + part * _decided_by_whole(whole + 1, p, rule)


def _decided_by_whole(n: int, p: FloatArray, rule: CostRule) -> FloatArray:
    if n == 0:
        return np.full(len(rule), 1.0 / len(rule))
    if _is_listed(n, len(rule)):
        counts, log_ways = _count_vectors(n, len(rule))
        logs = np.log(np.where(p > 0, p, 1.0))
        possible = (counts[:, p <= 0] == 0).all(axis=1)
        chances = np.where(possible, np.exp(log_ways + counts @ logs), 0.0)
        decided = chances @ _evenly(rule.is_cheapest(counts))
        # Rounding of logarithms must not lift the sum above 1.
        return np.asarray(decided / decided.sum(), dtype=np.float64)
    draw = np.random.Generator(np.random.Philox(key=n)).multinomial
    counts = draw(n, p / p.sum(), size=_DRAWS).astype(np.float64)
    return np.asarray(_evenly(rule.is_cheapest(counts)).mean(axis=0))


def _is_listed(n: float, k: int) -> bool:
    """Whether all count vectors of n rows are few enough to be listed."""
    if np.isinf(n):
        return True  # nothing is listed, because the decision is known
    return bool(gammaln(n + k) - gammaln(n + 1) - gammaln(k) <= np.log(_MAX_COMPOSITIONS))


def _evenly(is_cheapest: NDArray[np.bool_]) -> FloatArray:
    shares: FloatArray = is_cheapest / is_cheapest.sum(axis=-1, keepdims=True)
    return shares


@lru_cache(maxsize=64)
def _count_vectors(n: int, k: int) -> tuple[FloatArray, FloatArray]:
    """All count vectors of n rows, and the logarithm of the number of ways to each of them."""
    # k - 1 bars among n + k - 1 places
    places = chain.from_iterable(combinations(range(n + k - 1), k - 1))
    bars = np.fromiter(places, dtype=np.float64).reshape(-1, k - 1)
    ends = np.ones((len(bars), 1))
    counts = np.diff(np.hstack((-ends, bars, (n + k - 1) * ends)), axis=1) - 1.0
    return counts, gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)


# ---- a decision that has been made ---------------------------------------------------------------


def decision_tie(decided: NDArray[np.intp], others: FloatArray, rule: CostRule) -> FloatArray:
    """Return the probability of the decided class from which on no other decision costs less.

    `others` says how the other classes share the rest, with sum 1; 0 for the decided class.
    """
    if len(rule) == 2:
        return rule.thresholds(decided)
    costs = others @ rule.regret  # of each decision, where the decided class is not the true one
    excess = costs[np.arange(len(decided)), decided][:, np.newaxis] - costs
    total = excess + rule.regret[decided]
    ties = np.where(excess > 0, excess / np.where(total > 0, total, 1.0), 0.0)
    return np.asarray(ties.max(axis=1), dtype=np.float64)


def decision_levels(
    n: FloatArray,
    probability: FloatArray,
    decided: NDArray[np.intp],
    others: FloatArray,
    rule: CostRule,
) -> tuple[FloatArray, FloatArray]:
    """Return the confidence of decisions, and the utility of deciding by n rows.

    `probability` is that of the decided class, at least its tie; `others` as in `decision_tie`.
    """
    vectors = decision_vectors(probability, decided, others)
    if len(rule) == 2:
        cut = rule.thresholds(decided)
        sure = at_threshold(n, probability, cut)
        return sure, saving(probability, cut, sure)
    sure, useful = np.ones(len(n)), (vectors @ rule.saving)[np.arange(len(n)), decided]
    for node in np.flatnonzero(~np.isnan(n)):
        p = vectors[node]
        is_few = _is_listed(float(n[node]), len(rule))
        if not is_few and _is_clear(float(n[node]), p, int(decided[node]), rule):
            continue
        chosen, cheapest = _decided_by(float(n[node]), p, rule), rule.is_cheapest(p)
        sure[node] = min(float(chosen @ cheapest) / cheapest.sum(), 1.0)
        useful[node] = float(chosen @ (p @ rule.saving))
    return sure, useful


def decision_sample_size(
    probability: FloatArray,
    decided: NDArray[np.intp],
    others: FloatArray,
    rule: CostRule,
    *,
    confidence: float,
    utility: float,
) -> FloatArray:
    """Return about how many rows reach the levels of decisions among K classes; NaN if none do.

    By the normal approximation of each rival's lead, and the sum of their probabilities to win,
    which is at least that of any of them: a few rows too many rather than too few. A level of 0 is
    reached by any number of rows.
    """
    p = decision_vectors(probability, decided, others)
    node = np.arange(len(p))
    lead = rule.regret[np.newaxis] - rule.regret[:, decided].T[:, :, np.newaxis]
    mean = np.einsum("na,nad->nd", p, lead)
    spread = np.sqrt(np.maximum(np.einsum("na,nad->nd", p, lead**2) - mean**2, 0.0))
    saved = (p @ rule.saving)[node, decided]
    is_rival = np.arange(len(rule)) != decided[:, np.newaxis]
    is_tie = (is_rival & (mean < 1e-9)).any(axis=1)

    def reached(n: FloatArray) -> NDArray[np.bool_]:
        z = np.sqrt(n)[:, np.newaxis] * mean / np.where(spread > 0, spread, 1.0)
        loses = np.where(is_rival & (spread > 0), ndtr(-z), 0.0)
        enough = (1.0 - loses.sum(axis=1) >= confidence) & (
            saved - (loses * mean).sum(axis=1) >= utility
        )
        return np.asarray(enough)

    most = np.full(len(p), 2.0**22)
    reachable = reached(most) & ~(is_tie & (confidence > 0.5))
    _, needed = halved(lambda n: ~reached(n), np.zeros(len(p)), most, 23, whole=True)
    return np.where(reachable, needed, np.nan)


def decision_vectors(
    probability: FloatArray, decided: NDArray[np.intp], others: FloatArray
) -> FloatArray:
    """Return the probabilities of all classes of every node."""
    vectors: FloatArray = others * (1.0 - probability)[:, np.newaxis]
    vectors[np.arange(len(decided)), decided] = probability
    return vectors


def _is_clear(n: float, p: FloatArray, decided: int, rule: CostRule) -> bool:
    """Whether the decision leads all others by so much that n rows cannot miss it."""
    lead = np.delete(rule.regret - rule.regret[:, [decided]], decided, axis=1)
    mean = p @ lead
    spread = p @ lead**2 - mean**2
    return bool(((mean > 0) & (n * mean**2 > _CLEAR**2 * spread)).all())

"""How sure is a decision at given costs: (5) and (6) for a cost threshold or a cost matrix.

A node of n rows decides for the cheapest class under its class frequencies. With two classes that
is a comparison of one frequency with a threshold: decide for the class of probability p if more
than n t of the n rows are of this class, draw by a fair coin if exactly n t are. With equal costs
the threshold is 1/2, and the formulas are those of the theory. With K classes and a cost matrix,
the decision of least expected cost takes the place of the most frequent class.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln, rel_entr

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_rows,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.nodes import confidence as equal_cost_confidence
from sureleaf.levels.plurality import class_confidence, class_utility

__all__ = [
    "CostRule",
    "cost_rule",
    "decision_confidence",
    "decision_sample_size",
    "decision_utility",
    "threshold_confidence",
    "threshold_utility",
]

_TIE = 1e-9
"""A count within this distance of n t, relative to n t, is a tie."""

_MAX_ROWS = 2**22
"""A level that takes more rows than this counts as out of reach."""

_MAX_COMPOSITIONS = 200_000
"""Up to this many possible count vectors, the K-class sums are exact."""

_DRAWS = 100_000
"""Beyond, so many samples are drawn: the standard error is at most 0.0016."""


def threshold_confidence(n: ArrayLike, p: ArrayLike, threshold: ArrayLike) -> Numbers:
    """Return the probability that n rows lead to the cheaper of two decisions.

    Parameters
    ----------
    n : array_like
        Rows in the node; 0 rows are a coin. Between whole numbers the value is interpolated.
    p : array_like
        True probability of the class that is decided for above the threshold, from 0 to 1.
    threshold : array_like
        From 0 to 1: deciding for the class is cheaper exactly if p is larger.

    Returns
    -------
    float or ndarray
        From 0 to 1. At ``p == threshold`` both decisions cost the same, and the value is 0.5.
        With ``threshold=0.5`` it is (5) for the larger of p and 1 - p.

    Notes
    -----
    Unlike (5), the value is not monotone in n: it rises by jumps of the whole number n t and
    falls a little in between. With a skewed threshold and few rows it can be below 0.5.

    Examples
    --------
    At costs of 5 to 1 the threshold is 1/6. A leaf with 53 % defaults is a certain "decline", one
    with 16.6 % is a coin toss.

    >>> round(threshold_confidence(30, 0.53, 1 / 6), 4)
    1.0
    >>> round(threshold_confidence(30, 0.166, 1 / 6), 2)
    0.52
    """
    n_rows, p_class, cut = broadcast(
        n=check_rows("n", n),
        p=check_unit_interval("p", p),
        threshold=check_unit_interval("threshold", threshold),
    )
    return scalar_or_array(_threshold_confidence(n_rows, p_class, cut))


def _threshold_confidence(n: FloatArray, p: FloatArray, threshold: FloatArray) -> FloatArray:
    whole = np.floor(n)
    finite = np.where(np.isfinite(whole), whole, 0.0)
    above = _decides_above(finite, p, threshold)
    part = np.where(np.isfinite(n), n, 0.0) - finite
    if (part > 0).any():
        above = above + part * (_decides_above(finite + 1.0, p, threshold) - above)
    value = np.where(p > threshold, above, 1.0 - above)
    value = np.where(np.isinf(n), 1.0, value)
    value = np.where((p == threshold) | (n == 0), 0.5, value)
    equal = threshold == 0.5  # exactly (5), in its own arithmetic
    if equal.any():
        larger = np.maximum(p, 1.0 - p)
        value = np.where(equal, equal_cost_confidence(n, np.clip(larger, 0.5, 1.0)), value)
    return np.where(np.isnan(n + p + threshold), np.nan, value)


def _decides_above(n: FloatArray, p: FloatArray, threshold: FloatArray) -> FloatArray:
    """P(Y > n t) + P(Y = n t) / 2 for Y ~ Bin(n, p), n whole."""
    limit = n * threshold
    nearest = np.rint(limit)
    is_tie = np.abs(limit - nearest) <= _TIE * np.maximum(limit, 1.0)
    last_below = np.where(is_tie, nearest - 1.0, np.floor(limit))  # the largest count below n t
    last_not_above = np.where(is_tie, nearest, np.floor(limit))
    return (_more_than(last_below, n, p) + _more_than(last_not_above, n, p)) / 2


def _more_than(count: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """P(Bin(n, p) > count)."""
    inside = (count >= 0) & (count < n)
    a = np.where(inside, count + 1.0, 1.0)
    b = np.where(inside, n - count, 1.0)
    tail: FloatArray = np.where(inside, betainc(a, b, p), np.where(count < 0, 1.0, 0.0))
    return tail


def threshold_utility(n: ArrayLike, p: ArrayLike, threshold: ArrayLike) -> Numbers:
    """Return the expected saving of deciding by n rows, in units of the mean cost of an error.

    The saving is measured against a wrong decision about every row. With ``threshold=0.5`` it is
    (6), the probability of a correct prediction of the next row.

    Parameters
    ----------
    n, p, threshold : array_like
        As for `threshold_confidence`.

    Returns
    -------
    float or ndarray

    Notes
    -----
    With costs scaled to a mean of 1, a false decision for the class costs 2 t and a false
    decision against it 2 (1 - t). Deciding for it saves 2 (1 - t) p, against it 2 t (1 - p).

    Examples
    --------
    >>> round(threshold_utility(30, 0.53, 1 / 6), 4)
    0.8833
    >>> from sureleaf.levels import utility
    >>> threshold_utility(30, 0.53, 0.5) == utility(30, 0.53)
    True
    """
    n_rows, p_class, cut = broadcast(
        n=check_rows("n", n),
        p=check_unit_interval("p", p),
        threshold=check_unit_interval("threshold", threshold),
    )
    sure = _threshold_confidence(n_rows, p_class, cut)
    for_it, against = 2 * (1 - cut) * p_class, 2 * cut * (1 - p_class)
    best, worst = np.maximum(for_it, against), np.minimum(for_it, against)
    value = worst + (best - worst) * sure
    larger = np.maximum(p_class, 1.0 - p_class)
    equal = (1.0 - larger) + (2.0 * larger - 1.0) * sure  # the arithmetic of (6), bit for bit
    return scalar_or_array(np.where(cut == 0.5, equal, value))


def decision_sample_size(
    p: ArrayLike, threshold: ArrayLike, *, confidence: float = 0.95
) -> Numbers:
    """Return the smallest n from which on `threshold_confidence` stays at or above a level.

    Parameters
    ----------
    p, threshold : array_like
        As for `threshold_confidence`.
    confidence : float
        The level, at least 0.5 and below 1.

    Returns
    -------
    float or ndarray
        NaN where p is the threshold, or where more than 4 million rows would be needed.

    Examples
    --------
    >>> decision_sample_size([0.53, 0.2], 1 / 6)
    array([  4., 398.])
    """
    p_class, cut = broadcast(
        p=check_unit_interval("p", p), threshold=check_unit_interval("threshold", threshold)
    )
    if not 0.5 <= confidence < 1.0:
        raise InvalidArgumentError(
            f"confidence must be at least 0.5 and below 1; got {confidence!r}. "
            "Give a level such as 0.95."
        )
    flat = [
        _stable_rows(float(a), float(b), confidence)
        for a, b in zip(p_class.ravel(), cut.ravel(), strict=True)
    ]
    return scalar_or_array(np.array(flat, dtype=np.float64).reshape(p_class.shape))


def _stable_rows(p: float, threshold: float, level: float) -> float:
    """Search downwards from the number of rows that Chernoff's bound gives."""
    if np.isnan(p + threshold) or p == threshold:
        return np.nan
    divergence = float(rel_entr(threshold, p) + rel_entr(1.0 - threshold, 1.0 - p))
    enough = np.ceil(-np.log(1.0 - level) / divergence) if divergence > 0 else np.inf
    if enough > _MAX_ROWS:
        return np.nan
    for last in _blocks(int(enough)):
        n = np.arange(last[0], last[1], dtype=np.float64)
        reached = _threshold_confidence(n, np.full(len(n), p), np.full(len(n), threshold)) >= level
        failed = np.flatnonzero(~reached)
        if len(failed):
            return float(n[failed[-1]] + 1)
    return 0.0


def _blocks(n: int, size: int = 4096) -> Iterator[tuple[int, int]]:
    """Ranges of whole numbers from n down to 0."""
    for end in range(n + 1, 0, -size):
        yield max(end - size, 0), end


class CostRule(NamedTuple):
    """A cost matrix as regrets: what each decision costs beyond the right one, scaled.

    Parameters
    ----------
    regret : ndarray of shape (n_classes, n_classes)
        ``regret[actual][predicted]``: 0 on the diagonal, the other entries have a mean of 1.
    is_equal : bool
        Whether all errors cost the same, so that the decision is the most probable class.
    """

    regret: FloatArray
    is_equal: bool

    @property
    def threshold(self) -> float:
        """With two classes: decide for the second class if its probability is larger than this."""
        if self.regret.shape != (2, 2):
            raise InvalidArgumentError(
                f"A threshold needs a cost matrix of two classes; got {len(self.regret)} classes."
            )
        false_second, false_first = self.regret[0, 1], self.regret[1, 0]
        return float(false_second / (false_second + false_first))

    def decide(self, probabilities: FloatArray) -> NDArray[np.intp]:
        """Return the class of least expected cost for each row, the first one on ties."""
        expected = probabilities @ self.regret
        least = expected.min(axis=-1, keepdims=True)
        return np.asarray((expected <= least + 1e-12).argmax(axis=-1))


def cost_rule(cost: ArrayLike) -> CostRule:
    """Check a cost matrix ``cost[actual][predicted]`` and turn it into regrets.

    Raises
    ------
    InvalidArgumentError
        If it is not a square matrix of finite numbers, if an error costs less than the correct
        decision, or if no error costs anything.

    Examples
    --------
    >>> cost_rule([[0, 1], [5, 0]]).threshold
    0.16666666666666666
    """
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InvalidArgumentError(
            "cost must be a square matrix with one row per actual and one column per predicted "
            f"class; got shape {matrix.shape}. Give cost[actual][predicted], classes sorted."
        )
    if not np.isfinite(matrix).all():
        raise InvalidArgumentError("cost must have finite numbers only; got NaN or infinity.")
    regret = matrix - np.diag(matrix)[:, np.newaxis]
    if (regret < 0).any():
        actual, predicted = (int(i) for i in np.argwhere(regret < 0)[0])
        raise InvalidArgumentError(
            f"cost[{actual}][{predicted}] is below cost[{actual}][{actual}]: an error must not "
            "cost less than the correct decision. Check the order of the classes (sorted)."
        )
    errors = regret[~np.eye(len(regret), dtype=bool)]
    if not errors.any():
        raise InvalidArgumentError("cost must be above 0 for at least one error; all are 0.")
    regret = regret / errors.mean()
    return CostRule(regret, bool((errors == errors[0]).all()))


def decision_confidence(n: ArrayLike, probabilities: ArrayLike, cost: ArrayLike) -> Numbers:
    """Return the probability that n rows lead to the cheapest of K decisions.

    Parameters
    ----------
    n : array_like
        Rows in the node.
    probabilities : array_like
        True class probabilities along the last axis.
    cost : array_like of shape (n_classes, n_classes)
        ``cost[actual][predicted]``.

    Returns
    -------
    float or ndarray
        Shape of n broadcast against ``probabilities.shape[:-1]``. If r decisions cost the same
        and no other costs less, each counts 1 / r, as in `class_confidence`.

    Notes
    -----
    Equal costs give `class_confidence`, two classes `threshold_confidence`. Otherwise the sum over
    all count vectors is exact up to 200,000 of them; beyond, 100,000 samples of n rows are drawn
    with a fixed seed, which leaves a standard error of at most 0.0016.

    Examples
    --------
    >>> cost = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    >>> round(decision_confidence(20, [0.5, 0.3, 0.2], cost), 4)
    0.7309
    """
    rule = cost_rule(cost)
    if rule.is_equal:
        return class_confidence(n, probabilities)
    n_rows, classes = _nodes(n, probabilities, len(rule.regret))
    if len(rule.regret) == 2:
        value = _threshold_confidence(
            n_rows.ravel(), classes[:, 1], np.full(len(classes), rule.threshold)
        )
        return scalar_or_array(value.reshape(n_rows.shape))
    chosen = _decision_probabilities(n_rows.ravel(), classes, rule)
    cheapest = _is_cheapest(classes @ rule.regret)
    sure = (chosen * cheapest).sum(axis=1) / cheapest.sum(axis=1)
    return scalar_or_array(sure.reshape(n_rows.shape))


def decision_utility(n: ArrayLike, probabilities: ArrayLike, cost: ArrayLike) -> Numbers:
    """Return the expected saving of deciding by n rows, in units of the mean cost of an error.

    The saving is measured against an average wrong decision about every row; with equal costs it
    is `class_utility`, the probability of a correct prediction of the next row.

    Parameters
    ----------
    n, probabilities, cost
        As for `decision_confidence`.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> cost = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    >>> round(decision_utility(20, [0.5, 0.3, 0.2], cost), 4)
    0.5106
    """
    rule = cost_rule(cost)
    if rule.is_equal:
        return class_utility(n, probabilities)
    n_rows, classes = _nodes(n, probabilities, len(rule.regret))
    if len(rule.regret) == 2:
        return threshold_utility(
            n_rows, classes[:, 1].reshape(n_rows.shape), np.full(n_rows.shape, rule.threshold)
        )
    chosen = _decision_probabilities(n_rows.ravel(), classes, rule)
    if_wrong = classes @ (rule.regret.sum(axis=1) / (len(rule.regret) - 1))
    saving = if_wrong - (chosen * (classes @ rule.regret)).sum(axis=1)
    return scalar_or_array(saving.reshape(n_rows.shape))


def _nodes(n: ArrayLike, probabilities: ArrayLike, n_classes: int) -> tuple[FloatArray, FloatArray]:
    """Rows in the broadcast shape, and one row of class probabilities per node."""
    n_rows, classes = check_rows("n", n), np.asarray(probabilities, dtype=np.float64)
    if classes.ndim == 0 or classes.shape[-1] != n_classes:
        raise InvalidArgumentError(
            f"probabilities must have one entry per class of the cost matrix, {n_classes}; "
            f"got shape {classes.shape}."
        )
    if not np.allclose(classes.sum(axis=-1), 1.0, atol=1e-8) or (classes < 0).any():
        raise InvalidArgumentError(
            "probabilities must not be negative and add up to 1. Divide counts by their sum first."
        )
    shape = np.broadcast_shapes(n_rows.shape, classes.shape[:-1])
    flat = np.broadcast_to(classes, (*shape, n_classes)).reshape(-1, n_classes)
    return np.broadcast_to(n_rows, shape), flat


def _is_cheapest(expected: FloatArray) -> NDArray[np.bool_]:
    least = expected.min(axis=1, keepdims=True)
    return np.asarray(expected <= least + 1e-12 * np.maximum(1.0, np.abs(least)))


def _decision_probabilities(n: FloatArray, classes: FloatArray, rule: CostRule) -> FloatArray:
    """P(decision d) for every node, by the counts of n rows; ties are drawn fairly."""
    result = np.empty(classes.shape)
    for node, (size, p) in enumerate(zip(n, classes, strict=True)):
        if np.isinf(size):
            cheapest = _is_cheapest((p @ rule.regret)[np.newaxis])[0]
            result[node] = cheapest / cheapest.sum()
            continue
        low = int(np.floor(size))
        result[node] = _decisions_of(low, p, rule)
        if size > low:
            result[node] += (size - low) * (_decisions_of(low + 1, p, rule) - result[node])
    return result


def _decisions_of(n: int, p: FloatArray, rule: CostRule) -> FloatArray:
    k = len(p)
    if n == 0:
        return np.full(k, 1.0 / k)
    n_vectors = np.exp(gammaln(n + k) - gammaln(n + 1) - gammaln(k))
    if n_vectors <= _MAX_COMPOSITIONS:
        counts = _compositions(n, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(counts > 0, counts * np.log(p), 0.0).sum(axis=1)
        weight = np.exp(gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + terms)
    else:
        draw = np.random.Generator(np.random.Philox(key=n)).multinomial
        counts = draw(n, p, size=_DRAWS).astype(np.float64)
        weight = np.full(_DRAWS, 1.0 / _DRAWS)
    cheapest = _is_cheapest(counts @ rule.regret)
    shares: FloatArray = weight @ (cheapest / cheapest.sum(axis=1, keepdims=True))
    return shares


def _compositions(n: int, k: int) -> FloatArray:
    """All vectors of k whole numbers that add up to n."""
    if k == 1:
        return np.array([[float(n)]])
    parts = []
    for first in range(n + 1):
        rest = _compositions(n - first, k - 1)
        parts.append(np.column_stack((np.full(len(rest), float(first)), rest)))
    return np.concatenate(parts)

"""Confidence and utility of a node with K classes: an extension of (5) and (6)."""

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

from sureleaf import _kernel
from sureleaf.arguments import FloatArray, Numbers, check_distribution, check_rows, scalar_or_array
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.decisions import CostRule, decision_probabilities, unequal_rule
from sureleaf.levels.nodes import at_threshold, confidence, saving
from sureleaf.levels.search import halved

# The probability that each of K classes is the most frequent among n rows.
#
# Ties are broken at random. The class counts are independent Poisson counts X_j with means n p_j,
# given that they add up to n; class i wins if X_i + U_i is the largest, with U_j uniform.
#
# Up to `EXACT_ROWS` rows the kernel sums over the winner's count (absolute error below 1e-11). For
# more than 16 classes that can win that sum may take too long; then the kernel lets the number
# of rows be a Poisson count and removes what that changes (absolute error below 1 / n^2).
# Beyond, the sum becomes an integral over the winner's score s: the integrand is the product of
# the winner's density and the others' distribution functions, each carrying exp(i theta x), and
# the integral over theta conditions on the total. The density of X_j + U_j - 1/2 is
# f + f'' / 24 with f the Poisson probability at real x. What is lost is the ripple between odd and
# even n, at most 0.0605 / n, and terms of the order (K / n)^2: below 1e-6 for K up to 50.

EXACT_ROWS = 100_000
"""Up to this many rows, or 500 rows per class for more than 200 classes, sums are exact."""

_ROWS_PER_CLASS = 500
_MANY_CLASSES = 200
_MOST_ROWS = 2**40
_LOG_NEGLIGIBLE = 42.0
_ROUGH, _ROUGH_CUT = 1e-6, 14.0
"""From this tolerance on, less is summed: what Bernstein's inequality gives a probability below
e^-14 is left out."""


def win_probabilities(
    n: FloatArray, probabilities: FloatArray, *, tolerance: float = 0.0
) -> FloatArray:
    """Return P(class j is the most frequent of n[i] rows); fractional n are interpolated.

    A tolerance of 1e-6 or more allows this absolute error, and takes a fraction of the time.
    """
    if probabilities.shape[1] == 2:
        return _two_classes(n, probabilities)
    if len(n) < _MANY_NODES:
        return _wins(n, probabilities, tolerance)
    # Nodes of a large tree are often alike but for the names of their classes: each kind once.
    order = np.argsort(probabilities, axis=1)
    kinds = np.column_stack([n, np.take_along_axis(probabilities, order, axis=1)])
    as_bytes = kinds.view(np.dtype((np.void, kinds.shape[1] * 8)))[:, 0]
    _, first, kind = np.unique(as_bytes, return_index=True, return_inverse=True)
    wins = np.empty(probabilities.shape)
    of_kind = _wins(n[first], np.ascontiguousarray(kinds[first, 1:]), tolerance)
    np.put_along_axis(wins, order, of_kind[kind], axis=1)
    return wins


_MANY_NODES = 100
"""From this many nodes on, nodes that are alike are computed once."""


def _wins(n: FloatArray, probabilities: FloatArray, tolerance: float) -> FloatArray:
    wins = np.full(probabilities.shape, np.nan)
    usable = ~np.isnan(n) & ~np.isnan(probabilities).any(axis=1)
    endless = usable & np.isinf(n)
    best = probabilities[endless] == probabilities[endless].max(axis=1, keepdims=True)
    wins[endless] = best / best.sum(axis=1, keepdims=True)
    finite = usable & ~endless
    cut = _LOG_NEGLIGIBLE if tolerance < _ROUGH else _ROUGH_CUT
    wins[finite] = _at_whole(np.floor(n[finite]), probabilities[finite], cut)
    between = np.flatnonzero(finite & (n > np.floor(n)))
    part = n[between] - np.floor(n[between])
    above = _at_whole(np.ceil(n[between]), probabilities[between], cut)
    wins[between] += part[:, np.newaxis] * (above - wins[between])
    return wins


def _two_classes(n: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return (5) for the larger of two classes, and the rest for the smaller."""
    larger = probabilities.max(axis=1)
    sure = np.asarray(confidence(n, np.clip(larger, 0.5, 1.0)))[:, np.newaxis]
    return np.where(probabilities == larger[:, np.newaxis], sure, 1.0 - sure)


def _at_whole(n: FloatArray, probabilities: FloatArray, cut: float) -> FloatArray:
    wins = np.empty(probabilities.shape)
    n_classes = (probabilities > 0).sum(axis=1)
    summed = n <= np.maximum(EXACT_ROWS, _ROWS_PER_CLASS * n_classes)
    summed |= (n_classes > _MANY_CLASSES) & (n <= _MOST_ROWS)
    kernel_wins = np.empty((int(summed.sum()), probabilities.shape[1]))
    _kernel.plurality(
        n[summed].astype(np.int64),
        np.ascontiguousarray(probabilities[summed]),
        kernel_wins,
        exact=False,
        cut=cut,
    )
    wins[summed] = kernel_wins
    for i in np.flatnonzero(~summed):
        wins[i] = _of_many_rows(float(n[i]), probabilities[i])
    return wins


def _of_many_rows(n: float, probabilities: FloatArray) -> FloatArray:
    """Return approximate win probabilities; classes that cannot win are one Poisson count."""
    top = probabilities.max()
    lowest = n * top - _reach(n * top * (1 - top))
    able = n * probabilities + _reach(n * probabilities * (1 - probabilities)) >= lowest
    wins = np.zeros(probabilities.shape)
    if able.sum() == 1:
        return np.where(able, 1.0, 0.0)
    means: FloatArray = n * probabilities[able]
    period = float(_reach(n))  # the total deviates no further from n
    n_turns = int(np.ceil(np.sqrt(2 * _LOG_NEGLIGIBLE / n) * period / (2 * np.pi))) + 1
    theta: FloatArray = np.arange(n_turns, dtype=np.float64) * (2 * np.pi / period)
    rest = n * probabilities[~able].sum()
    weight = np.exp(rest * (1j * np.sin(theta) - 2 * np.sin(theta / 2) ** 2))
    weight = weight * np.exp(-1j * theta * (n - means.sum()))
    weight[1:] *= 2  # theta and -theta
    won = (weight[:, np.newaxis] * _won_at(theta, means)).sum(axis=0).real
    wins[able] = np.clip(won / won.sum(), 0.0, 1.0)
    return wins


def _won_at(theta: FloatArray, means: FloatArray) -> NDArray[np.complex128]:
    """Return E[exp(i theta (sum of counts - sum of means)); class j wins], up to one factor."""
    spread = _reach(means)
    low, high = np.min(means - spread), np.max(means + spread)
    edges = np.linspace(low, high, int(np.ceil(4 * (high - low) / np.sqrt(means.max()))) + 1)
    width = edges[1] - edges[0]
    nodes, weights = leggauss(8)
    inside = edges[:-1, np.newaxis] + width * (nodes + 1) / 2
    cells = _carried_density(theta, means, inside) @ (weights * width / 2)
    below = np.zeros((len(theta), len(means), len(edges)), dtype=np.complex128)
    np.cumsum(cells, axis=2, out=below[:, :, 1:])
    others = np.ones_like(below)  # products over the other classes, from both sides
    np.cumprod(below[:, :-1], axis=1, out=others[:, 1:])
    others[:, :-1] *= np.cumprod(below[:, :0:-1], axis=1)[:, ::-1]
    won: NDArray[np.complex128] = (_carried_density(theta, means, edges) * others).sum(axis=2)
    return won


def _carried_density(
    theta: FloatArray, means: FloatArray, score: FloatArray
) -> NDArray[np.complex128]:
    """Return g + g'' / 24 of g = exp(i theta (x - mean)) f(x), axes theta, class, score."""
    angle = theta.reshape((-1, 1) + (1,) * score.ndim)
    mean = means.reshape((-1,) + (1,) * score.ndim)
    slope = 1j * angle - np.log1p((score + 0.5 - mean) / mean)  # of log g
    density = _poisson_density(score, mean) * np.exp(1j * angle * (score - mean))
    carried: NDArray[np.complex128] = density * (1 + (slope**2 - 1 / score) / 24)
    return carried


def _poisson_density(x: FloatArray, mean: FloatArray) -> FloatArray:
    """Return the Poisson probability at real x by Stirling's series, x of hundreds or more."""
    ratio = (x - mean) / mean
    near = np.where(np.abs(ratio) < 0.01, ratio, 0.0)
    series = np.zeros_like(near)
    for k in range(9, 1, -1):  # (1 + r) log(1 + r) - r = r^2 / 2 - r^3 / 6 + r^4 / 12 - ...
        series = 1 / (k * (k - 1)) - near * series
    far = (1 + ratio) * np.log1p(ratio) - ratio
    deviance = mean * np.where(near == ratio, near**2 * series, far)
    density: FloatArray = np.exp(-deviance - 1 / (12 * x)) / np.sqrt(2 * np.pi * x)
    return density


def _reach(variance: FloatArray | float) -> FloatArray:
    """Return the largest deviation of a count, except with probability e^-42 (Bernstein)."""
    third = _LOG_NEGLIGIBLE / 3
    return np.asarray(third + np.sqrt(third**2 + 2 * _LOG_NEGLIGIBLE * np.asarray(variance)))


def class_confidence(
    n: ArrayLike, probabilities: ArrayLike, *, cost: ArrayLike | None = None
) -> Numbers:
    """Return the probability that the most frequent of K classes is the most probable one.

    With costs, the decision of least expected cost takes the place of the most frequent class: the
    probability that n rows lead to the cheapest of K decisions.

    An extension of (5), which is for two classes. The most frequent class among n rows wins, and
    ties are broken at random. If r classes have the largest probability, the confidence is the
    mean of their probabilities to win; so K classes of equal probability give 1 / K.

    Parameters
    ----------
    n : array_like
        Rows in the node, 0 or more. Without rows the winner is random: 1 / K.
        Between whole numbers the confidence is interpolated linearly; infinity gives 1 / r.
    probabilities : array_like
        Probabilities of the classes along the last axis; not negative, sum 1 (within 1e-8).
    cost : array_like of shape (n_classes, n_classes), optional
        ``cost[actual][predicted]``. By default all errors cost the same.

    Returns
    -------
    float or ndarray
        From 0 to 1; shape of n broadcast against ``probabilities.shape[:-1]``. Absolute error
        below 1e-11 up to 100,000 rows, below 1e-6 beyond (K up to 50; two classes: (5)).

    Notes
    -----
    A single bad vector of probabilities raises an error; one of several gives NaN.

    With unequal costs, two classes give `confidence` at the cost threshold. More classes are summed
    over all count vectors if there are up to 50,000 of them; beyond, 40,000 samples of n rows are
    drawn with a fixed seed, and the standard error is at most 0.0025. If r decisions cost the same
    and no other costs less, each counts 1 / r.

    Examples
    --------
    >>> round(class_confidence(30, [0.5, 0.3, 0.2]), 4)
    0.8834
    >>> round(class_confidence(5, [0.25, 0.25, 0.25, 0.25]), 4)
    0.25
    >>> cost = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    >>> round(class_confidence(30, [0.5, 0.3, 0.2], cost=cost), 4)
    0.7799
    """
    return _class_levels(n, probabilities, cost)[0]


def class_utility(
    n: ArrayLike, probabilities: ArrayLike, *, cost: ArrayLike | None = None
) -> Numbers:
    """Return the probability that the next row is of the most frequent of K classes.

    With costs, it is the expected saving per row of deciding by n rows, relative to the most
    expensive decision about every row, in units of the most expensive error.

    An extension of (6), which is for two classes. The winner is that of `class_confidence`; the
    utility is the sum over classes of P(class wins) times its probability: from 1 / K to the
    largest probability, with costs from 0 to 1. Parameters and error as for `class_confidence`.

    Examples
    --------
    >>> round(class_utility(30, [0.5, 0.3, 0.2]), 4)
    0.4754
    >>> cost = [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
    >>> round(class_utility(30, [0.5, 0.3, 0.2], cost=cost), 4)
    0.2941
    """
    return _class_levels(n, probabilities, cost)[1]


def _class_levels(
    n: ArrayLike, probabilities: ArrayLike, cost: ArrayLike | None
) -> tuple[Numbers, Numbers]:
    """Return the confidence and the utility of nodes with K classes."""
    rule = unequal_rule(cost)
    n_rows, classes = _nodes(n, probabilities, rule)
    if rule is None:
        wins = win_probabilities(n_rows.ravel(), classes)
        best = np.argmax(classes, axis=1)[:, np.newaxis]
        sure, useful = np.take_along_axis(wins, best, axis=1), (classes * wins).sum(axis=1)
    else:
        sure, useful = _decided(n_rows.ravel(), classes, rule)
    shape = n_rows.shape
    return scalar_or_array(sure.reshape(shape)), scalar_or_array(useful.reshape(shape))


def _decided(n: FloatArray, classes: FloatArray, rule: CostRule) -> tuple[FloatArray, FloatArray]:
    """Return the confidence and the utility of deciding by n rows at unequal costs."""
    if len(rule) == 2:
        cut, p = np.full(len(n), rule.threshold), classes[:, 1]
        sure = at_threshold(n, p, cut)
        return sure, saving(p, cut, sure)
    cheapest, chosen = rule.is_cheapest(classes), decision_probabilities(n, classes, rule)
    sure = (chosen * cheapest).sum(axis=1) / cheapest.sum(axis=1)
    return sure, (chosen * (classes @ rule.saving)).sum(axis=1)


def _nodes(
    n: ArrayLike, probabilities: ArrayLike, rule: CostRule | None
) -> tuple[FloatArray, FloatArray]:
    """Return n in the broadcast shape, and one row of class probabilities per node."""
    n_rows, classes = check_rows("n", n), check_distribution("probabilities", probabilities)
    try:
        shape = np.broadcast_shapes(n_rows.shape, classes.shape[:-1])
    except ValueError:
        raise InvalidArgumentError(
            f"n must broadcast against probabilities without their last axis; got shapes "
            f"{n_rows.shape} and {classes.shape}. Give one n for each vector of probabilities."
        ) from None
    if rule is not None and classes.shape[-1] != len(rule):
        raise InvalidArgumentError(
            f"cost must have one row and one column per class, {classes.shape[-1]}; got "
            f"{len(rule)} of each. Give cost[actual][predicted] in the order of probabilities."
        )
    n_rows = np.broadcast_to(n_rows, shape)
    flat = np.broadcast_to(classes, (*shape, classes.shape[-1])).reshape(-1, classes.shape[-1])
    return n_rows, flat


# Solving (6) and its form for K classes for the class probability.

_HALVINGS = 54
_NEAR = 1e-10
_CLEAR = 8.0
"""A lead of this many standard deviations counts as certain."""

ClassLevels = tuple[FloatArray, FloatArray]
"""The probability of the winner, and the confidence."""


def p_max_of_utility(n: FloatArray, utility: FloatArray) -> ClassLevels:
    """Return the p_max of each node that solves (6), and its confidence (5).

    For a utility of 1/2 or less, p_max and confidence are 1/2. A node without rows has a utility of
    1/2 for every p_max; its p_max is set to the utility.
    """
    n, utility = np.broadcast_arrays(np.asarray(n, float), np.asarray(utility, float))

    def is_below(p_max: FloatArray) -> NDArray[np.bool_]:
        sure = _kernel.confidence(n.copy(), p_max)
        return np.asarray((1 - p_max) + (2 * p_max - 1) * sure < utility)

    low, high = halved(is_below, np.full(n.shape, 0.5), np.ones(n.shape), _HALVINGS)
    p_max = np.where(utility <= 0.5, 0.5, np.where(utility >= 1, 1.0, (low + high) / 2))
    p_max = np.where((n == 0) & (utility > 0.5), utility, p_max)
    return p_max, _kernel.confidence(n.copy(), p_max)


def winner_of_utility(
    n: FloatArray, utility: FloatArray, others: FloatArray, *, tolerance: float = _NEAR
) -> ClassLevels:
    """Return the probability of the winner that solves `class_utility`, and its confidence.

    The other classes keep their proportions, given by weights. A winner is at least as probable as
    the most probable other class; a utility below that of such a tie gives the tie. The utility of
    the solution is within the tolerance of the wanted one.
    """
    if others.shape[1] == 1:
        return p_max_of_utility(n, utility)
    total = others.sum(axis=1, keepdims=True)
    even = np.full(others.shape, 1.0 / others.shape[1])
    others = np.divide(others, total, out=even, where=total > 0)
    largest = others.max(axis=1)
    tie = largest / (1 + largest)
    probability = np.clip(utility, tie, 1.0)
    clear = _is_clear(n, probability, largest)
    sure = np.where(clear, 1.0, 1.0 / (others.shape[1] + 1))
    open_ = np.flatnonzero((n > 0) & (probability < 1) & ~clear)
    probability[open_], sure[open_] = _root(
        n[open_], utility[open_], others[open_], probability[open_], tolerance
    )
    return probability, sure


def _is_clear(n: FloatArray, winner: FloatArray, largest: FloatArray) -> NDArray[np.bool_]:
    """Return whether the lead of the winner is so large that it cannot lose."""
    second = (1 - winner) * largest
    lead = winner - second
    clear: NDArray[np.bool_] = n * lead**2 > _CLEAR**2 * (winner + second - lead**2)
    return clear & (lead > 0)


def _root(
    n: FloatArray, utility: FloatArray, others: FloatArray, low: FloatArray, tolerance: float
) -> ClassLevels:
    """Return the root by the method of false position with the Illinois rule, and its confidence.

    The utility is at most the probability of the winner, so that no root is below `low`, the wanted
    utility or a tie. What the utility lacks there is the first step: it is about the right one.
    """
    low, high = low.copy(), np.ones(len(n))
    root = low.copy()
    utility_at_low, sure = _utility(n, low, others, tolerance)
    at_low, at_high = utility_at_low - utility, 1.0 - utility
    active = np.flatnonzero(at_low < -tolerance)  # the other nodes are clear, or below a tie
    last = np.zeros(len(n))
    for step in range(_HALVINGS):
        if not len(active):
            break
        a, b, fa, fb = low[active], high[active], at_low[active], at_high[active]
        middle = (a * fb - b * fa) / (fb - fa) if step else a - fa
        middle = np.where((middle > a) & (middle < b), middle, (a + b) / 2)
        reached, sure[active] = _utility(n[active], middle, others[active], tolerance)
        miss = reached - utility[active]
        root[active] = middle
        side = np.where(miss < 0, -1.0, 1.0)
        again = side == last[active]
        at_low[active] = np.where(side < 0, miss, np.where(again, fa / 2, fa))
        at_high[active] = np.where(side > 0, miss, np.where(again, fb / 2, fb))
        low[active], high[active] = np.where(side < 0, middle, a), np.where(side > 0, middle, b)
        last[active] = side
        active = active[(np.abs(miss) > tolerance) & (high[active] - low[active] > _NEAR)]
    return root, sure


def _utility(
    n: FloatArray, winner: FloatArray, others: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Return the utility and the confidence of each node."""
    vectors = np.column_stack([winner, (1 - winner)[:, np.newaxis] * others])
    wins = win_probabilities(n, vectors, tolerance=tolerance)
    return (vectors * wins).sum(axis=1), wins[:, 0]

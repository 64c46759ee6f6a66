"""Guarantees for the cells of a partition, from rows that were not used to choose it.

A tree divides the rows into finitely many leaves. Given the number of held-out rows in each leaf,
their classes are independent draws from the class probabilities of that leaf, whatever the
distribution of the columns. So binomial limits are exact, those of several leaves are independent,
and prediction sets have their coverage within every leaf. A model with a different score for every
row has no such cells: for it, no finite sample gives limits that hold for any distribution and
become narrow [1]_.

References
----------
.. [1] Gupta, C., Podkopaev, A., Ramdas, A. (2020). Distribution-free binary classification:
   prediction sets, confidence intervals and calibration. NeurIPS 33, 3711-3723.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from sureleaf.arguments import FloatArray
from sureleaf.levels.decisions import CostRule
from sureleaf.levels.intervals import clopper_pearson_limits
from sureleaf.levels.search import halved

Per = Literal["leaf", "class"]
"""Within what prediction sets have their coverage."""


def wrong_class_p_values(
    counts: FloatArray,
    named: NDArray[np.intp],
    rule: CostRule | None = None,
    *,
    named_before: bool = True,
) -> FloatArray:
    """Return, for each cell, the p-value of "it names the wrong class"; 1 for a cell without rows.

    The counts are rows by class that did not draw the cells. The right class is the most probable
    one of the cell; with costs, the decision of least expected cost. Two classes are compared by
    the binomial test against the tie between them. Of several classes, the named one is compared
    with the most frequent other one, by the binomial test of the rows of these two [1]_. Several
    classes with costs are compared by limits of Clopper and Pearson for all class probabilities.

    If not other rows have named the classes but the same (``named_before=False``), the p-values are
    those of the two-sided test, which are valid for the class that the rows have chosen.

    References
    ----------
    .. [1] Hung, K., Fithian, W. (2019). Rank verification for exponential families. Annals of
       Statistics 47, 758-782.
    """
    n_cells, n_classes = counts.shape
    if n_classes == 1:
        return np.where(counts[:, 0] > 0, 0.0, 1.0)
    cell = np.arange(n_cells)
    own = counts[cell, named]
    if rule is not None and n_classes > 2:
        return np.array(
            [
                _decision_p_value(line, int(code), rule)
                for line, code in zip(counts, named, strict=True)
            ]
        )
    others = counts.copy()
    others[cell, named] = -1.0
    rival = others.max(axis=1)
    tie = 0.5 if rule is None else rule.thresholds(named)
    # P(Bin(own + rival, tie) >= own)
    tail = betainc(np.maximum(own, 1e-300), rival + 1.0, tie)
    p_values = np.where(own > 0, tail, 1.0)
    if not named_before and rule is None:
        p_values = 2.0 * p_values
    smallest: FloatArray = np.minimum(p_values, 1.0)
    return smallest


def _decision_p_value(counts: FloatArray, decided: int, rule: CostRule) -> float:
    """Return the least error probability at which all likely class probabilities agree."""

    def is_refuted(log_error: FloatArray) -> bool:
        return not _is_cheapest_within(counts, decided, rule, float(np.exp(log_error)))

    least = np.log(_LEAST_P_VALUE)
    if not is_refuted(least):
        return float(np.exp(least))
    if not _is_cheapest_within(counts, decided, rule, 1.0 - 1e-12):
        return 1.0
    return float(np.exp(halved(is_refuted, least, 0.0, 60)[1]))


def _is_cheapest_within(counts: FloatArray, decided: int, rule: CostRule, error: float) -> bool:
    """Whether a decision is the cheapest one for all probabilities within simultaneous limits."""
    n = np.full(len(counts), counts.sum())
    if not n[0]:
        return False
    low, high = clopper_pearson_limits(counts, n, np.asarray(error / (2 * len(counts))))
    extra = rule.regret[:, [decided]] - rule.regret  # what the decision costs more than each other
    for other in range(len(rule)):
        if other == decided:
            continue
        worst = low.copy()  # put the free probability where the decision is worst
        free = 1.0 - low.sum()
        for k in np.argsort(-extra[:, other], kind="stable"):
            added = min(high[k] - low[k], free)
            worst[k] += added
            free -= added
        if not worst @ extra[:, other] < 0:
            return False
    return True


_LEAST_P_VALUE = 1e-12
"""Limits at smaller error probabilities are not computed reliably."""


def adjusted_p_values(p_values: FloatArray, *, independent: bool = True) -> FloatArray:
    """Return p-values for statements about all cells at once, from those of cells with rows.

    The cells with an adjusted p-value of at most alpha are all right, except with probability
    alpha. Independent p-values of statements that were fixed before are adjusted by Hochberg's
    procedure [1]_, which rejects whatever Holm's rejects and sometimes more; if all are below
    alpha, nothing is lost by their number. Others are multiplied by their number.

    References
    ----------
    .. [1] Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance.
       Biometrika 75, 800-802.
    """
    n_cells = len(p_values)
    if not independent:
        return np.minimum(n_cells * p_values, 1.0)
    order = np.argsort(-p_values, kind="stable")
    least = np.minimum.accumulate(p_values[order] * (1.0 + np.arange(n_cells)))
    adjusted = np.empty(n_cells)
    adjusted[order] = np.minimum(least, 1.0)
    return adjusted


def simultaneous_limits(
    successes: FloatArray, n: FloatArray, *, level: float, n_named: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Return limits of probabilities that hold for all cells at once with this probability.

    Clopper-Pearson limits at the level of Sidak, since cells are independent given their rows. A
    cell without rows has the limits 0 and 1, and does not make the others wider. ``n_named`` is the
    number of classes among which these same rows have chosen the one that a cell names; 1 if other
    rows have named it, or with two classes, since limits for one are limits for the other.
    """
    n_cells = max(int(np.count_nonzero(n > 0)), 1)
    error = -np.expm1(np.log(level) / n_cells)
    return clopper_pearson_limits(successes, n, np.asarray(error / (2 * n_named)))


def conformal_p_values(counts: FloatArray, *, per: Per | None = "leaf") -> FloatArray:
    """Return the conformal p-value of every class in every cell.

    A new row of this cell is given each class in turn and added to the rows. Its p-value is the
    share of the rows that fit no better than it does. A row fits as well as the share of its class
    among the rows of its cell, the new row included. Under exchangeability the p-value of the true
    class is at most alpha with probability at most alpha, for any distribution and any number of
    rows. Rows that fit equally count in full, so no random numbers are needed; the coverage is then
    at least the stated one, and more where counts are coarse.

    The new row is compared with the rows of its cell, so that the coverage holds within every cell;
    with those of its class (``per="class"``); or with all (None).
    """
    n_classes = counts.shape[1]
    n = counts.sum(axis=1, keepdims=True)
    before = np.divide(counts, n, out=np.zeros(counts.shape), where=n > 0)
    p_values = np.empty(counts.shape)
    for code in range(n_classes):
        with_row = counts.copy()
        with_row[:, code] += 1.0  # in every cell: each is looked at by itself
        fit = with_row / (n + 1.0)
        bound = fit[:, [code]] + _ROUNDING
        classes = slice(code, code + 1) if per == "class" else slice(None)
        worse = np.where(fit <= bound, with_row, 0.0)[:, classes].sum(axis=1)
        compared = with_row[:, classes].sum(axis=1)
        if per != "leaf":  # rows of the other cells, which the new row does not change
            shares, rows = before[:, classes], counts[:, classes]
            order = np.argsort(shares, axis=None, kind="stable")
            sums = np.concatenate([[0.0], np.cumsum(rows.ravel()[order])])
            below = sums[np.searchsorted(shares.ravel()[order], bound[:, 0], side="right")]
            worse += below - np.where(shares <= bound, rows, 0.0).sum(axis=1)
            compared += rows.sum() - rows.sum(axis=1)
        p_values[:, code] = worse / compared
    return p_values


_ROUNDING = 1e-12
"""Shares that differ by less are equal."""


def venn_limits(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest probability of each class, by the Venn predictor of cells.

    A new row of the cell is given each class in turn; the share of a class among the rows of the
    cell is then k / (n + 1) or (k + 1) / (n + 1). One of these probabilities is perfectly
    calibrated, whichever class the row has, for any distribution and any number of rows [1]_.

    References
    ----------
    .. [1] Vovk, V., Shafer, G., Nouretdinov, I. (2004). Self-calibrating probability forecasting.
       NeurIPS 16.

    Examples
    --------
    >>> low, high = venn_limits(np.array([[1.0, 3.0]]))
    >>> low.tolist(), high.tolist()
    ([[0.2, 0.6]], [[0.4, 0.8]])
    """
    n = counts.sum(axis=1, keepdims=True) + 1.0
    return counts / n, (counts + 1.0) / n

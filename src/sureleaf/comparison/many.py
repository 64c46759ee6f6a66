"""Many algorithms on many data sets: whether they differ at all, and which of them.

Demšar (2006) with the advice of Benavoli, Corani and Mangili (2016): Friedman's test asks whether
any differ; Wilcoxon's signed-rank test with Holm's correction says which. Nemenyi's critical
difference is what the usual diagram draws; its answer for two algorithms depends on which others
are in the pool.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import check_level

__all__ = ["ManyComparison", "Pair", "compare_many", "holm"]

ENOUGH, ORDERS = 10, 20_000
"""Data sets from which on F keeps its level, and orders of ranks that are drawn for fewer."""


@dataclass(frozen=True)
class Pair:
    """Two algorithms over all data sets.

    Attributes
    ----------
    first, second : str
        Names; ``first`` has the better average rank.
    difference : float
        Median over the data sets of the first's score minus the second's.
    p_value, adjusted_p_value : float
        Of Wilcoxon's signed-rank test, alone and after Holm's correction for all pairs.

    Examples
    --------
    >>> Pair("tree", "rule", 0.02, 0.01, 0.03).adjusted_p_value
    0.03
    """

    first: str
    second: str
    difference: float
    p_value: float
    adjusted_p_value: float


@dataclass(frozen=True)
class ManyComparison:
    """Average ranks, the tests on them, and what a critical-difference diagram draws.

    Attributes
    ----------
    names : tuple of str
        Algorithms, best average rank first.
    average_ranks : tuple of float
        In that order; 1 is best.
    n_datasets : int
        Data sets compared on.
    friedman_chi2, friedman_f : float
        Friedman's statistic, corrected for ties, and Iman and Davenport's F of it.
    p_value : float
        Of "all algorithms are alike": of F, or, for fewer than ten data sets, where F finds too
        much, by exchanging ranks within data sets.
    critical_difference : float
        Nemenyi's, in average ranks.
    groups : tuple of tuple of str
        Longest runs of algorithms whose average ranks lie within the critical difference: the
        bars of the diagram. An algorithm in no group differs from all others.
    pairs : tuple of Pair
        Each two algorithms, by adjusted p-value.
    level : float
        Level of the tests.

    Examples
    --------
    >>> scores = [[9, 8, 7], [8, 7, 6], [9, 7, 8], [7, 6, 5], [9, 8, 6], [8, 6, 5]]
    >>> found = compare_many(scores, names=["forest", "tree", "rule"])
    >>> found.names, round(found.p_value, 4)
    (('forest', 'tree', 'rule'), 0.0013)
    """

    names: tuple[str, ...]
    average_ranks: tuple[float, ...]
    n_datasets: int
    friedman_chi2: float
    friedman_f: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Pair, ...]
    level: float

    def __repr__(self) -> str:
        ranks = ", ".join(
            f"{name} {rank:.2f}" for name, rank in zip(self.names, self.average_ranks, strict=True)
        )
        lines = [
            f"average ranks over {self.n_datasets} data sets: {ranks}",
            f"all alike? Friedman ({_how(self.n_datasets)}) p = {self.p_value:.4g}; "
            f"critical difference {self.critical_difference:.2f} ranks (Nemenyi)",
        ]
        lines += [
            f"  {pair.first} - {pair.second}: {pair.difference:+.4f}, "
            f"p = {pair.adjusted_p_value:.4g} (Wilcoxon, Holm)"
            for pair in self.pairs
        ]
        return "\n".join(lines)


def compare_many(
    scores: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool = True,
    level: float = 0.95,
) -> ManyComparison:
    """Compare algorithms by their scores on several data sets.

    Parameters
    ----------
    scores : array-like of shape (data sets, algorithms)
        One score each. Folds are not data sets: average them first.
    names : sequence of str, optional
        Names of the algorithms, by default A, B, C…
    higher_is_better : bool, default=True
        False for errors and losses.
    level : float, default=0.95
        Level of the tests; decides the critical difference and the groups.

    Returns
    -------
    ManyComparison

    Examples
    --------
    >>> found = compare_many([[.9, .8], [.8, .7], [.9, .7], [.7, .6], [.9, .8], [.8, .6]])
    >>> found.pairs[0].p_value
    0.03125
    """
    from scipy.stats import f as f_distribution
    from scipy.stats import rankdata, studentized_range

    check_level(level)
    table, labels = _checked_scores(scores, names)
    n_datasets, k = table.shape
    ranks = rankdata(-table if higher_is_better else table, axis=1)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    chi2 = _friedman(ranks)
    degrees = (k - 1, (k - 1) * (n_datasets - 1))
    room = n_datasets * (k - 1) - chi2
    f_statistic = (n_datasets - 1) * chi2 / room if room > 1e-9 else math.inf
    difference = float(
        studentized_range.ppf(level, k, math.inf) * math.sqrt(k * (k + 1) / (12 * n_datasets))
    )
    by_f = float(f_distribution.sf(f_statistic, *degrees))
    sorted_names = tuple(labels[i] for i in order)
    return ManyComparison(
        names=sorted_names,
        average_ranks=tuple(float(means[i]) for i in order),
        n_datasets=n_datasets,
        friedman_chi2=chi2,
        friedman_f=f_statistic,
        p_value=_exchanged(ranks) if n_datasets < ENOUGH else by_f,
        critical_difference=difference,
        groups=_groups(sorted_names, means[order], difference),
        pairs=_pairs(table[:, order], sorted_names),
        level=level,
    )


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values so that all of them together err no oftener than one alone (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=float)
    order = np.argsort(raw, kind="stable")
    steps = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _friedman(ranks: NDArray[np.float64]) -> float:
    """Friedman's chi-square; its general form takes ties as they come."""
    k = ranks.shape[1]
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    if spread == 0:  # every algorithm ties with every other on every data set
        return 0.0
    between = ranks.sum(axis=0) - ranks.shape[0] * (k + 1) / 2
    return float((k - 1) * (between**2).sum() / spread)


def _exchanged(ranks: NDArray[np.float64]) -> float:
    """P-value of Friedman's statistic if every order of a data set's ranks is as likely.

    Valid for any number of data sets: the observed order counts as one of those drawn.
    """
    orders = np.random.default_rng(0).permuted(np.tile(ranks, (ORDERS, 1, 1)), axis=2)
    middle = ranks.mean(axis=1).sum()
    found = ((orders.sum(axis=1) - middle) ** 2).sum(axis=1)
    as_far = found >= ((ranks.sum(axis=0) - middle) ** 2).sum() - 1e-9
    return float((1 + np.count_nonzero(as_far)) / (1 + ORDERS))


def _how(n_datasets: int) -> str:
    return "ranks exchanged" if n_datasets < ENOUGH else "Iman-Davenport"


def _groups(
    names: tuple[str, ...], ranks: NDArray[np.float64], difference: float
) -> tuple[tuple[str, ...], ...]:
    groups: list[tuple[str, ...]] = []
    reached = 0
    for start, rank in enumerate(ranks):
        stop = int(np.searchsorted(ranks, rank + difference, side="right"))
        if stop - start > 1 and stop > reached:  # one alone, or part of the last, is no new bar
            groups.append(names[start:stop])
            reached = stop
    return tuple(groups)


def _pairs(table: NDArray[np.float64], names: tuple[str, ...]) -> tuple[Pair, ...]:
    from scipy.stats import wilcoxon

    found = list(combinations(range(len(names)), 2))
    differences = [table[:, i] - table[:, j] for i, j in found]
    p_values = [1.0 if not d.any() else float(wilcoxon(d).pvalue) for d in differences]
    adjusted = holm(p_values)
    pairs = [
        Pair(names[i], names[j], float(np.median(d)), p, float(q))
        for (i, j), d, p, q in zip(found, differences, p_values, adjusted, strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p_value, pair.p_value)))


def _checked_scores(
    scores: ArrayLike, names: Sequence[str] | None
) -> tuple[NDArray[np.float64], list[str]]:
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise InvalidArgumentError(
            "scores must be a table of finite numbers, at least two data sets (rows) by two "
            f"algorithms (columns); got shape {table.shape}. Leave out data sets on which an "
            "algorithm failed, or give it the score of the majority class there."
        )
    labels = [chr(65 + i) if i < 26 else f"A{i}" for i in range(table.shape[1])]
    if names is not None:
        labels = [str(name) for name in names]
    if len(set(labels)) != table.shape[1]:
        raise InvalidArgumentError(
            f"names must hold {table.shape[1]} different names, one a column of scores; "
            f"got {labels}."
        )
    return table, labels

"""Several algorithms on several data sets: whether they differ, and which of them.

Friedman's test shows whether any algorithms differ [1]_. Wilcoxon's signed-rank test with Holm's
correction shows which [2]_. Nemenyi's critical difference is what the usual diagram draws; its
result for two algorithms depends on the others in the comparison.

References
----------
.. [1] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal
   of Machine Learning Research 7, 1-30.
.. [2] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests based on
   mean-ranks? Journal of Machine Learning Research 17, 1-10.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import FloatArray, check_level, check_numbers
from sureleaf.errors import InvalidArgumentError

ENOUGH_DATASETS = 10
"""From this number on, F has its level; with fewer, ranks are permuted."""

N_PERMUTATIONS = 20_000


@dataclass(frozen=True)
class Pair:
    """Two algorithms over all data sets; `first` has the better average rank.

    The difference is the median over the data sets of the scores of the first minus those of the
    second. The p-values are those of Wilcoxon's signed-rank test, alone and after Holm's correction
    for all pairs.
    """

    first: str
    second: str
    difference: float
    p_value: float
    adjusted_p_value: float


@dataclass(frozen=True)
class ManyComparison:
    """Average ranks, the tests on them, and the groups of a critical-difference diagram.

    The p-value of "all algorithms are equal" is that of F, or of permuted ranks within data sets if
    there are fewer than ten, where F has too many false positives. The groups, the bars of the
    diagram, are the largest sets of algorithms whose average ranks lie within the critical
    difference. An algorithm in no group differs from all others.
    """

    names: tuple[str, ...]  # algorithms, the best average rank first
    average_ranks: tuple[float, ...]
    n_datasets: int
    friedman_chi2: float  # corrected for ties
    friedman_f: float  # by Iman and Davenport
    p_value: float
    critical_difference: float  # Nemenyi's, in average ranks
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Pair, ...]
    level: float

    def __repr__(self) -> str:
        ranks = ", ".join(
            f"{name} {rank:.2f}" for name, rank in zip(self.names, self.average_ranks, strict=True)
        )
        method = "permuted ranks" if self.n_datasets < ENOUGH_DATASETS else "Iman-Davenport"
        lines = [
            f"average ranks over {self.n_datasets} data sets: {ranks}",
            f"all equal: Friedman ({method}) p = {self.p_value:.4g}; "
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

    Scores have one row per data set and one column per algorithm; average the folds of a data set
    first. Algorithms are called A, B, C, ... unless they have `names`.

    Examples
    --------
    >>> comparison = compare_many([[.9, .8], [.8, .7], [.9, .7], [.7, .6], [.9, .8], [.8, .6]])
    >>> comparison.pairs[0].p_value
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
        average_ranks=tuple(means[order].tolist()),
        n_datasets=n_datasets,
        friedman_chi2=chi2,
        friedman_f=f_statistic,
        p_value=_permutation_p(ranks) if n_datasets < ENOUGH_DATASETS else by_f,
        critical_difference=difference,
        groups=_groups(sorted_names, means[order], difference),
        pairs=_pairs(table[:, order], sorted_names),
        level=level,
    )


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for the number of tests, so that any false positive has the level.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6, 65-70.

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


def _friedman(ranks: FloatArray) -> float:
    """Return Friedman's chi-square in the form that allows for ties."""
    k = ranks.shape[1]
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    if spread == 0:  # every algorithm ties with every other on every data set
        return 0.0
    between = ranks.sum(axis=0) - ranks.shape[0] * (k + 1) / 2
    return float((k - 1) * (between**2).sum() / spread)


def _permutation_p(ranks: FloatArray) -> float:
    """Return the p-value of Friedman's statistic over permutations of the ranks.

    It is valid for any number of data sets, because the observed order counts as one permutation.
    """
    orders = np.random.default_rng(0).permuted(np.tile(ranks, (N_PERMUTATIONS, 1, 1)), axis=2)
    middle = ranks.mean(axis=1).sum()
    distances = ((orders.sum(axis=1) - middle) ** 2).sum(axis=1)
    as_far = distances >= ((ranks.sum(axis=0) - middle) ** 2).sum() - 1e-9
    return float((1 + np.count_nonzero(as_far)) / (1 + N_PERMUTATIONS))


def _groups(
    names: tuple[str, ...], ranks: FloatArray, difference: float
) -> tuple[tuple[str, ...], ...]:
    groups: list[tuple[str, ...]] = []
    reached = 0
    for start, rank in enumerate(ranks):
        stop = int(np.searchsorted(ranks, rank + difference, side="right"))
        if stop - start > 1 and stop > reached:  # not one alone, and not part of the last bar
            groups.append(names[start:stop])
            reached = stop
    return tuple(groups)


def _pairs(table: FloatArray, names: tuple[str, ...]) -> tuple[Pair, ...]:
    from scipy.stats import wilcoxon

    indices = list(combinations(range(len(names)), 2))
    differences = [table[:, i] - table[:, j] for i, j in indices]
    p_values = [1.0 if not d.any() else float(wilcoxon(d).pvalue) for d in differences]
    adjusted = holm(p_values)
    pairs = [
        Pair(names[i], names[j], float(np.median(d)), p, float(q))
        for (i, j), d, p, q in zip(indices, differences, p_values, adjusted, strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: (pair.adjusted_p_value, pair.p_value)))


def _checked_scores(scores: ArrayLike, names: Sequence[str] | None) -> tuple[FloatArray, list[str]]:
    table = check_numbers("scores", scores)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        raise InvalidArgumentError(
            "scores must be a table of finite numbers, at least two data sets (rows) by two "
            f"algorithms (columns); got shape {table.shape}. Remove data sets on which an "
            "algorithm failed, or give it the score of the majority class there."
        )
    labels = [chr(65 + i) if i < 26 else f"A{i}" for i in range(table.shape[1])]
    if names is not None:
        labels = [str(name) for name in names]
    if len(set(labels)) != table.shape[1]:
        raise InvalidArgumentError(
            f"names must hold {table.shape[1]} different names, one per column of scores; "
            f"got {labels}."
        )
    return table, labels

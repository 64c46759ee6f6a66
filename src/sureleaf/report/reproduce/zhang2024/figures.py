"""Figures 1 to 3 as numbers; ``drawing`` draws them."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sureleaf import levels
from sureleaf.report.reproduce.zhang2024.printed import printed

__all__ = ["Crossing", "Likelihoods", "SplitCurves", "likelihoods", "split_curves"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Crossing:
    """From ``n`` rows on, the curve ``above`` stays above the curve ``below``.

    Examples
    --------
    >>> Crossing("Split A", "No split", 2)
    Crossing(above='Split A', below='No split', n=2)
    """

    above: str
    below: str
    n: int


@dataclass(frozen=True)
class SplitCurves:
    """Figure 1 or 2: a level against n for two splits of a node and for no split.

    Parameters
    ----------
    level : str
        "confidence" (Figure 1) or "utility" (Figure 2).
    n : ndarray
        Rows of the tree.
    curves : dict of str to ndarray
        Name of the split -> its level at each n.
    ceilings : dict of str to float
        The level that each curve tends to.
    crossings : tuple of Crossing
        Where one curve overtakes another for good, within the range of n.

    Examples
    --------
    >>> split_curves("utility", 60).ceilings
    {'No split': 0.7, 'Split A': 0.75, 'Split B': 0.7}
    """

    level: str
    n: FloatArray
    curves: dict[str, FloatArray]
    ceilings: dict[str, float]
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True)
class Likelihoods:
    """Figure 3: the likelihoods of p_max, binomial (1) and entropic (2), and their maxima.

    Examples
    --------
    >>> found = likelihoods()
    >>> round(found.mle, 4), round(found.entropic_mle, 4)
    (0.7143, 0.6667)
    """

    y: int
    n: int
    p_max: FloatArray
    binomial: FloatArray
    entropic: FloatArray
    mle: float
    entropic_mle: float


def split_curves(level: str, n_max: int = 100) -> SplitCurves:
    """Return the numbers of Figure 1 (confidence) or 2 (utility), by (10), (11).

    Parameters
    ----------
    level : {"confidence", "utility"}
        What is on the vertical axis.
    n_max : int
        Largest number of rows.

    Returns
    -------
    SplitCurves
        Curves for n = 1 to ``n_max``.

    Examples
    --------
    >>> split_curves("confidence").crossings
    (Crossing(above='Split B', below='Split A', n=58),)
    """
    content = printed()["example_1"]
    splits: dict[str, tuple[list[float], list[float]]] = {"No split": ([1.0], [content["p_max"]])}
    for name, split in content["splits"].items():
        splits[f"Split {name}"] = ([split["share"], 1 - split["share"]], split["p_max"])
    n = np.arange(1, n_max + 1)
    curves, ceilings = {}, {}
    for name, (shares, p_max) in splits.items():
        trees = [levels.tree_levels(rows, shares, p_max, empty="miss") for rows in n]
        curves[name] = np.array([getattr(tree, level) for tree in trees], dtype=np.float64)
        limit = levels.tree_levels(np.inf, shares, p_max, empty="miss")
        ceilings[name] = round(float(getattr(limit, level)), 12)
    return SplitCurves(level, n.astype(np.float64), curves, ceilings, _crossings(n, curves))


def _crossings(n: NDArray[np.int64], curves: dict[str, FloatArray]) -> tuple[Crossing, ...]:
    """Return, for each pair of curves that changes places, the n after its last change."""
    found = []
    for one, two in combinations(curves, 2):
        ahead = curves[one] > curves[two]
        changes = np.flatnonzero(ahead[1:] != ahead[:-1])
        if changes.size:
            above, below = (one, two) if ahead[-1] else (two, one)
            found.append(Crossing(above, below, int(n[changes[-1] + 1])))
    return tuple(found)


def likelihoods(points: int = 501) -> Likelihoods:
    """Return the numbers of Figure 3, for the counts of Example 2.

    Examples
    --------
    >>> found = likelihoods()
    >>> bool(found.entropic[0] == 2 * found.binomial[0])  # at p = 1/2 both classes can lead
    True
    """
    y, n = printed()["example_2"]["y"], printed()["example_2"]["n"]
    p = np.linspace(0.5, 1.0, points)
    q = 1 - p
    ways = comb(n, y)
    return Likelihoods(
        y=y,
        n=n,
        p_max=p,
        binomial=ways * p**y * q ** (n - y),
        entropic=ways * (p**y * q ** (n - y) + p ** (n - y) * q**y),
        mle=float(levels.estimate_p_max(y, n, method="mle")),
        entropic_mle=float(levels.estimate_p_max(y, n, method="entropic")),
    )

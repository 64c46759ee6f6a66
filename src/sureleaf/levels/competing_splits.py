"""Competing splits of a node: which one is best at how many rows, as in Figures 1 and 2.

A split gives a row to one of its nodes with the shares of these nodes; each node has its p_max. The
node itself, without a split, is a split with one share of 1. Few rows are better left together;
many rows show what a split separates.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Literal, NamedTuple

import numpy as np

from sureleaf.arguments import FloatArray, check_distribution, check_p_max
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.nodes import tree_levels

Level = Literal["confidence", "utility"]


class CandidateSplit(NamedTuple):
    """The shares of the nodes of a split, and the probability of the majority class in each."""

    shares: tuple[float, ...]
    p_max: tuple[float, ...]


_MOST_NODES = 12
_TYPED = 5e-4
"""Shares and probabilities are typed with three or four digits."""


def checked_split(shares: Sequence[float], p_max: Sequence[float]) -> CandidateSplit:
    """Return a split whose shares have the sum 1 and whose p_max are from 0.5 to 1."""
    if len(shares) != len(p_max):
        raise InvalidArgumentError(
            f"a split must have one p_max per share; got {len(shares)} shares and {len(p_max)} "
            "p_max."
        )
    check_distribution("shares", shares)
    for p in p_max:
        check_p_max(p)
    return CandidateSplit(tuple(map(float, shares)), tuple(map(float, p_max)))


def split_text(n: FloatArray, p_max: FloatArray) -> str:
    """Write a split as `sureleaf plan --split` takes it: rows (or share) and p_max of every node.

    Examples
    --------
    >>> split_text(np.array([90.0, 10.0]), np.array([0.75, 0.7501234]))
    '90:0.75,10:0.7501'
    >>> split_text(np.array([0.9, 0.1]), np.array([0.75, 0.75]))
    '0.9:0.75,0.1:0.75'
    """
    whole = (n == np.rint(n)).all() and n.sum() > 1
    parts = n if whole else n / n.sum()
    digits = ".0f" if whole else ".6g"
    return ",".join(f"{part:{digits}}:{p:.4g}" for part, p in zip(parts, p_max, strict=True))


def unsplit_p_max(splits: Sequence[CandidateSplit]) -> list[float]:
    """Return what the p_max of the node that all splits divide may be, ascending.

    The nodes of a split may have either class as their majority, so a split allows several values.
    If all have the same one, which gives the largest value, the split changes no prediction.

    Examples
    --------
    The splits of Figure 1, of a node with p_max = .70:

    >>> first = CandidateSplit((0.9, 0.1), (0.75, 0.75))
    >>> second = CandidateSplit((0.2, 0.8), (0.75, 0.6875))
    >>> [round(p, 6) for p in unsplit_p_max([first, second])]
    [0.7]
    """
    allowed = [_allowed(split) for split in splits]
    common = [
        p for p in allowed[0] if all((np.abs(each - p) < _TYPED).any() for each in allowed[1:])
    ]
    if not common:
        raise InvalidArgumentError(
            "the splits must be of one node, whose p_max follows from shares and p_max of each "
            "split; there is no p_max that all of them allow. Correct them, or give the p_max of "
            "the node."
        )
    return sorted({round(float(p), 9) for p in common})


def _allowed(split: CandidateSplit) -> FloatArray:
    """Return what the p_max of the node may be, for either majority class in every node."""
    if len(split.shares) > _MOST_NODES:
        raise InvalidArgumentError(
            f"the p_max of the node must be given for a split of more than {_MOST_NODES} nodes; "
            f"got {len(split.shares)} nodes."
        )
    p = np.array(split.p_max)
    sides = np.array(list(product([False, True], repeat=len(p))))
    positive: FloatArray = np.where(sides, p, 1.0 - p) @ np.array(split.shares)
    return np.maximum(positive, 1.0 - positive)


def split_levels(level: Level, n: FloatArray, splits: Iterable[CandidateSplit]) -> FloatArray:
    """Return the level of confidence (10) or utility (11) of each split for n rows of its node."""
    return np.array([getattr(tree_levels(n, *split), level) for split in splits], dtype=float)


def best_splits(n: FloatArray, values: FloatArray) -> list[tuple[int, int]]:
    """Return from how many rows on which split has the highest level.

    Of equal splits, the first is the best. By (5) the level of a node rises with odd numbers of
    rows only, so close to a crossing two splits may lead in turn. A split that leads at one number
    only, between two of another split, is left out. `n` has ascending numbers of rows, and `values`
    the levels of each split in a line.
    """
    winner = (values >= values.max(axis=0) - _ROUNDING).argmax(axis=0)
    for at in range(1, len(winner) - 1):
        if winner[at - 1] == winner[at + 1]:
            winner[at] = winner[at - 1]
    changes = np.flatnonzero(np.diff(winner, prepend=-1))
    return [(int(n[index]), int(winner[index])) for index in changes]


def crossings(n: FloatArray, values: FloatArray) -> list[tuple[int, int, int]]:
    """Return from how many rows on a split has a higher level than another, for good.

    The arguments are those of `best_splits`. Splits that do not cross have no entry.

    Examples
    --------
    Figure 1: split B has more confidence than split A from 58 rows on.

    >>> first = CandidateSplit((0.9, 0.1), (0.75, 0.75))
    >>> second = CandidateSplit((0.2, 0.8), (0.75, 0.6875))
    >>> n = np.arange(1.0, 101.0)
    >>> crossings(n, split_levels("confidence", n, [first, second]))
    [(58, 1, 0)]
    """
    found = []
    for one, two in combinations(range(len(values)), 2):
        ahead = values[one] - values[two]
        sign = np.sign(np.where(np.abs(ahead) > _ROUNDING, ahead, 0.0))
        led = np.flatnonzero(sign)
        changes = np.flatnonzero(np.diff(sign[led]))
        if changes.size:
            start = led[changes[-1] + 1]
            pair = (one, two) if sign[start] > 0 else (two, one)
            found.append((int(n[start]), *pair))
    return found


_ROUNDING = 1e-9
"""Levels that differ by less are equal."""

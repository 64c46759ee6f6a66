"""Competing splits of a node: which one is best at how many rows, as in Figures 1 and 2.

A split gives a row to one of its nodes with the shares of these nodes; each node has its p_max. The
node itself, without a split, is a split with one share of 1. Few rows are better left together;
many rows show what a split separates.
"""

from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from sureleaf.arguments import FloatArray, check_distribution, check_p_max
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.nodes import tree_levels

Level = Literal["confidence", "utility"]


class Split(NamedTuple):
    """The shares of the nodes of a split, and the probability of the majority class in each."""

    shares: tuple[float, ...]
    p_max: tuple[float, ...]


class Best(NamedTuple):
    """From this many rows on, the split of this index has the highest level."""

    rows: int
    split: int


_MOST_NODES = 12


def checked_split(shares: Sequence[float], p_max: Sequence[float]) -> Split:
    """Return a split whose shares have the sum 1 and whose p_max are from 0.5 to 1."""
    if len(shares) != len(p_max):
        raise InvalidArgumentError(
            f"a split must have one p_max per share; got {len(shares)} shares and {len(p_max)} "
            "p_max."
        )
    check_distribution("shares", shares)
    for p in p_max:
        check_p_max(p)
    return Split(tuple(map(float, shares)), tuple(map(float, p_max)))


def unsplit_p_max(splits: Sequence[Split]) -> float:
    """Return the p_max of the node that all splits divide: the smallest that they allow.

    The nodes of a split may have either class as their majority, so a split allows several values.
    If both nodes have the same one, the split changes no prediction. Hence the smallest value.

    Examples
    --------
    The splits of Figure 1, of a node with p_max = .70:

    >>> first, second = Split((0.9, 0.1), (0.75, 0.75)), Split((0.2, 0.8), (0.75, 0.6875))
    >>> round(unsplit_p_max([first, second]), 6)
    0.7
    """
    allowed = [_allowed(split) for split in splits]
    common = [p for p in allowed[0] if all(np.isclose(p, each).any() for each in allowed[1:])]
    if not common:
        raise InvalidArgumentError(
            "the splits must be of one node, whose p_max follows from shares and p_max of each "
            "split; there is no p_max that all of them allow. Correct them, or give the p_max of "
            "the node."
        )
    return float(min(common))


def _allowed(split: Split) -> FloatArray:
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


def split_level(level: Level, n: FloatArray, split: Split) -> FloatArray:
    """Return the level of confidence (10) or utility (11) of a split for n rows of its node."""
    return np.asarray(getattr(tree_levels(n, split.shares, split.p_max), level), dtype=float)


def best_splits(level: Level, splits: Sequence[Split], n_max: int = 10_000) -> tuple[Best, ...]:
    """Return which split has the highest level from how many rows on, up to `n_max` rows.

    By (5) an even number of rows gives a node the level of one row less, so odd numbers are
    compared. Of equal splits, the first is the best.

    Examples
    --------
    >>> whole, split = Split((1.0,), (0.7,)), Split((0.9, 0.1), (0.75, 0.75))
    >>> best_splits("utility", [whole, split])
    (Best(rows=1, split=0), Best(rows=3, split=1))
    """
    n = np.arange(1, max(n_max, 1) + 1, 2, dtype=float)
    values = np.array([split_level(level, n, split) for split in splits])
    winner = (values >= values.max(axis=0) - _ROUNDING).argmax(axis=0)
    changes = np.flatnonzero(np.diff(winner, prepend=-1))
    return tuple(Best(int(n[index]), int(winner[index])) for index in changes)


_ROUNDING = 1e-9
"""Rounding must not change the winner."""

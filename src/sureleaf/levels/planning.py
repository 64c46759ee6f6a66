"""Rows that a node needs for a level of confidence or utility."""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    broadcast,
    check_p_max,
    check_range,
    check_unit_interval,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError, UnreachableLevelError
from sureleaf.levels.nodes import at_threshold, is_half, saving
from sureleaf.levels.nodes import confidence as confidence_of
from sureleaf.levels.search import halved


def range_of(name: str, given: ArrayLike) -> tuple[float, float]:
    """Return the ends of a range of p_max; one number is both ends."""
    ends = [given] if np.ndim(given) == 0 else list(np.asarray(given))
    if len(ends) not in (1, 2):
        raise InvalidArgumentError(
            f"{name} must be one number or a range (a, b); got {len(ends)} numbers."
        )
    low, high = (float(check_p_max(end, name)) for end in (ends[0], ends[-1]))
    if low > high:
        raise InvalidArgumentError(
            f"{name} must be a range (a, b) with a <= b; got ({low:.17g}, {high:.17g}). "
            "Swap its ends."
        )
    return low, high


_ROUNDING = 1e-15
"""Numerical error of levels; a level missed by less counts as reached."""

_MOST_ROWS = 2.0**53 - 1
"""The largest odd number of rows below which every whole number is a float."""


@overload
def sample_size(
    p_max: float | tuple[float, float],
    *,
    confidence: float | None = ...,
    utility: float | None = ...,
    threshold: float = ...,
) -> int: ...
@overload
def sample_size(
    p_max: ArrayLike,
    *,
    confidence: ArrayLike | None = ...,
    utility: ArrayLike | None = ...,
    threshold: ArrayLike = ...,
) -> int | Numbers: ...
def sample_size(
    p_max: ArrayLike,
    *,
    confidence: ArrayLike | None = None,
    utility: ArrayLike | None = None,
    threshold: ArrayLike = 0.5,
) -> int | Numbers:
    """Return the smallest number of rows from which on a node reaches every given level.

    Both levels grow with n. An even n gives the same levels as n - 1, so the result is odd, or 0
    if a guess is enough. The utility is never above p_max, its limit for many rows.

    Parameters
    ----------
    p_max : array_like or tuple
        Probability of the more probable class, from 0.5 to 1. A tuple ``(a, b)`` is a
        range of p_max; its lower end is used as the worst case.
    confidence : array_like, optional
        Required confidence, (5).
    utility : array_like, optional
        Required utility, (6).
    threshold : array_like
        Cost threshold of the decision, as in `confidence`. At another threshold than 0.5, `p_max`
        is the probability of the class that is decided for above it, from 0 to 1, and the levels
        rise and fall with n: the result is the smallest n from which on they hold.

    Returns
    -------
    int or ndarray
        Rows; for arrays float64 of the broadcast shape, NaN where no n reaches the levels.

    Raises
    ------
    UnreachableLevelError
        If no n reaches the levels; the message gives the highest possible level.

    Examples
    --------
    >>> sample_size(0.75, confidence=0.95)
    9
    >>> sample_size((0.6, 0.9), confidence=0.95, utility=0.58)
    67

    A decision at costs of 5 to 1, for a class of probability 0.2:

    >>> sample_size(0.2, confidence=0.95, threshold=1 / 6)
    398
    """
    if confidence is None and utility is None:
        raise InvalidArgumentError(
            "confidence or utility must be given; got neither. Give the level that the node needs."
        )
    sure, useful = _wanted("confidence", confidence), _wanted("utility", utility)
    if not is_half(threshold):
        cut = check_unit_interval("threshold", threshold)
        p = _nearest_of_range(p_max, cut, with_utility=utility is not None)
        return _sample_size_at_threshold(
            *broadcast(p_max=p, confidence=sure, utility=useful, threshold=cut)
        )
    p = check_p_max(range_of("p_max", p_max)[0] if isinstance(p_max, tuple) else p_max)
    p, sure, useful = broadcast(p_max=p, confidence=sure, utility=useful)
    if p.ndim == 0:
        _require_reachable(float(p), float(sure), float(useful))
    needed = _smallest_odd_rows(p, sure, useful)
    if p.ndim == 0:
        if np.isnan(needed):
            raise UnreachableLevelError(
                f"more than {_MOST_ROWS:.0f} rows are needed at p_max = {float(p)!r}; "
                "use a lower level, or a p_max further from 0.5."
            )
        return int(needed)
    return scalar_or_array(needed)


def _wanted(name: str, level: ArrayLike | None) -> FloatArray:
    """Check a level; one that is not given is 0, which every node reaches."""
    return check_range(
        name,
        0.0 if level is None else level,
        lambda level: (level >= 0) & (level <= 1),
        "from 0 to 1",
        lambda level: f" Did you mean {level / 100:.6g}?" if 1 < level <= 100 else "",
    )


def _require_reachable(p: float, sure: float, useful: float) -> None:
    """Raise an error by the exact limits, which rounded sums could reach."""
    if sure > 0.5 and p == 0.5:
        raise UnreachableLevelError(
            f"confidence must be at most 0.5 where p_max = 0.5; got {sure!r}. "
            "Between equally probable classes every choice is a guess."
        )
    if sure == 1 and p < 1:
        raise UnreachableLevelError(
            f"confidence must be below 1 where p_max = {p!r}; got 1. "
            "It approaches 1 but never reaches it: use 0.99, for example."
        )
    if useful > p:
        raise UnreachableLevelError(
            f"utility must be below p_max = {p!r}, its ceiling; got {useful!r}. "
            "No number of rows predicts better than the class probability itself."
        )
    if useful == p and 0.5 < p < 1:
        raise UnreachableLevelError(
            f"utility must be below p_max = {p!r}, its ceiling; got {useful!r}. "
            "It approaches this limit but never reaches it: use a slightly lower level."
        )


def _smallest_odd_rows(p: FloatArray, sure: FloatArray, useful: FloatArray) -> FloatArray:
    """Return the smallest odd n by bisection, NaN if there is none."""
    ceiling = np.where(p == 0.5, 0.5, 1.0)
    reachable = (sure < ceiling) | (sure == ceiling) & ((p == 1) | (p == 0.5))
    reachable &= (useful < p) | (useful == p) & ((p == 1) | (p == 0.5))
    high = np.full(p.shape, (_MOST_ROWS - 1) / 2)  # n = 2 half + 1
    reachable &= _reached(2 * high + 1, p, sure, useful)

    def is_below(half: FloatArray) -> NDArray[np.bool_]:
        return ~_reached(2 * half + 1, p, sure, useful)

    _, high = halved(is_below, np.zeros(p.shape), high, 53, whole=True)
    needed = np.where(_reached(np.zeros(p.shape), p, sure, useful), 0.0, 2 * high + 1)
    return np.where(reachable, needed, np.nan)


def _reached(
    n: FloatArray, p: FloatArray, sure: FloatArray, useful: FloatArray
) -> NDArray[np.bool_]:
    level = np.asarray(confidence_of(n, np.where(np.isnan(p), 0.5, p)))
    enough = (level >= sure - _ROUNDING) & ((1 - p) + (2 * p - 1) * level >= useful - _ROUNDING)
    return np.asarray(enough, dtype=np.bool_)


# ---- at a cost threshold -------------------------------------------------------------------------

_MOST_ROWS_AT_THRESHOLD = 2**22
"""A level at a threshold that takes more rows than this counts as out of reach."""


def _nearest_of_range(p: ArrayLike, threshold: FloatArray, *, with_utility: bool) -> FloatArray:
    """Return p; of a range (a, b) the end nearest to the threshold, which is the worst case."""
    if not isinstance(p, tuple):
        return check_unit_interval("p_max", p)
    low, high = check_unit_interval("p_max", list(p))
    if with_utility or threshold.ndim or len(p) != 2 or not low <= high:
        raise InvalidArgumentError(
            "p_max must be one number, or a range (a, b) with a <= b where one threshold and only "
            f"confidence are given; got {p!r}. Plan for one p_max at a time."
        )
    nearest: FloatArray = np.clip(threshold, low, high)
    return nearest


def _sample_size_at_threshold(
    p: FloatArray, sure: FloatArray, useful: FloatArray, threshold: FloatArray
) -> Numbers:
    # A utility is a confidence: the saving is linear between a wrong and a right decision.
    none, one = np.zeros(p.shape), np.ones(p.shape)
    worst, best = saving(p, threshold, none), saving(p, threshold, one)
    lead = np.where(best > worst, best - worst, 1.0)
    needed = np.maximum(sure, np.where(useful > worst, (useful - worst) / lead, 0.0))
    needed = np.where((best <= worst) & (useful > best), np.inf, needed)
    rows = [
        _rows_at_threshold(float(q), float(cut), float(level))
        for q, cut, level in zip(p.ravel(), threshold.ravel(), needed.ravel(), strict=True)
    ]
    if p.ndim:
        return scalar_or_array(np.array(rows).reshape(p.shape))
    if np.isnan(rows[0]):
        raise UnreachableLevelError(
            f"the levels must be reachable at p_max = {float(p)!r} and threshold = "
            f"{float(threshold)!r}; got confidence {float(sure)!r} and utility {float(useful)!r}. "
            f"Confidence stays below 1 (at the threshold it is 0.5), and utility below "
            f"{float(best):.4g}. Use a lower level, or a p_max further from the threshold."
        )
    return int(rows[0])


def _rows_at_threshold(p: float, threshold: float, level: float) -> float:
    """Search downwards from a number of rows that is enough; NaN if there is none.

    Chernoff's bound gives such a number. Confidence rises with n except for ripples, which are as
    high as one binomial probability: where it is above the level by two of them, it stays above.
    """
    if np.isnan(p + threshold + level):
        return np.nan
    if p == threshold:
        return 0.0 if level <= 0.5 else np.nan
    divergence = float(rel_entr(threshold, p) + rel_entr(1.0 - threshold, 1.0 - p))
    if np.isinf(divergence):  # every row is of one class, and decides at once
        return 0.0 if level <= 0.5 else 1.0 if level <= 1 else np.nan
    if level >= 1 or divergence <= 0:
        return np.nan
    enough = np.ceil(-np.log(1.0 - level) / divergence)
    if enough > _MOST_ROWS_AT_THRESHOLD:
        return np.nan
    rows = np.unique(np.ceil(np.geomspace(1.0, max(enough, 1.0), 400)))
    ripple = 1.0 / np.sqrt(2 * np.pi * rows * min(p * (1 - p), threshold * (1 - threshold) or 1.0))
    sure = at_threshold(rows, np.full(len(rows), p), np.full(len(rows), threshold))
    unsure = np.flatnonzero(sure < level + 2 * ripple)
    last = rows[min(unsure[-1] + 1, len(rows) - 1)] if len(unsure) else 1.0
    size = 4096
    for end in range(int(last) + 1, 0, -size):
        n = np.arange(max(end - size, 0), end, dtype=np.float64)
        reached = at_threshold(n, np.full(len(n), p), np.full(len(n), threshold)) >= level
        failed = np.flatnonzero(~reached)
        if len(failed):
            return float(n[failed[-1]] + 1)
    return 0.0

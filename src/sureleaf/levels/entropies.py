"""Entropies: functions of a probability vector that do not depend on its order (Definition 1).

`entropy` and `gini` are the impurities of a node and also take its class counts.

All functions use the last axis; one vector gives a float. A vector that is not a probability
distribution (negative, NaN, sum different from 1 by more than 1e-8) raises
`InvalidArgumentError`; one of several vectors gives NaN.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from sureleaf.arguments import (
    FloatArray,
    Numbers,
    check_distribution,
    check_numbers,
    scalar_or_array,
)
from sureleaf.errors import InvalidArgumentError

__all__ = ["entropy", "generalised_simpson", "gini", "renyi", "shannon", "tsallis"]


def entropy(counts: ArrayLike) -> Numbers:
    """Return the entropy of a node by its class counts, in bits (`shannon` is in nats).

    Probabilities are counts that add up to 1.

    Examples
    --------
    >>> round(entropy([3, 7]), 4), entropy([0, 3]), round(entropy([2, 4]), 4)
    (0.8813, 0.0, 0.9183)
    """
    return scalar_or_array(entr(_shares(counts)).sum(axis=-1) / np.log(2))


def gini(counts: ArrayLike) -> Numbers:
    """Return the Gini impurity of a node by its class counts, 1 less the sum of squared shares.

    Examples
    --------
    >>> round(gini([3, 7]), 2), gini([0, 3]), gini([0.5, 0.5])
    (0.42, 0.0, 0.5)
    """
    return scalar_or_array(1 - (_shares(counts) ** 2).sum(axis=-1))


def _shares(counts: ArrayLike) -> FloatArray:
    table = check_numbers("counts", counts)
    if table.ndim == 0 or not (np.isfinite(table) & (table >= 0)).all():
        raise InvalidArgumentError(
            f"counts must be one or more rows of numbers, 0 or more; got {counts!r}. For example "
            "[3, 7]."
        )
    totals = table.sum(axis=-1, keepdims=True)
    if not totals.all():
        raise InvalidArgumentError(
            f"counts must have a row of at least one class; got {counts!r}. An empty node has no "
            "impurity."
        )
    shares: FloatArray = table / totals
    return shares


def shannon(probabilities: ArrayLike) -> Numbers:
    """Return Shannon's entropy, minus the sum of p log p, in nats.

    Examples
    --------
    >>> round(shannon([0.5, 0.25, 0.25]), 6)
    1.039721
    """
    return scalar_or_array(entr(check_distribution("probabilities", probabilities)).sum(axis=-1))


def renyi(probabilities: ArrayLike, alpha: float) -> Numbers:
    """Return Renyi's entropy, log(sum of p^alpha) / (1 - alpha), in nats.

    Examples
    --------
    >>> round(renyi([0.5, 0.25, 0.25], alpha=2), 6)
    0.980829
    """
    return scalar_or_array(np.log1p(_power_sum_less_one(probabilities, alpha)) / (1 - alpha))


def tsallis(probabilities: ArrayLike, alpha: float) -> Numbers:
    """Return the Tsallis entropy, (1 - sum of p^alpha) / (alpha - 1).

    Examples
    --------
    >>> tsallis([0.5, 0.25, 0.25], alpha=2)
    0.625
    """
    return scalar_or_array(_power_sum_less_one(probabilities, alpha) / (1 - alpha))


def generalised_simpson(probabilities: ArrayLike, u: int, v: int) -> Numbers:
    """Return the generalised Simpson entropy, the sum of p^u (1 - p)^v; u = v = 1 is Gini's.

    Examples
    --------
    >>> generalised_simpson([0.5, 0.25, 0.25], u=1, v=1)
    0.625
    """
    for name, power, least in (("u", u, 1), ("v", v, 0)):
        if power != int(power) or power < least:
            raise InvalidArgumentError(
                f"{name} must be a whole number, {least} or more; got {power!r}. "
                "u = v = 1 is Gini's impurity."
            )
    p = check_distribution("probabilities", probabilities)
    return scalar_or_array((p**u * (1 - p) ** v).sum(axis=-1))


def _power_sum_less_one(probabilities: ArrayLike, alpha: float) -> FloatArray:
    """Return the sum of p^alpha - p, which keeps its digits for alpha near 1."""
    if not 0 < alpha < np.inf or alpha == 1:
        raise InvalidArgumentError(
            f"alpha must be above 0, finite and not 1; got {alpha!r}. "
            "The limit for alpha = 1 is shannon(probabilities)."
        )
    p = check_distribution("probabilities", probabilities)
    exponent = (alpha - 1) * np.log(np.where(p == 0, 1.0, p))
    total: FloatArray = (p * np.expm1(exponent)).sum(axis=-1)
    return total

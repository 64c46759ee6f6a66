"""Guarantees of cells, row by row and by full enumeration."""

from itertools import product
from math import comb

import numpy as np

__all__ = ["conformal_p_value", "holm_rejects", "tail", "two_cell_outcomes"]


def conformal_p_value(counts, cell, code, per):
    """Write every row down, add the new one, and compare the fit of rows one by one."""
    rows = [
        (i, k)
        for i, line in enumerate(counts)
        for k, count in enumerate(line)
        for _ in range(int(count))
    ]
    rows.append((cell, code))
    size = {i: sum(row[0] == i for row in rows) for i, _ in rows}

    def fit(row):
        return sum(other == row for other in rows) / size[row[0]]

    new = fit((cell, code))
    compared = [
        row for row in rows if per is None or (row[0] == cell if per == "leaf" else row[1] == code)
    ]
    return sum(fit(row) <= new + 1e-12 for row in compared) / len(compared)


def tail(y, n, p):
    """P(Bin(n, p) >= y)."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(y, n + 1))


def holm_rejects(p_values, alpha):
    """Which hypotheses Holm's step-down procedure rejects."""
    rejected = np.zeros(len(p_values), dtype=bool)
    for step, index in enumerate(np.argsort(p_values)):
        if p_values[index] > alpha / (len(p_values) - step):
            break
        rejected[index] = True
    return rejected


def two_cell_outcomes(sizes, shares):
    """Yield all counts of class 1 in cells of these sizes, with their probability."""
    for y in product(*(range(n + 1) for n in sizes)):
        probability = 1.0
        for k, n, p in zip(y, sizes, shares, strict=True):
            probability *= comb(n, k) * p**k * (1 - p) ** (n - k)
        yield np.array(y, dtype=float), probability

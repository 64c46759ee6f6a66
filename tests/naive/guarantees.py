"""Guarantees of cells, row by row and by full enumeration."""

from itertools import product
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.stats import beta


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


def is_cheapest_for_all(counts, decided, cost, error):
    """Whether a decision is the cheapest one for all probabilities that the counts leave possible.

    Each class has Clopper and Pearson's limits, with an equal part of the error at each end. The
    probabilities for which another decision does best are those of a linear program.
    """
    counts, cost = np.asarray(counts, dtype=float), np.asarray(cost, dtype=float)
    n, in_tail = counts.sum(), error / (2 * len(counts))
    low = [0.0 if k == 0 else beta.ppf(in_tail, k, n - k + 1) for k in counts]
    high = [1.0 if k == n else beta.isf(in_tail, k + 1, n - k) for k in counts]
    for other in range(cost.shape[1]):
        if other != decided:
            extra = cost[:, decided] - cost[:, other]
            sum_is_1 = {"A_eq": np.ones((1, len(counts))), "b_eq": [1.0]}
            worst = linprog(-extra, **sum_is_1, bounds=np.column_stack([low, high]))
            if -worst.fun >= 0:
                return False
    return True

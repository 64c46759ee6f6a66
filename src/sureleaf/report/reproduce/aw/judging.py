"""Judging one model: the trap of rare classes, costs, bootstrap shares and the coin."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.evaluation import measures
from sureleaf.report.reproduce.judgement import Computed, Part, judge

__all__ = ["coin", "costs", "distinct_rows", "trap"]

COST = [[-1, 100], [1, 0]]
"""Rows actual +, -; columns predicted +, -."""

MODELS = {"M1": [[150, 40], [60, 250]], "M2": [[250, 45], [5, 200]]}
PRINTED = {"M1": (0.80, 3910), "M2": (0.90, 4255)}


def _rows_of(counts: ArrayLike) -> tuple[list[int], list[int]]:
    """Rows with truth and prediction that have this confusion matrix."""
    table = np.asarray(counts)
    truth, prediction = np.nonzero(np.ones_like(table))
    return (
        np.repeat(truth, table.ravel()).tolist(),
        np.repeat(prediction, table.ravel()).tolist(),
    )


def trap() -> Part:
    """Judge the accuracy of a model that never finds the rare class.

    Examples
    --------
    >>> trap()
    Part('the trap of 9,990 to 10': 2 cells, 2 agrees, 0 other computation, 0 misprint)
    """
    truth, prediction = _rows_of([[9990, 0], [10, 0]])
    found = measures.recall(truth, prediction, positive=1)
    cells = (
        judge(
            "always class 0", "accuracy", 0.999, 3, Computed(measures.accuracy(truth, prediction))
        ),
        judge("always class 0", "found of class 1", 0, 0, Computed(10 * found)),
    )
    return Part("the trap of 9,990 to 10", "a model that says 0 always", "(a + d) / n", "", cells)


def costs() -> Part:
    """Judge accuracy and cost of the two models.

    Examples
    --------
    >>> [cell.defined.value for cell in costs().cells]
    [0.8, 3910.0, 0.9, 4255.0]
    """
    cells = []
    for name, (accuracy, total) in PRINTED.items():
        truth, prediction = _rows_of(MODELS[name])
        cost = measures.cost(truth, prediction, cost=COST)
        cells += [
            judge(name, "accuracy", accuracy, 2, Computed(measures.accuracy(truth, prediction))),
            judge(name, "cost", total, 0, Computed(cost)),
        ]
    return Part("cost", "accuracy and total cost", "sum of counts times C(i|j)", "", tuple(cells))


def distinct_rows() -> Part:
    """Judge the share of rows that a bootstrap sample contains.

    Examples
    --------
    >>> distinct_rows().cells[0].verdict
    <Verdict.MISPRINT: 'misprint'>
    """
    cell = judge("bootstrap", "share of rows", 0.633, 3, Computed(1 - math.exp(-1)))
    return Part("bootstrap", "share of the rows that are drawn", "1 - 1/e", "", (cell,))


def coin() -> Part:
    """Judge mean and variance of the heads in 50 tosses.

    Examples
    --------
    >>> [cell.defined.value for cell in coin().cells]
    [25.0, 12.5]
    """
    n, p = 50, 0.5
    cells = (
        judge("50 tosses", "mean", 25, 0, Computed(n * p)),
        judge("50 tosses", "variance", 12.5, 1, Computed(n * p * (1 - p))),
    )
    return Part("coin", "heads in 50 tosses of a fair coin", "np and np(1 - p)", "", cells)

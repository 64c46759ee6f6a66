"""Xu (2022), notes on model evaluation for classification: every figure again.

The notes' figures are sketches of ROC curves without numbers, so none is drawn.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sureleaf.evaluation import measures
from sureleaf.reproduce.comparison_table import Cell, Computed, Part, Reproduction, judge

__all__ = ["draw_figures", "reproduce"]


SOURCE = "R. Xu, Model evaluation for classification, 15 August 2022"

SPLITS = {
    "b1": ([1, 2, 2, 4, 4, 5, 7, 7, 9, 10], [3, 6, 8]),
    "b|B|": ([2, 2, 3, 4, 4, 5, 8, 8, 9, 10], [1, 6, 7]),
}
"""(1), (2): name of a bootstrap -> rows to train on, rows to test on."""

WITHOUT = {"b1": [1, 3, 5, 6], "b2": [2, 3, 5, 6], "b3": [3, 3, 5, 6]}
"""(10): three bootstraps."""

ONE_HOT = np.eye(3)
PREDICTED = np.array([[0.92, 0.08, 0.0], [0.05, 0.9, 0.05], [0.12, 0.03, 0.85]])
"""(13), (14)."""

CONFUSION = {
    1: [[7, 2, 0, 1], [1, 8, 1, 0], [0, 0, 10, 0], [0, 1, 0, 9]],
    2: [[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]],
}
SUMS = {1: ([10, 10, 10, 10], [8, 11, 11, 10]), 2: ([10, 10, 10, 10], [10, 10, 10, 10])}


def reproduce() -> Reproduction:
    """Recompute the notes' examples, and judge every printed figure.

    Examples
    --------
    >>> reproduce().part("leave-one-out bootstrap")
    Part('leave-one-out bootstrap': 3 cells, 1 agrees, 0 other computation, 2 misprint)
    """
    parts = (
        bootstrap_samples(),
        distinct_rows(),
        leave_one_out(),
        one_hot(),
        confusion(1),
        confusion(2),
        separable_and_random(),
    )
    return Reproduction("xu2022", SOURCE, parts)


def bootstrap_samples() -> Part:
    """Judge the rows that the two bootstraps leave for testing, (1) and (2).

    Examples
    --------
    >>> len(bootstrap_samples().cells)
    6
    """
    cells = []
    for name, (train, test) in SPLITS.items():
        left_out = [row for row in range(1, 11) if row not in train]
        cells += [
            judge(name, f"test row {i}", row, 0, Computed(expected))
            for i, (row, expected) in enumerate(zip(test, left_out, strict=True), start=1)
        ]
    title = "rows of {1, ..., 10} that are not drawn"
    return Part("bootstrap samples", title, "rows not in the sample", "", tuple(cells))


def distinct_rows() -> Part:
    """Judge the shares of rows in and out of a bootstrap, (4) to (6) and (12).

    Examples
    --------
    >>> round(distinct_rows().cells[0].defined.value, 4)
    0.6321
    """
    inside = 1 - math.exp(-1)
    cells = (
        judge("limit", "in the sample", 0.632, 3, Computed(inside)),
        judge("limit", "left out", 0.368, 3, Computed(math.exp(-1))),
        judge("(12)", "weight of the bootstrap error", 0.632, 3, Computed(inside)),
        judge("(12)", "weight of the training error", 0.368, 3, Computed(math.exp(-1))),
    )
    title = "share of the rows in a bootstrap sample, for many rows"
    return Part("distinct rows", title, "1 - (1 - 1/N)^N", "", cells)


def leave_one_out() -> Part:
    """Judge the example of the leave-one-out bootstrap, (10) and (11).

    Examples
    --------
    >>> [cell.defined.value for cell in leave_one_out().cells][:2]
    [2.0, 6.0]
    """
    without_first = [name for name, rows in WITHOUT.items() if 1 not in rows]
    cells = (
        judge("(11)", "bootstraps without row 1", 2, 0, Computed(float(len(without_first)))),
        judge(
            "(10)",
            "N",
            4,
            0,
            Computed(float(max(max(rows) for rows in WITHOUT.values()))),
            note="four draws from rows up to 6; a bootstrap draws as many as there are rows",
        ),
        judge(
            "text",
            "share of distinct rows",
            0.623,
            3,
            Computed(1 - math.exp(-1)),
            note=".632 everywhere else",
        ),
    )
    title = "bootstraps that do not contain a row"
    return Part("leave-one-out bootstrap", title, "(9)", "", cells)


def one_hot() -> Part:
    """Judge (13), (14): probabilities that sum to 1, and the entropy of a one-hot vector, 0.

    Examples
    --------
    >>> one_hot()
    Part('one-hot labels': 4 cells, 4 agrees, 0 other computation, 0 misprint)
    """
    cells = [
        judge(f"class {i}", "sum of probabilities", 1, 2, Computed(float(row.sum())))
        for i, row in enumerate(PREDICTED, start=1)
    ]
    parts = measures.cross_entropy_parts(ONE_HOT, PREDICTED)
    cells.append(judge("one-hot", "entropy", 0, 4, Computed(float(parts.entropy))))
    return Part("one-hot labels", "(13), (14), (16)", "H(p, q) = H(p) + KL(p||q)", "", tuple(cells))


def confusion(number: int) -> Part:
    """Judge the margins of a confusion matrix.

    Examples
    --------
    >>> [cell.defined.value for cell in confusion(1).cells][-4:]
    [8.0, 11.0, 11.0, 10.0]
    """
    table = np.asarray(CONFUSION[number])
    rows, columns = np.nonzero(np.ones_like(table))
    counted = measures.confusion_matrix(
        np.repeat(rows, table.ravel()), np.repeat(columns, table.ravel()), labels=range(4)
    )
    actual, predicted = SUMS[number]
    cells: list[Cell] = []
    for name, printed, found in (
        ("ground truth", actual, counted.actual),
        ("predicted", predicted, counted.predicted),
    ):
        cells += [
            judge(name, f"class {i}", figure, 0, Computed(float(value)))
            for i, (figure, value) in enumerate(zip(printed, found, strict=True), start=1)
        ]
    return Part(f"table {number}", "margins of a confusion matrix", "sums", "", tuple(cells))


def separable_and_random() -> Part:
    """Judge the ends of the scale: classes that a threshold separates, and the same scores for all.

    Examples
    --------
    >>> separable_and_random()
    Part('ROC curves': 4 cells, 4 agrees, 0 other computation, 0 misprint)
    """
    truth = np.repeat([0, 1], 50)
    scores = np.arange(100.0)
    curve = measures.roc(truth, scores)
    at = int(np.flatnonzero(np.asarray(curve.false_positive_rate) == 0)[-1])
    cells = (
        judge("separable", "TPR", 1, 2, Computed(float(curve.true_positive_rate[at]))),
        judge("separable", "FPR", 0, 2, Computed(float(curve.false_positive_rate[at]))),
        judge("separable", "area", 1.0, 1, Computed(measures.auc(truth, scores))),
        judge("overlapping", "area", 0.5, 1, Computed(measures.auc(truth, np.ones(100)))),
    )
    return Part("ROC curves", "(26) and the areas at both ends", "score >= t", "", cells)


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw nothing: the notes' figures have no numbers.

    Examples
    --------
    >>> list(draw_figures(Path(".")))
    []
    """
    yield from ()

"""The examples of Xu (2022) recomputed.

The figures of these notes are sketches of scores and ROC curves without numbers. They are drawn
from scores that are made here. Equation and table numbers are those of the notes.

References
----------
Xu, Richard (2022). Model evaluation for classification. Lecture notes, 15 August 2022.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.arguments import FloatArray
from sureleaf.evaluation import measures
from sureleaf.plots import RocDisplay
from sureleaf.plots.display import BLUE, GREY, RED, new_axes, new_figure, save
from sureleaf.reproduce.cells import Part, Reproduction, by_arithmetic, by_library, check_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Richard Xu, Model evaluation for classification, lecture notes, 15 August 2022"

_BOOTSTRAPS = {
    "b1": ([1, 2, 2, 4, 4, 5, 7, 7, 9, 10], [3, 6, 8]),
    "b|B|": ([2, 2, 3, 4, 4, 5, 8, 8, 9, 10], [1, 6, 7]),
}
"""(1), (2): bootstrap sample -> rows to train on, rows to test on."""

_LEAVE_ONE_OUT = {"b1": [1, 3, 5, 6], "b2": [2, 3, 5, 6], "b3": [3, 3, 5, 6]}
"""(10): three bootstrap samples."""

_ONE_HOT = np.eye(3)
_PROBABILITIES = np.array([[0.92, 0.08, 0.0], [0.05, 0.9, 0.05], [0.12, 0.03, 0.85]])
"""(13), (14): true and predicted probabilities."""

_CONFUSION = {
    1: [[7, 2, 0, 1], [1, 8, 1, 0], [0, 0, 10, 0], [0, 1, 0, 9]],
    2: [[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]],
}
_MARGINS = {1: ([10, 10, 10, 10], [8, 11, 11, 10]), 2: ([10, 10, 10, 10], [10, 10, 10, 10])}
"""Tables 1 and 2: confusion matrices, and their printed sums by actual and predicted class."""


def reproduce() -> Reproduction:
    """Recompute the examples."""
    parts = (
        bootstrap_samples(),
        distinct_rows(),
        leave_one_out(),
        one_hot(),
        confusion_margins(1),
        confusion_margins(2),
        roc_curves(),
    )
    return Reproduction("xu2022", SOURCE, parts)


def bootstrap_samples() -> Part:
    """Check the rows that two bootstrap samples leave for testing, (1) and (2)."""
    cells = []
    for name, (train, test) in _BOOTSTRAPS.items():
        left_out = [row for row in range(1, 11) if row not in train]
        cells += [
            check_cell(name, f"test row {i}", row, 0, by_arithmetic(expected))
            for i, (row, expected) in enumerate(zip(test, left_out, strict=True), start=1)
        ]
    title = "rows of {1, ..., 10} that are not drawn"
    return Part("bootstrap samples", title, "rows not in the sample", "", tuple(cells))


def distinct_rows() -> Part:
    """Check the proportions of rows in and out of a bootstrap sample, (4) to (6) and (12)."""
    inside, outside = by_arithmetic(1 - math.exp(-1)), by_arithmetic(math.exp(-1))
    cells = (
        check_cell("limit", "in the sample", 0.632, 3, inside),
        check_cell("limit", "left out", 0.368, 3, outside),
        check_cell("(12)", "weight of the bootstrap error", 0.632, 3, inside),
        check_cell("(12)", "weight of the training error", 0.368, 3, outside),
    )
    title = "proportion of the rows in a bootstrap sample of many rows"
    return Part("distinct rows", title, "1 - (1 - 1/N)^N", "", cells)


def leave_one_out() -> Part:
    """Check the example of the leave-one-out bootstrap, (10) and (11)."""
    n_without_first = sum(1 not in rows for rows in _LEAVE_ONE_OUT.values())
    n_rows = max(max(rows) for rows in _LEAVE_ONE_OUT.values())
    note = "four draws from rows up to 6; a bootstrap sample has as many draws as rows"
    share = by_arithmetic(1 - math.exp(-1))
    cells = (
        check_cell("(11)", "bootstraps without row 1", 2, 0, by_arithmetic(n_without_first)),
        check_cell("(10)", "N", 4, 0, by_arithmetic(n_rows), note=note),
        check_cell("text", "share of distinct rows", 0.623, 3, share, note=".632 everywhere else"),
    )
    title = "bootstrap samples that do not contain a row"
    return Part("leave-one-out bootstrap", title, "(9)", "", cells)


def one_hot() -> Part:
    """Check (13), (14): probabilities sum to 1, and the entropy of a one-hot vector is 0."""
    cells = [
        check_cell(f"class {i}", "sum of probabilities", 1, 2, by_arithmetic(row.sum()))
        for i, row in enumerate(_PROBABILITIES, start=1)
    ]
    parts = measures.cross_entropy_parts(_ONE_HOT, _PROBABILITIES)
    cells.append(check_cell("one-hot", "entropy", 0, 4, by_library(parts.entropy)))
    return Part("one-hot labels", "(13), (14), (16)", "H(p, q) = H(p) + KL(p||q)", "", tuple(cells))


def confusion_margins(number: int) -> Part:
    """Check the margins of a confusion matrix."""
    counts = np.asarray(_CONFUSION[number])
    pairs = np.indices(counts.shape).reshape(2, -1)
    rows = np.repeat(pairs, counts.ravel(), axis=1)
    matrix = measures.confusion_matrix(*rows, labels=range(4))
    sums = {"ground truth": matrix.actual, "predicted": matrix.predicted}
    cells = tuple(
        check_cell(name, f"class {i}", figure, 0, by_library(value))
        for (name, own), printed in zip(sums.items(), _MARGINS[number], strict=True)
        for i, (figure, value) in enumerate(zip(printed, own, strict=True), start=1)
    )
    return Part(f"table {number}", "margins of a confusion matrix", "sums", "", cells)


def roc_curves() -> Part:
    """Check the two extremes: perfectly separable classes, and equal scores for all rows."""
    truth = np.repeat([0, 1], 50)
    scores = np.arange(100.0)
    curve = measures.roc(truth, scores)
    corner = int(np.flatnonzero(np.asarray(curve.false_positive_rate) == 0)[-1])
    cells = (
        check_cell("separable", "TPR", 1, 2, by_library(curve.true_positive_rate[corner])),
        check_cell("separable", "FPR", 0, 2, by_library(curve.false_positive_rate[corner])),
        check_cell("separable", "area", 1.0, 1, by_library(measures.auc(truth, scores))),
        check_cell("overlapping", "area", 0.5, 1, by_library(measures.auc(truth, np.ones(100)))),
    )
    return Part("ROC curves", "(26) and the areas of the two extremes", "score >= t", "", cells)


# ---- Figures 1 to 5: scores on a line, and their ROC curves --------------------------------------


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Scores of negative and positive rows."""

    title: str
    negative: FloatArray
    positive: FloatArray

    @property
    def truth(self) -> FloatArray:
        """0 for the negative rows, then 1 for the positive ones."""
        return np.repeat([0.0, 1.0], [len(self.negative), len(self.positive)])

    @property
    def scores(self) -> FloatArray:
        """The scores in the same order."""
        return np.concatenate([self.negative, self.positive])

    def rates(self, threshold: float) -> tuple[float, float]:
        """Return false and true positive rate, (24), at a threshold."""
        rates = (self.negative >= threshold).mean(), (self.positive >= threshold).mean()
        return float(rates[0]), float(rates[1])


SCORES = (
    ScoredRows("completely separable", np.linspace(0.05, 0.25, 12), np.linspace(0.75, 0.95, 12)),
    ScoredRows(
        "not completely separable", np.linspace(0.05, 0.65, 12), np.linspace(0.35, 0.95, 12)
    ),
    ScoredRows("random labels", np.linspace(0.05, 0.95, 12), np.linspace(0.05, 0.95, 12)),
)
"""Figures 1 and 2, 3 and 4, and 5."""


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the five figures as SVG and PNG files and yield their paths."""
    separable, overlapping, random = SCORES
    drawings = (
        _draw_line(separable, 1, (0.35, 0.5, 0.65)),
        _draw_roc(separable, 2, (0.15, 0.5, 0.85)),
        _draw_line(overlapping, 3, (0.3, 0.5, 0.7)),
        _draw_roc(overlapping, 4, (0.3, 0.5, 0.7)),
        _draw_roc(random, 5, (0.3, 0.5, 0.7)),
    )
    for number, drawing in enumerate(drawings, start=1):
        yield from save(drawing, directory, f"xu2022-figure-{number}")


def _draw_line(rows: ScoredRows, number: int, thresholds: tuple[float, ...]) -> "Figure":
    figure, axes = new_axes(
        f"Figure {number}. Scores that are {rows.title}",
        "Each threshold with its true and false positive rate.",
    )
    for scores, height, colour, name in (
        (rows.negative, 0.0, BLUE, "negative"),
        (rows.positive, 0.2, RED, "positive"),
    ):
        axes.plot(scores, np.full(len(scores), height), "o", color=colour, label=name)
    for threshold in thresholds:
        false, true = rows.rates(threshold)
        axes.axvline(threshold, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.annotate(
            f"t = {threshold:g}\nTPR {true:.2f}\nFPR {false:.2f}",
            (threshold, 0.62),
            ha="center",
            fontsize=8,
            backgroundcolor="white",
        )
    axes.set(xlabel="score", yticks=[], ylim=(-0.2, 0.9), xlim=(0, 1))
    axes.legend(frameon=False, loc="lower right")
    return figure


def _draw_roc(rows: ScoredRows, number: int, thresholds: tuple[float, ...]) -> "Figure":
    figure = new_figure(6.2, 5.6)
    display = RocDisplay.from_predictions(rows.truth, rows.scores, name="area")
    title = f"Figure {number}. ROC curve, {rows.title}"
    axes = display.plot(ax=figure.add_subplot(), title=title).ax_
    for threshold in thresholds:
        point = rows.rates(threshold)
        axes.plot(*point, "o", color=RED)
        axes.annotate(f"t = {threshold:g}", point, xytext=(6, -12), textcoords="offset points")
    return figure

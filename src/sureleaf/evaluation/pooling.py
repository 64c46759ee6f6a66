"""Figures that are ratios of counts, taken from the counts of all splits together.

A fold with one positive row has a recall of 0 or 1 and an F-measure of 0 if that row is missed,
whatever the precision elsewhere: the mean over folds of such ratios is biased where the rows they
count are few (Forman and Scholz 2010). Counts add up without bias, so the figure is that of the
sum of the tables. What each split contributes to it is told by leaving it out (the jackknife).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.evaluation.arguments import Floats
from sureleaf.evaluation.measures.confusion import count_pairs
from sureleaf.evaluation.measures.named import Measure
from sureleaf.evaluation.measures.rates import ratio
from sureleaf.evaluation.scored import Scored

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["figures_of_splits", "is_pooled"]


def is_pooled(measure: Measure) -> bool:
    """Whether the figure is a ratio of counts that differ from split to split.

    Examples
    --------
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> [name for name in ("accuracy", "precision", "f_measure", "auc") if is_pooled(NAMED[name])]
    ['precision', 'f_measure']
    """
    return measure.row_values is None and bool(measure.counted or measure.of_counts)


def figures_of_splits(evaluation: "Evaluation", measure: Measure, splits: list[int]) -> Floats:
    """Return a figure for each split whose mean is the figure of the design.

    For a ratio of counts the mean is that of all counts together, and a split's distance from it
    is that of its pseudo-value: J times the whole less J - 1 times the rest. Other measures are
    what they are on the rows of the split, NaN where undefined.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), random_state=0)
    >>> figures = figures_of_splits(judged, NAMED["precision"], list(judged.main_splits))
    >>> counts = judged.confusion().counts
    >>> bool(np.isclose(figures.mean(), counts[1, 1] / counts[:, 1].sum()))
    True
    """
    parts = [evaluation.scored(evaluation.cells_of(i)) for i in splits]
    if not is_pooled(measure):
        return np.array([measure.of_split(rows) for rows in parts])
    count, figure = _counting(measure, evaluation.positive_code)
    tables = np.array([count(rows) for rows in parts], dtype=np.float64)
    total, n = tables.sum(axis=0), len(tables)
    whole = figure(total)
    if n == 1:
        return np.array([whole])
    rests = np.array([figure(np.maximum(total - table, 0.0)) for table in tables])
    figures: Floats = whole - (n - 1) * (rests - rests.mean())
    return figures


def _counting(
    measure: Measure, positive: int
) -> tuple[Callable[[Scored], Floats], Callable[[Floats], float]]:
    """How rows are counted for the measure, and the figure of such counts."""
    of_counts, counted = measure.of_counts, measure.counted
    if of_counts is not None:

        def table_of(rows: Scored) -> Floats:
            pairs = count_pairs(rows.truth, rows.prediction, rows.n_classes, rows.weights)
            return pairs.astype(np.float64)

        return table_of, lambda table: of_counts(table, positive)

    def count(rows: Scored) -> Floats:
        hits, among = counted(rows)  # type: ignore[misc]
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        return np.array([weights @ (hits & among), weights @ among])

    return count, lambda table: ratio(float(table[0]), float(table[1]))

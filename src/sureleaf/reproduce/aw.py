"""The worked examples of the slides "Model Evaluation" by A. W. recomputed.

The figures on the slides are sketches without numbers: the tree with the distributed row is grown
from the ten rows of the slides, the learning curve is that of a data set of scikit-learn.

References
----------
A. W. (n.d.). Model Evaluation [lecture slides on missing values, evaluation and comparison of
classifiers]. The slides give the author's initials and no date.
"""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from sureleaf.comparison import compare_rates, paired_t
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation import measures
from sureleaf.levels import entropies
from sureleaf.plots import LearningCurveDisplay, TreeDisplay
from sureleaf.plots.display import new_figure, save
from sureleaf.reproduce.cells import (
    Part,
    Reproduction,
    by_arithmetic,
    by_library,
    check_cell,
    read_printed,
)

SOURCE = 'A. W., "Model Evaluation", lecture slides on missing values, evaluation and comparison'


def reproduce() -> Reproduction:
    """Recompute the examples and the table of t."""
    parts = (
        gain_with_missing_value(),
        distributed_row(),
        new_record(),
        rare_class_accuracy(),
        costs(),
        bootstrap_share(),
        coin(),
        two_models(),
        critical_values(),
        critical_value_levels(),
        two_algorithms(),
    )
    return Reproduction("aw", SOURCE, parts)


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the tree with the distributed row and a learning curve, and yield their paths."""
    from sklearn.datasets import load_breast_cancer

    tree = TreeDisplay.from_estimator(distributed_tree())
    X, y = load_breast_cancer(return_X_y=True)
    curve = LearningCurveDisplay.from_estimator(TreeClassifier.c45(), X, y, random_state=0)
    ten_rows = "The tree of the ten rows: row 10 counts 3/9 for Refund = Yes, 6/9 for No"
    cancer = "Learning curve: C4.5's tree on a data set of breast cancer"
    for name, display, title in (("tree", tree, ten_rows), ("learning-curve", curve, cancer)):
        figure = new_figure(*display.figure_size())
        display.plot(ax=figure.add_subplot(), title=title)
        yield from save(figure, directory, f"aw-{name}")


# ---- missing values: the gain of a split, where a row goes, how a new row is predicted -----------

# Refund, Marital Status, Class. Refund is missing in row 10. A later slide prints Single for
# row 10, but the counts of the tree (3.67 married) need Married, as in the first table.
_ROWS = (
    ("Yes", "Single", "No"),
    ("No", "Married", "No"),
    ("No", "Single", "No"),
    ("Yes", "Married", "No"),
    ("No", "Divorced", "Yes"),
    ("No", "Married", "No"),
    ("Yes", "Divorced", "No"),
    ("No", "Single", "Yes"),
    ("No", "Married", "No"),
    (None, "Married", "Yes"),
)


def _entropy(counts: ArrayLike) -> float:
    return float(entropies.entropy(counts))


def distributed_tree() -> TreeClassifier:
    """Grow the tree of the ten rows, without pruning."""
    refund, status, labels = zip(*_ROWS, strict=True)
    tree = TreeClassifier.c45(
        criterion="entropy",
        min_samples_leaf=1,
        pruning=None,
        collapse=False,
        leaf_estimate="frequency",
        levels_from="training",
    )
    return tree.fit(pa.table({"Refund": refund, "Marital Status": status}), labels)


def _class_counts(refund: str | None) -> list[int]:
    """Return the number of rows of class Yes and No with this value of Refund."""
    return [sum(row[0] == refund and row[2] == label for row in _ROWS) for label in ("Yes", "No")]


def gain_with_missing_value() -> Part:
    """Check the gain of Refund, a column with one missing value.

    C4.5 computes both entropies over the rows whose value is known, and multiplies their
    difference by the known share. Its gain ratio here is .1056.
    """
    yes, no, missing = _class_counts("Yes"), _class_counts("No"), _class_counts(None)
    n_rows, n_known = len(_ROWS), sum(yes) + sum(no)
    known_share = n_known / n_rows
    before = _entropy(np.add(yes, no))
    before_all = _entropy(np.add(np.add(yes, no), missing))
    sizes = np.array([sum(yes), sum(no)])
    inside = np.array([_entropy(yes), _entropy(no)])
    after, after_all = float(sizes @ inside / n_known), float(sizes @ inside / n_rows)
    gain, gain_all = known_share * (before - after), known_share * before_all - after_all
    note = ".9 x .8813 - .551 is .2422, and .9 x (.8813 - .551) is .2973"
    cell = partial(check_cell, "Refund")
    cells = (
        cell("entropy before", 0.8813, 4, by_library(before), by_arithmetic(before_all)),
        cell("entropy of Yes", 0, 0, by_library(inside[0])),
        cell("entropy of No", 0.9183, 4, by_library(inside[1])),
        cell("entropy after", 0.551, 3, by_arithmetic(after), by_arithmetic(after_all)),
        cell("gain", 0.2417, 4, by_arithmetic(gain), by_arithmetic(gain_all), note=note),
    )
    return Part(
        "gain with a missing value",
        "entropy in bits before and after a split on Refund, and the gain",
        "C4.5: entropies over the 9 known rows, times the known share",
        "entropies over all 10 rows, and only the first multiplied by the known share",
        cells,
    )


def distributed_row() -> Part:
    """Check the weights of row 10, which goes down both branches."""
    yes, no = _class_counts("Yes"), _class_counts("No")
    n_known = sum(yes) + sum(no)
    in_yes, in_no = yes[0] + sum(yes) / n_known, no[0] + sum(no) / n_known
    cells = (
        check_cell("class Yes", "Refund = Yes", 3 / 9, 4, by_arithmetic(in_yes)),
        check_cell("class Yes", "Refund = No", 2 + 6 / 9, 4, by_arithmetic(in_no)),
    )
    title = "rows of class Yes in each branch, including row 10 (0 + 3/9 and 2 + 6/9)"
    return Part("row 10 distributed", title, "proportions of the known rows", "", cells)


def new_record() -> Part:
    """Check the table and the probabilities for a new row without Marital Status."""
    weight = {"No": 1.0, None: 6 / 9}
    statuses = ("Married", "Single", "Divorced")
    rows = {label: [row for row in _ROWS if row[2] == label] for label in ("No", "Yes")}
    no, yes = (
        [sum(weight.get(row[0], 0.0) for row in own if row[1] == status) for status in statuses]
        for own in rows.values()
    )
    married, single, divorced = np.add(no, yes)
    total = sum(no) + sum(yes)
    cells = [
        check_cell(f"class {label}", status, figure, 4, by_arithmetic(count))
        for label, counts, figures in (("No", no, (3, 1, 0)), ("Yes", yes, (6 / 9, 1, 1)))
        for status, count, figure in zip(statuses, counts, figures, strict=True)
    ]
    cells += [
        check_cell("class No", "total", 4, 0, by_arithmetic(sum(no))),
        check_cell("class Yes", "total", 2.67, 2, by_arithmetic(sum(yes))),
        check_cell("total", "Married", 3.67, 2, by_arithmetic(married)),
        check_cell("total", "Single", 2, 0, by_arithmetic(single)),
        check_cell("total", "Divorced", 1, 0, by_arithmetic(divorced)),
        check_cell("total", "total", 6.67, 2, by_arithmetic(total)),
        check_cell("probability", "Married", 3.67 / 6.67, 2, by_arithmetic(married / total)),
        check_cell("probability", "Single or Divorced", 3 / 6.67, 2, by_arithmetic(3 / total)),
    ]
    title = "class by Marital Status in the branch Refund = No; 3.67/6.67 and 3/6.67"
    return Part("new record", title, "row 10 counts 6/9", "", tuple(cells))


# ---- evaluation: rare classes, costs, bootstrap samples, coin tosses -----------------------------

_COST = [[-1, 100], [1, 0]]
"""Rows: actual +, -. Columns: predicted +, -."""

_CONFUSION = {"M1": [[150, 40], [60, 250]], "M2": [[250, 45], [5, 200]]}
_ACCURACY_AND_COST = {"M1": (0.80, 3910), "M2": (0.90, 4255)}


def _labels(confusion: ArrayLike) -> tuple[list[int], list[int]]:
    """Return true and predicted labels that have this confusion matrix."""
    counts = np.asarray(confusion)
    pairs = np.indices(counts.shape).reshape(2, -1)
    truth, prediction = np.repeat(pairs, counts.ravel(), axis=1).tolist()
    return truth, prediction


def rare_class_accuracy() -> Part:
    """Check the accuracy of a model that never predicts the rare class."""
    truth, prediction = _labels([[9990, 0], [10, 0]])
    accuracy = by_library(measures.accuracy(truth, prediction))
    n_detected = by_library(10 * measures.recall(truth, prediction, positive=1))
    cells = (
        check_cell("always class 0", "accuracy", 0.999, 3, accuracy),
        check_cell("always class 0", "found of class 1", 0, 0, n_detected),
    )
    title = "a model that always predicts class 0"
    return Part("the trap of 9,990 to 10", title, "(a + d) / n", "", cells)


def costs() -> Part:
    """Check accuracy and total cost of two models."""
    cells = []
    for name, (accuracy, cost) in _ACCURACY_AND_COST.items():
        truth, prediction = _labels(_CONFUSION[name])
        share = by_library(measures.accuracy(truth, prediction))
        total = by_library(measures.cost(truth, prediction, cost=_COST))
        cells.append(check_cell(name, "accuracy", accuracy, 2, share))
        cells.append(check_cell(name, "cost", cost, 0, total))
    return Part("cost", "accuracy and total cost", "sum of counts times C(i|j)", "", tuple(cells))


def bootstrap_share() -> Part:
    """Check the proportion of rows in a bootstrap sample."""
    share = by_arithmetic(1 - math.exp(-1))
    cell = check_cell("bootstrap", "share of rows", 0.633, 3, share)
    return Part("bootstrap", "proportion of the rows in a bootstrap sample", "1 - 1/e", "", (cell,))


def coin() -> Part:
    """Check mean and variance of the heads in 50 tosses."""
    n, p = 50, 0.5
    cells = (
        check_cell("50 tosses", "mean", 25, 0, by_arithmetic(n * p)),
        check_cell("50 tosses", "variance", 12.5, 1, by_arithmetic(n * p * (1 - p))),
    )
    return Part("coin", "heads in 50 tosses of a fair coin", "np and np(1 - p)", "", cells)


# ---- comparison: two models, two algorithms ------------------------------------------------------

_FIRST = (1200, 1219, 1103, 1213, 1258, 1325, 1295)
_SECOND = (1247, 1098, 1185, 1087, 1377, 1363, 1121)
_DIFFERENCES = (-0.024, 0.061, -0.041, 0.063, -0.060, -0.019, 0.087)


def two_models() -> Part:
    """Check the test of 15 % errors in 30 rows against 25 % in 5,000.

    The slide before the example writes "sigma1² - sigma2²" for the variance of a difference. The
    example uses the sum, which is correct.
    """
    test = compare_rates(0.15, 30, 0.25, 5000)
    two_sided, one_sided = by_library(1 - test.p_value), by_arithmetic(1 - test.p_value / 2)
    row = "M1, M2"
    cells = (
        check_cell(row, "variance", 0.0043, 4, by_library(test.standard_error**2)),
        check_cell(row, "z at 95 %", 1.96, 2, by_arithmetic(ndtri(0.975))),
        check_cell(row, "half-width", 0.128, 3, by_library(test.high - test.difference)),
        check_cell(row, "z", 1.527, 3, by_library(abs(test.statistic))),
        check_cell(row, "confidence", 0.937, 3, two_sided, one_sided),
    )
    return Part(
        "two models",
        "error .15 on 30 rows against .25 on 5,000; confidence that they differ",
        "z, unpooled, two-sided as the example says",
        "the confidence of a one-sided test",
        cells,
    )


def two_algorithms() -> Part:
    """Check the paired t interval of seven folds.

    The slides use t(1 - alpha, k - 1), but a two-sided interval needs 1 - alpha/2. They look up 7
    degrees of freedom instead of 6. They call H0 "valid" when the interval contains 0, but such an
    interval only fails to reject it.
    """
    differences = np.subtract(_FIRST, _SECOND) / 2000
    rounded = np.array(_DIFFERENCES)
    test = paired_t(differences)
    t_6, t_7 = float(stdtrit(6, 0.975)), float(stdtrit(7, 0.975))
    half_width = t_7 * test.standard_error
    low_7, high_7 = test.difference - half_width, test.difference + half_width
    note = "7 degrees of freedom give -.043 to .062"
    folds = enumerate(zip(_DIFFERENCES, differences, strict=True), start=1)
    cells = [
        check_cell(f"fold {fold}", "difference", figure, 3, by_arithmetic(difference))
        for fold, (figure, difference) in folds
    ]
    mean, spread = by_library(test.difference), by_arithmetic(differences.std(ddof=1))
    low, high = by_library(test.low), by_library(test.high)
    cells += [
        check_cell("all", "mean", 0.0095, 4, mean, by_arithmetic(rounded.mean())),
        check_cell("all", "s", 0.0589, 4, spread, by_arithmetic(rounded.std(ddof=1))),
        check_cell("all", "t at 95 %", 2.365, 3, by_arithmetic(t_6), by_arithmetic(t_7)),
        check_cell("all", "low", -0.042, 3, low, by_arithmetic(low_7), note=note),
        check_cell("all", "high", 0.061, 3, high, by_arithmetic(high_7), note=note),
    ]
    return Part(
        "two algorithms",
        "7-fold cross-validation of 2,000 rows: paired t interval",
        "paired t with 6 degrees of freedom",
        "differences rounded first, and 7 degrees of freedom",
        tuple(cells),
    )


# ---- Table D: critical values of t (aw_t_table.json) ---------------------------------------------


def critical_values() -> Part:
    """Check every critical value."""
    table = read_printed(__package__, "aw_t_table.json")
    cells = []
    for degrees, figures in table["rows"].items():
        for tail, figure in zip(table["p"], figures, strict=True):
            upper = 1 - float(tail)
            value = ndtri(upper) if degrees == "inf" else stdtrit(float(degrees), upper)
            row = "z*" if degrees == "inf" else f"df = {degrees}"
            decimals = len(figure.partition(".")[2])
            cells.append(check_cell(row, tail, float(figure), decimals, by_arithmetic(value)))
    title, other = "critical values of t by upper tail", "truncated instead of rounded"
    return Part("table D", title, "t(1 - p, df)", other, tuple(cells))


def critical_value_levels() -> Part:
    """Check the two-sided levels below the table."""
    table = read_printed(__package__, "aw_t_table.json")
    cells = []
    for tail, text in zip(table["p"], table["confidence"], strict=True):
        level = float(text.rstrip("%")) / 100
        value = by_arithmetic(round(1 - 2 * float(tail), 12))
        cells.append(check_cell("confidence level", tail, level, 4, value))
    return Part("table D, levels", "two-sided confidence levels", "1 - 2p", "", tuple(cells))

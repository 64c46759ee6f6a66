"""Warnings about the rows of an audit: training rows given as unseen, and swapped classes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import bdtr

from sureleaf.auditing.audited_rows import AuditedRows
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.estimators import BaggedTreesClassifier
from sureleaf.folds import fold_numbers
from sureleaf.formatting import percent, upper_first
from sureleaf.levels.decisions import predicted_class
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.random_streams import shuffled
from sureleaf.table import EncodedTable

__all__ = ["looks_like_training", "seems_swapped"]

MIN_ROWS = 50
MAX_ROWS = 2000
"""Rows on which models are fitted for comparison."""

LEFT_ERRORS = 0.2
"""Training rows are suspected if a model makes at most this share of the cross-fitted errors."""

LEAST_ERRORS = 0.05
SIGNIFICANCE = 1e-6
MORE_ROWS = 3
"""A model that was trained on this many times the rows may know more than they can teach."""


def looks_like_training(rows: AuditedRows, trees: Sequence[TreeLeaves]) -> str | None:
    """Return why rows that are called unseen look like training rows; None if they do not.

    A forest and a logistic regression are cross-fitted on the rows. A model that makes less than a
    fifth of the errors of the better one knows the labels of these rows, or has learned from many
    more. Models that are known to have learned from more rows are not suspected.
    """
    n_rows = len(rows.codes)
    wrong = rows.most_probable != rows.codes
    most_frequent = np.bincount(rows.codes).max()
    if n_rows < MIN_ROWS or wrong.mean() > LEFT_ERRORS * (1 - most_frequent / n_rows):
        return None
    if trees and max(float(tree.n_training.sum()) for tree in trees) > MORE_ROWS * n_rows:
        return None
    part = np.sort(shuffled(n_rows, 0, 0)[:MAX_ROWS])
    codes, wrong = rows.codes[part], wrong[part]
    if np.bincount(codes).min(initial=n_rows, where=np.bincount(codes) > 0) < 2:
        return None
    table = rows.table(rows=part)
    cross_fitted = min(_errors_without_a_row(table, codes), key=lambda errors: errors.sum())
    expected = float(cross_fitted.mean())
    if expected < LEAST_ERRORS or wrong.mean() > LEFT_ERRORS * expected:
        return None
    only_model, only_other = int((wrong & ~cross_fitted).sum()), int((cross_fitted & ~wrong).sum())
    if float(bdtr(only_model, only_model + only_other, 0.5)) > SIGNIFICANCE:
        return None
    subject = _subject(rows)
    return (
        f"These rows look like training rows: {subject} is right for {percent(1 - wrong.mean())} "
        f"of them, models that were fitted without a row for {percent(1 - expected)}. Unless it "
        "was trained on many other rows, all figures are too good: audit it with unseen rows."
    )


def _subject(rows: AuditedRows) -> str:
    return "the model" if rows.cost is None else "its most probable class"


def _errors_without_a_row(table: EncodedTable, codes: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return which rows are predicted wrongly by models that were fitted without them."""
    forest = BaggedTreesClassifier(n_estimators=30, random_state=0, n_jobs=1).fit(table, codes)
    labels = forest.classes_[predicted_class(forest.oob_proba_)]
    return [labels != codes, _linear_predictions(table, codes) != codes]


def _linear_predictions(table: EncodedTable, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Predict every row by a logistic regression of the other folds."""
    from sklearn.linear_model import LogisticRegression

    columns = []
    for index, column in enumerate(table.schema.columns):
        values = np.asarray(table.columns[index], dtype=np.float64)
        if column.kind == "categorical":
            occurring = np.unique(values)[:50]
            columns += [(values == code).astype(np.float64) for code in occurring]
            continue
        is_known = np.isfinite(values) & (values >= 0 if column.is_coded else True)
        known = values[is_known]
        if len(known) and np.ptp(known) > 0:
            scaled = (values - known.mean()) / known.std()
            columns.append(np.clip(np.where(is_known, scaled, 0.0), -10, 10))
    features = np.column_stack(columns) if columns else np.zeros((len(codes), 1))
    fold = fold_numbers(codes.astype(np.int32), 5, seed=0)
    predictions = np.empty(len(codes), dtype=np.int64)
    for k in range(5):
        test = fold == k
        if not test.any():
            continue
        if len(np.unique(codes[~test])) < 2:
            predictions[test] = codes[~test][0]
            continue
        model = LogisticRegression(max_iter=1000).fit(features[~test], codes[~test])
        predictions[test] = model.predict(features[test])
    return predictions


def seems_swapped(rows: AuditedRows, *, named: bool, level: float = 0.95) -> str | None:
    """Return a remark if the labels fit far better in another order.

    Far better: the intervals of both accuracies do not overlap, and the model is worse than always
    predicting the most frequent class. `named` says whether the user gave the classes.
    """
    n, n_classes = len(rows.codes), len(rows.classes)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (rows.codes, rows.most_probable), 1.0)
    _, best = linear_sum_assignment(-counts)
    of_predicted = np.argsort(best)  # the class that each predicted class seems to mean
    if np.array_equal(of_predicted, np.arange(n_classes)):
        return None
    now, then = float(counts.trace()), float(counts[np.arange(n_classes), best].sum())
    baseline = counts.sum(axis=1).max() / n
    if now / n >= baseline or then / n <= baseline:
        return None
    if clopper_pearson(now, n, level=level).high >= clopper_pearson(then, n, level=level).low:
        return None
    order = [rows.classes.tolist()[code] for code in of_predicted]
    written = ",".join(map(str, order))
    cause = "classes= (--classes)" if named else "the order of the classes"
    return (
        f"{upper_first(cause)} seems wrong: with {written!r} {_subject(rows)} would be "
        f"right for "
        f"{percent(then / n)} of the rows instead of {percent(now / n)}."
    )

"""All that a fitted model says about some rows, from encoding them once."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import UnseenCategoryWarning
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.model.cross_fitting import predicted_class
from sureleaf.tree.growing import kernel_table

__all__ = ["RowPredictions", "row_predictions"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """What a model says about some rows.

    Parameters
    ----------
    code : ndarray of int
        The class predicted, by its place in ``classes_``.
    probabilities : ndarray of shape (n_rows, n_classes)
        As ``predict_proba`` gives them.
    sureness : ndarray
        Confidence of a tree, agreement of bagged trees.
    utility : ndarray
        How often such a prediction is right about rows that were not seen.
    leaf : ndarray of int, or None
        The heaviest leaf of a tree; None for bagged trees.
    unseen_counts : dict of str to int
        Values a column that were not there in training.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> row_predictions(model, [[3], [33]]).code.tolist()
    [0, 1]
    """

    code: NDArray[np.intp]
    probabilities: FloatArray
    sureness: FloatArray
    utility: FloatArray
    leaf: NDArray[np.int64] | None
    unseen_counts: dict[str, int]


def row_predictions(model: Any, X: Any) -> RowPredictions:
    """Predict rows, with everything there is to say about each.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.
    X : table
        As in fit. Categories that were not there in training are counted and not warned of.

    Returns
    -------
    RowPredictions

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> rows = [[i, "ab"[i % 2]] for i in range(40)]
    >>> model = BaggedTreesClassifier(random_state=0).fit(rows, ["no"] * 20 + ["yes"] * 20)
    >>> row_predictions(model, [[3, "a"], [33, "c"]]).unseen_counts
    {'x1': 1}
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        table = model._encode(X)
    if isinstance(model, TreeClassifier):
        mixed, routes = model._mixed_rows(table, 0.95)
        code = predicted_class(mixed[:, 0])
        line = np.arange(len(code))
        sure, useful = mixed[line, 1, code], mixed[line, 2, code]
        return RowPredictions(
            code, mixed[:, 0], sure, useful, routes.heaviest(), table.unseen_counts
        )
    sums = model._ask(kernel_table(table), in_detail=True)
    stated = model._finish(sums.mean(sums.values))
    code = predicted_class(stated)
    line = np.arange(len(code))
    agreement = sums.mean(sums.votes)[line, code]
    utility, _, _ = model._hit_rates().of(stated[line, code])
    return RowPredictions(code, stated, agreement, utility, None, table.unseen_counts)

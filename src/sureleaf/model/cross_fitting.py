"""Out-of-fold predictions of all rows, and the levels of a tree that follow from them.

All rows grow the tree. Further trees, each grown without one fold, predict the rows of that fold:
`predict_out_of_fold`. Two more trees, each grown on half of the folds, show how accuracy increases
with the number of rows; this corrects for the fold trees having fewer rows than the tree itself.
`cross_fit_levels` turns the out-of-fold predictions into the accuracy of every node and returns
the same model with this evidence.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sureleaf.folds import fold_numbers
from sureleaf.levels.decisions import CostRule
from sureleaf.model.fitting import TreeSettings, build
from sureleaf.model.leaf_calibration import (
    fit_leaf_calibration,
    leaf_features,
    leaf_strength,
    shift_to_mean,
)
from sureleaf.model.tree_model import Evidence, TreeModel
from sureleaf.probability import LeafEstimate, predicted_class
from sureleaf.progress import track
from sureleaf.table.encoded_table import take_rows
from sureleaf.tree import TrainingRows, Tree, mixture, route

__all__ = ["OutOfFold", "cross_fit", "cross_fit_levels", "node_accuracy", "predict_out_of_fold"]


FloatArray = NDArray[np.float64]

_CURVE_ROWS = 30.0
"""The calibrated accuracy of a leaf counts as much as so many of its own out-of-fold rows."""


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Predictions of rows by trees that were grown without them.

    Parameters
    ----------
    correct : ndarray of float64, shape (n_rows,)
        1 if the row is predicted correctly, 0 if not, NaN if no fold tests it.
    features : ndarray of float64, shape (n_rows, n_features)
        `leaf_features` of the leaf that predicted it.
    leaf : ndarray of int64, shape (n_rows,)
        A number for that leaf, different in every fold; -1 if no fold tests the row.
    leaf_rows : ndarray of float64, shape (n_rows,)
        Growing rows of that leaf.
    accuracy : float
        Share of correct predictions; NaN if no row is tested.
    correction : float
        Expected gain in accuracy from the rows that the fold trees lacked.
    decided : ndarray of int, shape (n_rows,)
        Index of the class that each row was predicted as; -1 if no fold tests it.
    """

    correct: FloatArray
    features: FloatArray
    leaf: NDArray[np.int64]
    leaf_rows: FloatArray
    accuracy: float
    correction: float
    decided: NDArray[np.intp]

    def of_decision(self, decision: int, weights: FloatArray) -> "OutOfFold":
        """Return the predictions of one class alone, without a correction."""
        correct = np.where(self.decided == decision, self.correct, np.nan)
        return replace(self, correct=correct, accuracy=_accuracy(correct, weights), correction=0.0)


def cross_fit(
    rows: TrainingRows,
    settings: TreeSettings,
    *,
    groups: NDArray[Any] | None = None,
    n_threads: int = 1,
) -> OutOfFold:
    """Assign rows to folds and predict each fold by a tree grown on the others.

    Parameters
    ----------
    rows : TrainingRows
        The rows that the model was fitted on.
    settings : TreeSettings
        Those that the fit resolved, so that each fold costs one tree.
    groups : ndarray of shape (n_rows,), optional
        Rows of a group stay in one fold.
    n_threads : int
        Threads; the result does not depend on it.

    Returns
    -------
    OutOfFold
    """
    # Trees grow side by side; only cores that are left over share the work on one tree.
    settings = replace(settings, n_threads=max(1, n_threads // 12), keep_order=True)
    return predict_out_of_fold(
        rows,
        fold_numbers(rows.labels, settings.cv, seed=settings.seed, groups=groups),
        lambda part, fold: build(part, settings.without_fold(fold), groups=groups),
        settings.leaf_estimate,
        rule=settings.rule,
        n_threads=n_threads,
    )


def cross_fit_levels(model: TreeModel, rows: TrainingRows, out_of_fold: OutOfFold) -> TreeModel:
    """Return the same model with the accuracy of its nodes as evidence of its levels.

    Parameters
    ----------
    model : TreeModel
        Fitted on these rows.
    rows : TrainingRows
        The rows.
    out_of_fold : OutOfFold
        Their out-of-fold predictions.

    Returns
    -------
    TreeModel
    """
    predicted, n_rows = model.predicted_classes, model.node_rows
    accuracy, strength = node_accuracy(model.tree, rows, predicted, n_rows, out_of_fold)
    if model.rule is not None:
        # With unequal costs, rare and frequent classes are decided at different probabilities, and
        # one curve for all decisions would state too high ones for some, too low ones for others.
        weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
        for decision in np.unique(predicted).tolist():
            part, nodes = out_of_fold.of_decision(decision, weights), predicted == decision
            if not np.isnan(part.accuracy):
                found = node_accuracy(model.tree, rows, predicted, n_rows, part, nodes=nodes)[0]
                accuracy = np.where(nodes, found, accuracy)
    return model.with_evidence(Evidence("cross_fit", accuracy, strength))


def predict_out_of_fold(
    rows: TrainingRows,
    fold_of: NDArray[np.int64],
    build: Callable[[TrainingRows, int], Tree],
    estimate: LeafEstimate,
    *,
    rule: CostRule | None = None,
    n_threads: int = 1,
) -> OutOfFold:
    """Grow a tree without each fold and predict the rows of that fold.

    Parameters
    ----------
    rows : TrainingRows
        All rows; what is encoded and sorted is shared by all trees.
    fold_of : ndarray of int64, shape (n_rows,)
        The fold that tests each row, -1 for none.
    build : callable
        From weighted rows and the number of the fold that they lack to a tree; -1 for half the
        folds.
    estimate : LeafEstimate
        From a tree and its counts to the class probabilities of its nodes.
    rule : CostRule, optional
        The costs that decide, if errors have different costs.
    n_threads : int
        Trees grown at a time.

    Returns
    -------
    OutOfFold

    Examples
    --------
    >>> from sureleaf.probability import Frequency
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[float(i)] for i in range(12)])
    >>> rows = TrainingRows(table, np.repeat([0, 1], 6).astype(np.int32), 2)
    >>> out_of_fold = predict_out_of_fold(
    ...     rows, np.arange(12) % 3, lambda part, fold: grow(part, GrowthRules()), Frequency())
    >>> out_of_fold.correct.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    tested = (fold_of >= 0) & (weights > 0)
    folds = np.unique(fold_of[tested])
    parts = [tested & (fold_of == fold) for fold in folds]
    # Halves are whole folds, so that groups stay together; fewer than 3 folds have no halves.
    first_half = np.isin(fold_of, folds[: len(folds) // 2])
    halves = [tested & first_half, tested & ~first_half] if len(folds) > 2 else []
    rows.sort(n_threads)

    def predict_part(part: NDArray[np.bool_], fold: int) -> _PartPredictions | None:
        return _predict_part(rows, weights, part, lambda train: build(train, fold), estimate, rule)

    with ThreadPoolExecutor(n_threads) as pool:
        every = [*parts, *halves]
        work = pool.map(predict_part, every, [*folds.tolist(), *(-1 for _ in halves)])
        predictions = list(track(work, total=len(every), what="Cross-fitting"))
    joined = _join(rows, predictions[: len(parts)])
    accuracy = _accuracy(joined[0], weights)
    half_accuracy = _accuracy(_join(rows, predictions[len(parts) :])[0], weights)
    seen = 1.0 - sum((weights[part].sum() / weights.sum()) ** 2 for part in parts)
    correction = _gain_of_all_rows(accuracy, half_accuracy, float(seen))
    decided = np.full(len(rows.labels), -1, dtype=np.intp)
    for each in filter(None, predictions[: len(parts)]):
        decided[each[0]] = each[-1]
    return OutOfFold(*joined, accuracy, correction, decided)


_PartPredictions = tuple[
    NDArray[np.intp], FloatArray, FloatArray, NDArray[np.int64], FloatArray, NDArray[np.intp]
]


def _predict_part(
    rows: TrainingRows,
    weights: FloatArray,
    part: NDArray[np.bool_],
    build: Callable[[TrainingRows], Tree],
    estimate: LeafEstimate,
    rule: CostRule | None,
) -> _PartPredictions | None:
    """Row numbers, correctness, leaf features, leaves, leaf rows and predicted classes.

    None if no row is left.
    """
    train = rows.with_weights(np.where(part, 0.0, weights))
    index = np.flatnonzero(part)
    if not train.total_weight or not len(index):
        return None
    tree = build(train)
    probabilities = estimate(tree, tree.class_counts)
    features = leaf_features(tree, predicted_class(probabilities, rule))
    grown = tree.class_counts.sum(axis=1, keepdims=True)
    test = take_rows(rows.table, index)
    values = mixture(tree, test, np.hstack([probabilities, features, grown]))
    n_classes = rows.n_classes
    decided = predicted_class(values[:, :n_classes], rule)
    correct = decided == rows.labels[index]
    leaf = route(tree, test).heaviest()
    return index, correct.astype(float), values[:, n_classes:-1], leaf, values[:, -1], decided


def _join(
    rows: TrainingRows, parts: list[_PartPredictions | None]
) -> tuple[FloatArray, FloatArray, NDArray[np.int64], FloatArray]:
    n_rows, predicted_parts = len(rows.labels), [part for part in parts if part is not None]
    n_features = predicted_parts[0][2].shape[1] if predicted_parts else 0
    correct, leaf_rows = np.full(n_rows, np.nan), np.zeros(n_rows)
    features = np.zeros((n_rows, n_features))
    leaf = np.full(n_rows, -1, dtype=np.int64)
    first = 0
    for index, part_correct, part_features, part_leaf, part_leaf_rows, _ in predicted_parts:
        correct[index], features[index] = part_correct, part_features
        leaf_rows[index], leaf[index] = part_leaf_rows, part_leaf + first
        first += int(part_leaf.max()) + 1
    return correct, features, leaf, leaf_rows


def _accuracy(correct: FloatArray, weights: FloatArray) -> float:
    tested = ~np.isnan(correct)
    total = float(weights[tested].sum())
    return float(weights[tested] @ correct[tested]) / total if total else np.nan


def _gain_of_all_rows(accuracy: float, half_accuracy: float, seen: float) -> float:
    """Extrapolate the accuracy from half the rows, over the share seen, to all rows.

    Accuracy is taken to grow with the logarithm of the number of rows, which fits learning curves
    of trees a little better between 90 and 100 % of the rows than a root or an inverse.
    """
    if np.isnan(accuracy + half_accuracy) or not 0.5 < seen < 1.0:
        return 0.0
    gain = float(np.log(1.0 / seen) / np.log(seen / 0.5))
    return (accuracy - half_accuracy) * gain


def node_accuracy(
    tree: Tree,
    rows: TrainingRows,
    predicted: NDArray[np.intp],
    n_rows: FloatArray,
    out_of_fold: OutOfFold,
    *,
    nodes: NDArray[np.bool_] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the accuracy of every node on unseen rows, and the strength of that knowledge.

    The leaf calibration gives an accuracy by the features of a node. In a leaf, the out-of-fold
    predictions of its own rows are added: they are many in large leaves, where it hardly matters
    that the leaf was drawn around the classes of its rows. Then all are shifted so that the mean
    over the leaves is the corrected out-of-fold accuracy.

    Parameters
    ----------
    tree : Tree
        Grown on all rows.
    rows : TrainingRows
        The rows.
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.
    n_rows : ndarray of float64, shape (n_nodes,)
        Rows of each node, or effective rows.
    out_of_fold : OutOfFold
        Of the same rows.
    nodes : ndarray of bool, shape (n_nodes,), optional
        The nodes whose mean accuracy is that of the predictions; all by default.

    Returns
    -------
    accuracy, strength : ndarray of float64, shape (n_nodes,)
        The strength is the number of rows that would tell the accuracy as precisely.
    """
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    correct = out_of_fold.correct
    tested = ~np.isnan(correct) & (weights > 0)
    if not tested.any():
        return np.full(tree.n_nodes, 1.0 / rows.n_classes), np.ones(tree.n_nodes)
    features = out_of_fold.features[tested]
    calibration = fit_leaf_calibration(features, correct[tested], weights[tested])
    accuracy = calibration(leaf_features(tree, predicted))
    routes = route(tree, rows.table)
    row = routes.rows()
    weight = np.where(tested, weights, 0.0)[row] * routes.shares
    own = np.bincount(routes.nodes, weight, tree.n_nodes)
    own_correct = np.bincount(
        routes.nodes, weight * np.where(tested, correct, 0.0)[row], tree.n_nodes
    )
    accuracy = (own_correct + _CURVE_ROWS * accuracy) / (own + _CURVE_ROWS)
    counted = tree.is_leaf if nodes is None else tree.is_leaf & nodes
    if not counted.any():  # nodes above the leaves of another decision
        counted = tree.is_leaf
    leaf_sizes = np.where(counted, tree.class_counts.sum(axis=1), 0.0)
    total = float(weights[tested].sum())
    bound = 0.5 / (total + 1.0)  # no number of correct predictions proves that none is wrong
    target = float(np.clip(out_of_fold.accuracy + out_of_fold.correction, bound, 1.0 - bound))
    shift = shift_to_mean(accuracy, leaf_sizes / leaf_sizes.sum(), target)
    accuracy = expit(logit(np.clip(accuracy, 1e-9, 1.0 - 1e-9)) + shift)
    strength_per_row = leaf_strength(
        out_of_fold.leaf[tested],
        correct[tested],
        calibration(features),
        out_of_fold.leaf_rows[tested],
    )
    return accuracy, strength_per_row * (n_rows + 1.0)

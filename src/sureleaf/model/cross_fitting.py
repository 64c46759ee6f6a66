"""Hits and misses of every row by trees that did not see it, and what they say about each node.

All rows grow the tree; k more trees, each grown without one fold, predict that fold. Two further
trees on half the folds each show how accuracy grows with rows, which corrects for the fold trees
having fewer rows than the tree itself.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sureleaf.model.leaf_calibration import anchor, fit_curve, leaf_features, leaf_strength
from sureleaf.progress import track
from sureleaf.table import EncodedTable
from sureleaf.tree import TrainingRows, Tree, mixture, route

__all__ = ["CrossFit", "NodeHits", "Predictions", "cross_fit", "node_hits", "take_rows"]


FloatArray = NDArray[np.float64]

Predictions = Callable[[Tree], FloatArray]
"""From a tree to the class probabilities of its nodes."""

_OWN_ROWS = 30.0
"""A leaf's own cross-fitted hits count against the curve's rate as if that were so many rows."""


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What trees that had not seen the rows said about them.

    Parameters
    ----------
    hits : ndarray of float64, shape (n_rows,)
        1 if the row was predicted right, 0 if not, NaN if no fold tested it.
    looks : ndarray of float64, shape (n_rows, n_looks)
        What the leaf looked like that predicted it.
    leaves : ndarray of int64, shape (n_rows,)
        A number for that leaf, unlike those of other folds; -1 if no fold tested the row.
    leaf_rows : ndarray of float64, shape (n_rows,)
        Growing rows of that leaf.
    accuracy : float
        Share of hits; NaN if no row was tested.
    correction : float
        What the accuracy is expected to gain by the rows that the fold trees lacked.

    Examples
    --------
    >>> nothing = np.empty(0)
    >>> CrossFit(np.array([1.0, 0.0]), nothing, nothing, nothing, 0.5, correction=0.0).accuracy
    0.5
    """

    hits: FloatArray
    looks: FloatArray
    leaves: NDArray[np.int64]
    leaf_rows: FloatArray
    accuracy: float
    correction: float


@dataclass(frozen=True, eq=False)
class NodeHits:
    """How often each node of a tree is right about rows it has not seen.

    Parameters
    ----------
    rates : ndarray of float64, shape (n_nodes,)
        Hit rate of the node's own prediction; over the leaves, the share-weighted mean is the
        corrected cross-fitted accuracy.
    strengths : ndarray of float64, shape (n_nodes,), or None
        How many rows the rate is known by; None for as many as the node has.

    Examples
    --------
    >>> NodeHits(rates=np.array([0.8, 0.9]), strengths=None).rates.tolist()
    [0.8, 0.9]
    """

    rates: FloatArray
    strengths: FloatArray | None


def take_rows(table: EncodedTable, rows: NDArray[np.intp]) -> EncodedTable:
    """Keep some rows of an encoded table.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> take_rows(read_table([[1.0], [2.0], [3.0]]), np.array([2])).columns[0].tolist()
    [3.0]
    """
    columns = tuple(np.ascontiguousarray(column[rows]) for column in table.columns)
    return EncodedTable(table.schema, columns, len(rows))


def predicted_class(probabilities: FloatArray) -> NDArray[np.intp]:
    """Find the first class whose probability is the largest, but for rounding of a mixture.

    Examples
    --------
    >>> predicted_class(np.array([[0.3, 0.7], [0.5, 0.5 + 1e-15]])).tolist()
    [1, 0]
    """
    largest = probabilities.max(axis=1, keepdims=True)
    first: NDArray[np.intp] = (probabilities >= largest - 1e-12).argmax(axis=1)
    return first


def cross_fit(
    rows: TrainingRows,
    fold_of: NDArray[np.int64],
    build: Callable[[TrainingRows], Tree],
    predictions: Predictions,
    *,
    n_threads: int = 1,
) -> CrossFit:
    """Grow a tree without each fold and let it predict the fold.

    Parameters
    ----------
    rows : TrainingRows
        All rows; what is encoded and sorted is shared by all trees.
    fold_of : ndarray of int64, shape (n_rows,)
        The fold that tests each row, -1 for none.
    build : callable
        From weighted rows to a tree.
    predictions : callable
        From a tree to the class probabilities of its nodes.
    n_threads : int
        Trees grown at a time.

    Returns
    -------
    CrossFit

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> from sureleaf.tree import GrowthRules, grow
    >>> table = read_table([[float(i)] for i in range(12)])
    >>> rows = TrainingRows(table, np.repeat([0, 1], 6).astype(np.int32), 2)
    >>> found = cross_fit(rows, np.arange(12) % 3, lambda part: grow(part, GrowthRules()),
    ...                   lambda tree: tree.counts_or_parent)
    >>> found.hits.tolist()
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

    def predict_part(part: NDArray[np.bool_]) -> _Part | None:
        return _predict_part(rows, weights, part, build, predictions)

    with ThreadPoolExecutor(n_threads) as pool:
        every = [*parts, *halves]
        work = pool.map(predict_part, every)
        found = list(track(work, total=len(every), what="Cross-fitting"))
    result = _join(rows, found[: len(parts)])
    accuracy = _share_of_hits(result[0], weights)
    half = _share_of_hits(_join(rows, found[len(parts) :])[0], weights)
    seen = 1.0 - sum((weights[part].sum() / weights.sum()) ** 2 for part in parts)
    return CrossFit(*result, accuracy, _missing_rows(accuracy, half, float(seen)))


_Part = tuple[NDArray[np.intp], FloatArray, FloatArray, NDArray[np.int64], FloatArray]


def _predict_part(
    rows: TrainingRows,
    weights: FloatArray,
    part: NDArray[np.bool_],
    build: Callable[[TrainingRows], Tree],
    predictions: Predictions,
) -> _Part | None:
    """Rows of the part, their hits and looks, leaves and growing rows; None if none are left."""
    train = rows.with_weights(np.where(part, 0.0, weights))
    places = np.flatnonzero(part)
    if not train.total_weight or not len(places):
        return None
    tree = build(train)
    probabilities = predictions(tree)
    looks = leaf_features(tree, predicted_class(probabilities))
    grown = tree.class_counts.sum(axis=1, keepdims=True)
    test = take_rows(rows.table, places)
    values = mixture(tree, test, np.hstack([probabilities, looks, grown]))
    n_classes = rows.n_classes
    hits = predicted_class(values[:, :n_classes]) == rows.labels[places]
    leaves = route(tree, test).heaviest()
    return places, hits.astype(float), values[:, n_classes:-1], leaves, values[:, -1]


def _join(
    rows: TrainingRows, parts: list[_Part | None]
) -> tuple[FloatArray, FloatArray, NDArray[np.int64], FloatArray]:
    n_rows, there = len(rows.labels), [part for part in parts if part is not None]
    hits, leaf_rows = np.full(n_rows, np.nan), np.zeros(n_rows)
    looks = np.zeros((n_rows, there[0][2].shape[1] if there else 0))
    leaves = np.full(n_rows, -1, dtype=np.int64)
    first = 0
    for places, hit, look, leaf, grown in there:
        hits[places], looks[places], leaf_rows[places] = hit, look, grown
        leaves[places] = leaf + first
        first += int(leaf.max()) + 1
    return hits, looks, leaves, leaf_rows


def _share_of_hits(hits: FloatArray, weights: FloatArray) -> float:
    known = ~np.isnan(hits)
    total = float(weights[known].sum())
    return float(weights[known] @ hits[known]) / total if total else np.nan


def _missing_rows(accuracy: float, half: float, seen: float) -> float:
    """Extrapolate from half the rows over the share seen to all rows.

    Accuracy is taken to grow with the logarithm of the rows, which fits learning curves of trees
    a little better between 90 and 100 % than a root or an inverse.
    """
    if np.isnan(accuracy + half) or not 0.5 < seen < 1.0:
        return 0.0
    gain = float(np.log(1.0 / seen) / np.log(seen / 0.5))
    return (accuracy - half) * gain


def node_hits(
    tree: Tree,
    rows: TrainingRows,
    predicted: NDArray[np.intp],
    n_rows: FloatArray,
    found: CrossFit,
) -> NodeHits:
    """Hit rate of every node of the tree that was grown on all rows.

    The curve of held-out rows gives a rate by the looks of a node. In a leaf, the cross-fitted
    hits of its own rows are added to it: they are many in large leaves, where it hardly matters
    that a leaf was drawn around its rows' classes. Then all are shifted so that the leaves
    together state the cross-fitted accuracy.

    Parameters
    ----------
    tree : Tree
        The tree.
    rows : TrainingRows
        The rows it was grown on.
    predicted : ndarray of int, shape (n_nodes,)
        The class that each node predicts.
    n_rows : ndarray of float64, shape (n_nodes,)
        Rows of each node, or effective rows.
    found : CrossFit
        Of the same rows.

    Returns
    -------
    NodeHits

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[float(i)] for i in range(12)], [0] * 6 + [1] * 6)
    >>> bool(model.leaves().utility.min() > 0.9)
    True
    """
    weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
    tested = ~np.isnan(found.hits) & (weights > 0)
    if not tested.any():
        return NodeHits(np.full(tree.n_nodes, 1.0 / rows.n_classes), np.ones(tree.n_nodes))
    curve = fit_curve(found.looks[tested], found.hits[tested], weights[tested])
    rates = curve(leaf_features(tree, predicted))
    routes = route(tree, rows.table)
    row = routes.rows()
    weight = np.where(tested, weights, 0.0)[row] * routes.shares
    own = np.bincount(routes.nodes, weight, tree.n_nodes)
    hit = np.bincount(routes.nodes, weight * np.where(tested, found.hits, 0.0)[row], tree.n_nodes)
    rates = (hit + _OWN_ROWS * rates) / (own + _OWN_ROWS)
    sizes = np.where(tree.is_leaf, tree.class_counts.sum(axis=1), 0.0)
    total = float(weights[tested].sum())
    bound = 0.5 / (total + 1.0)  # no number of hits proves that there are no misses
    target = float(np.clip(found.accuracy + found.correction, bound, 1.0 - bound))
    shift = anchor(rates, sizes / sizes.sum(), target)
    rates = expit(logit(np.clip(rates, 1e-9, 1.0 - 1e-9)) + shift)
    worth = leaf_strength(
        found.leaves[tested],
        found.hits[tested],
        curve(found.looks[tested]),
        found.leaf_rows[tested],
    )
    return NodeHits(rates, worth * (n_rows + 1.0))

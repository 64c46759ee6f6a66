"""How accurate each node of a tree is on unseen rows, estimated from out-of-fold predictions.

Every out-of-fold row fell into a leaf of a tree that was grown without it, and was predicted
correctly or not. The features of that leaf (the share of its predicted class among the growing
rows, shrunk weakly and strongly towards the nodes above it) tell how accurate such leaves are: a
logistic curve of two terms, the leaf calibration.

Honest trees need no such curve, because their counts come from rows that did not grow them:
`honest_accuracy` only shrinks these counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit, logit

from sureleaf.tree import Tree

__all__ = [
    "LeafCalibration",
    "fit_leaf_calibration",
    "honest_accuracy",
    "leaf_features",
    "leaf_strength",
    "shift_to_mean",
    "shrink_to_parent",
]


FloatArray = NDArray[np.float64]

_FEATURE_STRENGTHS = (1.0, 30.0)
"""Rows that a node borrows from its parent: hardly any, and many. The curve weighs the two."""

_HONEST_STRENGTHS = 2.0 ** np.arange(-1, 10)
"""Rows that an honest node may borrow from its parent; the most likely number is taken."""

_SHARE_MARGIN = 1e-4
"""Shares are kept this far from 0 and 1 before the logarithm."""


def shrink_to_parent(
    tree: Tree, counts: FloatArray, strength: float, *, leave_out: float = 0.0
) -> FloatArray:
    """Return the class shares of every node, each with `strength` rows of its parent's added.

    With ``leave_out=1`` the share of a class is what the other rows say about a row of that class
    in the node: one such row is left out of the node and of all nodes above it.
    """
    totals = np.maximum(counts.sum(axis=1, keepdims=True) - leave_out, 0.0)
    counts = np.maximum(counts - leave_out, 0.0)
    shares = np.empty(counts.shape)
    shares[0] = (counts[0] + 1.0 / counts.shape[1]) / (totals[0] + 1.0)
    depth = tree.node_depth
    order = np.argsort(depth, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]:
        above = shares[tree.parent[nodes]]
        shares[nodes] = (counts[nodes] + strength * above) / (totals[nodes] + strength)
    return shares


def leaf_features(tree: Tree, predicted: NDArray[np.intp]) -> FloatArray:
    """Return the log odds of the predicted class of every node, shrunk weakly and strongly."""
    nodes = np.arange(tree.n_nodes)
    shares = [
        shrink_to_parent(tree, tree.class_counts, strength)[nodes, predicted]
        for strength in _FEATURE_STRENGTHS
    ]
    features: FloatArray = logit(
        np.clip(np.column_stack(shares), _SHARE_MARGIN, 1.0 - _SHARE_MARGIN)
    )
    return features


@dataclass(frozen=True)
class LeafCalibration:
    """A logistic curve: the accuracy of a leaf on unseen rows, given the leaf's features.

    Parameters
    ----------
    constant : float
        Log odds where all features are 0.
    slopes : tuple of float
        Change of the log odds per unit of each feature.

    Examples
    --------
    >>> LeafCalibration(0.0, (1.0, 0.0))(np.array([[0.0, 5.0]]))
    array([0.5])
    """

    constant: float
    slopes: tuple[float, ...]

    def __call__(self, features: FloatArray) -> FloatArray:
        """Return the accuracy of each leaf, one row of features per leaf."""
        accuracy: FloatArray = expit(self.constant + features @ np.array(self.slopes))
        return accuracy


def fit_leaf_calibration(
    features: FloatArray, correct: FloatArray, weights: FloatArray
) -> LeafCalibration:
    """Fit the curve to out-of-fold rows, with a unit ridge on slopes of standardised features.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_features)
        Features of the leaf that predicted each row.
    correct : ndarray of shape (n_rows,)
        1 if that prediction is correct, 0 if not.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    """
    from scipy.optimize import minimize  # takes a tenth of a second, which a fit need not wait for

    total = weights.sum()
    rate = float(np.clip((weights * correct).sum(), 0.5, max(total - 0.5, 0.5))) / max(total, 1.0)
    center = weights @ features / total
    scale = np.sqrt(weights @ (features - center) ** 2 / total)
    scale = np.where(scale > 1e-9, scale, np.inf)
    scaled = np.column_stack([np.ones(len(features)), (features - center) / scale])
    if correct.min() == correct.max():  # the features distinguish nothing; the curve is flat
        return LeafCalibration(float(logit(rate)), (0.0,) * features.shape[1])

    def loss(terms: FloatArray) -> tuple[float, FloatArray]:
        odds = scaled @ terms
        misfit = weights @ (np.logaddexp(0.0, odds) - correct * odds)
        slope = scaled.T @ (weights * (expit(odds) - correct))
        slope[1:] += terms[1:]
        return float(misfit + 0.5 * terms[1:] @ terms[1:]), slope

    start = np.concatenate([[logit(rate)], np.zeros(features.shape[1])])
    bounds = [(None, None), *[(0.0, None)] * features.shape[1]]  # purer leaves are not worse
    terms = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = terms[1:] / scale
    return LeafCalibration(float(terms[0] - slopes @ center), tuple(slopes.tolist()))


def shift_to_mean(accuracy: FloatArray, shares: FloatArray, target: float) -> float:
    """Return the shift of all log odds that makes the share-weighted mean accuracy the target."""
    odds = logit(np.clip(accuracy, 1e-9, 1.0 - 1e-9))
    low, high = -60.0, 60.0
    for _ in range(64):
        middle = (low + high) / 2
        if shares @ expit(odds + middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def leaf_strength(
    leaf: NDArray[np.intp], correct: FloatArray, accuracy: FloatArray, leaf_rows: FloatArray
) -> float:
    """Return how many rows of knowledge about a leaf's accuracy one growing row is worth.

    Predictions of rows in the same leaf are more often correct, or wrong, together than the curve
    explains. Their number is taken as beta-binomial with strength ``c * (leaf_rows + 1)``, c a
    power of two from 1/64 to 1 (no leaf is known better than its own rows could tell), all values
    of c equally probable beforehand. The result is the inverse of the posterior mean of 1 / c,
    since variances are proportional to 1 / c.

    Parameters
    ----------
    leaf : ndarray of int, shape (n_rows,)
        A number for the leaf of each out-of-fold row.
    correct, accuracy, leaf_rows : ndarray of shape (n_rows,)
        Whether the row is predicted correctly, the accuracy that the curve gives its leaf, and
        the growing rows of that leaf.
    """
    _, index = np.unique(leaf, return_inverse=True)
    total = np.bincount(index).astype(float)
    n_correct = np.bincount(index, correct)
    rate = np.clip(np.bincount(index, accuracy) / total, 1e-6, 1 - 1e-6)
    grown = np.bincount(index, leaf_rows) / total
    candidates = 2.0 ** np.arange(-6, 1)

    def log_likelihood(c: float) -> float:
        a, b = c * (grown + 1.0) * rate, c * (grown + 1.0) * (1.0 - rate)
        return float((betaln(a + n_correct, b + total - n_correct) - betaln(a, b)).sum())

    likelihoods = np.array([log_likelihood(c) for c in candidates])
    posterior = np.exp(likelihoods - likelihoods.max())
    return float(posterior.sum() / (posterior @ (1.0 / candidates)))


def honest_accuracy(tree: Tree, predicted: NDArray[np.intp]) -> FloatArray:
    """Return the accuracy of every node from counts of rows that did not grow the tree.

    It is the share of the predicted class, with some rows of the parent's shares added: as many
    as make each counted row most likely given the others.

    Parameters
    ----------
    tree : Tree
        With counts of rows that did not grow it.
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.
    """
    leaves, counts = tree.leaf_ids, tree.class_counts

    def log_likelihood(strength: float) -> float:
        others = shrink_to_parent(tree, counts, strength, leave_out=1.0)[leaves]
        return float((counts[leaves] * np.log(np.maximum(others, 1e-12))).sum())

    likelihoods = [log_likelihood(strength) for strength in _HONEST_STRENGTHS]
    strength = float(_HONEST_STRENGTHS[int(np.argmax(likelihoods))])
    return shrink_to_parent(tree, counts, strength)[np.arange(tree.n_nodes), predicted]

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

from sureleaf import _kernel
from sureleaf.tree import Tree
from sureleaf.tree.structure import row_sums

__all__ = [
    "LeafCalibration",
    "LeafStrength",
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

_MAX_STEPS = 100
_SMALL_STEP = 1e-9
"""Newton's method ends with a smaller step."""

_SHARE_MARGIN = 1e-4
"""Shares are kept this far from 0 and 1 before the logarithm."""


def shrink_to_parent(
    tree: Tree, counts: FloatArray, strength: float, *, leave_out: float = 0.0
) -> FloatArray:
    """Return the class shares of every node, each with `strength` rows of its parent's added.

    With ``leave_out=1`` the share of a class is what the other rows say about a row of that class
    in the node: one such row is left out of the node and of all nodes above it.
    """
    totals = np.maximum(row_sums(counts) - leave_out, 0.0)
    counts = np.maximum(counts - leave_out, 0.0)
    root = (counts[0] + 1.0 / counts.shape[1]) / (totals[0] + 1.0)
    shares: FloatArray = _kernel.shrink_to_parent(tree.kernel, counts, totals, root, strength)
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
    total = weights.sum()
    rate = float(np.clip((weights * correct).sum(), 0.5, max(total - 0.5, 0.5))) / max(total, 1.0)
    n_features = features.shape[1]
    if correct.min() == correct.max():  # the features distinguish nothing; the curve is flat
        return LeafCalibration(float(logit(rate)), (0.0,) * n_features)
    center = weights @ features / total
    scale = np.sqrt(weights @ (features - center) ** 2 / total)
    varies = scale > 1e-9
    scale = np.where(varies, scale, 1.0)
    scaled = np.column_stack([np.ones(len(features)), (features - center) / scale])
    start = np.concatenate([[logit(rate)], np.zeros(n_features)])
    used = np.concatenate([[True], varies])
    terms = _ridge_terms(scaled, correct, weights, start, used)
    while (terms[1:] < 0).any():  # purer leaves are not worse
        used[1 + int(np.argmin(terms[1:]))] = False
        terms = _ridge_terms(scaled, correct, weights, start, used)
    slopes = terms[1:] / scale
    return LeafCalibration(float(terms[0] - slopes @ center), tuple(slopes.tolist()))


def _ridge_terms(
    scaled: FloatArray,
    correct: FloatArray,
    weights: FloatArray,
    start: FloatArray,
    used: NDArray[np.bool_],
) -> FloatArray:
    """Return constant and slopes by Newton's method, with a unit ridge on the slopes.

    The loss is convex; steps are halved while they increase it. Terms that are not used are 0.
    """
    design = scaled[:, used]
    ridge = np.concatenate([[0.0], np.ones(design.shape[1] - 1)])
    terms = start[used].copy()

    def loss(terms: FloatArray) -> float:
        odds = design @ terms
        misfit = weights @ (np.logaddexp(0.0, odds) - correct * odds)
        return float(misfit + 0.5 * ridge @ terms**2)

    now = loss(terms)
    for _ in range(_MAX_STEPS):
        p = expit(design @ terms)
        slope = design.T @ (weights * (p - correct)) + ridge * terms
        curvature = (design * (weights * p * (1.0 - p))[:, np.newaxis]).T @ design
        step = _solve(curvature + np.diag(ridge + 1e-9), slope)
        after = loss(terms - step)
        while after > now and np.abs(step).max() > _SMALL_STEP:
            step /= 2.0
            after = loss(terms - step)
        terms, now = terms - step, after
        if np.abs(step).max() <= _SMALL_STEP:
            break
    all_terms = np.zeros(len(start))
    all_terms[used] = terms
    return all_terms


def _solve(curvature: FloatArray, slope: FloatArray) -> FloatArray:
    """Solve for the step; beside weights of 1e18 rows and more, the ridge is rounded away."""
    try:
        return np.asarray(np.linalg.solve(curvature, slope), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(curvature, slope, rcond=None)[0], np.float64)


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


@dataclass(frozen=True)
class LeafStrength:
    """How many rows of knowledge about its accuracy a leaf of n growing rows has.

    Its inverse is ``per_row / (n + 1) + per_leaf``: one part decreases with the rows, the other
    is what leaves of any size differ by although their features are the same.

    Parameters
    ----------
    per_row, per_leaf : float
        The two parts.

    Examples
    --------
    >>> LeafStrength(2.0, 0.01)(np.array([9.0, 199.0]))
    array([ 4.76190476, 50.        ])
    """

    per_row: float
    per_leaf: float

    def __call__(self, n: FloatArray) -> FloatArray:
        """Return the strength of leaves of n rows."""
        strength: FloatArray = 1.0 / (self.per_row / (n + 1.0) + self.per_leaf)
        return strength


_ROW_SHARES = 2.0 ** np.arange(-4, 1)
"""Rows of knowledge per growing row: a leaf is not known better than its own rows could tell."""

_LEAF_STRENGTHS = 2.0 ** np.arange(3, 10)
"""Rows of knowledge that a leaf of any number of rows has at most."""


def leaf_strength(
    leaf: NDArray[np.intp],
    correct: FloatArray,
    accuracy: FloatArray,
    leaf_rows: FloatArray,
    weights: FloatArray,
) -> LeafStrength:
    """Estimate how well the curve knows the accuracy of single leaves.

    Predictions of rows in the same leaf are more often correct, or wrong, together than the curve
    explains. Their number is taken as beta-binomial. All combinations of the two parts of the
    strength are equally probable beforehand; the result has their posterior means, since
    variances are proportional to them.

    Parameters
    ----------
    leaf : ndarray of int, shape (n_rows,)
        A number for the leaf of each out-of-fold row.
    correct, accuracy, leaf_rows : ndarray of shape (n_rows,)
        Whether the row is predicted correctly, the accuracy that the curve gives its leaf, and
        the growing rows of that leaf.
    weights : ndarray of shape (n_rows,)
        How many rows each row counts for. The accuracy is that of weighted rows, so rows that
        count alike would look as if leaves varied.

    Returns
    -------
    LeafStrength
    """
    _, index = np.unique(leaf, return_inverse=True)
    total = np.bincount(index, weights)
    n_correct = np.bincount(index, weights * correct)
    rate = np.clip(np.bincount(index, weights * accuracy) / total, 1e-6, 1 - 1e-6)
    grown = np.bincount(index, weights * leaf_rows) / total
    per_row, per_leaf = (
        part.reshape(-1, 1) for part in np.meshgrid(1.0 / _ROW_SHARES, 1.0 / _LEAF_STRENGTHS)
    )
    strength = 1.0 / (per_row / (grown + 1.0) + per_leaf)
    a, b = strength * rate, strength * (1.0 - rate)
    likelihoods = (betaln(a + n_correct, b + (total - n_correct)) - betaln(a, b)).sum(axis=1)
    posterior = np.exp(likelihoods - likelihoods.max())
    posterior /= posterior.sum()
    return LeafStrength(float(posterior @ per_row[:, 0]), float(posterior @ per_leaf[:, 0]))


def honest_accuracy(tree: Tree, predicted: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the accuracy of every node from counts of rows that did not grow the tree.

    It is the share of the predicted class, with some rows of the parent's shares added: as many
    as make each counted row most likely given the others.

    Parameters
    ----------
    tree : Tree
        With counts of rows that did not grow it.
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.

    Returns
    -------
    accuracy, strength : ndarray of float64, shape (n_nodes,)
        The strength is the number of rows that the accuracy is known by: counted and added.
    """
    leaves, counts = tree.leaf_ids, tree.class_counts

    def log_likelihood(strength: float) -> float:
        others = shrink_to_parent(tree, counts, strength, leave_out=1.0)[leaves]
        return float((counts[leaves] * np.log(np.maximum(others, 1e-12))).sum())

    likelihoods = [log_likelihood(strength) for strength in _HONEST_STRENGTHS]
    added = float(_HONEST_STRENGTHS[int(np.argmax(likelihoods))])
    accuracy = shrink_to_parent(tree, counts, added)[np.arange(tree.n_nodes), predicted]
    strength: FloatArray = counts.sum(axis=1) + added
    strength[0] = counts[0].sum() + 1.0  # the root has no parent, and one row of all classes
    return accuracy, strength

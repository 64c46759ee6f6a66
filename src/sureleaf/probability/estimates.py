"""The probability that a leaf states for each class, from the counts of that leaf alone.

`sureleaf.probability.shrinkage` has the estimates that look at the nodes above a leaf, too.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import estimate_p_max
from sureleaf.tree import Tree

__all__ = ["Blend", "Frequency", "Jeffreys", "Laplace", "LeafEstimate", "MEstimate"]


class LeafEstimate(Protocol):
    """From the class counts of a tree's nodes to class probabilities.

    Examples
    --------
    >>> class Even:
    ...     def __call__(self, tree, counts):
    ...         return np.full(counts.shape, 1 / counts.shape[1])
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate=Even()).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.5, 0.5]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate; `counts` and the result have a line a node, leaves and inner nodes."""
        ...


@dataclass(frozen=True)
class Frequency:
    """The share of each class: k / n. An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="frequency").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[1.0, 0.0]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts))


@dataclass(frozen=True)
class Laplace:
    """One row of each class added: (k + 1) / (n + K). An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="laplace").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.75, 0.25]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts) + 1.0)


@dataclass(frozen=True)
class Jeffreys:
    """Half a row of each class added: (k + 1/2) / (n + K/2), the mean under Jeffreys' prior.

    An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="jeffreys").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        return _shares(tree.fill_empty(counts) + 0.5)


@dataclass(frozen=True)
class MEstimate:
    """m rows in the proportions of the whole table added: (k + b m) / (n + m), b the base rate.

    Parameters
    ----------
    m : float, optional
        How many rows; C5.0 uses 1. By default so many that b m = 10 for the rarest class that
        there is, as is usual since Zadrozny and Elkan (2001).

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="m_estimate").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).round(4).tolist()
    [[0.5455, 0.4545]]
    >>> model.with_leaf_estimate(MEstimate(m=1)).predict_proba([[1]]).round(4).tolist()
    [[0.8333, 0.1667]]
    """

    m: float | None = None

    def __post_init__(self) -> None:
        if self.m is not None and not 0 <= self.m < np.inf:
            raise InvalidArgumentError(
                f"m must be a number of rows, 0 or more; got {self.m!r}. C5.0 uses 1."
            )

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        base_rates = _shares(counts[:1])
        m = 10.0 / base_rates[base_rates > 0].min() if self.m is None else self.m
        # An empty leaf has the base rates; with m = 0 it has its parent's counts.
        return _shares(tree.fill_empty(counts) if m == 0 else counts + m * base_rates)


@dataclass(frozen=True)
class Blend:
    """The entropic blend of `sureleaf.levels`, (20) and (21), for the most frequent class.

    With more than two classes this is our extension: the most frequent class and the runner-up
    share their rows as two classes would, and classes that are runners-up together gain alike;
    the others keep their shares. An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> rows, classes = [[place] for place in range(7)], [1, 1, 1, 0, 0, 1, 1]
    >>> model = TreeClassifier(max_depth=0, leaf_estimate="blend").fit(rows, classes)
    >>> model.predict_proba([[0]]).round(4).tolist()  # 5 of 7
    [[0.2993, 0.7007]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        shares = _shares(tree.fill_empty(counts))
        if shares.shape[1] < 2:
            return shares
        total = tree.fill_empty(counts).sum(axis=1)
        line = np.arange(len(shares))
        winner = shares.argmax(axis=1)
        others = shares.copy()
        others[line, winner] = -1.0
        second = others.max(axis=1)
        first = shares[line, winner]
        p_max = np.asarray(estimate_p_max(first * total, (first + second) * total))
        moved = np.maximum(first - (first + second) * p_max, 0.0)
        is_second = others == second[:, np.newaxis]
        shares += is_second * (moved / is_second.sum(axis=1))[:, np.newaxis]
        shares[line, winner] -= moved
        return shares


def _shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide each line by its sum; a tree without any rows says that all classes are alike."""
    total = weights.sum(axis=1, keepdims=True)
    even = np.full(weights.shape, 1.0 / weights.shape[1])
    shares: NDArray[np.float64] = np.divide(weights, total, out=even, where=total > 0)
    return shares

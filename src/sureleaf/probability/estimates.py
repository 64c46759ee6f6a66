"""The probability that a leaf states for each class."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.tree import Tree

__all__ = ["ESTIMATES", "Frequency", "Laplace", "LeafEstimate", "find_estimate"]


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
        filled = tree.fill_empty(counts)
        shares: NDArray[np.float64] = filled / filled.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True)
class Laplace:
    """One row of each class added: (k + 1) / (n + C). An empty leaf has its parent's counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="laplace").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.75, 0.25]]
    """

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        filled = tree.fill_empty(counts) + 1.0
        shares: NDArray[np.float64] = filled / filled.sum(axis=1, keepdims=True)
        return shares


ESTIMATES: dict[str, LeafEstimate] = {
    "auto": Laplace(),
    "frequency": Frequency(),
    "laplace": Laplace(),
}
"""The estimates that go by a name."""


def find_estimate(estimate: object) -> LeafEstimate:
    """Look up an estimate by its name, or take an object that is one.

    Examples
    --------
    >>> find_estimate("laplace")
    Laplace()
    """
    if isinstance(estimate, str):
        if estimate not in ESTIMATES:
            names = ", ".join(ESTIMATES)
            raise InvalidArgumentError(
                f"leaf_estimate must be one of {names}, or an object called with a tree and its "
                f"counts; got {estimate!r}."
            )
        return ESTIMATES[estimate]
    if not callable(estimate):
        raise InvalidArgumentError(
            "leaf_estimate must be a name or an object called with a tree and its counts; got "
            f"{type(estimate).__name__}."
        )
    found: LeafEstimate = estimate
    return found

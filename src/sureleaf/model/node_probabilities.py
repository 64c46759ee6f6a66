"""What the nodes of a tree state, found when it is first asked for."""

import numpy as np
from numpy.typing import NDArray

from sureleaf.probability.estimates import ESTIMATES, KeepMajority, LeafEstimate
from sureleaf.tree import Tree

__all__ = ["NodeProbabilities"]


class NodeProbabilities:
    """The class probabilities of a tree's nodes.

    Those of our own estimates are found when they are first asked for, and kept. Somebody else's
    estimate is asked at once, because it may fail.

    Parameters
    ----------
    tree : Tree
        The tree.
    estimate : LeafEstimate
        Called with the tree and its counts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.probability import Laplace
    >>> tree = TreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1]).tree_
    >>> NodeProbabilities(tree, Laplace()).values[1].tolist()
    [0.75, 0.25]
    """

    def __init__(self, tree: Tree, estimate: LeafEstimate) -> None:
        self._tree, self._estimate = tree, estimate
        if not _is_ours(estimate):
            _ = self.values

    @classmethod
    def known(cls, values: NDArray[np.float64]) -> "NodeProbabilities":
        """Hold probabilities that are known already."""
        stated = cls.__new__(cls)
        stated.__dict__["_values"] = values
        return stated

    @property
    def values(self) -> NDArray[np.float64]:
        """A line a node, always the same array."""
        if "_values" not in self.__dict__:
            # Of two threads that ask at the same time both get what the first has found.
            found = self._estimate(self._tree, self._tree.class_counts)
            self.__dict__.setdefault("_values", found)
        values: NDArray[np.float64] = self.__dict__["_values"]
        return values

    def __getstate__(self) -> dict[str, object]:
        return {"_values": self.values}


def _is_ours(estimate: LeafEstimate) -> bool:
    if type(estimate) is KeepMajority:
        return _is_ours(estimate.estimate)
    return type(estimate) in _OURS


_OURS = {type(estimate) for estimate in ESTIMATES.values()} - {KeepMajority}

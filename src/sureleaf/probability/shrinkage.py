"""Leaf estimates that look at the nodes above a leaf, too."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sureleaf import _kernel
from sureleaf.errors import InvalidArgumentError
from sureleaf.tree import Tree
from sureleaf.tree.structure import row_sums

__all__ = ["Averaging", "Shrinkage", "nodes_by_depth"]

_MANY = 256


def nodes_by_depth(tree: Tree) -> Iterator[NDArray[np.int32]]:
    """Go through the nodes of a tree level by level, the root first.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> [nodes.tolist() for nodes in nodes_by_depth(model.tree_)]
    [[0], [1, 2]]
    """
    n_branches = np.diff(tree.child_offset)
    nodes = np.zeros(1, dtype=np.int32)
    while len(nodes):
        yield nodes
        inner = nodes[n_branches[nodes] > 0]
        sizes = n_branches[inner]
        first = np.repeat(tree.child_offset[inner] - np.cumsum(sizes) + sizes, sizes)
        nodes = tree.children[first + np.arange(len(first))]


@dataclass(frozen=True)
class Shrinkage:
    """A leaf's rows and some of its parent's opinion, which is shrunk likewise up to the root.

    p(node) = (k + strength p(parent)) / (n + strength); the root's parent holds all classes to be
    alike.

    Parameters
    ----------
    strength : float
        How many rows the parent's opinion counts for.

    References
    ----------
    .. [1] Ferri, C., Flach, P. A., Hernandez-Orallo, J. (2003). Improving the AUC of
       probabilistic estimation trees. ECML, 121-132.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate=Shrinkage(2)).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> model.predict_proba([[1]]).tolist()
    [[0.75, 0.25]]
    """

    strength: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.strength < np.inf:
            raise InvalidArgumentError(
                f"strength must be a number of rows above 0; got {self.strength!r}. "
                "Without shrinkage leaves have their frequencies: leaf_estimate='frequency'."
            )

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        above = np.full(counts.shape, 1.0 / counts.shape[1])
        found = np.empty(counts.shape)
        total = counts.sum(axis=1, keepdims=True) + self.strength
        for nodes in nodes_by_depth(tree):
            if nodes[0] > 0:
                above[nodes] = found[tree.parent[nodes]]
            found[nodes] = (counts[nodes] + self.strength * above[nodes]) / total[nodes]
        found /= found.sum(axis=1, keepdims=True)
        return found


@dataclass(frozen=True)
class Averaging:
    """The mean over all prunings of the tree, each weighed by how well it explains the rows.

    A leaf's way to the root holds all leaves that it could be pruned to. Each of those states
    (k + a) / (n + K a), and counts by the posterior probability that the tree ends there: a
    Bayesian average over all subtrees, found exactly in one pass up and one down (the context
    tree weighting of Willems et al.; Buntine's averaging of trees). A split was chosen among many,
    so it has to explain more: its prior odds against a leaf are 1 to sqrt(n J) with n rows and J
    columns.

    Parameters
    ----------
    added : float, optional
        a, the rows of each class that every node starts with. By default 1 / K, one row in all:
        with two classes this is Jeffreys' prior.
    charge : float
        The power of n J that a split is charged: 0 for none, 1 for all cuts that there could be.

    References
    ----------
    .. [1] Buntine, W. (1992). Learning classification trees. Statistics and Computing 2, 63-73.
    .. [2] Willems, F., Shtarkov, Y., Tjalkens, T. (1995). The context-tree weighting method. IEEE
       Transactions on Information Theory 41, 653-664.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X, y = [[place] for place in range(40)], [0] * 20 + [1] * 20
    >>> sure = TreeClassifier(leaf_estimate="averaging").fit(X, y)
    >>> sure.predict_proba([[3]]).round(3).tolist()  # Laplace says 0.955
    [[0.976, 0.024]]
    >>> few = TreeClassifier(leaf_estimate="averaging").fit(X[18:22], y[18:22])
    >>> few.predict_proba([[0]]).round(3).tolist()  # as Laplace
    [[0.75, 0.25]]
    """

    added: float | None = None
    charge: float = 0.5

    def __post_init__(self) -> None:
        if self.added is not None and not 0 < self.added < np.inf:
            raise InvalidArgumentError(
                f"added must be a number of rows above 0; got {self.added!r}. Jeffreys has 0.5."
            )
        if not 0 <= self.charge < np.inf:
            raise InvalidArgumentError(
                f"charge must be a power, 0 or more; got {self.charge!r}. The default is 0.5."
            )

    def __call__(self, tree: Tree, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimate every node."""
        added = 1.0 / counts.shape[1] if self.added is None else self.added
        n = row_sums(counts)
        all_added = counts.shape[1] * added
        as_leaf = (
            gammaln(all_added)
            - _log_gamma(n, all_added)
            + row_sums(_log_gamma(counts, added) - gammaln(added))
        )
        odds = self.charge * np.log(np.maximum(n * tree.n_columns, 1.0))
        found: NDArray[np.float64] = _kernel.average_prunings(
            tree.kernel,
            np.ascontiguousarray(counts, dtype=np.float64),
            as_leaf,
            -np.log1p(np.exp(-odds)),
            -np.log1p(np.exp(odds)),
            added,
        )
        return found


def _log_gamma(counts: NDArray[np.float64], added: float) -> NDArray[np.float64]:
    """``gammaln(counts + added)``; small whole counts, of which trees are full, are looked up."""
    places = np.minimum(counts, _MANY).astype(np.intp)
    found: NDArray[np.float64] = gammaln(np.arange(_MANY + 1) + added).take(places)
    others = np.nonzero((places == _MANY) | (places != counts))
    found[others] = gammaln(counts[others] + added)
    return found

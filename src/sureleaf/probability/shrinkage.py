"""Leaf estimates that also use the nodes above a leaf."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from sureleaf import _kernel
from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError
from sureleaf.tree import Tree
from sureleaf.tree.structure import row_sums

__all__ = ["Averaging", "Shrinkage"]

_TABLE_SIZE = 256


@dataclass(frozen=True)
class Shrinkage:
    """The shares of a leaf shrunk towards those of its parent, which are shrunk likewise.

    p(node) = (k + strength p(parent)) / (n + strength). Above the root all classes are equally
    probable.

    Parameters
    ----------
    strength : float
        How many rows the probabilities of the parent count for.

    References
    ----------
    Ferri, C., Flach, P. A., Hernandez-Orallo, J. (2003). Improving the AUC of
    probabilistic estimation trees. ECML, 121-132.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None, leaf_estimate=Shrinkage(2))
    >>> model = model.fit([[1], [2], [3], [4]], [0, 0, 1, 1])
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

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
        """Estimate every node."""
        n = row_sums(counts)
        root = (counts[0] + self.strength * (1.0 / counts.shape[1])) / (n[0] + self.strength)
        shrunk: FloatArray = _kernel.shrink_to_parent(
            tree.kernel, np.ascontiguousarray(counts), n, root, self.strength
        )
        shrunk /= row_sums(shrunk)[:, np.newaxis]
        return shrunk


@dataclass(frozen=True)
class Averaging:
    """The mean over all prunings of the tree, each weighted by how well it explains the rows.

    The path from a leaf to the root holds all nodes that the leaf could be pruned to. Each of them
    estimates (k + a) / (n + K a), weighted by the posterior probability that the tree ends there.
    This is a Bayesian average over all subtrees [1]_, computed exactly in one pass up and one pass
    down the tree [2]_. A split was chosen among many, so it has to explain more: its prior odds
    against a leaf are 1 to sqrt(n J), with n rows and J columns.

    Parameters
    ----------
    added : float, optional
        a, the rows of each class that are added to every node. By default 1 / K, one row in total;
        with two classes this is Jeffreys' prior.
    charge : float
        The power of n J in the prior odds against a split: 0 for none, 1 for all possible splits.

    References
    ----------
    .. [1] Buntine, W. (1992). Learning classification trees. Statistics and Computing 2, 63-73.
    .. [2] Willems, F., Shtarkov, Y., Tjalkens, T. (1995). The context-tree weighting method. IEEE
       Transactions on Information Theory 41, 653-664.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X, y = [[i] for i in range(40)], [0] * 20 + [1] * 20
    >>> sure = TreeClassifier(leaf_estimate="averaging").fit(X, y)
    >>> sure.predict_proba([[3]]).round(3).tolist()  # Laplace: 0.955
    [[0.976, 0.024]]
    >>> few = TreeClassifier(pruning=None, leaf_estimate="averaging").fit(X[18:22], y[18:22])
    >>> few.predict_proba([[0]]).round(3).tolist()  # as with Laplace
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

    def __call__(self, tree: Tree, counts: FloatArray) -> FloatArray:
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
        averaged: FloatArray = _kernel.average_prunings(
            tree.kernel,
            np.ascontiguousarray(counts, dtype=np.float64),
            as_leaf,
            -np.log1p(np.exp(-odds)),
            -np.log1p(np.exp(odds)),
            added,
        )
        return averaged


def _log_gamma(counts: FloatArray, added: float) -> FloatArray:
    """``gammaln(counts + added)``; most counts are small whole numbers, which are looked up."""
    index = np.minimum(counts, _TABLE_SIZE).astype(np.intp)
    values: FloatArray = gammaln(np.arange(_TABLE_SIZE + 1) + added).take(index)
    others = np.nonzero((index == _TABLE_SIZE) | (index != counts))
    values[others] = gammaln(counts[others] + added)
    return values

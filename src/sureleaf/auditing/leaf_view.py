"""A tree of any library as the leaves that rows fall into, and what it states in each."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["LeafView"]


@dataclass(frozen=True, eq=False)
class LeafView:
    """The leaves of one tree, and where the audited rows are in it.

    Parameters
    ----------
    leaf : ndarray of int, shape (n_leaves,)
        Numbers of the leaves in the tree's own library.
    stated : ndarray of float64, shape (n_leaves, n_classes)
        Class probabilities that the model states for a row in the leaf.
    shares : sparse array of shape (n_rows, n_leaves)
        Share of each row in each leaf; one leaf has all of it, but for rows with missing values
        in trees that divide them.
    rule : ndarray of str, shape (n_leaves,), or None
        The tests on the way to each leaf, if asked for.
    trained_on : ndarray of float64, shape (n_leaves,), or None
        How many rows each leaf held in training, if it says so.

    Examples
    --------
    >>> shares = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> view = LeafView(np.array([1, 2]), np.array([[0.9, 0.1], [0.2, 0.8]]), shares, None, None)
    >>> view.count(np.array([0, 1, 0]), 2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    leaf: NDArray[np.intp]
    stated: NDArray[np.float64]
    shares: sp.csr_array
    rule: NDArray[np.object_] | None
    trained_on: NDArray[np.float64] | None

    def count(self, codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
        """Count the rows of each class in each leaf."""
        indicator = sp.csr_array(
            (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes))
        )
        counts: NDArray[np.float64] = (indicator @ self.shares).toarray().T
        return np.ascontiguousarray(counts, dtype=np.float64)

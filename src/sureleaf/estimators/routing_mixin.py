"""Which leaves a row reaches, and the prediction that follows from them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.estimators.parameters import thread_count
from sureleaf.estimators.predicting_mixin import PredictingMixin
from sureleaf.table import EncodedTable, Schema, encode
from sureleaf.table.callers import warn_caller
from sureleaf.tree import Routes, Tree, mixture, route

__all__ = ["RoutingMixin"]


class RoutingMixin(PredictingMixin):
    """Predictions of a fitted tree, and the nodes that they come from.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> model.apply([[3], [30]]).tolist()
    [1, 2]
    """

    tree_: Tree
    schema_: Schema
    unseen: str
    n_jobs: int | None
    _probabilities: NDArray[np.float64]

    def _encode(self, X: Any, *, to_walk: bool = False) -> EncodedTable:
        if not hasattr(self, "schema_"):
            check_is_fitted(self)
        table = encode(X, self.schema_, estimator=type(self).__name__, to_walk=to_walk)
        if table.unseen_counts:
            counts = ", ".join(f"{name!r} ({n})" for name, n in table.unseen_counts.items())
            told = f"categories that were not there in training: column {counts}"
            if self.unseen == "error":
                raise InvalidArgumentError(
                    f"X must have the categories of the training rows; got {told}. Correct them, "
                    "or set unseen='mixture' or 'stop'."
                )
            does = "go down all branches" if self.unseen == "mixture" else "stop where they are met"
            warn_caller(f"X has {told}; they {does}.", UnseenCategoryWarning)
        return table

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``.

        Parameters
        ----------
        X : table
            As in fit; columns are found by name, further ones are ignored with a warning.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            A row with missing values has the mixture of its leaves' probabilities.
        """
        table = self._encode(X, to_walk=True)
        return mixture(
            self.tree_,
            table,
            self._probabilities,
            stop_at_unseen=self.unseen == "stop",
            n_threads=thread_count(self.n_jobs),
        )

    def _route(self, X: Any) -> Routes:
        return route(
            self.tree_, self._encode(X, to_walk=True), stop_at_unseen=self.unseen == "stop"
        )

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Find the leaf of each row, by node number; of several leaves the heaviest.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of int, shape (n_rows,)
        """
        return self._route(X).heaviest()

    def leaf_shares(self, X: Any) -> sp.csr_array:
        """Find the leaves of each row with its share in them, one or several leaves a row.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        sparse array of shape (n_rows, n_nodes)
            Rows sum to 1; a column is a node number.
        """
        routes = self._route(X)
        shape = (routes.n_rows, self.tree_.n_nodes)
        return sp.csr_array((routes.shares, routes.nodes, routes.offsets), shape=shape)

    def decision_path(self, X: Any) -> sp.csr_array:
        """Find all nodes that a row passes through, with its share in each.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        sparse array of shape (n_rows, n_nodes)
            Above 0 where the row passes; 1 at the root.
        """
        routes = self._route(X)
        rows, nodes, shares = routes.rows(), routes.nodes, routes.shares
        steps = []
        while len(nodes):  # all rows climb together, until the last has reached the root
            steps.append((rows, nodes, shares))
            above = self.tree_.parent[nodes]
            climbs = above >= 0
            rows, nodes, shares = rows[climbs], above[climbs], shares[climbs]
        if not steps:
            return sp.csr_array((0, self.tree_.n_nodes))
        rows, nodes, shares = (np.concatenate(part) for part in zip(*steps, strict=True))
        return sp.csr_array((shares, (rows, nodes)), shape=(routes.n_rows, self.tree_.n_nodes))

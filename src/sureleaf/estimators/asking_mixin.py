"""What the trees of a bag say of a row, together and how far apart."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf import _kernel
from sureleaf.estimators.out_of_bag import BagSums
from sureleaf.estimators.parameters import thread_count
from sureleaf.estimators.predicting_mixin import PredictingMixin
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.table import EncodedTable, Schema
from sureleaf.tree import Tree
from sureleaf.tree.growing import kernel_table

if TYPE_CHECKING:
    from sureleaf.estimators.calibrating import Calibration

__all__ = ["AskingMixin"]


class AskingMixin(PredictingMixin):
    """Predictions of fitted trees, each asked about every row.

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> X, y = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict([[3], [30]]).tolist()
    ['no', 'yes']
    """

    trees_: list[Tree]
    schema_: Schema
    n_jobs: int | None
    _template: TreeClassifier
    _probabilities: list[NDArray[np.float64]]
    _calibrator: "Calibration | None"

    def _ask(
        self,
        table: _kernel.KernelTable,
        *,
        is_asked: NDArray[np.uint8] | None = None,
        in_detail: bool,
    ) -> BagSums:
        values, squares, votes, imputed, n_trees = _kernel.predict_bags(
            [tree.kernel for tree in self.trees_],
            self._probabilities,
            is_asked,
            table,
            in_detail,
            self._template.unseen == "stop",
            thread_count(self.n_jobs),
        )
        return BagSums(values, squares, votes, imputed, n_trees)

    def _encode(self, X: Any) -> EncodedTable:
        check_is_fitted(self)
        reader = copy.copy(self._template)
        reader.schema_ = self.schema_
        reader.classes_ = self.classes_
        table: EncodedTable = reader._encode(X, to_walk=True)
        return table

    def _finish(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the mean probabilities into what the model states."""
        return means if self._calibrator is None else self._calibrator(means)

    def predict_proba(self, X: Any, *, voting: bool = False) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``.

        Parameters
        ----------
        X : table
            As in fit.
        voting : bool
            Give the share of the trees that predict each class, instead of the mean of their
            probabilities. Votes are not calibrated.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        sums = self._ask(kernel_table(self._encode(X)), in_detail=voting)
        return sums.mean(sums.votes) if voting else self._finish(sums.mean(sums.values))

    def predict_spread(self, X: Any) -> NDArray[np.float64]:
        """Say how far the trees are apart: the standard deviation of their probabilities.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self._ask(kernel_table(self._encode(X)), in_detail=True).spread()

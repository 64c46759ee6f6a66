"""The class that follows from probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PredictingMixin"]


class PredictingMixin:
    """Predictions of a model that states class probabilities.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.predict([[3], [30]]).tolist()
    ['no', 'yes']
    """

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, a column a class of ``classes_``."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row, the first one on ties.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        probabilities = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted

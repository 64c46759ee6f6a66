"""Rows that have a truth and a prediction, as codes."""

from dataclasses import dataclass

from sureleaf.evaluation.arguments import Floats, Integers

__all__ = ["Scored"]


@dataclass(frozen=True, eq=False)
class Scored:
    """Truth, prediction and probabilities of some rows, ready for a measure.

    Attributes
    ----------
    truth, prediction : ndarray of class codes
    probabilities : ndarray of shape (n, m), or None
    weights : ndarray or None
    cost : ndarray of shape (m, m) or (n, m, m), or None
    n_classes : int
    positive : int
        Code of the positive class.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Scored(np.array([0, 1]), np.array([0, 0]), None, None, None, 2, 1)
    >>> len(rows), rows.take(np.array([1, 1, 1])).truth.tolist()
    (2, [1, 1, 1])
    """

    truth: Integers
    prediction: Integers
    probabilities: Floats | None
    weights: Floats | None
    cost: Floats | None
    n_classes: int
    positive: int

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, rows: Integers) -> "Scored":
        """Return the rows of these numbers, some of them perhaps repeatedly."""
        cost = self.cost[rows] if self.cost is not None and self.cost.ndim == 3 else self.cost
        return Scored(
            self.truth[rows],
            self.prediction[rows],
            None if self.probabilities is None else self.probabilities[rows],
            None if self.weights is None else self.weights[rows],
            cost,
            self.n_classes,
            self.positive,
        )

"""Out-of-sample predictions, one line for each row and split that tested it."""

from dataclasses import dataclass
from typing import Any

from sureleaf.errors import MissingPackageError
from sureleaf.evaluation.arguments import Floats, Integers, Labels

__all__ = ["Predictions"]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was predicted for rows that the model had not seen.

    Attributes
    ----------
    row : ndarray of int
        Number of the row in the table that was judged.
    split : ndarray of int
        Number of the split whose model predicted it.
    truth, prediction : ndarray of labels
    probabilities : ndarray of shape (n, m), or None
        In the order of `classes`.
    classes : ndarray of m labels

    Examples
    --------
    >>> import numpy as np
    >>> some = Predictions(np.array([4]), np.array([0]), np.array(["a"]), np.array(["b"]),
    ...                    np.array([[0.4, 0.6]]), np.array(["a", "b"]))
    >>> len(some), list(some.to_pandas().columns)
    (1, ['row', 'split', 'truth', 'prediction', 'probability a', 'probability b'])
    """

    row: Integers
    split: Integers
    truth: Labels
    prediction: Labels
    probabilities: Floats | None
    classes: Labels

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        extra = "" if self.probabilities is None else f", probabilities of {len(self.classes)}"
        return f"Predictions({len(self)} of rows they were not fitted on{extra})"

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "row": self.row,
            "split": self.split,
            "truth": self.truth,
            "prediction": self.prediction,
        }
        if self.probabilities is not None:
            for code, label in enumerate(self.classes.tolist()):
                columns[f"probability {label}"] = self.probabilities[:, code]
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a polars data frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingPackageError("to_polars needs polars: pip install polars") from None
        return pl.DataFrame(self._columns())

"""What an estimator may offer so that fits on many parts of one table share their preparation.

A design fits a classifier on ten, or two hundred, parts of the same rows. An estimator that would
read and sort those rows again each time can have a method

    prepare_refits(X, y, sample_weight=None) -> Refits, or None where it has no quicker way

whose `Refits` fit on rows by number. The results must be those of ``clone(estimator).fit(X[train],
y[train])``; a `Refits` is shared by the threads that fit. Estimators without the method are cloned
and fitted on the rows themselves.
"""

from typing import Any, Protocol

from numpy.typing import NDArray

from sureleaf.evaluation.arguments import Floats, Integers
from sureleaf.evaluation.table import Table

__all__ = ["Refit", "Refits", "find_refits"]


class Refit(Protocol):
    """A model of some rows of the table, which predicts other rows of it by number.

    Attributes
    ----------
    classes_ : ndarray
        The classes of the rows that it was fitted on. It predicts the most probable one, the first
        on ties.

    Examples
    --------
    >>> import numpy as np
    >>> class Coin:
    ...     classes_ = np.array(["heads", "tails"])
    ...     def predict_proba(self, rows):
    ...         return np.full((len(rows), 2), 0.5)
    >>> coin: Refit = Coin()
    """

    classes_: NDArray[Any]

    def predict_proba(self, rows: Integers) -> Floats:
        """Return the probabilities of these rows, a column a class of ``classes_``."""


class Refits(Protocol):
    """A table read once, on whose parts an estimator is fitted.

    Attributes
    ----------
    n_threads : int
        How many threads the estimator may use.
    n_at_once : int
        How many fits may be under way together, on so many threads.

    Examples
    --------
    >>> import numpy as np
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(n_jobs=1)
    >>> refits: Refits = model.prepare_refits([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> refits.fit(model, np.array([0, 3, 3]), n_threads=1).classes_.tolist()
    ['a', 'b']
    """

    n_threads: int
    n_at_once: int

    def fit(self, estimator: Any, train: Integers, *, n_threads: int) -> Refit:
        """Fit on these rows, some of them perhaps repeatedly, by the estimator's parameters."""


def find_refits(estimator: Any, table: Table) -> Refits | None:
    """Ask the estimator to prepare refits on the table; None if it has none to offer.

    A table that it cannot read is none to offer: each fit will say what is wrong with its rows.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation.table import read_table
    >>> find_refits(DummyClassifier(), read_table([[1], [2]], ["a", "b"])) is None
    True
    """
    # Of the type: what wraps an estimator and hands on its attributes may fit in another way.
    prepare = getattr(type(estimator), "prepare_refits", None)
    if prepare is None:
        return None
    try:
        found: Refits | None = prepare(estimator, table.X, table.y, sample_weight=table.weights)
    except (ValueError, TypeError):
        return None
    return found

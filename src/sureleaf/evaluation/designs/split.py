"""One split of the rows, and what every design can do."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Integers, check_choice
from sureleaf.evaluation.designs.balance import balance

__all__ = ["Design", "Split", "check_units"]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to test on.

    Attributes
    ----------
    train, test : ndarray of row numbers
        A row drawn twice by a bootstrap is twice in train.
    repeat, fold : int
    without : int or None
        The second fold that a split of nested cross-validation leaves out, else None.

    Examples
    --------
    >>> split = Split(np.array([0, 1]), np.array([2]), repeat=0, fold=3)
    >>> split.fold, split.without is None
    (3, True)
    """

    train: Integers
    test: Integers
    repeat: int
    fold: int
    without: int | None = None


class Design:
    """What the designs share: splits, the balance of the training part, plain data.

    Examples
    --------
    >>> from sureleaf.designs import KFold
    >>> isinstance(KFold(5), Design), KFold(5).n_splits_of(100)
    (True, 5)
    """

    resample: str
    kind: ClassVar[str]
    """holdout, folds, bootstrap or nested: which intervals are valid for the design."""

    def n_splits_of(self, n_units: int) -> int:
        """Return how many splits that many rows (or groups) get."""
        raise NotImplementedError

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        raise NotImplementedError

    def splits(
        self, classes: Integers, *, groups: Integers | None = None, seed: int = 0
    ) -> Iterator[Split]:
        """Yield the splits of rows of these classes (codes), groups kept whole.

        Parameters
        ----------
        classes : array of class codes, one a row
        groups : array of group codes, optional
            Rows of a group are never in train and test of one split.
        seed : int
            The same seed gives the same splits, on any machine.

        Yields
        ------
        Split
        """
        for number, split in enumerate(self._plan(np.asarray(classes), groups, seed)):
            train = balance(split.train, classes, self.resample, seed, number)
            yield Split(train, split.test, split.repeat, split.fold, split.without)

    def __post_init__(self) -> None:
        check_choice("resample", self.resample, ("none", "over", "under"))

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain data; `sureleaf.designs.from_dict` reads it back."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"design": type(self).__name__, **own}


def check_units(n_units: int, least: int, groups: object, why: str) -> None:
    """Refuse a table that is too small for the design.

    Examples
    --------
    >>> check_units(3, 5, None, "A partition into 5 folds")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: A partition into 5 folds needs at least 5 rows; got 3.
    Use fewer folds or more rows.
    """
    if n_units < least:
        unit = "rows" if groups is None else "groups"
        raise InvalidArgumentError(
            f"{why} needs at least {least} {unit}; got {n_units}. Use fewer folds or more {unit}."
        )

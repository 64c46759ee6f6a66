"""Assignment of rows to folds, or to be held out, by a counter-based generator keyed by a seed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.tree import TrainingRows

__all__ = ["fold_numbers", "hold_out", "reusable"]


def fold_numbers(
    rows: TrainingRows, cv: Any, *, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return for each row the fold that tests it, -1 for rows that no fold tests.

    A number of folds gives stratified folds that keep groups together. A splitter or an iterable of
    (train, test) is taken as it is, and must not test a row twice.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> rows = TrainingRows(read_table([[1], [2], [3], [4]]), np.array([0, 0, 1, 1], np.int32), 2)
    >>> np.bincount(fold_numbers(rows, 2, seed=0)).tolist()
    [2, 2]
    """
    n_rows = len(rows.labels)
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise InvalidArgumentError(f"cv must be at least 2 folds; got {cv}.")
        return _assign_folds(rows.labels, int(cv), seed, groups)
    fold_of = np.full(n_rows, -1, dtype=np.int64)
    from sklearn.model_selection import (
        check_cv,
    )  # slow to load, and not needed for a number of folds

    splitter = check_cv(cv, rows.labels, classifier=True)
    stand_in = np.zeros((n_rows, 1))
    for fold, (_, test) in enumerate(splitter.split(stand_in, rows.labels, groups)):
        if np.any(fold_of[test] >= 0):
            raise InvalidArgumentError(
                "cv must test each row at most once; got a row in two test parts. Use a "
                "splitter without repeats."
            )
        fold_of[test] = fold
    return fold_of


def reusable(cv: Any) -> Any:
    """Turn an iterator into a list, because folds are needed more than once."""
    return list(cv) if isinstance(cv, Iterator) else cv


def hold_out(
    rows: TrainingRows, *, seed: int, groups: NDArray[Any] | None = None, n_parts: int = 3
) -> NDArray[np.bool_]:
    """Return which rows to hold out: one of `n_parts` stratified parts; groups stay together."""
    is_held_out: NDArray[np.bool_] = _assign_folds(rows.labels, n_parts, seed, groups) == 0
    return is_held_out


def _assign_folds(
    labels: NDArray[np.int32], n_folds: int, seed: int, groups: NDArray[Any] | None
) -> NDArray[np.int64]:
    """Assign units to folds in turn, class by class, each class in a random order.

    A unit is a row, or a group with the class that most of its rows have.
    """
    units, unit_classes = np.arange(len(labels)), labels
    if groups is not None:
        if len(groups) != len(labels):
            raise InvalidArgumentError(
                f"groups must have one entry per row; got {len(groups)} for {len(labels)} rows."
            )
        _, units = np.unique(groups, return_inverse=True)
        by_class = np.zeros((units.max() + 1, int(labels.max()) + 1))
        np.add.at(by_class, (units, labels), 1.0)
        unit_classes = by_class.argmax(axis=1)
    keys = np.random.Generator(np.random.Philox(key=seed)).random(len(unit_classes))
    order = np.lexsort((keys, unit_classes))
    fold_of_unit = np.empty(len(unit_classes), dtype=np.int64)
    fold_of_unit[order] = np.arange(len(unit_classes)) % n_folds
    fold_of: NDArray[np.int64] = fold_of_unit[units]
    return fold_of

"""Assignment of rows to folds, or to be held out, by a counter-based generator keyed by a seed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.folds import assign_folds, group_classes
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
    """Return the fold of each row; a group is assigned like one row of its most frequent class."""
    if groups is None:
        return assign_folds(labels, n_folds, _random_order(len(labels), seed))
    if len(groups) != len(labels):
        raise InvalidArgumentError(
            f"groups must have one entry per row; got {len(groups)} for {len(labels)} rows."
        )
    _, group_of = np.unique(groups, return_inverse=True)
    classes = group_classes(labels, group_of)
    fold_of_group = assign_folds(classes, n_folds, _random_order(len(classes), seed))
    fold_of: NDArray[np.int64] = fold_of_group[group_of]
    return fold_of


def _random_order(n: int, seed: int) -> NDArray[np.int64]:
    draws = np.random.Generator(np.random.Philox(key=seed)).random(n)
    return np.argsort(draws, kind="stable")

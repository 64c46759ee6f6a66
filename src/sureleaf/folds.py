"""The assignment of rows to folds, which every package uses.

The functions named ``assign`` take the order in which rows are assigned, as row numbers. The caller
draws that order from its own random stream, so that the same assignment serves designs and
cross-fitting. `fold_numbers` and `hold_out` draw it from a counter-based generator keyed by a seed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.errors import InvalidArgumentError


def assign_folds(
    classes: NDArray[np.integer], n_folds: int, order: IntArray, *, stratified: bool = True
) -> IntArray:
    """Return the fold of each row.

    The rows are sorted by class, if stratified, and assigned to the folds in turn. So the sizes
    of the folds differ by at most one, and so do their numbers of rows of each class.
    """
    if stratified:
        order = order[np.argsort(classes[order], kind="stable")]
    folds = np.empty(len(classes), dtype=np.int64)
    folds[order] = np.arange(len(classes)) % n_folds
    return folds


def assign_holdout(
    classes: NDArray[np.integer], test: float, order: IntArray, *, stratified: bool = True
) -> IntArray:
    """Return 0 for training rows and 1 for test rows; at least one row of each.

    If stratified, each class gives its share of test rows; rows that are left over by rounding
    come from the classes with the largest remainders.
    """
    n = len(classes)
    size = min(max(round(test * n), 1), n - 1)
    part = np.zeros(n, dtype=np.int64)
    if not stratified:
        part[order[:size]] = 1
        return part
    quotas = np.bincount(classes) * size / n
    taken = np.floor(quotas).astype(np.int64)
    largest_remainders = np.argsort(taken - quotas, kind="stable")[: size - int(taken.sum())]
    taken[largest_remainders] += 1
    for code, count in enumerate(taken):
        part[order[classes[order] == code][:count]] = 1
    return part


def assign_groups(
    classes: NDArray[np.integer],
    groups: IntArray,
    shares: FloatArray,
    order: IntArray,
    *,
    stratified: bool = True,
) -> IntArray:
    """Return the part of each row; groups stay whole, and parts come close to their shares.

    Groups are assigned in the given order, larger ones first, each to the part where it leaves
    the smallest squared distance to the wanted numbers of rows (of each class, if stratified).
    An exact solution would take too long. `order` has the group codes in random order.
    """
    columns = classes if stratified else np.zeros_like(classes)
    n_groups, n_columns = int(groups.max()) + 1, int(columns.max()) + 1
    counts = np.bincount(groups * n_columns + columns, minlength=n_groups * n_columns)
    counts = counts.reshape(n_groups, n_columns).astype(np.float64)
    totals = counts.sum(axis=0)
    wanted = shares[:, None] * totals  # rows of each class that each part still lacks
    scale = 1 / np.maximum(totals, 1)
    part_of = np.empty(n_groups, dtype=np.int64)
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    empty = np.ones(len(shares), dtype=bool)
    for n_assigned, group in enumerate(order):
        added_distance = ((counts[group] * (counts[group] - 2 * wanted)) * scale).sum(axis=1)
        if empty.sum() >= n_groups - n_assigned:  # the last groups fill parts that are empty
            added_distance[~empty] = np.inf
        part = int(added_distance.argmin())
        part_of[group], empty[part] = part, False
        wanted[part] -= counts[group]
    return np.asarray(part_of[groups])


def group_classes(classes: NDArray[np.integer], groups: IntArray) -> IntArray:
    """Return the most frequent class of each group, so that `assign_folds` can assign groups."""
    counts = np.zeros((int(groups.max()) + 1, int(classes.max()) + 1))
    np.add.at(counts, (groups, classes), 1.0)
    most_frequent: IntArray = counts.argmax(axis=1).astype(np.int64)
    return most_frequent


def fold_numbers(
    labels: NDArray[np.int32], cv: Any, *, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return for each row the fold that tests it, -1 for rows that no fold tests.

    A number of folds gives stratified folds that keep groups together. A splitter or an iterable of
    (train, test) is taken as it is, and must not test a row twice.
    """
    n_rows = len(labels)
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise InvalidArgumentError(f"cv must be at least 2 folds; got {cv}.")
        return _assign_folds(labels, int(cv), seed, groups)
    fold_of = np.full(n_rows, -1, dtype=np.int64)
    from sklearn.model_selection import check_cv  # slow, and not needed for a number of folds

    splitter = check_cv(cv, labels, classifier=True)
    stand_in = np.zeros((n_rows, 1))
    for fold, (_, test) in enumerate(splitter.split(stand_in, labels, groups)):
        if np.any(fold_of[test] >= 0):
            raise InvalidArgumentError(
                "cv must test each row at most once; got a row in two test parts. Use a "
                "splitter without repeats."
            )
        fold_of[test] = fold
    return fold_of


ENOUGH_TESTED = 100_000
"""Rows of the tested folds, in tables that have more. An error rate of so many rows has a standard
error of at most 0.16 percentage points."""


def enough_folds(fold_of: IntArray, *, least: int = 1) -> list[int]:
    """Return the folds to test: all, or in large tables as many as hold 100,000 rows.

    They are evenly spaced, so that both halves of the folds have some. The first fold is always
    among them. The fold of rows that no fold tests is -1.
    """
    folds, sizes = np.unique(fold_of[fold_of >= 0], return_counts=True)
    total = int(sizes.sum())
    if total <= ENOUGH_TESTED:
        return [int(fold) for fold in folds]
    n_tested = max(least, -(-len(folds) * ENOUGH_TESTED // total))
    n_tested = min(n_tested, len(folds))
    return [int(fold) for fold in folds[np.arange(n_tested) * len(folds) // n_tested]]


def reusable(cv: Any) -> Any:
    """Turn an iterator into a list, because folds are needed more than once."""
    return list(cv) if isinstance(cv, Iterator) else cv


def hold_out(
    labels: NDArray[np.int32], *, seed: int, groups: NDArray[Any] | None = None, n_parts: int = 3
) -> NDArray[np.bool_]:
    """Return which rows to hold out: one of `n_parts` stratified parts; groups stay together."""
    is_held_out: NDArray[np.bool_] = _assign_folds(labels, n_parts, seed, groups) == 0
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

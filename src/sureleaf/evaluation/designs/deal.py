"""Which part each row goes to: at random, evenly, by class, groups whole."""

import numpy as np

from sureleaf.evaluation.arguments import Floats, Integers
from sureleaf.evaluation.draw import PARTITION, shuffled

__all__ = ["deal_folds", "deal_groups", "pick_test"]


def deal_folds(
    classes: Integers, n_folds: int, *, stratified: bool, seed: int, repeat: int
) -> Integers:
    """Fold of each row: sizes differ by at most one, and so do those of each class if stratified.

    Rows are shuffled, sorted by class, and dealt out like cards.

    Examples
    --------
    >>> folds = deal_folds(np.array([0, 0, 1, 1]), 2, stratified=True, seed=0, repeat=0)
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    order = shuffled(len(classes), seed, PARTITION, repeat)
    if stratified:
        order = order[np.argsort(classes[order], kind="stable")]
    folds = np.empty(len(classes), dtype=np.int64)
    folds[order] = np.arange(len(classes)) % n_folds
    return folds


def pick_test(
    classes: Integers, test: float, *, stratified: bool, seed: int, repeat: int
) -> Integers:
    """0 for training rows and 1 for test rows; at least one of each.

    Stratified: each class gives its share, fractions going to the largest remainders.

    Examples
    --------
    >>> part = pick_test(np.array([0, 0, 1, 1]), 0.5, stratified=True, seed=0, repeat=0)
    >>> int(part[:2].sum()), int(part[2:].sum())
    (1, 1)
    """
    n = len(classes)
    size = min(max(round(test * n), 1), n - 1)
    order = shuffled(n, seed, PARTITION, repeat)
    part = np.zeros(n, dtype=np.int64)
    if not stratified:
        part[order[:size]] = 1
        return part
    counts = np.bincount(classes)
    quotas = counts * size / n
    taken = np.floor(quotas).astype(np.int64)
    short = np.argsort(taken - quotas, kind="stable")[: size - int(taken.sum())]
    taken[short] += 1
    for code, count in enumerate(taken):
        part[order[classes[order] == code][:count]] = 1
    return part


def deal_groups(
    classes: Integers, groups: Integers, shares: Floats, *, stratified: bool, seed: int, repeat: int
) -> Integers:
    """Part of each row with groups whole: parts come near their shares of rows (of each class).

    Groups are taken at random, larger ones first, each to the part where it leaves the least
    squared distance to the wanted counts; there is no exact solution in reasonable time.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1])
    >>> part = deal_groups(
    ...     np.zeros(4, int), groups, np.array([0.5, 0.5]), stratified=False, seed=0, repeat=0)
    >>> bool(part[0] == part[1] != part[2] == part[3])
    True
    """
    columns = classes if stratified else np.zeros_like(classes)
    n_groups, n_columns = int(groups.max()) + 1, int(columns.max()) + 1
    counts = np.bincount(groups * n_columns + columns, minlength=n_groups * n_columns)
    counts = counts.reshape(n_groups, n_columns).astype(np.float64)
    totals = counts.sum(axis=0)
    missing = shares[:, None] * totals  # rows of each class that each part still wants
    scale = 1 / np.maximum(totals, 1)
    part_of = np.empty(n_groups, dtype=np.int64)
    order = shuffled(n_groups, seed, PARTITION, repeat)
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    empty = np.ones(len(shares), dtype=bool)
    for taken, group in enumerate(order):
        worse = ((counts[group] * (counts[group] - 2 * missing)) * scale).sum(axis=1)
        if empty.sum() >= n_groups - taken:  # the last groups fill parts that would stay empty
            worse[~empty] = np.inf
        choice = int(worse.argmin())
        part_of[group], empty[choice] = choice, False
        missing[choice] -= counts[group]
    return np.asarray(part_of[groups])

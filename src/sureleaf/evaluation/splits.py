"""One split of the rows, and what every design can do."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from sureleaf.arguments import FloatArray, IntArray, check_choice
from sureleaf.errors import InvalidArgumentError
from sureleaf.random_streams import PARTITION, RESAMPLE, draw_with_replacement, shuffled

__all__ = [
    "Design",
    "Split",
    "balance",
    "check_units",
    "group_folds",
    "pick_test",
    "stratified_folds",
]


# Over- and under-sampling of the training part, and of that only.


def balance(train: IntArray, classes: IntArray, how: str, seed: int, number: int) -> IntArray:
    """Return training rows in which the classes that occur are equally frequent.

    ``"over"`` keeps every row and draws more of the rarer classes with replacement up to the
    largest; ``"under"`` keeps as many rows of each class as the smallest has; ``"none"`` changes
    nothing.

    Examples
    --------
    >>> classes = np.array([0, 0, 0, 1])
    >>> balance(np.arange(4), classes, "over", seed=0, number=0).tolist()
    [0, 1, 2, 3, 3, 3]
    """
    if how == "none":
        return train
    own = classes[train]
    present, counts = np.unique(own, return_counts=True)
    target = int(counts.max() if how == "over" else counts.min())
    parts = []
    for code, count in zip(present.tolist(), counts.tolist(), strict=True):
        rows = train[own == code]
        if how == "over":
            more = draw_with_replacement(count, target - count, seed, RESAMPLE, number, code)
            parts.append(np.concatenate([rows, rows[more]]))
        else:
            parts.append(rows[shuffled(count, seed, RESAMPLE, number, code)[:target]])
    return np.sort(np.concatenate(parts))


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

    train: IntArray
    test: IntArray
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

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        raise NotImplementedError

    def splits(
        self, classes: IntArray, *, groups: IntArray | None = None, seed: int = 0
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


# Which part each row goes to: at random, evenly, by class, groups whole.


def stratified_folds(
    classes: IntArray, n_folds: int, *, stratified: bool, seed: int, repeat: int
) -> IntArray:
    """Fold of each row: sizes differ by at most one, and so do those of each class if stratified.

    Rows are shuffled, sorted by class, and dealt out like cards.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 1, 1]), 2, stratified=True, seed=0, repeat=0)
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
    classes: IntArray, test: float, *, stratified: bool, seed: int, repeat: int
) -> IntArray:
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


def group_folds(
    classes: IntArray,
    groups: IntArray,
    shares: FloatArray,
    *,
    stratified: bool,
    seed: int,
    repeat: int,
) -> IntArray:
    """Part of each row with groups whole: parts come near their shares of rows (of each class).

    Groups are taken at random, larger ones first, each to the part where it leaves the least
    squared distance to the wanted counts; there is no exact solution in reasonable time.

    Examples
    --------
    >>> groups = np.array([0, 0, 1, 1])
    >>> part = group_folds(
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

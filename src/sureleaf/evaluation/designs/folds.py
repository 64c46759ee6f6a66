"""k-fold, repeated k-fold, leave-one-out and nested k-fold."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Integers, check_count
from sureleaf.evaluation.designs.deal import deal_folds, deal_groups
from sureleaf.evaluation.designs.split import Design, Split, check_units

__all__ = ["KFold", "LeaveOneOut", "NestedKFold"]


@dataclass(frozen=True)
class KFold(Design):
    """Partition the rows into k folds and test on each in turn.

    Parameters
    ----------
    n_splits : int
        Number of folds k, at least 2.
    repeats : int
        How many partitions.
    stratified : bool
        Give every fold the classes' shares.
    resample : {"none", "over", "under"}
        Balance the classes of the training parts.
    time_ordered : bool
        Rows are in the order of time: k + 1 blocks, each but the first tested by a model of all
        earlier ones; no shuffling, no stratifying.

    Examples
    --------
    >>> [split.test.tolist() for split in KFold(2, stratified=False).splits(np.zeros(4, int))]
    [[1, 3], [0, 2]]
    """

    n_splits: int = 10
    _: KW_ONLY
    repeats: int = 1
    stratified: bool = True
    resample: str = "none"
    time_ordered: bool = False
    kind: ClassVar[str] = "folds"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_splits", self.n_splits, least=2)
        check_count("repeats", self.repeats)
        if self.time_ordered and self.repeats > 1:
            raise InvalidArgumentError(
                "repeats must be 1 where time_ordered=True: time has one order; "
                f"got {self.repeats}."
            )

    def n_splits_of(self, n_units: int) -> int:
        """Return folds times repeats."""
        return self.n_splits * self.repeats

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        if self.time_ordered:
            yield from self._forward(len(classes), groups)
            return
        for repeat in range(self.repeats):
            folds = assign_folds(
                classes, groups, self.n_splits, stratified=self.stratified, seed=seed, repeat=repeat
            )
            for fold in range(self.n_splits):
                yield Split(
                    np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), repeat, fold
                )

    def _forward(self, n: int, groups: Integers | None) -> Iterator[Split]:
        if groups is not None:
            raise InvalidArgumentError(
                "groups cannot be kept whole where rows are split by time; "
                "leave out groups=, or use time_ordered=False."
            )
        check_units(n, self.n_splits + 1, None, f"{self.n_splits} blocks after a first one")
        blocks = np.array_split(np.arange(n), self.n_splits + 1)
        for fold in range(self.n_splits):
            yield Split(np.concatenate(blocks[: fold + 1]), blocks[fold + 1], 0, fold)


def assign_folds(
    classes: Integers,
    groups: Integers | None,
    n_splits: int,
    *,
    stratified: bool,
    seed: int,
    repeat: int,
) -> Integers:
    """Return the fold of each row; groups stay whole."""
    n_units = len(classes) if groups is None else int(groups.max()) + 1
    check_units(n_units, n_splits, groups, f"A partition into {n_splits} folds")
    if groups is None:
        return deal_folds(classes, n_splits, stratified=stratified, seed=seed, repeat=repeat)
    shares = np.full(n_splits, 1 / n_splits)
    return deal_groups(classes, groups, shares, stratified=stratified, seed=seed, repeat=repeat)


@dataclass(frozen=True)
class LeaveOneOut(Design):
    """Test on each row (or group) with a model of all others.

    Parameters
    ----------
    stratified : bool
        Must be False: one row cannot have the classes' shares.
    resample : {"none", "over", "under"}
        Balance the classes of the training parts.

    Examples
    --------
    >>> [split.test.tolist() for split in LeaveOneOut().splits(np.array([0, 1, 1]))]
    [[0], [1], [2]]
    """

    stratified: bool = False
    resample: str = "none"
    kind: ClassVar[str] = "leave one out"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stratified:
            raise InvalidArgumentError(
                "stratified must be False for LeaveOneOut: a test part of one row has one class."
            )

    def n_splits_of(self, n_units: int) -> int:
        """Return the number of rows or groups."""
        return n_units

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        units = np.arange(len(classes)) if groups is None else groups
        n_units = int(units.max(initial=-1)) + 1
        check_units(n_units, 2, groups, "Leave-one-out")
        for unit in range(n_units):
            out = units == unit
            yield Split(np.flatnonzero(~out), np.flatnonzero(out), 0, unit)


@dataclass(frozen=True)
class NestedKFold(Design):
    """k-fold with a k-fold inside each: what the interval of Bates, Hastie and Tibshirani needs.

    Each repeat fits k models, one without each fold, and k (k - 1) / 2 more, one without each pair
    of folds (one fit serves both folds of a pair).

    Parameters
    ----------
    n_splits : int
        Number of folds k, at least 3.
    repeats : int
        The more, the steadier the interval; its inventors use 200.
    stratified, resample
        As for `KFold`.

    Examples
    --------
    >>> NestedKFold(5, repeats=10).n_splits_of(100)
    150
    """

    n_splits: int = 5
    _: KW_ONLY
    repeats: int = 10
    stratified: bool = True
    resample: str = "none"
    kind: ClassVar[str] = "nested"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_splits", self.n_splits, least=3)
        check_count("repeats", self.repeats)

    def n_splits_of(self, n_units: int) -> int:
        """Return repeats times k (k + 1) / 2."""
        return self.repeats * self.n_splits * (self.n_splits + 1) // 2

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        for repeat in range(self.repeats):
            folds = assign_folds(
                classes, groups, self.n_splits, stratified=self.stratified, seed=seed, repeat=repeat
            )
            for fold in range(self.n_splits):
                yield Split(
                    np.flatnonzero(folds != fold), np.flatnonzero(folds == fold), repeat, fold
                )
                for without in range(fold):
                    out = (folds == fold) | (folds == without)
                    yield Split(np.flatnonzero(~out), np.flatnonzero(out), repeat, fold, without)

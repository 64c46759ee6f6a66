"""Hold-out, once or repeatedly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Integers, check_count, check_share
from sureleaf.evaluation.designs.deal import deal_groups, pick_test
from sureleaf.evaluation.designs.split import Design, Split, check_units

__all__ = ["Holdout", "RepeatedHoldout"]


@dataclass(frozen=True)
class Holdout(Design):
    """Train on part of the rows, test on the rest; by default 2/3 and 1/3.

    Parameters
    ----------
    test : float
        Share of the rows (or groups) to test on.
    stratified : bool
        Give both parts the classes' shares.
    resample : {"none", "over", "under"}
        Balance the classes of the training part.
    time_ordered : bool
        Rows are in the order of time: test on the last ones, without shuffling or stratifying.

    Examples
    --------
    >>> split = next(Holdout().splits(np.array([0, 0, 0, 1, 1, 1])))
    >>> len(split.train), len(split.test)
    (4, 2)
    """

    test: float = 1 / 3
    stratified: bool = True
    resample: str = "none"
    time_ordered: bool = False
    kind: ClassVar[str] = "holdout"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("test", self.test)

    def n_splits_of(self, n_units: int) -> int:
        """Return 1."""
        return 1

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        if self.time_ordered:
            if groups is not None:
                raise InvalidArgumentError(
                    "groups cannot be kept whole where rows are split by time; "
                    "leave out groups=, or use time_ordered=False."
                )
            check_units(len(classes), 2, None, "A hold-out")
            size = min(max(round(self.test * len(classes)), 1), len(classes) - 1)
            rows = np.arange(len(classes))
            yield Split(rows[:-size], rows[-size:], 0, 0)
        else:
            yield _one(classes, groups, self.test, self.stratified, seed, 0)


@dataclass(frozen=True)
class RepeatedHoldout(Design):
    """Hold-out with other rows each time (random subsampling).

    Parameters
    ----------
    repeats : int
    test, stratified, resample
        As for `Holdout`.

    Examples
    --------
    >>> len(list(RepeatedHoldout(5).splits(np.array([0, 0, 0, 1, 1, 1]))))
    5
    """

    repeats: int = 10
    test: float = 1 / 3
    stratified: bool = True
    resample: str = "none"
    kind: ClassVar[str] = "repeated holdout"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("repeats", self.repeats)
        check_share("test", self.test)

    def n_splits_of(self, n_units: int) -> int:
        """Return the number of repeats."""
        return self.repeats

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        for repeat in range(self.repeats):
            yield _one(classes, groups, self.test, self.stratified, seed, repeat)


def _one(
    classes: Integers,
    groups: Integers | None,
    test: float,
    stratified: bool,
    seed: int,
    repeat: int,
) -> Split:
    if groups is None:
        check_units(len(classes), 2, None, "A hold-out")
        part = pick_test(classes, test, stratified=stratified, seed=seed, repeat=repeat)
    else:
        check_units(int(groups.max()) + 1, 2, groups, "A hold-out")
        shares = np.array([1 - test, test])
        part = deal_groups(classes, groups, shares, stratified=stratified, seed=seed, repeat=repeat)
    return Split(np.flatnonzero(part == 0), np.flatnonzero(part == 1), repeat, 0)

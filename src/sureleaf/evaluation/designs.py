"""Designs: which rows train a model and which rows test it."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import IntArray, check_choice, check_count, check_share
from sureleaf.errors import InvalidArgumentError
from sureleaf.folds import assign_folds, assign_groups, assign_holdout
from sureleaf.random_streams import PARTITION, RESAMPLE, draw_with_replacement, shuffled

__all__ = [
    "Bootstrap",
    "Design",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "RepeatedHoldout",
    "Split",
    "from_dict",
]

MOST_REPEATS: Final = 100_000
"""Largest number of repeats and bootstrap samples: more would fill the memory before they end."""


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to test on.

    A row that a bootstrap sample contains twice is twice in `train`. `unbalanced` are the training
    rows before their classes were balanced, None if they were not.
    """

    train: IntArray
    test: IntArray
    repeat: int
    fold: int
    unbalanced: IntArray | None = None

    def __sizeof__(self) -> int:
        """Include the rows, because Dask sends large objects separately from the graph of tasks."""
        return object.__sizeof__(self) + self.train.nbytes + self.test.nbytes

    @property
    def drawn(self) -> IntArray:
        """The training rows before their classes are balanced."""
        return self.train if self.unbalanced is None else self.unbalanced

    @property
    def n_train(self) -> int:
        """Number of different training rows before their classes are balanced.

        These decide how much the models of two splits have in common: rows that one split leaves
        out to balance its classes may be used by the next.
        """
        return int(np.count_nonzero(np.bincount(self.drawn)))


class Design:
    """Base of the designs: splits, resampling of the training part, conversion to a dict."""

    resample: str
    kind: ClassVar[str]
    """holdout, folds or bootstrap: which intervals are valid for the design."""

    def n_splits_of(self, n_units: int) -> int:
        """Return the number of splits of this many rows (or groups)."""
        options = vars(self)
        return math.prod(options.get(name, 1) for name in ("n_splits", "repeats", "n_bootstraps"))

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        raise NotImplementedError

    def splits(
        self, classes: ArrayLike, *, groups: IntArray | None = None, seed: int = 0
    ) -> Iterator[Split]:
        """Yield the splits of rows with these labels.

        The same seed gives the same splits, on any machine. Rows of a group are never in both
        train and test of one split.
        """
        codes = np.unique(classes, return_inverse=True)[1]
        for number, split in enumerate(self._plan(codes, groups, seed)):
            drawn = split.train
            train = balance_classes(drawn, codes, self.resample, seed, number)
            yield split if train is drawn else replace(split, train=train, unbalanced=drawn)

    def __post_init__(self) -> None:
        check_choice("resample", self.resample, ("none", "over", "under"))
        for name, value in vars(self).items():
            if name in ("stratified", "time_ordered"):
                check_choice(name, value, (True, False))
            elif name in ("repeats", "n_bootstraps"):
                check_count(name, value, most=MOST_REPEATS)
            elif name == "test":
                check_share(name, value)

    def to_dict(self) -> dict[str, Any]:
        """Return the design as a dict that `sureleaf.designs.from_dict` reads."""
        return {"design": type(self).__name__, **vars(self)}


@dataclass(frozen=True)
class KFold(Design):
    """Partition the rows into k folds and test on each in turn.

    Parameters
    ----------
    n_splits, repeats : int
        Number of folds k, at least 2, and of partitions, at most 100,000.
    stratified : bool
        Whether every fold has the class proportions of the table.
    resample : {"none", "over", "under"}
        Balance the classes of the training parts.
    time_ordered : bool
        Rows are in the order of time: of k + 1 blocks, each except the first is tested by a model
        of all earlier ones, without shuffling or stratification.

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
        if self.time_ordered and self.repeats > 1:
            raise InvalidArgumentError(
                "repeats must be 1 with time_ordered=True, because time has one order; "
                f"got {self.repeats}."
            )

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        if self.time_ordered:
            _refuse_groups(groups)
            why = f"{self.n_splits} blocks after a first one"
            check_units(len(classes), self.n_splits + 1, None, why)
            blocks = np.array_split(np.arange(len(classes)), self.n_splits + 1)
            for fold in range(self.n_splits):
                yield Split(np.concatenate(blocks[: fold + 1]), blocks[fold + 1], 0, fold)
            return
        n_units = count_units(len(classes), groups)
        check_units(n_units, self.n_splits, groups, f"A partition into {self.n_splits} folds")
        for repeat in range(self.repeats):
            order = shuffled(n_units, seed, PARTITION, repeat)
            if groups is None:
                folds = assign_folds(classes, self.n_splits, order, stratified=self.stratified)
            else:
                shares = np.full(self.n_splits, 1 / self.n_splits)
                folds = assign_groups(classes, groups, shares, order, stratified=self.stratified)
            for fold in range(self.n_splits):
                is_tested = folds == fold
                yield Split(np.flatnonzero(~is_tested), np.flatnonzero(is_tested), repeat, fold)


@dataclass(frozen=True)
class LeaveOneOut(Design):
    """Test on each row (or group) with a model of all others.

    `resample` as for `KFold`; `stratified` must be False, because one row cannot have the class
    proportions of the table.

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

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        n_units = count_units(len(classes), groups)
        check_units(n_units, 2, groups, "Leave-one-out")
        units = np.arange(n_units) if groups is None else groups
        for unit in range(n_units):
            out = units == unit
            yield Split(np.flatnonzero(~out), np.flatnonzero(out), 0, unit)


@dataclass(frozen=True)
class Holdout(Design):
    """Train on part of the rows, test on the rest; by default 2/3 and 1/3.

    `test` is the share of the rows (or groups) to test on. With `time_ordered`, rows are in the
    order of time, and the last ones are tested. Other parameters as for `KFold`.

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

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        if self.time_ordered:
            _refuse_groups(groups)
            check_units(len(classes), 2, None, "A hold-out")
            size = min(max(round(self.test * len(classes)), 1), len(classes) - 1)
            rows = np.arange(len(classes))
            yield Split(rows[:-size], rows[-size:], 0, 0)
        else:
            yield _random_holdout(classes, groups, self.test, self.stratified, seed, 0)


@dataclass(frozen=True)
class RepeatedHoldout(Design):
    """Repeated hold-out with new random rows each time (random subsampling).

    Parameters as for `Holdout`.

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

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        for repeat in range(self.repeats):
            yield _random_holdout(classes, groups, self.test, self.stratified, seed, repeat)


def _random_holdout(
    classes: IntArray,
    groups: IntArray | None,
    test: float,
    stratified: bool,
    seed: int,
    repeat: int,
) -> Split:
    n_units = count_units(len(classes), groups)
    check_units(n_units, 2, groups, "A hold-out")
    order = shuffled(n_units, seed, PARTITION, repeat)
    if groups is None:
        part = assign_holdout(classes, test, order, stratified=stratified)
    else:
        shares = np.array([1 - test, test])
        part = assign_groups(classes, groups, shares, order, stratified=stratified)
    return Split(np.flatnonzero(part == 0), np.flatnonzero(part == 1), repeat, 0)


@dataclass(frozen=True)
class Bootstrap(Design):
    """Train on n of the n rows, drawn with replacement; test on the rows that are not drawn.

    On average a share of 1 - (1 - 1/n)^n of the rows is drawn, close to .632. A stratified sample
    keeps the number of rows of each class; groups are drawn whole, and not stratified. `resample`
    is that of `KFold`.

    Examples
    --------
    >>> split = next(Bootstrap(2).splits(np.zeros(6, int), seed=1))
    >>> len(split.train), set(split.train) & set(split.test)
    (6, set())
    """

    n_bootstraps: int = 200
    stratified: bool = False
    resample: str = "none"
    kind: ClassVar[str] = "bootstrap"

    def _plan(self, classes: IntArray, groups: IntArray | None, seed: int) -> Iterator[Split]:
        n_units = count_units(len(classes), groups)
        check_units(n_units, 2, groups, "A bootstrap")
        units = np.arange(n_units) if groups is None else groups
        strata = classes if self.stratified and groups is None else np.zeros(n_units, dtype=int)
        members = [np.flatnonzero(strata == code) for code in range(int(strata.max()) + 1)]
        for number in range(self.n_bootstraps):
            times = _draw(members, n_units, seed, number)[units]
            train = np.repeat(np.arange(len(units)), times)
            yield Split(train, np.flatnonzero(times == 0), number, 0)


def _draw(members: list[IntArray], n_units: int, seed: int, number: int) -> IntArray:
    """Return how often each unit is drawn; draw again in the rare case that all are."""
    for attempt in itertools.count():
        drawn = []
        for code, own in enumerate(members):
            key = (PARTITION, number, code, attempt)
            drawn.append(own[draw_with_replacement(len(own), len(own), seed, *key)])
        times = np.bincount(np.concatenate(drawn), minlength=n_units)
        if times.min() == 0 or all(len(stratum) < 2 for stratum in members):
            break
    return times


def _refuse_groups(groups: IntArray | None) -> None:
    if groups is not None:
        raise InvalidArgumentError(
            "groups cannot be kept whole if rows are split by time. "
            "Leave out groups=, or use time_ordered=False."
        )


def count_units(n_rows: int, groups: IntArray | None) -> int:
    """Return the number of groups, or of rows where there are no groups."""
    return n_rows if groups is None else int(groups.max()) + 1


def check_units(n_units: int, least: int, groups: object, why: str) -> None:
    """Raise an error for a table that is too small for the design."""
    if n_units < least:
        unit = "rows" if groups is None else "groups"
        raise InvalidArgumentError(
            f"{why} needs at least {least} {unit}; got {n_units}. Use fewer folds or more {unit}."
        )


def balance_classes(
    train: IntArray, classes: IntArray, how: str, seed: int, number: int
) -> IntArray:
    """Return training rows in which all classes that occur are equally frequent.

    ``"over"`` keeps every row and adds rows of the rarer classes, drawn with replacement;
    ``"under"`` keeps as many rows of each class as the rarest has; ``"none"`` changes nothing.
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


def from_dict(plain: Mapping[str, Any]) -> Design:
    """Return the design that ``to_dict`` wrote."""
    designs: dict[str, Callable[..., Design]] = {
        one.__name__: one for one in (Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout)
    }
    options = dict(plain)
    name = options.pop("design", None)
    if not isinstance(name, str) or name not in designs:
        raise InvalidArgumentError(f"design must be one of {', '.join(designs)}; got {name!r}.")
    try:
        return designs[name](**options)
    except TypeError as problem:
        raise InvalidArgumentError(f"{name} cannot be read: {problem}.") from None

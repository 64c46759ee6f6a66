"""Bootstrap samples, tested on the rows they leave out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sureleaf.evaluation.arguments import Integers, check_count
from sureleaf.evaluation.designs.split import Design, Split, check_units
from sureleaf.evaluation.draw import PARTITION, draw_with_replacement

__all__ = ["Bootstrap"]


@dataclass(frozen=True)
class Bootstrap(Design):
    """Train on as many rows as there are, drawn with replacement; test on those not drawn.

    On average a share of 1 - (1 - 1/n)^n, near .632, of the rows is drawn (Xu, (4)).

    Parameters
    ----------
    n_bootstraps : int
    stratified : bool
        Draw as many rows of each class as there are. Groups are drawn whole and not stratified.
    resample : {"none", "over", "under"}
        Balance the classes of the training part.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_bootstraps", self.n_bootstraps)

    def n_splits_of(self, n_units: int) -> int:
        """Return the number of bootstraps."""
        return self.n_bootstraps

    def _plan(self, classes: Integers, groups: Integers | None, seed: int) -> Iterator[Split]:
        units = np.arange(len(classes)) if groups is None else groups
        n_units = int(units.max(initial=-1)) + 1
        check_units(n_units, 2, groups, "A bootstrap")
        strata = classes if self.stratified and groups is None else np.zeros(n_units, dtype=int)
        members = [np.flatnonzero(strata == code) for code in range(int(strata.max()) + 1)]
        for number in range(self.n_bootstraps):
            times = _draw(members, n_units, seed, number)[units]
            yield Split(
                np.repeat(np.arange(len(units)), times), np.flatnonzero(times == 0), number, 0
            )


def _draw(members: list[Integers], n_units: int, seed: int, number: int) -> Integers:
    """How often each unit is drawn; again in the rare case that none is left out."""
    attempt = 0
    while True:
        drawn = np.concatenate(
            [
                stratum[
                    draw_with_replacement(
                        len(stratum), len(stratum), seed, PARTITION, number, code, attempt
                    )
                ]
                for code, stratum in enumerate(members)
            ]
        )
        times = np.bincount(drawn, minlength=n_units)
        if times.min() == 0 or all(len(stratum) < 2 for stratum in members):
            return times
        attempt += 1

"""Sizes of the growing samples of a learning curve."""

from dataclasses import dataclass
from typing import Protocol

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import check_count

__all__ = ["Arithmetic", "Geometric", "Schedule"]


class Schedule(Protocol):
    """Anything that gives sizes.

    Examples
    --------
    >>> Geometric(100, 2).sizes(500)
    [100, 200, 400, 500]
    """

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes to try where there are so many training rows, all rows last."""


@dataclass(frozen=True)
class Arithmetic:
    """Sizes S_i = S_0 + i C (the lecture's arithmetic sampling).

    Parameters
    ----------
    start : int
        S_0, at least 2.
    step : int
        C.

    Examples
    --------
    >>> Arithmetic(100, 150).sizes(500)
    [100, 250, 400, 500]
    """

    start: int = 50
    step: int = 50

    def __post_init__(self) -> None:
        check_count("start", self.start, least=2)
        check_count("step", self.step)

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes to try where there are so many training rows, all rows last."""
        _check_start(self.start, n_rows)
        return [*range(self.start, n_rows, self.step), n_rows]


@dataclass(frozen=True)
class Geometric:
    """Sizes S_i = S_0 C^i (the lecture's geometric sampling).

    Parameters
    ----------
    start : int
        S_0, at least 2.
    factor : float
        C, above 1.

    Examples
    --------
    >>> Geometric(100, 1.5).sizes(500)
    [100, 150, 225, 338, 500]
    """

    start: int = 50
    factor: float = 2.0

    def __post_init__(self) -> None:
        check_count("start", self.start, least=2)
        if not self.factor > 1:
            raise InvalidArgumentError(f"factor must be above 1; got {self.factor}.")

    def sizes(self, n_rows: int) -> list[int]:
        """Return the sizes to try where there are so many training rows, all rows last."""
        _check_start(self.start, n_rows)
        found: list[int] = []
        size = float(self.start)
        while round(size) < n_rows:
            if not found or round(size) > found[-1]:
                found.append(round(size))
            size *= self.factor
        return [*found, n_rows]


def _check_start(start: int, n_rows: int) -> None:
    if start > n_rows:
        raise InvalidArgumentError(
            f"start must be at most the number of training rows, {n_rows}; got {start}."
        )

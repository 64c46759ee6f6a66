"""A bar on the terminal, with the time that is left, for work that takes longer than a second."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar

__all__ = ["Bar", "track", "watched"]

Item = TypeVar("Item")

_PATIENCE: Final = 1.0
"""Seconds before a bar appears."""

_here = threading.local()
"""Whether somebody watches what this thread does; other threads have none."""


@contextmanager
def watched(by_someone: bool = True) -> Iterator[None]:
    """Draw bars for the work in this block, if somebody watches.

    Examples
    --------
    >>> with watched(False):
    ...     list(track(range(3), total=3, what="Counting"))
    [0, 1, 2]
    """
    before = getattr(_here, "watched", False)
    _here.watched = by_someone
    try:
        yield
    finally:
        _here.watched = before


def track(
    items: Iterable[Item],
    *,
    total: int,
    what: str,
    shown: bool | None = None,
    costs: Sequence[float] | None = None,
) -> Iterator[Item]:
    """Yield the items, drawing a progress bar if that is wanted.

    Parameters
    ----------
    items : iterable
        What is worked on, or what comes of it.
    total : int
        How many there are.
    what : str
        What is done, in a word.
    shown : bool, optional
        Whether to draw; by default, if the work is `watched`. Bars within bars are not drawn.
    costs : sequence of float, optional
        What share of the work each item is, up to a factor; by default all alike.

    Yields
    ------
    item

    Examples
    --------
    >>> list(track(range(3), total=3, what="Counting", shown=False))
    [0, 1, 2]
    """
    if not (getattr(_here, "watched", False) if shown is None else shown):
        yield from items
        return
    with Bar(what, total if costs is None else sum(costs)) as bar, watched(False):
        for place, item in enumerate(items):
            yield item
            bar.advance(1.0 if costs is None else costs[place])


class Bar:
    """A bar that appears after a second and is gone when the work is done.

    Parameters
    ----------
    what : str
        What is done, in a word.
    total : float or None
        How much there is to do; None if nobody knows.

    Examples
    --------
    >>> with Bar("Counting", 3) as bar:
    ...     bar.advance(2)
    """

    def __init__(self, what: str, total: float | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeLeft

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeLeft(compact=True),
            TextColumn("[dim]{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total, note="")
        self._timer = threading.Timer(_PATIENCE, self._progress.start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        self._progress.stop()

    def advance(self, amount: float = 1.0) -> None:
        """Say that so much more is done."""
        self._progress.advance(self._task, amount)

    def reach(self, amount: float, note: str) -> None:
        """Say that so much is done in all, with a word beside the bar."""
        self._progress.update(self._task, completed=amount, note=note)

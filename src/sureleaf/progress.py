"""Progress bars on the terminal, with the remaining time, for work that takes over a second."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from types import TracebackType
from typing import Any, Final, Self, TypeVar

Item = TypeVar("Item")

_DELAY: Final = 1.0
"""Seconds before a bar appears."""

_state = threading.local()
"""Whether bars are drawn for the work of this thread; in a new thread they are not."""


@contextmanager
def progress_enabled(enabled: bool = True) -> Iterator[None]:
    """Draw progress bars for the work inside the block, or draw none."""
    before = getattr(_state, "enabled", False)
    _state.enabled = enabled
    try:
        yield
    finally:
        _state.enabled = before


@contextmanager
def watched(tell: Callable[[float], None] | None) -> Iterator[None]:
    """Tell the share that is done of every `track` inside the block, in place of a bar."""
    before = getattr(_state, "tell", None)
    _state.tell = tell
    try:
        yield
    finally:
        _state.tell = before


def track(
    items: Iterable[Item],
    *,
    total: int,
    what: str,
    shown: bool | None = None,
    costs: Sequence[float] | None = None,
) -> Iterator[Item]:
    """Yield the items, or the results of work on them, and draw a progress bar if one is wanted.

    It is `shown` by default if `progress_enabled`; a bar inside another bar is not drawn. `what`
    is what is being done, in one word. `costs` are how much work each item is, relative to the
    others; by default, all are equal.
    """
    weights = repeat(1.0) if costs is None else iter(costs)
    total_cost = total if costs is None else sum(costs)
    tell = getattr(_state, "tell", None)
    if tell is not None:
        done = 0.0
        with watched(None):
            for item in items:
                yield item
                done += next(weights)
                tell(min(1.0, done / max(total_cost, 1e-300)))
    elif getattr(_state, "enabled", False) if shown is None else shown:
        with ProgressBar(what, total_cost) as bar, progress_enabled(False):
            for item in items:
                yield item
                bar.advance(next(weights))
    else:
        yield from items


class ProgressBar:
    """A bar on stderr that appears after a second and disappears when the work is done.

    `what` is what is being done, in one word; `total` the amount of work, None if it is not known.
    """

    def __init__(self, what: str, total: float | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeRemaining

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemaining(compact=True),
            TextColumn("[dim]{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=total, note="")
        self._timer = threading.Timer(_DELAY, self._progress.start)
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
        """Move the bar on by this amount of work."""
        self._progress.advance(self._task, amount)

    def update(self, completed: float, note: str) -> None:
        """Set the amount of work that is done, and the note beside the bar."""
        self._progress.update(self._task, completed=completed, note=note)

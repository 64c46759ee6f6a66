"""A bar on the terminal while splits are fitted."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["track"]

Item = TypeVar("Item")


def track(items: Iterable[Item], *, total: int, what: str, shown: bool) -> Iterator[Item]:
    """Yield the items, drawing a progress bar if that is wanted.

    Examples
    --------
    >>> list(track(range(3), total=3, what="Counting", shown=False))
    [0, 1, 2]
    """
    if not shown:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, total=total, console=Console(stderr=True))

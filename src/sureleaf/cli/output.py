"""How a command shows its result: rich text for people, JSON for machines."""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["finish", "show", "show_json", "standard_output"]


def show(*parts: "RenderableType") -> None:
    """Print rich text, each part below the one before; colours only on a terminal.

    Examples
    --------
    >>> show("[bold]9 rows[/bold]")
    9 rows
    """
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    _write("\n".join([*lines, ""]))


def show_json(result: dict[str, Any]) -> None:
    """Print one JSON object, in the strict form that every reader takes.

    Examples
    --------
    >>> show_json({"rows_needed": 9})
    {
      "rows_needed": 9
    }
    """
    _write(json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Give standard output for bytes; if nobody reads them any more, end without a word.

    Examples
    --------
    >>> standard_output().__class__.__name__
    '_GeneratorContextManager'
    """
    finish()
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except OSError as problem:
        if problem.errno == errno.EPIPE:
            _leave()
        raise


def finish() -> None:
    """Write what is still buffered.

    Examples
    --------
    >>> finish()
    """
    _write("")


def _write(text: str) -> None:
    """Write text; if nobody reads it any more, say ``head`` has seen enough, end without a word."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _leave()


def _leave() -> NoReturn:
    # What is still buffered would be written at exit, and fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)

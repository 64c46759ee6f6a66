"""How a command shows its result: rich text for people, JSON for machines."""

import errno
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "column",
    "finish",
    "repeat_command",
    "sha256",
    "show",
    "show_json",
    "standard_output",
    "words",
]


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


# What a page says so that it can be made again: the command, and which file it read.


def repeat_command(context: typer.Context, name: str, *files: Path) -> str:
    """Return the command that does the same again, from the same folder.

    Examples
    --------
    >>> from types import SimpleNamespace as Some
    >>> seed = Some(name="seed", opts=["--seed"], default=0)
    >>> context = Some(command=Some(params=[seed]), params={"seed": 7})
    >>> repeat_command(context, "report", Path("folder/data.csv"))
    'sureleaf report folder/data.csv --seed 7'
    """
    words = ["sureleaf", name, *map(_told, files)]
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if not option.opts[0].startswith("-") or option.name == "jobs":
            continue
        if value in (None, [], option.default):
            continue
        if value is True:
            words.append(option.opts[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [option.opts[0], _told(one) if isinstance(one, Path) else str(one)]
    return shlex.join(words)


def _told(file: Path) -> str:
    """Name a file as it was given; where it is on this machine is nobody's business."""
    return file.name if file.is_absolute() else str(file)


def sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, None of what is no file.

    Examples
    --------
    >>> sha256(Path("-")) is None
    True
    """
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# What the shell may complete: names of columns from the file, and words that an option takes.


def column(incomplete: str) -> list[str]:
    """Give the columns of the file on the line that start with what is typed.

    Examples
    --------
    >>> column("cl")
    []
    """
    for word in _typed():
        if Path(word).is_file():
            names = _columns(word)
            if names:
                return [name for name in names if name.startswith(incomplete)]
    return []


def words(*choices: str) -> Callable[[str], list[str]]:
    """Give the choices that start with what is typed.

    Examples
    --------
    >>> words("gini", "entropy")("g")
    ['gini']
    """

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _typed() -> list[str]:
    """Words on the line, as the shell's completion hands them over in the environment.

    The parsed arguments would not do: a line that ends in ``--target`` is not parsed to its end.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    try:
        return shlex.split(line)
    except ValueError:  # a quote is open
        return line.split()


def _columns(path: str) -> tuple[str, ...]:
    from sureleaf.files import column_names

    try:
        return column_names(path)
    except Exception:  # a model, perhaps; and nothing may disturb somebody who is typing
        return ()

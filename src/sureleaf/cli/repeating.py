"""What a page says so that it can be made again: the command, and which file it read."""

import hashlib
import shlex
from pathlib import Path

import typer

__all__ = ["repeat_command", "sha256"]


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

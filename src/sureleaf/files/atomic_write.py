"""Files that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from sureleaf.errors import InvalidArgumentError

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes, under another name until the last of them is on the disk.

    Whoever reads `path` finds what was there before or all that is new; when writing is broken
    off, by an error or by Ctrl-C, nothing is left behind. A link stays a link. What is no plain
    file (a pipe, a terminal) is written to directly.

    Parameters
    ----------
    path : str or path
        Where the file is to be; its folder must exist.

    Yields
    ------
    file
        Open for bytes.

    Raises
    ------
    InvalidArgumentError
        If no file can be made there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(folder + "/note.txt") as file:
    ...         written = file.write(b"all of it")
    ...     (Path(folder) / "note.txt").read_text()
    'all of it'
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise InvalidArgumentError(f"{path} is a folder. Give the name of a file in it.")
        with target.open("wb") as file:
            yield file
        return
    partial = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.partial")
    try:
        file = partial.open("xb")
    except OSError as problem:
        raise InvalidArgumentError(
            f"{path} cannot be written ({problem.strerror}). Give the name of a file in a folder "
            "that exists and that you may write to."
        ) from problem
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise

"""Writing files so that a reader never sees half of one."""

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
    """Open a file for writing bytes; it gets its name when all bytes are on the disk.

    Whoever reads `path` sees the old content or all of the new one. If writing stops early, by an
    error or by Ctrl-C, the old file stays and no part of the new one is left behind. A symbolic
    link stays a link. A pipe or a terminal is written to directly.

    Parameters
    ----------
    path : str or path
        The file; its folder must exist.

    Yields
    ------
    file
        Open for writing bytes.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be created.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(folder + "/note.txt") as file:
    ...         n_bytes = file.write(b"all of it")
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
    except OSError as error:
        raise InvalidArgumentError(
            f"{path} cannot be written ({error.strerror}). Give the name of a file in a folder "
            "that exists and that you may write to."
        ) from error
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

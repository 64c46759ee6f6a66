"""Writing files so that a reader never sees half of one, by one process at a time."""

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final

from sureleaf.errors import DISK_FULL, InvalidArgumentError

_LONGEST_BEGINNING: Final = 200


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing bytes; it gets its name when all bytes are on the disk.

    Whoever reads `path` sees the old content or all of the new one. If writing stops early, by an
    error or by Ctrl-C, the old file stays and no part of the new one is left behind. A symbolic
    link stays a link. A pipe or a terminal is written to directly. What a killed process has left
    behind is removed by the next one that writes the same file.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InvalidArgumentError(f"{path} is a folder. Give the name of a file in it.")
    partial: Path | None = None
    if target.exists() and not target.is_file():
        file: BinaryIO = target.open("wb")
    else:
        partial, file = _open_partial(path, target)
    try:
        yield file
        file.flush()
        if partial is not None:
            os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, partial)
            os.replace(partial, target)
    except OSError as error:
        if error.filename is None and error.errno in DISK_FULL:
            error.filename = str(path)  # the error of a full disk names no file
        raise
    finally:
        with suppress(OSError):  # flushed, or given up: then a full disk was reported already
            file.close()
        if partial is not None:
            with suppress(OSError):
                partial.unlink()


def _open_partial(path: Any, target: Path) -> tuple[Path, BinaryIO]:
    """Open the file that gets its name at the end, and remove those of killed processes."""
    # As much of the name as leaves room for an ending; systems count its bytes.
    start = f".{os.fsdecode(os.fsencode(target.name)[:_LONGEST_BEGINNING])}."
    try:
        for old in target.parent.iterdir():
            if old.name.startswith(start) and old.name.endswith(".partial"):
                with suppress(OSError), old.open("rb") as abandoned:
                    if _lock(abandoned):
                        old.unlink()
        while True:
            partial = target.with_name(f"{start}{secrets.token_hex(4)}.partial")
            file = partial.open("xb")
            _lock(file)
            if partial.exists():  # nobody took it for abandoned before it was locked
                return partial, file
            file.close()
    except OSError as error:
        raise _unwritable_error(path, error) from error


def _unwritable_error(path: Any, error: OSError) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path} cannot be written ({error.strerror}). Give the name of a file in a folder that "
        "exists and that you may write to."
    )


def _lock(file: BinaryIO) -> bool:
    """Lock a file while this process has it open; whether that was possible."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(path: str | PathLike[str]) -> Iterator[None]:
    """Wait until no other process has locked a file, which need not exist, and lock it.

    The lock is on an empty file beside it, whose name ends with ``.lock`` and which stays. The
    system takes the lock away from a process that is killed.
    """
    name = f"{os.fspath(path)}.lock"
    try:
        file = open(name, "ab")  # noqa: SIM115 - closed below, which ends the lock
    except OSError as error:
        raise _unwritable_error(name, error) from error
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        file.close()

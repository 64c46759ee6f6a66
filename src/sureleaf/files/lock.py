"""One process at a time: a lock that ends with the process that holds it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from sureleaf.errors import InvalidArgumentError


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
        raise InvalidArgumentError(
            f"{name} cannot be written ({error.strerror}). Give the name of a file in a folder "
            "that exists and that you may write to."
        ) from error
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

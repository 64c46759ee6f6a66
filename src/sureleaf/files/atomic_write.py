"""Writing files so that a reader never sees half of one."""

import os
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
    with atomic_writes(path) as (file,):
        yield file


@contextmanager
def atomic_writes(*paths: str | PathLike[str]) -> Iterator[tuple[BinaryIO, ...]]:
    """Open several files as `atomic_write` does; all of them get their names, or none does."""
    with ExitStack() as stack:
        files, pending = [], []
        for path in paths:
            target = Path(os.path.realpath(path))
            if target.exists() and not target.is_file():
                files.append(_open_directly(path, target, stack))
                continue
            partial, file = _open_partial(path, target)
            stack.callback(_remove, partial)
            stack.callback(_close, file)
            files.append(file)
            pending.append((partial, target, file))
        with _naming(paths[0]):
            yield tuple(files)
            for file in files:
                file.flush()
            for partial, target, file in pending:
                os.fsync(file.fileno())
                if target.exists():
                    shutil.copymode(target, partial)
        _publish([(partial, target) for partial, target, _ in pending])


def _open_directly(path: Any, target: Path, stack: ExitStack) -> BinaryIO:
    if target.is_dir():
        raise InvalidArgumentError(f"{path} is a folder. Give the name of a file in it.")
    file = target.open("wb")
    stack.callback(_close, file)
    return file


def _open_partial(path: Any, target: Path) -> tuple[Path, BinaryIO]:
    """Open the file that gets its name at the end, and remove those of killed processes."""
    start = f".{_beginning(target.name)}."
    try:
        for old in target.parent.iterdir():
            if old.name.startswith(start) and old.name.endswith(".partial"):
                _remove_if_abandoned(old)
        while True:
            partial = target.with_name(f"{start}{secrets.token_hex(4)}.partial")
            file = partial.open("xb")
            _lock(file)
            if partial.exists():  # nobody took it for abandoned before it was locked
                return partial, file
            file.close()
    except OSError as error:
        raise InvalidArgumentError(
            f"{path} cannot be written ({error.strerror}). Give the name of a file in a folder "
            "that exists and that you may write to."
        ) from error


def _beginning(name: str) -> str:
    """Return as much of a name as leaves room for an ending; systems count its bytes."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST_BEGINNING])


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


def _remove_if_abandoned(partial: Path) -> None:
    with suppress(OSError), partial.open("rb") as file:
        if _lock(file):
            partial.unlink()


def _close(file: BinaryIO) -> None:
    """Close a file that is flushed, or given up: then a full disk was reported already."""
    with suppress(OSError):
        file.close()


def _remove(partial: Path) -> None:
    with suppress(OSError):
        partial.unlink()


@contextmanager
def _naming(path: Any) -> Iterator[None]:
    """Name the file in the error of a full disk, which otherwise names none."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in DISK_FULL:
            error.filename = str(path)
        raise


def _publish(pending: list[tuple[Path, Path]]) -> None:
    """Give all files their names. No signal comes between; an error undoes what was done."""
    done: list[tuple[Path, Path | None]] = []
    with _without_signals():
        try:
            for partial, target in pending:
                old = None
                if len(pending) > 1 and target.exists():
                    old = partial.with_name(partial.name + ".old.partial")
                    _keep(target, old)
                done.append((target, old))
                os.replace(partial, target)
        except OSError:
            for target, old in done:
                with suppress(OSError):
                    target.unlink() if old is None else os.replace(old, target)
            raise
        finally:
            for _, old in done:
                if old is not None:
                    _remove(old)


def _keep(target: Path, old: Path) -> None:
    """Give a file a second name, or copy it on file systems without hard links, such as FAT."""
    try:
        os.link(target, old)
    except OSError:
        shutil.copy2(target, old)


@contextmanager
def _without_signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait for a moment.

    Their handlers are replaced, because a mask of signals holds for one thread only, and libraries
    have started others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    handlers = {number: signal.getsignal(number) for number in numbers}
    replaced = [n for n, old in handlers.items() if old not in (None, signal.SIG_IGN)]
    received: list[int] = []
    for number in replaced:
        signal.signal(number, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, handlers[number])
        for number in received:
            signal.raise_signal(number)

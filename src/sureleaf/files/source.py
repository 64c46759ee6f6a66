"""Where a table's bytes come from: a file, a pipe or standard input, compressed or not."""

import bz2
import difflib
import gzip
import io
import lzma
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

from sureleaf.errors import InvalidArgumentError

__all__ = ["BROKEN", "Format", "Source", "find_source"]


Format = Literal["csv", "parquet", "arrow file", "arrow stream", "feather 1"]

BROKEN: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading damaged bytes raises, of any compression."""

_HEAD_BYTES: Final = 1 << 16
_LONGEST_HEAD: Final = 1 << 26

_FORMATS: Final[tuple[tuple[bytes, Format], ...]] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow file"),
    (b"FEA1", "feather 1"),
    (b"\xff\xff\xff\xff", "arrow stream"),
)

_FOREIGN: Final = (
    (b"sureleaf model", "a saved model"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ORC", "an ORC file"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"{", "JSON"),
    (b"[{", "JSON"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "XML"),
)
"""First bytes of what is often taken for a table."""


def _zstd(raw: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


_COMPRESSIONS: Final[tuple[tuple[bytes, Callable[[Any], Any]], ...]] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _zstd),
)


@dataclass(frozen=True, eq=False)
class Source:
    r"""The bytes of a table, decompressed, from the start as often as they are asked for.

    Parameters
    ----------
    name : str
        For messages: the file's name, or "standard input".
    head : bytes
        The first bytes.
    path : Path or None
        The file, where it can be opened again and is not compressed.
    opener : callable
        Gives a stream from the start.
    size : int or None
        How many bytes there are; None where that is not known.
    again : bool
        Whether it can be opened more than once.
    copies : list of files
        Copies on the disk, to be closed in the end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("a,b\n1,2\n")
    >>> source = find_source(path)
    >>> with source.open() as stream:
    ...     source.format, stream.read()
    ('csv', b'a,b\n1,2\n')
    """

    name: str
    head: bytes
    path: Path | None
    opener: Callable[[], BinaryIO]
    size: int | None = None
    again: bool = True
    copies: list[Any] = field(default_factory=list)

    @property
    def is_short(self) -> bool:
        """Whether the head is everything."""
        return len(self.head) < _HEAD_BYTES

    def open(self) -> BinaryIO:
        """Give a stream of the bytes from the start."""
        return self.opener()

    @property
    def format(self) -> Format:
        """What the bytes are, by the first of them; everything else is CSV, or refused."""
        found = next((name for magic, name in _FORMATS if self.head.startswith(magic)), None)
        if found is not None:
            return found
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for magic, what in _FOREIGN:
            if start[: len(magic)].lower() == magic.lower():
                raise InvalidArgumentError(
                    f"{self.name} must be a CSV, Parquet or Arrow file; got {what}. Save the "
                    "table as CSV."
                )
        return "csv"

    def close(self) -> None:
        """Close what was copied."""
        for copy in self.copies:
            copy.close()

    def seekable(self) -> Any:
        """Give what Parquet and Arrow files are read from: the file, or a copy of it."""
        import pyarrow as pa

        if self.path is not None:
            return pa.memory_map(str(self.path))
        with self.open() as stream:
            if self.again:
                return pa.BufferReader(stream.read())
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - close() does
            self.copies.append(copy)
            while block := stream.read(1 << 20):
                copy.write(block)
        copy.seek(0)
        return pa.PythonFile(copy, "r")


def find_source(path: Any, *, once: bool = False) -> Source:
    r"""Find a file, a pipe or, by the name "-", standard input, and read its first bytes.

    Parameters
    ----------
    path : str or path
        The file.
    once : bool
        Whether a pipe is to be read as it comes, but once; else it is read to its end and held
        in memory.

    Returns
    -------
    Source

    Raises
    ------
    InvalidArgumentError
        If there is no such file, it may not be read, or it is empty.

    Examples
    --------
    >>> find_source("nowhere.csv")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: there is no file 'nowhere.csv'. Check its name.
    """
    place = Path(path)
    is_input = str(path) == "-"
    name = "standard input" if is_input else place.name
    if not is_input and place.is_dir():
        raise InvalidArgumentError(
            f"a table must be a file; got the folder {str(path)!r}. Name one of its files."
        )
    try:
        if is_input or (place.exists() and not place.is_file()):
            raw = sys.stdin.buffer if is_input else place.open("rb")
            source = _piped(name, raw) if once else _held(name, raw)
            if not once and not is_input:
                raw.close()
        else:
            source = _on_disk(name, place)
    except FileNotFoundError:
        raise InvalidArgumentError(_not_there(place)) from None
    except BROKEN as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        raise InvalidArgumentError(f"{name} cannot be read: {said}.") from None
    if not source.head.strip():
        raise InvalidArgumentError(
            f"{name} must hold a table; got {'only blank lines' if source.head else 'nothing'}."
        )
    return source


def _not_there(path: Path) -> str:
    folder = path.parent
    beside = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    meant = f"Did you mean {str(folder / close[0])!r}?" if close else "Check its name."
    if not folder.is_dir():
        meant = f"There is no folder {str(folder)!r} either."
    return f"there is no file {str(path)!r}. {meant}"


def _on_disk(name: str, path: Path) -> Source:
    def opener() -> BinaryIO:
        return _decompressed(path.open("rb"))

    with path.open("rb") as raw:
        compressed = _compression(raw.read(8)) is not None
    with opener() as stream:
        head = _read_head(stream)
    if compressed:
        return Source(name, head, None, opener)
    return Source(name, head, path, opener, path.stat().st_size)


def _held(name: str, raw: BinaryIO) -> Source:
    with _decompressed(io.BytesIO(raw.read())) as stream:
        everything = stream.read()
    head = _read_head(io.BytesIO(everything))
    return Source(name, head, None, lambda: io.BytesIO(everything), len(everything))


def _piped(name: str, raw: BinaryIO) -> Source:
    stream = _Replayed(raw)
    start = stream.read(8)
    stream.replay(start)
    plain = _Replayed(_decompressed(stream))
    head = _read_head(cast(BinaryIO, plain))
    plain.replay(head)
    return Source(name, head, None, lambda: cast(BinaryIO, plain), again=False)


def _read_head(stream: BinaryIO) -> bytes:
    """Read the first bytes; of text, so many that there is a row below the header."""
    head = stream.read(_HEAD_BYTES)
    if head.startswith(tuple(magic for magic, _ in _FORMATS)):
        return head
    while max(head.count(b"\n"), head.count(b"\r")) < 2 and len(head) < _LONGEST_HEAD:
        more = stream.read(len(head) or 1)
        if not more:
            break
        head += more
    return head


def _decompressed(raw: Any) -> BinaryIO:
    if isinstance(raw, _Replayed):
        start = raw.read(8)
        raw.replay(start)
    else:
        start = raw.read(8)
        raw.seek(0)
    opener = _compression(start)
    return raw if opener is None else cast(BinaryIO, _Replayed(opener(raw), raw))


def _compression(start: bytes) -> Callable[[Any], Any] | None:
    return next((opener for magic, opener in _COMPRESSIONS if start.startswith(magic)), None)


class _Replayed(io.RawIOBase):
    """A stream of which some bytes, once read, can be put back; closed with what is below it."""

    def __init__(self, raw: Any, *below: Any) -> None:
        self._raw, self._below = raw, below
        self._ahead = b""

    def close(self) -> None:
        for stream in (self._raw, *self._below):
            stream.close()
        super().close()

    def replay(self, data: bytes) -> None:
        """Put bytes back in front."""
        self._ahead = data + self._ahead

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read as many bytes as asked for, fewer only at the end."""
        wanted = -1 if size is None else size
        parts = [self._ahead if wanted < 0 else self._ahead[:wanted]]
        self._ahead = self._ahead[len(parts[0]) :]
        have = len(parts[0])
        while wanted < 0 or have < wanted:
            part = self._raw.read(-1 if wanted < 0 else wanted - have)
            if not part:
                break
            parts.append(part)
            have += len(part)
        return b"".join(parts)

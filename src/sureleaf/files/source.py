"""Where the bytes of a table come from: a file, a pipe or standard input, compressed or not."""

import bz2
import difflib
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.arff import is_arff

TableFormat = Literal["csv", "parquet", "arrow file", "arrow stream", "arff", "excel"]

READ_ERRORS: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""The errors that damaged bytes raise, with any compression."""

_HEAD_BYTES: Final = 1 << 16
_MAX_HEAD_BYTES: Final = 1 << 26

_FORMATS: Final[tuple[tuple[bytes, TableFormat], ...]] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow file"),
    (b"\xff\xff\xff\xff", "arrow stream"),
)

_OTHER_FORMATS: Final = (
    # Arrow's reader of this old format does not check what it reads, and crashes on a wrong bit.
    (b"FEA1", "a Feather file of version 1, which pyarrow.feather.read_table can convert"),
    (b"sureleaf model", "a saved model"),
    (b"sureleaf evals", "a saved evaluation"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook of the format before 2007 (.xls)"),
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
"""First bytes of files that are often mistaken for a table."""


def _open_zstd(raw: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


_DECOMPRESSORS: Final[tuple[tuple[bytes, Callable[[Any], Any]], ...]] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)


@dataclass(frozen=True, eq=False)
class ByteSource:
    """The decompressed bytes of a table."""

    name: str
    head: bytes  # the first bytes
    path: Path | None  # the file, if it is on the disk and not compressed
    open: Callable[[], BinaryIO]  # opens the bytes from their start
    size: int | None = None  # the number of bytes; None if it is not known
    can_reopen: bool = True  # whether the bytes can be read more than once
    # Temporary copies on the disk, closed by `close`.
    copies: list[Any] = field(default_factory=list)

    @property
    def is_short(self) -> bool:
        """Whether the head is the whole content."""
        return len(self.head) < _HEAD_BYTES

    @property
    def format(self) -> TableFormat:
        """The format, by the first bytes; what is not another known format is CSV."""
        for magic, table_format in _FORMATS:
            if self.head.startswith(magic):
                return table_format
        if self.head.startswith(b"PK\x03\x04") and b"xl/" in self.head:
            return "excel"
        if is_arff(self.head):
            return "arff"
        start = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        for magic, description in _OTHER_FORMATS:
            if start[: len(magic)].lower() == magic.lower():
                raise InvalidArgumentError(
                    f"{self.name} must be a CSV, Parquet, Arrow, ARFF or Excel file; got "
                    f"{description}. Save the table as CSV."
                )
        return "csv"

    def close(self) -> None:
        """Delete the temporary copies."""
        for copy in self.copies:
            copy.close()

    def seekable(self) -> Any:
        """Return the file, or a copy of it, in the random-access form that Arrow reads."""
        import pyarrow as pa

        if self.path is not None:
            # Not a memory map: if the file shrinks while it is read, the process would be killed.
            return pa.OSFile(str(self.path))
        with self.open() as stream:
            if self.can_reopen:
                return pa.BufferReader(stream.read())
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - close() does it
            self.copies.append(copy)
            while block := stream.read(1 << 20):
                copy.write(block)
        copy.seek(0)
        return pa.PythonFile(copy, "r")


def open_bytes(path: Any, *, as_stream: bool = False) -> ByteSource:
    """Open a file, a pipe or standard input ("-"), and read its first bytes.

    With `as_stream`, a pipe is read as its bytes arrive, once only; by default it is read to its
    end and kept in memory.
    """
    file = Path(path)
    is_input = str(path) == "-"
    name = "standard input" if is_input else file.name
    if not is_input and file.is_dir():
        raise InvalidArgumentError(
            f"a table must be a file; got the folder {str(path)!r}. Name one of its files."
        )
    try:
        if is_input or (file.exists() and not file.is_file()):
            raw = sys.stdin.buffer if is_input else file.open("rb")
            _check_device(name, raw)
            source = _stream_pipe(name, raw) if as_stream else _read_pipe(name, raw)
            if not as_stream and not is_input:
                raw.close()
        else:
            source = _open_file(name, file)
    except FileNotFoundError:
        raise InvalidArgumentError(_no_such_file(file)) from None
    except READ_ERRORS as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise InvalidArgumentError(f"{name} cannot be read: {cause}.") from None
    if not source.head.strip():
        content = "only blank lines" if source.head else "an empty file"
        raise InvalidArgumentError(f"{name} must hold a table; got {content}.")
    return source


def list_files(path: Path) -> list[Path]:
    """Return the files of a folder and of the folders in it, without hidden ones, or the file."""
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    shown = [
        file
        for file in files
        if not any(name.startswith((".", "_")) for name in file.relative_to(path).parts)
    ]
    if not shown:
        raise InvalidArgumentError(
            f"a folder must have files with rows; got {str(path)!r}, which has none. Check its "
            "name."
        )
    return shown


def _no_such_file(path: Path) -> str:
    folder = path.parent
    neighbours = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    close = difflib.get_close_matches(path.name, neighbours, n=1, cutoff=0.8)
    advice = f"Did you mean {str(folder / close[0])!r}?" if close else "Check its name."
    if not folder.is_dir():
        advice = f"There is no folder {str(folder)!r} either."
    return f"there is no file {str(path)!r}. {advice}"


def _open_file(name: str, path: Path) -> ByteSource:
    def opener() -> BinaryIO:
        return _decompress(path.open("rb"))

    with path.open("rb") as raw:
        is_compressed = _decompressor(raw.read(8)) is not None
    with opener() as stream:
        head = _read_head(stream)
    if is_compressed:
        return ByteSource(name, head, None, opener)
    return ByteSource(name, head, path, opener, path.stat().st_size)


def _check_device(name: str, raw: Any) -> None:
    """Refuse a device such as /dev/zero, which never ends and would fill the memory."""
    try:
        is_device = stat.S_ISCHR(os.fstat(raw.fileno()).st_mode) and not raw.isatty()
    except (OSError, ValueError):  # not a file of the system
        return
    if is_device and raw.peek(1):
        if raw is not sys.stdin.buffer:
            raw.close()
        raise InvalidArgumentError(
            f"{name} must be a file or a pipe; got a device, which has no end. Name a file."
        )


def _read_pipe(name: str, raw: BinaryIO) -> ByteSource:
    with _decompress(io.BytesIO(raw.read())) as stream:
        content = stream.read()
    head = _read_head(io.BytesIO(content))
    return ByteSource(name, head, None, lambda: io.BytesIO(content), len(content))


def _stream_pipe(name: str, raw: BinaryIO) -> ByteSource:
    stream = _PushBackStream(_decompress(_PushBackStream(raw)))
    head = _read_head(cast(BinaryIO, stream))
    stream.push_back(head)
    return ByteSource(name, head, None, lambda: cast(BinaryIO, stream), can_reopen=False)


def _read_head(stream: BinaryIO) -> bytes:
    """Read the first bytes; of text, at least the header and one row."""
    head = stream.read(_HEAD_BYTES)
    if head.startswith(tuple(magic for magic, _ in _FORMATS)):
        return head
    while max(head.count(b"\n"), head.count(b"\r")) < 2 and len(head) < _MAX_HEAD_BYTES:
        more = stream.read(len(head) or 1)
        if not more:
            break
        head += more
    return head


def _decompress(raw: Any) -> BinaryIO:
    start = raw.read(8)
    if isinstance(raw, _PushBackStream):
        raw.push_back(start)
    else:
        raw.seek(0)
    decompressor = _decompressor(start)
    if decompressor is None:
        return cast(BinaryIO, raw)
    return cast(BinaryIO, _PushBackStream(decompressor(raw), raw))


def _decompressor(start: bytes) -> Callable[[Any], Any] | None:
    return next((opener for magic, opener in _DECOMPRESSORS if start.startswith(magic)), None)


class _PushBackStream(io.RawIOBase):
    """A stream to which bytes can be returned after reading; closes the streams below it, too."""

    def __init__(self, raw: Any, *below: Any) -> None:
        self._raw, self._below = raw, below
        self._returned = b""

    def close(self) -> None:
        for stream in (self._raw, *self._below):
            stream.close()
        super().close()

    def push_back(self, data: bytes) -> None:
        """Return bytes: the next read gives them again."""
        self._returned = data + self._returned

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read this many bytes, fewer only at the end."""
        wanted = -1 if size is None else size
        parts = [self._returned if wanted < 0 else self._returned[:wanted]]
        self._returned = self._returned[len(parts[0]) :]
        n_read = len(parts[0])
        while wanted < 0 or n_read < wanted:
            part = self._raw.read(-1 if wanted < 0 else wanted - n_read)
            if not part:
                break
            parts.append(part)
            n_read += len(part)
        return b"".join(parts)

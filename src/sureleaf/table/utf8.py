"""Bytes of any encoding as UTF-8, checked, with the place of the first that is wrong."""

import codecs
import io
from typing import Any, BinaryIO, Final

from sureleaf.errors import InvalidArgumentError

__all__ = ["Utf8Stream", "find_codec"]

_NO_TEXT: Final = b"\0"


def find_codec(encoding: str | None, head: bytes) -> str:
    """Name the encoding: what is given, else what the byte order mark says, else UTF-8.

    Parameters
    ----------
    encoding : str or None
        A name that Python knows.
    head : bytes
        The first bytes.

    Returns
    -------
    str

    Raises
    ------
    InvalidArgumentError
        If there is no such encoding.

    Examples
    --------
    >>> find_codec(None, "a".encode("utf-16")), find_codec("latin-1", b"a")
    ('utf-16', 'iso8859-1')
    """
    if encoding is not None:
        try:
            return codecs.lookup(encoding).name
        except LookupError:
            raise InvalidArgumentError(
                "encoding must be one that Python knows, such as utf-8, windows-1252, latin-1 or "
                f"utf-16; got {encoding!r}."
            ) from None
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


class Utf8Stream(io.RawIOBase):
    r"""A stream of UTF-8 text from bytes of some encoding.

    A byte order mark and blank lines before the header are left out. A byte that is none of the
    encoding, or a zero byte, is an error that says where it is. What ends the text is kept, to see
    whether the last quote is closed.

    Parameters
    ----------
    raw : binary stream
        The bytes.
    codec : str
        Their encoding.
    name : str
        The file, for messages.

    Examples
    --------
    >>> Utf8Stream(io.BytesIO(b"\n\xfcber"), "iso8859-1", "data.csv").read().decode()
    'über'
    """

    def __init__(self, raw: BinaryIO, codec: str, name: str) -> None:
        self._raw, self._codec, self._name = raw, codec, name
        self._decoder = codecs.getincrementaldecoder(codec)()
        self._ahead = self._cut = b""
        self._n_bytes = self.n_lines = 0
        self._started = self._ended = False
        self.tail = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes of UTF-8: at most so many, none only at the end."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        while not self._ahead and not self._ended:
            self._ahead = self._next(max(size, 1))
        part, self._ahead = self._ahead[:size], self._ahead[size:]
        if part:
            self.tail = (self.tail + part)[-8:] if len(part) < 8 else part[-8:]
        return part

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, for readers that bring their own."""
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the bytes, too."""
        self._raw.close()
        super().close()

    def _next(self, size: int) -> bytes:
        block = self._raw.read(size)
        self._ended = not block
        found = self._as_utf8(block)
        if _NO_TEXT in found:
            raise self._zero(found.index(_NO_TEXT))
        self._n_bytes += len(block)
        if not self._started:
            found = found.removeprefix(codecs.BOM_UTF8)
            blank = len(found) - len(found.lstrip(b"\r\n"))
            self.n_lines += _count_lines(found[:blank])
            found = found[blank:]
            self._started = bool(found)
        self.n_lines += _count_lines(found)
        return found

    def _as_utf8(self, block: bytes) -> bytes:
        data = self._cut + block
        try:
            if self._codec == "utf-8":  # nothing to convert: only to check
                _, whole = codecs.utf_8_decode(data, "strict", self._ended)
                self._cut = data[whole:]
                return data[:whole]
            return self._decoder.decode(block, final=self._ended).encode()
        except UnicodeDecodeError as problem:
            raise self._wrong(problem, len(problem.object) - len(block)) from None

    def _wrong(self, problem: UnicodeDecodeError, n_kept: int) -> InvalidArgumentError:
        """Say where the wrong byte is; some bytes of the block before may be among those read."""
        if _NO_TEXT in problem.object[: problem.start]:
            return self._zero(problem.object.index(_NO_TEXT))
        line = self.n_lines + 1 + _count_lines(problem.object[: problem.start])
        place = self._n_bytes - n_kept + problem.start + 1
        byte = problem.object[problem.start]
        other = "windows-1252" if self._codec.startswith("utf") else "utf-8"
        return InvalidArgumentError(
            f"{self._name} is not {self._codec} text: byte {place:,} (line {line:,}) is "
            f"0x{byte:02x}. Say how it is encoded, such as encoding={other!r} (--encoding "
            f"{other}), or save it as UTF-8."
        )

    def _zero(self, place: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self._name} is not text: byte {self._n_bytes + place + 1:,} is 0. If it is UTF-16 "
            "without a byte order mark, say encoding='utf-16-le' (--encoding utf-16-le); else "
            "save the table as CSV."
        )


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") or text.count(b"\r")

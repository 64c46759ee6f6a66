"""Bytes in any encoding, read as UTF-8; a byte that is wrong is named with its place."""

import codecs
import io
from typing import Any, BinaryIO, Final

from sureleaf.errors import InvalidArgumentError

_ZERO_BYTE: Final = b"\0"


def find_codec(encoding: str | None, head: bytes) -> str:
    """Return the codec: the given encoding, else by the byte order mark, else UTF-8."""
    if encoding is not None:
        try:
            codec = codecs.lookup(encoding)
            "".encode(codec.name)  # a LookupError for codecs that are not of text
            codecs.getincrementaldecoder(codec.name)
            return codec.name
        except (LookupError, ValueError):
            raise InvalidArgumentError(
                "encoding must be one that Python knows, such as utf-8, windows-1252, latin-1 or "
                f"utf-16; got {encoding!r}."
            ) from None
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8"


class Utf8Stream(io.RawIOBase):
    """Bytes in some encoding, read as UTF-8.

    A byte order mark and blank lines before the header are skipped. A byte that the encoding does
    not allow, or a zero byte, raises an error with its position. `tail` keeps the last bytes, for
    `CsvText.check_last_quote`.
    """

    def __init__(self, raw: BinaryIO, codec: str, file_name: str) -> None:
        self._raw, self._codec, self._file_name = raw, codec, file_name
        self._decoder = codecs.getincrementaldecoder(codec)()
        self._ahead = b""  # converted, but not read yet
        self._incomplete = b""  # the first bytes of a character that a block has cut
        self._n_bytes = self.n_lines = 0
        self._started = self._ended = False
        self.tail = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read at most `size` bytes of UTF-8; none at the end only."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        while not self._ahead and not self._ended:
            self._ahead = self._next_block(max(size, 1))
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

    def _next_block(self, size: int) -> bytes:
        block = self._raw.read(size)
        self._ended = not block
        text = self._to_utf8(block)
        if _ZERO_BYTE in text:
            raise self._zero_byte_error(text.index(_ZERO_BYTE))
        self._n_bytes += len(block)
        if not self._started:
            text = text.removeprefix(codecs.BOM_UTF8)
            n_blank = len(text) - len(text.lstrip(b"\r\n"))
            self.n_lines += _count_lines(text[:n_blank])
            text = text[n_blank:]
            self._started = bool(text)
        self.n_lines += _count_lines(text)
        return text

    def _to_utf8(self, block: bytes) -> bytes:
        data = self._incomplete + block
        try:
            if self._codec == "utf-8":  # check only; there is nothing to convert
                _, n_complete = codecs.utf_8_decode(data, "strict", self._ended)
                self._incomplete = data[n_complete:]
                return data[:n_complete]
            return self._decoder.decode(block, final=self._ended).encode()
        except UnicodeDecodeError as error:
            raise self._wrong_byte_error(error, len(error.object) - len(block)) from None
        except UnicodeError as error:  # some encodings do not say where
            raise InvalidArgumentError(
                f"{self._file_name} is not {self._codec} text ({error}). Give its encoding "
                "(--csv encoding=...), or save it as UTF-8."
            ) from None

    def _wrong_byte_error(self, error: UnicodeDecodeError, n_kept: int) -> InvalidArgumentError:
        """Say where the wrong byte is; the first `n_kept` bytes belong to the block before."""
        if _ZERO_BYTE in error.object[: error.start]:
            return self._zero_byte_error(error.object.index(_ZERO_BYTE))
        line = self.n_lines + 1 + _count_lines(error.object[: error.start])
        position = self._n_bytes - n_kept + error.start + 1
        byte = error.object[error.start]
        other = "windows-1252" if self._codec.startswith("utf") else "utf-8"
        return InvalidArgumentError(
            f"{self._file_name} is not {self._codec} text: byte {position:,} (line {line:,}) is "
            f"0x{byte:02x}. Give its encoding, such as encoding={other!r} "
            f"(--csv encoding={other}), or save it as UTF-8."
        )

    def _zero_byte_error(self, index: int) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self._file_name} is not text: byte {self._n_bytes + index + 1:,} is 0. If it is "
            "UTF-16 without a byte order mark, give encoding='utf-16-le' "
            "(--csv encoding=utf-16-le); otherwise save the table as CSV."
        )


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") or text.count(b"\r")

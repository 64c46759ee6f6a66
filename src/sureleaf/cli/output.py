"""Printing results (rich text for people, JSON for programs), provenance and completion."""

import codecs
import errno
import hashlib
import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, cast

import typer

from sureleaf.formatting import visible

if TYPE_CHECKING:
    from rich.console import RenderableType


def show(*parts: "RenderableType") -> None:
    """Print rich text, one part below the other; in colour only on a terminal."""
    from rich.console import Console

    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(_VisibleText(part))
    lines = [line.rstrip() for line in captured.get().split("\n")]
    _write("\n".join(lines))


class _VisibleText:
    """What rich prints for a part, with visible control characters."""

    def __init__(self, part: "RenderableType") -> None:
        self._part = part

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.segment import Segment

        part = console.render_str(self._part) if isinstance(self._part, str) else self._part
        for segment in console.render(part, options):
            if segment.control:
                continue
            yield Segment(visible(segment.text, keep="\n"), segment.style)


def show_json(result: Mapping[str, object]) -> None:
    """Print one JSON object, without the NaN and Infinity that strict readers reject."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(
        result, indent=2, allow_nan=False, ensure_ascii=not is_utf8, default=_label_text
    )
    _write(visible(text, keep="\n", json=True) + "\n")


def _label_text(label: object) -> str:
    """Return a label that JSON has no type for as text."""
    if isinstance(label, date | time | timedelta | Decimal):
        return str(label)
    raise TypeError(f"{type(label).__name__} has no form in JSON")


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Open standard output for bytes; exit silently if its reader has closed the pipe."""
    flush()
    stream = sys.stdout.buffer
    try:
        yield cast(BinaryIO, _TerminalStream(stream)) if sys.stdout.isatty() else stream
        stream.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:
            exit_silently()
        raise


class _TerminalStream(io.RawIOBase):
    """Standard output that is a terminal: control characters of the data become visible."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        text = bytes(data).decode("utf-8", "backslashreplace")
        self._stream.write(visible(text, keep="\n\r\t").encode())
        return len(data)


def flush() -> None:
    """Write what is still in the buffer."""
    _write("")


def _write(text: str) -> None:
    """Write text; exit silently if the reader (such as ``head``) has closed the pipe."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        exit_silently()


_PLAIN_SIGNS: Final = {
    **dict.fromkeys("\u2212\u2013─", "-"),
    **dict.fromkeys("├┤┼", "|"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("\u00a0\u2009\u202f", " "),
    **{block: str(height) for height, block in enumerate("▁▂▃▄▅▆▇█", start=1)},
    **{"●": "o", "•": "*", "…": ".", "≤": "<=", "≥": ">=", "\u00d7": "x"},
}
"""ASCII for the signs of our own texts and drawings."""


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what the encoding of a stream does not have: our signs by ASCII, letters by codes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = (_PLAIN_SIGNS.get(sign) or ascii(sign)[1:-1] for sign in signs)
    return "".join(plain), error.end


codecs.register_error("sureleaf.plain", _write_plainly)


def prepare_streams() -> None:
    """Make the standard streams usable, so that no letter is an error.

    A descriptor that the caller has closed would otherwise be that of the next file opened. Of such
    streams, input is empty, messages go nowhere, and output fails (EBADF): it would be lost.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="sureleaf.plain")


def exit_silently() -> NoReturn:
    """Exit because the reader of the output, such as ``head``, has seen enough."""
    # At exit, Python would write the rest of the buffer, and fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


# ---- provenance: the command and the data behind a report --------------------------------------


def repeat_command(context: typer.Context, name: str, *files: Path) -> str:
    """Return the command that makes the same report again, without options at their default."""
    words = ["sureleaf", name, *map(_path_text, files)]
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if not option.opts[0].startswith("-") or option.name == "jobs":
            continue
        if value in (None, [], option.default):
            continue
        if value is True:
            words.append(option.opts[0])
            continue
        for single in value if isinstance(value, list | tuple) else [value]:
            words += [option.opts[0], _path_text(single)]
    return shlex.join(words)


def _path_text(value: object) -> str:
    """Return a value as it was given, but no absolute path: folders of this machine are private."""
    file = Path(str(value))
    return file.name if file.is_absolute() else str(value)


def sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file; None for standard input or a pipe."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# ---- shell completion --------------------------------------------------------------------------


def complete_choices(*choices: str) -> Callable[[str], list[str]]:
    """Return a function that completes the typed text to these choices."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete

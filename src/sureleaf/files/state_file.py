"""The container of models and evaluations: some fixed bytes, a JSON object, arrays, a checksum.

docs/model-file.md describes it. Nothing in it is ever executed, and every size in it is compared
with the size of the file before memory is allocated.
"""

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import prod
from os import PathLike
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.files.atomic_write import atomic_write


@dataclass(frozen=True)
class FileKind:
    """What a container holds."""

    noun: str  # for messages: "a model"
    # The first bytes. Their line end shows at once whether a transfer has changed line ends.
    magic: bytes
    made_by: str  # what writes such files


MODEL: Final = FileKind("a model", b"sureleaf model\r\n", "save() or sureleaf fit")
EVALUATION: Final = FileKind(
    "an evaluation", b"sureleaf evals\r\n", "save() or sureleaf evaluate --save"
)

VERSION: Final = 1

_NUMBERS: Final = struct.Struct("<QQ")
_START: Final = len(MODEL.magic) + _NUMBERS.size
_CHECKSUM: Final = hashlib.sha256().digest_size
_DTYPES: Final = {name: np.dtype(name) for name in ("<i4", "<i8", "<f8", "|u1")}
_ALIGNED: Final = 8
_MAX_HEADER: Final = 1 << 28
"""JSON takes some ten times its size in memory."""


class Damaged(Exception):  # noqa: N818 - users get it as an InvalidArgumentError
    """What was read cannot be a model; the message says why, as the end of a sentence."""


@dataclass(frozen=True, eq=False)
class State:
    """A model or an evaluation as plain values and arrays."""

    header: dict[str, Any]  # text, numbers, bools, None, lists and dicts of these
    arrays: dict[str, NDArray[Any]]  # of int32, int64, float64 or uint8, with one or two axes

    def take(self, name: str, dtype: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array of this type and shape (None: any length), or raise Damaged."""
        array = self.arrays.get(name)
        if array is None:
            raise Damaged(f"it has no array {name!r}")
        fits = array.ndim == len(shape) and all(
            wanted is None or wanted == length
            for wanted, length in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype != np.dtype(dtype):
            raise Damaged(
                f"array {name!r} is {array.dtype.str} of shape {array.shape}, where {dtype} of "
                f"shape {shape} was expected"
            )
        return array


def write_state(state: State, path: str | PathLike[str], kind: FileKind = MODEL) -> None:
    """Write a state to a file, which appears whole or not at all."""
    parts = _parts(state, f"saved in {path}", kind)
    with atomic_write(path) as file:
        for part in parts:
            file.write(part)


def state_bytes(state: State) -> bytes:
    """Return what `write_state` writes of a model, to be a part of another file."""
    return b"".join(bytes(part) for part in _parts(state, "saved", MODEL))


def state_of_bytes(content: bytes) -> State:
    """Read what `state_bytes` returned; raises Damaged for anything else."""
    if not content.startswith(MODEL.magic):
        raise Damaged("its model is not one that Sureleaf saved")
    return _parse("its model", content)


def _parts(state: State, what: str, kind: FileKind) -> list[Any]:
    """Return the parts of a file, in order."""
    arrays = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in state.arrays.items()
    }
    listed = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    header = {**state.header, "arrays": listed}
    if has_half_characters(header):
        raise InvalidArgumentError(
            f"names, categories and labels must be text that can be written as UTF-8 to be {what}; "
            "got one with half of a character (a surrogate). Correct it."
        )
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-len(text) % _ALIGNED)
    parts: list[Any] = [kind.magic, _NUMBERS.pack(VERSION, len(text)), text]
    for array in arrays.values():
        parts += [array.reshape(-1).view(np.uint8).data, b"\0" * (-array.nbytes % _ALIGNED)]
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return [*parts, checksum.digest()]


def has_half_characters(header: Any) -> bool:
    """Whether plain values have a text that cannot be written as UTF-8, as exports need."""
    try:
        json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def read_state(path: str | PathLike[str], kind: FileKind = MODEL) -> State:
    """Read a file that `write_state` wrote; the error says what else the file is."""
    content = _content(path, kind)
    with decoding(path, kind):
        return _parse(path, content)


def decoding(path: str | PathLike[str], kind: FileKind = MODEL) -> AbstractContextManager[None]:
    """Turn the errors of contents that cannot be decoded into one that names the file."""
    again = "fit and save the model again" if kind is MODEL else "save the evaluation again"
    return refusing(f"{path} is damaged", f"Copy the original file again, or {again}.")


@contextmanager
def refusing(what: str, cure: str) -> Iterator[None]:
    """Turn the errors of contents that cannot be decoded into one: what it is, why, its cure."""
    try:
        yield
        return
    except SureleafError:
        raise
    except Damaged as problem:
        why = str(problem).removesuffix(".")
    except RecursionError:
        why = "it is nested too deeply"
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        why = f"a part cannot be read ({problem!r:.200})"
    raise InvalidArgumentError(f"{what}: {why}. {cure}")


def _content(path: str | PathLike[str], kind: FileKind) -> bytes:
    def open_at_once(name: str, flags: int) -> int:
        # Without waiting for a writer, so that a pipe is refused.
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    try:
        with open(path, "rb", opener=open_at_once) as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InvalidArgumentError(
                    f"{path} is not a regular file. Give the path of {kind.noun}'s file."
                )
            if file.read(len(kind.magic)) != kind.magic:
                raise InvalidArgumentError(
                    f"{path} is not {kind.noun} that Sureleaf saved. Give a file that "
                    f"{kind.made_by} wrote; a table of data is not {kind.noun}."
                )
            file.seek(0)
            return file.read(facts.st_size)
    except MemoryError:
        raise InvalidArgumentError(
            f"{path} is larger than the free memory ({facts.st_size:,} bytes). Free some memory, "
            "or load it on a larger machine."
        ) from None
    except OSError as problem:
        raise InvalidArgumentError(
            f"{path} cannot be read ({problem.strerror}). Give the path of {kind.noun}'s file."
        ) from problem


def _parse(path: str | PathLike[str], content: bytes) -> State:
    if len(content) < _START + _CHECKSUM:
        raise Damaged("it ends within its first bytes")
    version, header_size = _NUMBERS.unpack_from(content, len(MODEL.magic))
    if version > VERSION:
        raise newer(path, f"format {version}, and this one reads up to {VERSION}")
    end = len(content) - _CHECKSUM
    if hashlib.sha256(memoryview(content)[:end]).digest() != content[end:]:
        raise Damaged("its checksum is wrong, so bytes were changed or are missing")
    if version < 1 or header_size > end - _START:
        raise Damaged("its first bytes contradict its size")
    if header_size > _MAX_HEADER:
        raise Damaged(f"its header has {header_size:,} bytes, more than any header needs")
    header = json.loads(
        content[_START : _START + header_size].decode("utf-8"), parse_constant=_no_constant
    )
    if has_half_characters(header):
        raise Damaged("a text in its header has half of a character")
    if not isinstance(header, dict) or not isinstance(listed := header.pop("arrays", 0), list):
        raise Damaged("its header lists no arrays")
    return State(header, _arrays(listed, content, _START + header_size, end))


def newer(path: str | PathLike[str], how: str) -> InvalidArgumentError:
    """Make the error for a file that only a newer version can read."""
    return InvalidArgumentError(
        f"{path} was made by a newer Sureleaf ({how}). Upgrade: pip install --upgrade sureleaf"
    )


def _no_constant(name: str) -> float:
    raise Damaged(f"its header has the number {name}")


def _arrays(listed: list[Any], content: bytes, start: int, end: int) -> dict[str, NDArray[Any]]:
    """View parts of the content as arrays; the size of each is checked before it is made."""
    arrays: dict[str, NDArray[Any]] = {}
    for entry in listed:
        name, dtype, shape = _entry(entry)
        size = prod(shape) * dtype.itemsize
        if name in arrays or size > end - start:
            raise Damaged(f"array {name[:80]!r} is there twice or goes beyond the end of the file")
        flat = np.frombuffer(content, dtype, prod(shape), start)
        arrays[name] = flat.reshape(shape).astype(dtype.newbyteorder("="), copy=False)
        start += size + (-size % _ALIGNED)
    if start != end:
        raise Damaged(f"its arrays end {abs(end - start)} bytes from where they should")
    return arrays


def _entry(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...]]:
    if not isinstance(entry, dict):
        raise Damaged("its list of arrays holds something else")
    name, dtype, shape = (entry.get(key) for key in ("name", "dtype", "shape"))
    is_shape = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    if not isinstance(name, str) or not is_shape or not 1 <= len(shape) <= 2:  # type: ignore[arg-type]
        raise Damaged("its list of arrays has one without name or shape")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise Damaged(f"array {name[:80]!r} is not of type {', '.join(_DTYPES)}")
    return name, _DTYPES[dtype], tuple(shape)  # type: ignore[arg-type]

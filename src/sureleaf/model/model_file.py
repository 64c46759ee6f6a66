"""The file of a model, a container of `files.state_file`; docs/model-file.md describes it."""

from typing import Final

from sureleaf.files.state_file import (
    MODEL,
    VERSION,
    Damaged,
    State,
    damaged_file,
    newer,
    read_state,
    write_state,
)

__all__ = [
    "MAGIC",
    "VERSION",
    "Damaged",
    "ModelState",
    "damaged_file",
    "newer",
    "read_state",
    "write_state",
]

MAGIC: Final = MODEL.magic
"""The first bytes of a model's file."""

ModelState = State
"""A fitted model as plain values and arrays: what its file and its JSON hold."""

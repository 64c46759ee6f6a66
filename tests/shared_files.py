"""The folder of reference material that is not part of the project; tests skip without it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the reference material in ../shared does not exist"
)

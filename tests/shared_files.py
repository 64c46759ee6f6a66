"""Where the reference material lies that is not part of the project, and what to do without it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the reference material in ../shared is not here"
)

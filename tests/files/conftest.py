"""Files for the tests of this folder."""

import pathlib
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: pathlib.Path) -> Any:
    def written(content: bytes | str, name: str = "data.csv") -> pathlib.Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written

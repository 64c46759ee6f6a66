"""The notebooks of examples/ run, and print what is stored in them."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def notebook_pages() -> ModuleType:
    """The file that runs notebooks; `docs` is not a package."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "notebook_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(outputs: list[dict[str, Any]]) -> str:
    """Return the printed text; the form of data frames and pictures depends on other libraries."""
    return "".join("".join(one["text"]) for one in outputs if one["output_type"] == "stream")


def test_there_are_six_notebooks() -> None:
    assert len(NOTEBOOKS) == 6


@pytest.mark.usefixtures("levels_computed_once")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored(
    path: Path, notebook_pages: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    stored = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for before, now in zip(stored, notebook_pages.run(notebook, path.parent), strict=True):
        assert printed(now) == printed(before), "run: make notebooks"
        assert len(now) == len(before)
    last = "".join(notebook["cells"][-1]["source"])
    assert last.startswith("## What Sureleaf showed that the others did not")

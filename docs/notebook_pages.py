"""The notebooks of examples/, run by this file, and as pages of the site.

A cell is run as Python runs a file, and what Jupyter would show is stored in the notebook: printed
text, the last expression, figures. `python docs/notebook_pages.py` stores the outputs anew; a test
compares them. Jupyter itself is not needed: it would add some forty packages to the tests.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

Cell = dict[str, Any]
Output = dict[str, Any]


def run(notebook: dict[str, Any], folder: Path) -> list[list[Output]]:
    """Return the outputs of each code cell, run in order in one namespace and in this folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder), _pandas_options_restored():
        return [_run_cell(cell, namespace) for cell in _code_cells(notebook)]


@contextlib.contextmanager
def _pandas_options_restored() -> Iterator[None]:
    import pandas

    try:
        yield
    finally:
        pandas.reset_option("display.max_colwidth")


def _code_cells(notebook: dict[str, Any]) -> list[Cell]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run_cell(cell: Cell, namespace: dict[str, Any]) -> list[Output]:
    code = ast.parse("".join(cell["source"]))
    last = code.body.pop() if code.body and isinstance(code.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<cell>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    outputs: list[Output] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = _shown(value)
        outputs.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return outputs


def _shown(value: object) -> dict[str, Any]:
    """Return the forms in which a value is shown."""
    figure = getattr(value, "figure_", value)  # a display that was drawn, or a figure
    if hasattr(figure, "savefig"):
        picture = io.BytesIO()
        figure.savefig(picture, dpi=80, bbox_inches="tight", metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def store_outputs(path: Path) -> None:
    """Run a notebook and write it with its outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell, outputs in zip(_code_cells(notebook), run(notebook, path.parent), strict=True):
        cell["outputs"] = outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write(examples: Path, folder: Path) -> None:
    """Write a page for each notebook, with the outputs that it holds."""
    for path in sorted(examples.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        pictures = _Pictures(folder, path.stem)
        parts = [part for cell in notebook["cells"] for part in _cell_page(cell, pictures)]
        file = f"`examples/{path.name}`"
        parts.append(f"*This page is the notebook {file}; a test runs it.*")
        text = "\n\n".join(parts) + "\n"
        page = folder / f"{path.stem}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


class _Pictures:
    """The pictures of one notebook, numbered."""

    def __init__(self, folder: Path, stem: str) -> None:
        self.folder, self.stem, self.n = folder, stem, 0

    def add(self, png: str) -> str:
        self.n += 1
        name = f"{self.stem}-{self.n}.png"
        (self.folder / name).write_bytes(base64.b64decode(png))
        return name


def _cell_page(cell: Cell, pictures: _Pictures) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *(_output_page(o, pictures) for o in cell["outputs"])]


def _output_page(output: Output, pictures: _Pictures) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "image/png" in data:
        return f"```{{image}} {pictures.add(data['image/png'])}\n```"
    if "text/html" in data:
        return f"```{{raw}} html\n{''.join(data['text/html'])}\n```"
    return f"```text\n{''.join(data['text/plain'])}\n```"


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    for file in sys.argv[1:] or sorted(map(str, (ROOT / "examples").glob("*.ipynb"))):
        store_outputs(Path(file))

"""What the pages of the site show and nobody typed: a report, figures, the help of each command.

Everything is written to docs/_generated, which is not kept in git. A part that exists is kept if it
is newer than the code and the data that it is made from.
"""

import contextlib
import io
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import draw_plots
import draw_report
import explanation_figures
import notebook_pages

from sureleaf.cli import main
from sureleaf.cli.application import application

ROOT = Path(__file__).resolve().parents[1]
HELP_WIDTH = 88  # columns: as much as a page of the site shows without scrolling


def write(docs: Path) -> None:
    """Write all parts below docs/_generated."""
    folder = docs / "_generated"
    shutil.rmtree(folder / "api", ignore_errors=True)  # Sphinx writes one file per name
    _keep(folder / "pages" / "sample-report.html", draw_report.report)
    _keep(folder / "gallery" / "roc.svg", _draw_gallery)
    _keep(folder / "commands.md", _write_commands)
    explanation_figures.draw(_folder(folder / "figures"))
    notebook_pages.write(ROOT / "examples", _folder(folder / "cases"))


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _keep(path: Path, make: Callable[[Path], None]) -> None:
    """Make a file unless it is newer than what it is made from."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").glob("*.csv")]
    sources.append(Path(make.__code__.co_filename))
    newest = max(source.stat().st_mtime for source in sources)
    if not path.exists() or path.stat().st_mtime < newest:
        make(_folder(path.parent) / path.name)


def _draw_gallery(path: Path) -> None:
    """Draw every display into a file of its own, in the folder of this path."""
    for name, display in draw_plots.displays().items():
        figure = display.plot().figure_
        figure.savefig(path.with_name(f"{name}.svg"), bbox_inches="tight")


def _write_commands(path: Path) -> None:
    """Write the help of each command, as a terminal prints it."""
    names = [command.callback.__name__ for command in application.registered_commands]
    parts = [f"## `sureleaf {name}`\n\n```text\n{_help(name)}\n```\n" for name in names]
    path.write_text("\n".join(parts), encoding="utf-8")


def _help(command: str) -> str:
    printed = io.StringIO()
    environment = {"COLUMNS": str(HELP_WIDTH), "TERM": "dumb", "NO_COLOR": "1"}
    with (
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
        mock.patch.dict(os.environ, environment),
    ):
        main([command, "--help"])
    lines = (line.rstrip().removeprefix(" ") for line in printed.getvalue().splitlines())
    return re.sub(r"\n\n+", "\n\n", "\n".join(lines).strip())

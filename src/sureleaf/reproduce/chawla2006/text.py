"""The study as text: every table beside what is printed, and what agrees."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sureleaf.errors import MissingPackageError
from sureleaf.files.atomic_write import atomic_write
from sureleaf.reproduce.chawla2006.result import (
    COMPARED,
    SMOOTHED,
    TABLE_3_COLUMNS,
    Study,
)
from sureleaf.reproduce.chawla2006.study import CORRELATIONS, MEASURES, METHODS, TABLE_3

__all__ = ["draw_figures", "told"]


HISTOGRAMS = ("unpruned, frequency", "unpruned, Laplace", "bagged")
BARS = " ▁▂▃▄▅▆▇█"


def told(study: Study) -> list[RenderableType]:
    """Return the study's tables and figures, its claims, and a sentence that counts them.

    - sureleaf reproduce chawla2006 --data data
    """
    claims = study.claims()
    agree = sum(claim.agrees for claim in claims)
    return [
        Text(study.source, style="bold"),
        f"{study.repeats} times 30 % held out, seed {study.seed}. NCE in nats; a probability of "
        f"zero counts as {study.zero:g}. What is printed as NCE is taken for base 10.",
        _heading("Table 1: the data sets, in print and in the files"),
        _table_1(study),
        _heading("All measures"),
        _measures(study),
        _heading("Table 3: unpruned and pruned; what is printed as NCE in nats"),
        _table_3(study),
        _heading("Figure 3: relative difference to the unpruned tree's frequencies"),
        _relative(study),
        _heading("Table 2: correlations over data sets and methods"),
        _correlations(study),
        _heading("Figure 2: probability of the positive rows, mammography, by tenths"),
        _histograms(study),
        _heading("Directions in table 3: found, and NO where print has the other"),
        _orders(study),
        _heading("Directions in the text and in table 2"),
        _statements(study),
        "",
        f"{len(claims)} directions: {agree} agree, {len(claims) - agree} do not.",
    ]


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _grid(headers: Iterable[str], rows: Iterable[Iterable[str]], *, left: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, header in enumerate(headers):
        table.add_column(header, justify="left" if place < left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _table_1(study: Study) -> Table:
    rows = [
        [
            cell.row,
            cell.column,
            f"{cell.printed:,.{max(0, cell.decimals)}f}",
            f"{cell.defined.value:,.{4 if cell.decimals > 0 else 0}f}",
            str(cell.verdict),
        ]
        for cell in study.table_1.cells
    ]
    return _grid(["", "", "printed", "in the file", ""], rows, left=2)


def _measures(study: Study) -> Table:
    rows = []
    for name in study.datasets:
        for method in METHODS:
            line = study.line(name, method)
            values = [f"{line.measure(measure):.4f}" for measure in MEASURES]
            rows.append([name, method, *values, f"{line.zeros:.2%}"])
    return _grid(["", "", *MEASURES, "zeros"], rows, left=2)


def _table_3(study: Study) -> Table:
    rows = []
    for name in study.datasets:
        for method in dict.fromkeys(method for _, method in TABLE_3_COLUMNS):
            cells = []
            for measure, unit in (("NCE", math.log(10)), ("AUC", 1.0)):
                printed = TABLE_3[name][TABLE_3_COLUMNS.index((measure, method))] * unit
                cells += [f"{printed:.4f}", f"{study.line(name, method).measure(measure):.4f}"]
            zero = study.implied_zero(name, method)
            rows.append([name, method, *cells, "" if zero is None else f"{zero:.0e}"])
    headers = ["NCE printed", "found", "AUC printed", "found", "zero that would fit"]
    return _grid(["", "", *headers], rows, left=2)


def _relative(study: Study) -> Table:
    rows = [
        [name, method, *(f"{study.relative(name, method, m):+.1%}" for m in MEASURES)]
        for name in study.datasets
        for method in SMOOTHED
    ]
    return _grid(["", "", *MEASURES], rows, left=2)


def _correlations(study: Study) -> Table:
    raw, relative = study.correlations(), study.correlations(relative=True)
    rows = [
        [f"{a}, {b}", f"{printed:.4f}", f"{raw[a, b]:.4f}", f"{relative[a, b]:.4f}"]
        for (a, b), printed in CORRELATIONS.items()
    ]
    return _grid(["", "printed", "found", "of relative differences"], rows)


def _histograms(study: Study) -> Table:
    rows = []
    for method in HISTOGRAMS:
        shares = study.line("mammography", method).histogram
        bars = "".join(BARS[math.ceil(share * (len(BARS) - 1))] for share in shares)
        rows.append([method, bars, " ".join(f"{100 * share:3.0f}" for share in shares)])
    return _grid(["", "0 to 1", "% of the rows"], rows, left=3)


def _orders(study: Study) -> Table:
    claims = iter(claim for claim in study.claims() if claim.where == "table 3")
    rows = []
    for measure, method, other in COMPARED:
        found = [next(claims) for _ in study.datasets]
        words = [claim.found.split()[0] + ("" if claim.agrees else " NO") for claim in found]
        rows.append([f"{measure}: {method} than {other}", *words])
    return _grid(["", *study.datasets], rows)


def _statements(study: Study) -> Table:
    rows = [
        ["yes" if claim.agrees else "NO", claim.said, claim.found]
        for claim in study.claims()
        if claim.where != "table 3"
    ]
    return _grid(["", "printed", "found"], rows, left=3)


# Figures 2 and 3 drawn again, from a study that has been run.


def draw_figures(directory: Path, study: Study) -> Iterator[Path]:
    """Draw the histograms of Figure 2 and the relative differences of Figure 3.

    - sureleaf reproduce chawla2006 --data data --figures figures
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError(
            "figures need matplotlib, which is not installed: pip install matplotlib"
        ) from None
    directory.mkdir(parents=True, exist_ok=True)
    yield from _save(_figure_2(Figure(figsize=(10, 3.2), layout="constrained"), study), directory)
    yield from _save(_figure_3(Figure(figsize=(12, 7), layout="constrained"), study), directory)


def _save(drawn: tuple[str, object], directory: Path) -> Iterator[Path]:
    name, figure = drawn
    for ending in ("svg", "png"):
        path = directory / f"{name}.{ending}"
        with atomic_write(path) as file:
            figure.savefig(file, format=ending, dpi=150)  # type: ignore[attr-defined]
        yield path


def _figure_2(figure, study: Study) -> tuple[str, object]:  # type: ignore[no-untyped-def]
    tenths = [(place + 0.5) / 10 for place in range(10)]
    for axes, method in zip(figure.subplots(1, 3, sharey=True), HISTOGRAMS, strict=True):
        axes.bar(tenths, study.line("mammography", method).histogram, width=0.09)
        axes.set(title=method, xlabel="probability of a positive row to be so", xlim=(0, 1))
    figure.axes[0].set_ylabel("share of the positive rows")
    return "figure-2", figure


def _figure_3(figure, study: Study) -> tuple[str, object]:  # type: ignore[no-untyped-def]
    grid = figure.subplots(2, 3)
    for axes, name in zip(grid.flat, study.datasets, strict=False):
        for place, method in enumerate(SMOOTHED):
            heights = [study.relative(name, method, measure) for measure in MEASURES]
            places = [number + (place - 1.5) * 0.2 for number in range(len(MEASURES))]
            axes.bar(places, heights, width=0.18, label=method)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(title=name, xticks=range(len(MEASURES)), xticklabels=MEASURES)
    grid[1, 0].set_ylabel("relative difference")
    grid[1, 2].axis("off")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="lower right")
    return "figure-3", figure

"""The results of the experiment as text for a terminal, and Figures 2 and 3 drawn."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sureleaf.plots.display import new_figure, save
from sureleaf.reproduce.chawla2006.study import (
    COMPARED_PAIRS,
    CORRELATIONS,
    MEASURES,
    METHODS,
    SMOOTHED,
    TABLE_3,
    TABLE_3_COLUMNS,
    Study,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_figures", "study_text"]

_HISTOGRAMS = ("unpruned, frequency", "unpruned, Laplace", "bagged")
_BARS = " ▁▂▃▄▅▆▇█"


def study_text(study: Study) -> list[RenderableType]:
    """Return the tables and figures of a study, its claims, and a sentence that counts them."""
    claims = study.claims()
    n_agree = sum(claim.agrees for claim in claims)
    return [
        Text(study.source, style="bold"),
        f"30 % of the rows held out {study.repeats} times, seed {study.seed}. NCE in nats; a "
        f"probability of zero counts as {study.zero:g}. Printed NCE is assumed to be in base 10.",
        _heading("Table 1: the data sets, printed and counted in the files"),
        _table_1(study),
        _heading("All measures"),
        _all_measures(study),
        _heading("Table 3: unpruned and pruned trees; printed NCE converted to nats"),
        _table_3(study),
        _heading("Figure 3: difference relative to the frequencies of the unpruned tree"),
        _relative_differences(study),
        _heading("Table 2: correlations over data sets and methods"),
        _correlations(study),
        _heading("Figure 2: predicted probability of the positive rows of mammography, by tenths"),
        _histograms(study),
        _heading("Directions in table 3; NO marks those that differ from the printed ones"),
        _directions(study),
        _heading("Directions in the text and in table 2"),
        _statements(study),
        "",
        f"{len(claims)} directions computed by this library's trees: {n_agree} agree, "
        f"{len(claims) - n_agree} do not. {len(study.table_1.cells)} figures of table 1 are "
        "counts of the data files.",
    ]


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _table(headers: Iterable[str], rows: Iterable[Iterable[str]], *, n_left: int = 1) -> Table:
    """Build a table whose first columns are aligned to the left."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, header in enumerate(headers):
        table.add_column(header, justify="left" if index < n_left else "right")
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
    return _table(["", "", "printed", "in the file", ""], rows, n_left=2)


def _all_measures(study: Study) -> Table:
    rows = []
    for name in study.datasets:
        for method in METHODS:
            result = study.result(name, method)
            values = [f"{result.measure(measure):.4f}" for measure in MEASURES]
            rows.append([name, method, *values, f"{result.zeros:.2%}"])
    return _table(["", "", *MEASURES, "zeros"], rows, n_left=2)


def _table_3(study: Study) -> Table:
    rows = []
    for name in study.datasets:
        for method in dict.fromkeys(method for _, method in TABLE_3_COLUMNS):
            cells = []
            for measure, unit in (("NCE", math.log(10)), ("AUC", 1.0)):
                printed = TABLE_3[name][TABLE_3_COLUMNS.index((measure, method))] * unit
                cells += [f"{printed:.4f}", f"{study.result(name, method).measure(measure):.4f}"]
            zero = study.implied_zero(name, method)
            rows.append([name, method, *cells, "" if zero is None else f"{zero:.0e}"])
    headers = ["NCE printed", "computed", "AUC printed", "computed", "zero that would fit"]
    return _table(["", "", *headers], rows, n_left=2)


def _relative_differences(study: Study) -> Table:
    rows = [
        [name, method, *(f"{study.relative(name, method, m):+.1%}" for m in MEASURES)]
        for name in study.datasets
        for method in SMOOTHED
    ]
    return _table(["", "", *MEASURES], rows, n_left=2)


def _correlations(study: Study) -> Table:
    raw, relative = study.correlations(), study.correlations(relative=True)
    rows = [
        [f"{a}, {b}", f"{printed:.4f}", f"{raw[a, b]:.4f}", f"{relative[a, b]:.4f}"]
        for (a, b), printed in CORRELATIONS.items()
    ]
    return _table(["", "printed", "computed", "of relative differences"], rows)


def _histograms(study: Study) -> Table:
    rows = []
    for method in _HISTOGRAMS:
        shares = study.result("mammography", method).histogram
        bars = "".join(_BARS[math.ceil(share * (len(_BARS) - 1))] for share in shares)
        rows.append([method, bars, " ".join(f"{100 * share:3.0f}" for share in shares)])
    return _table(["", "0 to 1", "% of the rows"], rows, n_left=3)


def _directions(study: Study) -> Table:
    claims = iter(claim for claim in study.claims() if claim.where == "table 3")
    rows = []
    for measure, method, other in COMPARED_PAIRS:
        row = [next(claims) for _ in study.datasets]
        words = [claim.computed.split(" (")[0] + ("" if claim.agrees else " NO") for claim in row]
        rows.append([f"{measure}: {method} than {other}", *words])
    return _table(["", *study.datasets], rows)


def _statements(study: Study) -> Table:
    rows = [
        ["yes" if claim.agrees else "NO", claim.printed, claim.computed]
        for claim in study.claims()
        if claim.where != "table 3"
    ]
    return _table(["", "printed", "computed"], rows, n_left=3)


# ---- Figures 2 and 3 -----------------------------------------------------------------------------


def draw_figures(directory: Path, study: Study) -> Iterator[Path]:
    """Draw the histograms of Figure 2 and the relative differences of Figure 3."""
    yield from save(_figure_2(study), directory, "figure-2")
    yield from save(_figure_3(study), directory, "figure-3")


def _figure_2(study: Study) -> "Figure":
    figure = new_figure(10, 3.2)
    tenths = [(tenth + 0.5) / 10 for tenth in range(10)]
    for axes, method in zip(figure.subplots(1, 3, sharey=True), _HISTOGRAMS, strict=True):
        axes.bar(tenths, study.result("mammography", method).histogram, width=0.09)
        axes.set(title=method, xlabel="predicted probability of the positive class", xlim=(0, 1))
    figure.axes[0].set_ylabel("proportion of the positive rows")
    return figure


def _figure_3(study: Study) -> "Figure":
    figure = new_figure(12, 7)
    grid = figure.subplots(2, 3)
    for axes, name in zip(grid.flat, study.datasets, strict=False):
        for index, method in enumerate(SMOOTHED):
            heights = [study.relative(name, method, measure) for measure in MEASURES]
            positions = [group + (index - 1.5) * 0.2 for group in range(len(MEASURES))]
            axes.bar(positions, heights, width=0.18, label=method)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(title=name, xticks=range(len(MEASURES)), xticklabels=MEASURES)
    grid[1, 0].set_ylabel("relative difference")
    grid[1, 2].axis("off")
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="lower right")
    return figure

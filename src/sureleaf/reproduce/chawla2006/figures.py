"""Figures 2 and 3 of the document, for its data sets or for tables of one's own."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sureleaf.plots.display import COLOURS, INK, new_figure, save, style_axes
from sureleaf.reproduce.chawla2006.experiment import BASELINE, MEASURES, SMOOTHED, Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HISTOGRAMS = (BASELINE, "unpruned, Laplace", "bagged")
"""The methods of Figure 2."""


def draw_figures(
    directory: Path, experiment: Experiment, *, histograms_of: Iterable[str] | None = None
) -> Iterator[Path]:
    """Draw the histograms of Figure 2 and the relative differences of Figure 3.

    Figure 2 is drawn for each of these tables; by default for all.
    """
    for name in experiment.datasets if histograms_of is None else histograms_of:
        yield from save(_figure_2(experiment, name), directory, f"chawla2006-figure-2-{name}")
    yield from save(_figure_3(experiment), directory, "chawla2006-figure-3")


def _figure_2(experiment: Experiment, name: str) -> "Figure":
    figure = new_figure(10, 3.4)
    tenths = [(tenth + 0.5) / 10 for tenth in range(10)]
    for axes, method in zip(figure.subplots(1, 3, sharey=True), HISTOGRAMS, strict=True):
        style_axes(axes, method, f"positive rows of {name}")
        axes.bar(tenths, experiment.result(name, method).histogram, width=0.09, color=COLOURS[0])
        axes.set(xlabel="predicted probability of their class", xlim=(0, 1))
    figure.axes[0].set_ylabel("proportion of the rows")
    return figure


def _figure_3(experiment: Experiment) -> "Figure":
    names = experiment.datasets
    n_columns = min(3, len(names) + 1)
    n_rows = len(names) // n_columns + 1  # one place more than tables, for the legend
    figure = new_figure(4 * n_columns, 3.5 * n_rows)
    places = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for axes, name in zip(places, names, strict=False):
        style_axes(axes, name, "relative to the frequencies of the unpruned tree")
        for index, method in enumerate(SMOOTHED):
            heights = [experiment.relative(name, method, measure) for measure in MEASURES]
            positions = [group + (index - 1.5) * 0.2 for group in range(len(MEASURES))]
            axes.bar(positions, heights, width=0.18, label=method, color=COLOURS[index])
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(xticks=range(len(MEASURES)), xticklabels=MEASURES, ylabel="relative difference")
    for axes in figure.axes[len(names) :]:
        axes.axis("off")
    figure.axes[len(names)].legend(
        *figure.axes[0].get_legend_handles_labels(), loc="center", frameon=False
    )
    return figure

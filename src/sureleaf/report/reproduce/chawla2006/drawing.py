"""Figures 2 and 3 drawn again, from a study that has been run."""

from collections.abc import Iterator
from pathlib import Path

from sureleaf.errors import MissingPackageError
from sureleaf.report.reproduce.chawla2006.result import SMOOTHED, Study
from sureleaf.report.reproduce.chawla2006.study import MEASURES
from sureleaf.writing import atomic_write

__all__ = ["draw_figures"]

HISTOGRAMS = ("unpruned, frequency", "unpruned, Laplace", "bagged")


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

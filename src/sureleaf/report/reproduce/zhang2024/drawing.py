"""Figures 1 to 3 drawn: thin functions of the numbers in ``figures``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.report.picture import BLUE, GREY, INK, RED, picture, save
from sureleaf.report.reproduce.zhang2024.figures import (
    Likelihoods,
    SplitCurves,
    likelihoods,
    split_curves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figures", "draw_likelihoods", "draw_splits"]

# As in the paper: no split thick, split A thin, split B dashed. An even row adds nothing to an
# undivided node, (5), hence its stairs.
PENS = {
    "No split": {"color": INK, "linewidth": 2.8},
    "Split A": {"color": BLUE, "linewidth": 1.8},
    "Split B": {"color": RED, "linewidth": 1.8, "linestyle": (0, (5, 2.5))},
}


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the three figures into a directory, as SVG and PNG, and yield their paths.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in draw_figures(Path(directory))][:2]
    ['zhang2024-figure-1.svg', 'zhang2024-figure-1.png']
    """
    drawings = (
        draw_splits(split_curves("confidence"), 1),
        draw_splits(split_curves("utility"), 2),
        draw_likelihoods(likelihoods()),
    )
    for number, drawing in enumerate(drawings, start=1):
        yield from save(drawing, directory, f"zhang2024-figure-{number}")


def draw_splits(found: SplitCurves, number: int) -> "Figure":
    """Draw Figure 1 or 2.

    Examples
    --------
    >>> figure = draw_splits(split_curves("utility", 40), 2)
    >>> [line.get_label() for line in figure.axes[0].lines][:3]
    ['No split', 'Split A', 'Split B']
    """
    figure, axes = picture(
        f"Figure {number}. Level of {found.level} of competing splits",
        "A node with $p_{max}$ .70. Split A: 90 % of the rows with .75, 10 % with .75. "
        "Split B: 20 % with .75, 80 % with .6875.",
    )
    for name, curve in found.curves.items():
        axes.plot(found.n, curve, label=name, solid_capstyle="round", **PENS[name])  # type: ignore[arg-type]
    _name_curves(axes, found)
    for crossing in found.crossings:
        at = int(crossing.n) - 1
        height = float(found.curves[crossing.above][at])
        axes.plot(crossing.n, height, "o", color=PENS[crossing.above]["color"], markersize=6)
        axes.annotate(
            f"from n = {crossing.n} on,\n{crossing.above} is above {crossing.below}",
            (crossing.n, height),
            xytext=(16, -46),
            textcoords="offset points",
            color=PENS[crossing.above]["color"],
            arrowprops={"arrowstyle": "-", "color": GREY, "shrinkB": 4},
        )
    axes.set_xlabel("rows of the tree, n")
    axes.set_ylabel(f"level of {found.level}")
    axes.set_xlim(0, float(found.n[-1]))
    axes.set_ylim(0.45, 1.01 if found.level == "confidence" else 0.77)
    return figure


def _name_curves(axes: "Axes", found: SplitCurves) -> None:
    """Write each curve's name at its right end, moved apart where ends are close."""
    low, high = (0.45, 1.01) if found.level == "confidence" else (0.45, 0.77)
    apart = (high - low) * 0.055
    height = np.inf
    for name in sorted(found.curves, key=lambda name: -found.curves[name][-1]):
        height = min(float(found.curves[name][-1]), height - apart)
        axes.annotate(
            name,
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=PENS[name]["color"],
        )


def draw_likelihoods(found: Likelihoods) -> "Figure":
    """Draw Figure 3.

    Examples
    --------
    >>> len(draw_likelihoods(likelihoods()).axes[0].lines)
    4
    """
    figure, axes = picture(
        f"Figure 3. Likelihood after {found.y} of {found.n} rows",
        "Entropic (2): one class, whichever, has this count. Binomial (1): the first class has it.",
    )
    curves = (
        ("entropic, (2)", found.entropic, found.entropic_mle, INK, "-"),
        ("binomial, (1)", found.binomial, found.mle, BLUE, (0, (5, 2.5))),
    )
    for name, curve, maximum, colour, line in curves:
        top = float(np.interp(maximum, found.p_max, curve))
        axes.plot(found.p_max, curve, color=colour, linewidth=2.4, linestyle=line, label=name)
        axes.plot([maximum, maximum], [0, top], color=colour, linewidth=1, linestyle=line)
        axes.annotate(
            f"largest at {maximum:.4f}".replace("0.", "."),
            (maximum, 0),
            xytext=(-5 if colour == INK else 5, 6),
            textcoords="offset points",
            ha="right" if colour == INK else "left",
            color=colour,
        )
    axes.legend(frameon=False, loc="upper right", title="likelihood", alignment="left")
    axes.set_xlabel("$p_{max}$")
    axes.set_ylabel(f"probability of {found.y} of {found.n}")
    axes.set_xlim(0.5, 1)
    axes.set_ylim(0, float(found.entropic.max()) * 1.15)
    return figure

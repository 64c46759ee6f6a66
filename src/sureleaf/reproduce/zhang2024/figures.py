"""Figures 1 to 3 of Zhang (2024): first their numbers, then the drawings."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureleaf import levels
from sureleaf.arguments import FloatArray
from sureleaf.levels.competing_splits import Level
from sureleaf.plots import LevelsDisplay
from sureleaf.plots.display import BLUE, INK, new_axes, new_figure, save
from sureleaf.reproduce.zhang2024.tables import printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Likelihoods:
    """Figure 3: the binomial (1) and entropic (2) likelihoods of p_max, and their maxima."""

    y: int
    n: int
    p_max: FloatArray
    binomial: FloatArray
    entropic: FloatArray
    mle: float
    entropic_mle: float


def split_curves(level: Level, n_max: int = 100) -> LevelsDisplay:
    """Compute Figure 1 (confidence) or 2 (utility) by (10), (11), for n = 1 to ``n_max``.

    The curve of no split has steps because by (5) an even number of rows is no better than one row
    less.
    """
    content = printed()["example_1"]
    splits = {
        f"split {name}": list(zip((one["share"], 1 - one["share"]), one["p_max"], strict=True))
        for name, one in content["splits"].items()
    }
    return LevelsDisplay.from_splits(splits, p_max=content["p_max"], level=level, n_max=n_max)


def likelihoods(points: int = 501) -> Likelihoods:
    """Compute Figure 3 for the counts of Example 2."""
    y, n = printed()["example_2"]["y"], printed()["example_2"]["n"]
    p = np.linspace(0.5, 1.0, points)
    q = 1 - p
    ways = comb(n, y)
    return Likelihoods(
        y=y,
        n=n,
        p_max=p,
        binomial=ways * p**y * q ** (n - y),
        entropic=ways * (p**y * q ** (n - y) + p ** (n - y) * q**y),
        mle=float(levels.estimate_p_max(y, n, method="mle")),
        entropic_mle=float(levels.estimate_p_max(y, n, method="entropic")),
    )


# ---- drawings ------------------------------------------------------------------------------------


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the three figures as SVG and PNG files and yield their paths."""
    levels_by_rows: tuple[Level, Level] = ("confidence", "utility")
    for number, level in enumerate(levels_by_rows, start=1):
        display = split_curves(level)
        figure = new_figure(*display.figure_size())
        title = f"Figure {number}. Level of {level} of competing splits"
        display.plot(ax=figure.add_subplot(), title=title)
        yield from save(figure, directory, f"zhang2024-figure-{number}")
    yield from save(draw_likelihoods(likelihoods()), directory, "zhang2024-figure-3")


def draw_likelihoods(likelihood: Likelihoods) -> "Figure":
    """Draw Figure 3."""
    figure, axes = new_axes(
        f"Figure 3. Likelihood after {likelihood.y} of {likelihood.n} rows",
        "Entropic (2): one class, whichever, has this count. Binomial (1): the first class has it.",
    )
    curves = (
        ("entropic, (2)", likelihood.entropic, likelihood.entropic_mle, INK, "-"),
        ("binomial, (1)", likelihood.binomial, likelihood.mle, BLUE, (0, (5, 2.5))),
    )
    for name, curve, maximum, colour, line in curves:
        top = float(np.interp(maximum, likelihood.p_max, curve))
        axes.plot(likelihood.p_max, curve, color=colour, linewidth=2.4, linestyle=line, label=name)
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
    axes.set_ylabel(f"probability of {likelihood.y} of {likelihood.n}")
    axes.set_xlim(0.5, 1)
    axes.set_ylim(0, float(likelihood.entropic.max()) * 1.15)
    return figure

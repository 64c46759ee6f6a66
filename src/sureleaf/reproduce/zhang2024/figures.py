"""Figures 1 to 3 of Zhang (2024): first their numbers, then the drawings."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sureleaf import levels
from sureleaf.arguments import FloatArray
from sureleaf.plots.display import BLUE, GREY, INK, RED, new_axes, save
from sureleaf.reproduce.zhang2024.tables import printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Crossing:
    """From ``n`` rows on, the curve ``above`` stays above the curve ``below``."""

    above: str
    below: str
    n: int


@dataclass(frozen=True)
class SplitCurves:
    """Figure 1 or 2: a level by n, for two splits of a node and for no split."""

    level: str  # "confidence" (Figure 1) or "utility" (Figure 2)
    n: FloatArray  # number of rows of the tree
    curves: dict[str, FloatArray]  # name of a split -> its level at each n
    ceilings: dict[str, float]  # the limit of each curve
    # Where one curve permanently overtakes another, within the range of n.
    crossings: tuple[Crossing, ...]


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


def split_curves(level: str, n_max: int = 100) -> SplitCurves:
    """Compute Figure 1 (confidence) or 2 (utility) by (10), (11), for n = 1 to ``n_max``."""
    content = printed()["example_1"]
    splits: dict[str, tuple[list[float], list[float]]] = {"No split": ([1.0], [content["p_max"]])}
    for name, split in content["splits"].items():
        splits[f"Split {name}"] = ([split["share"], 1 - split["share"]], split["p_max"])
    n = np.arange(1, n_max + 1)
    curves, ceilings = {}, {}
    for name, (shares, p_max) in splits.items():
        trees = [levels.tree_levels(rows, shares, p_max) for rows in n]
        curves[name] = np.array([getattr(tree, level) for tree in trees], dtype=np.float64)
        limit = levels.tree_levels(np.inf, shares, p_max)
        ceilings[name] = round(float(getattr(limit, level)), 12)
    return SplitCurves(level, n.astype(np.float64), curves, ceilings, _crossings(n, curves))


def _crossings(n: NDArray[np.int64], curves: dict[str, FloatArray]) -> tuple[Crossing, ...]:
    """Return the n after the last crossing of each pair of curves that cross."""
    crossings = []
    for one, two in combinations(curves, 2):
        ahead = curves[one] > curves[two]
        changes = np.flatnonzero(ahead[1:] != ahead[:-1])
        if changes.size:
            above, below = (one, two) if ahead[-1] else (two, one)
            crossings.append(Crossing(above, below, int(n[changes[-1] + 1])))
    return tuple(crossings)


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

# Line styles as printed: no split thick, split A thin, split B dashed. The curve of no split has
# steps because by (5) an even number of rows is no better than one row less.
_LINES = {
    "No split": {"color": INK, "linewidth": 2.8},
    "Split A": {"color": BLUE, "linewidth": 1.8},
    "Split B": {"color": RED, "linewidth": 1.8, "linestyle": (0, (5, 2.5))},
}


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the three figures as SVG and PNG files and yield their paths."""
    drawings = (
        draw_splits(split_curves("confidence"), 1),
        draw_splits(split_curves("utility"), 2),
        draw_likelihoods(likelihoods()),
    )
    for number, drawing in enumerate(drawings, start=1):
        yield from save(drawing, directory, f"zhang2024-figure-{number}")


def draw_splits(curves: SplitCurves, number: int) -> "Figure":
    """Draw Figure 1 or 2."""
    figure, axes = new_axes(
        f"Figure {number}. Level of {curves.level} of competing splits",
        "A node with $p_{max}$ .70. Split A: 90 % of the rows with .75, 10 % with .75. "
        "Split B: 20 % with .75, 80 % with .6875.",
    )
    for name, curve in curves.curves.items():
        axes.plot(curves.n, curve, label=name, solid_capstyle="round", **_LINES[name])  # type: ignore[arg-type]
    _name_curves(axes, curves)
    for crossing in curves.crossings:
        height = float(curves.curves[crossing.above][crossing.n - 1])
        axes.plot(crossing.n, height, "o", color=_LINES[crossing.above]["color"], markersize=6)
        axes.annotate(
            f"from n = {crossing.n} on,\n{crossing.above} is above {crossing.below}",
            (crossing.n, height),
            xytext=(16, -46),
            textcoords="offset points",
            color=_LINES[crossing.above]["color"],
            arrowprops={"arrowstyle": "-", "color": GREY, "shrinkB": 4},
        )
    axes.set_xlabel("rows of the tree, n")
    axes.set_ylabel(f"level of {curves.level}")
    axes.set_xlim(0, float(curves.n[-1]))
    axes.set_ylim(0.45, 1.01 if curves.level == "confidence" else 0.77)
    return figure


def _name_curves(axes: "Axes", curves: SplitCurves) -> None:
    """Write the name of each curve at its right end, without overlaps."""
    low, high = (0.45, 1.01) if curves.level == "confidence" else (0.45, 0.77)
    apart = (high - low) * 0.055
    height = np.inf
    for name in sorted(curves.curves, key=lambda name: -curves.curves[name][-1]):
        height = min(float(curves.curves[name][-1]), height - apart)
        axes.annotate(
            name,
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=_LINES[name]["color"],
        )


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

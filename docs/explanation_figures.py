"""Draw the figures of the pages under docs/explanation, from the functions of the library."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sureleaf import levels
from sureleaf.plots.display import BLUE, GREEN, GREY, INK, RED

ROWS = np.arange(1, 102, 2)
P_MAX = {0.6: RED, 0.75: BLUE, 0.9: GREEN}
"""Probabilities of the more probable class, and the colour of each."""


def draw(folder: Path) -> None:
    """Write every figure as SVG."""
    for name, figure in {
        "confidence-and-utility": levels_by_rows(),
        "threshold": confidence_at_costs(),
        "estimated-p-max": estimated_confidence(),
    }.items():
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})


def levels_by_rows() -> Figure:
    """Draw confidence and utility of a node by its number of rows, for three values of p_max."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, function, title in zip(
        figure.subplots(1, 2),
        (levels.confidence, levels.utility),
        ("Confidence", "Utility"),
        strict=True,
    ):
        for p_max, colour in P_MAX.items():
            axes.plot(ROWS, function(ROWS, p_max), color=colour, label=f"p_max {p_max:g}")
        axes.set_ylim(0.48, 1.02)
        _style(axes, title, "rows of the node")
    figure.axes[0].legend(frameon=False, loc="lower right", fontsize=9, reverse=True)
    return figure


def confidence_at_costs() -> Figure:
    """Draw the confidence of a decision from 40 rows, by the true probability of the class."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    probability = np.linspace(0.01, 0.99, 197)
    confidences = {
        0.5: levels.confidence(40, np.maximum(probability, 1 - probability)),
        1 / 6: levels.confidence(40, probability, threshold=1 / 6),
    }
    for threshold, colour, text in ((0.5, GREY, "equal costs"), (1 / 6, BLUE, "5 to 1")):
        label = f"{text}: threshold {threshold:.3f}"
        axes.plot(probability, confidences[threshold], color=colour, label=label)
        axes.axvline(threshold, color=colour, linewidth=0.8, linestyle=":")
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    _style(axes, "Confidence of a decision from 40 rows", "true probability of the class")
    return figure


def estimated_confidence() -> Figure:
    """Draw what (5) states with an estimated p_max, although both classes are equally probable."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    stated = [mean_stated(int(n)) for n in ROWS]
    axes.plot(ROWS, stated, color=RED)
    axes.annotate("stated on average", (ROWS[20], stated[20]), (0, 8), textcoords="offset points",
                  color=RED, fontsize=9)  # fmt: skip
    axes.axhline(0.5, color=INK, linewidth=1)
    axes.annotate("true: both classes are equally probable", (ROWS[20], 0.5), (0, -13),
                  textcoords="offset points", color=INK, fontsize=9)  # fmt: skip
    axes.set_ylim(0.4, 1)
    _style(axes, "Confidence by (5) with p_max from the training rows", "rows of the node")
    return figure


def mean_stated(n: int) -> float:
    """Return the mean of (5) at the estimated p_max over n rows of two equally probable classes."""
    y = np.arange(n + 1)
    weight = np.exp(_log_binomial(n, y) - n * np.log(2))
    stated = levels.confidence(n, levels.estimate_p_max(y, n))
    return float(weight @ stated)


def _log_binomial(n: int, y: np.ndarray) -> np.ndarray:
    from scipy.special import gammaln

    return gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)


def _style(axes: object, title: str, label: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(label)
    axes.spines[["top", "right"]].set_visible(False)

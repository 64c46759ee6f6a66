"""The leaves of a tree, or the bins of an audit, as intervals."""

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.auditing import Audit, AuditedLeaves
from sureleaf.plots.display import BLUE, INK, RED, Display, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LeavesDisplay"]


FloatArray = NDArray[np.float64]

_LONGEST = 80
_SHOWN = 30
_COLUMNS = (42.0, 104.0, 150.0)
"""Where figures end beside the axes, in points."""


@dataclass(frozen=True, eq=False, repr=False)
class LeavesDisplay(Display):
    """Each leaf's probability of its predicted class, with interval, rows and levels.

    Parameters
    ----------
    names : list of str
        The rule of each leaf, or what a bin states.
    predictions : list of str
        The class predicted.
    n, probability, low, high, confidence, utility : ndarray of float64
        Rows, probability with its bounds, and levels.
    flagged : ndarray of bool
        Leaves not to be trusted.
    stated : ndarray of float64 or None
        What an audited model states.
    level : float
        Of the intervals.
    title : str
        What is seen.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> display = LeavesDisplay.from_estimator(model)
    >>> display.names, display.n.tolist()
    (['x0 <= 19', 'x0 > 19'], [20.0, 20.0])
    """

    names: list[str]
    predictions: list[str]
    n: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: FloatArray
    utility: FloatArray
    flagged: NDArray[np.bool_]
    stated: FloatArray | None
    level: float
    title: str

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        level: float = 0.95,
        confidence: float | None = 0.95,
        utility: float | None = None,
    ) -> Self:
        """Take the leaves of a fitted `TreeClassifier`.

        Parameters
        ----------
        model : TreeClassifier
            Fitted.
        level, confidence, utility
            As for `TreeClassifier.leaves`.

        Returns
        -------
        LeavesDisplay
        """
        found = model.leaves(level=level, confidence=confidence, utility=utility)
        title = f"{len(found)} leaves, grown on {found.n.sum():,.0f} rows"
        return cls(
            [str(rule) for rule in found.rule],
            [str(label) for label in found.prediction],
            found.n,
            found.probability,
            found.low,
            found.high,
            found.confidence,
            found.utility,
            found.flagged,
            None,
            level,
            title,
        )

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Take the leaves of an audited tree, the bins of any other audited model.

        Parameters
        ----------
        audit : Audit
            As `sureleaf.audit` gives it.

        Returns
        -------
        LeavesDisplay
        """
        found = audit.table
        if isinstance(found, AuditedLeaves) and found.rule is not None:
            names = [str(rule) for rule in found.rule]
        elif isinstance(found, AuditedLeaves):
            names = [f"leaf {leaf}" for leaf in found.leaf]
        else:
            ends = zip(found.stated_from, found.stated_to, strict=True)
            names = [f"states {low:.2f} to {high:.2f}" for low, high in ends]
        return cls(
            names,
            [str(label) for label in found.prediction],
            found.n,
            found.probability,
            found.low,
            found.high,
            found.confidence,
            found.utility,
            found.flagged,
            found.stated,
            audit.level,
            f"{audit.model} on {audit.n_rows:,} {audit.rows} rows",
        )

    @property
    def shown(self) -> NDArray[np.intp]:
        """The leaves that are drawn: those with most rows, if there are very many."""
        most = np.argsort(-self.n, kind="stable")[:_SHOWN]
        return np.sort(most)

    def label(self, leaf: int) -> str:
        """Tell rule and class predicted; of a long rule its last tests, which set it apart."""
        ends = f":  {self.predictions[leaf]}"
        tests = self.names[leaf].split(" and ")
        first = 0
        while len(" and ".join(tests[first:])) + len(ends) > _LONGEST and first < len(tests) - 1:
            first += 1
        rule = " and ".join(["...", *tests[first:]] if first else tests)
        return textwrap.shorten(rule, _LONGEST, placeholder=" ...") + ends

    def _size(self) -> tuple[float, float]:
        return 8.6, 1.6 + 0.52 * max(len(self.shown), 2)

    def _title(self) -> tuple[str, str]:
        told = f"Dot: probability of the predicted class; line: {100 * self.level:g} % interval"
        ticks = "; tick: stated by the model" if self.stated is not None else ""
        return self.title, f"{told}{ticks}; hollow: not to be trusted."

    def _draw(self, axes: "Axes") -> None:
        shown = self.shown
        most = max(float(self.n.max()), 1.0)
        for y, leaf in enumerate(shown.tolist()):
            self._draw_leaf(axes, -float(y), leaf, 24 + 200 * float(self.n[leaf]) / most)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylim(-len(shown) + 0.45, 0.95)
        axes.set_xlim(-0.01, 1.01)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("probability of the predicted class")
        for place, head in zip(_COLUMNS, ("rows", "confidence", "utility"), strict=True):
            _beside(axes, 0.72, place, head, "#5f5f5f")
        if len(shown) < len(self.n):
            left = f"{len(self.n) - len(shown)} smaller leaves are not drawn"
            axes.set_xlabel(f"{axes.get_xlabel()}   ({left})")

    def _draw_leaf(self, axes: "Axes", y: float, leaf: int, area: float) -> None:
        weak = bool(self.flagged[leaf])
        colour = RED if weak else BLUE
        axes.annotate(
            self.label(leaf),
            (0, y + 0.42),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8.5,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=5,
        )
        axes.plot([self.low[leaf], self.high[leaf]], [y, y], color=colour, linewidth=2.2)
        axes.scatter(
            [self.probability[leaf]],
            [y],
            s=area,
            color="white" if weak else colour,
            edgecolor=colour,
            zorder=3,
            linewidth=1.8,
            clip_on=False,
        )
        if self.stated is not None:
            at = float(self.stated[leaf])
            axes.plot([at, at], [y - 0.2, y + 0.2], color=INK, linewidth=2.4, zorder=4)
        figures = (
            f"{self.n[leaf]:,.0f}",
            percent(self.confidence[leaf]),
            percent(self.utility[leaf]),
        )
        for place, text in zip(_COLUMNS, figures, strict=True):
            _beside(axes, y, place, text, colour if weak else INK)


def _beside(axes: "Axes", y: float, place: float, text: str, colour: str) -> None:
    """Write right of the axes, so many points from them, whatever their size."""
    axes.annotate(
        text,
        (1, y),
        xycoords=("axes fraction", "data"),
        xytext=(place, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=9,
        color=colour,
        annotation_clip=False,
    )

"""The leaves of a tree, or the bins of an audit, as intervals."""

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.auditing import Audit, AuditedLeaves
from sureleaf.report.picture import BLUE, INK, RED
from sureleaf.report.plots.display import Display, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LeavesDisplay"]

FloatArray = NDArray[np.float64]

_LINE = 46
_SHOWN = 30


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

    def _size(self) -> tuple[float, float]:
        return 9.5, 1.7 + 0.46 * max(len(self.shown), 2)

    def _title(self) -> tuple[str, str]:
        dots = "dots: probability of the predicted class"
        told = f"{dots}, area by rows; lines: {100 * self.level:g} % interval"
        if self.stated is not None:
            told += "; ticks: what the model states"
        return self.title, f"{told}. Hollow: not to be trusted."

    def _draw(self, axes: "Axes") -> None:
        shown = self.shown
        height = -np.arange(len(shown), dtype=float)
        area = 24 + 260 * self.n[shown] / max(float(self.n.max()), 1.0)
        for y, leaf, size in zip(height, shown, area, strict=True):
            self._draw_leaf(axes, float(y), int(leaf), float(size))
        axes.set_yticks(height, [self._label(int(leaf)) for leaf in shown])
        axes.tick_params(axis="y", length=0, labelsize=8.5)
        axes.set_ylim(-len(shown) + 0.4, 0.95)
        axes.set_xlim(-0.01, 1.01)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("probability of the predicted class")
        for x, head in ((1.03, "rows"), (1.13, "confidence"), (1.30, "utility")):
            axes.text(
                x, 0.62, head, transform=axes.get_yaxis_transform(), fontsize=8.5, color="#5f5f5f"
            )
        if len(shown) < len(self.n):
            left = f"{len(self.n) - len(shown)} smaller leaves are not drawn"
            axes.set_xlabel(f"{axes.get_xlabel()}   ({left})")

    def _draw_leaf(self, axes: "Axes", y: float, leaf: int, area: float) -> None:
        colour = RED if self.flagged[leaf] else BLUE
        axes.plot([self.low[leaf], self.high[leaf]], [y, y], color=colour, linewidth=2, alpha=0.75)
        fill = "white" if self.flagged[leaf] else colour
        axes.scatter(
            [self.probability[leaf]],
            [y],
            s=area,
            color=fill,
            edgecolor=colour,
            zorder=3,
            linewidth=1.8,
        )
        if self.stated is not None:
            at = float(self.stated[leaf])
            axes.plot([at, at], [y - 0.3, y + 0.3], color=INK, linewidth=2.2, zorder=4)
        figures = (
            (1.03, f"{self.n[leaf]:,.4g}"),
            (1.13, percent(self.confidence[leaf])),
            (1.30, percent(self.utility[leaf])),
        )
        for x, text in figures:
            axes.text(
                x,
                y,
                text,
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=9,
                color=colour if self.flagged[leaf] else INK,
            )
        axes.axhline(y - 0.5, color="#f0f0f0", linewidth=0.8, zorder=0)

    def _label(self, leaf: int) -> str:
        rule = textwrap.shorten(self.names[leaf], 2 * _LINE, placeholder=" ...")
        lines = textwrap.wrap(f"{rule}: {self.predictions[leaf]}", _LINE)
        return "\n".join(lines[:3])

"""Average ranks of algorithms over data sets, and which of them do not differ."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.comparison.many import ManyComparison
from sureleaf.report.picture import BLUE, GREY, INK
from sureleaf.report.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RanksDisplay"]


@dataclass(frozen=True, eq=False, repr=False)
class RanksDisplay(Display):
    """A critical-difference diagram, one line an algorithm.

    Parameters
    ----------
    names : list of str
        Algorithms, the best first.
    ranks : ndarray of float64
        Their average ranks.
    groups : list of (int, int)
        First and last place of algorithms that do not differ.
    critical_difference, p_value : float
        Nemenyi's difference in ranks; of "all are alike".
    n_datasets : int
        Data sets compared on.

    Examples
    --------
    >>> from sureleaf import compare_many
    >>> scores = [[9, 8, 7], [8, 7, 6], [9, 7, 8], [7, 6, 5], [9, 8, 6], [8, 6, 5]]
    >>> found = compare_many(scores, names=["forest", "tree", "rule"])
    >>> RanksDisplay.from_comparison(found).groups
    [(0, 1), (1, 2)]
    """

    names: list[str]
    ranks: NDArray[np.float64]
    groups: list[tuple[int, int]]
    critical_difference: float
    p_value: float
    n_datasets: int

    @classmethod
    def from_comparison(cls, comparison: ManyComparison) -> Self:
        """Take a comparison of many algorithms.

        Parameters
        ----------
        comparison : ManyComparison
            As `sureleaf.compare_many` gives it.

        Returns
        -------
        RanksDisplay
        """
        names = list(comparison.names)
        places = [[names.index(name) for name in group] for group in comparison.groups]
        return cls(
            names,
            np.array(comparison.average_ranks),
            [(min(group), max(group)) for group in places if len(group) > 1],
            comparison.critical_difference,
            comparison.p_value,
            comparison.n_datasets,
        )

    def _size(self) -> tuple[float, float]:
        return 7.5, 1.9 + 0.36 * (len(self.names) + len(self.groups))

    def _title(self) -> tuple[str, str]:
        return (
            f"Average ranks over {self.n_datasets} data sets",
            f"1 is best. Bars join what does not differ (critical difference "
            f"{self.critical_difference:.2f}); all alike: p = {self.p_value:.2g}.",
        )

    def _draw(self, axes: "Axes") -> None:
        height = -np.arange(len(self.names), dtype=float)
        axes.hlines(height, 1, self.ranks, color="#e6e6e6", linewidth=1.2)
        axes.plot(self.ranks, height, "o", color=BLUE, markersize=8)
        for rank, y in zip(self.ranks, height, strict=True):
            axes.annotate(
                f"{rank:.2f}",
                (float(rank), float(y)),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=INK,
            )
        for place, (first, last) in enumerate(self.groups):
            y = -len(self.names) - 0.7 * place + 0.1
            axes.plot([self.ranks[first], self.ranks[last]], [y, y], color=INK, linewidth=4)
            for end in (first, last):  # down from the algorithm to its bar
                axes.plot(
                    [self.ranks[end]] * 2, [height[end], y], color=GREY, linewidth=0.7, zorder=0
                )
        axes.set_yticks(height, self.names)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0.9, len(self.names) + 0.35)
        axes.set_ylim(-len(self.names) - 0.7 * len(self.groups) + 0.3, 0.6)
        axes.set_xlabel("average rank")

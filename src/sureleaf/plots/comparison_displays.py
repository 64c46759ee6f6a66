"""Comparisons of classifiers: differences with intervals, and average ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.comparison import Comparison
from sureleaf.comparison.multiple_models import ManyComparison
from sureleaf.errors import InvalidArgumentError
from sureleaf.plots.display import BLUE, GREEN, GREY, INK, RED, Display, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"better": BLUE, "worse": RED, "equivalent": GREEN, "undecided": "#6f6f6f"}
_MARKERS = {"better": "o", "worse": "s", "equivalent": "D", "undecided": "o"}


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonDisplay(Display):
    """Differences between classifiers with their intervals, margin and verdicts.

    Parameters
    ----------
    names : list of str
        The name of each comparison.
    difference, low, high : ndarray of float64
        First minus second, and the ends of the interval.
    verdicts : list of str
        "better", "worse", "equivalent" or "undecided", for the first of the two.
    rows_needed : list of int or None
        Total number of rows that would decide an undecided comparison.
    measure : str
        The measure that was compared.
    margin, level : float
        Margin of equivalence, and level of the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import compare, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> one, two = (evaluate(m, X, y, random_state=0) for m in (GaussianNB(), DummyClassifier()))
    >>> ComparisonDisplay.from_comparison(compare(one, two), name="Bayes - dummy").verdicts
    ['better']
    """

    names: list[str]
    difference: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    verdicts: list[str]
    rows_needed: list[int | None]
    measure: str
    margin: float
    level: float

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, name: str = "first - second") -> Self:
        """Create the display of one comparison.

        Parameters
        ----------
        comparison : Comparison
            The result of `sureleaf.compare`.
        name : str
            Its label.
        """
        return cls.from_comparisons({name: comparison})

    @classmethod
    def from_comparisons(cls, comparisons: Mapping[str, Comparison]) -> Self:
        """Create the display of several comparisons with the same measure, margin and level.

        Parameters
        ----------
        comparisons : mapping of str to Comparison
            Results of `sureleaf.compare`, by name.
        """
        results = list(comparisons.values())
        kinds = {(result.measure, result.margin, result.level) for result in results}
        if len(kinds) != 1:
            raise InvalidArgumentError(
                "comparisons must have one measure, margin and level; got "
                f"{sorted(map(str, kinds))}. Draw the others in a display of their own."
            )
        difference, low, high = np.array([(one.difference, one.low, one.high) for one in results]).T
        return cls(
            list(comparisons),
            difference,
            low,
            high,
            [str(result.verdict) for result in results],
            [result.rows_needed for result in results],
            results[0].measure,
            results[0].margin,
            results[0].level,
        )

    def figure_size(self) -> tuple[float, float]:
        """Return a size that grows with the number of comparisons."""
        return 8.4, 1.9 + 0.5 * max(len(self.names), 2)

    def _heading(self) -> tuple[str, str]:
        subtitle = f"Lines: {100 * self.level:g} % intervals of the difference"
        if self.margin:
            subtitle += f"; shaded: equivalent, up to {self.margin:g}"
        return f"Difference in {self.measure}", f"{subtitle}."

    def _draw(self, axes: "Axes") -> None:
        if self.margin:
            axes.axvspan(-self.margin, self.margin, color=GREY, alpha=0.22, linewidth=0)
        axes.axvline(0, color=INK, linewidth=1)
        height = -np.arange(len(self.names), dtype=float)
        for index, (y, verdict) in enumerate(zip(height, self.verdicts, strict=True)):
            colour = _COLOURS[verdict]
            axes.plot([self.low[index], self.high[index]], [y, y], color=colour, linewidth=2.4)
            axes.plot(
                self.difference[index],
                y,
                _MARKERS[verdict],
                markerfacecolor="white" if verdict == "undecided" else colour,
                markeredgecolor=colour,
                markeredgewidth=1.8,
                markersize=8,
            )
            axes.text(
                1.02,
                y,
                self._verdict_text(index),
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=9,
                color=colour,
            )
        reach = max(float(np.abs(self.low).max()), float(np.abs(self.high).max()), self.margin)
        axes.set_xlim(-1.12 * reach, 1.12 * reach)
        axes.set_yticks(height, self.names)
        axes.set_ylim(-len(self.names) + 0.4, 0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"difference in {self.measure}")

    def _verdict_text(self, index: int) -> str:
        verdict, rows = self.verdicts[index], self.rows_needed[index]
        if verdict == "undecided" and rows is not None:
            return f"undecided;\n{rows:,} rows needed"
        return verdict


@dataclass(frozen=True, eq=False, repr=False)
class RanksDisplay(Display):
    """A critical-difference diagram with one line per algorithm.

    Parameters
    ----------
    names : list of str
        Algorithms, the best first.
    ranks : ndarray of float64
        Their average ranks.
    groups : list of (int, int)
        Index of the first and last algorithm of each group that does not differ.
    critical_difference : float
        Nemenyi's critical difference of ranks.
    p_value : float
        Of the hypothesis that all algorithms are equal.
    n_datasets : int
        Number of data sets.

    Examples
    --------
    >>> from sureleaf import compare_many
    >>> scores = [[9, 8, 7], [8, 7, 6], [9, 7, 8], [7, 6, 5], [9, 8, 6], [8, 6, 5]]
    >>> comparison = compare_many(scores, names=["forest", "tree", "rule"])
    >>> RanksDisplay.from_comparison(comparison).groups
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
        """Create the display of a comparison of many algorithms.

        Parameters
        ----------
        comparison : ManyComparison
            The result of `sureleaf.compare_many`.
        """
        names = list(comparison.names)
        groups = [[names.index(name) for name in group] for group in comparison.groups]
        return cls(
            names,
            np.array(comparison.average_ranks),
            [(min(group), max(group)) for group in groups if len(group) > 1],
            comparison.critical_difference,
            comparison.p_value,
            comparison.n_datasets,
        )

    def figure_size(self) -> tuple[float, float]:
        """Return a size that grows with the number of algorithms and groups."""
        return 7.5, 1.9 + 0.36 * (len(self.names) + len(self.groups))

    def _heading(self) -> tuple[str, str]:
        return (
            f"Average ranks over {self.n_datasets} data sets",
            f"1 is best. Bars join algorithms that do not differ (critical difference "
            f"{self.critical_difference:.2f}). Friedman's test: p = {self.p_value:.2g}.",
        )

    def _draw(self, axes: "Axes") -> None:
        height = -np.arange(len(self.names), dtype=float)
        axes.hlines(height, 1, self.ranks, color="#e6e6e6", linewidth=1.2)
        axes.plot(self.ranks, height, "o", color=BLUE, markersize=8)
        for rank, y in zip(self.ranks, height, strict=True):
            write(axes, f"{rank:.2f}", (float(rank), float(y)), (8, 0), va="center", color=INK)
        for index, (first, last) in enumerate(self.groups):
            y = -len(self.names) - 0.7 * index + 0.1
            axes.plot([self.ranks[first], self.ranks[last]], [y, y], color=INK, linewidth=4)
            for end in (first, last):  # connects the algorithm with its bar
                axes.plot(
                    [self.ranks[end]] * 2, [height[end], y], color=GREY, linewidth=0.7, zorder=0
                )
        axes.set_yticks(height, self.names)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlim(0.9, len(self.names) + 0.35)
        axes.set_ylim(-len(self.names) - 0.7 * len(self.groups) + 0.3, 0.6)
        axes.set_xlabel("average rank")

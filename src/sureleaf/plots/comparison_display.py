"""Differences between classifiers as intervals, with the verdict beside each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.comparison import Comparison
from sureleaf.comparison.multiple_models import ManyComparison
from sureleaf.errors import InvalidArgumentError
from sureleaf.plots.display import BLUE, GREEN, GREY, INK, RED, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ComparisonDisplay", "RanksDisplay"]


_COLOURS = {"better": BLUE, "worse": RED, "equivalent": GREEN, "undecided": "#6f6f6f"}
_SIGNS = {"better": "o", "worse": "s", "equivalent": "D", "undecided": "o"}


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonDisplay(Display):
    """Differences with their intervals, zero and the margin.

    Parameters
    ----------
    names : list of str
        What is compared with what.
    difference, low, high : ndarray of float64
        First minus second, and the interval.
    verdicts : list of str
        better, worse, equivalent or undecided, of the first.
    rows_needed : list of int or None
        Rows in all that would decide.
    measure : str
        What was compared.
    margin, level : float
        As asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import compare, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> one, two = (evaluate(m, X, y, random_state=0) for m in (GaussianNB(), DummyClassifier()))
    >>> ComparisonDisplay.from_comparison(compare(one, two), name="Bayes - guess").verdicts
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
        """Take one comparison.

        Parameters
        ----------
        comparison : Comparison
            As `sureleaf.compare` gives it.
        name : str
            What is compared with what.

        Returns
        -------
        ComparisonDisplay
        """
        return cls.from_comparisons({name: comparison})

    @classmethod
    def from_comparisons(cls, comparisons: Mapping[str, Comparison]) -> Self:
        """Take several comparisons by name, of one measure, margin and level.

        Parameters
        ----------
        comparisons : mapping of str to Comparison
            As `sureleaf.compare` gives them.

        Returns
        -------
        ComparisonDisplay
        """
        found = list(comparisons.values())
        kinds = {(one.measure, one.margin, one.level) for one in found}
        if len(kinds) != 1:
            raise InvalidArgumentError(
                "comparisons must be of one measure, margin and level; got "
                f"{sorted(map(str, kinds))}. Draw the others beside."
            )
        return cls(
            list(comparisons),
            np.array([one.difference for one in found]),
            np.array([one.low for one in found]),
            np.array([one.high for one in found]),
            [str(one.verdict) for one in found],
            [one.rows_needed for one in found],
            found[0].measure,
            found[0].margin,
            found[0].level,
        )

    def _size(self) -> tuple[float, float]:
        return 8.4, 1.9 + 0.5 * max(len(self.names), 2)

    def _title(self) -> tuple[str, str]:
        told = f"{100 * self.level:g} % intervals of the difference"
        if self.margin:
            told += f"; shaded: differences of up to {self.margin:g} that do not matter"
        return f"Who is better by {self.measure}", f"{told}."

    def _draw(self, axes: "Axes") -> None:
        if self.margin:
            axes.axvspan(-self.margin, self.margin, color=GREY, alpha=0.22, linewidth=0)
        axes.axvline(0, color=INK, linewidth=1)
        height = -np.arange(len(self.names), dtype=float)
        for place, (y, verdict) in enumerate(zip(height, self.verdicts, strict=True)):
            colour = _COLOURS[verdict]
            axes.plot([self.low[place], self.high[place]], [y, y], color=colour, linewidth=2.4)
            fill = "white" if verdict == "undecided" else colour
            axes.plot(
                self.difference[place],
                y,
                _SIGNS[verdict],
                markerfacecolor=fill,
                markeredgecolor=colour,
                markeredgewidth=1.8,
                markersize=8,
            )
            axes.text(
                1.02,
                y,
                self._told(place),
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

    def _told(self, place: int) -> str:
        verdict, rows = self.verdicts[place], self.rows_needed[place]
        if verdict == "undecided" and rows is not None:
            return f"undecided;\n{rows:,} rows would tell"
        return verdict


# Average ranks of algorithms over data sets, and which of them do not differ.


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

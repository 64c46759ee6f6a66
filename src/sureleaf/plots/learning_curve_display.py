"""A measure by training rows, and what more rows would bring."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import LearningCurve, RowsFor, learning_curve
from sureleaf.plots.display import BLUE, GREEN, INK, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LearningCurveDisplay"]


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurveDisplay(Display):
    """A learning curve with intervals, its power law, and rows for a target.

    Parameters
    ----------
    measure : str
        What is measured.
    sizes, values, low, high : ndarray of float64
        Training rows, the measure and its interval.
    further, law, law_low, law_high : ndarray of float64
        Rows at which the power law is drawn, its values and prediction interval; empty if the
        curve has too few points for one.
    reach : RowsFor or None
        Rows for a target, if one was given.
    level : float
        Of the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(GaussianNB(), X, y, random_state=0)
    >>> display.measure, len(display.sizes) == len(display.values)
    ('accuracy', True)
    """

    measure: str
    sizes: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    further: FloatArray
    law: FloatArray
    law_low: FloatArray
    law_high: FloatArray
    reach: RowsFor | None
    level: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, target: float | None = None, **options: Any
    ) -> Self:
        """Fit at growing sizes, as `learning_curve` does, and take the curve.

        Parameters
        ----------
        estimator, X, y
            As for `sureleaf.learning_curve`.
        target : float, optional
            A value of the measure to reach.
        **options
            Of `sureleaf.learning_curve`.

        Returns
        -------
        LearningCurveDisplay
        """
        return cls.from_curve(learning_curve(estimator, X, y, **options), target=target)

    @classmethod
    def from_curve(
        cls, curve: LearningCurve, *, target: float | None = None, until: float | None = None
    ) -> Self:
        """Take a curve that was computed before.

        Parameters
        ----------
        curve : LearningCurve
            As `sureleaf.learning_curve` gives it.
        target : float, optional
            A value of the measure to reach.
        until : float, optional
            Up to how many rows the power law is drawn; four times the largest size by default.

        Returns
        -------
        LearningCurveDisplay
        """
        far = float(until or 4 * curve.sizes[-1])
        grid = np.unique(np.rint(np.geomspace(float(curve.sizes[0]), far, 100)))
        try:
            law, law_low, law_high = curve.predict(grid)
        except InvalidArgumentError:  # too few points for a law
            grid = law = law_low = law_high = np.empty(0)
        found = curve.estimates
        return cls(
            curve.measure.name,
            curve.sizes.astype(float),
            np.array([estimate.value for estimate in found]),
            np.array([estimate.low for estimate in found]),
            np.array([estimate.high for estimate in found]),
            grid,
            law,
            law_low,
            law_high,
            None if target is None else curve.rows_for(target),
            curve.level,
        )

    def _size(self) -> tuple[float, float]:
        return 7.8, 4.6

    def _title(self) -> tuple[str, str]:
        told = f"dots with {100 * self.level:g} % intervals"
        if len(self.further):
            told += "; line and band: power law and its prediction interval"
        return f"What rows bring: {self.measure} by training rows", f"{told[0].upper()}{told[1:]}."

    def _draw(self, axes: "Axes") -> None:
        if len(self.further):
            axes.fill_between(
                self.further, self.law_low, self.law_high, color=BLUE, alpha=0.14, linewidth=0
            )
            seen = self.further <= self.sizes[-1]
            axes.plot(self.further[seen], self.law[seen], color=BLUE, linewidth=2)
            axes.plot(
                self.further[~seen], self.law[~seen], color=BLUE, linewidth=2, linestyle=(0, (4, 2))
            )
        axes.vlines(self.sizes, self.low, self.high, color=INK, linewidth=1.6)
        axes.plot(self.sizes, self.values, "o", color=INK, markersize=6)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        axes.set_xlabel("training rows")
        axes.set_ylabel(self.measure)
        if self.reach is not None:
            self._draw_target(axes, self.reach)

    def _draw_target(self, axes: "Axes", reach: RowsFor) -> None:
        axes.axhline(reach.target, color=GREEN, linewidth=1.4, linestyle=(0, (5, 2)))
        if math.isfinite(reach.rows):
            told = f"{self.measure} {reach.target:g}: some {reach.rows:,.0f} rows"
            if reach.rows <= axes.get_xlim()[1]:
                axes.plot(reach.rows, reach.target, "D", color=GREEN, markersize=7, zorder=4)
        else:
            told = f"{reach.target:g} is out of reach: the law ends at {reach.limit:.3f}"
        axes.annotate(
            told,
            (0.99, reach.target),
            xycoords=("axes fraction", "data"),
            xytext=(0, 5),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            color=GREEN,
        )
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, reach.target), max(high, reach.target + 0.08 * (high - low)))

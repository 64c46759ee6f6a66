"""Stated probability against what happened."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.auditing import Audit
from sureleaf.evaluation import Evaluation
from sureleaf.evaluation.measures.calibration import CalibrationCurve, calibration_curve
from sureleaf.plots.display import BLUE, GREY, INK, RED, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ReliabilityDisplay"]


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """How often what was stated came true, bin by bin.

    Parameters
    ----------
    stated, observed : ndarray of float64
        Mean probability stated in each bin, and the share of its rows where it came true.
    low, high : ndarray of float64
        Where the share lies at the level if the stated probability is right (`around="stated"`),
        or the bounds of the true one (`around="observed"`).
    n : ndarray of float64
        Rows of each bin.
    around : {"stated", "observed"}
        What the bounds surround.
    level : float
        Of the bounds.
    name : str
        What was judged.

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], n_bins=2)
    >>> display.observed.tolist(), display.outside.tolist()
    ([0.0, 1.0], [False, False])
    """

    stated: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    n: FloatArray
    around: str
    level: float
    name: str

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, positive: object = None, n_bins: int = 10
    ) -> Self:
        """Take the pooled predictions of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            With probabilities.
        positive : label, optional
            The class whose probability is judged.
        n_bins : int
            Bins of equal size.

        Returns
        -------
        ReliabilityDisplay
        """
        curve = evaluation.calibration(positive=positive, n_bins=n_bins)
        return cls._of_curve(curve, evaluation.estimator)

    @classmethod
    def from_predictions(
        cls,
        truth: ArrayLike,
        probabilities: ArrayLike,
        *,
        positive: object = None,
        n_bins: int = 10,
        name: str = "predictions",
    ) -> Self:
        """Take labels and stated probabilities.

        Parameters
        ----------
        truth : array_like
            Labels.
        probabilities : array_like
            Of the positive class, or of all classes.
        positive : label, optional
            The class whose probability is judged.
        n_bins : int
            Bins of equal size.
        name : str
            What was judged.

        Returns
        -------
        ReliabilityDisplay
        """
        curve = calibration_curve(truth, probabilities, positive=positive, n_bins=n_bins)
        return cls._of_curve(curve, name)

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Take the bins of an audit: the probability of the class predicted.

        Parameters
        ----------
        audit : Audit
            As `sureleaf.audit` gives it.

        Returns
        -------
        ReliabilityDisplay
        """
        bins = audit.bins
        order = np.argsort(bins.stated, kind="stable")
        return cls(
            bins.stated[order],
            bins.probability[order],
            bins.low[order],
            bins.high[order],
            bins.n[order],
            "observed",
            audit.level,
            audit.model,
        )

    @classmethod
    def _of_curve(cls, curve: CalibrationCurve, name: str) -> Self:
        return cls(
            curve.stated,
            curve.observed,
            curve.low,
            curve.high,
            curve.rows,
            "stated",
            curve.level,
            name,
        )

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Bins that speak against what was stated."""
        value = self.observed if self.around == "stated" else self.stated
        out: NDArray[np.bool_] = (value < self.low - 1e-12) | (value > self.high + 1e-12)
        return out

    def _size(self) -> tuple[float, float]:
        return 6.2, 5.6

    def _title(self) -> tuple[str, str]:
        level = f"{100 * self.level:g} %"
        lines = {
            "stated": f"band: where {level} of true statements fall",
            "observed": f"lines: {level} interval of what is true",
        }[self.around]
        n_outside = int(self.outside.sum())
        shown = self.name if len(self.name) <= 44 else f"{self.name[:41]}..."
        return f"Reliability of {shown}", f"{n_outside} of {len(self.n)} bins outside; {lines}."

    def _draw(self, axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2)
        out = self.outside
        if self.around == "stated":
            axes.fill_between(self.stated, self.low, self.high, color=GREY, alpha=0.25, linewidth=0)
        for choice, colour in ((~out, BLUE), (out, RED)):
            self._draw_bins(axes, choice, colour)
        axes.plot(self.stated, self.observed, color=INK, linewidth=1, alpha=0.5, zorder=2)
        low = min(float(self.stated.min()), float(np.nanmin(self.observed)))
        low = min(low, float(np.nanmin(self.low))) if self.around == "observed" else low
        low = 0.0 if low < 0.4 else float(np.floor(10 * low) / 10)
        axes.set_xlim(low - 0.01, 1.01)
        axes.set_ylim(low - 0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("stated probability")
        axes.set_ylabel("came true")
        if out.any():
            axes.annotate(
                "stated too low",
                (0.03, 0.96),
                xycoords="axes fraction",
                fontsize=8.5,
                color="#5f5f5f",
            )
            axes.annotate(
                "stated too high",
                (0.97, 0.03),
                xycoords="axes fraction",
                ha="right",
                fontsize=8.5,
                color="#5f5f5f",
            )

    def _draw_bins(self, axes: "Axes", choice: NDArray[np.bool_], colour: str) -> None:
        if self.around == "observed":
            axes.vlines(
                self.stated[choice],
                self.low[choice],
                self.high[choice],
                color=colour,
                linewidth=1.8,
            )
        area: Any = 22 + 90 * self.n[choice] / max(float(self.n.max()), 1.0)
        axes.scatter(
            self.stated[choice],
            self.observed[choice],
            s=area,
            color=colour,
            zorder=3,
            edgecolor="white",
        )

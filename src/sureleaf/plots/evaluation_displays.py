"""Evaluations of classifiers: reliability diagrams, ROC curves and learning curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import FloatArray, read_labels
from sureleaf.auditing import Audit
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation, LearningCurve, learning_curve
from sureleaf.evaluation.labelled_table import find_classes, positive_class
from sureleaf.evaluation.measures.calibration import CalibrationCurve, calibration_curve
from sureleaf.evaluation.measures.ranking import Roc, delong_interval, roc
from sureleaf.plots.display import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    NOTE,
    RED,
    Display,
    rows_axis,
    unit_square,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _shortened(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Predicted probabilities beside observed frequencies, per bin.

    Parameters
    ----------
    stated, observed : ndarray of float64
        Mean predicted probability of each bin, and the proportion of its rows for which the
        prediction was correct.
    low, high : ndarray of float64
        With ``around="stated"``: the range of the observed proportion if the predicted
        probability is correct. With ``around="observed"``: the interval of the true probability.
    n : ndarray of float64
        Number of rows of each bin.
    around : {"stated", "observed"}
        What `low` and `high` surround.
    level : float
        Of `low` and `high`.
    name : str
        What was evaluated.

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
    SIZE = (6.2, 5.6)

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, positive: object = None, n_bins: int = 10
    ) -> Self:
        """Create the display from the pooled predictions of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            With probabilities.
        positive : label, optional
            The class whose probability is evaluated.
        n_bins : int
            Number of bins of equal size.
        """
        curve = evaluation.calibration(positive=positive, n_bins=n_bins)
        return cls._from_curve(curve, evaluation.estimator)

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
        """Create the display from labels and predicted probabilities.

        Parameters
        ----------
        truth : array_like
            Labels.
        probabilities : array_like
            Of the positive class, or of all classes.
        positive : label, optional
            The class whose probability is evaluated.
        n_bins : int
            Number of bins of equal size.
        name : str
            What was evaluated.
        """
        curve = calibration_curve(truth, probabilities, positive=positive, n_bins=n_bins)
        return cls._from_curve(curve, name)

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Create the display from the bins of an audit: probabilities of the predicted class.

        Parameters
        ----------
        audit : Audit
            The result of `sureleaf.audit`.
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
    def _from_curve(cls, curve: CalibrationCurve, name: str) -> Self:
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
        """Whether each bin contradicts its predicted probability."""
        value = self.observed if self.around == "stated" else self.stated
        outside: NDArray[np.bool_] = (value < self.low - 1e-12) | (value > self.high + 1e-12)
        return outside

    def _heading(self) -> tuple[str, str]:
        level = f"{100 * self.level:g} %"
        explanation = {
            "stated": f"band: contains {level} of the bins of a calibrated model",
            "observed": f"lines: {level} intervals of the true probability",
        }[self.around]
        n_outside = int(self.outside.sum())
        return (
            f"Reliability of {_shortened(self.name, 44)}",
            f"{n_outside} of {len(self.n)} bins outside; {explanation}.",
        )

    def _draw(self, axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2)
        outside = self.outside
        if self.around == "stated":
            axes.fill_between(self.stated, self.low, self.high, color=GREY, alpha=0.25, linewidth=0)
        for bins, colour in ((~outside, BLUE), (outside, RED)):
            self._draw_bins(axes, bins, colour)
        axes.plot(self.stated, self.observed, color=INK, linewidth=1, alpha=0.5, zorder=2)
        low = min(float(self.stated.min()), float(np.nanmin(self.observed)))
        low = min(low, float(np.nanmin(self.low))) if self.around == "observed" else low
        low = 0.0 if low < 0.4 else float(np.floor(10 * low) / 10)
        unit_square(axes, "predicted probability", "observed proportion", low)
        if outside.any():
            for text, position, side in (
                ("predicted too low", (0.03, 0.96), "left"),
                ("predicted too high", (0.97, 0.03), "right"),
            ):
                axes.annotate(
                    text, position, xycoords="axes fraction", ha=side, fontsize=8.5, color=NOTE
                )

    def _draw_bins(self, axes: "Axes", bins: NDArray[np.bool_], colour: str) -> None:
        x, y = self.stated[bins], self.observed[bins]
        if self.around == "observed":
            axes.vlines(x, self.low[bins], self.high[bins], color=colour, linewidth=1.8)
        area: Any = 22 + 90 * self.n[bins] / max(float(self.n.max()), 1.0)
        axes.scatter(x, y, s=area, color=colour, zorder=3, edgecolor="white")


@dataclass(frozen=True, eq=False, repr=False)
class RocDisplay(Display):
    """ROC curves with the area under each curve and its interval.

    Parameters
    ----------
    curves : dict of str to Roc
        By name.
    areas : dict of str to Estimate
        The area under each curve, with its interval.
    positive : str
        The positive class.
    rows : str
        Which rows the curves are of, in words; may be empty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import evaluate
    >>> evaluation = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), random_state=0)
    >>> display = RocDisplay.from_evaluation(evaluation, name="Bayes")
    >>> round(display.areas["Bayes"].value, 2)
    0.99
    """

    curves: dict[str, Roc]
    areas: dict[str, Estimate]
    positive: str
    rows: str = ""
    SIZE = (6.2, 5.6)

    @classmethod
    def from_predictions(
        cls,
        truth: ArrayLike,
        scores: ArrayLike,
        *,
        positive: object = None,
        name: str = "predictions",
    ) -> Self:
        """Create the display from labels and scores.

        Parameters
        ----------
        truth : array_like
            Labels of two classes.
        scores : array_like
            Of the positive class, or of both; need not be probabilities.
        positive : label, optional
            By default the second class.
        name : str
            The label of the curve.

        Examples
        --------
        >>> display = RocDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> display.areas["predictions"].value, display.curves["predictions"].true_positive_rate
        (0.75, array([0. , 0.5, 0.5, 1. , 1. ]))
        """
        labels = read_labels("truth", truth)
        classes = find_classes(None, labels)
        code = positive_class(positive, classes)
        table = np.asarray(scores, dtype=np.float64)
        score = table[:, code] if table.ndim == 2 else table
        curve = roc(labels, score, positive=classes[code])
        area = delong_interval(labels == classes[code], score)
        return cls({name: curve}, {name: area}, str(classes[code]))

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, name: str | None = None) -> Self:
        """Create the display from the pooled predictions of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Of two classes, with probabilities.
        name : str, optional
            Its label; the estimator by default.
        """
        return cls.from_evaluations({name or evaluation.estimator: evaluation})

    @classmethod
    def from_evaluations(cls, evaluations: Mapping[str, Evaluation]) -> Self:
        """Create the display from several evaluations with the same positive class.

        Parameters
        ----------
        evaluations : mapping of str to Evaluation
            Of two classes, with probabilities, by name.
        """
        positive = {str(evaluation.positive) for evaluation in evaluations.values()}
        if len(positive) != 1:
            raise InvalidArgumentError(
                f"evaluations must have one positive class; got {sorted(positive)}. "
                "Give the same positive= to evaluate."
            )
        return cls(
            {name: evaluation.roc() for name, evaluation in evaluations.items()},
            {name: evaluation.estimate("auc") for name, evaluation in evaluations.items()},
            positive.pop(),
            "Unseen rows",
        )

    def _heading(self) -> tuple[str, str]:
        level = next(iter(self.areas.values())).level
        rows = f"{self.rows}; " if self.rows else ""
        return (
            f"ROC curves, positive class {self.positive}",
            f"{rows}the area under each curve with its {100 * level:g} % interval.".capitalize(),
        )

    def _draw(self, axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        n_curves = len(self.curves)
        for index, (name, curve) in enumerate(self.curves.items()):
            colour = COLOURS[index % len(COLOURS)]
            axes.plot(
                curve.false_positive_rate,
                curve.true_positive_rate,
                color=colour,
                linestyle=("-", (0, (5, 1.5)), (0, (1.2, 1.2)))[index % 3],
                linewidth=2.2,
                label=name,
            )
            area = self.areas[name]
            axes.annotate(
                f"{_shortened(name, 28)}  {area.value:.3f} ({area.low:.3f} to {area.high:.3f})",
                (0.98, 0.04 + 0.06 * (n_curves - 1 - index)),
                xycoords="axes fraction",
                ha="right",
                fontsize=9,
                color=colour,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
            )
        unit_square(axes, "false positive rate", "true positive rate")


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurveDisplay(Display):
    """A learning curve with intervals and its power law.

    Parameters
    ----------
    measure : str
        What is measured.
    sizes, values, low, high : ndarray of float64
        Training rows, the measure and the ends of its interval.
    further, law, law_low, law_high : ndarray of float64
        Rows at which the power law is drawn, its values and its prediction interval; empty if the
        curve has too few points to fit one.
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
    level: float
    SIZE = (7.8, 4.6)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Compute a learning curve and create its display.

        Parameters
        ----------
        estimator, X, y
            As for `sureleaf.learning_curve`.
        **options
            Of `sureleaf.learning_curve`.
        """
        return cls.from_curve(learning_curve(estimator, X, y, **options))

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, until: float | None = None) -> Self:
        """Create the display of a learning curve.

        Parameters
        ----------
        curve : LearningCurve
            The result of `sureleaf.learning_curve`.
        until : float, optional
            Number of rows up to which the power law is drawn; four times the largest size by
            default.
        """
        last = float(until or 4 * curve.sizes[-1])
        grid = np.unique(np.rint(np.geomspace(float(curve.sizes[0]), last, 100)))
        try:
            law, law_low, law_high = curve.predict(grid)
        except InvalidArgumentError:  # too few points for a power law
            grid = law = law_low = law_high = np.empty(0)
        values, low, high = np.array([(one.value, one.low, one.high) for one in curve.estimates]).T
        return cls(
            curve.measure.name,
            curve.sizes.astype(float),
            values,
            low,
            high,
            grid,
            law,
            law_low,
            law_high,
            curve.level,
        )

    def _heading(self) -> tuple[str, str]:
        subtitle = f"Dots with {100 * self.level:g} % intervals"
        if len(self.further):
            subtitle += "; line and band: power law and its prediction interval"
        return f"Learning curve: {self.measure} by training rows", f"{subtitle}."

    def _draw(self, axes: "Axes") -> None:
        if len(self.further):
            axes.fill_between(
                self.further, self.law_low, self.law_high, color=BLUE, alpha=0.14, linewidth=0
            )
            is_measured = self.further <= self.sizes[-1]
            for part, style in ((is_measured, "-"), (~is_measured, (0, (4, 2)))):
                axes.plot(
                    self.further[part], self.law[part], color=BLUE, linewidth=2, linestyle=style
                )
        axes.vlines(self.sizes, self.low, self.high, color=INK, linewidth=1.6)
        axes.plot(self.sizes, self.values, "o", color=INK, markersize=6)
        rows_axis(axes, "training rows")
        axes.set_ylabel(self.measure)

"""Evaluations and comparisons: reliability, ROC curves, learning curves, differences, ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import FloatArray, read_labels
from sureleaf.auditing import Audit
from sureleaf.comparison import Comparison, ManyComparison
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.labelled_table import find_classes, positive_class
from sureleaf.evaluation.learning_curves import LearningCurve, learning_curve
from sureleaf.evaluation.measures.calibration import CalibrationCurve, calibration_curve
from sureleaf.evaluation.measures.ranking import Roc, delong_interval, roc
from sureleaf.plots.display import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    INK,
    NOTE,
    RED,
    Display,
    names_axis,
    rows_axis,
    unit_square,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _shortened(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Predicted probabilities beside observed frequencies, per bin.

    `stated` is the mean predicted probability of each bin, `observed` the proportion of its rows
    for which the prediction was correct. `low` and `high` surround one of them: the stated one with
    the range of the observed proportion if the predicted probability is correct; the observed one
    with the interval of the true probability.

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
        """Create the display from the pooled predictions of an evaluation, for the positive class.

        The bins have equal numbers of rows.
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
        """Create the display from what `sureleaf.measures.calibration_curve` takes."""
        curve = calibration_curve(truth, probabilities, positive=positive, n_bins=n_bins)
        return cls._from_curve(curve, name)

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Create the display from the bins of an audit: probabilities of the predicted class."""
        bins, order = audit.bins, np.argsort(audit.bins.stated, kind="stable")
        stated, observed, n = bins.stated[order], bins.probability[order], bins.n[order]
        low, high = bins.low[order], bins.high[order]
        return cls(stated, observed, low, high, n, "observed", audit.level, audit.model)

    @classmethod
    def _from_curve(cls, curve: CalibrationCurve, name: str) -> Self:
        columns = (curve.stated, curve.observed, curve.low, curve.high, curve.rows)
        return cls(*columns, "stated", curve.level, name)

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Whether each bin contradicts its predicted probability."""
        value = self.observed if self.around == "stated" else self.stated
        return (value < self.low - 1e-12) | (value > self.high + 1e-12)

    def _heading(self) -> tuple[str, str]:
        explanation = f"lines: {100 * self.level:g} % intervals of the true probability"
        if self.around == "stated":
            explanation = f"band: contains {100 * self.level:g} % of the bins of a calibrated model"
        outside = f"{self.outside.sum()} of {len(self.n)} bins outside"
        return f"Reliability of {_shortened(self.name, 44)}", f"{outside}; {explanation}."

    def _draw(self, axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2)
        outside = self.outside
        if self.around == "stated":
            axes.fill_between(self.stated, self.low, self.high, color=GREY, alpha=0.25, linewidth=0)
        areas: Any = 22 + 90 * self.n / max(float(self.n.max()), 1.0)
        for bins, colour in ((~outside, BLUE), (outside, RED)):
            x, y = self.stated[bins], self.observed[bins]
            if self.around == "observed":
                axes.vlines(x, self.low[bins], self.high[bins], color=colour, linewidth=1.8)
            axes.scatter(x, y, s=areas[bins], color=colour, zorder=3, edgecolor="white")
        axes.plot(self.stated, self.observed, color=INK, linewidth=1, alpha=0.5, zorder=2)
        low = min(float(self.stated.min()), float(np.nanmin(self.observed)))
        low = min(low, float(np.nanmin(self.low))) if self.around == "observed" else low
        low = 0.0 if low < 0.4 else float(np.floor(10 * low) / 10)
        unit_square(axes, "predicted probability", "observed proportion", low)
        if outside.any():
            style: dict[str, Any] = {"xycoords": "axes fraction", "fontsize": 8.5, "color": NOTE}
            axes.annotate("predicted too low", (0.03, 0.96), ha="left", **style)
            axes.annotate("predicted too high", (0.97, 0.03), ha="right", **style)


@dataclass(frozen=True, eq=False, repr=False)
class RocDisplay(Display):
    """ROC curves, the areas under them and their intervals, by name, for one positive class.

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
    rows: str = ""  # which they are, in words
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
        """Create the display from labels of two classes and scores of the positive one, or of both.

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
        """Create the display from the pooled predictions of an evaluation of two classes."""
        return cls.from_evaluations({name or evaluation.estimator: evaluation})

    @classmethod
    def from_evaluations(cls, evaluations: Mapping[str, Evaluation]) -> Self:
        """Create the display from evaluations of the same two classes, by name."""
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
            rates, area = (curve.false_positive_rate, curve.true_positive_rate), self.areas[name]
            colour = COLOURS[index % len(COLOURS)]
            style = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))[index % 3]
            axes.plot(*rates, color=colour, linestyle=style, linewidth=2.2, label=name)
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

    `further` are the rows at which the power law is drawn with its prediction interval; they are
    empty if the curve has too few points to fit one.

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
        """Create the display of a new `sureleaf.learning_curve` with these options."""
        return cls.from_curve(learning_curve(estimator, X, y, **options))

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, until: float | None = None) -> Self:
        """Create the display of a learning curve, with its power law up to ``until`` rows.

        By default, these are four times the largest size.
        """
        last = float(until or 4 * curve.sizes[-1])
        grid = np.unique(np.rint(np.geomspace(float(curve.sizes[0]), last, 100)))
        try:
            law, law_low, law_high = curve.predict(grid)
        except InvalidArgumentError:  # too few points for a power law
            grid = law = law_low = law_high = np.empty(0)
        values, low, high = np.array([(one.value, one.low, one.high) for one in curve.estimates]).T
        measured = (curve.sizes.astype(float), values, low, high)
        return cls(curve.measure.name, *measured, grid, law, law_low, law_high, curve.level)

    def _heading(self) -> tuple[str, str]:
        subtitle = f"Dots with {100 * self.level:g} % intervals"
        if len(self.further):
            subtitle += "; line and band: power law and its prediction interval"
        return f"Learning curve: {self.measure} by training rows", f"{subtitle}."

    def _draw(self, axes: "Axes") -> None:
        n, law = self.further, self.law
        if len(n):
            axes.fill_between(n, self.law_low, self.law_high, color=BLUE, alpha=0.14, linewidth=0)
            is_measured = n <= self.sizes[-1]
            for part, style in ((is_measured, "-"), (~is_measured, (0, (4, 2)))):
                axes.plot(n[part], law[part], color=BLUE, linewidth=2, linestyle=style)
        axes.vlines(self.sizes, self.low, self.high, color=INK, linewidth=1.6)
        axes.plot(self.sizes, self.values, "o", color=INK, markersize=6)
        rows_axis(axes, "training rows")
        axes.set_ylabel(self.measure)


_COLOURS = {"better": BLUE, "worse": RED, "equivalent": GREEN, "undecided": "#6f6f6f"}
_MARKERS = {"better": "o", "worse": "s", "equivalent": "D", "undecided": "o"}


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonDisplay(Display):
    """Differences between classifiers with their intervals, margin and verdicts.

    One entry per comparison, as in `Comparison`; the verdicts are about the first of the two.

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
        """Create the display of a result of `sureleaf.compare`."""
        return cls.from_comparisons({name: comparison})

    @classmethod
    def from_comparisons(cls, comparisons: Mapping[str, Comparison]) -> Self:
        """Create the display of comparisons with one measure, margin and level, by name."""
        results = list(comparisons.values())
        kinds = {(result.measure, result.margin, result.level) for result in results}
        if len(kinds) != 1:
            raise InvalidArgumentError(
                "comparisons must have one measure, margin and level; got "
                f"{sorted(map(str, kinds))}. Draw the others in a display of their own."
            )
        difference, low, high = np.array([(one.difference, one.low, one.high) for one in results]).T
        verdicts = [str(result.verdict) for result in results]
        needed = [result.rows_needed for result in results]
        names = list(comparisons)
        return cls(names, difference, low, high, verdicts, needed, *kinds.pop())

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
            colour, rows = _COLOURS[verdict], self.rows_needed[index]
            is_open = verdict == "undecided"
            axes.plot([self.low[index], self.high[index]], [y, y], color=colour, linewidth=2.4)
            axes.plot(
                self.difference[index],
                y,
                _MARKERS[verdict],
                markerfacecolor="white" if is_open else colour,
                markeredgecolor=colour,
                markeredgewidth=1.8,
                markersize=8,
            )
            text = f"undecided;\n{rows:,} rows needed" if is_open and rows is not None else verdict
            place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
            axes.text(1.02, y, text, fontsize=9, color=colour, **place)
        reach = max(float(np.abs(self.low).max()), float(np.abs(self.high).max()), self.margin)
        axes.set_xlim(-1.12 * reach, 1.12 * reach)
        names_axis(axes, height, self.names)
        axes.set_ylim(-len(self.names) + 0.4, 0.6)
        axes.set_xlabel(f"difference in {self.measure}")


@dataclass(frozen=True, eq=False, repr=False)
class RanksDisplay(Display):
    """A critical-difference diagram with one line per algorithm, as in `ManyComparison`.

    Algorithms are in the order of their ranks, the best first. Each of the groups, which do not
    differ, has the index of its first and of its last algorithm.

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
        """Create the display of a result of `sureleaf.compare_many`."""
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
                ends = ([self.ranks[end]] * 2, [height[end], y])
                axes.plot(*ends, color=GREY, linewidth=0.7, zorder=0)
        names_axis(axes, height, self.names)
        axes.set_xlim(0.9, len(self.names) + 0.35)
        axes.set_ylim(-len(self.names) - 0.7 * len(self.groups) + 0.3, 0.6)
        axes.set_xlabel("average rank")

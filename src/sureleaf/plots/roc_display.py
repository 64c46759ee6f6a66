"""True against false positives, of one classifier or several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Evaluation
from sureleaf.evaluation.measures.ranking import Roc
from sureleaf.plots.display import COLOURS, GREY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RocDisplay"]


@dataclass(frozen=True, eq=False, repr=False)
class RocDisplay(Display):
    """ROC curves with the area under each and its interval.

    Parameters
    ----------
    curves : dict of str to Roc
        By name.
    areas : dict of str to Estimate
        The area under each curve, with its interval.
    positive : str
        The positive class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import evaluate
    >>> judged = evaluate(GaussianNB(), *load_breast_cancer(return_X_y=True), random_state=0)
    >>> display = RocDisplay.from_evaluation(judged, name="Bayes")
    >>> round(display.areas["Bayes"].value, 2)
    0.99
    """

    curves: dict[str, Roc]
    areas: dict[str, Estimate]
    positive: str

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, name: str | None = None) -> Self:
        """Take the pooled predictions of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Of two classes, with probabilities.
        name : str, optional
            What to call it; the estimator by default.

        Returns
        -------
        RocDisplay
        """
        return cls.from_evaluations({name or evaluation.estimator: evaluation})

    @classmethod
    def from_evaluations(cls, evaluations: Mapping[str, Evaluation]) -> Self:
        """Take several evaluations, by name, with the same positive class.

        Parameters
        ----------
        evaluations : mapping of str to Evaluation
            Of two classes, with probabilities.

        Returns
        -------
        RocDisplay
        """
        found = {str(judged.positive) for judged in evaluations.values()}
        if len(found) != 1:
            raise InvalidArgumentError(
                f"evaluations must have one positive class; got {sorted(found)}. "
                "Give the same positive= to evaluate."
            )
        return cls(
            {name: judged.roc() for name, judged in evaluations.items()},
            {name: judged.estimate("auc") for name, judged in evaluations.items()},
            found.pop(),
        )

    def _size(self) -> tuple[float, float]:
        return 6.2, 5.6

    def _title(self) -> tuple[str, str]:
        level = next(iter(self.areas.values())).level
        return (
            f"How rows of class {self.positive} are ranked",
            f"ROC curves of unseen rows; area under each with its {100 * level:g} % interval.",
        )

    def _draw(self, axes: "Axes") -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        n_curves = len(self.curves)
        for place, (name, curve) in enumerate(self.curves.items()):
            colour = COLOURS[place % len(COLOURS)]
            pen = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)))[place % 3]
            axes.plot(
                curve.false_positive_rate,
                curve.true_positive_rate,
                color=colour,
                linestyle=pen,
                linewidth=2.2,
                label=name,
            )
            area = self.areas[name]
            shown = name if len(name) <= 28 else f"{name[:25]}..."
            axes.annotate(
                f"{shown}  {area.value:.3f} ({area.low:.3f} to {area.high:.3f})",
                (0.98, 0.04 + 0.06 * (n_curves - 1 - place)),
                xycoords="axes fraction",
                ha="right",
                fontsize=9,
                color=colour,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85},
            )
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")

"""`Evaluation.summary`: the main measures with intervals, and warnings."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureleaf.arguments import check_level
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures import ConfusionMatrix
from sureleaf.evaluation.measures.named import NAMED
from sureleaf.evaluation.valid_intervals import needs_larger_parts
from sureleaf.formatting import TextDisplay, listed, percent

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["Summary", "summarise"]

MEASURES = (
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f_measure",
    "auc",
    "nce",
    "quadratic_loss",
    "cost",
    "decided_cost",
)


@dataclass(frozen=True)
class Summary(TextDisplay):
    """The main measures of an evaluation, and warnings about them.

    Attributes
    ----------
    majority : float
        Accuracy of the baseline, which always predicts the most frequent class.
    warnings : tuple of str
        Facts that the measures do not show: missed classes, failed splits, infinite losses.
    cheapest : tuple of label and float, or None
        With costs: the class that is cheapest as the decision for all rows, and its cost per row.
    """

    title: str
    estimates: dict[str, Estimate]
    majority: float
    warnings: tuple[str, ...]
    cheapest: tuple[Any, float] | None = None

    def __str__(self) -> str:
        lines = [self.title, ""]
        width = max(len(name) for name in self.estimates)
        for name, estimate in self.estimates.items():
            lines.append(f"  {name.ljust(width)}  {estimate}")
            if name == "accuracy":
                lines.append(f"  {'baseline'.ljust(width)}  {self.majority:.4f}")
        if self.cheapest is not None:
            label, least = self.cheapest
            lines.append(f"  Always deciding for {label!r} costs {least:.4f} per row.")
        lines.extend(f"  ! {warning}" for warning in self.warnings)
        return "\n".join(lines)

    __repr__ = __str__


def summarise(evaluation: "Evaluation", *, level: float) -> Summary:
    """Return the summary of an evaluation."""
    check_level(level)
    estimates, warnings = {}, []
    two = len(evaluation.classes) == 2
    single_rows = []
    for name in MEASURES:
        needs_two = name in ("precision", "recall", "f_measure")
        if (
            (needs_two and not two)
            or (NAMED[name].needs_cost and evaluation.cost_matrix is None)
            or (NAMED[name].needs_probabilities and evaluation.probabilities is None)
        ):
            continue
        if needs_larger_parts(evaluation, NAMED[name]):
            single_rows.append(name)
            continue
        try:
            estimates[name] = evaluation.estimate(name, level=level)
        except InvalidArgumentError as problem:
            warnings.append(f"{name}: {problem}")
    if single_rows:
        warnings.append(
            f"{listed(single_rows)} are not defined for a test part of one row (leave-one-out). "
            "For them, evaluate with folds."
        )
    confusion = evaluation.confusion()
    majority = float(np.max(confusion.actual) / confusion.total)
    warnings += _class_warnings(confusion, majority, estimates.get("accuracy"))
    warnings += _value_warnings(evaluation, estimates)
    design = ", ".join(
        f"{key}={value}" for key, value in evaluation.design.to_dict().items() if key != "design"
    )
    title = (
        f"{evaluation.estimator} on {len(evaluation.truth)} rows of {len(evaluation.classes)} "
        f"classes, positive class {evaluation.positive!r}, by {type(evaluation.design).__name__}"
        f"({design}), seed {evaluation.seed}"
    )
    return Summary(title, estimates, majority, tuple(warnings), _cheapest(evaluation))


def _cheapest(evaluation: "Evaluation") -> tuple[Any, float] | None:
    """Return the class that is cheapest as the decision for all rows, and its cost per row."""
    costs = evaluation.cost_matrix
    if costs is None:
        return None
    truth = evaluation.truth
    per_row = costs[np.arange(len(truth)), truth] if costs.ndim == 3 else costs[truth]
    means = np.average(per_row, axis=0, weights=evaluation.weights)
    least = int(np.argmin(means))
    return evaluation.classes.tolist()[least], float(means[least])


def _class_warnings(
    confusion: ConfusionMatrix, majority: float, estimate: Estimate | None
) -> list[str]:
    """Warn about a high accuracy that only reflects the most frequent class.

    The accuracy is the estimate that the summary states, if there is one: of bootstrap
    samples, it is not the share of the correct predictions.
    """
    warnings = []
    correct = np.diag(confusion.counts)
    accuracy = float(correct.sum() / confusion.total) if estimate is None else estimate.value
    if accuracy <= majority + 1e-12:
        most = confusion.labels.tolist()[int(np.argmax(confusion.actual))]
        warnings.append(
            f"Accuracy {percent(accuracy)} is no higher than the baseline, which always "
            f"predicts {most!r} ({percent(majority)})."
        )
    for label, n_correct, rows in zip(
        confusion.labels.tolist(), correct, confusion.actual, strict=True
    ):
        if rows > 0 and n_correct == 0:
            warnings.append(f"Class {label!r}: none of its {rows:g} rows was predicted correctly.")
        elif rows > 0 and n_correct < rows / 2 and rows < confusion.total / 2:
            warnings.append(
                f"Class {label!r}: {rows - n_correct:g} of its {rows:g} rows were predicted "
                "wrongly."
            )
    if np.count_nonzero(confusion.predicted) == 1 and len(confusion.labels) > 1:
        only = confusion.labels.tolist()[int(np.argmax(confusion.predicted))]
        if accuracy > majority:
            warnings.append(f"Every prediction is {only!r}.")
    return warnings


def _value_warnings(evaluation: "Evaluation", estimates: dict[str, Estimate]) -> list[str]:
    warnings = [
        f"Split {i} (repeat {s.repeat}, fold {s.fold}) failed and is not used: {s.failure}"
        for i, s in enumerate(evaluation.splits)
        if s.failure
    ]
    if "nce" in estimates and math.isinf(estimates["nce"].value):
        warnings.append("nce is infinite: a class that occurred had probability 0.")
    if evaluation.probabilities is None:
        warnings.append("The estimator has no predict_proba: no AUC, losses or calibration.")
    rare = np.flatnonzero(np.bincount(evaluation.truth) == 1)
    warnings.extend(
        f"Class {evaluation.classes.tolist()[code]!r} has only one row, so no model was both "
        "trained and tested on it."
        for code in rare
    )
    return warnings

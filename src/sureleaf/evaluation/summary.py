"""The main figures of an evaluation in words, and what to beware of."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures import ConfusionMatrix
from sureleaf.evaluation.measures.named import NAMED
from sureleaf.formatting import TextDisplay

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["Summary", "summarise"]

FIGURES = (
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
    """What an evaluation comes to.

    Attributes
    ----------
    title : str
    estimates : dict of str to Estimate
    majority : float
        Accuracy of always saying the most frequent class.
    warnings : tuple of str
        What the figures hide: missed classes, failed splits, infinite losses.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> X, y = np.zeros((1000, 1)), np.repeat([0, 1], [990, 10])
    >>> for warning in evaluate(DummyClassifier(), X, y, random_state=0).summary().warnings:
    ...     print(warning)
    Accuracy 0.9900 is no more than always saying 0 gives (0.9900).
    Class 1: none of its 10 rows was found.
    """

    title: str
    estimates: dict[str, Estimate]
    majority: float
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        lines = [self.title, ""]
        width = max(len(name) for name in self.estimates)
        for name, found in self.estimates.items():
            lines.append(f"  {name.ljust(width)}  {found}")
            if name == "accuracy":
                lines.append(f"  {'majority class'.ljust(width)}  {self.majority:.4f}")
        lines.extend(f"  ! {warning}" for warning in self.warnings)
        return "\n".join(lines)

    __repr__ = __str__


def summarise(evaluation: "Evaluation", *, level: float) -> Summary:
    """Return the summary of an evaluation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> list(summarise(judged, level=0.95).estimates)
    ['accuracy', 'balanced_accuracy', 'auc', 'nce', 'quadratic_loss']
    """
    estimates, warnings = {}, []
    two = len(evaluation.classes) == 2
    for name in FIGURES:
        needs_two = name in ("precision", "recall", "f_measure")
        if (
            (needs_two and not two)
            or (NAMED[name].needs_cost and evaluation.cost_matrix is None)
            or (NAMED[name].needs_probabilities and evaluation.probabilities is None)
        ):
            continue
        try:
            estimates[name] = evaluation.estimate(name, level=level)
        except InvalidArgumentError as problem:
            warnings.append(f"{name}: {problem}")
    confusion = evaluation.confusion()
    majority = float(np.max(confusion.actual) / confusion.total)
    warnings += _traps(confusion, majority)
    warnings += _gaps(evaluation, estimates)
    design = ", ".join(
        f"{key}={value}" for key, value in evaluation.design.to_dict().items() if key != "design"
    )
    title = (
        f"{evaluation.estimator} on {len(evaluation.truth)} rows of {len(evaluation.classes)} "
        f"classes, positive class {evaluation.positive!r}, by {type(evaluation.design).__name__}"
        f"({design}), seed {evaluation.seed}"
    )
    return Summary(title, estimates, majority, tuple(warnings))


def _traps(confusion: ConfusionMatrix, majority: float) -> list[str]:
    """Name the trap of 9,990 to 10: an accuracy that finds nothing."""
    warnings = []
    hits = np.diag(confusion.counts)
    accuracy = float(hits.sum() / confusion.total)
    if accuracy <= majority + 1e-12:
        most = confusion.labels.tolist()[int(np.argmax(confusion.actual))]
        warnings.append(
            f"Accuracy {accuracy:.4f} is no more than always saying {most!r} gives "
            f"({majority:.4f})."
        )
    for label, found, rows in zip(confusion.labels.tolist(), hits, confusion.actual, strict=True):
        if rows > 0 and found == 0:
            warnings.append(f"Class {label!r}: none of its {rows:g} rows was found.")
        elif rows > 0 and found < rows / 2 and rows < confusion.total / 2:
            warnings.append(f"Class {label!r}: {rows - found:g} of its {rows:g} rows were missed.")
    if np.count_nonzero(confusion.predicted) == 1 and len(confusion.labels) > 1:
        only = confusion.labels.tolist()[int(np.argmax(confusion.predicted))]
        if accuracy > majority:
            warnings.append(f"Every prediction is {only!r}.")
    return warnings


def _gaps(evaluation: "Evaluation", estimates: dict[str, Estimate]) -> list[str]:
    warnings = [
        f"Split {i} (repeat {s.repeat}, fold {s.fold}) failed and is left out: {s.failure}"
        for i, s in enumerate(evaluation.splits)
        if s.failure
    ]
    if "nce" in estimates and math.isinf(estimates["nce"].value):
        warnings.append("nce is infinite: a class that occurred was given probability 0.")
    if evaluation.probabilities is None:
        warnings.append("The estimator has no predict_proba: no AUC, losses or calibration.")
    rare = np.flatnonzero(np.bincount(evaluation.truth) == 1)
    warnings.extend(
        f"Class {evaluation.classes.tolist()[code]!r} has one row: no model that trained on it was "
        "tested on it."
        for code in rare
    )
    return warnings

"""An evaluation as it would be where the classes are more or less frequent."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.measures.priors import correct_priors

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["with_priors"]


def with_priors(evaluation: "Evaluation", in_use: ArrayLike | None) -> "Evaluation":
    """Return the evaluation with probabilities, predictions and weights for other class shares.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> with_priors(judged, [0.5, 0.25, 0.25]).confusion().actual.tolist()
    [75.0, 37.5, 37.5]
    """
    if evaluation.probabilities is None:
        raise InvalidArgumentError(
            f"Priors are corrected in probabilities, and {evaluation.estimator} has no "
            "predict_proba."
        )
    counts = np.bincount(evaluation.truth, evaluation.weights, minlength=len(evaluation.classes))
    shares = counts / counts.sum()
    wanted = shares if in_use is None else np.asarray(in_use, dtype=np.float64)
    if wanted.shape != shares.shape or not (wanted > 0).all():
        raise InvalidArgumentError(
            f"in_use must be positive shares of the classes {evaluation.classes.tolist()}; "
            f"got {wanted.tolist()}."
        )
    balanced = np.full(len(shares), 1 / len(shares))
    trained_on = shares if evaluation.design.resample == "none" else balanced
    table = correct_priors(evaluation.probabilities, trained_on=trained_on, in_use=wanted)
    ratio = wanted / wanted.sum() / shares
    weights = np.ones(len(evaluation.truth)) if evaluation.weights is None else evaluation.weights
    return replace(
        evaluation,
        probabilities=table,
        prediction=table.argmax(axis=1),
        weights=weights * ratio[evaluation.truth],
    )

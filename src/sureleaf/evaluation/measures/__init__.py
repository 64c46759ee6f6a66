"""Measures: plain functions of truth and predictions or probabilities."""

from sureleaf.evaluation.measures.agreement import balanced_accuracy, kappa, matthews
from sureleaf.evaluation.measures.calibration import (
    CalibrationCurve,
    LossDecomposition,
    calibration_curve,
    decompose_quadratic_loss,
    expected_calibration_error,
)
from sureleaf.evaluation.measures.confusion import ConfusionMatrix, confusion_matrix
from sureleaf.evaluation.measures.cost_curves import (
    CostByThreshold,
    CostCurve,
    cost_by_threshold,
    cost_curve,
)
from sureleaf.evaluation.measures.costs import cost, cost_from_accuracy, cost_threshold, decide
from sureleaf.evaluation.measures.losses import (
    CrossEntropyParts,
    cross_entropy,
    cross_entropy_parts,
    nce,
    quadratic_loss,
    zero_one_loss,
)
from sureleaf.evaluation.measures.priors import correct_priors, prior_weights
from sureleaf.evaluation.measures.ranking import Roc, auc, average_precision, roc
from sureleaf.evaluation.measures.rates import (
    accuracy,
    error,
    f_measure,
    false_negative_rate,
    false_positive_rate,
    precision,
    recall,
    specificity,
    weighted_accuracy,
)

__all__ = [
    "CalibrationCurve",
    "ConfusionMatrix",
    "CostByThreshold",
    "CostCurve",
    "CrossEntropyParts",
    "LossDecomposition",
    "Roc",
    "accuracy",
    "auc",
    "average_precision",
    "balanced_accuracy",
    "calibration_curve",
    "confusion_matrix",
    "correct_priors",
    "cost",
    "cost_by_threshold",
    "cost_curve",
    "cost_from_accuracy",
    "cost_threshold",
    "cross_entropy",
    "cross_entropy_parts",
    "decide",
    "decompose_quadratic_loss",
    "error",
    "expected_calibration_error",
    "f_measure",
    "false_negative_rate",
    "false_positive_rate",
    "kappa",
    "matthews",
    "nce",
    "precision",
    "prior_weights",
    "quadratic_loss",
    "recall",
    "roc",
    "specificity",
    "weighted_accuracy",
    "zero_one_loss",
]

"""Judge any classifier: designs, measures, costs, curves and bootstrap, frozen results out."""

from sureleaf.evaluation.bootstrap_errors import BootstrapError, bootstrap_error
from sureleaf.evaluation.curves import (
    Arithmetic,
    Geometric,
    LearningCurve,
    NoChange,
    NotWorthwhile,
    PowerLaw,
    RowsFor,
    learning_curve,
)
from sureleaf.evaluation.designs import (
    Bootstrap,
    Holdout,
    KFold,
    LeaveOneOut,
    NestedKFold,
    RepeatedHoldout,
)
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.judging import evaluate
from sureleaf.evaluation.measures import decide
from sureleaf.evaluation.measures.named import Measure
from sureleaf.evaluation.predictions import Predictions
from sureleaf.evaluation.summary import Summary

__all__ = [
    "Arithmetic",
    "Bootstrap",
    "BootstrapError",
    "Estimate",
    "Evaluation",
    "Geometric",
    "Holdout",
    "KFold",
    "LearningCurve",
    "LeaveOneOut",
    "Measure",
    "NestedKFold",
    "NoChange",
    "NotWorthwhile",
    "PowerLaw",
    "Predictions",
    "RepeatedHoldout",
    "RowsFor",
    "Summary",
    "bootstrap_error",
    "decide",
    "evaluate",
    "learning_curve",
]

"""Judge any classifier: designs, measures, costs, curves and bootstrap, frozen results out."""

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

__all__ = [
    "Bootstrap",
    "Estimate",
    "Evaluation",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "NestedKFold",
    "RepeatedHoldout",
    "evaluate",
]

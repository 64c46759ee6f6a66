"""Evaluation of any classifier: designs, measures, costs, curves and bootstrap errors.

Names are loaded when first used, so that the interval formulas do not import scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureleaf.evaluation.bootstrap_errors import BootstrapError, bootstrap_error
    from sureleaf.evaluation.designs import (
        Bootstrap,
        Holdout,
        KFold,
        LeaveOneOut,
        RepeatedHoldout,
    )
    from sureleaf.evaluation.evaluation import Evaluation, EvaluationSummary, Predictions
    from sureleaf.evaluation.evaluator import evaluate
    from sureleaf.evaluation.intervals import Estimate
    from sureleaf.evaluation.learning_curves import (
        Arithmetic,
        Geometric,
        LearningCurve,
        NoChange,
        NotWorthwhile,
        PowerLaw,
        learning_curve,
    )
    from sureleaf.evaluation.measures import decide
    from sureleaf.evaluation.measures.named import Measure

__all__ = [
    "Arithmetic",
    "Bootstrap",
    "BootstrapError",
    "Estimate",
    "Evaluation",
    "EvaluationSummary",
    "Geometric",
    "Holdout",
    "KFold",
    "LearningCurve",
    "LeaveOneOut",
    "Measure",
    "NoChange",
    "NotWorthwhile",
    "PowerLaw",
    "Predictions",
    "RepeatedHoldout",
    "bootstrap_error",
    "decide",
    "evaluate",
    "learning_curve",
]

_NAMES_IN = {
    "bootstrap_errors": ("BootstrapError", "bootstrap_error"),
    "learning_curves": (
        "Arithmetic",
        "Geometric",
        "LearningCurve",
        "NoChange",
        "NotWorthwhile",
        "PowerLaw",
        "learning_curve",
    ),
    "designs": (
        "Bootstrap",
        "Holdout",
        "KFold",
        "LeaveOneOut",
        "RepeatedHoldout",
    ),
    "evaluation": ("Evaluation", "EvaluationSummary", "Predictions"),
    "intervals": ("Estimate",),
    "evaluator": ("evaluate",),
    "measures": ("decide",),
    "measures.named": ("Measure",),
}
_HOME_OF = {name: home for home, names in _NAMES_IN.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sureleaf.evaluation' has no attribute {name!r}")
    home = importlib.import_module(f"sureleaf.evaluation.{_HOME_OF[name]}")
    globals()[name] = getattr(home, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)

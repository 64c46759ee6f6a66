"""Decision trees that know how sure they are.

Names are loaded when first used, so that ``import sureleaf`` stays quick.
"""

import importlib
from typing import TYPE_CHECKING

from sureleaf.errors import (
    FailedFitError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingPackageError,
    SureleafError,
    UnreachableLevelError,
    UnseenCategoryWarning,
)

if TYPE_CHECKING:
    from sureleaf import designs, levels, measures
    from sureleaf.estimators import TreeClassifier
    from sureleaf.evaluation import (
        Arithmetic,
        BootstrapError,
        Estimate,
        Evaluation,
        Geometric,
        LearningCurve,
        Measure,
        NoChange,
        NotWorthwhile,
        bootstrap_error,
        decide,
        evaluate,
        learning_curve,
    )

__version__ = "0.1.0"

__all__ = [
    "Arithmetic",
    "BootstrapError",
    "Estimate",
    "Evaluation",
    "FailedFitError",
    "Geometric",
    "InvalidArgumentError",
    "InvalidTypeError",
    "LearningCurve",
    "Measure",
    "MissingPackageError",
    "NoChange",
    "NotWorthwhile",
    "SureleafError",
    "TreeClassifier",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "__version__",
    "bootstrap_error",
    "decide",
    "designs",
    "evaluate",
    "learning_curve",
    "levels",
    "measures",
]

_LAZY = {
    "sureleaf": ("designs", "levels", "measures"),
    "sureleaf.estimators": ("TreeClassifier",),
    "sureleaf.evaluation": (
        "Arithmetic",
        "BootstrapError",
        "Estimate",
        "Evaluation",
        "Geometric",
        "LearningCurve",
        "Measure",
        "NoChange",
        "NotWorthwhile",
        "bootstrap_error",
        "decide",
        "evaluate",
        "learning_curve",
    ),
}
"""Where public names live that are loaded when first used; in the package itself: modules."""

_HOME_OF = {name: home for home, names in _LAZY.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'sureleaf' has no attribute {name!r}")
    if home == "sureleaf":
        return importlib.import_module(f"sureleaf.{name}")
    found: object = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)

"""Decision trees that know how sure they are.

Names are loaded when first used, so that ``import sureleaf`` stays quick.
"""

import importlib
from typing import TYPE_CHECKING

from sureleaf.errors import (
    FailedFitError,
    HiddenCutWarning,
    InvalidArgumentError,
    InvalidTypeError,
    MemoryLimitWarning,
    MissingPackageError,
    SureleafError,
    TrainingRowsWarning,
    UnreachableLevelError,
    UnseenCategoryWarning,
)

if TYPE_CHECKING:
    from sureleaf import comparison, designs, levels, measures, plots, report
    from sureleaf.auditing import Audit, audit
    from sureleaf.comparison import (
        Comparison,
        auc_difference,
        bootstrap_difference,
        compare,
        compare_many,
        compare_rates,
        holm,
        mcnemar,
        one_sample_t,
        paired_t,
        rate_interval,
        rows_for_width,
        rows_to_detect,
    )
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier, load, rank_columns
    from sureleaf.evaluation.bootstrap_errors import BootstrapError, bootstrap_error
    from sureleaf.evaluation.evaluation import Evaluation
    from sureleaf.evaluation.evaluator import evaluate
    from sureleaf.evaluation.intervals import Estimate
    from sureleaf.evaluation.learning_curves import (
        Arithmetic,
        Geometric,
        LearningCurve,
        NoChange,
        NotWorthwhile,
        learning_curve,
    )
    from sureleaf.evaluation.measures.costs import decide
    from sureleaf.evaluation.measures.named import Measure
    from sureleaf.exports import export, from_json
    from sureleaf.monitoring import Watch, diff, update

__version__ = "0.1.0"

__all__ = [
    "Arithmetic",
    "Audit",
    "BaggedTreesClassifier",
    "BootstrapError",
    "Comparison",
    "Estimate",
    "Evaluation",
    "FailedFitError",
    "Geometric",
    "HiddenCutWarning",
    "InvalidArgumentError",
    "InvalidTypeError",
    "LearningCurve",
    "Measure",
    "MemoryLimitWarning",
    "MissingPackageError",
    "NoChange",
    "NotWorthwhile",
    "SureleafError",
    "TrainingRowsWarning",
    "TreeClassifier",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "Watch",
    "__version__",
    "auc_difference",
    "audit",
    "bootstrap_difference",
    "bootstrap_error",
    "compare",
    "compare_many",
    "compare_rates",
    "comparison",
    "decide",
    "designs",
    "diff",
    "evaluate",
    "export",
    "from_json",
    "holm",
    "learning_curve",
    "levels",
    "load",
    "mcnemar",
    "measures",
    "one_sample_t",
    "paired_t",
    "plots",
    "rank_columns",
    "rate_interval",
    "report",
    "rows_for_width",
    "rows_to_detect",
    "update",
]

_LAZY = {
    "sureleaf": "comparison designs levels measures plots report",
    "sureleaf.auditing": "Audit audit",
    "sureleaf.comparison": (
        "Comparison auc_difference bootstrap_difference compare compare_many compare_rates holm "
        "mcnemar one_sample_t paired_t rate_interval rows_for_width rows_to_detect"
    ),
    "sureleaf.estimators": "BaggedTreesClassifier TreeClassifier load rank_columns",
    "sureleaf.evaluation.bootstrap_errors": "BootstrapError bootstrap_error",
    "sureleaf.evaluation.evaluation": "Evaluation",
    "sureleaf.evaluation.evaluator": "evaluate",
    "sureleaf.evaluation.intervals": "Estimate",
    "sureleaf.evaluation.learning_curves": (
        "Arithmetic Geometric LearningCurve NoChange NotWorthwhile learning_curve"
    ),
    "sureleaf.evaluation.measures.costs": "decide",
    "sureleaf.evaluation.measures.named": "Measure",
    "sureleaf.exports": "export from_json",
    "sureleaf.monitoring": "Watch diff update",
}
"""Where public names live that are loaded when first used; in the package itself: modules."""

_HOME_OF = {name: home for home, names in _LAZY.items() for name in names.split()}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'sureleaf' has no attribute {name!r}")
    if home == "sureleaf":
        return importlib.import_module(f"sureleaf.{name}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

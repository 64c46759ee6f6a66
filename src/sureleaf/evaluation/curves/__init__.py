"""Learning curves: schedules, stop rules, the law they follow, rows for a target."""

from sureleaf.evaluation.curves.curve import LearningCurve, RowsFor
from sureleaf.evaluation.curves.growing import learning_curve
from sureleaf.evaluation.curves.power_law import PowerLaw, fit_power_law
from sureleaf.evaluation.curves.schedule import Arithmetic, Geometric
from sureleaf.evaluation.curves.stop import NoChange, NotWorthwhile

__all__ = [
    "Arithmetic",
    "Geometric",
    "LearningCurve",
    "NoChange",
    "NotWorthwhile",
    "PowerLaw",
    "RowsFor",
    "fit_power_law",
    "learning_curve",
]

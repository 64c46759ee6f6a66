"""How likely a node has found its majority class, and is right about the next row."""

from sureleaf.levels.classes import class_confidence, class_utility
from sureleaf.levels.estimates import estimate_p_max
from sureleaf.levels.node import confidence, utility

__all__ = [
    "class_confidence",
    "class_utility",
    "confidence",
    "estimate_p_max",
    "utility",
]

"""Plots in the form of scikit-learn's displays: an object with the numbers, then `plot`."""

from sureleaf.plots.display import Display
from sureleaf.plots.evaluation_displays import (
    ComparisonDisplay,
    LearningCurveDisplay,
    RanksDisplay,
    ReliabilityDisplay,
    RocDisplay,
)
from sureleaf.plots.levels_display import LevelsDisplay
from sureleaf.plots.tree_displays import LeavesDisplay, PruningDisplay, TreeDisplay

__all__ = [
    "ComparisonDisplay",
    "Display",
    "LearningCurveDisplay",
    "LeavesDisplay",
    "LevelsDisplay",
    "PruningDisplay",
    "RanksDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "TreeDisplay",
]

"""Plots in the form of scikit-learn's displays: an object with the numbers, then `plot`."""

from sureleaf.plots.comparison_displays import ComparisonDisplay, RanksDisplay
from sureleaf.plots.display import Display
from sureleaf.plots.evaluation_displays import (
    LearningCurveDisplay,
    ReliabilityDisplay,
    RocDisplay,
)
from sureleaf.plots.levels_display import LevelsDisplay
from sureleaf.plots.pruning_display import PruningDisplay
from sureleaf.plots.tree_displays import LeavesDisplay, TreeDisplay

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

"""Plots as scikit-learn's displays have them: an object with the numbers, then `plot`."""

from sureleaf.plots.comparison_display import ComparisonDisplay, RanksDisplay
from sureleaf.plots.display import Display
from sureleaf.plots.learning_curve_display import LearningCurveDisplay
from sureleaf.plots.leaves_display import LeavesDisplay
from sureleaf.plots.levels_display import LevelsDisplay
from sureleaf.plots.reliability_display import ReliabilityDisplay
from sureleaf.plots.roc_display import RocDisplay
from sureleaf.plots.tree_display import TreeDisplay

__all__ = [
    "ComparisonDisplay",
    "Display",
    "LearningCurveDisplay",
    "LeavesDisplay",
    "LevelsDisplay",
    "RanksDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "TreeDisplay",
]

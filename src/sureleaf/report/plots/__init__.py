"""Plots as scikit-learn's displays have them: an object with the numbers, then `plot`."""

from sureleaf.report.plots.comparison_display import ComparisonDisplay
from sureleaf.report.plots.display import Display
from sureleaf.report.plots.learning_curve_display import LearningCurveDisplay
from sureleaf.report.plots.leaves_display import LeavesDisplay
from sureleaf.report.plots.levels_display import LevelsDisplay
from sureleaf.report.plots.ranks_display import RanksDisplay
from sureleaf.report.plots.reliability_display import ReliabilityDisplay
from sureleaf.report.plots.roc_display import RocDisplay
from sureleaf.report.plots.tree_display import TreeDisplay

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

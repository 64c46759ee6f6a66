"""Plots: displays of trees, leaves, levels, evaluations and comparisons.

The displays live in the room `sureleaf.report`; this is where they are imported from. They need
matplotlib: ``pip install 'sureleaf[plot]'``.
"""

from sureleaf.report.plots import (
    ComparisonDisplay,
    LearningCurveDisplay,
    LeavesDisplay,
    LevelsDisplay,
    RanksDisplay,
    ReliabilityDisplay,
    RocDisplay,
    TreeDisplay,
)

__all__ = [
    "ComparisonDisplay",
    "LearningCurveDisplay",
    "LeavesDisplay",
    "LevelsDisplay",
    "RanksDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "TreeDisplay",
]
